"""What cells show, in plain sentences: who lost least, by how much, and what the bounds say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sized
from typing import NamedTuple

import numpy as np

from sidelight.analysis import LongRun
from sidelight.errors import InvalidOption
from sidelight.experiment.results import Cell
from sidelight.experiment.statistics import (
    LEVEL,
    PairedDifference,
    compare_cells,
    mean_band,
)
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import named
from sidelight.planning import Comparison
from sidelight.report.groups import Group, final_regret, growth_of
from sidelight.report.text import counted, listed, number, spread

LINEAR = 0.97
"""A growth exponent from here on, its interval included where it has one, is called linear."""


def verdict(
    group: Group, comparison: Comparison | None = None, limit: LongRun | None = None
) -> tuple[str, ...]:
    """One sentence each: the least regret, noise, growth, whether bounds hold, certificates, bounds of the graph.

    Last what is possible in the long run, where losses are coins.
    """
    best, rivals = duels(group)
    seeds = counted(len(best[0].seeds), "seed")
    sentences = [f"{_winner(best, rivals, f'over {seeds}')}."]
    sentences += [*_noise(best[0], rivals), *_growth(group), *_bounds(group), *_certificates(group)]
    sentences += [] if comparison is None else [bounds_sentence(comparison)]
    return (*sentences, *([] if limit is None else [limit_sentence(limit, group.horizon)]))


def limit_sentence(limit: LongRun, horizon: int) -> str:
    """What the least regret of these coins grows like."""
    if limit.value == 0:
        return (
            "What is possible in the long run when losses are coins like these: regret that stays bounded,"
            " for the best arm reveals all that must be known."
        )
    return (
        "What is possible in the long run when losses are coins like these: c*·log T ="
        f" {number(float(limit.at(horizon)))} with c* = {number(limit.lower)}, a limit, below which regret may be"
        " after few rounds."
    )


def most_played(group: Group, graph: FeedbackGraph) -> str:
    """Where each policy spent most of its plays, over all seeds, by number and label; empty if uncounted."""
    shares = [
        f"{cell.policy} {named(graph, int(cell.plays.argmax()))}, {cell.plays.max() / cell.plays.sum():.0%}"
        for cell in group.cells
        if cell.plays is not None
    ]
    return f"Most played arms: {'; '.join(shares)}." if shares else ""


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
    mean, low, _ = final_regret(cell)
    return "holds" if mean <= value else "exceeded" if low > value else "undecided"


def _winner(best: list[Cell], rivals: list[Duel], where: str) -> str:
    """Who has the least regret, measured `where`, and how much more the next has."""
    alike = "played alike and " if len(best) > 1 else ""
    nothing = "" if best[0].regret[:, -1].any() else ", up to the rounding of sums,"
    text = f"{names_of(best)} {alike}{_have(best)} a mean regret of {measured(best[0])}{nothing} {where}"
    if not rivals:
        return text
    second = rivals[0].cells
    everyone = len(best) + sum(len(duel.cells) for duel in rivals)
    more, less = float(second[0].mean[-1]), float(best[0].mean[-1])
    times = f"{more / less:.3g} times as much" if less > 0 else f"{number(more - less)} more"
    text += f", the least of {everyone}; {names_of(second)}, next, {_have(second)}"
    return f"{text} {measured(second[0])}, {times}"


class Duel(NamedTuple):
    """Policies that played alike, against the one with the least regret."""

    cells: list[Cell]
    difference: PairedDifference | None  # None for want of a common seed

    @property
    def close(self) -> bool:
        """Is the difference within noise, of several seeds?"""
        return self.difference is not None and self.difference.n_seeds > 1 and not self.difference.decided

    @property
    def clear(self) -> bool:
        """Is it beyond noise?"""
        return self.difference is not None and self.difference.decided


def duels(group: Group) -> tuple[list[Cell], list[Duel]]:
    """Who has the least mean regret, and how far the others are from it, seed by seed.

    The best was picked by looking at all, so every pair of policies shares the risk of 5 % (Bonferroni).
    """
    best, *rivals = _alike(group.ranked)
    level = 1 - (1 - LEVEL) / max(_pairs(rivals), 1)
    compared = []
    for cells in rivals:
        try:
            compared.append(Duel(cells, compare_cells(cells[0], best[0], level)))
        except InvalidOption:
            compared.append(Duel(cells, None))
    return best, compared


def _pairs(rivals: Sized) -> int:
    return (len(rivals) + 1) * len(rivals) // 2


def _noise(best: Cell, rivals: list[Duel]) -> list[str]:
    close, clear, apart = [], [], []
    single = False
    for duel in rivals:
        if duel.difference is None:
            apart += duel.cells
        elif duel.clear:
            clear.append(f"{names_of(duel.cells)} by {_interval(duel.difference)}")
        elif duel.close:
            close += duel.cells
        else:
            single = True
    pairs = _pairs(rivals)
    how = f"95 % intervals for all {pairs} pairs together" if pairs > 1 else "95 % interval"
    sentences = ["With a single seed, nothing tells these differences from noise."] if single else []
    if close:
        sentences.append(f"Within noise of {best.policy}: {names_of(close)} (paired by seed, {how}).")
    if clear:
        sentences.append(f"Beyond noise, {best.policy} beats {'; '.join(clear)} (paired by seed, {how}).")
    if apart:
        sentences.append(f"Not paired, for want of a common seed: {names_of(apart)}.")
    return sentences


def _growth(group: Group) -> list[str]:
    """Policies that have not begun to learn, whose curve ends as a straight line; and curves that are no power."""
    linear, bent = [], []
    for cell in group.cells:
        growth = growth_of(cell)
        if growth is None:
            continue
        if growth.bends:
            bent.append(cell)
        end = growth.late if growth.bends else growth.value if np.isnan(growth.low) else growth.low
        if end >= LINEAR:
            linear.append(cell)
    sentences = []
    if linear:
        sentences.append(
            f"Regret still grows linearly at T for {names_of(linear)}: too short a horizon, or a policy that "
            "does not learn."
        )
    if bent:
        sentences.append(
            f"Between T/100 and T the regret of {names_of(bent)} bends: no single exponent describes it."
        )
    return sentences


def _by_status(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    by_status: dict[str, list[Cell]] = {}
    for cell in cells:
        by_status.setdefault(bound_status(cell), []).append(cell)
    return by_status


def _bounds(group: Group) -> list[str]:
    by_status = _by_status(group.cells)
    names = {status: names_of(cells) for status, cells in by_status.items()}
    used = ", ".join(
        f"{_share(cells[0])} ({names_of(cells)})" for cells in _alike(by_status.get("holds", []))
    )
    worth = ", ".join(f"{cell.policy} ({number(_value(cell))})" for cell in by_status.get("vacuous", []))
    sentences = {
        "holds": f"Certified bounds hold; mean regret takes up so much of them: {used}.",
        "exceeded": f"The certified bound is EXCEEDED by {names.get('exceeded')}: "
        "the theory, the environment or the code is at fault.",
        "undecided": f"Too few seeds to tell whether the bound holds for {names.get('undecided')}.",
        "vacuous": f"At T = {group.horizon:,} the bound is vacuous, no less than one loss per round, for {worth}.",
        "conditions fail": f"No bound is certified at this T for {names.get('conditions fail')}.",
        "none": f"Without a bound: {names.get('none')}.",
    }
    return [sentence for status, sentence in sentences.items() if status in by_status]


def _certificates(group: Group) -> list[str]:
    """What the games themselves certify: a bound on the expected regret that needs no horizon and no worst case."""
    exceeded, used = [], []
    for cell in group.cells:
        if cell.certificate is None or (certified := float(cell.certificate[:, -1].mean())) >= cell.horizon:
            continue
        if certificate_exceeded(cell):
            exceeded.append(cell)
        elif certified > 0:
            used.append(f"{cell.policy} {number(certified)} ({float(cell.mean[-1]) / certified:.0%})")
    sentences = []
    if used:
        sentences.append(
            "What the rounds played certify at T, in the mean, and how much of it regret takes up: "
            f"{', '.join(used)}."
        )
    if exceeded:
        sentences.append(
            f"The certificate is EXCEEDED in the mean by {names_of(exceeded)}: the theory or the code is at fault."
        )
    return sentences


def certificate_exceeded(cell: Cell) -> bool:
    """Is mean regret above the mean certificate by more than the seeds explain (95 % interval of the difference)?"""
    if cell.certificate is None:
        return False
    above = mean_band((cell.regret - cell.certificate)[:, -1:])
    return bool(above.low[0] > 0)  # never for a single seed


def bounds_sentence(comparison: Comparison) -> str:
    """What the bounds on one graph at one horizon say."""
    best, floor = comparison.best, comparison.floor
    text = f"The best certified upper bound is {number(best.value or 0.0)} ({best.name})"
    text += ", which is vacuous" if not best.informative else "" if best.learns else ", which learns nothing"
    text += f"; the largest lower bound is {number(floor.value or 0.0)} ({floor.name})"
    if floor.value and best.value and best.informative:
        text += f", {number(best.value / floor.value)} times less"
    if comparison.ahead:
        rows = ", ".join(f"{row.name} ({number(row.value or 0.0)})" for row in comparison.ahead)
        text += f". The plan's own bound, {number(comparison.auto.value or 0.0)}, is beaten by {rows}"
    return f"{text}."


def _alike(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells with the same regret on every seed together, in the order of the first of each."""
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        same = (cell.seeds.tobytes(), (cell.regret + 0.0).tobytes(), f"{_value(cell):.9g}")
        groups.setdefault(same, []).append(cell)
    return list(groups.values())


def _value(cell: Cell) -> float:
    return float("nan") if cell.bound is None else float(cell.bound["value"])


def measured(cell: Cell) -> str:
    """Mean regret at the horizon with half of its 95 % interval."""
    mean, _, high = final_regret(cell)
    return number(mean) if np.isnan(high) else spread(mean, high - mean)


def _interval(difference: PairedDifference) -> str:
    return f"{number(difference.mean)} [{number(difference.low)}, {number(difference.high)}]"


def _share(cell: Cell) -> str:
    if _value(cell) == 0.0:  # a single arm: nothing can be lost
        return "0 of 0"
    share = float(cell.mean[-1]) / _value(cell)
    return f"{share:.1%}" if abs(share) < 0.1 else f"{share:.0%}"


def _have(cells: list[Cell]) -> str:
    return "have" if len(cells) > 1 else "has"


def names_of(cells: list[Cell]) -> str:
    """The policies of some cells in a sentence."""
    return listed([cell.policy for cell in cells])


# -- the finding of a page ----------------------------------------------------------------------------------


def finding(groups: tuple[Group, ...]) -> str:
    """Who wins all comparisons and by how much, and whether the bounds hold."""
    if not groups:
        return "Nothing has been played to the end yet."
    winner = _of_one(groups[0]) if len(groups) == 1 else _of_many(groups)
    by_status = _by_status(cell for group in groups for cell in group.cells)
    bounds = next((said for status, said in FOUND.items() if status in by_status), NO_BOUND)
    named = {status: listed(sorted({cell.policy for cell in cells})) for status, cells in by_status.items()}
    return f"{winner}. {bounds.format(**named)}"


FOUND = {
    "exceeded": "A certified bound is EXCEEDED by {exceeded}.",
    "undecided": "Whether bounds hold is undecided for {undecided}: too few seeds.",
    "holds": "The certified bounds of {holds} hold.",
    "vacuous": "No bound says anything yet: all that are certified are vacuous at this horizon.",
}
"""What is said of bounds, the first that is true of any."""
NO_BOUND = "No certified bound is known for what was played."


def _of_one(group: Group) -> str:
    best, rivals = duels(group)
    where = f"after {counted(group.horizon, 'round')} on {group.graph} against {group.environment}"
    text = _winner(best, rivals, where)
    if rivals and not rivals[0].clear:
        text += ", which is within noise" if rivals[0].close else ", from too few seeds"
    return text


def _of_many(groups: tuple[Group, ...]) -> str:
    wins, clear = Counter[str](), Counter[str]()
    for group in groups:
        best, rivals = duels(group)
        names = [cell.policy for cell in best]
        wins.update(names)
        clear.update(names if rivals and all(duel.clear for duel in rivals) else ())
    most = max(wins.values())
    first = [policy for policy, count in wins.items() if count == most]
    have = "has" if len(first) == 1 else "each have"
    text = f"{listed(first)} {have} the least mean regret in {most:,} of {len(groups):,} comparisons"
    return text if len(first) > 1 else f"{text}, beyond noise in {clear[first[0]]:,}"
