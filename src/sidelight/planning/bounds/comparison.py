"""Every bound that applies to a graph and a horizon, side by side, each with its source and its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import cbrt, ceil, e, log, sqrt
from typing import Any

from sidelight._check import checked_horizon
from sidelight.analysis import (
    Observability,
    independence_number,
    minimax,
    packing_independent_set,
)
from sidelight.errors import InfeasibleRequest, InvalidGraph
from sidelight.graph import FeedbackGraph
from sidelight.planning.bounds import lower
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.candidate import Candidate, Way
from sidelight.planning.candidates import best_of, natural_ways, observable
from sidelight.planning.cliques import growth
from sidelight.planning.dominations import Dominations
from sidelight.planning.minimised.dominating_set import Watched, WatchedCandidate, dominating_set
from sidelight.planning.minimised.flat import FlatCandidate
from sidelight.planning.minimised.strong import Strong, StrongCandidate
from sidelight.planning.minimised.two_level_candidate import TightCandidate
from sidelight.planning.minimised.uniform import UniformCandidate
from sidelight.planning.plan import Plan

MINIMAX_BITS = 9
"""Largest N·T for which the exact value of the game joins the table: a fraction of a second."""

PAPER = "He & Zhang"
OURS = "Sidelight, docs/theory"


@dataclass(frozen=True)
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
    """Upper bounds from the smallest, lower bounds from the largest, then rows without constants."""

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
        """Certified upper bounds smaller than the auto plan's: should be empty."""
        most = self.auto.value
        rivals = (row for row in self.upper if row.certified)
        return tuple(
            row
            for row in rivals
            if row.value is not None and not Condition(row.name, most or 0.0, row.value).holds
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

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph in plain numbers, strings, lists and dicts, ready for JSON."""
        return {
            "horizon": self.horizon,
            "n_arms": self.graph.n_arms,
            "best": self.best.name,
            "ahead": [row.name for row in self.ahead],
            "rows": [row.to_dict() for row in self.rows],
        }


def compare_bounds(g: FeedbackGraph, horizon: int) -> Comparison:
    """Every upper and lower bound on the regret that is known here, evaluated at `horizon`.

    Upper bounds: the paper's theorems on the natural partitions, CHLZ21, Exp3.G, EXP3, Hedge, Tsallis-INF,
    Exp3-SET and q-FTRL where the graph admits them, the plans of this library, and play without learning.
    Lower bounds: full information, independent sets, packings, and the exact value of tiny games.

    >>> from sidelight.graph import families
    >>> compare_bounds(families.full(8), horizon=1000).best.name
    'auto'
    """
    if not isinstance(g, FeedbackGraph):
        raise InvalidGraph(f"compare_bounds needs a FeedbackGraph, got {type(g).__name__}")
    T = checked_horizon(horizon)
    found = observable(g)
    ways = list(natural_ways(g, "auto", Dominations(g)))
    chosen = best_of(ways, T)  # `plan(g, T)`, without solving everything again
    rows = [*_upper(g, T, found, ways, chosen), *_lower(g, T, found, ways)]
    best = _best(rows).value or 1.0
    trivial = 1 - 1 / g.n_arms

    def finished(row: Row) -> Row:
        if row.value is None:
            return row
        tells = row.learns and row.value < T * (1 - 1e-12) if row.kind == "upper" else row.value > trivial
        return replace(row, informative=tells, ratio=row.value / best)

    rows.sort(key=_order)
    return Comparison(g, T, tuple(finished(row) for row in rows), chosen)


def _order(row: Row) -> tuple[bool, bool, float, bool, str]:
    value = row.value or 0.0
    return (
        row.kind == "lower",
        row.value is None,
        value if row.kind == "upper" else -value,
        row.name != "auto",
        row.name,
    )


def _best(rows: list[Row] | tuple[Row, ...]) -> Row:
    certified = [row for row in rows if row.kind == "upper" and row.certified]
    return min(certified, key=lambda row: (float(f"{row.value:.12g}"), row.name != "auto"))


# -- upper bounds --------------------------------------------------------------------------------------------


def _upper(g: FeedbackGraph, T: int, found: Observability, ways: list[Way], chosen: Plan) -> Iterator[Row]:
    n = g.n_arms
    bound = chosen.bound
    learns = chosen.realization != "uniform"
    yield Row("auto", "upper", bound.value, OURS, bound.theorem, bound.conditions, learns)
    for way in ways:
        if not isinstance(way, UniformCandidate):
            yield _of_way(way, T)
    yield Row("any play", "upper", float(T), "losses are in [0, 1]", "R ≤ T", learns=False)
    yield Row("uniform play", "upper", (1 - 1 / n) * T, "exact worst case", "R ≤ (1 − 1/N)·T", learns=False)
    if n == 1:
        return
    weak = next(way.weak for way in ways if isinstance(way, Candidate) and way.name == "single")
    yield _chlz21(float(weak.deltas[0]), n, T)
    if found.graph == "weak":
        watched = next((way.problem for way in ways if isinstance(way, WatchedCandidate)), None)
        yield from _exp3g_weak(g, watched, T)
    else:
        problem = next(way.problem for way in ways if isinstance(way, StrongCandidate))
        yield _exp3g_strong(problem, T)
    if g.has_loop.all():
        cover = next(way.cliques for way in ways if isinstance(way, StrongCandidate))
        yield from _self_loops(g, T, cover.value if cover.symmetric else None, (cover.value, cover.alpha))


def _of_way(way: Way, T: int) -> Row:
    """The bound of one candidate of the planner."""
    if isinstance(way, Candidate):
        bound = way.bound(T)
        name = f"{way.realization}, {way.name}"
        return Row(name, "upper", bound.value, PAPER, bound.theorem, bound.conditions)
    value, _ = way.score(T)
    name = f"ours: {way.realization}, {way.name}"
    assert isinstance(way, TightCandidate | FlatCandidate | StrongCandidate | WatchedCandidate)
    problem: Any = way.problem  # each kind has levers of its own
    conditions = problem.conditions(float(T), problem.levers(float(T)))
    return Row(name, "upper", value, OURS, "Theorem general regret, minimised at T", conditions)


def _chlz21(delta: float, n: int, T: int) -> Row:
    """b = (log N/(2Tδ*²))^{1/3}, so γ̄ = bδ* = (δ* log N/(2T))^{1/3}, at most ½ from T = 4δ* log N."""
    demand = delta * log(n)
    return Row(
        "CHLZ21",
        "upper",
        3 * cbrt(demand * T * T / 2),
        "Chen, Huang, Li & Zhang 2021, constants of the full cover",
        "3·2^{−1/3}(δ* log N)^{1/3}T^{2/3}",
        (Condition("γ̄ = (δ* log N/(2T))^{1/3} ≤ 1/2", cbrt(demand / (2 * T)), 0.5),),
    )


def _exp3g_weak(g: FeedbackGraph, watched: Watched | None, T: int) -> Iterator[Row]:
    """γ uniform on a set D that reveals all arms: P ≥ γ/|D|, R ≤ log N/η + η|D|T/(2γ) + γT, η = γ²/|D|."""
    source = "Alon, Cesa-Bianchi, Dekel & Koren 2015"
    size = dominating_set(g).size
    gamma = cbrt(size * log(g.n_arms) / T)
    yield Row(
        "Exp3.G, all arms covered",
        "upper",
        2.5 * gamma * T,
        f"{source}, constants derived for a full cover",
        f"5/2·(|D| log N)^{{1/3}}T^{{2/3}}, |D| = {size} (greedy)",
        (Condition("γ = (|D| log N/T)^{1/3} ≤ 1/2", gamma, 0.5),),
    )
    if watched is not None:
        gamma = watched.exp3g_gamma(T)
        yield Row(
            "Exp3.G, loop-less arms covered",
            "upper",
            sum(watched.exp3g_terms(T).values()),
            f"{source}, constants derived (planning/minimised/dominating_set.py)",
            f"5/2·(|D| log N)^{{1/3}}T^{{2/3}} + γ²·n'T/|D|, |D| = {watched.size}, n' = {watched.alone}",
            (Condition("γ = (|D| log N/T)^{1/3} ≤ 1/2", gamma, 0.5),),
        )


def _exp3g_strong(problem: Strong, T: int) -> Row:
    """Its tuning in our analysis: uniform exploration γ, η = 2γ; Q = 4α log(4N²/(αγ)) by (2) of strong.md, s = 1."""
    n, alpha = problem.n, max(problem.alpha or problem.cliques, 1)
    gamma = problem.exp3g(float(T)).gamma
    Q = 4 * alpha * log(4 * n * n / (alpha * gamma)) if problem.n_loop else 0.0
    shift = growth(2 * gamma / (gamma * (1 - 1 / n))) if problem.n_loopless else 1.0
    squares = Q + (1.0 if problem.n_loopless else 0.0)
    value = log(n) / (2 * gamma) + gamma / (1 - gamma) * shift * squares * T + gamma * T
    return Row(
        "Exp3.G",
        "upper",
        value,
        "Alon, Cesa-Bianchi, Dekel & Koren 2015; constants proved in docs/theory/strong.md, not taken from print",
        "log N/η + ½ηρφ(η/p)·4α log(4N²/(αγ))·T + γT, of order √(αT)·log(NT)",
        (Condition("γ = min(√(1/(αT)), 1/2) ≤ 1/2", gamma, 0.5),),
    )


def exp3_ix_bound(n: int, cliques: int, alpha: int, T: float) -> float:
    """4√((N + T·min(q, 2αH + 2)) log N), H = log(1 + (⌈N²√(NT/log N)⌉ + N)/α), of Exp3-IX; 0 for one arm."""
    if n == 1:
        return 0.0
    H = log(1 + (ceil(n * n * sqrt(n * T / log(n))) + n) / alpha)
    return 4 * sqrt((n + T * min(float(cliques), 2 * alpha * H + 2)) * log(n))


def _self_loops(g: FeedbackGraph, T: int, alpha: int | None, seen: tuple[int, int]) -> Iterator[Row]:
    """Algorithms for graphs in which every arm reveals itself; `alpha` ≥ α(G) if all edges go both ways.

    `seen`: how many cliques cover the graph, and a number ≥ α(G).
    """
    n = g.n_arms
    yield Row(
        "EXP3",
        "upper",
        sqrt(2 * n * T * log(n)),
        "Auer, Cesa-Bianchi, Freund & Schapire 2002",
        "√(2NT log N)",
    )
    yield Row("Tsallis-INF", "upper", 4 * sqrt(n * T) + 1, "Zimmert & Seldin 2021", "4√(NT) + 1")
    theorem = "4√((N + T·min(q, 2αH + 2)) log N), q cliques cover the graph"
    yield Row(
        "Exp3-IX", "upper", exp3_ix_bound(n, *seen, T), "Kocák, Neu, Valko & Munos 2014, Lemma 1", theorem
    )
    if g.universal.size == n:
        yield Row("Hedge", "upper", sqrt(T * log(n) / 2), "Freund & Schapire 1997", "√(T log N/2)")
    if alpha is not None:
        value = sqrt(2 * alpha * T * log(n))
        yield Row(
            "Exp3-SET",
            "upper",
            value,
            "Alon, Cesa-Bianchi, Gentile & Mansour 2013",
            f"√(2αT log N), α ≤ {alpha}",
        )
        value = 2 * sqrt(e * alpha * T * (2 + log(n / alpha)))
        theorem = f"2√(eαT(2 + log(N/α))), α ≤ {alpha}"
        yield Row("q-FTRL", "upper", value, "Eldowa, Esposito, Cesari & Cesa-Bianchi 2023", theorem)


# -- lower bounds --------------------------------------------------------------------------------------------


def _lower(g: FeedbackGraph, T: int, found: Observability, ways: list[Way]) -> Iterator[Row]:
    n = g.n_arms
    yield Row(
        "one round", "lower", 1 - 1 / n, "exact minimax value of one round", "R ≥ 1 − 1/N", learns=False
    )
    if n == 1:
        return
    value = lower.full_information(n, T)
    yield Row("full information", "lower", value, OURS, "fair coins: max{½E|S_T|, E max(T/2 − B_i)}")
    yield from _independent(g, T, ways)
    if found.graph == "weak":
        yield from _packings(g, T)
    if n * T <= MINIMAX_BITS:
        try:
            game = minimax(g, T)
        except InfeasibleRequest:
            return
        yield Row(
            "exact value of the game", "lower", game.lower, "sl.minimax", "sequence-form linear program"
        )


def _independent(g: FeedbackGraph, T: int, ways: list[Way]) -> Iterator[Row]:
    cover = next((way.cliques for way in ways if isinstance(way, StrongCandidate)), None)
    if cover is not None and cover.symmetric and cover.mutual is not None and cover.arms.size == g.n_arms:
        size = (
            cover.mutual.lower
        )  # all edges are mutual among arms with self-loops: the planner has it already
    else:
        size = independence_number(g).lower
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
    return f"{status}{'' if row.informative else ', vacuous'}; {row.source}: {row.theorem}"
