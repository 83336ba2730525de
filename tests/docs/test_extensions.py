"""Our extensions of Sphinx: formulas are found, docstrings translated, terms linked."""

import inspect

import docstrings
import formulas
from docutils import nodes
from docutils.core import publish_doctree
from pages import DOCS, FENCE
from terms import terms

import sidelight as sl


def formulas_in(text):
    return [part for is_formula, part in formulas.pieces(text) if is_formula]


def test_formulas_are_found_in_sentences():
    for text, found in [
        ("Let X_t be played, and P_i ≥ b.", ["X_t", "P_i ≥ b"]),
        ("with a rate of 2·√(M·T) (not below T).", ["2·√(M·T)", "T"]),
        (
            "As losses are in [0, 1], ⟨ℓ, Z⟩ = (1−γ̄)·⟨L, Y⟩ + ⟨ℓ, γ⟩, of which",
            ["⟨ℓ, Z⟩ = (1−γ̄)·⟨L, Y⟩ + ⟨ℓ, γ⟩"],
        ),
        ("by at most (1/η' − 1/η)·max(−Φ). After", ["(1/η' − 1/η)·max(−Φ)"]),
        ("(s = 1: ln N), at the", ["s = 1", "ln N"]),
        ("A maximum only adds, and I know a rule of 20 arms.", []),
        ("the exact value, 1.966 and 20 %, of arm 3", []),
    ]:
        assert formulas_in(text) == found, text


def test_no_sentence_of_the_theory_loses_anything():
    found = 0
    for page in (DOCS / "theory").glob("*.md"):
        for paragraph in FENCE.sub("", page.read_text(encoding="utf-8")).split("\n\n"):
            parts = formulas.pieces(paragraph)
            assert "".join(part for _, part in parts) == paragraph
            found += sum(is_formula for is_formula, _ in parts)
    assert found > 1_500


def test_docstrings_are_translated():
    lines = docstrings.restructured(
        inspect.cleandoc(
            """Uses `a_b` and x*_j of |S| *arms*, see [here](docs/x.md).

                x_i ≤ 1

            | name | what |
            |------|------|
            | `a`  | one  |
            |      | more |

            Args:
                n: so many *arms*.
            >>> 1 + 1
            2
            """
        ).splitlines()
    )
    assert lines[0] == "Uses ``a_b`` and x\\*\\_j of \\|S\\| *arms*, see here."
    assert lines[2:5] == [".. code-block:: text", "", "      x_i ≤ 1"]
    assert "   * - ``a``" in lines
    assert "     - one more" in lines
    assert lines[-8:] == ["**Arguments**", "", "``n``", "    so many *arms*.", "", ">>> 1 + 1", "2", ""]


def test_every_public_docstring_is_clean():
    """As docutils reads it: no warning, no stray markup."""
    for name in sl.__all__:
        doc = inspect.getdoc(getattr(sl, name)) or ""
        if name == "__version__":
            continue
        text = "\n".join(docstrings.restructured(doc.splitlines()))
        tree = publish_doctree(text, settings_overrides={"report_level": 5, "syntax_highlight": "none"})
        assert not list(tree.findall(nodes.system_message)), (name, text)


def test_terms():
    (term,) = terms("# Glossary\n\n### Cover\n\n*Also: covers.*\n\nWeights, see [δ*](x.md).\n\nMore.\n")
    assert term == ("Cover", ("Cover", "covers"), "Weights, see δ.")
