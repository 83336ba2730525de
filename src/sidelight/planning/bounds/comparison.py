"""Every bound that applies to a graph and a horizon, side by side, each with its source and its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sidelight import _html
from sidelight._check import checked_horizon
from sidelight._renamed import renamed
from sidelight.analysis import minimax, packing_independent_set
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.partition import natural
from sidelight.planning.baselines import algorithms as known
from sidelight.planning.baselines.algorithms import QFTRL, Baseline
from sidelight.planning.baselines.rules import (
    exp3_ix_bound,
    exp3_set_bound,
    exp3g_clique_bound,
    tsallis_inf_bound,
    uniform_bound,
)
from sidelight.planning.bounds import lower
from sidelight.planning.bounds.bound import Condition, below_trivial
from sidelight.planning.candidates import natural_candidates
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.uniform import UniformCandidate
from sidelight.planning.plan import Candidate, Plan
from sidelight.planning.self_tuning.plans import self_tuning_candidates, tuned_plan

MINIMAX_BITS = 9
"""Largest N·T for which the exact value of the game joins the table: a fraction of a second."""

OURS = Candidate.source


@dataclass(frozen=True, repr=False)
class Row:
    """One bound. `value` is None where its source names a rate without constants: nothing to compare then."""

    name: str
    kind: str  # "upper" or "lower"
    value: float | None
    source: str
    theorem: str
    conditions: tuple[Condition, ...] = ()
    learns: bool = True  # False for the bounds of play that ignores all feedback
    informative: bool = False  # upper: learns, and below T; lower: above 1 − 1/N, the regret of one round
    ratio: float | None = None  # value over the best certified upper bound

    @property
    def certified(self) -> bool:
        """Is there a value, and do all its conditions hold at this horizon?"""
        return self.value is not None and all(condition.holds for condition in self.conditions)

    @property
    def lack(self) -> str:
        """Why a row that is not informative says nothing, in words; empty for others."""
        if self.informative or self.value is None:
            return ""
        return "vacuous" if self.learns or self.kind == "lower" else "does not learn"

    @property
    def status(self) -> str:
        """In words: "certified", "conditions fail" or "no constant"; "vacuous" or "does not learn" if so."""
        if self.value is None:
            return "no constant"
        return ", ".join(filter(None, ("certified" if self.certified else "conditions fail", self.lack)))

    def __repr__(self) -> str:
        value = "" if self.value is None else f", {self.value:.6g}"
        return f"Row({self.name!r}, {self.kind}{value}, {self.status})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "value": self.value,
            "source": self.source,
            "theorem": self.theorem,
            "conditions": [condition.to_dict() for condition in self.conditions],
            "certified": self.certified,
            "informative": self.informative,
            "learns": self.learns,
            "ratio": self.ratio,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Every bound that is known for a graph at one horizon.

    Upper bounds come first, from the smallest on, then lower bounds, from the largest on, then those whose sources
    state no constant.
    """

    graph: FeedbackGraph
    horizon: int
    rows: tuple[Row, ...]
    plan: Plan  # the auto plan, whose row is called "auto"

    @property
    def upper(self) -> tuple[Row, ...]:
        """Rows that bound the regret from above."""
        return tuple(row for row in self.rows if row.kind == "upper")

    @property
    def lower(self) -> tuple[Row, ...]:
        """Rows that bound the regret of every algorithm from below."""
        return tuple(row for row in self.rows if row.kind == "lower")

    @property
    def auto(self) -> Row:
        """The row of `sl.plan(g, horizon)`."""
        return next(row for row in self.rows if row.name == "auto")

    @property
    def best(self) -> Row:
        """The smallest certified upper bound."""
        return _best(self.rows)

    @property
    def floor(self) -> Row:
        """The largest certified lower bound."""
        return max((row for row in self.lower if row.certified), key=lambda row: row.value or 0.0)

    @property
    def ahead(self) -> tuple[Row, ...]:
        """Certified upper bounds of play that learns, smaller than the auto plan's: should be empty.

        The slack that it has besides the smallest bound does not count.
        """
        most = self.plan.bound.value - self.plan.bound.terms.get("slack", 0.0)
        rivals = (row for row in self.upper if row.certified and row.learns)
        return tuple(
            row for row in rivals if row.value is not None and not Condition(row.name, most, row.value).holds
        )

    def summary(self) -> str:
        """The table for human readers."""
        g = self.graph
        lines = [f"bounds on the regret of {self.horizon:,} rounds on {g.n_arms:,} arms, {g.n_edges:,} edges"]
        width = max(len(row.name) for row in self.rows)
        for kind, rows in (("upper", self.upper), ("lower", self.lower)):
            lines.append(f"{kind:<{width + 2}}{'value':>16}{'ratio':>9}  status, source")
            lines += [
                f"  {row.name:<{width}}{_number(row.value)}{_ratio(row.ratio)}  {_status(row)}"
                for row in rows
            ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Comparison({len(self.upper)} upper, {len(self.lower)} lower bounds, n_arms={self.graph.n_arms}, "
            f"horizon={self.horizon}, best={self.best.name!r} {self.best.value:.6g})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""

        def shown(rows: tuple[Row, ...]) -> str:
            texts = [
                (
                    row.name,
                    "–" if row.value is None else f"{row.value:,.1f}",
                    "" if row.ratio is None else f"{row.ratio:.3f}",
                    row.status,
                    row.source,
                )
                for row in rows
            ]
            heads = ("bound", ">value", ">ratio", "status", "source")
            return _html.table(heads, texts, [at for at, row in enumerate(rows) if row.name == "auto"])

        upper, lower, g = self.upper, self.lower, self.graph
        title = f"Bounds on the regret of {self.horizon:,} rounds: {g.n_arms:,} arms, {g.n_edges:,} edges"
        most = 6
        return _html.panel(
            title,
            shown(upper[:most]),
            _html.folded(f"{len(upper) - most} more upper bounds", shown(upper[most:]))
            if len(upper) > most
            else "",
            _html.folded(f"{len(lower)} lower bounds", shown(lower)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph in plain numbers, strings, lists and dicts, ready for JSON."""
        return {
            "horizon": self.horizon,
            "n_arms": self.graph.n_arms,
            "best": self.best.name,
            "ahead": [row.name for row in self.ahead],
            "rows": [row.to_dict() for row in self.rows],
        }


@renamed(g="graph")
def compare_bounds(graph: GivenGraph, horizon: int) -> Comparison:
    """Every upper and lower bound on the regret that is known here, evaluated at `horizon`.

    Upper bounds: the paper's theorems on the natural partitions, CHLZ21, Exp3.G, EXP3, Hedge, Tsallis-INF,
    Exp3-SET and q-FTRL where the graph admits them, the plans of this library, and play without learning.
    Lower bounds: full information, independent sets, packings, and the exact value of tiny games. Where reveals may
    fail, lower bounds are those of the graph whose edges all work, which is no harder.

    >>> compare_bounds("full:8", horizon=1000).best.name
    'Hedge'
    """
    graph, T = graph_of(graph, "compare_bounds"), checked_horizon(horizon)
    solved = Solved(graph)
    candidates = list(natural_candidates(solved, "auto"))
    chosen = tuned_plan(solved, candidates, T)  # `plan(graph, T)`, without solving everything again
    candidates += self_tuning_candidates(solved)
    candidates += [UniformCandidate(natural.single(graph))] if graph.n_arms > 1 else []
    rows = [*_upper(solved, T, candidates, chosen), *_lower(solved, T)]
    best = _best(rows).value or 1.0

    def finished(row: Row) -> Row:
        if row.value is None:
            return row
        if row.kind == "upper":
            tells = row.learns and below_trivial(row.value, T)
        else:
            tells = row.value > uniform_bound(graph.n_arms, 1)
        return replace(row, informative=tells, ratio=row.value / best)

    rows.sort(key=_order)
    return Comparison(graph, T, tuple(finished(row) for row in rows), chosen)


def _order(row: Row) -> tuple[bool, bool, float, bool, str]:
    value = float(f"{row.value or 0.0:.12g}")  # equal up to rounding: the plan itself first
    return (
        row.kind == "lower",
        row.value is None,
        value if row.kind == "upper" else -value,
        row.name != "auto",
        row.name,
    )


def _best(rows: list[Row] | tuple[Row, ...]) -> Row:
    certified = [row for row in rows if row.kind == "upper" and row.certified]
    return min(certified, key=_order)


# -- upper bounds --------------------------------------------------------------------------------------------


def _upper(solved: Solved, T: int, candidates: list[Candidate], chosen: Plan) -> Iterator[Row]:
    n, auto = solved.graph.n_arms, chosen.bound
    yield Row("auto", "upper", auto.value, OURS, auto.theorem, auto.conditions)
    yield Row("any play", "upper", float(T), "losses are in [0, 1]", "R ≤ T", learns=False)
    for candidate in candidates:
        yield from _rows(candidate, T)
    if n > 1:
        for baseline in _baselines(solved):
            yield from _rows(baseline, T)
        yield from _rules(solved, T)


def _rows(candidate: Candidate, T: int) -> Iterator[Row]:
    """As its source bounds it and, where that is smaller, by the sharper proof for the very same play."""
    value, conditions = sum(candidate.terms(float(T)).values()), candidate.conditions(float(T))
    about = (candidate.source, candidate.theorem, conditions, candidate.learns)
    yield Row(candidate.title, "upper", value, *about)
    sharper = candidate.sharper(float(T))
    if sharper:
        theorem = "the same play: the larger of stability and exploration"
        yield Row(f"{candidate.title}, sharper", "upper", sum(sharper.values()), OURS, theorem)


def _baselines(solved: Solved) -> Iterator[Candidate]:
    """Known algorithms that can play the graph."""
    makers: list[type[Baseline]] = [
        known.CHLZ21,
        known.Exp3GEveryone,
        known.Exp3GStrong,
        known.Exp3,
        known.Hedge,
        QFTRL,
    ]
    makers += [known.Exp3GWeak] if solved.graph.has_loop.any() else []  # else the same set again
    for make in makers:
        try:
            yield make(solved)
        except InfeasibleRequest:
            continue


def _rules(solved: Solved, T: int) -> Iterator[Row]:
    """Known bounds that no plan here is tuned by: loop-less cliques, and graphs in which every arm reveals itself."""
    g, n = solved.graph, solved.graph.n_arms
    if g.universal.size == n and not g.has_loop.any():
        source = "Alon, Cesa-Bianchi, Dekel & Koren 2015; proved again in docs/theory/strong.md"
        theorem = "5√(T log N), η = √(log N/(2T)), γ = 2η"
        yield Row("Exp3.G, loop-less clique", "upper", exp3g_clique_bound(n, T), source, theorem)
    if not g.has_loop.all() or not g.certain:
        return
    cover = solved.cliques
    value = tsallis_inf_bound(n, T)
    yield Row("Tsallis-INF", "upper", value, "Zimmert & Seldin 2021", "4√(NT) + 1")
    theorem = "4√((N + T·min(q, 2αH + 2)) log N), q cliques cover the graph"
    value = exp3_ix_bound(n, cover.value, cover.alpha, T)
    yield Row("Exp3-IX", "upper", value, "Kocák, Neu, Valko & Munos 2014, Lemma 1", theorem)
    if cover.symmetric:
        source, theorem = "Alon, Cesa-Bianchi, Gentile & Mansour 2013", f"√(2αT log N), α ≤ {cover.value}"
        yield Row("Exp3-SET", "upper", exp3_set_bound(n, cover.value, T), source, theorem)


# -- lower bounds --------------------------------------------------------------------------------------------


def _lower(solved: Solved, T: int) -> Iterator[Row]:
    g, n = solved.graph, solved.graph.n_arms
    value = uniform_bound(n, 1)
    yield Row("one round", "lower", value, "exact minimax value of one round", "R ≥ 1 − 1/N", learns=False)
    if n == 1:
        return
    value = lower.full_information(n, T)
    yield Row("full information", "lower", value, OURS, "fair coins: max{½E|S_T|, E max(T/2 − B_i)}")
    yield from _independent(solved, T)
    if solved.observability.graph == "weak":
        yield from _packings(g, T)
    if n * T <= MINIMAX_BITS and g.certain:
        try:
            game = minimax(g, T)
        except InfeasibleRequest:
            return
        yield Row(
            "exact value of the game",
            "lower",
            game.lower,
            "sidelight.analysis.minimax",
            "sequence-form linear program",
        )


def _independent(solved: Solved, T: int) -> Iterator[Row]:
    g = solved.graph
    mutual = solved.cliques.mutual if g.has_loop.all() and not g.universal.size else None
    if mutual is not None and solved.cliques.symmetric:
        size = mutual.lower  # all edges are mutual among arms with self-loops: it is solved already
    else:
        size = solved.cliques.either.lower
    if size < 2:
        return
    theorem = f"an independent set of {size} arms, of order √(αT)"
    yield Row("independent set", "lower", lower.independent_set(size, T), OURS, theorem)
    theorem = f"Ω(√(αT)) for T ≥ Ω(α³), α ≥ {size}: constant not restated here"
    yield Row("√(αT)", "lower", None, "Mannor & Shamir 2011; Alon et al. 2015", theorem)


def _packings(g: FeedbackGraph, T: int) -> Iterator[Row]:
    yield Row("weak arm", "lower", lower.weak_arm(T), OURS, "one arm that is not strongly observable")
    found = [packing_independent_set(g), packing_independent_set(g, t=1)]
    best = max(found, key=lambda packing: packing.rate)
    size = f"|S| = {best.arms.size}, t = {best.t}"
    theorem = f"Ω(max{{log|S|, |S|/t}}^{{1/3}}T^{{2/3}}) with {size}: constant not stated"
    yield Row("CHLZ21 packing", "lower", None, "Chen, Huang, Li & Zhang 2021", theorem)
    large = [packing for packing in found if packing.arms.size >= 2]
    if large:
        best = max(large, key=lambda packing: lower.packing_set(packing.arms.size, packing.t, T))
        value = lower.packing_set(best.arms.size, best.t, T)
        theorem = f"a {best.t}-packing independent set of {best.arms.size} arms"
        yield Row("packing", "lower", value, OURS, theorem)


# -- text ----------------------------------------------------------------------------------------------------


def _number(value: float | None) -> str:
    return f"{'–':>16}" if value is None else f"{value:>16,.2f}"


def _ratio(ratio: float | None) -> str:
    return f"{'':>9}" if ratio is None else f"{ratio:>9.3f}"


def _status(row: Row) -> str:
    if row.value is None:
        return f"not comparable; {row.source}: {row.theorem}"
    failing = [condition.name for condition in row.conditions if not condition.holds]
    status = f"not valid here ({failing[0]})" if failing else "certified"
    return f"{', '.join(filter(None, (status, row.lack)))}; {row.source}: {row.theorem}"
