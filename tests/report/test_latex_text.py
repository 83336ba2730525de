"""Text for LaTeX: what it would take for markup, and letters that pdflatex does not have."""

import re

import pytest

from sidelight.report.latex import escaped, foreign

NASTY = r"100%_of {all} & $x^2$ ~ #1 \end{tabular} <b> |" + "\n\t\0"


def test_markup_is_escaped():
    shown = escaped(NASTY)
    assert not re.search(r"(?<!\\)[&%$#_]", shown)
    assert "\n" not in shown
    assert "\0" not in shown
    assert r"\textbackslash{}end\{tabular\}" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("δ*", r"$\delta$*"),
        ("α ≤ Ω", r"$\alpha$ $\leq$ $\Omega$"),
        ("Αο", "Ao"),  # Greek letters that look like Latin ones, and have no command
        ("x²₁⁻", "x$^{2}$$_{1}$$^{-}$"),
        ("½", r"$\frac{1}{2}$"),
        ("γ̄ x̂", r"$\bar{\gamma}$ $\hat{x}$"),
        ("cafe\u0301", "café"),
        ("a--b ''c''", "a-{}-b '{}'c'{}'"),
        ("[1]", "{}[1]"),
        ("*best", "{}*best"),
        ("best*", "best*"),
        ("a\u2028b\x85c", "a b c"),
    ],
)
def test_letters(text, shown):
    assert escaped(text) == shown


def test_what_is_left():
    assert foreign("plain $\\delta$") == (False, "")
    assert foreign("café – “x”") == (True, "")
    assert foreign("é東ħ") == (True, "ħ東")
    assert foreign("東") == (False, "東")
