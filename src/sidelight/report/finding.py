"""The finding of a page in one sentence: who wins, by how much, and whether the bounds hold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sidelight.experiment.results import Cell
from sidelight.report.groups import Group
from sidelight.report.sentences import bound_status, duels, measured, names_of
from sidelight.report.series import final_regret
from sidelight.report.text import counted, listed, number


def finding(groups: tuple[Group, ...]) -> str:
    """One sentence about all comparisons."""
    if not groups:
        return "Nothing has been played to the end yet."
    return _one(groups[0]) if len(groups) == 1 else _many(groups)


def _one(group: Group) -> str:
    best, rivals = duels(group)
    many = len(best) > 1
    where = f"after {counted(group.horizon, 'round')} on {group.graph} against {group.environment}"
    text = f"{names_of(best)} {'have' if many else 'has'} a mean regret of {measured(best[0])} {where}"
    if rivals:
        second, difference = rivals[0]
        text += f", the least of {len(group.cells)}"
        text += (
            f"; {names_of(second)}, next, {'have' if len(second) > 1 else 'has'} {_more(second[0], best[0])}"
        )
        if difference is None or not difference.decided:
            text += (
                ", which is within noise" if difference and difference.n_seeds > 1 else ", from too few seeds"
            )
    return f"{text}. {_bounds(group.cells, best[0])}"


def _more(cell: Cell, least: Cell) -> str:
    """How much larger a regret is: as a multiple where both are positive."""
    more, less = float(cell.mean[-1]), float(least.mean[-1])
    return f"{more / less:.3g} times as much" if less > 0 else f"{number(more - less)} more"


def _many(groups: tuple[Group, ...]) -> str:
    wins: dict[str, int] = {}
    clear: dict[str, int] = {}
    for group in groups:
        best, rivals = duels(group)
        alone = all(duel.difference is not None and duel.difference.decided for duel in rivals)
        for cell in best:
            wins[cell.policy] = wins.get(cell.policy, 0) + 1
            clear[cell.policy] = clear.get(cell.policy, 0) + bool(rivals and alone)
    most = max(wins.values())
    first = [policy for policy, count in wins.items() if count == most]
    have = "has" if len(first) == 1 else "each have"
    text = f"{listed(first)} {have} the least mean regret in {most:,} of {len(groups):,} comparisons"
    if len(first) == 1:
        text += f", beyond noise in {clear[first[0]]:,}"
        if next_best := _next(groups, first[0]):
            text += f"; {next_best}"
    cells = [cell for group in groups for cell in group.cells]
    return f"{text}. {_bounds(cells)}"


def _next(groups: tuple[Group, ...], winner: str) -> str:
    """The policy closest to the winner over all games that both played, as a geometric mean of ratios."""
    logs: dict[str, list[float]] = {}
    for group in groups:
        final = {cell.policy: float(cell.mean[-1]) for cell in group.cells}
        if final.get(winner, 0.0) > 0:
            for policy, regret in final.items():
                if policy != winner and regret > 0:
                    logs.setdefault(policy, []).append(float(np.log(regret / final[winner])))
    full = {policy: values for policy, values in logs.items() if 2 * len(values) >= len(groups)}
    if not full:
        return ""
    policy = min(full, key=lambda name: float(np.mean(full[name])))
    ratio = float(np.exp(np.mean(full[policy])))
    return f"{policy}, next, has {ratio:.3g} times as much (geometric mean of {len(full[policy]):,})"


def _bounds(cells: Iterable[Cell], winner: Cell | None = None) -> str:
    """Do the certified bounds hold?"""
    by_status: dict[str, list[Cell]] = {}
    for cell in cells:
        by_status.setdefault(bound_status(cell), []).append(cell)
    broken, open_ = by_status.get("exceeded", []), by_status.get("undecided", [])
    kept = len(by_status.get("holds", []))
    if broken:
        return f"A certified bound is EXCEEDED by {listed(sorted({cell.policy for cell in broken}))}."
    if winner is not None and bound_status(winner) == "holds":
        assert winner.bound is not None
        value = float(winner.bound["value"])
        share = final_regret(winner)[0] / max(value, 1e-300)
        others = {1: "", 2: ", and so does the other"}.get(kept, f", and so do the other {kept - 1:,}")
        return f"Its certified bound, {number(value)}, holds with {share:.0%} of it used{others}."
    if open_:
        names = listed(sorted({cell.policy for cell in open_}))
        return f"Whether bounds hold is undecided for {names}: too few seeds."
    if kept:
        return f"All {kept:,} certified bounds hold." if kept > 1 else "The one certified bound holds."
    if "vacuous" in by_status:
        return "No bound says anything yet: all that are certified are vacuous at this horizon."
    return "No certified bound is known for what was played."
