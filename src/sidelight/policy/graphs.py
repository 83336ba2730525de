"""Graphs of single rounds: whether they fit the policy, what is explored on them, and how the engine reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._types import Floats, Ints, frozen
from sidelight.analysis import fractional_domination, observability
from sidelight.engine.fields import (
    ALL_LIFTED,
    SEEN_BY_ALL,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    UNSIGNED,
    WHERE_COVERED,
)
from sidelight.engine.graphs import MORE, OTHER, SAME, Graphs
from sidelight.errors import InfeasibleRequest, InvalidGraph, TurnError
from sidelight.graph import FeedbackGraph, families
from sidelight.graph.altered import loop_probability, sharpened
from sidelight.graph.names import names
from sidelight.planning.covers import loads

if TYPE_CHECKING:
    from sidelight.planning import Plan

MOST_CACHED = 256
"""Covers of so many graphs are kept, those used last."""


def checked_graph(own: FeedbackGraph, given: object) -> FeedbackGraph | None:
    """The graph of a round, on the same arms as the policy's own; None if it is that."""
    if not isinstance(given, FeedbackGraph):
        raise InvalidGraph(f"the graph of a round is a FeedbackGraph, got {type(given).__name__}")
    if given.n_arms != own.n_arms:
        raise InvalidGraph(
            f"the graph of a round has the arms of the policy's own graph: {own.n_arms}, got {given.n_arms}. "
            "Arms that are not available in some rounds (sleeping arms) have no plan with a proof here: keep them in "
            "the graph, and let playing one then cost 1"
        )
    if given.labels is not None and own.labels is not None and given.labels != own.labels:
        wrong = [i for i in range(own.n_arms) if given.labels[i] != own.labels[i]]
        raise InvalidGraph(
            f"the graph of a round has the labels of the policy's own graph: arm {wrong[0]} is "
            f"{own.labels[wrong[0]]!r}, got {given.labels[wrong[0]]!r}"
        )
    return None if given is own or given.content == own.content else given


def check_known(own: FeedbackGraph, given: FeedbackGraph) -> None:
    """Refuse a graph that is known before playing and leaves arms out: their cost would draw play towards them."""
    unseen = np.flatnonzero(given.in_degree == 0).tolist()
    if unseen:
        raise InfeasibleRequest(
            f"nothing reveals arms {names(own, unseen)} in the graph of this round, so they would be played more, not"
            " less. Arms that are not available in some rounds (sleeping arms) have no plan with a proof here: keep"
            " their edges, and let playing one then cost 1. A round that reveals nothing of an arm cannot teach about"
            " it: decide without graph=, and cancel() if no answer comes"
        )


def checked_shown(own: FeedbackGraph, given: FeedbackGraph) -> None:
    """Refuse a graph that is shown after a play, unless it could be explored without being known."""
    if given.contains(own):
        return
    if not given.certain:
        raise InfeasibleRequest(
            "a graph that is shown after playing must have every edge of the policy's own graph, at least as likely"
            " to reveal as there, or reveal with certainty: what must be explored for arms that do not reveal"
            " themselves depends on how likely others do, which is not known then. Plan for what is always there, or"
            " say decide(graph=…) before playing"
        )
    seen = observability(given)
    if seen.graph != "strong":
        weak = [*seen.weak.tolist(), *seen.unobservable.tolist()]
        raise InfeasibleRequest(
            "a graph that is shown after playing must have every edge of the policy's own graph, or be strongly"
            f" observable; in this one arms {names(own, weak)} neither reveal themselves nor are revealed by all"
            " others. Plan for the edges that are always there, which must reveal every arm, or say"
            " decide(graph=…) before playing"
        )


def check_same(decided: FeedbackGraph, given: FeedbackGraph | None) -> None:
    """Refuse a graph that is told with the losses where another was told with the decision."""
    if given is None or given.content != decided.content:
        raise TurnError("the graph of this round was given when it was decided, and it was another one")


def not_kept() -> TurnError:
    """For a decision of which only what the plan's own graph reveals was kept."""
    return TurnError(
        "of this decision only the probabilities of what the policy's own graph reveals were kept: answer it for that"
        " graph, or cancel it"
    )


def relation(own: FeedbackGraph, other: FeedbackGraph) -> int:
    """What a graph is to the plan's own."""
    if other is own or other.content == own.content:
        return SAME
    return MORE if other.contains(own) else OTHER


@dataclass(frozen=True, eq=False)
class Explored:
    """A graph and how dense play explores it."""

    graph: FeedbackGraph
    cover: Floats  # (n,) x*
    load: Floats  # (n,) c, 0 for arms that are not covered
    lean: float = 0.0  # a strength of lean/β is offered as well
    only: bool = False  # is that strength the only one offered?
    order: float = 1.0  # s, on which it depends how edges share what is explored, where they may fail

    @cached_property
    def lifted(self) -> Floats:
        """(n,) 1 for arms that may be lifted: those that are not covered, or all, if all of them show themselves."""
        shown, beside = loop_probability(self.graph) == 1, self.load == 0
        able = self.order < 1 and not self.only and shown[beside].all()
        mask = beside if beside.any() else np.full(beside.size, shown.all())
        return np.where(able & mask, 1.0, 0.0)

    @property
    def signed(self) -> int:
        """Where losses may be shifted: every arm must be covered or lifted."""
        if self.only or not ((self.load > 0) | (self.lifted > 0)).all():
            return UNSIGNED
        return ALL_LIFTED if self.lifted.all() else WHERE_COVERED

    @cached_property
    def alone(self) -> Graphs:
        """It alone, as the engine reads it."""
        return packed([self])


def own_graph(plan: Plan) -> Explored:
    """The graph of a self-tuning plan, explored through the plan's cover."""
    tuning = plan.tuning
    rule = tuning.self_tuning
    assert rule is not None
    if rule.order < 1:
        return Explored(plan.graph, tuning.cover, tuning.load, rule.lean, order=rule.order)
    cover = tuning.global_exploration / rule.first_strength
    return Explored(plan.graph, cover, _loads(plan.graph, cover), rule.lean)


def unknown_graph(n: int, order: float) -> Explored:
    """What is planned for where any strongly observable graph may be shown: that arms do not reveal themselves."""
    clique = other_graph(families.loopless_clique(n), order)
    return Explored(clique.graph, clique.cover, clique.load, _lean(order), only=True)


@lru_cache(maxsize=MOST_CACHED)
def other_graph(graph: FeedbackGraph, order: float) -> Explored:
    """Another graph, all of whose arms are covered that can be seen."""
    sharp = sharpened(graph, 1 / order)
    cover = np.zeros(graph.n_arms)
    seen = np.flatnonzero(graph.in_degree > 0)
    if seen.size:
        cover = fractional_domination(sharp, cover=seen).weights
    strong = observability(graph).graph == "strong" and not graph.has_loop.all()
    return Explored(graph, cover, _loads(sharp, cover), _lean(order) if strong else 0.0, order=order)


def _lean(order: float) -> float:
    """Lemma 4 asks for more than 1 − s; Lemma 3 for this."""
    return max(1.0, 2.0 - 2.0 * order)


def _loads(graph: FeedbackGraph, cover: Floats) -> Floats:
    result: Floats = loads(graph, np.zeros(graph.n_arms, dtype=np.int64), cover)
    return result


def _how_seen(graph: FeedbackGraph) -> Ints:
    """By explicit edges, or by every arm, with or without the arm itself."""
    everywhere = np.where(graph.has_loop, SEEN_BY_ALL, SEEN_BY_OTHERS)
    return np.where(graph.is_universal, everywhere, SEEN_BY_EDGES).astype(np.int32)


def packed(explored: Sequence[Explored]) -> Graphs:
    """Graphs one after another, as the engine reads them."""
    graphs = [item.graph for item in explored]
    n = graphs[0].n_arms

    def starts(arrays: list[Any], sizes: list[int]) -> Any:
        before = np.concatenate([[0], np.cumsum(sizes)])
        return frozen(np.concatenate([a + b for a, b in zip(arrays, before, strict=False)]), np.int64)

    def joined(arrays: list[Any], dtype: type[np.generic]) -> Any:
        return frozen(np.concatenate(arrays), dtype)

    def chances(of: list[Floats | None]) -> list[Floats]:
        """How likely edges reveal; nothing, where all of them always do."""
        fails = any(each is not None for each in of)
        return [
            (np.ones(size) if each is None else each) if fails else np.zeros(0)
            for each, size in zip(of, sizes, strict=True)
        ]

    sizes = [g.out_indices.size for g in graphs]
    out_chances = chances([g.out_probability for g in graphs])
    return Graphs(
        n_arms=n,
        out_start=starts([g.out_indptr for g in graphs], sizes),
        out_arms=joined([g.out_indices for g in graphs], np.int32),
        out_chance=joined(out_chances, np.float64),
        out_share=joined(
            [r ** (1 / item.order - 1) for r, item in zip(out_chances, explored, strict=True)], np.float64
        ),
        in_start=starts([g.in_indptr for g in graphs], sizes),
        in_arms=joined([g.in_indices for g in graphs], np.int32),
        in_chance=joined(chances([g.in_probability for g in graphs]), np.float64),
        universal_start=frozen(
            np.concatenate([[0], np.cumsum([g.universal.size for g in graphs])]), np.int64
        ),
        universal=joined([g.universal for g in graphs], np.int32),
        seen_how=joined([_how_seen(g) for g in graphs], np.int32),
        loops=joined([g.has_loop for g in graphs], np.bool_),
        cover=joined([item.cover for item in explored], np.float64),
        inverse_load=joined(
            [np.divide(1.0, item.load, out=np.zeros(n), where=item.load > 0.0) for item in explored],
            np.float64,
        ),
        lean=frozen([item.lean for item in explored], np.float64),
        only=frozen([item.only for item in explored], np.bool_),
        relation=frozen([relation(graphs[0], g) for g in graphs], np.int64),
        lifted=joined([item.lifted for item in explored], np.float64),
        signed=frozen([item.signed for item in explored], np.int64),
        covered=frozen([bool((item.load > 0).all()) for item in explored], np.bool_),
        fails=frozen([not g.certain for g in graphs], np.bool_),
    )
