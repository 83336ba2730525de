"""Environments by name, as commands and spec files write them: a word, then its arguments with defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sidelight._check import suggestion
from sidelight._types import Floats
from sidelight.environment import means
from sidelight.environment.base import Environment, checked_arms
from sidelight.environment.changing import online
from sidelight.environment.data import dataset
from sidelight.environment.function import own_environment
from sidelight.environment.hard import hard, hard_packing, packing
from sidelight.environment.markets import auction, posted_prices
from sidelight.environment.means import GAP
from sidelight.environment.tables import replay
from sidelight.errors import InvalidOption, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.graph.building import read_number

MOST_ROWS = 10_000
"""Rounds of a market that are drawn; they repeat after that."""


class Written(NamedTuple):
    """The arguments of an environment as they were written, and the game that it is for.

    What cannot be read raises ValueError in plain words; `parse` adds the text and how to write it.
    """

    words: list[str]
    graph: FeedbackGraph
    horizon: int

    def numbers(self, *defaults: float) -> list[float]:
        """The numbers that were given, then the defaults of those that were not."""
        if len(self.words) > len(defaults):
            raise ValueError(f"at most {len(defaults)} arguments, got {len(self.words)}")
        given = [read_number(word) for word in self.words]
        return given + list(defaults[len(given) :])

    def named(self, most: int) -> tuple[list[str], bool]:
        """One name or up to `most`, and whether the last word is "repeat"."""
        repeat = len(self.words) > 1 and self.words[-1] == "repeat"
        named = self.words[:-1] if repeat else self.words
        if not 1 <= len(named) <= most or not all(named):
            raise ValueError(f"1 to {most} names are needed, got {len(named)}")
        return named, repeat

    @property
    def middle(self) -> int:
        """The arm that is best unless the text says otherwise."""
        return self.graph.n_arms // 2

    def leading(self, gap: float, best: float) -> Floats:
        """Means ½, but for `best`, which is better by `gap`."""
        means = np.full(self.graph.n_arms, 0.5)
        means[checked_arms([whole(best)], self.graph.n_arms, "the best arm")] -= gap
        return means

    def turns(self) -> dict[str, Any]:
        """Period and gap as written, and no more challengers than get their turn before the horizon."""
        period, gap = self.numbers(max(1, self.horizon // 10), GAP)
        due = -(-self.horizon // max(3 * whole(period), 1)) + 1
        arms = means.turns(self.graph.n_arms, min(due, means.MOST_CHALLENGERS))
        return {"n_arms": self.graph.n_arms, "period": whole(period), "arms": arms, "gap": gap}


def whole(number: float) -> int:
    """A number that must be a whole one."""
    if not float(number).is_integer():
        raise ValueError(f"{number:g} must be a whole number")
    return int(number)


# -- how each is read -------------------------------------------------------------------------------------


def _bernoulli(written: Written) -> Environment:
    n, words = written.graph.n_arms, written.words
    if words and len(words) != n:
        raise ValueError(f"{len(words)} means for {n} arms")
    return means.bernoulli(written.numbers(*np.linspace(0.3, 0.7, n)))


def _gap(written: Written) -> Environment:
    return means.bernoulli(written.leading(*written.numbers(GAP, written.middle)))


def _bounded(written: Written) -> Environment:
    gap, width, best = written.numbers(GAP, 0.25, written.middle)
    return means.bounded(written.leading(gap, best), width)


def _opposed(written: Written) -> Environment:
    return means.opposed(written.leading(*written.numbers(GAP, written.middle)), written.graph)


def _hard(written: Written) -> Environment:
    return hard(written.graph, written.horizon, seed=whole(written.numbers(0)[0]))


def _packing(written: Written) -> Environment:
    from sidelight.analysis import packing_independent_set

    n, members = written.graph.n_arms, packing_independent_set(written.graph)
    if members.arms.size == 0:
        raise InvalidOption("every arm of this graph reveals itself, so no packing set exists; use hard")
    if written.words or members.arms.size == 1:
        return packing(n, members, gap=written.numbers(0.1)[0])
    return hard_packing(n, members, written.horizon)


def _auction(written: Written) -> Environment:
    (others,) = written.numbers(2)
    if whole(others) < 1:
        raise ValueError(f"at least one rival bids, got {others:g}")
    rng, rows = np.random.default_rng(0), min(written.horizon, MOST_ROWS)
    rivals = rng.random((rows, whole(others))).max(axis=1) / 2  # who value it at random and bid half of that
    return auction(rng.random(rows), rivals, np.linspace(0, 1, written.graph.n_arms), repeat=True)


def _posted_prices(written: Written) -> Environment:
    low, high = written.numbers(0, 1)
    if not 0 <= low <= high <= 1:
        raise ValueError(f"buyers pay up to a number between 0 ≤ LOW ≤ HIGH ≤ 1, got {low:g} and {high:g}")
    limits = low + (high - low) * np.random.default_rng(0).random(min(written.horizon, MOST_ROWS))
    n = written.graph.n_arms
    return posted_prices(limits, np.arange(1, n + 1) / n, repeat=True)


def _online(written: Written) -> Environment:
    share, gap, answers = written.numbers(0.5, GAP, 1.0)
    losses = means.bernoulli(written.leading(gap, written.middle))
    return online(written.graph, losses, share, answers=answers)


def _replay(written: Written) -> Environment:
    (path,), repeat = written.named(1)
    return replay(path, repeat=repeat, rounds=written.horizon)


def _dataset(written: Written) -> Environment:
    (name, *series), repeat = written.named(2)
    chosen = series[0] if series else None
    return dataset(name, series=chosen, orders=written.graph.n_arms, repeat=repeat).environment


def _python(written: Written) -> Environment:
    module, _, name = (written.words[0] if len(written.words) == 1 else "").rpartition(".")
    if not module:
        raise ValueError("it names no function of a module")
    return own_environment(module, name, written.graph, written.horizon)


READERS: dict[str, Callable[[Written], Environment]] = {
    "auction[:RIVALS]": _auction,
    "bernoulli[:MEAN,MEAN,...]": _bernoulli,
    "bounded[:GAP[,WIDTH[,ARM]]]": _bounded,
    "dataset:NAME[,SERIES][,repeat]": _dataset,
    "drifting[:PERIOD[,GAP]]": lambda written: means.drifting(**written.turns()),
    "gap[:GAP[,ARM]]": _gap,
    "hard[:SEED]": _hard,
    "online[:SHARE[,GAP[,ANSWERS]]]": _online,
    "opposed[:GAP[,ARM]]": _opposed,
    "packing[:GAP]": _packing,
    "posted_prices[:LOW[,HIGH]]": _posted_prices,
    "replay:PATH[,repeat]": _replay,
    "switching[:PERIOD[,GAP]]": lambda written: means.switching(**written.turns()),
    "python:MODULE.FUNCTION": _python,
}
"""How each environment is written, its name before the first [ or :, and what reads that."""

_USAGE = {usage.replace("[", ":").split(":")[0]: usage for usage in READERS}


def usages() -> tuple[str, ...]:
    """How to write each environment for `parse`, such as "gap[:GAP[,ARM]]"."""
    return (*READERS, "FILE.py:FUNCTION")


def parse(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from a short text: a name and its arguments in order, each with a default.

    >>> import sidelight as sl
    >>> parse("gap:0.3,2", sl.families.cycle(6), 1000).best_arm(1000)
    2
    """
    if not isinstance(spec, str):
        raise InvalidOption(f"an environment is written as text such as 'gap:0.2', got {spec!r}")
    if ".py:" in spec:
        file, _, what = spec.rpartition(":")
        environment = own_environment(file.strip(), what.strip(), graph, horizon)
    else:
        environment = _read(spec, graph, horizon)
    if environment.n_arms != graph.n_arms:
        raise InvalidOption(
            f"{spec!r} has {environment.n_arms} arms, the graph {graph.n_arms}; choose the graph that goes with it"
        )
    return environment


def _read(spec: str, graph: FeedbackGraph, horizon: int) -> Environment:
    name, _, rest = spec.partition(":")
    key = name.strip().lower().replace("-", "_")
    if key not in _USAGE:
        advice = suggestion(key, _USAGE, "environments", usages())
        raise InvalidOption(f"unknown environment {name!r} in {spec!r}; {advice}")
    words = [word.strip() for word in rest.split(",")] if rest.strip() else []
    try:
        return READERS[_USAGE[key]](Written(words, graph, horizon))
    except SidelightError:
        raise
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {_USAGE[key]}") from error
