"""Typeset the formulas of pages, which are written in plain Unicode text (`mathml` beside this file).

On the pages of the theory and in the glossary an indented block is a display. There, and on a few other pages, what
looks like a formula inside a sentence or a table is one. Headings stay as they are, because other pages quote them.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from mathml import FUNCTIONS, SHORT, typeset, typeset_block
from sphinx.transforms import SphinxTransform

DISPLAYS = ("theory/", "glossary")
PAGES = (*DISPLAYS, "tutorials/", "baselines", "environments", "reproduce", "decisions/0017")
OPERATORS = frozenset("=+−·×÷/<>≤≥≠≈≡∈∉∖∩∪∝→↦⊂⊆⇒⇔…")
SYMBOL = re.compile(
    r"[\u0370-\u03ff\u0300-\u036f\u2200-\u22ff⟨⟩½¼⅛⅓⅔²³¹⁰⁴-⁹⁻₀-₉₊₋ℓ‖′𝒫]"  # Greek, accents, operators, small digits
    r"|[A-Za-z)\]}*'][_^]"  # something attached
    r"|(?<![A-Za-z`])(?:[A-Za-z]['*]?|max|min|log|exp)\([^\s]"  # a function
    r"|^[B-HJ-Zb-z]['*]?$"  # a letter alone, but for articles and pronouns
    r"|^[A-Z]{1,2}\d[A-Z]?$"  # U2, U1S
    r"|[A-Za-z0-9)][−+=<>·/][A-Za-z0-9(√]?[−\d(√]"
)
NUMBER = re.compile(r"\d[\d.,]*\d|\d")
JOINED = re.compile(r"^(?:[A-Za-z]|\d[\d.,]*|[A-Za-z]{1,3}\d?)$")


def pieces(text: str) -> list[tuple[bool, str]]:
    """A sentence in parts: (is it a formula?, the characters), which add up to the sentence."""
    words = re.findall(r"\s+|\S+", text)
    found: list[tuple[bool, str]] = []
    at = 0
    while at < len(words):
        lead, core, tail = trimmed(words[at])
        if lead and multiplies(words, at):
            lead, core = "", lead + core
        if not core or not begins(core, words, at):
            found.append((False, words[at]))
            at += 1
            continue
        end, formula, tail = run(words, at, core, tail)
        found += [(False, lead), (True, formula), (False, tail)]
        at = end
    return [piece for piece in found if piece[1]]


def begins(core: str, words: list[str], at: int) -> bool:
    """Does a formula begin here?"""
    if core in OPERATORS:
        return False
    after = words[at + 2] if at + 2 < len(words) and not trimmed(words[at])[2] else ""
    if SYMBOL.search(core):
        return True
    if after in OPERATORS and JOINED.match(core) and not SHORT.fullmatch(core):
        return True
    return core in FUNCTIONS and bool(after) and bool(SYMBOL.search(trimmed(after)[1]))


def multiplies(words: list[str], at: int) -> bool:
    """Is the bracket that is opened here a factor, and not one of the sentence?"""
    text, opened = "".join(words[at : at + 24]), 0
    for place, character in enumerate(text):
        opened += depth(character)
        if opened == 0:
            return bool(re.match(r"[·^²³₊_/×√\w(]", text[place + 1 : place + 2]))
    return False


def run(words: list[str], at: int, core: str, tail: str) -> tuple[int, str, str]:
    """As far as the formula goes: over brackets that are open, and over operators with what follows them."""
    formula, end = core, at + 1
    while end + 1 < len(words):
        space, following = words[end], words[end + 1]
        lead, after, after_tail = trimmed(following)
        if depth(formula + tail) > 0 and end - at < 60:
            closed = closing(words, end)
            if not closed:
                break
            stretch = "".join(words[end : closed + 1])
            kept, tail = rest(formula + tail + stretch)
            formula, end = kept, closed + 1
        elif tail:
            break
        elif following in OPERATORS and end + 3 < len(words):
            _, then, then_tail = trimmed(words[end + 3])
            if not then or SHORT.fullmatch(then):
                break
            formula += space + following + words[end + 2]
            lead = words[end + 3][: len(words[end + 3]) - len(then) - len(then_tail)]
            formula, tail, end = formula + lead + then, then_tail, end + 4
            if depth(formula) < 0:
                break
        elif formula.split(" ")[-1] in FUNCTIONS or re.search(
            r"(?:^|[\s(])(?:[ΣΠ]|max|min)(?:_\S+|)$", formula
        ):
            formula, tail, end = formula + space + lead + after, after_tail, end + 2
        else:
            break
    return end, formula, tail


def closing(words: list[str], at: int) -> int:
    """The word at which brackets that are open before `at` are closed; 0 if that is far away or never."""
    text = "".join(words[:at])
    opened = depth(text[max(text.rfind(". "), 0) :])
    for end in range(at, min(at + 24, len(words))):
        opened += depth(words[end])
        if opened <= 0:
            return end
    return 0


def depth(text: str) -> int:
    """How many brackets are open at the end."""
    return sum(text.count(each) for each in "([{⟨") - sum(text.count(each) for each in ")]}⟩")


def rest(text: str) -> tuple[str, str]:
    """A formula and the punctuation behind it."""
    kept = text.rstrip(".,;:")
    return kept, text[len(kept) :]


def trimmed(word: str) -> tuple[str, str, str]:
    """What stands before a formula, the formula, and what stands behind it: brackets of the sentence, punctuation."""
    core, tail = rest(word)
    lead = ""
    while core.startswith("(") and depth(core) > 0:
        lead, core = lead + core[0], core[1:]
    while core.endswith((")", "]")) and depth(core) < 0:
        core, tail = core[:-1], core[-1] + tail
        kept, more = rest(core)
        core, tail = kept, more + tail
    return lead, core, tail


class Formulas(SphinxTransform):
    """Replace formulas by MathML, after everything that reads the text of a page."""

    default_priority = 950

    def apply(self, **kwargs: Any) -> None:
        """Displays first, then sentences."""
        if not self.env.docname.startswith(PAGES):
            return
        for block in list(self.document.findall(nodes.literal_block)):
            if self.env.docname.startswith(DISPLAYS) and block.get("language", "none") in (
                "none",
                "default",
                "",
            ):
                xml = typeset_block(block.astext().split("\n"))
                block.replace_self(nodes.raw("", f'<div class="formula">{xml}</div>', format="html"))
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw | nodes.title):
                continue
            parts = pieces(text.astext())
            if any(formula for formula, _ in parts):
                text.parent.replace(
                    text,
                    [
                        nodes.raw("", typeset(part), format="html") if formula else nodes.Text(part)
                        for formula, part in parts
                    ],
                )


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(Formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
