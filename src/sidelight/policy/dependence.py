"""Do graphs that are shown after playing depend on what was played? A test by betting, round by round.

If they do not, and arm k was revealed whose in-neighbours are S, then the arm A that was played is drawn from Z on S.
For every k there is an arm j of S to bet on: k itself, or the likeliest of S where k does not reveal itself. With
q = Z_j/Z(S) two gamblers bet that the odds of A = j are twice, or half, of what they should be: their wealth is
multiplied by

    (2 if A = j else 1)/(1 + q),        (1 if A = j else 2)/(2 − q),

whose expectation is 1, given the past and that k was revealed. So the mean wealth of all 2n is a martingale that
begins with 1, and by Ville's inequality it ever reaches 1000 with probability 1/1000 at most. Where reveals may
fail, Z_j counts with the probability of its edge. Silence proves nothing.
"""

from __future__ import annotations

from math import log

import numpy as np

from sidelight._types import Floats, Ints
from sidelight.graph import FeedbackGraph

ALARM = log(1000.0)
"""The log of the mean wealth at which graphs are said to depend on the choice."""

DOUBT = "the graphs that were shown after playing seem to depend on what was played"
"""What is said then."""


def first_wealth(n: int) -> Floats:
    """(2n + 1,) the logs of each gambler's wealth, and of the most that they ever had in the mean."""
    return np.zeros(2 * n + 1)


def bet(wealth: Floats, graph: FeedbackGraph, arm: int, revealed: Ints, Z: Floats, P: Floats) -> None:
    """One round: `arm` was drawn from Z, and revealed these arms, each of which is seen with probability P."""
    watched = [_watched(graph, k, Z) for k in revealed.tolist()]
    hit = np.array([j == arm for j, _ in watched], dtype=bool)
    share = np.minimum(np.array([chance for _, chance in watched]) / P[revealed], 1.0)
    n = wealth.size // 2
    wealth[revealed] += np.log(np.where(hit, 2.0, 1.0) / (1.0 + share))
    wealth[n + revealed] += np.log(np.where(hit, 1.0, 2.0) / (2.0 - share))
    wealth[-1] = max(wealth[-1], np.logaddexp.reduce(wealth[:-1]) - log(2 * n))


def _watched(graph: FeedbackGraph, k: int, Z: Floats) -> tuple[int, float]:
    """The arm that is bet on where k was revealed, and the probability that it was played and revealed k."""
    if graph.has_loop[k]:
        return k, float(Z[k]) * graph.probability(k, k)
    arms = graph.in_neighbors(k)
    chances = Z[arms] * (1.0 if graph.certain else [graph.probability(int(j), k) for j in arms])
    at = int(np.argmax(chances))
    return int(arms[at]), float(chances[at])
