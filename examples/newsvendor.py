"""How many to order, when demand is seen only as far as the stock reaches.

Every morning a kiosk orders papers, and throws away what is left in the evening. Sales of an order tell what every
*smaller* order would have sold, but who came after the last paper was gone, nobody knows: an order reveals its own
profit and those of all smaller ones.
"""

import numpy as np

import sidelight as sl

PRICE, COST = 3.0, 1.0
ORDERS = range(0, 65, 5)
DAYS = 3_000
RANGE = (-COST * ORDERS[-1], (PRICE - COST) * ORDERS[-1])  # of a day's profit


def profit(order: int, demand: float) -> float:
    """What is earned with this order if so many customers come."""
    return PRICE * min(order, demand) - COST * order


def main() -> None:
    """Order every day, and look back at the end."""
    edges = [(i, j) for i in range(len(ORDERS)) for j in range(i + 1)]
    graph = sl.FeedbackGraph.from_edges(len(ORDERS), edges, labels=[f"order {q}" for q in ORDERS])
    policy = sl.plan(graph, horizon=DAYS).policy(seed=1, rewards=RANGE)

    demand = np.random.default_rng(1).poisson(28, size=DAYS)  # nobody knows this in advance
    earned = 0.0
    for day in range(DAYS):
        decision = policy.decide()
        sold = min(ORDERS[decision.arm], demand[day])  # all that the kiosk sees of the demand
        policy.observe(decision, {int(j): profit(ORDERS[j], sold) for j in decision.reveals})
        earned += profit(ORDERS[decision.arm], sold)

    fixed = [sum(profit(q, d) for d in demand.tolist()) for q in ORDERS]  # with all that was never seen
    best = int(np.argmax(fixed))
    favourite = int(np.argmax(policy.probabilities))
    print(f"earned {earned:,.0f} in {DAYS:,} days")
    print(f"{graph.labels[best]} on every day would have earned {fixed[best]:,.0f}")
    certified, promised = policy.certificate().value, policy.bound_at(DAYS)
    print(f"regret {fixed[best] - earned:,.0f}, certified {certified:,.0f}, promised {promised:,.0f}")
    print(f"tomorrow {graph.labels[favourite]} with probability {policy.probabilities[favourite]:.2f}")


if __name__ == "__main__":
    main()
