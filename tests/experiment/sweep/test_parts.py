"""What is left of cells that were stopped: finished seeds are kept, believed only if whole, to the same bytes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from interruptible import listening
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment import cells as module
from sidelight.experiment.folder import ResultsFolder, manifest, read_parts
from sidelight.experiment.results import joined

SPEC = {
    "policies": ["flat"],
    "graphs": ["cycle:6"],
    "environments": ["gap:0.3"],
    "horizons": [300],
    "seeds": 6,
    "checkpoints": 5,
}
ARRAYS = ("seeds", "regret", "cost", "ledger", "certificate", "plays")


def files_of(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in ("timings.jsonl", ".lock")
    }


@pytest.fixture(scope="module")
def spec():
    return sl.Spec.from_dict(SPEC)


@pytest.fixture(scope="module")
def parts(spec):
    """Three parts of the one cell, not in the order of its seeds."""
    (cell,) = spec.cells
    return [
        module.execute(module.Part(cell, seeds), {"spec": spec.hash}) for seeds in ((4, 5), (0,), (1, 2, 3))
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    assert sl.sweep(SPEC, folder, jobs=1).complete
    return folder


# -- parts by themselves --------------------------------------------------------------------------------------


def test_parts_make_the_whole(spec, parts, whole):
    (cell,) = sl.Results.read(whole).cells
    found = joined(parts, spec.seeds)
    assert (found.id, found.bound) == (cell.id, cell.bound)
    for name in ARRAYS:
        assert_array_equal(getattr(found, name), getattr(cell, name))
    for one, other in zip(found.plays_over, cell.plays_over, strict=True):
        assert_array_equal(one, other)
    timings = [part.nanoseconds_per_round for part in parts]
    assert min(timings) <= found.nanoseconds_per_round <= max(timings)


def test_what_one_part_lacks_the_whole_lacks(spec, parts):
    lacking = [replace(parts[0], ledger=None, plays=None, plays_over=None), *parts[1:]]
    found = joined(lacking, spec.seeds)
    assert (found.ledger, found.plays, found.plays_over) == (None, None, None)
    assert_array_equal(found.certificate, joined(parts, spec.seeds).certificate)


def test_they_survive_the_process_until_the_cell_is_finished(spec, parts, tmp_path):
    with ResultsFolder(tmp_path, manifest(spec)) as store:
        store.keep(parts[0])
        store.keep(parts[1])
        assert read_parts(tmp_path) == {}  # not for every seed: it takes a while
    (kept,) = read_parts(tmp_path)[spec.cells[0].id]
    assert kept.seeds.tolist() == [0, 4, 5]
    assert_array_equal(kept.regret, joined(parts[:2], [0, 4, 5]).regret)
    with ResultsFolder(tmp_path, manifest(spec)) as store:
        store.write(joined(parts, spec.seeds))
    assert not (tmp_path / "parts").exists()


def test_they_reach_the_disk_now_and_then(spec, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("sidelight.experiment.folder.FLUSH_SECONDS", 0.0)
    with ResultsFolder(tmp_path, manifest(spec)) as store:
        store.keep(parts[0])
        assert len(read_parts(tmp_path)) == 1


@pytest.mark.parametrize(
    "damage", [lambda data: data[:500], lambda data: b"", lambda data: data.replace(b"\x3f", b"\x3e")]
)
def test_damaged_files_are_not_believed(spec, parts, tmp_path, damage, whole):
    with ResultsFolder(tmp_path, manifest(spec)) as store:
        store.keep(parts[2])
    (file,) = (tmp_path / "parts").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert read_parts(tmp_path) == {}
    assert sl.sweep(SPEC, tmp_path, jobs=1).complete
    assert files_of(tmp_path) == files_of(whole)


def test_a_place_that_cannot_be_written_costs_only_them(spec, parts, tmp_path):
    with ResultsFolder(tmp_path, manifest(spec)) as store:
        (tmp_path / "parts").write_text("in the way")
        store.keep(parts[0])
    assert sl.sweep(SPEC, tmp_path, jobs=1).complete


def test_parts_have_about_so_many_rounds(spec):
    (cell,) = spec.cells

    def sizes(cell, played=(), rounds=module.PART_ROUNDS):
        return [len(part.seeds) for part in module._divided(cell, set(played), rounds)]

    assert sizes(cell) == [6]
    assert sizes(cell, rounds=700) == [2, 2, 2]
    assert sizes(cell, played=[1, 5], rounds=1) == [1] * 4
    assert sizes(replace(cell, seeds=tuple(range(70)))) == [32, 32, 6]


# -- in sweeps ------------------------------------------------------------------------------------------------


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C as soon as the third seed of a cell is done; which seeds are played."""
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


def test_finished_seeds_are_not_played_again(tmp_path, interrupted, whole):
    (absent,) = sl.sweep(SPEC, tmp_path, jobs=1).absent
    assert absent.status == "interrupted"
    assert absent.reason == "3 of its 6 seeds are finished and kept; the same command or call continues"
    assert sl.Results.read(tmp_path).absent[0].reason == absent.reason
    assert interrupted == [0, 1, 2, 3]
    assert sl.sweep(SPEC, tmp_path, jobs=1).complete
    assert interrupted == [0, 1, 2, 3, 3, 4, 5]
    assert files_of(tmp_path) == files_of(whole)  # byte for byte, and nothing is left beside


LONG = {**SPEC, "horizons": [4_000_000]}

RUN = """
import json, os, signal, sys, threading
import sidelight as sl
from sidelight.experiment.folder import ResultsFolder

spec, folder, what = sys.argv[1:]
keep = ResultsFolder.keep

def told(self, part):  # a worker has finished a seed: soon it is in the middle of the next
    keep(self, part)
    ResultsFolder.keep = keep
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

if what == "stop":
    ResultsFolder.keep = told
print(sl.sweep(json.loads(spec), folder, jobs=2).complete)
"""


def test_workers_share_a_cell_and_an_interrupt_keeps_its_seeds(tmp_path):
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
    kept = [int(seed) for part in read_parts(tmp_path / "out")[cell.id] for seed in part.seeds]
    assert 0 < len(kept) < 6
    again = swept("go on")
    assert (again.stdout, again.stderr) == ("True\n", "")
    sl.sweep(LONG, tmp_path / "whole", jobs=1)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
