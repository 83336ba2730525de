"""`sidelight look`: the page of stored results or of a service's store in a browser; no server, nothing played."""

from __future__ import annotations

from pathlib import Path

import click

from sidelight._check import written
from sidelight.cli import options
from sidelight.cli.screen import emit, emit_json, needs, safe
from sidelight.errors import InvalidOption, MissingData

STORES = (".sqlite", ".sqlite3", ".db")
"""How the file of a store is called, so that one that is missing is not taken for a folder of results."""


@click.command(short_help="Open the page of stored results, or of a service's store.")
@click.argument("place", metavar="FOLDER|STORE", type=click.Path())
@options.option("--policy NAME", str, "The one policy of STORE to show; all without it.")
@click.option("--browser/--no-browser", default=True, help="Open it, or only say where it is.")
@options.output("DIR", "Where the page goes: FOLDER by default, of a STORE this folder.")
@options.quiet
@options.as_json
def command(
    place: str, policy: str | None, browser: bool, output: str | None, quiet: bool, as_json: bool
) -> None:
    """Write the page of what run, sweep or reproduce has stored in FOLDER, finished or not, and open it.

    A STORE of the service, its SQLite file, sqlite:///FILE or postgresql://USER@HOST/DB, is shown policy by policy
    as it stands; it is only read, and a service that runs on it goes on. The page is one file that needs no network:
    send it, or put it on any server.

    \b
    sidelight look results
    sidelight look service.sqlite --policy drinks
    """
    page, complete = _written(place, policy, None if output is None else Path(output))
    opened = browser and not as_json and _opened(page)
    if as_json:
        emit_json({"page": str(page), "complete": complete, "opened": opened})
    elif not quiet:
        lack = "" if opened or not browser else " (no browser was found)"
        emit(f"page: [bold]{safe(str(page))}[/bold]{lack}")


def _written(place: str, policy: str | None, output: Path | None) -> tuple[Path, bool]:
    """The page of whatever is there, and whether it is all there will be."""
    store = _store(place)
    if store is not None:
        return _policies(store, policy, output)
    if policy is not None:
        raise InvalidOption(
            f"--policy {policy} is one of a store, and {place} is none: name its file or address"
        )
    if not any((Path(place) / name).is_file() for name in ("manifest.json", "claims.html")):
        raise MissingData(
            f"{place} holds no results and no store: name a folder that run, sweep or reproduce has written,"
            " or the file or address of a store"
        )
    folder = Path(place)
    if not (folder / "manifest.json").is_file():
        return folder / "claims.html", True  # the page that `reproduce` has written
    return _report(folder, output)


def _store(place: str) -> str | None:
    """The address of the store that is meant: an address, a file, or what a service has left in a folder."""
    if "://" in place or Path(place).is_file():
        return place
    from sidelight.service.store.base import FILE

    held = Path(place) / FILE
    if held.is_file() and not (Path(place) / "manifest.json").is_file():
        return str(held)
    if Path(place).suffix in STORES and not Path(place).exists():
        raise MissingData(
            f"there is no store {place}: name the file that `sidelight serve` says its data are in"
        )
    return None


def _policies(store: str, policy: str | None, output: Path | None) -> tuple[Path, bool]:
    needs("service", "msgspec")
    from sidelight.report.policies_page import write_policies_page
    from sidelight.service.page import stored_policies

    policies = stored_policies(store, policy)
    folder = Path() if output is None else output
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return write_policies_page(folder / "policies.html", policies), not (policies.more or policies.failed)


def _report(folder: Path, output: Path | None) -> tuple[Path, bool]:
    import sidelight as sl
    from sidelight.report.page import write_report
    from sidelight.report.section import sections

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
