"""A conformance suite for policies: `check_policy` plays one and raises AssertionError where it breaks the contract.

`check_player` is for a player of one's own, which owes much less: a constructor (graph, horizon, seed), `ask` and
`tell`. The contract of whole policies, which every plan and baseline of the library keeps and which `sl.simulate`
relies on:

    graph, pending, round    what it plays on, the arm asked for and not told, rounds told
    probabilities            of the pending play or the next one: a fresh (n,) array that sums to 1
    ask(), tell(losses)      alternate; losses as a mapping, or aligned with graph.out_neighbors(arm)
    copy(seed=None)          independent, in the same state; with a seed, on that seed's random stream
    save(path), load(path)   continue bit for bit

>>> import sidelight as sl
>>> graph = sl.families.cycle(5)
>>> check_policy(lambda seed: sl.plan(graph, 1000).policy(seed), graph)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.environment import switching
from sidelight.errors import InvalidFeedback, TurnError
from sidelight.experiment import simulate
from sidelight.graph import FeedbackGraph, GivenGraph, graph_of
from sidelight.policy.own import Own, OwnPlayer, playable

__all__ = ["CHECKS", "Subject", "check_player", "check_policy"]

Make = Callable[[int], Any]

UNLIKELY = 1e-6
"""How improbable frequencies must be, if the probabilities are right, to count as wrong."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A policy under test: how to make one from a seed, and what to play it on."""

    make: Make
    graph: FeedbackGraph
    load: Callable[[Any], Any]
    rounds: int
    seed: int

    def losses(self, t: int) -> Floats:
        """(n,) losses of round t, some of them 0 and 1, the same for every policy."""
        drawn = np.random.default_rng([self.seed, t]).random(self.graph.n_arms)
        return np.clip(1.4 * drawn - 0.2, 0.0, 1.0)

    def revealed(self, t: int, arm: int) -> Floats:
        """What playing `arm` in round t reveals."""
        return self.losses(t)[self.graph.out_neighbors(arm)]

    def turn(self, policy: Any) -> int:
        """One round, or the rest of it if an arm is pending; the arm that was played."""
        arm = int(policy.ask() if policy.pending is None else policy.pending)
        policy.tell(self.revealed(policy.round, arm))
        return arm

    def played(self, rounds: int) -> Any:
        """A new policy after some rounds."""
        policy = self.make(self.seed)
        for _ in range(rounds):
            self.turn(policy)
        return policy


def check_policy(
    make: Make,
    graph: GivenGraph,
    *,
    load: Callable[[Any], Any] | None = None,
    rounds: int = 120,
    seed: int = 0,
) -> None:
    """Play `make(seed)` on `graph` and raise AssertionError, saying which promise was broken, if one was.

    Args:
        make: a new policy from a seed, always for the same graph.
        graph: the graph it is for: a graph, a family such as "cycle:10", or a graph file.
        load: reads what `save` wrote; the policy's own `load` by default.
        rounds: how long each check plays.
        seed: of the losses, and of the policies.
    """
    assert callable(make), f"make must be a function from a seed to a policy, got {make!r}"
    g = graph_of(graph, "check_policy")
    try:
        policy = make(seed)
    except TypeError as error:
        raise AssertionError(
            f"make must be a function from a seed to a policy, and make({seed}) failed: {error}; a class or function"
            " of (graph, horizon, seed) is put to check_player(make, graph)"
        ) from error
    for name in ("ask", "tell", "copy", "save"):
        assert callable(getattr(policy, name, None)), f"the policy has no method {name}()"
    assert policy.graph == g, f"the policy plays on {policy.graph!r}, not on {g!r}"
    reader = type(policy).load if load is None else load
    subject = Subject(make, g, reader, rounds, seed)
    for check in CHECKS:
        check(subject)


def check_player(
    make: Callable[..., Any], graph: GivenGraph, *, horizon: int = 1000, rounds: int = 200, seed: int = 0
) -> None:
    """Play a class or function of (graph, horizon, seed) and raise AssertionError, saying what is wrong with it.

    It must make players that return arms of the graph, whose seed decides about all they do, that share nothing with
    one another, and that leave the global random state alone. `sl.simulate` must play what `ask` and `tell` play.

    Args:
        make: the class, or a function that makes a player.
        graph: what to play on: a graph, a family such as "cycle:10", or a graph file.
        horizon: what the players are told.
        rounds: how long each check plays, at most `horizon`.
        seed: of the losses, and of the players.

    >>> class Fixed:
    ...     def __init__(self, graph, horizon, seed): ...
    ...     def ask(self): return 0
    ...     def tell(self, losses): ...
    >>> check_player(Fixed, "cycle:5")
    """
    name = getattr(make, "__name__", "the player")
    g = graph_of(graph, "check_player")
    plan = playable(make, name, g, horizon)
    assert isinstance(plan, Own), f"{name} makes a plan or a policy of the library's own, which need no check"
    rounds = min(rounds, horizon)
    environment = switching(g.n_arms, period=17, gap=0.4)

    def turn(player: OwnPlayer, t: int) -> int:
        arm = player.ask()
        player.tell(environment.heard(seed, t, g, arm))
        return arm

    state, alone, one, two = _global_state(), *(plan.policy(seed) for _ in range(3))
    arms = [turn(alone, t) for t in range(rounds)]
    assert _global_state() == state, f"{name} used the global random state: use the seed it is given"
    pairs = [(turn(one, t), turn(two, t)) for t in range(rounds)]
    assert all(a == b for a, b in pairs), f"two players of {name}, side by side, played differently"
    assert [a for a, _ in pairs] == arms, f"the same seed of {name} played differently the second time"
    run = simulate(plan, environment, [seed], rounds, progress=False)
    assert run.plays is not None
    assert np.array_equal(run.plays[0], np.bincount(arms, minlength=g.n_arms)), (
        f"sl.simulate played other arms than ask and tell: more than graph, horizon and seed decides in {name}"
    )


# -- what is promised ----------------------------------------------------------------------------------------


def check_simplex(subject: Subject) -> None:
    """`probabilities` is a fresh distribution, the same before and after `ask`, that can lead to the arm played."""
    policy, n = subject.make(subject.seed), subject.graph.n_arms
    for t in range(subject.rounds):
        when, before = f"after {t} rounds", policy.probabilities
        assert isinstance(before, np.ndarray), f"probabilities must be an array, got {type(before).__name__}"
        assert before.shape == (n,), f"probabilities have shape {before.shape}, not {(n,)}"
        assert (before >= 0).all(), f"negative or undefined probabilities {when}: {before}"
        assert abs(before.sum() - 1) <= 1e-9, f"probabilities sum to {before.sum()} {when}"
        arm = policy.ask()
        pending = policy.probabilities
        assert np.array_equal(before, pending), f"asking changed the probabilities {when}"
        assert pending[arm] > 0, f"arm {arm} was played {when}, with probability 0"
        pending[:] = 7.0
        assert np.array_equal(policy.probabilities, before), "probabilities is not a fresh array"
        policy.tell(subject.revealed(t, arm))


def check_turns(subject: Subject) -> None:
    """`ask` and `tell` alternate, TurnError otherwise; `pending` and `round` say where the policy is."""
    policy = subject.make(subject.seed)
    for t in range(3):
        assert policy.pending is None, f"arm {policy.pending} is pending before it was asked for"
        assert policy.round == t, f"after {t} rounds, round is {policy.round}"
        _refuses(lambda: policy.tell([]), TurnError, "tell() with no arm pending")
        arm = policy.ask()
        assert isinstance(arm, int), f"ask() must return an int, got {type(arm).__name__}"
        _refuses(policy.ask, TurnError, "ask() with an arm pending")
        assert policy.pending == arm, f"ask() gave arm {arm}, pending says {policy.pending}"
        assert policy.round == t, f"round must count told rounds, got {policy.round} after {t}"
        policy.tell(subject.revealed(t, arm))


def check_refusals(subject: Subject) -> None:
    """Bad feedback raises InvalidFeedback and changes nothing."""
    policy, untouched = subject.played(5), subject.played(5)
    for t in range(5, 5 + min(subject.rounds, 20)):
        arm = policy.ask()
        assert untouched.ask() == arm, "the policy differs from one that was never told anything wrong"
        good = subject.revealed(t, arm)
        for what, bad in _bad_feedback(subject.graph.n_arms, subject.graph.out_neighbors(arm), good):
            _refuses(partial(policy.tell, bad), InvalidFeedback, f"tell() of {what}")
            assert _same(policy, untouched), f"a refused tell() of {what} changed the policy"
        policy.tell(good)
        untouched.tell(good)
        assert _same(policy, untouched), "refused feedback left a trace"


def check_forms_of_feedback(subject: Subject) -> None:
    """A mapping, a list and an array of the same losses are the same feedback."""
    policies = [subject.played(3) for _ in range(3)]
    for t in range(3, 13):
        arms = {policy.ask() for policy in policies}
        assert len(arms) == 1, f"equal policies played different arms {sorted(arms)}"
        (arm,) = arms
        losses = subject.revealed(t, arm)
        by_arm = dict(zip(subject.graph.out_neighbors(arm).tolist(), losses.tolist(), strict=True))
        for policy, told in zip(policies, (losses, losses.tolist(), by_arm), strict=True):
            policy.tell(told)
            assert _same(policy, policies[0]), f"telling a {type(told).__name__} differs from an array"


def check_determinism(subject: Subject) -> None:
    """A seed determines the run; the global random state is left alone."""
    state, runs = _global_state(), []
    for _ in range(2):
        policy = subject.make(subject.seed)
        arms = [subject.turn(policy) for _ in range(subject.rounds)]
        runs.append((arms, policy.probabilities.tolist()))
    assert runs[0] == runs[1], "the same seed gave two different runs"
    assert _global_state() == state, "the global random state was used"


def check_copies(subject: Subject) -> None:
    """A copy continues bit for bit and on its own; with a seed, on the stream of that seed alone."""
    policy = subject.played(subject.rounds // 2)
    original = policy.probabilities
    twin = policy.copy()
    assert _same(policy, twin), "a copy is not in the same state"
    arms = [subject.turn(twin) for _ in range(20)]
    assert np.array_equal(policy.probabilities, original), "playing a copy changed the original"
    assert arms == [subject.turn(policy) for _ in range(20)], "a copy continued differently"
    assert _same(policy, twin), "a copy continued to a different state"
    seeded = [policy.copy(3), policy.copy(3)]
    subject.turn(policy)
    one, two = ([subject.turn(copy) for _ in range(20)] for copy in seeded)
    assert one == two, "copy(seed) is not seeded"
    policy.ask()
    assert policy.copy().pending == policy.pending, "a copy forgot the pending arm"


def check_saving(subject: Subject) -> None:
    """What was saved continues bit for bit, with or without an arm pending."""
    for pending in (False, True):
        policy = subject.played(subject.rounds // 2)
        if pending:
            policy.ask()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.npz"
            policy.save(path)
            loaded = subject.load(path)
        assert loaded.pending == policy.pending, (
            f"{policy.pending} was pending, {loaded.pending} after loading"
        )
        assert loaded.graph == policy.graph, "the graph changed in saving"
        for t in range(20):
            assert _same(policy, loaded), f"a loaded policy differs {t} rounds later"
            arms = [subject.turn(each) for each in (policy, loaded)]
            assert arms[0] == arms[1], f"a loaded policy played differently {t} rounds later"


def check_simulation(subject: Subject) -> None:
    """`sl.simulate` plays what `ask` and `tell` play."""
    n, rounds, seed = subject.graph.n_arms, subject.rounds, subject.seed + 11
    environment = switching(n, period=17, gap=0.4)
    run = simulate(subject.make(subject.seed), environment, seeds=[seed], horizon=rounds, progress=False)
    policy = subject.make(subject.seed).copy(seed)
    plays, cost = np.zeros(n, dtype=np.int64), 0.0
    for t in range(rounds):
        arm = policy.ask()
        plays[arm] += 1
        cost += environment.costs(seed, t, arm)
        policy.tell(environment.losses(seed, t, subject.graph.out_neighbors(arm)))
    assert run.plays is not None
    assert np.array_equal(run.plays[0], plays), f"simulate played {run.plays[0]}, ask and tell {plays}"
    assert run.cost[0, -1] == cost, f"simulate paid {run.cost[0, -1]}, ask and tell {cost}"


def check_frequencies(subject: Subject) -> None:
    """Arms are played as often as `probabilities` says (χ² of seeded copies)."""
    from scipy.stats import chi2

    n = subject.graph.n_arms
    draws = max(2_000, 20 * n)
    for rounds in (0, subject.rounds // 3):
        policy = subject.played(rounds)
        expected = policy.probabilities * draws
        counts = np.bincount([policy.copy(seed).ask() for seed in range(draws)], minlength=n)
        assert counts[expected == 0].sum() == 0, "an arm of probability 0 was played"
        group = np.where(expected < 5, n, np.arange(n))  # rare arms count together
        seen, wanted = np.bincount(group, counts), np.bincount(group, expected)
        seen, wanted = seen[wanted > 0], wanted[wanted > 0]
        distance = float(((seen - wanted) ** 2 / wanted).sum())
        limit = float(chi2.isf(UNLIKELY, wanted.size - 1)) if wanted.size > 1 else inf
        assert distance <= limit, (
            f"after {rounds} rounds, {draws} plays are not distributed as `probabilities`: "
            f"χ² = {distance:.1f}, at most {limit:.1f} expected"
        )


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_simplex,
    check_turns,
    check_refusals,
    check_forms_of_feedback,
    check_determinism,
    check_copies,
    check_saving,
    check_simulation,
    check_frequencies,
)


# -- small print ---------------------------------------------------------------------------------------------


def _same(one: Any, two: Any) -> bool:
    """Are two policies in the same state, as far as can be seen?"""
    where = one.pending == two.pending and one.round == two.round
    return bool(where and np.array_equal(one.probabilities, two.probabilities))


def _global_state() -> bytes:
    state: Any = np.random.get_state()  # noqa: NPY002  (it is the global state that must stay as it is)
    return bytes(state[1].tobytes()) + repr(state[2:]).encode()


def _refuses(act: Callable[[], Any], error: type[Exception], what: str) -> None:
    try:
        act()
    except error:
        return
    except Exception as other:
        raise AssertionError(f"{what} must raise {error.__name__}, raised {other!r}") from other
    raise AssertionError(f"{what} must raise {error.__name__}, but was accepted")


def _bad_feedback(n: int, revealed: npt.NDArray[Any], good: Floats) -> list[tuple[str, Any]]:
    """Feedback that must be refused, each with its name."""
    arms, losses = revealed.tolist(), good.tolist()
    mapping = dict(zip(arms, losses, strict=True))
    bad: list[tuple[str, Any]] = [("one loss too many", [*losses, 0.5])]
    hidden = [i for i in range(n) if i not in mapping]
    if hidden:
        bad.append(("an arm that was not revealed", mapping | {hidden[0]: 0.5}))
    if arms:
        bad += [("one loss too few", losses[:-1]), ("a missing arm", {i: mapping[i] for i in arms[1:]})]
        for value in (np.nan, np.inf, -0.01, 1.01):
            bad.append((f"the loss {value}", [*losses[:-1], value]))
            bad.append((f"the loss {value} in a mapping", mapping | {arms[0]: value}))
        bad.append(("a word", [*losses[:-1], "low"]))
    return bad
