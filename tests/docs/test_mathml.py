"""Typesetting: nothing is lost, nothing is added, and what stands on the pages is what is tested."""

import re
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

from mathml import LOWERED, RAISED, typeset, typeset_block

THEORY = sorted((Path(__file__).parents[2] / "docs" / "theory").glob("*.md"))
MARKS = re.compile(r"[\s_^{}√()*'′¯~ˇ\u0300-\u036f]")


def displays(page):
    """The blocks of formulas of a page: indented by four, between empty lines."""
    for block in re.findall(r"(?:^|\n\n)((?:    [^\n]*\n?)+)", page.read_text(encoding="utf-8")):
        yield [line[4:] for line in block.rstrip("\n").split("\n")]


def shape(xml):
    """Tags and texts, nested, without attributes and without spaces."""
    element = ElementTree.fromstring(xml)

    def of(node):
        children = [of(child) for child in node if child.tag != "mspace"]
        if node.tag in ("mi", "mn", "mo", "mtext"):
            return node.text
        name = node.tag.removeprefix("m")
        return children[0] if name in ("row", "ath") and len(children) == 1 else (name, *children)

    return of(element)


def test_notation():
    for formula, meaning in [
        ("x_i", ("sub", "x", "i")),
        ("T^{2/3}", ("sup", "T", ("row", "2", "/", "3"))),
        ("x*_j", ("subsup", "x", "j", "*")),
        ("ℓ̂_t", ("sub", ("over", "ℓ", "^"), "t")),
        ("√n_S", ("sqrt", ("sub", "n", "S"))),
        ("√(ηT)", ("sqrt", "η", "T")),
        ("√X_k(i)", ("sqrt", ("sub", "X", "k"), ("row", "(", "i", ")"))),
        ("D²", ("sup", "D", "2")),
        ("[x]₊", ("sub", ("row", "[", "x", "]"), "+")),
        ("r'", ("sup", "r", "′")),
        ("bMT", ("ath", "b", "M", "T")),
        ("β_1D", ("ath", ("sub", "β", "1"), "D")),
        ("max_x f", ("ath", ("sub", "max", "x"), "f")),
        ("[0, 1)", ("row", "[", "0", ",", "1", ")")),
        ("(x", ("ath", "(", "x")),
        ("x)", ("ath", "x", ")")),
        ("x_", ("sub", "x", ("row",))),
    ]:
        assert shape(typeset(formula)) == meaning


def test_displays_are_built_up():
    for formula, meaning in [
        ("D/η", ("frac", "D", "η")),
        ("1/(2b)", ("frac", "1", ("row", "2", "b"))),
        ("log N/η", ("frac", ("row", "log", "N"), "η")),
        ("log(n)/η", ("frac", ("row", "log", ("row", "(", "n", ")")), "η")),
        ("X_i/P_i(X)", ("frac", ("sub", "X", "i"), ("row", ("sub", "P", "i"), ("row", "(", "X", ")")))),
        ("max(a, b)/c", ("frac", ("row", "max", ("row", "(", "a", ",", "b", ")")), "c")),
        ("max_i X/c_i", ("ath", ("under", "max", "i"), ("frac", "X", ("sub", "c", "i")))),  # not (max X)/c
        ("a/bc", ("ath", "a", "/", "b", "c")),  # by b, or by bc? left as it is written
        ("a / b", ("ath", "a", "/", "b")),
        ("x^{1/2}", ("sup", "x", ("row", "1", "/", "2"))),
        ("Σ_{t≤n} σ_t", ("ath", ("under", "∑", ("row", "t", "≤", "n")), ("sub", "σ", "t"))),
        ("Σ_{t=2}^n t", ("ath", ("underover", "∑", ("row", "t", "=", "2"), "n"), "t")),
    ]:
        assert shape(typeset(formula, display=True)) == meaning


def table_of(lines):
    table = ElementTree.fromstring(typeset_block(lines))[0]
    return [["".join(cell.itertext()) for cell in row] for row in table]


def test_columns_are_where_cells_begin_alike():
    assert table_of(["R ≤ γ̄·T   if a", "R ≤ 2T    else"]) == [["R≤γ¯·T", "ifa"], ["R≤2T", "else"]]
    assert table_of(["a = b   c", "    + d         e"]) == [["a=bc"], ["+de"]]
    assert table_of(["a = b   c   (1)"]) == [["a=bc", "(1)"]]
    assert table_of(["a = b    if c    (1)", "d        else"]) == [["a=b", "ifc", "(1)"], ["d", "else", ""]]


def bare(text):
    """What must be the same on both sides: all but marks of the notation, however it is composed."""
    text = text.replace("Σ", "∑").replace("Π", "∏")
    text = unicodedata.normalize("NFD", text).translate(RAISED).translate(LOWERED)
    return sorted(MARKS.sub("", text.replace("/", "")))


def test_no_formula_of_the_theory_loses_anything():
    blocks = [lines for page in THEORY for lines in displays(page)]
    assert len(blocks) > 50
    for lines in blocks:
        xml = typeset_block(lines)
        accents = re.sub(r'<mo stretchy="false">[\^~¯ˇ]</mo>', "", xml)
        assert bare("".join(ElementTree.fromstring(accents).itertext())) == bare("".join(lines)), lines
