"""Cells and results made up for tests: what is in them is known exactly."""

import numpy as np

from sidelight.experiment.results import Cell, Results
from sidelight.experiment.run import PlaysOver


def cell(policy="auto", final=(1.0, 2.0, 3.0), seeds=None, **changes):
    """Two checkpoints, 10 and 100, with the given final regret of each seed."""
    final = np.asarray(final)
    fields = {
        "id": policy,
        "graph": "cycle:4",
        "policy": policy,
        "environment": "gap",
        "horizon": 100,
        "seeds": np.arange(len(final)) if seeds is None else np.asarray(seeds),
        "checkpoints": np.array([10, 100]),
        "regret": np.column_stack([final / 2, final]),
        "cost": np.column_stack([final, final]),
        "ledger": None,
        "certificate": None,
        "plays": None,
        "bound": None,
        "nanoseconds_per_round": 100.0,
    }
    return Cell(**{**fields, **changes})


def curve_cell(
    policy="auto", horizon=10_000, seeds=4, exponent=0.5, scale=1.0, noise=0.1, arms=12, **changes
):
    """A cell whose regret is scale·t^exponent times one factor per seed, with ledger, plays and bound."""
    rng = np.random.default_rng(abs(hash_of(policy)))
    points = np.asarray(changes.get("checkpoints", np.unique(np.geomspace(1, horizon, 60).astype(np.int64))))
    regret = scale * points**exponent * rng.lognormal(0, noise, (seeds, 1))
    plays = changes.get("plays", rng.integers(1, 1000, arms))
    fields = {
        "id": f"{policy}-{horizon}",
        "horizon": horizon,
        "seeds": np.arange(seeds),
        "checkpoints": points,
        "regret": regret,
        "cost": regret,
        "ledger": regret[:, :, None] * np.array([0.5, 0.4, 0.3, -0.1]),
        "plays": plays,
        "plays_over": None if plays is None else PlaysOver(points, learnt_plays(points, plays)),
        "bound": bound(3 * scale * horizon**exponent),
    }
    return cell(policy, **{**fields, **changes})


def learnt_plays(rounds, plays):
    """(P, n) plays up to each round: all arms alike at first, `plays` in the end."""
    done = (rounds / rounds[-1])[:, None]
    shares = (1 - done**0.3) / plays.size + done**0.3 * plays / plays.sum()
    counts = np.rint(1000 * plays.sum() * done * shares).astype(np.int64)
    counts[-1] = plays
    return counts


def final_cell(horizon, policy="auto", exponent=2 / 3, factors=(1.0, 2.0, 3.0), **changes):
    """A cell whose final regret is horizon^exponent times one factor per seed."""
    return cell(policy, final=np.array(factors) * horizon**exponent, horizon=horizon, **changes)


def eight():
    """Eight policies whose curves end close to each other, one of them with a long name."""
    exponents = (0.5, 0.5, 0.5, 0.52, 0.6, 0.66, 0.66, 1.0)
    long = "a name that is far too long for any figure $x$"
    names = ("auto", "exp3g", "chlz21", "hedge", long, "f", "g", "h")
    return [
        curve_cell(name, horizon=10**7, exponent=e, seeds=8) for name, e in zip(names, exponents, strict=True)
    ]


def bound(value, certified=True, horizon=10_000):
    return {
        "value": value,
        "terms": {"all": value},
        "theorem": "made up",
        "conditions": [],
        "valid_from": 1,
        "informative_from": 1,
        "certified": certified,
        "informative": value < horizon,
    }


def hash_of(text):
    """The same number in every process, unlike `hash`."""
    return sum((k + 1) * ord(letter) for k, letter in enumerate(text))


def results(*cells, **fields):
    return Results(tuple(cells), **fields)
