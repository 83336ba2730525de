"""The losses of an environment written out."""

import numpy as np


def table(environment, seed=0, rounds=4_000):
    arms = np.arange(environment.n_arms)
    return np.array([environment.losses(seed, t, arms) for t in range(rounds)])
