r"""Results as a table for a paper: plain LaTeX and the package booktabs, nothing else.

A comment above the table says what else it needs where names have letters beyond ASCII.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10

from sidelight.experiment.results import Cell, Results
from sidelight.report.groups import Group, groups_of
from sidelight.report.latex_text import escaped, foreign
from sidelight.report.series import final_regret
from sidelight.report.text import half_width

NOTHING = "--"
"""In the place of a number that does not exist."""


def results_latex(results: Results, wide: bool | None = None) -> str:
    """A tabular: comparisons × policies if `wide`, else a row per policy with its bound and certificate."""
    groups = groups_of(results)
    if wide is None:
        wide = len(groups) > 1
    absent = "".join(f"% {_one_line(repr(cell))}\n" for cell in results.absent)
    return absent + (_wide(groups) if wide else _long(groups))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _wide(groups: Sequence[Group]) -> str:
    policies = groups[0].policies if groups else ()
    common, heads = _heads(groups)
    rows = []
    for group, words in zip(groups, heads, strict=True):
        found = {cell.policy: cell for cell in group.cells}
        regrets = [_regret(found[policy], group) if policy in found else NOTHING for policy in policies]
        rows.append([*words, *regrets])
    names = [name for name, shown in zip(("graph", "environment", "$T$"), common, strict=True) if not shown]
    kinds = "".join("r" if name == "$T$" else "l" for name in names)
    head = [*names, *map(escaped, policies)]
    return _tabular(_about(groups), kinds + "r" * len(policies), head, [rows])


def _long(groups: Sequence[Group]) -> str:
    common, heads = _heads(groups)
    names = [name for name, shown in zip(("graph", "environment", "$T$"), common, strict=True) if not shown]
    kinds = "".join("r" if name == "$T$" else "l" for name in names)
    blocks = []
    for group, words in zip(groups, heads, strict=True):
        rows = []
        for cell in group.cells:
            certificate = None if cell.certificate is None else float(cell.certificate[:, -1].mean())
            bound = None if cell.bound is None else float(cell.bound["value"])
            rows.append(
                [*words, escaped(cell.policy), _regret(cell, group), _math(bound), _math(certificate)]
            )
            words = [""] * len(words)
        blocks.append(rows)
    head = [*names, "policy", "regret", "bound", "certificate"]
    return _tabular(_about(groups), kinds + "lrrr", head, blocks)


def _heads(groups: Sequence[Group]) -> tuple[list[bool], list[list[str]]]:
    """Which of graph, environment and T are the same everywhere, and the others for every comparison."""
    whole = [(group.graph, group.environment, f"{group.horizon:,}") for group in groups]
    common = [len({words[at] for words in whole}) <= 1 for at in range(3)]
    return common, [
        [escaped(word) for word, shown in zip(words, common, strict=True) if not shown] for words in whole
    ]


def _about(groups: Sequence[Group]) -> str:
    """What all comparisons share, as a comment above the table."""
    if not groups:
        return "no results"
    common, _ = _heads(groups)
    first = groups[0]
    words = (first.graph, first.environment, f"T = {first.horizon:,}")
    shared = ", ".join(word for word, shown in zip(words, common, strict=True) if shown)
    seeds = sorted({len(cell.seeds) for group in groups for cell in group.cells})
    counted = f"{seeds[0]:,}" if len(seeds) == 1 else f"{seeds[0]:,} to {seeds[-1]:,}"
    text = f"regret, mean of {counted} runs with its 95 % interval; {shared}".rstrip("; ")
    return " ".join(text.split())


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


def _tabular(about: str, kinds: str, head: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]]) -> str:
    r"""Lines of a tabular; blocks are set apart by a little space."""
    lines = [rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    for at, rows in enumerate(blocks):
        lines += [r"\addlinespace"] * (at > 0)
        lines += [" & ".join(row) + r" \\" for row in rows]
    text = "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
    fonts, unknown = foreign(text)
    needs = [rf"% {about}", r"% needs \usepackage{booktabs}" + r" and \usepackage[T1]{fontenc}" * fonts]
    if unknown:
        needs.append(f"% pdflatex does not know {unknown}: use lualatex or xelatex, with a font that does")
    return "\n".join([*needs, text])
