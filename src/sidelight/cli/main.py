"""The `sidelight` command: parse, call the library, print. Nothing else happens here.

Exit codes: 0 success, 1 a request that cannot be met (the message says why), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import sys

import click

from sidelight._version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sidelight")
def cli() -> None:
    """Bandits with graph feedback: analyse a graph, plan with a certified bound, play."""


@cli.command()
@click.option("--graph", "spec", default="teams:4x3", show_default=True, help="A family such as cycle:12.")
@click.option("--horizon", default=20_000, show_default=True, help="Rounds to play.")
@click.option("--runs", default=5, show_default=True, help="Independent runs.")
@click.option("--seed", default=7, show_default=True, help="Seed of the first run.")
@click.option(
    "--output",
    "-o",
    default="sidelight-demo",
    show_default=True,
    help="Folder for the figure.",
    metavar="DIR",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def demo(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """The main job on a built-in graph: analysis, plan, a short played run, a figure."""
    from sidelight.cli.demo import run_demo

    run_demo(spec, horizon, runs, seed, output, as_json)


def main() -> None:
    """Run the command line; errors that a user can cause end in one line, never in a traceback."""
    from sidelight.errors import SidelightError

    try:
        cli.main(standalone_mode=False)
    except SidelightError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
