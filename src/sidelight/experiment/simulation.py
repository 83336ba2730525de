"""Compiled simulation of many seeds, with checkpoints, progress and a clean stop."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_horizon, checked_jobs, checked_seeds
from sidelight._progress import Progress
from sidelight._types import Longs
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.environment import Environment
from sidelight.environment import names as environments
from sidelight.environment.base import environment_key
from sidelight.errors import InvalidOption, PastHorizon
from sidelight.experiment.delays import Delays
from sidelight.experiment.run import LEDGER, PlaysOver, Run, kept_at, regret_of
from sidelight.graph.names import GivenGraph, graph_of, named
from sidelight.planning.bounds.bound import NOTHING, Happened
from sidelight.policy.own import TURNS, Make, check_several, guarded, is_own, playable, ready_for_changes
from sidelight.policy.player import Playable, Player
from sidelight.policy.policy import Policy

if TYPE_CHECKING:
    from sidelight.engine.calendar import Calendar
    from sidelight.graph import FeedbackGraph

_Value = TypeVar("_Value")

CHUNK_SECONDS = 0.1
"""How long one call into the compiled loop takes: the delay of an interrupt."""
SILENT_SECONDS = 3.0
"""No progress bar for what is over sooner."""
MOST_COUNTED_ARMS = 100_000


def simulate(
    plan: Playable | Player | Make,
    environment: Environment | str,
    seeds: int | Iterable[int] = (0,),
    horizon: int | None = None,
    *,
    graph: GivenGraph | None = None,
    delay: int | tuple[str, float] | npt.ArrayLike = 0,
    checkpoints: Iterable[int] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Run:
    """Play `plan` against `environment` once per seed and record its regret.

    The same seed gives the same arms as an `ask`/`tell` loop over `environment.losses(seed, t, arms)`, or over
    `environment.heard(seed, t, graph, arm)` where reveals may fail, on any number of cores. Given a policy instead
    of a plan, every run starts from a copy of it as it is, with its random stream replaced by the seed's.

    Args:
        plan: what to play: a plan, a baseline, a policy of either, or a player of your own: a class or function of
            (graph, horizon, seed), or something that has `graph`, `copy`, and `ask` and `tell` or `decide` and
            `observe` (see `sidelight.testing`). These are played from Python.
        environment: where losses come from, made by `sidelight.environments` or as text such as "gap:0.2"; compiled
            environments run at full speed, a plain Python callable round by round.
        seeds: how many (0, 1, …), or which; one run each, whose player and losses are independent streams of its
            seed.
        horizon: rounds to play, the plan's own by default.
        graph: what a class or function of your own plays on; plans and policies have theirs.
        delay: how many more decisions are made before the losses of one are heard of: one number for all, one for
            each round, or ("geometric", mean) for delays that are drawn independently of everything else. Players of
            your own need `decide` and `observe` for it.
        checkpoints: rounds at which regret is recorded, about 80 on a logarithmic scale by default.
        jobs: threads, all cores by default.
        progress: show a progress bar; by default only for long simulations at a terminal.

    Interrupting (ctrl-C) returns what is done; `Run.resume()` continues.

    >>> import sidelight as sl
    >>> plan = sl.plan("cycle:6", horizon=10_000)
    >>> run = sl.simulate(plan, "gap:0.2", seeds=4)
    >>> run.regret.shape[0], run.complete
    (4, True)
    """
    policy = _player(plan, graph, horizon)
    own = policy.plan.horizon if isinstance(policy, Policy) else None
    wanted: int | None = own if horizon is None else checked_horizon(horizon)
    if wanted is None:
        raise InvalidOption("this plan has no horizon of its own: say how many rounds to play, horizon=")
    rounds = wanted
    name = environment if isinstance(environment, str) else getattr(environment, "name", "")
    if isinstance(environment, str):
        environment = environments.parse(environment, policy.graph, rounds)
    if not isinstance(environment, Environment):
        raise InvalidOption(
            "environment must be made by sidelight.environments, or a text such as 'gap:0.2', got"
            f" {type(environment).__name__}; wrap a function with environments.function(loss, n_arms)"
        )
    if environment.n_arms != policy.graph.n_arms:
        raise InvalidOption(
            f"the environment has {environment.n_arms} arms, the graph {policy.graph.n_arms}; they must agree"
        )
    changes = environment.changes
    if changes is not None:
        policy = ready_for_changes(policy)
    if policy.pending is not None:
        raise InvalidOption(
            f"arm {named(policy.graph, policy.pending)} is pending: tell what it revealed before simulating"
        )
    if isinstance(policy, Policy):
        limit, last = policy._game.limit, policy.round + rounds
        if last > limit:
            warnings.warn(
                f"the plan is for {int(limit):,} rounds and plays {last:,}: its bound says nothing of the last ones",
                PastHorizon,
                stacklevel=_to_caller(),
            )
    environment.check_horizon(rounds)
    delays = Delays.checked(delay, rounds)
    if delays.any:
        check_several(policy)
    points = _checked_points(checkpoints, rounds)
    chosen = checked_seeds(seeds)
    best_arms = _per_seed(environment, chosen, lambda seed: environment.best_arm(rounds, seed))
    counted = policy.graph.n_arms if policy.graph.n_arms <= MOST_COUNTED_ARMS else 0
    over = kept_at(points.size, len(chosen), counted)
    tasks = [
        _Task(policy, environment, seed, points, best_arm, delays, counted, over)
        for seed, best_arm in zip(chosen, best_arms, strict=True)
    ]
    _warm_up(policy, environment, delays)
    return _run(policy, environment, name, tasks, points, jobs, progress)


def _player(plan: object, graph: object, horizon: int | None) -> Player:
    """What plays: of a plan or rule a new policy, of a class its players, else anything that takes turns."""
    if is_own(plan):
        name = getattr(plan, "__name__", type(plan).__name__)
        if graph is None or horizon is None:
            raise InvalidOption(
                f"simulate makes players from {name}: say what they play on and for how long, graph= and horizon="
            )
        plan = playable(cast("Make", plan), name, graph_of(graph, "simulate"), checked_horizon(horizon))
    elif graph is not None and not isinstance(plan, str):
        raise InvalidOption(
            f"graph= is for classes and functions that make players, and {type(plan).__name__} has its own"
        )
    if isinstance(plan, Playable):
        return plan.policy(seed=0)
    if isinstance(plan, Policy):
        return plan
    player = guarded(plan)
    if player is None:
        how = f"make one with sl.plan{'; sl.compare takes names' if isinstance(plan, str) else ''}"
        if any(hasattr(plan, verb) for verb in ("ask", "decide")):
            how = f"one of your own needs graph and copy(seed), or is given as its class: {TURNS}"
        raise InvalidOption(f"simulate plays a Plan or a Policy, got {type(plan).__name__}; {how}")
    return player


def _to_caller() -> int:
    """How many calls up from here the first line is that is not ours: it may have come through sl.compare."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "sidelight":
        level, frame = level + 1, frame.f_back
    return level


def logarithmic_checkpoints(horizon: int, count: int = 80) -> Longs:
    """About `count` rounds from 1 to the horizon, evenly spaced on a logarithmic scale."""
    points = np.unique(np.round(np.geomspace(1, horizon, count)).astype(np.int64))
    points[-1] = horizon
    return points


def _warm_up(policy: Player, environment: Environment, delays: Delays) -> None:
    """Compile, or load from the cache, what will be called, before the clock starts; policies stay as they are."""
    if not isinstance(policy, Policy):
        return
    with interrupts_kept():
        if environment.world is not None:  # no rounds
            late = policy._game.calendar() if delays.any else None
            arguments = (np.uint64(0), 0, 0, 0.0, np.zeros(0, dtype=np.int64), late, environment.changes)
            policy._play(environment.world, environment.function, *arguments)
        else:  # one round without losses, so that the user's function is not called for it
            copy = policy.copy(0)
            copy.tell(np.zeros(int(policy.graph.out_degree[copy.ask()])))


@dataclass(eq=False)
class _Task:
    """One seed being played: resumable after every chunk."""

    policy: Player
    environment: Environment
    seed: int
    points: Longs
    best_arm: int
    delays: Delays
    counted: int  # arms whose plays are counted: all or none
    over: Longs  # positions of the checkpoints at which these are kept

    def __post_init__(self) -> None:
        self.clone: Player | None = None  # made when the task starts: memory is per running task
        self.round = 0
        self.total = 0.0
        self.next_point = 0
        self.seconds = 0.0
        self.cost = np.full(self.points.size, np.nan)
        self.ledger = np.full((self.points.size, len(LEDGER)), np.nan)
        self.certificate = np.full(self.points.size, np.nan)
        self.plays = np.zeros(self.counted, dtype=np.int64)
        self.plays_over = np.full((self.over.size, self.counted), -1, dtype=np.int64)
        self.calendar: Calendar | None = None  # of a compiled game whose losses come late
        self.due: dict[int, list[_Open]] = {}  # of a game played from Python: by the round that ends it
        self.happened = NOTHING

    def advance(self, stop: threading.Event) -> None:
        """Play to the last checkpoint, or until told to stop; runs in a thread of its own."""
        if stop.is_set() or self.next_point == self.points.size:
            return
        if self.clone is None:
            self.clone = self.policy.copy(self.seed)
        chunk = 64
        while self.next_point < self.points.size and not stop.is_set():
            target = int(self.points[self.next_point])
            last = min(self.round + chunk, target)
            before, worked = time.perf_counter(), time.thread_time()
            self.total = self._play(last)
            self.seconds += time.thread_time() - worked  # of this thread: waiting for a core is not counted
            spent = time.perf_counter() - before  # what an interrupt waits for
            played = last - self.round
            self.round = last
            if spent > 0.0 and played == chunk:
                chunk = int(min(max(chunk * CHUNK_SECONDS / spent, 64), 4 * chunk))
            if last == target:
                self.cost[self.next_point] = self.total
                if isinstance(self.clone, Policy):
                    game, self.happened = self.clone._game, self.clone._happened
                    self.ledger[self.next_point] = game.ledger(self.best_arm)
                    self.certificate[self.next_point] = (
                        game.certificate(None)[1].sum() + self.clone.unanswered
                    )
                self.plays_over[self.over == self.next_point] = self.plays
                self.next_point += 1
        if self.next_point == self.points.size:
            self.clone = None  # its memory is free for others

    def _play(self, last: int) -> float:
        assert self.clone is not None
        world = self.environment.world
        if world is None or not isinstance(self.clone, Policy):
            return self._play_in_python(last)
        if self.delays.any and self.calendar is None:
            rounds = int(self.points[-1])
            self.calendar = self.clone._game.calendar(self.delays.of(self.seed, rounds), rounds)
        cost = self.clone._play(
            world,
            self.environment.function,
            environment_key(self.seed),
            *(self.round, last, self.total, self.plays, self.calendar, self.environment.changes),
        )
        if np.isnan(cost):
            raise InvalidOption(
                f"a loss outside [0, 1] was met in rounds {self.round}..{last - 1}; rescale the loss function"
            )
        return cost

    def _play_in_python(self, last: int) -> float:
        """Round by round: a loss from Python, a player of one's own, or graphs that only Python knows."""
        player: Any = self.clone
        cost, rounds, changes = self.total, int(self.points[-1]), self.environment.changes
        if changes is None and not self.delays.any:  # one turn after the other, without records of decisions
            for t in range(self.round, last):
                arm = player.ask()
                player.tell(self.environment.heard(self.seed, t, player.graph, arm))
                cost += self.environment.costs(self.seed, t, arm)
                if self.counted:
                    self.plays[arm] += 1
            return cost
        delays = self.delays.of(self.seed, rounds)
        key = environment_key(self.seed)
        for t in range(self.round, last):
            # The player is shown the graph with the decision, or with its losses.
            with_decision: dict[str, FeedbackGraph] = {}
            with_losses: dict[str, FeedbackGraph] = {}
            graph = player.graph
            if changes is not None:
                graph = (with_losses if changes.after else with_decision)["graph"] = changes.graph_at(key, t)
            decision = player.decide(**with_decision)
            cost += self.environment.costs(self.seed, t, decision.arm)
            if self.plays.size:
                self.plays[decision.arm] += 1
            after = t + int(delays[t if delays.size > 1 else 0])
            self.due.setdefault(after, []).append(_Open(t, decision, graph, with_losses))
            for each in self.due.pop(t, ()):
                losses = self.environment.heard(self.seed, each.round, each.graph, each.decision.arm)
                player.observe(each.decision, losses, **each.shown)
        return cost


class _Open(NamedTuple):
    """A decision whose losses are still to come."""

    round: int
    decision: Any
    graph: FeedbackGraph
    shown: dict[str, FeedbackGraph]  # what the player hears of the graph only now


def _run(
    policy: Player,
    environment: Environment,
    name: str,
    tasks: list[_Task],
    points: Longs,
    jobs: int | None,
    progress: bool | None,
) -> Run:
    """Advance all tasks, and collect what they have, complete or not."""
    stop = threading.Event()
    workers = checked_jobs(jobs)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: list[Future[None]] = []
        try:
            for task in tasks:
                futures.append(pool.submit(task.advance, stop))
            total = sum(int(task.points[-1]) for task in tasks)
            with Progress("simulating", total, progress, after=SILENT_SECONDS) as bar:
                _wait(futures, tasks, bar)
        except KeyboardInterrupt:
            pass  # what is done is returned; run.complete says so
        finally:
            stop.set()
    for future in futures:
        if not future.cancelled() and future.exception() is not None:
            raise future.exception()  # type: ignore[misc]
    cost, over = np.stack([task.cost for task in tasks]), tasks[0].over
    seeds = [task.seed for task in tasks]
    best = np.stack(_per_seed(environment, seeds, lambda seed: environment.best_totals(points, seed)))
    return Run(
        plan=getattr(policy, "plan", policy),
        environment=name or type(environment).__name__,
        seeds=np.array(seeds, dtype=np.int64),
        checkpoints=points,
        cost=cost,
        regret=regret_of(cost, best, points),
        ledger=np.stack([task.ledger for task in tasks]),
        certificate=np.stack([task.certificate for task in tasks]),
        best_arm=np.array([task.best_arm for task in tasks], dtype=np.int64),
        plays=np.stack([task.plays for task in tasks]) if tasks[0].counted else None,
        plays_over=PlaysOver(points[over], np.stack([task.plays_over for task in tasks]))
        if over.size
        else None,
        seconds=sum(task.seconds for task in tasks),
        start=policy.round if isinstance(policy, Policy) else 0,
        # What is open when a game ends was not cancelled: it is among the decisions that were open.
        happened=Happened(
            overlap=max(task.happened.overlap for task in tasks),
            elsewhere=any(task.happened.elsewhere for task in tasks),
        ),
        _resume=lambda: _run(policy, environment, name, tasks, points, jobs, progress),
    )


def _per_seed(environment: Environment, seeds: list[int], compute: Callable[[int], _Value]) -> list[_Value]:
    """compute(seed) for every seed; once for all of them where costs do not depend on it."""
    if environment.same_costs:
        return [compute(seeds[0])] * len(seeds)
    return [compute(seed) for seed in seeds]


def _wait(futures: list[Future[None]], tasks: list[_Task], bar: Progress) -> None:
    pending = set(futures)
    while pending:
        over, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
        if any(future.exception() is not None for future in over):
            return
        played = sum(task.round for task in tasks)
        bar.update(played, f"{played / bar.elapsed:,.0f} rounds/s")


def _checked_points(checkpoints: Iterable[int] | None, horizon: int) -> Longs:
    if checkpoints is None:
        return logarithmic_checkpoints(horizon)
    if not isinstance(checkpoints, Iterable):
        raise InvalidOption(f"checkpoints must be a sequence of rounds, got {checkpoints!r}")
    points = np.unique(np.asarray(list(checkpoints)))
    if points.size == 0 or points.dtype.kind not in "iu" or points[0] < 1 or points[-1] > horizon:
        raise InvalidOption(f"checkpoints must be whole numbers in 1..{horizon}, got {checkpoints!r}")
    return np.append(points, horizon).astype(np.int64) if points[-1] != horizon else points.astype(np.int64)
