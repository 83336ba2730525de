"""What to bid where the highest bid wins and pays itself, and the winning bid is shown.

Whoever wins knows what every *higher* bid would have gained: the same thing, for more money. Whoever loses sees the
winning bid, and so knows everything, but what can be relied on is only the former.
"""

import numpy as np

import sidelight as sl

BIDS = range(0, 52, 4)
AUCTIONS = 4_000
VALUE = 50.0  # of the thing, to us


def gain(bid: int, rival: float) -> float:
    """What this bid gains if the best of the others bids so much; ties are lost."""
    return VALUE - bid if bid > rival else 0.0


def main() -> None:
    """Bid in every auction, and look back at the end."""
    edges = [(i, j) for i in range(len(BIDS)) for j in range(i, len(BIDS))]  # as sl.families.auction
    graph = sl.FeedbackGraph.from_edges(len(BIDS), edges, labels=[f"bid {bid}" for bid in BIDS])
    policy = sl.plan(graph, horizon=AUCTIONS).policy(seed=1, rewards=(0, VALUE))

    rivals = np.random.default_rng(1).gamma(6.0, 3.5, size=AUCTIONS)
    gained = 0.0
    for auction in range(AUCTIONS):
        decision = policy.decide()
        policy.observe(decision, {int(j): gain(BIDS[j], rivals[auction]) for j in decision.reveals})
        gained += gain(BIDS[decision.arm], rivals[auction])

    fixed = [sum(gain(bid, rival) for rival in rivals.tolist()) for bid in BIDS]
    best = int(np.argmax(fixed))
    print(f"gained {gained:,.0f} in {AUCTIONS:,} auctions")
    print(f"{graph.labels[best]} every time would have gained {fixed[best]:,.0f}")
    certified, promised = policy.certificate().value, policy.bound_at(AUCTIONS)
    print(f"regret {fixed[best] - gained:,.0f}, certified {certified:,.0f}, promised {promised:,.0f}")
    print(f"next {graph.labels[best]} with probability {policy.probabilities[best]:.2f}")


if __name__ == "__main__":
    main()
