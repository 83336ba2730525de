"""Everything that a policy refuses, in every situation: a typed error, and not a bit has changed.

`test_no_refusal_is_left_out` reads the sources: whoever adds a refusal adds it to the list here.
"""

import ast
import inspect
import threading
import traceback

import numpy as np
import pytest
from policy_kinds import losses_of
from snapshots import snapshot

import sidelight as sl
from sidelight.log.unit import Unit
from sidelight.policy import feedback, policy

GRAPH = sl.FeedbackGraph.from_edges(
    4, [(v, w) for v in range(4) for w in ((v + 1) % 4, (v - 1) % 4, v)], labels=["n", "e", "s", "w"]
)
PLANS = {
    "fixed": lambda: sl.plan(GRAPH, 500, realization="fixed"),
    "two levels": lambda: sl.plan(sl.families.cliques([3, 4]), 500, realization="clustered"),
    "self-tuning": lambda: sl.plan(GRAPH),
    "rule": lambda: sl.baselines.exp3_ix(GRAPH),
}
KINDS = {f"{name}, {unit}": (name, unit) for name in PLANS for unit in ("losses", "rewards")}


def begun(kind):
    """A policy with decisions open, answered, cancelled, and one that was asked for."""
    name, unit = KINDS[kind]
    made = PLANS[name]().policy(seed=3, **({"rewards": (0, 10)} if unit == "rewards" else {}))
    for t in range(15):
        d = made.decide()
        if t % 4 != 3:
            made.observe(d, 10.0 ** (unit == "rewards") * losses_of(t, made.graph.n_arms)[d.reveals])
    made.cancel(made.open[0])
    made.ask()
    made.decide(count=2)
    return made


def told(d, **changes):
    """A mapping of everything that a decision reveals, with changes."""
    return {int(j): 0.5 for j in d.reveals} | changes


def ndarray_of(d, value):
    values = np.full(d.reveals.size, 0.5)
    values[-1] = value
    return values


def in_use(p):
    """While a thread is in the middle of something."""
    assert p._busy.acquire(blocking=False)
    try:
        p.decide()
    finally:
        p._busy.release()


def without_pending(p):
    """`tell` when nothing was asked."""
    idle = p.copy()
    idle.tell([0.5] * idle.graph.out_neighbors(idle.pending).size)
    before = snapshot(idle)
    try:
        idle.tell([0.5])
    finally:
        assert snapshot(idle) == before


def another_policys(p):
    """A decision with a number of this policy, and an arm that is not."""
    d = p.open[0]
    p.observe(d._replace(arm=(d.arm + 1) % p.graph.n_arms), ndarray_of(d, 0.5))


NAN, INF = float("nan"), float("inf")
OPEN = {  # what may be wrong with an answer to an open decision
    "too many": lambda d: [0.5] * (d.reveals.size + 1),
    "too few": lambda d: [0.5] * (d.reveals.size - 1),
    "two dimensions": lambda d: np.full((d.reveals.size, 1), 0.5),
    "too small": lambda d: ndarray_of(d, -0.1),
    "too large": lambda d: ndarray_of(d, 10.5),
    "not a number": lambda d: ndarray_of(d, NAN),
    "infinite": lambda d: ndarray_of(d, INF),
    "text": lambda d: ["much"] * d.reveals.size,
    "one text": lambda d: [*([0.5] * (d.reveals.size - 1)), "0.5"],
    "a bare text": lambda d: "much",
    "None": lambda d: None,
    "masked": lambda d: np.ma.masked_array(np.full(d.reveals.size, 0.5), mask=True),
    "complex": lambda d: [0.5j] * d.reveals.size,
    "ragged": lambda d: [[0.5], *([0.5] * (d.reveals.size - 1))],
    "an object": lambda d: object(),
    "nothing at all": lambda d: [],
    "a bare number": lambda d: 0.5,
    "one row": lambda d: np.full((1, d.reveals.size), 0.5),
    "no rows": lambda d: np.empty((0, d.reveals.size)),
    "a set": lambda d: {0.5},
    "a generator": lambda d: (0.5 for _ in d.reveals),
    "dates": lambda d: np.zeros(d.reveals.size, dtype="M8[s]"),
    "an array of text": lambda d: np.full(d.reveals.size, "0.5"),
    "a complex array": lambda d: np.full(d.reveals.size, 0.5 + 0j),
    "one missing": lambda d: dict(list(told(d).items())[1:]),
    "one more": lambda d: told(d) | {next(j for j in range(-1, 9) if j not in d.reveals): 0.5},
    "a label of none": lambda d: told(d) | {"pink": 0.5},
    "a value that is none": lambda d: told(d) | {int(d.reveals[0]): None},
}


def asked(p):
    """The decision that was asked for."""
    return next(d for d in p.open if d.id == p._asked)


def simulated(p):
    sl.simulate(p, sl.environments.gap(p.graph.n_arms), seeds=[0], horizon=10)


def played(p):
    p._play(None, None, np.uint64(0), 0, 5, 0.0, np.zeros(0, dtype=np.int64))


def logged(p, folder, action):
    with p.log(folder / "log.csv"):
        action(p)


def played_and_logged(p, folder):
    """Compiled rounds, which no log knows of."""
    idle = PLANS["fixed"]().policy(seed=1)
    logged(idle, folder, played)


def told_twice(p):
    """By number and by label; where there are no labels, another mistake."""
    d, labels = p.open[0], p.graph.labels or "abcdefg"
    p.observe(d, {labels[d.reveals[0]]: 0.5, int(d.reveals[0]): 0.5})


class Series(list):
    """What pandas calls a Series, as far as it is asked."""

    index = ("a", "a")

    def to_dict(self):
        return {"a": self[-1]}


GRAPHS = {  # that no round of these policies can have
    "no graph": lambda: "cycle",
    "other arms": lambda: sl.families.full(9),
    "other labels": lambda: sl.FeedbackGraph.from_edges(4, GRAPH.edges(), labels="abcd"),
}


def observed_on(p, graph):
    p.observe(p.open[0], np.full(p.open[0].reveals.size, 0.5), graph=graph)


def too_much(p):
    p.observe(p.open[0], [2.5e9] * p.open[0].reveals.size)


OBSERVED = {
    f"observe, {what}": (lambda p, _, wrong=wrong: p.observe(p.open[0], wrong(p.open[0])))
    for what, wrong in OPEN.items()
}
TOLD = {f"tell, {what}": (lambda p, _, wrong=wrong: p.tell(wrong(asked(p)))) for what, wrong in OPEN.items()}
REFUSALS = {
    **OBSERVED,
    **TOLD,
    "told twice": lambda p, _: told_twice(p),
    "a series that tells twice": lambda p, _: p.observe(p.open[0], Series([0.5, 0.5])),
    **{f"decide, {what}": (lambda p, _, g=g: p.decide(graph=g())) for what, g in GRAPHS.items()},
    **{f"observe, {what}": (lambda p, _, g=g: observed_on(p, g())) for what, g in GRAPHS.items()},
    "asked twice": lambda p, _: p.ask(),
    "told without asking": lambda p, _: without_pending(p),
    "answered before": lambda p, _: p.observe(1, [0.5, 0.5, 0.5]),
    "cancelled before": lambda p, _: p.cancel(1),
    "never made": lambda p, _: p.observe(999, [0.5]),
    "number 0": lambda p, _: p.cancel(0),
    "no number": lambda p, _: p.observe("first", [0.5]),
    "a truth": lambda p, _: p.cancel(True),
    "of another policy": lambda p, _: another_policys(p),
    "no decisions": lambda p, _: p.decide(count=0),
    "half a decision": lambda p, _: p.decide(count=1.5),
    "in use": lambda p, _: in_use(p),
    "an arm beyond": lambda p, _: p.ledger(99),
    "a label beyond": lambda p, _: p.certificate("pink"),
    "simulated while open": lambda p, _: simulated(p),
    "played while open": lambda p, _: played(p),
    "played while logged": played_and_logged,
    "a bad seed": lambda p, _: p.copy(seed=-1),
    "saved nowhere": lambda p, folder: p.save(folder / "missing" / "policy"),
    "saved to a number": lambda p, _: p.save(7),
    "logged nowhere": lambda p, folder: p.log(folder / "log.csv.gz"),
    "logged twice": lambda p, folder: logged(p, folder, lambda p: p.log(folder / "other.csv")),
    "a wrong answer while logged": lambda p, folder: logged(p, folder, too_much),
}


@pytest.fixture(scope="module")
def policies():
    """One of every kind, to be copied: saving is what makes two of them alike bit for bit."""
    return {kind: begun(kind) for kind in KINDS}


def refused(kind, what, policies, folder):
    """The error, after seeing to it that nothing has changed."""
    p = policies[kind].copy()
    before = snapshot(p)
    with pytest.raises(sl.SidelightError) as caught:
        REFUSALS[what](p, folder)
    assert snapshot(p) == before, what
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused_changes_nothing(kind, policies, tmp_path):
    _, unit = KINDS[kind]
    for what in REFUSALS:
        error = refused(kind, what, policies, tmp_path)
        assert str(error)
        if what.endswith(("too large", "too small", "not a number", "infinite")):
            low, high = (0, 10) if unit == "rewards" else (0, 1)
            assert f"the {unit[:-1].replace('losse', 'loss')} of arm" in str(error)
            assert f"must be in [{low}, {high}], got" in str(error)
    go_on(policies[kind].copy())


def go_on(p):
    """Everything that was open can still be answered."""
    for d in p.open:
        p.observe(d.id, np.full(d.reveals.size, 0.5))
    assert p.open == []


def test_refused_while_another_thread_decides():
    """For real: two threads decide as they like, each refused now and then, and nothing is lost or made twice."""
    p = PLANS["fixed"]().policy(seed=1)
    made, refused = [], []

    def decide():
        while len(made) < 400:
            try:
                made.append(p.decide())
            except sl.TurnError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(d.id for d in made) == list(range(1, len(made) + 1))
    assert all("in use by another thread" in message for message in refused)


def raised_in(module):
    """Where a module raises: first and last line of every `raise` of an error of ours."""
    own = {"TypeError", "NotImplementedError"}  # caught and turned into one of ours; for others to fill in
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            call = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if getattr(call, "id", "") not in own:
                yield node.lineno, node.end_lineno


def test_no_refusal_is_left_out(policies, tmp_path):
    """Every `raise` of `policy.policy` and `policy.feedback` is reached by one of the refusals above."""
    reached = set()
    for what in REFUSALS:
        error = refused("fixed, losses", what, policies, tmp_path)
        reached |= {(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)}
    with pytest.raises(sl.InfeasibleRequest, match="proved for one graph") as caught:
        policies["fixed, losses"].copy().decide(graph=sl.families.full(4))
    reached |= {(frame.filename, frame.lineno) for frame in traceback.extract_tb(caught.value.__traceback__)}
    edges, chances = [(0, 0), (0, 1), (1, 0), (1, 1)], [1.0, 0.5, 0.5, 1.0]
    faulty = sl.plan(sl.FeedbackGraph.from_edges(2, edges, probabilities=chances)).policy(seed=1)
    decision, before = faulty.decide(), snapshot(faulty)
    for nothing in ({}, np.full(2, NAN)):  # what an arm reveals of itself never fails here
        with pytest.raises(sl.InvalidFeedback, match="never fails") as caught:
            faulty.observe(decision, nothing)
        assert snapshot(faulty) == before
        tb = caught.value.__traceback__
        reached |= {(frame.filename, frame.lineno) for frame in traceback.extract_tb(tb)}
    with pytest.raises(sl.InvalidFeedback, match="must be in") as caught:  # the service asks before it stores
        feedback.told_of(GRAPH, Unit(), 0, np.full(3, 2.0))
    reached |= {(frame.filename, frame.lineno) for frame in traceback.extract_tb(caught.value.__traceback__)}
    faulty._inherited = True  # as in a forked process
    with pytest.raises(sl.TurnError, match="forked") as caught:
        faulty.copy()
    reached |= {(frame.filename, frame.lineno) for frame in traceback.extract_tb(caught.value.__traceback__)}
    missed = [
        f"{module.__name__}:{first}"
        for module in (policy, feedback)
        for first, last in raised_in(module)
        if not any((module.__file__, line) in reached for line in range(first, last + 1))
    ]
    assert not missed
