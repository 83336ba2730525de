"""Which of twelve suppliers to order from, when only an inspection shows what was delivered, and costs money.

Playing an arm shows nothing; the loss of any arm can be bought, in any round. Playing and looking are two decisions,
so there is no feedback graph and no plan for it; the rule is a screen long (Seldin, Bartlett, Crammer &
Abbasi-Yadkori 2014, with the schedule of docs/theory/paying.md).
"""

from math import log, sqrt

import numpy as np

ORDERS, SUPPLIERS, PRICE = 20_000, 12, 0.02  # inspecting costs a fiftieth of a spoilt delivery


class PayToLook:
    """q ∝ exp(−L̂/β); arm h is looked at with probability p(h) = min{1, √(q(h)/(2β·c(h)))}, and then ℓ̂ = ℓ/p.

    E[regret + payments] ≤ 3.12·(log N)^{1/3}·(CT)^{2/3} + 2.13·√(T log N) + O(1), with C = √(Σ c(h)).
    """

    def __init__(self, costs, seed=0):
        self.costs = np.asarray(costs, dtype=float)  # (N,) of seeing each arm's loss, in units of loss; N ≥ 2
        self.height, self.total = log(self.costs.size), sqrt(self.costs.sum())
        self.sums, self.spent, self.rng = np.zeros(self.costs.size), 0.0, np.random.default_rng(seed)
        quartic = [2 * self.height, 0, 0, -sqrt(2) * self.total, -0.5]  # in √β: a first round that doubles β
        self.first = self.last = self.beta = float(max(x.real for x in np.roots(quartic) if x.imag == 0) ** 2)

    def ask(self):
        """The arm to play, and the arms to look at."""
        n = self.costs.size
        return self.rng.choice(n, p=self.probabilities), np.flatnonzero(self.rng.random(n) < self.looking)

    def tell(self, looks, losses):
        """The losses of the arms that were looked at, in [0, 1]."""
        price = self.price()
        self.sums[looks] += losses / self.looking[looks]
        self.sums -= self.sums.min()
        self.spent += self.costs[looks].sum()
        self.last, self.beta = self.beta, self.beta + price / (2 * self.height)

    @property
    def probabilities(self):
        """(N,) of being played."""
        weights = np.exp(-self.sums / self.beta)  # the least sum is 0
        return weights / weights.sum()

    @property
    def looking(self):
        """(N,) of being looked at; what costs nothing always is."""
        wanted = np.sqrt(self.probabilities / (2 * self.beta * np.where(self.costs > 0, self.costs, 1.0)))
        return np.where(self.costs > 0, np.minimum(wanted, 1.0), 1.0)

    def price(self):
        """Σ q/(2βp) + p·c: stability and payments of a round. Both are p·c where p < 1, so no 0 is divided by 0."""
        p, always = self.looking, self.probabilities / (2 * self.beta) + self.costs
        return np.where(p < 1, 2 * p * self.costs, always).sum()

    def certificate(self):
        """log N·(β_T + 2(β_{T+1} − β_1)): on average at least regret and payments so far."""
        return self.height * (self.last + 2 * (self.beta - self.first))

    def bound_at(self, t):
        """On expected regret and payments of t rounds together."""
        looking = (self.first**1.5 + 1.5 * self.total * t / (sqrt(2) * self.height)) ** (2 / 3)
        return self.height * (3 * looking + 3 * sqrt(t / (2 * self.height)) + self.first)


if __name__ == "__main__":
    rng, policy, spoilt = np.random.default_rng(1), PayToLook([PRICE] * SUPPLIERS, seed=1), 0.0
    deliveries = (rng.random((ORDERS, SUPPLIERS)) < rng.uniform(0.2, 0.6, SUPPLIERS)).astype(float)
    for delivery in deliveries:
        supplier, looks = policy.ask()
        spoilt += delivery[supplier]
        policy.tell(looks, delivery[looks])
    best, looked = deliveries.sum(axis=0).min(), policy.spent / PRICE / ORDERS
    print(f"spoilt: {spoilt:,.0f} of {ORDERS:,} deliveries; always from the best supplier: {best:,.0f}")
    print(f"regret {spoilt - best:,.0f}, and {policy.spent:,.0f} paid for {looked:.2f} looks an order")
    print(f"certified {policy.certificate():,.0f}, promised at most {policy.bound_at(ORDERS):,.0f}")
