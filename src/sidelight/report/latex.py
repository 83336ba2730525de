r"""Results as a table for a paper: plain LaTeX and the package booktabs, nothing else.

Markup in names is escaped, and what pdflatex has no letters for becomes mathematics: it knows the Latin letters and
the usual punctuation of Unicode, no Greek, no signs of relations, no raised digits. These are written as commands,
which every engine knows; what is left, such as Chinese, needs LuaLaTeX or XeLaTeX with a font that has it, and a
comment above the table says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from math import floor, isfinite, log10

from sidelight.experiment.results import Cell, Results
from sidelight.report.groups import Group, final_regret, groups_of, told_apart
from sidelight.report.text import half_width

NOTHING = "--"
"""In the place of a number that does not exist."""


def results_latex(results: Results, wide: bool | None = None) -> str:
    """A tabular: comparisons × policies if `wide`, else a row per policy with its bound and certificate."""
    groups = groups_of(results)
    if wide is None:
        wide = len(groups) > 1
    differ, heads = told_apart(groups)
    policies = groups[0].policies if groups else ()
    columns = tuple(map(escaped, policies)) if wide else ("policy", "regret", "bound", "certificate")
    blocks = []
    for group, head in zip(groups, heads, strict=True):
        words = [escaped(word) for word, shown in zip(head, differ, strict=True) if shown]
        cells = {cell.policy: cell for cell in group.cells}
        if wide:
            rows = [[_regret(cells[name], group) if name in cells else NOTHING for name in policies]]
        else:
            rows = [[escaped(cell.policy), _regret(cell, group), *_certified(cell)] for cell in group.cells]
        blocks.append([[*(words if at == 0 else [""] * len(words)), *row] for at, row in enumerate(rows)])
    if wide:  # the comparisons are the rows of one block
        blocks = [[row for block in blocks for row in block]]
    names = [name for name, shown in zip(("graph", "environment", "$T$"), differ, strict=True) if shown]
    kinds = "".join("r" if name == "$T$" else "l" for name in names)
    kinds += "r" * len(columns) if wide else "lrrr"
    absent = "".join(f"% {_one_line(repr(cell))}\n" for cell in results.absent)
    return absent + _tabular(_about(groups), kinds, [*names, *columns], blocks)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _about(groups: Sequence[Group]) -> str:
    """What all comparisons share, as a comment above the table."""
    if not groups:
        return "no results"
    differ, _ = told_apart(groups)
    words = (groups[0].graph, groups[0].environment, f"T = {groups[0].horizon:,}")
    shared = ", ".join(word for word, differs in zip(words, differ, strict=True) if not differs)
    seeds = sorted({len(cell.seeds) for group in groups for cell in group.cells})
    counted = f"{seeds[0]:,}" if len(seeds) == 1 else f"{seeds[0]:,} to {seeds[-1]:,}"
    return _one_line(f"regret, mean of {counted} runs with its 95 % interval; {shared}".rstrip("; "))


def _certified(cell: Cell) -> tuple[str, str]:
    """The bound and the mean certificate."""
    certificate = None if cell.certificate is None else float(cell.certificate[:, -1].mean())
    return _math(None if cell.bound is None else float(cell.bound["value"])), _math(certificate)


def _regret(cell: Cell, group: Group) -> str:
    mean, _, high = final_regret(cell)
    text = _digits(mean)
    if isfinite(high):
        text += rf" \pm {_half(mean, high - mean)}"
    return rf"$\mathbf{{{text}}}$" if cell is group.ranked[0] else f"${text}$"


def _half(mean: float, half: float) -> str:
    """As in all tables, but for powers of ten, which are typeset."""
    plain = half_width(mean, half)
    return plain.replace(",", "{,}") if plain == "0" or 1e-3 <= half < 1e7 else _digits(half)


def _math(value: float | None) -> str:
    return NOTHING if value is None or not isfinite(value) else f"${_digits(value)}$"


def _digits(value: float) -> str:
    """Four digits or so, in math mode."""
    size = abs(value)
    if size >= 1e7:
        exponent = floor(log10(size))
        return rf"{value / 10**exponent:.3g} \cdot 10^{{{exponent}}}"
    if 0 < size < 1e-3:
        exponent = floor(log10(size))
        return rf"{value / 10**exponent:.2g} \cdot 10^{{{exponent}}}"
    return f"{value:,.0f}".replace(",", "{,}") if size >= 100 else f"{value:.3g}"


def _tabular(header: str, kinds: str, head: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]]) -> str:
    r"""Lines of a tabular; blocks are set apart by a little space."""
    lines = [rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    for at, rows in enumerate(blocks):
        lines += [r"\addlinespace"] * (at > 0)
        lines += [" & ".join(row) + r" \\" for row in rows]
    text = "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
    fonts, unknown = foreign(text)
    needs = [rf"% {header}", r"% needs \usepackage{booktabs}" + r" and \usepackage[T1]{fontenc}" * fonts]
    if unknown:
        needs.append(f"% pdflatex does not know {unknown}: use lualatex or xelatex, with a font that does")
    return "\n".join([*needs, text])


# -- text as LaTeX prints it --------------------------------------------------------------------------------


_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip

_GREEK = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ζ": r"\zeta",
    "η": r"\eta", "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu",
    "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "ς": r"\varsigma", "σ": r"\sigma", "τ": r"\tau",
    "υ": r"\upsilon", "φ": r"\varphi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma",
    "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma",
    "Υ": r"\Upsilon", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
}  # fmt: skip
_LOOKS_LATIN = dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΧ", "oABEZHIKMNOPTX", strict=True))
_SIGNS = {
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "∝": r"\propto",
    "±": r"\pm", "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "÷": r"\div", "−": "-", "∗": r"\ast", "√": r"\surd",
    "∞": r"\infty", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∂": r"\partial", "∇": r"\nabla", "ℓ": r"\ell",
    "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow", "∈": r"\in", "∉": r"\notin",
    "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset", "⊆": r"\subseteq", "∅": r"\emptyset", "∀": r"\forall",
    "∃": r"\exists", "⌈": r"\lceil", "⌉": r"\rceil", "⌊": r"\lfloor", "⌋": r"\rfloor",
}  # fmt: skip
_MATH = _GREEK | _SIGNS
_ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0307": r"\dot", "\u0308": r"\ddot"}
_KNOWN, _UNKNOWN = "‘’“”‚„–—…†‡•€", "ĦħĸĿŀŉŦŧſ"
"""To pdflatex with T1 fonts, besides the first 256 Latin letters; and of these."""


def escaped(text: str) -> str:
    r"""`text` such that LaTeX prints it as it is, at the beginning of a row too.

    >>> escaped("exp3_ix & 5%"), escaped("δ* ≤ x²")
    ('exp3\\_ix \\& 5\\%', '$\\delta$* $\\leq$ x$^{2}$')
    """
    shown = "".join(_pieces(unicodedata.normalize("NFC", text)))
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", shown)
    shown = re.sub(r"(?<=[-'`,])(?=[-'`,])", "{}", shown)  # two hyphens would become a dash
    return "{}" + shown if shown.lstrip()[:1] in ("[", "*") else shown  # an argument of \\, there


def foreign(text: str) -> tuple[bool, str]:
    """Of LaTeX: does it have letters that need T1 fonts, and which does pdflatex not know at all?"""
    beyond = sorted({letter for letter in text if ord(letter) > 0x7F})
    unknown = [letter for letter in beyond if not _is_known(letter)]
    return len(unknown) < len(beyond), "".join(unknown)


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        letter, accent = text[at], _ACCENTS.get(text[at + 1 : at + 2], "")
        at += 2 if accent else 1
        inner = _MATH.get(letter)
        if accent:
            yield rf"${accent}{{{inner or _SPECIAL.get(letter, letter)}}}$"
        elif inner is not None:
            yield f"${inner}$"
        else:
            yield _SPECIAL.get(letter) or _LOOKS_LATIN.get(letter) or _raised(letter)


def _raised(letter: str) -> str:
    """Raised and lowered digits and signs, and fractions, by what Unicode says they are made of."""
    kind, *codes = unicodedata.decomposition(letter).split() or ("",)
    made_of = "".join(chr(int(code, 16)) for code in codes) if kind.startswith("<") else ""
    inner = "".join(_MATH.get(each, each) for each in made_of)
    if kind == "<super>":
        return f"$^{{{inner}}}$"
    if kind == "<sub>":
        return f"$_{{{inner}}}$"
    if kind == "<fraction>" and len(made_of) == 3:
        return rf"$\frac{{{made_of[0]}}}{{{made_of[2]}}}$"
    return letter


def _is_known(letter: str) -> bool:
    return letter in _KNOWN or (ord(letter) < 0x180 and letter not in _UNKNOWN)
