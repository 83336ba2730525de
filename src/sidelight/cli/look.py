"""`sidelight look`: the page of stored results in a browser; no server, nothing played."""

from __future__ import annotations

from pathlib import Path

import click

from sidelight.cli import options
from sidelight.cli.files import written
from sidelight.cli.screen import emit, emit_json, safe


@click.command(short_help="Open the page of stored results.")
@click.argument("folder", metavar="FOLDER", type=click.Path())
@click.option(
    "--browser/--no-browser", default=True, show_default=True, help="Open it, or only say where it is."
)
@options.out_folder("Where the page goes, FOLDER by default.")
@click.option("--live", is_flag=True, help="Serve the page of a sweep while it runs, until Ctrl-C.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Of --live; any that is free by default."
)
@click.option("--playground", is_flag=True, help="Write the playground to the file FOLDER instead.")
@options.quiet
@options.as_json
def command(
    folder: str,
    browser: bool,
    output: str | None,
    live: bool,
    port: int,
    playground: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the page of what run, sweep or reproduce has stored in FOLDER, finished or not, and open it.

    It is one file that needs no network: send it, or put it on any server.

    \b
    sidelight look results
    sidelight look results --live                   a sweep while it runs: cells done, time left, results so far
    sidelight look --playground playground.html     plans side by side in the browser, on small graphs
    """
    if live:
        _watch(Path(folder), port, browser, as_json)
        return
    if playground:
        page, complete = _played(Path(folder)), True
    else:
        page, complete = _claims(Path(folder)) or _report(
            Path(folder), None if output is None else Path(output)
        )
    opened = browser and not as_json and _opened(page)
    if as_json:
        emit_json({"page": str(page), "complete": complete, "opened": opened})
    elif not quiet:
        emit(
            f"page: [bold]{safe(str(page))}[/bold]"
            + ("" if opened or not browser else " (no browser was found)")
        )


def _watch(folder: Path, port: int, browser: bool, as_json: bool) -> None:
    """Serve the page until interrupted."""
    import contextlib
    import webbrowser

    from sidelight.cli.watching import Watched

    with contextlib.closing(Watched(folder, port)) as server:
        if as_json:
            emit_json({"address": server.address})
        else:
            emit(f"watching {safe(str(folder))} at [bold]{server.address}[/bold]; Ctrl-C ends it")
        if browser and not as_json:
            with contextlib.suppress(webbrowser.Error, OSError):
                webbrowser.open(server.address)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def _played(file: Path) -> Path:
    from sidelight.report.playground import write_playground

    with written(file):
        return write_playground(file)


def _claims(folder: Path) -> tuple[Path, bool] | None:
    """The page that `reproduce` has written, if that is what the folder holds."""
    page = folder / "claims.html"
    return (page, True) if page.is_file() and not (folder / "manifest.json").is_file() else None


def _report(folder: Path, output: Path | None) -> tuple[Path, bool]:
    import sidelight as sl
    from sidelight.report.page import write_report
    from sidelight.report.writing import sections

    results = sl.Results.read(folder)
    place = folder if output is None else output
    with written(place):
        return write_report(place, results, sections(results), files=False), results.complete


def _opened(page: Path) -> bool:
    """Did a browser take it? There may be none: a terminal on another machine."""
    import webbrowser

    try:
        return webbrowser.open(page.absolute().as_uri())
    except (webbrowser.Error, OSError):
        return False
