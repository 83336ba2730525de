"""Every bound that applies to a graph and a horizon, side by side, each with its source and its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sidelight import _html
from sidelight._check import checked_horizon
from sidelight._renamed import renamed
from sidelight.analysis import minimax, packing_independent_set
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.partition import natural
from sidelight.planning.baselines import algorithms, rules
from sidelight.planning.bounds import lower
from sidelight.planning.bounds.bound import Condition, below_trivial
from sidelight.planning.candidates import natural_candidates
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Plan
from sidelight.planning.self_tuning.plans import tuned_plan

MINIMAX_BITS = 9
"""Largest N·T for which the exact value of the game joins the table: a fraction of a second."""

SHOWN = 6
"""Upper bounds that a notebook shows at once."""

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
    quoted: bool = False  # from others who cite it: its own proof was not read, so nothing here rests on it
    informative: bool = False  # upper: learns, and below T; lower: above 1 − 1/N, the regret of one round
    ratio: float | None = None  # value over the best certified upper bound

    @property
    def certified(self) -> bool:
        """Is there a value whose proof was read, and do all its conditions hold at this horizon?"""
        return self.value is not None and not self.quoted and all(each.holds for each in self.conditions)

    @property
    def lack(self) -> str:
        """Why a row that is not informative says nothing, in words; empty for others."""
        if self.informative or self.value is None:
            return ""
        return "vacuous" if self.learns or self.kind == "lower" else "does not learn"

    @property
    def status(self) -> str:
        """In words: certified, conditions fail, as quoted, no constant; and vacuous or does not learn, if so."""
        if self.value is None:
            return "no constant"
        proved = "as quoted" if self.quoted else "certified" if self.certified else "conditions fail"
        return ", ".join(filter(None, (proved, self.lack)))

    def __repr__(self) -> str:
        value = "" if self.value is None else f", {self.value:.6g}"
        return f"Row({self.name!r}, {self.kind}{value}, {self.status})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for JSON."""
        conditions = [condition.to_dict() for condition in self.conditions]
        return vars(self) | {"conditions": conditions, "certified": self.certified}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The bounds of the literature for a graph at one horizon, and those of the plans here.

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

        The slack and room that it has besides the smallest bound do not count.
        """
        terms = self.plan.bound.terms
        most = self.plan.bound.value - terms.get("slack", 0.0) - terms.get("room", 0.0)
        rivals = (row for row in self.upper if row.certified and row.learns)
        return tuple(
            row for row in rivals if row.value is not None and not Condition(row.name, most, row.value).holds
        )

    def summary(self) -> str:
        """The table for human readers."""
        width = max(len(row.name) for row in self.rows)
        lines = [f"bounds on the regret of {self.horizon:,} rounds on {self._size}"]
        for kind, rows in (("upper", self.upper), ("lower", self.lower)):
            lines.append(f"{kind:<{width + 2}}{'value':>16}{'ratio':>9}  status, source")
            for row in rows:
                value, ratio = _cells(row, 2)
                failing = [condition.name for condition in row.conditions if not condition.holds]
                status = row.status.replace("conditions fail", f"not valid here ({', '.join(failing[:1])})")
                status = status.replace("no constant", "not comparable")
                source = f"{status}; {row.source}: {row.theorem}"
                lines.append(f"  {row.name:<{width}}{value:>16}{ratio:>9}  {source}")
        return "\n".join(lines)

    @property
    def _size(self) -> str:
        return f"{self.graph.n_arms:,} arms, {self.graph.n_edges:,} edges"

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
            texts = [(row.name, *_cells(row, 1), row.status, row.source) for row in rows]
            heads = ("bound", ">value", ">ratio", "status", "source")
            return _html.table(heads, texts, [at for at, row in enumerate(rows) if row.name == "auto"])

        first, more = self.upper[:SHOWN], self.upper[SHOWN:]
        return _html.panel(
            f"Bounds on the regret of {self.horizon:,} rounds: {self._size}",
            shown(first),
            _html.folded(f"{len(more)} more upper bounds", shown(more)) if more else "",
            _html.folded(f"{len(self.lower)} lower bounds", shown(self.lower)),
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
    candidates += [algorithms.UniformCandidate(natural.single(graph))] if graph.n_arms > 1 else []
    rows = [*_upper(solved, T, candidates, chosen), *_lower(solved, T)]
    best = _best(rows).value or 1.0

    def finished(row: Row) -> Row:
        if row.value is None:
            return row
        if row.kind == "upper":
            tells = row.learns and below_trivial(row.value, T)
        else:
            tells = row.value > rules.uniform_bound(graph.n_arms, 1)
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
    auto = chosen.bound
    yield Row("auto", "upper", auto.value, OURS, auto.theorem, auto.conditions)
    yield Row("any play", "upper", float(T), "losses are in [0, 1]", "R ≤ T", learns=False)
    others = _baselines(solved) if solved.graph.n_arms > 1 else []
    for candidate in (*candidates, *others):
        offer = candidate.offer(float(T))
        proof = (candidate.source, candidate.theorem, offer.conditions, candidate.learns)
        yield Row(candidate.title, "upper", offer.value, *proof)
        if offer.sharper:  # by another proof for the very same play
            theorem = "the same play: the larger of stability and exploration"
            yield Row(f"{candidate.title}, sharper", "upper", sum(offer.sharper.values()), OURS, theorem)
    if solved.graph.n_arms > 1:
        yield from _rules(solved, T)


def _baselines(solved: Solved) -> Iterator[Candidate]:
    """Known algorithms that can play the graph."""
    for make in algorithms.KNOWN:
        if make is algorithms.Exp3GWeak and not solved.graph.has_loop.any():
            continue  # the set that reveals everyone again
        with suppress(InfeasibleRequest):
            yield make(solved)


def _rules(solved: Solved, T: int) -> Iterator[Row]:
    """Known bounds that no plan here is tuned by."""
    for known in rules.KNOWN_BOUNDS:
        if known.applies(solved):
            theorem = known.theorem.format(cliques=solved.cliques.value)
            yield Row(known.name, "upper", known.value(solved, T), known.source, theorem, quoted=known.quoted)


# -- lower bounds --------------------------------------------------------------------------------------------


def _lower(solved: Solved, T: int) -> Iterator[Row]:
    g, n = solved.graph, solved.graph.n_arms
    least = rules.uniform_bound(n, 1)
    yield Row("one round", "lower", least, "exact minimax value of one round", "R ≥ 1 − 1/N", learns=False)
    if n == 1:
        return
    theorem = "fair coins: max{½E|S_T|, E max(T/2 − B_i)}"
    yield Row("full information", "lower", lower.full_information(n, T), OURS, theorem)
    yield from _independent(solved, T)
    if solved.observability.graph == "weak":
        yield from _packings(g, T)
    if n * T <= MINIMAX_BITS and g.certain:
        with suppress(InfeasibleRequest):
            source, theorem = "sidelight.analysis.minimax", "sequence-form linear program"
            yield Row("exact value of the game", "lower", minimax(g, T).lower, source, theorem)


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
    packings = [packing_independent_set(g), packing_independent_set(g, t=1)]
    best = max(packings, key=lambda packing: packing.rate)
    size = f"|S| = {best.arms.size}, t = {best.t}"
    theorem = f"Ω(max{{log|S|, |S|/t}}^{{1/3}}T^{{2/3}}) with {size}: constant not stated"
    yield Row("CHLZ21 packing", "lower", None, "Chen, Huang, Li & Zhang 2021", theorem)
    large = [packing for packing in packings if packing.arms.size >= 2]
    if large:
        best = max(large, key=lambda packing: lower.packing_set(packing.arms.size, packing.t, T))
        value = lower.packing_set(best.arms.size, best.t, T)
        theorem = f"a {best.t}-packing independent set of {best.arms.size} arms"
        yield Row("packing", "lower", value, OURS, theorem)


def _cells(row: Row, digits: int) -> tuple[str, str]:
    """Value and ratio."""
    value = "–" if row.value is None else f"{row.value:,.{digits}f}"
    return value, "" if row.ratio is None else f"{row.ratio:.3f}"
