"""`sidelight new`: a file to begin with."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

import click

from sidelight.cli import options
from sidelight.cli.screen import emit, emit_json, safe, writable_file, write_file

TEMPLATES = Path(__file__).parent / "templates"


@click.group(short_help="Write a file to begin a policy of your own with.")
def command() -> None:
    """Write a file to begin with, which works already; with --json say only which.

    \b
    sidelight new policy greedy
    python greedy.py
    sidelight run cycle:10 --horizon 10000 --policy greedy.py:Greedy,auto --env gap:0.2 -o out
    """


@command.command()
@click.argument("name")
@options.output("FILE", "The file.  [default: NAME.py]")
@options.as_json
def policy(name: str, output: str | None, as_json: bool) -> None:
    """A policy of one's own, called NAME, that plays already: change what it asks for and what it learns.

    Run as a script the file checks itself with sidelight.testing and plays against a certified plan.
    """
    from sidelight.errors import InvalidOption

    words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word]
    called = "".join(word[0].upper() + word[1:] for word in words)
    if not called.isidentifier() or keyword.iskeyword(called):
        raise InvalidOption(
            f"{name!r} cannot name a class of Python; use letters and digits, such as my-policy"
        )
    file = writable_file(output if output is not None else f"{'_'.join(words).lower()}.py")
    if file.suffix != ".py":
        raise InvalidOption(f"a policy is a file of Python, got {file}; let its name end with .py")
    if file.exists():
        raise InvalidOption(f"{file} exists already; give another name, or another file with -o")
    if keyword.iskeyword(file.stem):
        raise InvalidOption(
            f"{file.stem!r} is a keyword of Python; choose another name, such as my-{file.stem}"
        )
    if file.stem in sys.stdlib_module_names or file.stem == "sidelight":
        raise InvalidOption(
            f"{file.name} would hide the module {file.stem!r} from programs beside it; choose another name, such as"
            f" my-{file.stem}"
        )
    template = (TEMPLATES / "policy.txt").read_text(encoding="utf-8")
    write_file(file, template.replace("@CLASS@", called).replace("@FILE@", file.name))
    if as_json:
        emit_json({"file": str(file), "class": called, "policy": f"{file}:{called}"})
        return
    emit(
        f"policy: [bold]{safe(str(file))}[/bold]",
        f"check it:  python {safe(str(file))}",
        f"play it:   sidelight run cycle:10 --horizon 10000 --policy {safe(f'{file}:{called}')},auto -o out",
    )
