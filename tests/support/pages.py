"""The Markdown of the project: pages, their blocks of code, their links and headings."""

import re
from pathlib import Path

from repository import slug

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")),
        *(page for page in DOCS.rglob("*.md") if "_build" not in page.parts),
    ]
)
FENCE = re.compile(r"^ *(```+)(\S*).*?\n(.*?)^ *\1 *$\n?", re.M | re.S)
LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(?:.+?)\1")


def name(page):
    """As people call it: docs/cli.md."""
    return page.relative_to(ROOT).as_posix()


def prose(page):
    """The text of a page without blocks and pieces of code."""
    return CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))


def links(page):
    """Targets of the links to other files and to headings of the page itself."""
    return [target for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target)]


def anchors(page):
    """The anchors of a page, as git hosts make them from headings."""
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6} (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M):
        anchor = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", ""))
        again = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(f"{anchor}-{again}" if again else anchor)
    return found


def blocks(page, *languages):
    """(language, code) of the fenced blocks in these languages."""
    return [
        (found[1], found[2])
        for found in FENCE.findall(page.read_text(encoding="utf-8"))
        if found[1] in languages
    ]
