"""Print again what README.md and the pages quote: `python docs/outputs.py [PAGE]...`.

Every block of `console` on a page is run in its order, in one empty folder and in this process, and what it prints is
replaced; so is every block of Python, and the text below it where there is some. Left as they are: commands whose
output names files of the machine, needs a running service, or needs files that a test writes. Tests compare what is
quoted with what is printed.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sidelight.cli.main import main as sidelight
from sidelight.engine._numba import notice

ROOT = Path(__file__).parents[1]
LEFT = ("doctor", "evaluate", "serve", "policies")
"""Commands that are left: what they print is about this machine, a service, or files that a test writes."""
UNDRAWN = ("run", "sweep")
"""Commands that would draw figures, which takes longer than playing and changes nothing that is printed."""


def main() -> None:
    """Play, and replace what is quoted."""
    asked = [Path(name).resolve() for name in sys.argv[1:]]
    notice.AFTER = 1e6  # kernels that are compiled now are no part of what a page shows
    os.environ.pop("COLUMNS", None)
    for page in asked or [ROOT / "README.md", ROOT / "docs" / "cli.md", ROOT / "docs" / "sweeps.md"]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = quoted(page.read_text(encoding="utf-8"))
            text = re.sub(r"(```console\n)(.*?)(```)", renewed, text, flags=re.S)
            page.write_text(text, encoding="utf-8")


def quoted(text: str) -> str:
    """The page with what its blocks of Python print now; they share their names, as when tests run them."""
    names = {"__name__": "__main__"}

    def block(match: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(match[2], names)
        shown = re.sub(r" +$", "", printed.getvalue(), flags=re.M)
        return match[1] if match[3] is None else f"{match[1]}{match[3]}{shown}```"

    return re.sub(r"(```python\n(.*?)```)(?:(\n\n```text\n).*?```)?", block, text, flags=re.S)


def renewed(match: re.Match[str]) -> str:
    """A block with what its commands print now; what `cat` shows is the file."""
    parts = re.split(r"^\$ (.*)\n", match[2], flags=re.M)[1:]
    found = ""
    for command, before in zip(parts[::2], parts[1::2], strict=True):
        program, *words = shlex.split(command)
        if program == "cat":
            Path(words[0]).write_text(before, encoding="utf-8")
        ours = program == "sidelight" and words[0] not in LEFT
        found += f"$ {command}\n{output(words) if ours else before}"
    return match[1] + found + match[3]


def output(words: list[str]) -> str:
    """What a command prints, errors included."""
    extra = ["--no-figures"] if words[0] in UNDRAWN else []
    printed = io.StringIO()
    before, sys.argv = sys.argv, ["sidelight", *words, *extra]
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            contextlib.suppress(SystemExit),
        ):
            sidelight()
    finally:
        sys.argv = before
    return printed.getvalue()


if __name__ == "__main__":
    main()
