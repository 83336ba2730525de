"""The first time that a page uses a term of the glossary, it becomes a link that shows the definition.

The glossary is plain Markdown: a heading of the third level is a term, words after "Also:" are other spellings (a
plural s needs none), and the first paragraph is the definition.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

GLOSSARY = Path(__file__).parents[1] / "glossary.md"
TERM = re.compile(r"^### (.+)\n\n(?:\*Also: (.+?)\.\*\n\n)?((?:.+\n)+)", re.M)
SKIPPED = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.raw,
    nodes.caption,
    nodes.term,
)
MANY = ("changelog", "glossary", "index", "bounds", "regret")  # pages on which links would only be in the way
PLAIN = re.compile(
    "Arm|Loss|Reveal|Environment|Seed|Block|Plan|Bound|Policy|Decision|Rule|Estimate|Cell|Interval|Growth"
)
"""Words that every page uses: explained in the glossary, and linked where a page does so itself."""


class Term(NamedTuple):
    """A term, how else it is written, and what it means."""

    name: str
    spellings: tuple[str, ...]
    definition: str


def terms(text: str) -> list[Term]:
    """The terms of a glossary."""
    found = []
    for name, also, definition in TERM.findall(text):
        spellings = (name, *(each.strip() for each in also.replace("\\", "").split(",") if each.strip()))
        definition = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", definition).replace("`", "").replace("*", "")
        found.append(Term(name, spellings, " ".join(definition.split())))
    return found


def link(app: Any, doctree: nodes.document, docname: str) -> None:
    """The event of Sphinx: a page whose links are known."""
    if docname in MANY or docname.startswith("reference/") or app.builder.format != "html":
        return
    known = [term for term in terms(GLOSSARY.read_text(encoding="utf-8")) if not PLAIN.fullmatch(term.name)]
    wanted = {spelling.lower(): term for term in known for spelling in term.spellings}
    pattern = re.compile(
        r"(?<![\w-])(" + "|".join(map(re.escape, sorted(wanted, key=len, reverse=True))) + r")s?(?![\w-])",
        re.I,
    )
    linked = {
        reference.get("refuri", "").rpartition("#")[2] for reference in doctree.findall(nodes.reference)
    }
    uri = app.builder.get_relative_uri(docname, "glossary")
    glossary = app.env.get_doctree("glossary")
    anchors = {section[0].astext(): section["ids"][0] for section in glossary.findall(nodes.section)}
    done = {term.name for term in known if anchors[term.name] in linked}
    for text in list(doctree.findall(nodes.Text)):
        if any(isinstance(parent, SKIPPED) for parent in ancestors(text)):
            continue
        parts: list[nodes.Node] = []
        at, words = 0, text.astext()
        for match in pattern.finditer(words):
            term = wanted[match[1].lower()]
            if term.name not in done:
                done.add(term.name)
                parts += [
                    nodes.Text(words[at : match.start()]),
                    reference(match[0], term, f"{uri}#{anchors[term.name]}"),
                ]
                at = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(words[at:])])


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """All that a node is part of."""
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def reference(words: str, term: Term, uri: str) -> nodes.reference:
    """A link to the glossary with the definition as its title."""
    return nodes.reference("", words, internal=True, refuri=uri, reftitle=term.definition, classes=["term"])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
