"""`learn` for loop-less cliques under the entropy."""

from sidelight.engine._numba.jit import internal, loop, noinline
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.round.indexing import (
    block_of,
    end_slot,
    first_slot,
    group_of,
)
from sidelight.engine.round.learn_single import LARGEST_ESTIMATE
from sidelight.engine.round.probabilities import block_value
from sidelight.engine.round.settle import settle_top
from sidelight.engine.simplex.store import BASE, FACTOR, HELD, PAID, RATE, SHARE, TOTAL, head
from sidelight.engine.simplex.weights import accept_weights


@internal()
def learn_block(machine, state, store, slot, losses, rest):
    """`learn` where every block is a loop-less clique under the entropy: one pass over the block."""
    noinline()
    k = block_of(machine, slot)
    g = group_of(machine, k, slot)
    first, end = first_slot(machine, k), end_slot(machine, k)
    y = block_value(machine, store, k)
    # The probability of playing anything in the clique; an arm is seen if any other is played: P = whole − Z.
    whole = rest * y
    if machine.n_fixed > 0:
        whole += store.scalars[head(g) + HELD]
    loss = add_to_block(machine, state, store, g, first, end, losses, rest * y, whole)
    # If nothing was lost, the same weights have been written again and the point stays as it is.
    if loss > 0.0:
        accept_weights(store, g)
        settle_top(machine, state, store, k, y, loss)


@loop(fastmath={"contract", "reassoc", "nsz"})
def add_to_block(machine, state, store, g, first, end, losses, y, whole):
    """Add the estimates of a clique to their sums, write its weights and their total; return Σ X̃·ℓ̂, its loss."""
    at = head(g)
    factor, share, rate = store.scalars[at + FACTOR], store.scalars[at + SHARE], store.scalars[at + RATE]
    base = store.scalars[at + BASE]
    keys, weights, local, fixed = store.key, store.weight, machine.local, machine.fixed
    any_local, any_fixed, coordinate = machine.any_local, machine.n_fixed > 0, machine.n_blocks + first
    # Where all blocks explore alike, the first block's numbers do for all and stay in the cache.
    alike = 0 if machine.even else first
    block_loss = paid = total = 0.0
    for i in range(end - first):
        c = coordinate + i
        inside = weights[c] * factor
        mixed = share * inside
        if any_local:
            mixed += local[alike + i]
        seen = whole - y * mixed
        if any_fixed:
            seen -= fixed[alike + i]
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
    store.scalars[at + PAID] += paid
    store.scalars[at + TOTAL] = total
    return block_loss
