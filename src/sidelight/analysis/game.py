"""The exact value of the game on a tiny graph: the regret that the best algorithm cannot avoid.

Solved as a linear program: sequence form of the player, one row per loss matrix, both up to symmetry. A set of arms
is a number, bit i for arm i; so are the losses of a round, and a loss matrix is its rounds in base 2^N, first round
first. Arms with the same out-neighbourhood teach the player the same, so a history matters only through *what was
revealed*: one pair (revealed set, losses in it) per round.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight._check import checked_horizon
from sidelight._types import Bools, Floats, Indices, Longs, frozen
from sidelight.errors import InfeasibleRequest, InvalidFeedback, InvalidOption, SolverError, listing
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of

Losses = npt.NDArray[np.int8]
Past = list[tuple[int, list[int]]]
Revealed = Mapping[int, int] | Sequence[int] | Indices
Method = Literal["highs-ds", "highs-ipm"]
History = tuple[tuple[int, int], ...]

EXACT_GAP = 1e-9
"""A gap in regret that counts as none: what rounding leaves of an exact solution."""

MAX_MATRIX_BITS = 18
"""Largest N·T: loss matrices are enumerated once."""

MAX_COLUMNS = 50_000
"""Largest number of (history, arm) pairs up to symmetry, as estimated."""

MAX_NONZEROS = 1_500_000
"""Largest linear program, as estimated: about half a minute."""

SIMPLEX_NONZEROS = 100_000
"""Up to this size the simplex method is quickest; the interior point method scales better."""

REACHED = 1e-9
"""Weight below which a history counts as one that the player never reaches."""


@dataclass(frozen=True, eq=False, repr=False)
class Minimax:
    """The value of a game, proven from both sides.

    `strategy` has expected regret at most `value` on every loss sequence; against `adversary` no player has
    expected regret below `lower`. The value of the game lies between.
    """

    graph: FeedbackGraph
    horizon: int
    value: float  # the greatest regret of `strategy`
    lower: float  # the least regret against `adversary`
    strategy: Strategy
    adversary: Mixture
    size: Size  # of the linear program
    method: str

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

        Plays every history out against every loss matrix, asking `strategy` for its probabilities, and finds
        the best response to `adversary` by backward induction, from the graph alone.
        """
        worst = worst_regret(self.graph, self.horizon, self.strategy.probabilities)
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
    program of the game with losses in {0, 1}, up to automorphisms of the graph; this is the same value:

    *Binary losses suffice.* More choice cannot hurt the adversary, so V is at least the binary value V₂.
    Conversely take an optimal player of the binary game, and let it round each revealed loss ℓ_t(j) to a bit
    B_t(j) of mean ℓ_t(j), independently. A_t depends on bits of earlier rounds only, hence is independent of
    B_t and E ℓ_t(A_t) = E B_t(A_t); and min_i Σ_t ℓ_t(i) = min_i E Σ_t B_t(i) ≥ E min_i Σ_t B_t(i). So its
    regret on ℓ is at most its mean regret on the binary matrix B, which is at most V₂. (Convexity of the
    regret in ℓ would not do: the player may react to intermediate values.)

    The work grows like 2^{NT}: N = 2 is fine up to T = 6 on every graph, N = 3 up to T = 4, symmetric graphs
    further. Raises InfeasibleRequest, naming the size of the linear program, beyond that. Graphs with arms
    that nothing reveals are allowed; their value grows linearly in T.

    >>> from sidelight.graph import families
    >>> minimax(families.full(2), horizon=3)  # ½ E|S₃| for a simple random walk
    Minimax(value=0.75, exact, 2 arms, horizon=3)
    >>> minimax(families.mab(2), horizon=4).strategy.probabilities([(0, [1])]).round(6)
    array([0.45, 0.55])
    """
    graph, horizon = graph_of(graph, "minimax"), checked_horizon(horizon)
    if not graph.certain:
        raise InfeasibleRequest(
            "the value of a game whose reveals may fail is not computed; minimax(graph.at_least(1), horizon), the"
            " game on the certain edges, is an upper bound of it"
        )
    program = _affordable(graph, horizon)
    methods: list[Method] = ["highs-ds", "highs-ipm"]
    if program.size.nonzeros > SIMPLEX_NONZEROS:
        methods.reverse()
    solved = _certified(graph, program, methods[0])
    if not solved.exact:  # rounding; the other method ends at another vertex
        solved = min(solved, _certified(graph, program, methods[1]), key=lambda each: each.gap)
    return solved


def _affordable(g: FeedbackGraph, horizon: int) -> Program:
    """The game's linear program, or InfeasibleRequest if it would be too large."""
    bits = g.n_arms * horizon
    advice = "ask for fewer rounds or a smaller graph"
    if bits > MAX_MATRIX_BITS:
        raise InfeasibleRequest(
            f"the game of {g.n_arms:,} arms and {horizon:,} rounds needs a linear program with a row for each "
            f"of 2^{bits} loss matrices, up to symmetry; at most 2^{MAX_MATRIX_BITS} are enumerated: {advice}"
        )
    program = Program(reveals_of(g), horizon)
    size = program.estimated_size
    if size.columns > MAX_COLUMNS or size.nonzeros > MAX_NONZEROS:
        raise InfeasibleRequest(
            f"the game of {g.n_arms} arms and {horizon} rounds needs a linear program of about {size}; at most "
            f"{MAX_COLUMNS:,} columns and {MAX_NONZEROS:,} non-zeros are solved: {advice}"
        )
    return program


def _certified(g: FeedbackGraph, program: Program, method: Method) -> Minimax:
    table, mixture = program.solved(method)
    chosen = np.flatnonzero(mixture > 0.0)
    strategy = Strategy(g, program.horizon, table)
    adversary = Mixture(frozen(program.bits(chosen), np.int8), frozen(mixture[chosen], np.float64))
    return Minimax(
        graph=g,
        horizon=program.horizon,
        value=worst_regret(g, program.horizon, strategy.probabilities),
        lower=best_response(g, adversary.losses, adversary.probabilities),
        strategy=strategy,
        adversary=adversary,
        size=program.size,
        method=method,
    )


# -- the two sides of a solved game -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """The player's behavioural strategy: a distribution over arms after every history.

    Depends on what was revealed, not on which of several arms with the same out-neighbours was played.
    Histories that the strategy itself never reaches are answered uniformly. For losses between 0 and 1, round
    each revealed loss x to 1 with probability x, independently, and ask with the rounded bits.
    """

    graph: FeedbackGraph
    horizon: int
    table: Mapping[History, Floats]  # (N,) after each history, as `program` writes them

    def probabilities(self, history: Sequence[tuple[int, Revealed]] = ()) -> Floats:
        """(N,) distribution of the next arm after `history`: a pair (arm played, losses it revealed) per round.

        The losses are a mapping {arm: 0 or 1} over exactly the out-neighbours of the arm played, or a sequence
        aligned with `graph.out_neighbors(arm)`.
        """
        if len(history) >= self.horizon:
            raise InvalidOption(
                f"a history of {len(history)} rounds leaves nothing to play: the game has {self.horizon}"
            )
        return self.table[tuple(self._seen(arm, revealed) for arm, revealed in history)].copy()

    def _seen(self, arm: int, revealed: Revealed) -> tuple[int, int]:
        """(the set that `arm` reveals, those of it that have loss 1), both as numbers."""
        shown: list[int] = self.graph.out_neighbors(arm).tolist()
        losses = dict(revealed) if isinstance(revealed, Mapping) else dict(zip(shown, revealed, strict=False))
        if set(losses) != set(shown) or len(revealed) != len(shown):
            raise InvalidFeedback(
                f"arm {arm} reveals arms {listing(shown)}, got {len(revealed)} losses: {revealed!r:.100}"
            )
        for each, loss in losses.items():
            if loss not in (0, 1):
                raise InvalidFeedback(
                    f"the loss of arm {each} must be 0 or 1, got {loss!r}; round it to 1 with that probability"
                )
        return sum(1 << each for each in shown), sum(1 << each for each in shown if losses[each])

    def __repr__(self) -> str:
        return f"Strategy({self.graph.n_arms} arms, {self.horizon} rounds)"


@dataclass(frozen=True, eq=False)
class Mixture:
    """The adversary's mixture: loss matrix k is chosen with probability probabilities[k], before round 1."""

    losses: npt.NDArray[np.int8]  # (M, T, N)
    probabilities: Floats  # (M,), positive, sum 1

    def __len__(self) -> int:
        return len(self.probabilities)


# -- the linear program -------------------------------------------------------------------------------------


class Size(NamedTuple):
    """How large a linear program is."""

    rows: int  # loss matrices, plus one balance per history
    columns: int  # history followed by an arm, plus the value
    nonzeros: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows × {self.columns:,} columns, {self.nonzeros:,} non-zeros"


class Program:
    """min v over x ≥ 0 with x(h, ·) summing to what reaches h, and regret(x, ℓ) ≤ v for every ℓ.

    x(h, a) is the product of the player's own probabilities along history h and arm a. Automorphisms of the
    graph permute histories and loss matrices; averaging an optimal x over them keeps it optimal, so one column
    per orbit of (h, a) and one row per orbit of ℓ are enough.
    """

    def __init__(self, reveals: Bools, horizon: int) -> None:
        self.n_arms, self.horizon = len(reveals), horizon
        self.automorphisms, self.order = automorphism_generators(reveals)
        self.reveals: list[int] = (reveals @ (1 << np.arange(self.n_arms))).tolist()
        self.columns: dict[tuple[History, int], int] = {}  # of every history followed by an arm
        self.n_columns = 1  # the first is the value's

    @property
    def estimated_size(self) -> Size:
        """About how large the program will be: counts without symmetry, divided by the order of the group.

        Exact without automorphisms, but for losses and balances that fall on the same entry. With them, matrices
        and histories that some automorphism leaves in place have smaller orbits: there are a few more of them.
        """
        n, kinds = self.n_arms, set(self.reveals)
        symbols = sum(1 << kind.bit_count() for kind in kinds)
        states = sum(symbols**rounds for rounds in range(self.horizon))
        paths = sum(len(kinds) ** rounds for rounds in range(self.horizon))
        matrices = 1 << (n * self.horizon)
        losses = matrices * paths * n // 2  # half of the bits are ones
        return Size(
            -(-(matrices + states) // self.order),
            -(-states * n // self.order) + 1,
            -(-(losses + matrices + 2 * states * n) // self.order),
        )

    @cached_property
    def moves(self) -> list[tuple[list[int], list[int]]]:
        """(image of every arm, image of every set of arms) for automorphisms that generate all of them."""
        sets = np.arange(1 << self.n_arms)[:, None] >> np.arange(self.n_arms) & 1
        return [(arms.tolist(), (sets @ (1 << arms)).tolist()) for arms in self.automorphisms]

    @cached_property
    def matrix_orbits(self) -> tuple[Longs, Longs]:
        """(orbit of each loss matrix, one matrix of each orbit)."""
        moved = []
        for _, sets in self.moves:
            words = np.zeros(1, dtype=np.int64)
            for _ in range(self.horizon):
                words = (words[:, None] * len(sets) + np.array(sets)).ravel()
            moved.append(words)
        return orbits(moved, 1 << (self.n_arms * self.horizon))

    def losses(self, matrices: Longs) -> Longs:
        """(len(matrices), T) the losses of each round."""
        rounds = np.arange(self.horizon - 1, -1, -1)
        return matrices[:, None] >> rounds * self.n_arms & ((1 << self.n_arms) - 1)

    def bits(self, matrices: Longs) -> Longs:
        """(len(matrices), T, N) the loss of each arm in each round."""
        return self.losses(matrices)[:, :, None] >> np.arange(self.n_arms) & 1

    def column(self, history: History, arm: int) -> int:
        """The column of this pair; at the first question, that of its whole orbit is fixed."""
        if (history, arm) not in self.columns:
            waiting = [(history, arm)]
            self.columns[history, arm] = self.n_columns
            while waiting:
                past, last = waiting.pop()
                for arms, sets in self.moves:
                    moved = tuple((sets[kind], sets[seen]) for kind, seen in past), arms[last]
                    if moved not in self.columns:
                        self.columns[moved] = self.n_columns
                        waiting.append(moved)
            self.n_columns += 1
        return self.columns[history, arm]

    @cached_property
    def rows(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """(expected loss − v by orbit of loss matrices, weight leaving − weight entering by orbit of histories).

        Every history that one of the matrices kept can produce is visited; each orbit has such a history.
        """
        losses = self.losses(self.matrix_orbits[1])
        every = np.arange(len(losses))
        regret = [(every, np.zeros_like(every), np.full(len(every), -1.0))]
        balance: dict[
            int, tuple[list[int], list[int]]
        ] = {}  # by the least of its columns: (leaving, entering)
        waiting: list[tuple[History, list[int], Longs]] = [((), [], every)]
        while waiting:
            history, entering, alive = waiting.pop()
            leaving = [self.column(history, arm) for arm in range(self.n_arms)]
            balance.setdefault(min(leaving), (leaving, entering))
            now = losses[alive, len(history)]
            for arm, column in enumerate(leaving):
                pays = alive[now >> arm & 1 == 1]
                regret.append((pays, np.full(len(pays), column), np.ones(len(pays))))
            if len(history) + 1 < self.horizon:
                for kind in set(self.reveals):
                    enters = [leaving[arm] for arm in range(self.n_arms) if self.reveals[arm] == kind]
                    shown = now & kind
                    for seen in np.unique(shown).tolist():
                        waiting.append(((*history, (kind, seen)), enters, alive[shown == seen]))
        flow = [
            (np.full(len(columns), row), np.array(columns), np.full(len(columns), sign))
            for row, both in enumerate(balance.values())
            for columns, sign in zip(both, (1.0, -1.0), strict=True)
            if columns
        ]
        return self._sparse(regret, len(losses)), self._sparse(flow, len(balance))

    def _sparse(self, entries: list[tuple[Longs, Longs, Floats]], n_rows: int) -> sparse.csr_array:
        rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        return sparse.coo_array((values, (rows, columns)), shape=(n_rows, self.n_columns)).tocsr()

    @property
    def size(self) -> Size:
        """Of the program as built."""
        regret, balance = self.rows
        return Size(regret.shape[0] + balance.shape[0], self.n_columns, regret.nnz + balance.nnz)

    def solved(self, method: Method) -> tuple[Mapping[History, Floats], Floats]:
        """(player's probabilities after each history, adversary's probability of every loss matrix)."""
        from scipy.optimize import linprog  # slow to import, and plans do without

        regret: Any
        balance: Any
        regret, balance = self.rows
        label, matrices = self.matrix_orbits
        solution = linprog(
            np.eye(1, self.n_columns).ravel(),
            A_ub=regret,
            b_ub=self.bits(matrices).sum(axis=1).min(axis=1),
            A_eq=balance,
            b_eq=np.eye(1, balance.shape[0]).ravel(),  # the empty history comes first
            bounds=[(None, None)] + [(0.0, None)] * (self.n_columns - 1),
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.x is None:
            raise SolverError(f"HiGHS did not solve the game of {self.size}: {solution.message}")
        mixture = np.maximum(-np.asarray(solution.ineqlin.marginals), 0.0) / np.bincount(label)
        histories = list(dict.fromkeys(history for history, _ in self.columns))
        table = np.array([[self.columns[each, arm] for arm in range(self.n_arms)] for each in histories])
        return (
            dict(zip(histories, _conditional(solution.x[table]), strict=True)),
            mixture[label] / mixture[label].sum(),
        )


def _conditional(weights: Floats) -> Floats:
    """Probabilities given each history; uniform at histories that the player's own choices never reach."""
    weights = np.maximum(weights, 0.0)
    reached = weights.sum(axis=1, keepdims=True)
    table = np.full(weights.shape, 1.0 / weights.shape[1])
    np.divide(weights, reached, out=table, where=reached > REACHED)
    table.flags.writeable = False
    return table


# -- symmetry -----------------------------------------------------------------------------------------------


def automorphism_generators(reveals: Bools) -> tuple[list[Longs], int]:
    """(generators, order) of the group of permutations σ with reveals[σ(i), σ(j)] = reveals[i, j].

    From the last arm to the first: the automorphisms that fix 0..i−1 are generated by those that also fix i
    and one that sends i to j for each j they cannot reach otherwise. The order is the product of the numbers
    of arms that i can be sent to (orbit and stabilizer).
    """
    n = len(reveals)
    generators: list[Longs] = []
    order = 1
    for i in reversed(range(n)):
        label, _ = orbits(generators, n)
        for j in range(i + 1, n):
            if label[j] != label[i] and (images := _extended(reveals, [*range(i), j])) is not None:
                generators.append(np.array(images, dtype=np.int64))
                label, _ = orbits(generators, n)
        order *= int((label == label[i]).sum())
    return generators, order


def _extended(reveals: Bools, images: list[int]) -> list[int] | None:
    """An automorphism whose first images are the given ones, by depth-first search; None if there is none."""
    arm, image = len(images) - 1, images[-1]
    before = np.array(images)
    agrees = (reveals[arm, : arm + 1] == reveals[image, before]).all()
    if not (agrees and (reveals[: arm + 1, arm] == reveals[before, image]).all()):
        return None
    if len(images) == len(reveals):
        return images
    for candidate in range(len(reveals)):
        if candidate not in images and (full := _extended(reveals, [*images, candidate])) is not None:
            return full
    return None


def orbits(permutations: Sequence[Longs], size: int) -> tuple[Longs, Longs]:
    """(label of each of 0..size−1, one member of each orbit) under the group the permutations generate."""
    if not permutations:
        return np.arange(size), np.arange(size)
    source = np.tile(np.arange(size), len(permutations))
    target = np.concatenate(permutations)
    moved = source != target
    ones = np.ones(int(moved.sum()), dtype=np.int8)
    links = sparse.coo_array((ones, (source[moved], target[moved])), shape=(size, size))
    _, label = connected_components(links, directed=False)
    _, members = np.unique(label, return_index=True)
    return label.astype(np.int64), members.astype(np.int64)


# -- what two strategies are worth, by playing every history out ---------------------------------------------

# The checker of a solved game knows nothing of the linear program, of its symmetries or of how histories are
# numbered; it only asks a strategy for probabilities and walks the tree of what can be revealed.


def reveals_of(g: FeedbackGraph) -> Bools:
    """(N, N) does i reveal j? For small graphs."""
    return g.to_sparse().toarray().astype(bool)


def worst_regret(g: FeedbackGraph, horizon: int, probabilities: Callable[[Past], Floats]) -> float:
    """Greatest expected regret of the strategy over all binary loss matrices."""
    n = g.n_arms
    losses = np.array(list(itertools.product((0, 1), repeat=n * horizon)), dtype=np.int8).reshape(
        -1, horizon, n
    )
    regret = -losses.sum(axis=1, dtype=np.int64).min(axis=1).astype(np.float64)
    reveals = reveals_of(g)

    def walk(past: Past, alive: Longs, weight: float) -> None:
        chances = _distribution(probabilities(past))
        regret[alive] += weight * (losses[alive, len(past)] @ chances)
        if len(past) + 1 == horizon:
            return
        for arm, alike in _teachers(reveals):
            chance = float(chances[alike].sum())
            if chance > 0.0:
                for shown, still in _outcomes(losses[alive, len(past)][:, reveals[arm]]):
                    walk([*past, (arm, shown)], alive[still], weight * chance)

    walk([], np.arange(len(losses)), 1.0)
    return float(regret.max())


def best_response(g: FeedbackGraph, losses: Losses, probabilities: Floats) -> float:
    """Least expected regret that any player can have against the mixture of loss matrices."""
    _distribution(probabilities)
    horizon = losses.shape[1]
    reveals = reveals_of(g)

    def least(played: int, alive: Longs) -> float:
        cost = probabilities[alive] @ losses[alive, played]
        if played + 1 < horizon:
            for arm, alike in _teachers(reveals):
                shown = _outcomes(losses[alive, played][:, reveals[arm]])
                cost[alike] += sum(least(played + 1, alive[still]) for _, still in shown)
        return float(cost.min())

    comparator = losses.sum(axis=1, dtype=np.int64).min(axis=1)
    return least(0, np.arange(len(losses))) - float(probabilities @ comparator)


def _teachers(reveals: Bools) -> Iterator[tuple[int, Longs]]:
    """(one arm, all arms that reveal the same as it) for every out-neighbourhood."""
    for arm, row in enumerate(reveals):
        alike = np.flatnonzero((reveals == row).all(axis=1))
        if alike[0] == arm:
            yield arm, alike


def _outcomes(shown: Losses) -> Iterator[tuple[list[int], Bools]]:
    """(what is shown, which loss matrices show it) for every different row."""
    for row in np.unique(shown, axis=0):
        yield row.tolist(), (shown == row).all(axis=1)


def _distribution(chances: Floats) -> Floats:
    """The probabilities, or SolverError if they are none."""
    if not ((chances >= 0.0).all() and abs(chances.sum() - 1.0) <= EXACT_GAP):
        raise SolverError(f"{chances.tolist()} are not probabilities")
    return chances
