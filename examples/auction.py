"""What to bid where the highest bid wins and pays itself, and the winning bid is shown.

Whoever wins knows what every *higher* bid would have gained: the same thing, for more money. Whoever loses sees the
winning bid, and so knows what every bid would have gained. Who reveals whom is thus known only when the auction is
over, and told with the answer: `observe(…, graph=…)`.
"""

from functools import cache

import numpy as np

import sidelight as sl

BIDS = range(0, 52, 4)
AUCTIONS = 4_000
VALUE = 50.0  # of the thing, to us


def gain(bid: int, rival: float) -> float:
    """What this bid gains if the best of the others bids so much; ties are lost."""
    return VALUE - bid if bid > rival else 0.0


@cache
def reveals(losing: int) -> sl.FeedbackGraph:
    """Who reveals whom if so many of our bids lose: these show everything, the others only what is as high."""
    n = len(BIDS)
    edges = [(i, j) for i in range(n) for j in range(n) if j >= i or i < losing]
    return sl.FeedbackGraph.from_edges(n, edges, labels=[f"bid {bid}" for bid in BIDS])


def main() -> None:
    """Bid in every auction, and look back at the end."""
    graph = reveals(0)  # what can be relied on, and all that a winner can tell: as sl.families.auction
    policy = sl.plan(graph).policy(seed=1, rewards=(0, VALUE))

    rivals = np.random.default_rng(1).gamma(6.0, 3.5, size=AUCTIONS)
    gained, learnt = 0.0, 0
    for rival in rivals.tolist():
        decision = policy.decide()
        won = BIDS[decision.arm] > rival
        shown = graph if won else reveals(sum(bid <= rival for bid in BIDS))
        told = {int(j): gain(BIDS[j], rival) for j in shown.out_neighbors(decision.arm)}
        policy.observe(decision, told, graph=shown)
        gained += told[decision.arm]
        learnt += len(told)

    fixed = [sum(gain(bid, rival) for rival in rivals.tolist()) for bid in BIDS]
    best = int(np.argmax(fixed))
    print(
        f"gained {gained:,.0f} in {AUCTIONS:,} auctions; one told {learnt / AUCTIONS:.1f} of {len(BIDS)} gains"
    )
    print(f"{graph.labels[best]} every time would have gained {fixed[best]:,.0f}")
    print(f"regret {fixed[best] - gained:,.0f}, certified {policy.certificate().value:,.0f}")
    print(f"next {graph.labels[best]} with probability {policy.probabilities[best]:.2f}")


if __name__ == "__main__":
    main()
