"""The `sidelight` command: parse, call the library, print. Nothing else happens here.

Exit codes: 0 success, 1 a request that cannot be met (the message says why), 2 wrong usage, 3 the answer is no
(`doctor` found something essential broken, `reproduce` a claim refuted), 4 an error of our own, 130 interrupted,
141 whoever read the output went away.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module

import click

from sidelight._check import suggestion
from sidelight._formats import ENDINGS
from sidelight._version import __version__
from sidelight.cli.screen import give_up_output
from sidelight.errors import SidelightError

COMMANDS = {
    "demo": "demo", "analyze": "analyze", "plan": "plan", "run": "run", "sweep": "study", "look": "look",
    "report": "study", "new": "new", "evaluate": "evaluate", "reproduce": "reproduce", "serve": "serve",
    "policies": "policies", "list": "listing", "doctor": "doctor", "warmup": "warmup", "completion": "listing",
}  # fmt: skip
"""Each command and its module, where it is `command`, or SWEEP_command and so on if others are there too."""


class _Commands(click.Group):
    """Modules of commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = COMMANDS[cmd_name]
        name = "command" if home == cmd_name else f"{cmd_name}_command"
        command: click.Command = getattr(import_module(f"sidelight.cli.{home}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"unknown command {name!r}; {suggestion(name, tuple(COMMANDS), 'commands')}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    help=f"""Bandits with graph feedback: analyse a graph, plan with a certified bound, play, compare, report.

    GRAPH is a file ({", ".join(ENDINGS)}) or a family such as cycle:100 or cliques:5x20;
    `sidelight list families` shows them all.
    """,
)
@click.version_option(__version__, prog_name="sidelight")
def cli() -> None:
    """Every command."""


def main() -> None:
    """Run the command line; errors that a user can cause end in one line, never in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # Greek letters on a terminal that has none
    with _messages():
        code = _exit_code()
    sys.exit(code)


@contextlib.contextmanager
def _messages() -> Iterator[None]:
    """What the library has to say while it works, on standard error; `--quiet` and `--json` turn it down."""
    log, shown = logging.getLogger("sidelight"), _Shown()
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    usual, warnings.formatwarning = warnings.formatwarning, _one_line
    try:
        yield
    finally:
        warnings.formatwarning = usual
        log.removeHandler(shown)
        log.setLevel(logging.NOTSET)


class _Shown(logging.Handler):
    """To the standard error of the moment: while a progress bar is drawn that is a place above it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")


def _one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    return f"warning: {message}\n"


def _exit_code() -> int:
    try:
        return cli.main(prog_name="sidelight", standalone_mode=False) or 0
    except SidelightError as error:
        return _failed(str(error))
    except click.exceptions.Abort:
        with contextlib.suppress(OSError):
            click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        give_up_output()
        return _failed(str(error))
    except MemoryError as error:
        return _failed(f"not enough memory{f': {error}' if str(error) else ''}; use a smaller graph")
    except Exception as error:
        if os.environ.get("SIDELIGHT_TRACEBACK"):
            raise
        return _failed(
            f"{type(error).__name__}: {error} (a mistake in sidelight, please report it;"
            " SIDELIGHT_TRACEBACK=1 shows where)",
            code=4,
        )


def _failed(message: str, code: int = 1) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return code
