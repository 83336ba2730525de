"""What commands put out: one JSON object, or tables as wide as the terminal; and files, where they can be written."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight._check import reason, written
from sidelight._files import is_replaced, replacing
from sidelight._json import text as json_text
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

WIDTH = 118
"""Columns where no terminal says how many there are."""

NARROWEST = 20
"""Fewer columns than this are taken for a mistake."""

READER_GONE = 141
"""Exit code when whoever read the output went away, as a shell reports it."""


def emit_json(answer: Mapping[str, Any]) -> None:
    """One JSON object on standard output; numbers that JSON cannot write are null."""
    write(json_text(answer, indent=2))


def emit(*parts: RenderableType) -> None:
    """Tables and lines of text on standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _columns()
    console = Console(highlight=False, width=width)
    with console.capture() as captured:
        for part in parts:
            console.print(_fitted(console, part), soft_wrap=isinstance(part, str))
    write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _fitted(console: Console, part: RenderableType) -> RenderableType:
    """A table with its frame, or without where the terminal is too narrow for that."""
    from rich.table import Table

    wide = console.options.update(max_width=1_000)
    if isinstance(part, Table) and console.measure(part, options=wide).maximum > console.width:
        part.box, part.collapse_padding, part.pad_edge = None, True, False
    return part


def _columns() -> int:
    """What COLUMNS says, if that is a sensible number."""
    try:
        asked = int(os.environ.get("COLUMNS", WIDTH))
    except ValueError:
        return WIDTH
    return asked if asked >= NARROWEST else WIDTH


def write(words: str) -> None:
    """`words` on standard output, all of it; a reader that has gone away ends the command quietly."""
    try:
        sys.stdout.write(words)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()
        raise click.exceptions.Exit(READER_GONE) from None


def give_up_output() -> None:
    """If standard output cannot be written to, drop what is buffered, or Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def facts(title: str, rows: Iterable[tuple[str, str]]) -> RenderableType:
    """A table of names and values."""
    from rich.table import Table

    table = Table(show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return _titled(title, table)


def columns(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """A table with a head; a head that begins with `>` is a column of numbers."""
    from rich.table import Table

    table = Table(header_style="dim", box=None, show_header=any(heads))
    for head in heads:
        numbers = head.startswith(">")
        table.add_column(
            head.lstrip(">"), justify="right" if numbers else "left", no_wrap=numbers, overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    return _titled(title, table)


def _titled(title: str, table: Table) -> RenderableType:
    """Above, not as the table's own title, which would be broken to the width of a narrow table."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text.from_markup(f"[bold]{title}[/bold]"), table)


def safe(words: str) -> str:
    """`words` of a user's making, with nothing in it that rich would take for markup."""
    from rich.markup import escape

    return escape(words)


# -- files ---------------------------------------------------------------------------------------------------


def writable_folder(path: str) -> Path:
    """The folder, made if need be; called before the long work, so that an unwritable place costs little."""
    folder = Path(path)
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _try(folder)
    return folder


def writable_file(path: str) -> Path:
    """A place for a file, in a folder that exists, or a pipe or device."""
    file = Path(path)
    with _to(file):
        if is_replaced(file):
            _try(Path(os.path.realpath(file)).parent)
    return file


def write_file(file: Path, text: str) -> None:
    """`text` in the place of `file`, or an error and what was there before."""
    with _to(file), replacing(file, pack=False) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def _to(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidOption(f"cannot write {file}: {reason(error)}") from None


def _try(folder: Path) -> None:
    """Raise what writing a small file into `folder` raises."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".sidelight-") as probe:
        probe.write(b"\n")
        probe.flush()


def needs(extra: str, *packages: str) -> None:
    """Refuse, with the way out, where a package of an extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InvalidOption(
            f"this command needs {', '.join(missing)}, which a plain installation leaves out:"
            f" pip install 'sidelight[{extra}]'"
        )
