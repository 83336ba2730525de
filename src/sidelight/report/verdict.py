"""What a group of cells shows, in plain sentences: who lost least, by how much, and what the bounds say."""

from __future__ import annotations

import numpy as np

from sidelight.errors import InvalidOption
from sidelight.experiment.results import Cell
from sidelight.experiment.statistics import LEVEL, PairedDifference, compare_cells, mean_band
from sidelight.planning import Comparison
from sidelight.report.groups import Group
from sidelight.report.style import counted, number


def verdict(group: Group, comparison: Comparison | None = None) -> tuple[str, ...]:
    """One sentence each: the least regret, noise, whether bounds hold, vacuous bounds, what beats the plan."""
    sentences = [*_least(group), *_bounds(group)]
    if comparison is not None:
        sentences += _beaten(comparison)
    return tuple(sentences)


def bound_status(cell: Cell) -> str:
    """Does the measured mean regret respect the policy's bound?

    "none", "conditions fail", "vacuous", "holds", "exceeded" (the whole interval of the mean is above it) or
    "undecided" (the mean is above, its interval is not).
    """
    if cell.bound is None:
        return "none"
    value = float(cell.bound["value"])
    if not cell.bound["certified"]:
        return "conditions fail"
    if value >= cell.horizon:
        return "vacuous"
    band = mean_band(cell.regret[:, -1:])
    if band.mean[0] <= value:
        return "holds"
    return "exceeded" if band.low[0] > value else "undecided"


def _least(group: Group) -> list[str]:
    best, *others = group.ranked
    seeds = counted(len(best.seeds), "seed")
    same = [cell for cell in others if _identical(best, cell)]
    rivals = [cell for cell in others if not _identical(best, cell)]
    measured = f"{_measured(best)} over {seeds}"
    if not others:
        return [f"{best.policy} has a mean regret of {measured}."]
    if same:
        names = _names([best, *same])
        sentence = f"{names} played alike and have the least mean regret: {measured}"
    else:
        sentence = f"{best.policy} has the least mean regret: {measured}"
    if not rivals:
        return [f"{names} played alike, with a mean regret of {measured}."]
    second = rivals[0]
    sentences = [f"{sentence}; next is {second.policy} with {_measured(second)}."]
    return [*sentences, *_noise(best, rivals)]


def _noise(best: Cell, rivals: list[Cell]) -> list[str]:
    level = 1 - (1 - LEVEL) / len(rivals)  # the best was picked by looking: all comparisons share the risk
    found: list[tuple[Cell, PairedDifference]] = []
    apart = []
    for cell in rivals:
        try:
            found.append((cell, compare_cells(cell, best, level)))
        except InvalidOption:
            apart.append(cell)
    sentences = []
    single = [cell for cell, difference in found if difference.n_seeds < 2]
    if single:
        sentences.append("With a single seed, nothing tells these differences from noise.")
    close = [cell for cell, difference in found if difference.n_seeds > 1 and not difference.decided]
    clear = [(cell, difference) for cell, difference in found if difference.decided]
    how = "paired by seed, 95 % " + (
        "interval" if len(rivals) == 1 else f"intervals for {len(rivals)} comparisons"
    )
    if close:
        sentences.append(f"Within noise of {best.policy}: {_names(close)} ({how}).")
    if clear:
        worse = ", ".join(
            f"{cell.policy} by {number(d.mean)} [{number(d.low)}, {number(d.high)}]" for cell, d in clear
        )
        sentences.append(f"Beyond noise, {best.policy} loses less than {worse} ({how}).")
    if apart:
        sentences.append(f"Not paired, for want of a common seed: {_names(apart)}.")
    return sentences


def _bounds(group: Group) -> list[str]:
    by_status: dict[str, list[Cell]] = {}
    for cell in group.cells:
        by_status.setdefault(bound_status(cell), []).append(cell)
    sentences = []
    if "holds" in by_status:
        names = ", ".join(f"{cell.policy} ({_share(cell)} of it used)" for cell in by_status["holds"])
        sentences.append(f"The certified bound holds for {names}.")
    if "exceeded" in by_status:
        sentences.append(
            f"The certified bound is EXCEEDED by {_names(by_status['exceeded'])}: "
            "the theory, the environment or the code is at fault."
        )
    if "undecided" in by_status:
        sentences.append(
            f"Too few seeds to tell whether the bound holds for {_names(by_status['undecided'])}."
        )
    if "vacuous" in by_status:
        worth = [
            f"{cell.policy} ({number(float((cell.bound or {})['value']))})" for cell in by_status["vacuous"]
        ]
        sentences.append(
            f"At T = {group.horizon:,} the bound is vacuous, no less than one loss per round, for {', '.join(worth)}."
        )
    if "conditions fail" in by_status:
        sentences.append(f"No bound is certified at this T for {_names(by_status['conditions fail'])}.")
    if "none" in by_status:
        sentences.append(f"Without a bound: {_names(by_status['none'])}.")
    return sentences


def _beaten(comparison: Comparison) -> list[str]:
    sentences = []
    if comparison.ahead:
        rows = ", ".join(f"{row.name} ({number(row.value or 0.0)})" for row in comparison.ahead)
        sentences.append(
            f"The plan's bound, {number(comparison.auto.value or 0.0)}, is beaten by a certified bound of {rows}."
        )
    floor, best = comparison.floor, comparison.best
    if floor.value and best.value and best.informative:
        sentences.append(
            f"No policy can promise less than {number(floor.value)} ({floor.name}); the best certified bound, "
            f"{number(best.value)} ({best.name}), is {number(best.value / floor.value)} times that."
        )
    return sentences


def _identical(first: Cell, second: Cell) -> bool:
    return np.array_equal(first.seeds, second.seeds) and np.array_equal(first.regret, second.regret)


def _measured(cell: Cell) -> str:
    band = mean_band(cell.regret[:, -1:])
    spread = float(band.high[0] - band.mean[0])
    return number(float(band.mean[0])) + ("" if np.isnan(spread) else f" ± {number(spread)}")


def _share(cell: Cell) -> str:
    share = float(cell.mean[-1]) / float((cell.bound or {})["value"])
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _names(cells: list[Cell]) -> str:
    names = [cell.policy for cell in cells]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
