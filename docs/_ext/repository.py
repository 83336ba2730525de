"""Pages link to files of the repository, as git hosts show it; the site has only some of them.

`index`, `changelog`, `contributing` and `benchmarks` are pages of the site whose text is that of a file elsewhere. A
link to a folder goes to its `index.md`, or, where the site does not have the folder, is plain text. What the tables
and lists of a section page link to first is its table of contents, so that pages are listed once and stay Markdown.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = {
    "index": ROOT / "README.md",
    "changelog": ROOT / "CHANGELOG.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "benchmarks": ROOT / "benchmarks" / "README.md",
}
PAGES = {path: DOCS / f"{name}.md" for name, path in ELSEWHERE.items()} | {
    ROOT / "README.md": DOCS / "index.md"
}
SECTIONS = (
    "index",
    "tutorials/index",
    "how-to",
    "reference",
    "theory/index",
    "measured",
    "inside",
    "decisions/index",
)
LINK = re.compile(r"\[([^\]\n]+)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def slug(heading: str) -> str:
    """The anchor of a heading on a git host."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def relinked(text: str, source: Path, page: Path) -> str:
    """The text of `source` with links as they must be on `page`."""

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        path = Path(os.path.normpath(source.parent / target))
        path = PAGES.get(path, path)
        if path.is_dir():
            path = path / "index.md"
            if not path.exists() or DOCS not in path.parents:
                return words
        elif DOCS not in path.parents and path.suffix == ".md":
            return words
        return f"[{words}]({os.path.relpath(path, page.parent)}{anchor})"

    parts, at = "", 0
    for fence in FENCE.finditer(text):
        parts += LINK.sub(link, text[at : fence.start()]) + fence[0]
        at = fence.end()
    return parts + LINK.sub(link, text[at:])


def contents(docname: str) -> list[str]:
    """The pages that a section page lists, as names of documents: links of a first column, first links of a list."""
    source = ELSEWHERE.get(docname, DOCS / f"{docname}.md")
    found = []
    for line in source.read_text(encoding="utf-8").splitlines():
        first = line.split("|")[1] if line.startswith("|") else line if line.startswith("* [") else ""
        links = LINK.findall(first)
        for _, target, anchor in links if line.startswith("|") else links[:1]:
            path = Path(os.path.normpath(source.parent / target))
            path = PAGES.get(path, path)
            if not anchor and path.suffix == ".md" and DOCS in path.parents:
                found.append(path.relative_to(DOCS).with_suffix("").as_posix())
    return list(dict.fromkeys(found))


def read(app: Any, docname: str, source: list[str]) -> None:
    """The event of Sphinx: the text of a page as it was read."""
    page = DOCS / f"{docname}.md"
    origin = ELSEWHERE.get(docname, page)
    source[0] = relinked(origin.read_text(encoding="utf-8") if origin != page else source[0], origin, page)
    app.env.note_dependency(str(origin))
    if docname in SECTIONS:
        pages = "\n".join(f"/{name}" for name in contents(docname))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
