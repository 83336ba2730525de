"""What is left of cells that were stopped: kept, believed only if whole, and the same bytes in the end."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import own_players as own
import pytest
from interruptible import listening
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment.kept import Kept, PlayedSeed, StoppedSeed
from sidelight.experiment.sweep import pieces as module
from sidelight.experiment.sweep.pieces import Batch, Pieces

SPEC = {
    "policies": ["flat"],
    "graphs": ["cycle:6"],
    "environments": ["gap:0.3"],
    "horizons": [300],
    "seeds": 6,
    "checkpoints": 5,
}


def played(seed):
    rng = np.random.default_rng(seed)
    plays = rng.integers(9, size=(6, 6))
    return PlayedSeed(seed, rng.random(5), rng.random((5, 4)), rng.random(5), plays[-1], plays[1:], 0.25)


def assert_same(one, two):
    for a, b in zip(one, two, strict=True):
        assert_array_equal(a, b)


def test_seeds_survive_the_process(tmp_path):
    first = Pieces(tmp_path)
    first.add("a", [played(3), played(1)])
    first.close()
    again = Pieces(tmp_path).of("a")
    assert list(again) == [1, 3]
    assert_same(again[3], played(3))
    assert isinstance(again[3].seed, int)
    assert Pieces(tmp_path).of("b") == {}


def test_a_finished_cell_leaves_none(tmp_path):
    pieces = Pieces(tmp_path)
    pieces.add("a", [played(1)])
    pieces.flush()
    pieces.drop("a")
    pieces.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "damage", [lambda data: data[:50], lambda data: b"", lambda data: data.replace(b"\x3f", b"\x3e")]
)
def test_damaged_files_are_not_believed(tmp_path, damage):
    pieces = Pieces(tmp_path)
    pieces.add("a", [played(1)])
    pieces.close()
    file = tmp_path / "parts" / "a.npz"
    file.write_bytes(damage(file.read_bytes()))
    assert Pieces(tmp_path).of("a") == {}


def test_games_survive_the_process_until_they_are_finished(tmp_path):
    game = StoppedSeed(played(3), 41, 12.5, {"numbers": np.arange(3.0), "places": np.arange(2)})
    pieces = Pieces(tmp_path)
    pieces.add_game("a", game)
    pieces.add_game("ab", game)
    pieces.close()
    again = Pieces(tmp_path)
    (found,) = again.games("a").values()
    assert_same(found.played, game.played)
    assert (found.round, found.total, found.state.keys()) == (41, 12.5, game.state.keys())
    assert_array_equal(found.state["numbers"], game.state["numbers"])
    assert again.count_games("a") == 1
    again.add("a", [played(3)])
    again.flush()
    assert again.games("a") == {}
    assert sorted(file.name for file in (tmp_path / "parts").iterdir()) == ["a.npz", "ab-3.npz"]
    again.drop("ab")
    assert [file.name for file in (tmp_path / "parts").iterdir()] == ["a.npz"]


def test_a_game_that_is_too_large_begins_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 23)
    pieces = Pieces(tmp_path)
    pieces.add_game("a", StoppedSeed(played(3), 41, 12.5, {"numbers": np.arange(3.0)}))
    assert pieces.games("a") == {}


def test_they_reach_the_disk_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FLUSH_SECONDS", 0.0)
    Pieces(tmp_path).add("a", [played(1)])
    assert list(Pieces(tmp_path).of("a")) == [1]


def test_a_place_that_cannot_be_written_costs_only_them(tmp_path):
    (tmp_path / "parts").write_text("in the way")
    pieces = Pieces(tmp_path)
    pieces.add("a", [played(1)])
    pieces.close()
    assert list(pieces.of("a")) == [1]


def test_batches():
    sent = []
    batch = Batch(sent.append, seconds=1e9)
    batch(played(1))
    batch(played(2))
    assert sent == []
    batch.hand_on()
    batch.hand_on()
    assert [[each.seed for each in part] for part in sent] == [[1, 2]]
    Batch(sent.append, seconds=0.0)(played(3))
    assert len(sent) == 2


# -- in sweeps ------------------------------------------------------------------------------------------------


def files_of(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in ("timings.jsonl", ".lock")
    }


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C as soon as the third seed of a cell is done; who copies a policy says which seeds are played."""
    simulation = sys.modules["sidelight.experiment.simulation"]
    real, seeds = simulation._Task.advance, []

    def advance(self, stop):
        if self.next_point < self.points.size and not stop.is_set():
            seeds.append(self.seed)
            if len(seeds) == 4:
                stop.set()
        real(self, stop)

    monkeypatch.setattr(simulation._Task, "advance", advance)
    return seeds


def test_finished_seeds_are_not_played_again(tmp_path, interrupted):
    whole, out = tmp_path / "whole", tmp_path / "out"
    results = sl.sweep(SPEC, out, jobs=1)
    (absent,) = results.absent
    assert absent.status == "interrupted"
    assert "3 of its 6 seeds are finished and kept; the same command or call continues" in absent.reason
    assert interrupted == [0, 1, 2, 3]
    assert sl.sweep(SPEC, out, jobs=1).complete
    assert interrupted == [0, 1, 2, 3, 3, 4, 5]
    sl.sweep(SPEC, whole, jobs=1)
    assert files_of(out) == files_of(whole)  # byte for byte, and nothing is left beside


def test_a_policy_that_fails_late_keeps_the_seeds_before(tmp_path):
    class Unlucky(own.Learner):
        def __init__(self, graph, horizon, seed):
            super().__init__(graph, horizon, seed)
            if seed == 4:
                raise RuntimeError("not this one")

    values = {**SPEC, "policies": {"unlucky": Unlucky}}
    (absent,) = sl.sweep(values, tmp_path, jobs=1).absent
    assert absent.status == "failed"
    (part,) = (tmp_path / "parts").iterdir()
    assert set(Pieces(tmp_path).of(part.stem)) - {5} == {0, 1, 2, 3}  # 5 may have begun


def test_workers_tell_of_theirs(tmp_path):
    """A worker that ends with its cell unfinished has told of its seeds; another goes on from there."""
    path = Path(own.__file__)
    values = {**SPEC, "policies": {"breaks": f"{path}:Breaks", "flat": "flat"}}
    results = sl.sweep(values, tmp_path, jobs=2)
    assert [cell.policy for cell in results.cells] == ["flat"]
    assert not (tmp_path / "parts").exists()  # no seed of the other got to its end


# -- games in the middle ------------------------------------------------------------------------------------


@pytest.fixture
def stopping(monkeypatch):
    """stopping(round): ctrl-C once a game is there; of every call that plays, the seed and the first round."""
    simulation = sys.modules["sidelight.experiment.simulation"]
    real, calls, events = simulation._Task._play, [], []

    @contextlib.contextmanager
    def stop_at(rounds):
        def advance(self, stop, advance=simulation._Task.advance):
            events[:] = [stop]
            advance(self, stop)

        def play(self, last):
            calls.append((self.seed, self.round))
            cost = real(self, last)
            if last >= rounds:
                events[0].set()
            return cost

        calls.clear()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(simulation._Task, "advance", advance)
            patched.setattr(simulation._Task, "_play", play)
            yield calls

    monkeypatch.setattr(simulation, "CHUNK_SECONDS", 1e-9)  # 64 rounds at a time, or up to a checkpoint
    return stop_at


def as_arrays(run):
    over = run.plays_over
    return (run.cost, run.regret, run.ledger, run.certificate, run.plays, over.rounds, over.counts)


def halves(t, arm):
    return 0.5 * (arm == t // 40 % 3)


GAMES = {
    "learning": lambda: (sl.plan("cycle:6", 600), "gap:0.3"),
    "fixed, in buckets": lambda: (sl.plan("mab:40", 600, realization="fixed"), "switching:50,0.4"),
    "rates that fall": lambda: (sl.plan("corrupted_mab:12,3", None, realization="anytime"), "gap:0.3"),
    "a rule": lambda: (sl.baselines.ts_n(sl.families.mab(4)), "gap:0.3"),
    "losses from Python": lambda: (sl.plan("cycle:6", 600), sl.environments.function(halves, 6)),
    "reveals that fail": lambda: (sl.plan("cycle:6:works=0.8", 600), "gap:0.3"),
    "graphs that change": lambda: (
        sl.plan("full:5", realization="self-tuning"),
        sl.environments.changing(sl.environments.gap(5), [sl.families.full(5), sl.families.cycle(5)]),
    ),
}


@pytest.mark.parametrize("game", GAMES)
def test_a_stopped_game_goes_on_bit_for_bit(tmp_path, stopping, game):
    plan, environment = GAMES[game]()
    options = {"seeds": [3, 4], "horizon": 600, "checkpoints": range(100, 601, 100), "jobs": 1}
    whole = sl.simulate(plan, environment, **options)
    pieces = Pieces(tmp_path)
    for begins, ends in ((0, 264), (264, 464), (464, 600)):
        with stopping(ends) as calls:
            batch = Batch(lambda seeds: pieces.add("a", seeds), 0.0)
            run = sl.simulate(plan, environment, **options, _kept=pieces.kept("a", batch))
        assert calls[0] == (3, begins)
        assert {seed: game.round for seed, game in pieces.games("a").items()} == (
            {3: ends} if ends < 600 else {}
        )
    assert list(pieces.of("a")) == [3]
    with stopping(10**9) as calls:
        run = sl.simulate(plan, environment, **options, _kept=pieces.kept("a", batch))
    assert {seed for seed, _ in calls} == {4}
    for one, two in zip(as_arrays(run), as_arrays(whole), strict=True):
        assert_array_equal(one, two)
    pieces.close()
    assert [file.name for file in (tmp_path / "parts").iterdir()] == ["a.npz"]  # no game is left


def test_a_sweep_goes_on_in_the_middle_of_a_game(tmp_path, stopping):
    whole, out = tmp_path / "whole", tmp_path / "out"
    sl.sweep(SPEC, whole, jobs=1)
    with stopping(200):
        (absent,) = sl.sweep(SPEC, out, jobs=1).absent
    assert absent.reason.startswith("1 of its 6 seeds was stopped and goes on from there; the same command")
    assert sl.Results.read(out).absent[0].reason == absent.reason
    (game,) = (out / "parts").iterdir()
    assert game.stem == f"{absent.id}-0"
    with stopping(10**9) as calls:
        assert sl.sweep(SPEC, out, jobs=1).complete
    begun = dict(reversed(calls))
    assert begun.pop(0) >= 200
    assert set(begun.values()) == {0}
    assert files_of(out) == files_of(whole)  # byte for byte, and nothing is left beside


def test_a_comparison_goes_on_in_the_middle_of_a_game(tmp_path, stopping):
    def compared(folder):
        return sl.compare("cycle:6", ["flat", "uniform"], "gap:0.3", 300, 2, folder=folder, jobs=1)

    compared(tmp_path / "whole")
    with stopping(200):
        assert [cell.status for cell in compared(tmp_path / "out").absent] == ["interrupted"] * 2
    assert len(list((tmp_path / "out" / "parts").iterdir())) == 1
    with stopping(10**9) as calls:
        assert compared(tmp_path / "out").complete
    assert calls[0][1] >= 200
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_player_of_ones_own_begins_anew(tmp_path, stopping):
    values = {**SPEC, "policies": {"mine": f"{own.__file__}:Learner"}}
    sl.sweep(values, tmp_path / "whole", jobs=1)
    with stopping(200):
        sl.sweep(values, tmp_path / "out", jobs=1)
    assert not (tmp_path / "out" / "parts").exists()
    with stopping(10**9) as calls:
        assert sl.sweep(values, tmp_path / "out", jobs=1).complete
    assert calls[0] == (0, 0)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def altered(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def of_another_seed(file):
    file.rename(file.with_name(file.name.replace("-0.npz", "-1.npz")))


def of_another_cell(file):
    arrays = module._read_sealed(file)
    arrays["made_by"] = np.asarray(str(arrays["made_by"]).replace(file.stem.partition("-")[0], "another"))
    module._write_sealed(file, arrays)


def of_another_version(file):
    arrays = module._read_sealed(file)
    arrays["made_by"] = np.asarray(str(arrays["made_by"]).replace(sl.__version__, "0.0.1"))
    module._write_sealed(file, arrays)


def of_another_plan(file):
    """With the right seal: what the policy itself has to say about it."""
    arrays = module._read_sealed(file)
    arrays["state.floats"] = np.append(arrays["state.floats"], 0.0)
    module._write_sealed(file, arrays)


def without_a_part(file):
    arrays = module._read_sealed(file)
    del arrays["total"]
    module._write_sealed(file, arrays)


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        (altered, "is not used"),
        (lambda file: file.write_bytes(file.read_bytes()[:1000]), "archive is damaged"),
        (lambda file: file.write_bytes(b""), "archive is damaged"),
        (of_another_seed, "another cell or seed"),
        (of_another_cell, "another cell or seed"),
        (of_another_version, "another version, or another kind of machine"),
        (of_another_plan, "its arrays have other shapes"),
        (without_a_part, "something is missing"),
    ],
)
def test_games_that_are_damaged_or_foreign_are_not_believed(tmp_path, stopping, caplog, harm, word):
    sl.sweep(SPEC, tmp_path / "whole", jobs=1)
    with stopping(200):
        sl.sweep(SPEC, tmp_path / "out", jobs=1)
    (game,) = (tmp_path / "out" / "parts").iterdir()
    harm(game)
    with stopping(10**9) as calls:
        assert sl.sweep(SPEC, tmp_path / "out", jobs=1).complete
    assert calls[0] == (0, 0)
    (record,) = caplog.records
    assert word in record.getMessage()
    assert "begins anew" in record.getMessage()
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


LONG = {**SPEC, "horizons": [6_000_000], "seeds": 8}

RUN = """
import json, os, signal, sys, threading
import sidelight as sl
from sidelight.experiment.sweep.pieces import Pieces

spec, folder, what = sys.argv[1:]
add = Pieces.add

def told(self, *about):  # a worker has finished a seed: soon it is in the middle of the next
    add(self, *about)
    Pieces.add = add
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

if what == "stop":
    Pieces.add = told
print(sl.sweep(json.loads(spec), folder, jobs=2).complete)
"""


def test_workers_tell_where_their_games_stand(tmp_path):
    """Ctrl-C while a worker plays its cell; the same command goes on in the middle, to the same bytes."""

    def swept(what):
        return subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(LONG), str(tmp_path / "out"), what],
            env={**os.environ, "PYTHONPATH": str(Path(sl.__file__).parents[1])},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            preexec_fn=listening,
        )

    stopped = swept("stop")
    assert (stopped.stdout, stopped.stderr) == ("False\n", "")
    (cell,) = sl.Spec.from_dict(LONG).cells
    pieces = Pieces(tmp_path / "out")
    (game,) = pieces.games(cell.id).values()
    assert 0 < game.round < 6_000_000
    assert game.played.seed == len(pieces.of(cell.id))  # the seeds before it are finished
    again = swept("go on")
    assert (again.stdout, again.stderr) == ("True\n", "")
    sl.sweep(LONG, tmp_path / "whole", jobs=1)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_seeds_of_another_description_are_not_taken():
    run = sl.simulate(sl.plan("cycle:6", 100), "gap", 2, _kept=Kept({0: played(0)}, lambda seed: None))
    assert_array_equal(run.cost, sl.simulate(sl.plan("cycle:6", 100), "gap", 2).cost)
