"""The exact value of the game on a tiny graph: the regret that the best algorithm cannot avoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis.minimax.check import adjacency, best_response, worst_regret
from sidelight.analysis.minimax.program import Method, Mixture, Program, Size, Strategy
from sidelight.errors import InfeasibleRequest, SolverError
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of

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


def minimax(g: GivenGraph, horizon: int) -> Minimax:
    """The least worst-case expected regret on `g` in `horizon` rounds, against an oblivious adversary.

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
    g, horizon = graph_of(g, "minimax"), checked_horizon(horizon)
    if not g.certain:
        raise InfeasibleRequest(
            "the value of a game whose reveals may fail is not computed; minimax(g.at_least(1), horizon), the game on"
            " the certain edges, is an upper bound of it"
        )
    program = _affordable(g, horizon)
    order: list[Method] = ["highs-ds", "highs-ipm"]
    if program.size.nonzeros > SIMPLEX_NONZEROS:
        order.reverse()
    found = _certified(g, program, order[0])
    if not found.exact:  # rounding; the other method ends at another vertex
        found = min(found, _certified(g, program, order[1]), key=lambda each: each.gap)
    return found


def _affordable(g: FeedbackGraph, horizon: int) -> Program:
    """The game's linear program, or InfeasibleRequest if it would be too large."""
    bits = g.n_arms * horizon
    advice = "ask for fewer rounds or a smaller graph"
    if bits > MAX_MATRIX_BITS:
        raise InfeasibleRequest(
            f"the game of {g.n_arms:,} arms and {horizon:,} rounds needs a linear program with a row for each "
            f"of 2^{bits} loss matrices, up to symmetry; at most 2^{MAX_MATRIX_BITS} are enumerated: {advice}"
        )
    program = Program(adjacency(g), horizon)
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
    adversary = Mixture(program.bits(chosen).astype(np.int8), mixture[chosen])
    adversary.losses.flags.writeable = adversary.probabilities.flags.writeable = False
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
