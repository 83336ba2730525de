"""What plans promise, in short games played to the end: exact expectations over all arms that may be drawn, and
over all reveals that may fail.

Played by the engine's twin, from the numbers of the plans that `plan` makes.
"""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from lazy_twin import LazyTwin

import sidelight as sl

GAMES = {
    "bandit": sl.families.mab(2),
    "full": sl.families.full(2),
    "strangers": sl.families.loopless_clique(2),
    "one tells": sl.FeedbackGraph.from_edges(2, [(0, 0), (0, 1)]),
    "directed cycle": sl.families.cycle(3, directed=True),
    "one corrupted": sl.families.corrupted_mab(3, 1),
    "loops and a stranger": sl.FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (0, 2), (1, 2)]),
    "lossy bandit": sl.FeedbackGraph.from_edges(2, [(0, 0), (1, 1)], probabilities=[0.4, 1]),
    "lossy strangers": sl.families.faulty(sl.families.loopless_clique(2), 0.5),
    "lossy cycle": sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0)], probabilities=[0.3, 1, 0.8]),
}
ROUNDS = 3


def followed(game, losses, bound, t=0):
    """(E loss, E certificate) of the rest of a game; the certificate is below the bound on every branch."""
    if t == len(losses):
        assert game.cert <= bound + 1e-9
        return 0.0, game.cert
    loss, certificate = float(game.Z @ losses[t]), 0.0
    for arm in np.flatnonzero(game.Z):
        for chance, told in outcomes(game.A[arm], losses[t]):
            branch = deepcopy(game)
            branch.learn(int(arm), told)
            more = followed(branch, losses, bound, t + 1)
            loss += chance * game.Z[arm] * more[0]
            certificate += chance * game.Z[arm] * more[1]
    return loss, certificate


def outcomes(r, losses):
    """(probability, losses with NaN for reveals that failed) of all that a play may reveal, with probabilities r."""
    unsure = np.flatnonzero((r > 0) & (r < 1))
    for works in product((True, False), repeat=unsure.size):
        told = losses.copy()
        told[unsure[~np.array(works, dtype=bool)]] = np.nan
        yield float(np.where(works, r[unsure], 1 - r[unsure]).prod()), told


@pytest.mark.parametrize("horizon", [None, ROUNDS])
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("s", [None, 1.0])
def test_regret_certificate_and_bound_are_in_order(name, horizon, s):
    g = GAMES[name]
    made = sl.plan(g, horizon, realization="self-tuning", order=s)
    bound = made.bound_at(ROUNDS).value
    all_losses = [
        np.array(bits).reshape(ROUNDS, -1) for bits in product((0.0, 1.0), repeat=ROUNDS * g.n_arms)
    ]
    if g.n_arms > 2 or not g.certain:
        all_losses = [all_losses[k] for k in np.random.default_rng(7).permutation(len(all_losses))[:8]]
    for losses in all_losses:
        loss, certificate = followed(LazyTwin(g, made.tuning, pause=1), losses, bound)
        assert loss - losses.sum(axis=0).min() <= certificate + 1e-9
