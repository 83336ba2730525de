"""Finished seeds of cells that were stopped: kept, believed only if whole, and the same bytes in the end."""

import sys
from pathlib import Path

import numpy as np
import own_players as own
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment.simulation import PlayedSeed
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
    return PlayedSeed(seed, rng.random(5), rng.random((5, 4)), rng.random(5), rng.integers(9, size=6), 0.25)


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


def test_seeds_of_another_description_are_not_taken():
    from sidelight.experiment.simulation import Kept

    run = sl.simulate(sl.plan("cycle:6", 100), "gap", 2, _kept=Kept({0: played(0)}, lambda seed: None))
    assert_array_equal(run.cost, sl.simulate(sl.plan("cycle:6", 100), "gap", 2).cost)
