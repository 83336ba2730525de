"""Which price to ask, when offers below it are never heard of.

A gallery sells a print a day to the best offer, if that reaches the asking price; the buyer then pays the asking
price, or the second offer if that is higher. Offers that reach the price are seen, so it is known what every *higher*
price would have earned. What a lower one would have earned is not: who could not pay never called.
"""

import numpy as np

import sidelight as sl

PRICES = range(10, 105, 5)
DAYS = 5_000


def revenue(price: int, offers: np.ndarray) -> float:
    """What is earned at this price, of which only offers that reach it matter."""
    reached = np.sort(offers[offers >= price])[::-1]
    return 0.0 if reached.size == 0 else float(max(price, reached[1] if reached.size > 1 else price))


def main() -> None:
    """Ask a price every day, and look back at the end."""
    graph = sl.FeedbackGraph.from_edges(
        len(PRICES),
        [(i, j) for i in range(len(PRICES)) for j in range(i, len(PRICES))],  # as sl.families.pricing
        labels=[f"ask {price}" for price in PRICES],
    )
    policy = sl.plan(graph, horizon=DAYS).policy(seed=1, rewards=(0, 100))

    rng = np.random.default_rng(1)
    offers = [np.minimum(rng.lognormal(4.0, 0.3, size=rng.poisson(1.2)), 100.0) for _ in range(DAYS)]
    earned = 0.0
    for day in range(DAYS):
        decision = policy.decide()
        heard = offers[day][offers[day] >= PRICES[decision.arm]]  # nobody else calls
        policy.observe(decision, {int(j): revenue(PRICES[j], heard) for j in decision.reveals})
        earned += revenue(PRICES[decision.arm], heard)

    fixed = [sum(revenue(price, each) for each in offers) for price in PRICES]
    best = int(np.argmax(fixed))
    print(f"earned {earned:,.0f} in {DAYS:,} days")
    print(f"{graph.labels[best]} on every day would have earned {fixed[best]:,.0f}")
    certified, promised = policy.certificate().value, policy.bound_at(DAYS)
    print(f"regret {fixed[best] - earned:,.0f}, certified {certified:,.0f}, promised {promised:,.0f}")
    print(f"tomorrow {graph.labels[best]} with probability {policy.probabilities[best]:.2f}")


if __name__ == "__main__":
    main()
