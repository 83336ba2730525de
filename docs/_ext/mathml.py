"""Formulas as they are written in docstrings and in docs/theory, typeset: Unicode text to MathML.

The notation is a subset of UnicodeMath (Unicode Technical Note 28): `_` and `^` take one symbol or a group in braces,
√ takes one symbol or a group in parentheses, everything else stands for itself. Browsers draw MathML without script,
font or network. What is typeset says what was written, character by character: only the marks of the notation go
(braces, `_`, `^`, the parentheses below a root or around a part of a fraction).

>>> typeset("R ≤ √T").count("<msqrt>")
1
"""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

FUNCTIONS = frozenset(["log", "ln", "exp", "max", "min", "sup", "inf", "mix", "mod"])
LIMITS = frozenset(["Σ", "∑", "∏", "max", "min", "sup", "inf"])  # what stands below them in a display
SHORT = re.compile(
    r"(?i:all|an|and|any|are|arm|as|at|be|by|for|has|if|in|is|it|its|no|not|of|on|one|or|per|so|the|to|was)"
)
ACCENTS = {"\u0302": "^", "\u0303": "~", "\u0304": "¯", "\u0305": "¯", "\u030c": "ˇ"}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵗⁿ", "0123456789+−()tn")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+−")
THIN, WIDE = '<mspace width="0.17em"/>', '<mspace width="0.33em"/>'
TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>\d+(?:[.,]\d+)*|[½⅓⅔¼¾⅛]|[∞∅])"
    r"|(?P<word>[A-Za-z]{2,}(?:-[A-Za-z]{2,})*(?![\u0300-\u036f]))"
    r"|(?P<letter>[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹ᵗⁿ₀₁₂₃₄₅₆₇₈₉Σ][\u0300-\u036f]*)"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵗⁿ]+)"
    r"|(?P<lowered>[₀₁₂₃₄₅₆₇₈₉₊₋]+)"
    r"|(?P<prime>['′″]+)"
    r"|(?P<mark>[_^√*])"
    r"|(?P<open>[(\[{⟨⌈⌊])"
    r"|(?P<close>[)\]}⟩⌉⌋])"
    r"|(?P<operator>.)",
    re.S,
)


class Token(NamedTuple):
    """A symbol of the notation, and whether white space stands before it."""

    kind: str
    text: str
    spaced: bool


class Item(NamedTuple):
    """A piece of MathML; `inner` is what a group holds without its brackets, "" for all else."""

    kind: str  # "atom", "group", "function", "limit" (a sum or maximum), "words" or "operator"
    xml: str
    spaced: bool
    inner: str = ""


def typeset(formula: str, *, display: bool = False) -> str:
    """The `math` element of one formula; in a `display` fractions are stacked and limits stand below sums."""
    kind = ' display="block"' if display else ""
    return f"<math{kind}>{_Reader(formula, display).row()}</math>"


def typeset_block(lines: list[str]) -> str:
    """Lines of one display: two spaces or more divide cells, "(1)" at the end is the number of an equation.

    Cells of several lines that begin at the same place form a column; the first one of a line keeps its indentation.
    """
    rows = [_cells(line) for line in lines]
    numbers = [row.pop()[1] if len(row) > 1 and re.fullmatch(r"\(\d+\)", row[-1][1]) else "" for row in rows]
    starts = sorted(start for row in rows for start, _ in row[1:])
    columns = [start for start, following in pairwise(starts) if following - start <= SLACK]
    columns = [0, *(c for c, before in zip(columns, [-9, *columns], strict=False) if c - before > SLACK)]
    body = ""
    for row, number in zip(rows, numbers, strict=True):
        cells, place = [""] * len(columns), 0
        for at, (start, text) in enumerate(row):
            fitting = [k for k, column in enumerate(columns) if k > place and 0 <= start - column <= SLACK]
            place = fitting[0] if fitting else place
            room = start / 2 if at == place == 0 else 2 if cells[place] else 0
            cells[place] += f'<mspace width="{room}em"/>' * (room > 0) + _Reader(text, True).row()
        label = f'<mtd class="number"><mtext>{number}</mtext></mtd>' if any(numbers) else ""
        body += f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in cells)}{label}</mtr>"
    return f'<math display="block"><mtable displaystyle="true">{body}</mtable></math>'


SLACK = 3
"""By how many characters cells of one column may be apart: accents take no room, and authors count differently."""


def _cells(line: str) -> list[tuple[int, str]]:
    """Where each cell begins, accents not counted, and its text."""
    found = re.finditer(r"\S+(?: \S+)*", line)
    return [(len(re.sub(r"[\u0300-\u036f]", "", line[: match.start()])), match[0]) for match in found]


class _Reader:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, formula: str, display: bool) -> None:
        self.display = display
        self.tokens: list[Token] = []
        spaced = False
        for match in TOKEN.finditer(formula.strip()):
            if match.lastgroup == "space":
                spaced = True
            else:
                self.tokens += _split(Token(match.lastgroup or "", match[0], spaced))
                spaced = False
        self.at = 0

    def row(self) -> str:
        """Everything, also where brackets do not match."""
        items: list[Item] = []
        while self.at < len(self.tokens):
            items += self.items()
            if self.at < len(self.tokens):  # a closing bracket that nothing opened
                items.append(Item("operator", _operator(self.take().text), False))
        return self.joined(items)

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def near(self, kind: str, text: str = "") -> bool:
        """Does this follow without a space?"""
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.kind == kind and not token.spaced and (not text or token.text in text)

    def items(self) -> list[Item]:
        """What stands before the next closing bracket: half-open intervals close otherwise than they open."""
        found: list[Item] = []
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "close":
            found.append(self.item())
        return found

    def item(self) -> Item:
        """One symbol with all that is attached to it."""
        token = self.take()
        base, kind, inner = self.base(token)
        below, above = "", ""
        while True:
            if self.near("mark", "_"):
                self.take()
                below += self.argument()
            elif self.near("mark", "^"):
                self.take()
                above += self.argument()
            elif self.near("lowered"):
                below += _small(self.take().text.translate(LOWERED))
            elif self.near("raised"):
                above += _small(self.take().text.translate(RAISED))
            elif self.near("prime"):
                above += f"<mo>{'′' * len(self.take().text)}</mo>"
            elif kind == "atom" and self.near("mark", "*") and not self.starred_product():
                self.take()
                above += "<mo>*</mo>"
            else:
                break
        if below or above:
            limits = ("under", "over") if self.display and token.text in LIMITS else ("sub", "sup")
            name = "m" + bool(below) * limits[0] + bool(above) * limits[1]
            parts = "".join(f"<mrow>{part}</mrow>" for part in (below, above) if part)
            base, inner = f"<{name}>{base}{parts}</{name}>", ""
            kind = "atom" if kind == "group" else kind
        return Item(kind, base, token.spaced, inner)

    def starred_product(self) -> bool:
        """Is this star a product, with a factor right behind it? None of our pages writes it so, but programs do."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return after is not None and not after.spaced and after.kind in ("number", "letter", "word", "open")

    def base(self, token: Token) -> tuple[str, str, str]:
        """The MathML of a symbol without what is attached, its kind, and what it holds if it is a group."""
        match token.kind:
            case "number":
                return f"<mn>{token.text}</mn>", "atom", ""
            case "letter":
                return _letter(token.text), "atom", ""
            case "word" if token.text in FUNCTIONS:
                return f"<mi>{token.text}</mi>", "limit" if token.text in LIMITS else "function", ""
            case "word":
                return f"<mtext>{escape(token.text)}</mtext>", "words", ""
            case "open":
                return self.group(token)
            case "mark" if token.text == "√" and self.at < len(self.tokens):
                return f"<msqrt>{self.root()}</msqrt>", "atom", ""
            case "operator" if token.text in "Σ∑∏":  # Π is a letter like others
                large, sign = str(self.display).lower(), token.text.replace("Σ", "∑")
                return f'<mo largeop="{large}" rspace="0.1em">{sign}</mo>', "limit", ""
            case "raised":
                return f"<mn>{token.text}</mn>", "atom", ""
            case _:
                return _operator(token.text), "operator", ""

    def group(self, token: Token) -> tuple[str, str, str]:
        """Brackets and what they hold; an opening bracket alone is an operator."""
        held = self.items()
        inner = self.joined(held)
        opening = self.bracket(token.text, "prefix")
        if self.at == len(self.tokens):
            return f"{opening}{inner}", "operator", ""
        closing = self.bracket(self.take().text, "postfix")
        return f"<mrow>{opening}{inner}{closing}</mrow>", "group", inner

    def bracket(self, text: str, form: str) -> str:
        """Brackets grow in displays only; in a line of text they would push lines apart."""
        return f'<mo form="{form}" stretchy="{str(self.display).lower()}">{text}</mo>'

    def root(self) -> str:
        """What a root covers: a group without its parentheses, or one symbol with what is attached."""
        item = self.item()
        if item.inner:
            return item.inner
        if self.near("open", "(") and self.tokens[self.at + 1 : self.at + 3][-1:] == [
            Token("close", ")", False)
        ]:
            item = Item(item.kind, item.xml + self.item().xml, item.spaced)  # √X(i): the root of X(i)
        return item.xml

    def argument(self) -> str:
        """What `_` or `^` takes: a group in braces, or one symbol."""
        if self.at == len(self.tokens):
            return "<mrow></mrow>"
        display, self.display = self.display, False
        token = self.take()
        if token.kind == "open" and token.text == "{":
            found = self.joined(self.items())
            if self.at < len(self.tokens):
                self.take()
        else:
            found = self.base(token)[0]
        self.display = display
        return found

    def joined(self, items: list[Item]) -> str:
        """Items in a row: fractions stacked in displays, words with the spaces that they had."""
        found = ""
        items = _fractions(items) if self.display else items
        for before, item in zip([None, *items], items, strict=False):
            if before is not None and item.spaced:
                kinds = {before.kind, item.kind}
                found += WIDE if "words" in kinds else "" if "operator" in kinds else THIN
            found += item.xml
        return found


def _split(token: Token) -> list[Token]:
    """A word as it is meant: short ones that are no words are products of letters."""
    text = token.text
    if token.kind != "word" or text in FUNCTIONS or SHORT.fullmatch(text) or len(text) > 3 or text == "Nin":
        return [token]
    return [Token("letter", each, token.spaced and at == 0) for at, each in enumerate(text)]


def _fractions(items: list[Item]) -> list[Item]:
    """Stack a/b where it is plain what both are: factors that touch, and one factor or group below."""
    found: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        below = items[at + 1 :]
        if item.xml != _operator("/") or item.spaced or not below or below[0].spaced:
            found.append(item)
            at += 1
            continue
        size = _denominator(below)
        start = len(found)
        while start and _multiplies(found[start - 1], found[start:]):
            start -= 1
            if found[start].spaced and not (start and found[start - 1].kind == "function"):
                break
        above = found[start:]
        if not size or not above or above[-1].kind == "function":
            found.append(item)
            at += 1
            continue
        over = above[0].inner if len(above) == 1 and above[0].inner else _plain(above)
        under = below[0].inner if size == 1 and below[0].inner else _plain(below[:size])
        found[start:] = [
            Item("atom", f"<mfrac><mrow>{over}</mrow><mrow>{under}</mrow></mfrac>", above[0].spaced)
        ]
        at += 1 + size
    return found


def _multiplies(item: Item, behind: list[Item]) -> bool:
    """Is it a factor of what is divided? The arguments of max(a, b) are; max_x f(x)/x is the greatest quotient."""
    if item.kind == "limit":
        return (
            item.xml.startswith("<mi>")
            and bool(behind)
            and behind[0].kind == "group"
            and not behind[0].spaced
        )
    return item.kind in ("atom", "group", "function")


def _denominator(below: list[Item]) -> int:
    """How many items are divided by: a factor, with its argument if it has one; 0 if several factors touch."""
    touching = 0
    for item in below:
        if item.kind not in ("atom", "group") or (touching and item.spaced):
            break
        touching += 1
    if touching == 2 and below[0].kind == "atom" and below[1].kind == "group":
        return 2
    return touching if touching == 1 else 0


def _plain(items: list[Item]) -> str:
    return "".join((THIN if i and item.spaced else "") + item.xml for i, item in enumerate(items))


def _letter(text: str) -> str:
    text = normalize("NFD", text)  # some letters with accents are characters of their own
    found = f"<mi>{escape(text[0])}</mi>"
    for mark in text[1:]:
        sign = ACCENTS.get(mark, mark)
        found = f'<mover accent="true">{found}<mo stretchy="false">{sign}</mo></mover>'
    return found


def _small(text: str) -> str:
    return f"<mn>{text}</mn>" if text.isdigit() else f"<mo>{text}</mo>"


def _operator(text: str) -> str:
    if text in "|‖/":
        return f'<mo stretchy="false" lspace="0" rspace="0">{text}</mo>'
    return f"<mo>{escape(text)}</mo>"
