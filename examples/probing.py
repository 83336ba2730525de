"""Which relay answers quickest, when a relay measures only its neighbours, and measurements come late or never.

Requests go through one of eleven relays. It notices how long its neighbours in the network take to answer, so a
request tells the delays of the neighbours of its relay, not the relay's own. Reports arrive up to forty requests
later; one in fifty is lost, and given up after a while.
"""

import numpy as np

import sidelight as sl

LINKS = """Seattle Sunnyvale, Seattle Denver, Sunnyvale Los_Angeles, Sunnyvale Denver, Los_Angeles Houston,
Denver Kansas_City, Kansas_City Houston, Kansas_City Indianapolis, Houston Atlanta, Indianapolis Chicago,
Indianapolis Atlanta, Chicago New_York, Atlanta Washington, New_York Washington"""
REQUESTS, PATIENCE, LONGEST = 10_000, 60, 200.0  # milliseconds; what takes longer is cut off


def main() -> None:
    """Send requests while reports of earlier ones are still on their way."""
    links = [link.split() for link in LINKS.replace("\n", " ").split(", ")]
    cities = sorted({city for link in links for city in link})
    ends = [(cities.index(a), cities.index(b)) for a, b in links]
    graph = sl.FeedbackGraph.from_edges(len(cities), [*ends, *((b, a) for a, b in ends)], labels=cities)
    policy = sl.plan(graph).policy(seed=1, losses=(0, LONGEST))

    rng = np.random.default_rng(1)
    means = rng.uniform(30, 110, size=len(cities))
    delays = np.minimum(
        rng.gamma(4.0, means / 4.0, size=(REQUESTS, len(cities))), LONGEST
    )  # seen nowhere as a whole
    spent, reports = 0.0, {}
    for now in range(REQUESTS):
        decision = policy.decide()
        spent += delays[now, decision.arm]
        if rng.random() > 0.02:
            reports.setdefault(now + int(rng.integers(1, 40)), []).append(decision)
        for answered in reports.pop(now, []):
            told = {cities[j]: delays[answered.round - 1, j] for j in answered.reveals}
            policy.observe(answered, told)
        for lost in policy.open[:1]:  # the oldest first
            if lost.round <= now - PATIENCE:
                policy.cancel(lost)

    fixed = delays.sum(axis=0)
    best, certificate = int(fixed.argmin()), policy.certificate()
    per_request = (spent - fixed[best]) / REQUESTS
    print(f"{spent / REQUESTS:.1f} ms a request; always {cities[best]}: {fixed[best] / REQUESTS:.1f} ms")
    print(f"regret {per_request:.1f} ms a request, certified {certificate.value / REQUESTS:.1f} ms")
    lost = certificate.terms["unanswered"] / REQUESTS
    print(f"{policy.unanswered} reports lost or on their way: {lost:.1f} ms of that")
    print(f"now {cities[best]} is used with probability {policy.probabilities[best]:.2f}")


if __name__ == "__main__":
    main()
