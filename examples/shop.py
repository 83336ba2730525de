"""Which price to show in a shop on the web, against a running service, with answers that come late or never.

Who finds a price too high leaves an alert: "tell me when it is below …". So everybody either buys, and would have
bought at every lower price, or says at which price they would have: a price reveals what all *lower* ones would have
earned. Answers come up to two hundred visitors later, and one visitor in thirty, at any price, gives none: the shop
knows of half of these and cancels; the others it leaves to the service, which gives them up after an hour.

`python examples/shop.py` starts a service of its own; `python examples/shop.py URL TOKEN` plays against one that runs
(docs/service.md), where it makes a policy "shop" and removes it in the end.
"""

import json
import subprocess
import sys
import tempfile

import numpy as np

import sidelight as sl
from sidelight.client import Client

PRICES = range(5, 45, 5)
VISITORS, AT_ONCE, LATEST = 4_000, 40, 200


def serve(client: Client) -> None:
    """Four thousand visitors, and what was learnt from them."""
    rng = np.random.default_rng(3)
    worth = rng.lognormal(3.0, 0.4, VISITORS)  # of the print to each visitor, in euros
    revenue = np.array([np.where(worth >= price, float(price), 0.0) for price in PRICES])
    comes_at = np.arange(VISITORS) + rng.integers(1, LATEST, VISITORS)
    silent = rng.random(VISITORS) < 1 / 30

    edges = [(i, j) for i in range(len(PRICES)) for j in range(i + 1)]
    graph = sl.FeedbackGraph.from_edges(len(PRICES), edges, labels=[f"{price} euros" for price in PRICES])
    shop = client.create("shop", graph, rewards=(0, 40), seed=1, expires=3600)
    waiting, earned = {}, 0.0
    for first in range(0, VISITORS + LATEST, AT_ONCE):
        here = range(first, min(first + AT_ONCE, VISITORS))
        made = shop.decide(count=len(here), key=f"visitors-{first}") if here else []
        for visitor, decision in zip(here, made, strict=True):
            earned += revenue[decision.arm, visitor]
            if not silent[visitor]:
                waiting[visitor] = decision
            elif visitor % 2:
                shop.cancel(decision)  # known to be lost
        come = [visitor for visitor in waiting if comes_at[visitor] < first + AT_ONCE]
        answered = [(waiting.pop(visitor), revenue[:, visitor]) for visitor in come]
        shop.observe_all((decision, {j: all_[j] for j in decision.reveals}) for decision, all_ in answered)

    found, totals = shop.show(), revenue.sum(axis=1)
    best, certified = int(totals.argmax()), found["certificate"]
    lost, label = certified["terms"]["unanswered"], graph.labels[best]
    print(f"earned {earned:,.0f} from {VISITORS:,} visitors, {totals[best]:,.0f} if all saw {label}")
    print(f"{found['cancelled']} decisions were cancelled, {found['open']} are open and will expire")
    print(f"regret {totals[best] - earned:,.0f}, certified {certified['value']:,.0f}, {lost:,.0f} for these")
    print(f"{label} next, with probability {found['probabilities'][best]:.2f}")
    print(sl.evaluate(shop.log(), {name: name for name in graph.labels[best - 1 : best + 2]}))
    shop.remove()


def main() -> None:
    """Against the service that is named, or one of its own."""
    if len(sys.argv) == 3:
        with Client(*sys.argv[1:]) as client:
            return serve(client)
    command = [sys.executable, "-m", "sidelight", "serve", "--port", "0", "--json", "--store"]
    with tempfile.TemporaryDirectory() as folder:
        command.append(f"sqlite:///{folder}/shop.sqlite")
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            try:
                told = json.loads(process.stdout.readline())  # said when it is ready
                with Client(told["address"], told["admin_token"]) as client:
                    return serve(client)
            finally:
                process.terminate()


if __name__ == "__main__":
    main()
