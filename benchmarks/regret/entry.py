"""One game of the suite of regret, as its tables need it and as a line of a csv file."""

import csv
from dataclasses import dataclass, fields
from math import log

import numpy as np

from sidelight.experiment.run import rounding
from sidelight.experiment.statistics import growth_exponent
from sidelight.report.sentences import certificate_exceeded


@dataclass(frozen=True)
class Entry:
    """One policy on one graph in one environment."""

    graph: str
    kind: str  # of the graph: "weak" or "strong"
    environment: str
    horizon: int
    policy: str
    regret: float
    error: float  # standard error of that mean
    certified: bool  # a bound against every oblivious adversary, its conditions met at this T
    bound: float
    certificate: float  # mean over seeds
    exceeded: bool  # is mean regret above it, beyond noise?
    per_log: float  # regret added for each factor e of rounds, over the last decade
    late: float  # exponent of regret over that decade
    ns: float

    @classmethod
    def of(cls, cell, kind):
        """The numbers of a finished cell on a graph of that kind."""
        decade = int(np.argmin(np.abs(cell.checkpoints - cell.horizon / 10)))
        added = float(cell.mean[-1] - cell.mean[decade])
        if abs(added) <= float(rounding(cell.horizon, cell.cost[:, -1].max())):
            added = 0.0
        growth = growth_exponent(cell.checkpoints, cell.regret, resamples=1)
        return cls(
            graph=cell.graph,
            kind=kind,
            environment=cell.environment,
            horizon=cell.horizon,
            policy=cell.policy,
            regret=float(cell.mean[-1]),
            error=float(cell.standard_error[-1]),
            certified=cell.bound is not None and bool(cell.bound["certified"]),
            bound=np.nan if cell.bound is None else float(cell.bound["value"]),
            certificate=np.nan if cell.certificate is None else float(cell.certificate[:, -1].mean()),
            exceeded=certificate_exceeded(cell),
            per_log=added / log(cell.horizon / cell.checkpoints[decade]),
            late=np.nan if growth is None else growth.late,
            ns=cell.nanoseconds_per_round,
        )

    @property
    def game(self):
        """What policies are compared in."""
        return self.graph, self.environment, self.horizon


def write(path, entries):
    """One line for each game."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Entry)])
        writer.writeheader()
        writer.writerows({name: _text(value) for name, value in vars(entry).items()} for entry in entries)


def _text(value):
    return f"{value:.6g}" if isinstance(value, float) else value
