"""The exact value of the game on a tiny graph: the regret that the best algorithm cannot avoid.

Solved as a linear program: sequence form of the player, one row per loss matrix. Arms with the same out-neighbourhood
teach the player the same, so a history matters only through *what was revealed*. The tree of what may be revealed is
grown once by `situations`; the program is read off it, and so is what two given strategies are worth.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidelight._check import checked_horizon
from sidelight._types import Bools, Floats, Longs, frozen
from sidelight.analysis import linear
from sidelight.errors import InfeasibleRequest, SolverError
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of

Losses = npt.NDArray[np.int8]
History = tuple[tuple[int, tuple[int, ...]], ...]
"""For every round the first of the arms that reveal what the played one does, and what was revealed."""

EXACT_GAP = 1e-9
"""A gap in regret that counts as none: what rounding leaves of an exact solution."""

MAX_MATRIX_BITS = 18
"""Largest N·T: loss matrices are enumerated once."""

MAX_COLUMNS = 50_000
"""Largest number of (history, arm) pairs."""

MAX_NONZEROS = 1_500_000
"""Largest linear program: about half a minute."""

SIMPLEX_NONZEROS = 100_000
"""Up to this size the simplex method is quickest; the interior point method scales better."""

REACHED = 1e-9
"""Weight below which a history counts as one that the player never reaches."""


@dataclass(frozen=True, eq=False, repr=False)
class Minimax:
    """The value of a game, proven from both sides.

    `strategy` has expected regret at most `value` on every loss sequence; against `adversary` no player has
    expected regret below `lower`. The value of the game lies between.

    A strategy is a distribution over the arms (N,) after every history, uniform after those that it never reaches
    itself. A history depends on what was revealed, not on which of several arms with the same out-neighbours was
    played: for every round it has the first of these, and the losses that it revealed. For losses between 0 and 1,
    round each revealed loss x to 1 with probability x, independently, and ask with the rounded bits.
    """

    graph: FeedbackGraph
    horizon: int
    value: float  # the greatest regret of `strategy`
    lower: float  # the least regret against `adversary`
    strategy: Mapping[History, Floats]
    adversary: Mixture
    size: Size  # of the linear program

    @property
    def gap(self) -> float:
        """value − lower: how much of the answer is left to belief."""
        return max(self.value - self.lower, 0.0)

    @property
    def exact(self) -> bool:
        """Is `value` the value of the game up to rounding?"""
        return self.gap <= EXACT_GAP

    def verify(self) -> bool:
        """True if both sides are worth what they claim; otherwise SolverError saying which is not.

        Plays every history out against every loss matrix, and finds the best response to
        `adversary` by backward induction, from the graph alone.
        """
        worst = worst_regret(self.graph, self.horizon, self.strategy)
        if abs(worst - self.value) > EXACT_GAP:
            raise SolverError(f"the strategy has regret {worst!r}, not {self.value!r}")
        shape = (len(self.adversary), self.horizon, self.graph.n_arms)
        losses = self.adversary.losses
        if losses.shape != shape or not np.isin(losses, (0, 1)).all():
            raise SolverError(f"the adversary's losses must be bits of shape {shape}, got {losses.shape}")
        least = best_response(self.graph, losses, self.adversary.probabilities)
        if abs(least - self.lower) > EXACT_GAP:
            raise SolverError(f"the adversary forces regret {least!r}, not {self.lower!r}")
        return True

    def __repr__(self) -> str:
        close = "exact" if self.exact else f"gap {self.gap:.2g}"
        return f"Minimax(value={self.value:.9g}, {close}, {self.graph.n_arms} arms, horizon={self.horizon})"


def minimax(graph: GivenGraph, horizon: int) -> Minimax:
    """The least worst-case expected regret on `graph` in `horizon` rounds, against an oblivious adversary.

        V(G, T) = min over players  max over ℓ ∈ [0,1]^{T×N}  E[Σ_t ℓ_t(A_t)] − min_i Σ_t ℓ_t(i)

    The player sees, after each round, the losses that its arm reveals. Solved as the sequence-form linear
    program of the game with losses in {0, 1}; this is the same value:

    *Binary losses suffice.* More choice cannot hurt the adversary, so V is at least the binary value V₂.
    Conversely take an optimal player of the binary game, and let it round each revealed loss ℓ_t(j) to a bit
    B_t(j) of mean ℓ_t(j), independently. A_t depends on bits of earlier rounds only, hence is independent of
    B_t and E ℓ_t(A_t) = E B_t(A_t); and min_i Σ_t ℓ_t(i) = min_i E Σ_t B_t(i) ≥ E min_i Σ_t B_t(i). So its
    regret on ℓ is at most its mean regret on the binary matrix B, which is at most V₂. (Convexity of the
    regret in ℓ would not do: the player may react to intermediate values.)

    The work grows like 2^{NT}: N = 2 is fine up to T = 6 on every graph, N = 3 up to T = 4. Raises
    InfeasibleRequest, naming the size of the linear program, beyond that. Graphs with arms that nothing reveals are
    allowed; their value grows linearly in T.

    >>> from sidelight.graph import families
    >>> minimax(families.full(2), horizon=3)  # ½ E|S₃| for a simple random walk
    Minimax(value=0.75, exact, 2 arms, horizon=3)
    >>> bandit = minimax(families.mab(2), horizon=4)
    >>> round(bandit.value, 6), bool(bandit.strategy[((0, (1,)),)].argmax())  # after a loss of arm 0
    (0.825, True)
    """
    graph, horizon = graph_of(graph, "minimax"), checked_horizon(horizon)
    if not graph.certain:
        raise InfeasibleRequest(
            "the value of a game whose reveals may fail is not computed; minimax(graph.at_least(1), horizon), the"
            " game on the certain edges, is an upper bound of it"
        )
    size = _affordable(graph, horizon)
    losses = every_matrix(graph.n_arms, horizon)
    tree = situations(reveals_of(graph), losses)
    found = []
    for method in linear.methods(size.nonzeros > SIMPLEX_NONZEROS):
        strategy, mixture = _solved(tree, losses, size, method)
        chosen = np.flatnonzero(mixture > 0.0)
        adversary = Mixture(frozen(losses[chosen], np.int8), frozen(mixture[chosen], np.float64))
        value = worst_regret(graph, horizon, strategy)
        lower = best_response(graph, adversary.losses, adversary.probabilities)
        found.append(Minimax(graph, horizon, value, lower, strategy, adversary, size))
        if found[-1].exact:
            break
    return min(found, key=lambda each: each.gap)


@dataclass(frozen=True, eq=False)
class Mixture:
    """The adversary's mixture: loss matrix k is chosen with probability probabilities[k], before round 1."""

    losses: npt.NDArray[np.int8]  # (M, T, N)
    probabilities: Floats  # (M,), positive, sum 1

    def __len__(self) -> int:
        return len(self.probabilities)


# -- the tree of what may be revealed -------------------------------------------------------------------------


class Situation(NamedTuple):
    """What a player may know before a round, and the loss matrices that it may be facing."""

    history: History
    before: int  # the situation one round earlier; 0, itself, for the first
    teachers: Longs  # arms that lead from there to here
    alive: Longs  # the loss matrices that agree with the history


def every_matrix(n: int, horizon: int) -> Losses:
    """(2^{NT}, T, N) all matrices of losses 0 and 1."""
    bits = np.array(list(itertools.product((0, 1), repeat=n * horizon)), dtype=np.int8)
    return bits.reshape(-1, horizon, n)


def reveals_of(g: FeedbackGraph) -> Bools:
    """(N, N) does i reveal j? For small graphs."""
    return g.to_sparse().toarray().astype(bool)


def situations(reveals: Bools, losses: Losses) -> list[Situation]:
    """Every situation that one of the loss matrices (M, T, N) can lead to, each after the one before it."""
    found = [Situation((), 0, np.empty(0, dtype=np.int64), np.arange(len(losses)))]
    kinds = list(_teachers(reveals))
    for at, here in enumerate(found):  # which grows meanwhile
        if len(here.history) + 1 < losses.shape[1]:
            now = losses[here.alive, len(here.history)]
            for arm, alike in kinds:
                rows, which = np.unique(now[:, reveals[arm]], axis=0, return_inverse=True)
                for k, shown in enumerate(rows.tolist()):
                    history = (*here.history, (arm, tuple(shown)))
                    found.append(Situation(history, at, alike, here.alive[which.ravel() == k]))
    return found


def _teachers(reveals: Bools) -> Iterator[tuple[int, Longs]]:
    """(one arm, all arms that reveal the same as it) for every out-neighbourhood."""
    for arm, row in enumerate(reveals):
        alike = np.flatnonzero((reveals == row).all(axis=1))
        if alike[0] == arm:
            yield arm, alike


# -- the linear program -------------------------------------------------------------------------------------


class Size(NamedTuple):
    """How large a linear program is."""

    rows: int  # loss matrices, plus one balance per history
    columns: int  # history followed by an arm, plus the value
    nonzeros: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows × {self.columns:,} columns, {self.nonzeros:,} non-zeros"


def size_of(reveals: Bools, horizon: int) -> Size:
    """The size of the game's linear program, without growing its tree."""
    n, shown = len(reveals), reveals.sum(axis=1).tolist()  # by each arm
    kinds = [int(row.sum()) for row in np.unique(reveals, axis=0)]
    symbols, matrices = sum(1 << count for count in kinds), 1 << (n * horizon)
    states, before = (sum(symbols**rounds for rounds in range(most)) for most in (horizon, horizon - 1))
    paths = sum(len(kinds) ** rounds for rounds in range(horizon))
    costs, entering = matrices * n * paths // 2, before * sum(1 << count for count in shown)
    return Size(matrices + states, 1 + n * states, costs + matrices + n * states + entering)


def _affordable(g: FeedbackGraph, horizon: int) -> Size:
    """The size of the game's linear program, or InfeasibleRequest if it would be too large."""
    bits = g.n_arms * horizon
    advice = "ask for fewer rounds or a smaller graph"
    if bits > MAX_MATRIX_BITS:
        raise InfeasibleRequest(
            f"the game of {g.n_arms:,} arms and {horizon:,} rounds needs a linear program with a row for each "
            f"of 2^{bits} loss matrices; at most 2^{MAX_MATRIX_BITS} are enumerated: {advice}"
        )
    size = size_of(reveals_of(g), horizon)
    if size.columns > MAX_COLUMNS or size.nonzeros > MAX_NONZEROS:
        raise InfeasibleRequest(
            f"the game of {g.n_arms} arms and {horizon} rounds needs a linear program of {size}; at most "
            f"{MAX_COLUMNS:,} columns and {MAX_NONZEROS:,} non-zeros are solved: {advice}"
        )
    return size


def _solved(
    tree: list[Situation], losses: Losses, size: Size, method: linear.Method
) -> tuple[dict[History, Floats], Floats]:
    """(player's probabilities after each history, adversary's probability of every loss matrix).

    min v over x ≥ 0 with x(h, ·) summing to what reaches h, and regret(x, ℓ) ≤ v for every ℓ; x(h, a) is the product
    of the player's own probabilities along history h and arm a.
    """
    n = losses.shape[2]
    column = 1 + np.arange(n * len(tree)).reshape(
        -1, n
    )  # of every history followed by an arm; v is the first
    every = np.arange(len(losses))
    costs, flow = [(every, 0 * every, np.full(len(every), -1.0))], []
    for k, here in enumerate(tree):
        matrix, arm = np.nonzero(losses[here.alive, len(here.history)])
        costs.append((here.alive[matrix], column[k, arm], np.ones(arm.size)))
        entering = column[here.before, here.teachers]
        sign = np.repeat([1.0, -1.0], [n, entering.size])
        flow.append((np.full(sign.size, k), np.append(column[k], entering), sign))
    solution = linear.solved(
        f"the game of {size}",
        np.eye(1, size.columns).ravel(),
        method,
        A_ub=_sparse(costs, (len(losses), size.columns)),
        b_ub=losses.sum(axis=1, dtype=np.int64).min(axis=1),
        A_eq=_sparse(flow, (len(tree), size.columns)),
        b_eq=np.eye(1, len(tree)).ravel(),  # the empty history comes first
        bounds=[(None, None)] + [(0.0, None)] * (size.columns - 1),
    )
    mixture = np.maximum(-np.asarray(solution.ineqlin.marginals), 0.0)
    weights = np.maximum(solution.x[column], 0.0)
    reached = weights.sum(axis=1, keepdims=True)
    table = np.full(weights.shape, 1.0 / n)  # uniform at histories that the player's own choices never reach
    np.divide(weights, reached, out=table, where=reached > REACHED)
    table.flags.writeable = False
    return dict(zip((here.history for here in tree), table, strict=True)), mixture / mixture.sum()


def _sparse(entries: list[tuple[Longs, Longs, Floats]], shape: tuple[int, int]) -> Any:
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()


# -- what two strategies are worth, by playing every history out ---------------------------------------------

# The checker of a solved game knows nothing of the linear program: it only walks the tree of what can be revealed.


def worst_regret(g: FeedbackGraph, horizon: int, strategy: Mapping[History, Floats]) -> float:
    """Greatest expected regret of the strategy over all binary loss matrices."""
    losses = every_matrix(g.n_arms, horizon)
    regret = -losses.sum(axis=1, dtype=np.int64).min(axis=1).astype(np.float64)
    tree = situations(reveals_of(g), losses)
    reached, chances = np.ones(len(tree)), np.empty((len(tree), g.n_arms))
    for k, here in enumerate(tree):
        if k > 0:
            reached[k] = reached[here.before] * chances[here.before, here.teachers].sum()
        chances[k] = _distribution(strategy[here.history])
        regret[here.alive] += reached[k] * (losses[here.alive, len(here.history)] @ chances[k])
    return float(regret.max())


def best_response(g: FeedbackGraph, losses: Losses, probabilities: Floats) -> float:
    """Least expected regret that any player can have against the mixture of loss matrices."""
    _distribution(probabilities)
    tree = situations(reveals_of(g), losses)
    cost = np.array([probabilities[here.alive] @ losses[here.alive, len(here.history)] for here in tree])
    for k in range(len(tree) - 1, 0, -1):  # what follows is known before what comes before
        cost[tree[k].before, tree[k].teachers] += cost[k].min()
    comparator = losses.sum(axis=1, dtype=np.int64).min(axis=1)
    return float(cost[0].min() - probabilities @ comparator)


def _distribution(chances: Floats) -> Floats:
    """The probabilities, or SolverError if they are none."""
    if not ((chances >= 0.0).all() and abs(chances.sum() - 1.0) <= EXACT_GAP):
        raise SolverError(f"{chances.tolist()} are not probabilities")
    return chances
