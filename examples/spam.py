"""Deliver or block, when only what is delivered shows whether it was spam (apple tasting).

Mail of each sender is judged by a policy of its own. Delivering shows both losses: readers complain about spam.
Blocking shows nothing, so a policy that blocks must look again now and then. A spam costs 1, a lost letter 5.
Every decision is logged, and the log tells what a rule that was never tried would have cost.
"""

import tempfile
from pathlib import Path

import numpy as np

import sidelight as sl

GRAPH = sl.FeedbackGraph.from_edges(2, [(0, 0), (0, 1)], labels=["deliver", "block"])
SENDERS = {"shop.example": 0.6, "bank.example": 0.02, "win-now.example": 0.95, "news.example": 0.3}
LETTERS = 2_000
LOST, ANNOYED = 5.0, 1.0


def losses(spam: bool) -> dict[str, float]:
    """What each choice costs."""
    return {"deliver": ANNOYED if spam else 0.0, "block": 0.0 if spam else LOST}


def judged(name: str, rate: float, folder: Path) -> tuple[float, float, float, sl.Evaluation]:
    """Cost of a policy on this sender's mail, of the better choice, of blocking, and of that as the log tells it."""
    policy = sl.plan(GRAPH).policy(seed=1, losses=(0, LOST))
    spam = np.random.default_rng([1, len(name)]).random(LETTERS) < rate
    cost = 0.0
    with policy.log(folder / name):
        for letter in range(LETTERS):
            decision = policy.decide()
            costs = losses(spam[letter])
            cost += costs[decision.label]
            policy.observe(decision, {GRAPH.labels[j]: costs[GRAPH.labels[j]] for j in decision.reveals})
    blocked = LOST * (~spam).sum()
    return cost, min(ANNOYED * spam.sum(), blocked), blocked, sl.evaluate(sl.Log.read(folder / name), "block")


def main() -> None:
    """Judge the mail of all senders."""
    print(f"{'sender':<18}{'cost':>8}{'best':>8}   what blocking all would have cost")
    with tempfile.TemporaryDirectory() as folder:
        for name, rate in SENDERS.items():
            cost, best, blocked, found = judged(name, rate, Path(folder))
            low, high = LETTERS * found.low, LETTERS * found.high
            about = f"between {low:,.0f} and {high:,.0f} by the log, {blocked:,.0f} in truth"
            print(f"{name:<18}{cost:>8.0f}{best:>8.0f}   {about}")


if __name__ == "__main__":
    main()
