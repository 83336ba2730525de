"""`learn` where a play reveals a run of slots: every arm, every other arm, or its own block but itself."""

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.exponential import SMALL, TINY, exp_bounded, exp_nonpositive, small_exp, tiny_exp
from sidelight.engine.fields import EVERYTHING
from sidelight.engine.round.indexing import block_of, group_of, slots_of
from sidelight.engine.round.learn_single import LARGEST_ESTIMATE, estimate_of
from sidelight.engine.round.probabilities import block_value
from sidelight.engine.round.settle import settle_top
from sidelight.engine.simplex.point import accept_weights, refill_weights
from sidelight.engine.simplex.store import group

PIECE = 1024
"""Arms that are updated at a time where everything is revealed: sums of pieces are rounded less than one of all."""


@internal()
def learn_all(machine, state, store, losses, rest):
    """`learn` on a clique of singletons under one entropy, with loops or without: everything moves, in one pass.

    Weights are multiplied instead of written afresh from their sums: for small steps that takes a third of the
    time. An arm with more than half of the probability is rarely seen by others and takes large steps; there is
    at most one, and it is kept out of the pass. Every 256 rounds, and where other steps may be large too, all
    weights are written afresh, so rounding cannot pile up.
    """
    noinline()
    # Chosen when all weights were last written afresh; any other choice would be correct too, only slower.
    dominant = int(state.dominant)
    own = group(store, 0)
    largest = largest_step(machine, state, store, dominant, rest)
    # An estimate and a weight of 0 let the pass treat it like any other arm, without a branch.
    amount, weight = losses[dominant] - state.shift, store.weight[dominant]
    losses[dominant] = state.shift
    store.weight[dominant] = 0.0
    total = 0.0
    for first in range(0, machine.n_arms, PIECE):
        size = min(machine.n_arms - first, PIECE)
        total += add_to_piece(machine, state, store, offset(losses, first), first, size, rest, largest)
    if amount != 0.0:
        share, fixed = unseen(machine, store, rest)
        estimate = estimate_of(amount, 1.0 - share * weight - fixed)
        state.top_paid += weight * own.factor * estimate
        store.key[dominant] += own.rate * estimate
        # Its step may be large, so from its sum and with the full exponential.
        weight = exp_bounded(own.base - store.key[dominant])
    store.weight[dominant] = weight
    own.total = total + weight
    # Beyond SMALL the short polynomial was inaccurate: the weights just multiplied are discarded. The sums
    # are right in any case.
    state.grown += state.shift * largest
    if largest > SMALL or int(state.round) & 255 == 0:
        refill_weights(store, 0)
        state.grown = 0.0
        state.dominant = largest_weight(store, machine.n_arms)
    accept_weights(store, 0)


@inlined()
def largest_step(machine, state, store, dominant, rest):
    """A bound on what a round can add to any sum but the dominant arm's.

    No weight is greater than 1 when all are written afresh, or grows faster than steps of −c/P allow; nor is any
    other than the dominant one greater than what that one leaves of the total.
    """
    # One bound for all arms lets the loop choose its exponential once instead of arm by arm.
    most = min(exp_bounded(state.grown), group(store, 0).total - store.weight[dominant])
    share, fixed = unseen(machine, store, rest)
    return group(store, 0).rate / max(1.0 - (share * most + fixed), 1.0 / LARGEST_ESTIMATE)


@inlined()
def unseen(machine, store, rest):
    """(share, fixed): an arm is not seen with probability share · weight + fixed, that of being played itself."""
    if machine.shape == EVERYTHING:
        return 0.0, 0.0
    # In a clique without loops an arm is seen unless it is played itself: P = 1 − Z.
    return rest * group(store, 0).factor, machine.fixed[0] if machine.n_fixed > 0 else 0.0  # the same for all


@inlined()
def largest_weight(store, n):
    """The coordinate with the largest weight."""
    best = 0
    for i in range(n):
        if store.weight[i] > store.weight[best]:
            best = i
    return best


@loop(fastmath={"contract", "reassoc", "nsz"})
def add_to_piece(machine, state, store, losses, first, size, rest, largest):
    """Add the estimates of a run of arms to their sums, multiply their weights; return the total of those.

    Which exponential does depends on the `largest` step; where none does, the weights are to be written afresh.
    """
    # Five terms of the exponential are enough where steps are tiny, as with the rates of long games.
    tiny = largest <= TINY
    factor, rate, shift = group(store, 0).factor, group(store, 0).rate, state.shift
    share, fixed = unseen(machine, store, rest)
    keys, weights = offset(store.key, first), offset(store.weight, first)
    paid = total = 0.0
    for i in range(size):
        weight = weights[i]
        seen = 1.0 - (share * weight + fixed)
        # `largest` ≤ TINY bounds P from below, so no cap is needed here.
        if tiny:
            x = rate * (losses[i] - shift) / seen
            shrunk = weight * tiny_exp(-x)
        else:
            x = (
                rate
                * (losses[i] - shift)
                / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
            )
            shrunk = weight * small_exp(-x)
        keys[i] += x
        paid += weight * x
        weights[i] = shrunk
        total += shrunk
    # ⟨X, ℓ̃⟩ with the point before the step: X = factor·weight, and x = rate·ℓ̃.
    state.top_paid += paid * (factor / rate)
    return total


@internal()
def learn_block(machine, state, store, slot, losses, rest):
    """`learn` where every block is a loop-less clique under the entropy: one pass over the block."""
    noinline()
    k = block_of(machine, slot)
    g = group_of(machine, k, slot)
    run = slots_of(machine, k)
    y = block_value(machine, store, k)
    # The probability of playing anything in the clique; an arm is seen if any other is played: P = whole − Z.
    whole = rest * y
    if machine.n_fixed > 0:
        whole += group(store, g).held
    loss = add_to_block(machine, state, store, g, run.start, run.stop, losses, rest * y, whole)
    # If nothing was lost, the same weights have been written again and the point stays as it is.
    if loss > 0.0:
        accept_weights(store, g)
        settle_top(machine, state, store, k, y, loss)


@loop(fastmath={"contract", "reassoc", "nsz"})
def add_to_block(machine, state, store, g, first, end, losses, y, whole):
    """Add the estimates of a clique to their sums, write its weights and their total; return Σ X̃·ℓ̂, its loss."""
    own = group(store, g)
    factor, share, rate = own.factor, own.share, own.rate
    base = own.base
    keys, weights, local, fixed = store.key, store.weight, machine.local, machine.fixed
    any_local, any_fixed, coordinate = machine.any_local, machine.n_fixed > 0, machine.n_blocks + first
    block_loss = paid = total = 0.0
    for i in range(end - first):
        c = coordinate + i
        inside = weights[c] * factor
        mixed = share * inside
        if any_local:
            mixed += local[first + i]
        seen = whole - y * mixed
        if any_fixed:
            seen -= fixed[first + i]
        # Zero losses are not skipped: a branch would keep the loop from vectorising, and blocks are small.
        estimate = losses[i] / (seen if seen > 1.0 / LARGEST_ESTIMATE else 1.0 / LARGEST_ESTIMATE)
        # The block is charged with what it plays, X̃; the regret inside it is measured with X.
        block_loss += mixed * estimate
        paid += inside * estimate
        after = keys[c] + rate * estimate
        keys[c] = after
        weight = exp_nonpositive(base - after)
        weights[c] = weight
        total += weight
    own.paid += paid
    own.total = total
    return block_loss
