r"""Text as LaTeX prints it: markup is escaped, and what pdflatex has no letters for becomes mathematics.

pdflatex knows the Latin letters and the usual punctuation of Unicode, no Greek, no signs of relations, no raised
digits. These are written as commands, which every engine knows; what is left, such as Chinese, needs LuaLaTeX or
XeLaTeX with a font that has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

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
