"""What dense self-tuning play reads and keeps: graphs with their covers, sums, temperature, accounts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.random import arm_unit, edge_word
from sidelight.engine.self_tuning.numbers import BETA as AT_BETA
from sidelight.engine.self_tuning.numbers import N_SURVEYED
from sidelight.engine.simplex.store import ENTROPY_LIST, LAMBDA, POWER_LIST

RULE = ("order", "share", "play_share", "diameter", "first")
ORDER, SHARE, PLAY_SHARE, DIAMETER, FIRST = range(5)
"""State.rule, by the names of `inputs.SelfTuning`: s, c, c′, D and β_1."""

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

OWN, UNKNOWN, FIRST_OTHER = range(3)
"""In a list of graphs: the plan's own comes first, then what is planned for where any strongly observable graph may
be shown afterwards, then all others."""

SAME, MORE, OTHER = range(3)
"""What a graph is to the first of its list: the same, one with more edges, or one that lacks some."""

LARGEST_ESTIMATE = 1e90
"""So that sums stay finite, whatever is drawn."""


class Graphs(NamedTuple):
    """Graphs on the same n arms, one after another, each with its cover; all arrays are read-only."""

    n_arms: int
    out_start: np.ndarray  # (K·(n+1),) explicit edges by source
    out_arms: np.ndarray
    out_chance: (
        np.ndarray
    )  # how likely each of these reveals, r; empty, as the next two, if all edges are certain
    out_share: np.ndarray  # r^{1/s−1}, which what is explored for an arm is multiplied by
    in_start: np.ndarray  # (K·(n+1),) the same edges by target
    in_arms: np.ndarray
    in_chance: np.ndarray
    universal_start: np.ndarray  # (K+1,)
    universal: np.ndarray  # arms that every other arm reveals
    everywhere: np.ndarray  # (K·n,) is it one of those?
    loops: np.ndarray  # (K·n,) does it reveal itself?
    cover: np.ndarray  # (K·n,) x*
    load: np.ndarray  # (K·n,) c, 0 for arms that are not covered
    lean: np.ndarray  # (K,) a strength of lean/β is offered too, where it is not 0 (Lemma 4) …
    only: np.ndarray  # (K,) … or it is the only one
    relation: np.ndarray  # (K,) what it is to the first graph


class Sequence(NamedTuple):
    """Which graph a round has: order[(t // period) mod size], or one that is drawn anew in every round."""

    period: int
    order: np.ndarray  # (m,) int64
    cumulative: np.ndarray  # (K,) of the probabilities that graphs are drawn with; none: they are not drawn


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


# -- who reveals whom -------------------------------------------------------------------------------------


@inlined()
def list_revealed(graphs, k, arm, targets):
    """Write the arms that `arm` reveals in graph k, in increasing order; return how many."""
    n = graphs.n_arms
    edge, end = graphs.out_start[k * (n + 1) + arm], graphs.out_start[k * (n + 1) + arm + 1]
    u, last = graphs.universal_start[k], graphs.universal_start[k + 1]
    count = 0
    while edge < end or u < last:  # both lists rise: merge them
        if u == last or (edge < end and graphs.out_arms[edge] < graphs.universal[u]):
            targets[count] = graphs.out_arms[edge]
            edge += 1
            count += 1
        else:
            v = graphs.universal[u]
            u += 1
            if v != arm or graphs.loops[k * n + v]:
                targets[count] = v
                count += 1
    return count


@inlined()
def see(graphs, k, values, out):
    """out[i] = Σ of values over the arms that reveal i in graph k, each times how likely it does."""
    n = graphs.n_arms
    total = 0.0
    for i in range(n):
        total += values[i]
    for i in range(n):
        if graphs.everywhere[k * n + i]:
            out[i] = total if graphs.loops[k * n + i] else max(total - values[i], 0.0)
        else:
            seen = 0.0
            first, end = graphs.in_start[k * (n + 1) + i], graphs.in_start[k * (n + 1) + i + 1]
            if graphs.in_chance.size > 0:
                for edge in range(first, end):
                    seen += values[graphs.in_arms[edge]] * graphs.in_chance[edge]
            else:
                for edge in range(first, end):
                    seen += values[graphs.in_arms[edge]]
            out[i] = seen


@inlined()
def drop_failed(graphs, k, word, arm, targets, losses, count):
    """Write 0 for what `arm` fails to reveal in the round of this word: its estimate is 0 either way."""
    n = graphs.n_arms
    edge, end = graphs.out_start[k * (n + 1) + arm], graphs.out_start[k * (n + 1) + arm + 1]
    for index in range(count):
        while edge < end and graphs.out_arms[edge] < targets[index]:
            edge += 1
        # What is not in the row is revealed by everyone, and never fails.
        if edge < end and graphs.out_arms[edge] == targets[index]:
            unit = arm_unit(edge_word(word, arm), targets[index])
            losses[index] = losses[index] if unit < graphs.out_chance[edge] else 0.0
