"""What dense self-tuning play reads and keeps: graphs with their covers, sums, temperature, accounts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.self_tuning.numbers import BETA as AT_BETA
from sidelight.engine.self_tuning.numbers import N_SURVEYED
from sidelight.engine.simplex.store import ENTROPY_LIST, LAMBDA, POWER_LIST

RULE = ("order", "share", "play_share", "diameter", "first")
ORDER, SHARE, PLAY_SHARE, DIAMETER, FIRST = range(5)
"""State.rule, by the names of `planning.self_tuning.rule.SelfTuning`: s, c, c′, D and β_1."""

(
    ROUND,  # rounds learnt from
    LATE,  # … of which so many after others
    BETA,  # β
    UNSPENT,  # money that has not bought anything yet
    PURCHASED,  # β_1·D + Σ ΔW
    CHARGED,  # Σ cost
    PAID,  # Σ ⟨ℓ̂, X⟩, and X of the arms that nothing could reveal
    EXPLORED,  # Σ of what Z costs more than X, at most
    LEAST,  # the least sum, which is taken off all
    LEAD,  # where the point was found last, near which it is looked for again
    REPAIR,  # 1 once a graph was shown afterwards that lacks edges of the plan's
    OTHERS,  # 1 once the plan's own prices were not proved for some round
    N_NUMBERS,
) = range(13)
"""State.numbers."""

DRAWN_AT, AT, COST, EXTRA, UNSEEN, N_KEPT = range(6)
"""What is kept of a draw: the rounds learnt from by then, β, what the round costs, Σ [Z − X]₊, Σ X over the arms that
nothing reveals; then X, Z and P of all arms."""

LARGEST_ESTIMATE = 1e90
"""So that sums stay finite, whatever is drawn."""


class State(NamedTuple):
    """All that changes while playing, and room to work in."""

    rule: np.ndarray  # by `RULE`
    numbers: np.ndarray  # (N_NUMBERS,)
    sums: np.ndarray  # (n,) Σ ℓ̂ above the least
    words: np.ndarray  # (4,) the random stream
    keys: np.ndarray  # (1+n,) sums as `money` reads them
    trial: np.ndarray  # (8n,) X, X^{1−s}, how these are seen, g, how it is seen, Z, P, spare
    found: np.ndarray  # what `money.survey` found
    power: np.ndarray  # (1,) and the rest of the simplex, as `money` reads it
    form: np.ndarray
    scalars: np.ndarray
    tuned: np.ndarray
    targets: np.ndarray  # (n,) the arms that one play reveals
    losses: np.ndarray  # (n,) and their losses


class Simplex(NamedTuple):
    """The point of dense play, in the words of `money`."""

    n_arms: int
    key: object
    trial: object
    surveyed: object
    power: object
    form: object
    scalars: object
    tuned: object


def new_state(rule: np.ndarray, n: int, words: np.ndarray) -> State:
    """At round one, with nothing bought or learnt yet."""
    order = rule[ORDER]
    tuned, scalars = np.zeros(1 + AT_BETA), np.zeros(1 + LAMBDA)
    tuned[AT_BETA] = scalars[LAMBDA] = 1.0
    numbers = np.zeros(N_NUMBERS)
    numbers[BETA] = rule[FIRST]
    numbers[LEAD] = 1.0
    return State(
        rule=rule,
        numbers=numbers,
        sums=np.zeros(n),
        words=words,
        keys=np.zeros(1 + n),
        trial=np.zeros(8 * n),
        found=np.zeros(N_SURVEYED),
        power=np.array([0.0 if order == 1.0 else 1.0 / (1.0 - order)]),
        form=np.array([ENTROPY_LIST if order == 1.0 else POWER_LIST]),
        scalars=scalars,
        tuned=tuned,
        targets=np.zeros(n, dtype=np.int64),
        losses=np.zeros(n),
    )


@inlined()
def simplex_of(state):
    """The point of this state."""
    return Simplex(
        state.sums.size,
        pointer(state.keys, 0, state.keys.size),
        pointer(state.trial, 0, state.trial.size),
        pointer(state.found, 0, state.found.size),
        pointer(state.power, 0, 1),
        pointer(state.form, 0, 1),
        pointer(state.scalars, 0, state.scalars.size),
        pointer(state.tuned, 0, state.tuned.size),
    )
