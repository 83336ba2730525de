"""Sweeps: the same bytes on any engine, on any number of cores, after any accident."""

import concurrent.futures
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from interruptible import listening

import sidelight as sl
from sidelight.engine._numba import notice
from sidelight.experiment import folder as folders
from sidelight.experiment.sources import built
from sidelight.experiment.sweep import local as workers

SPEC = {
    "title": "Sixty cells",
    "policies": ["auto", "flat", "clustered", "adaptive", "interpolated"],
    "graphs": ["cycle:6", "mab:5", "cliques:3,4"],
    "environments": ["gap:0.3", "switching:50,0.4"],
    "horizons": [200, 400],
    "seeds": 2,
    "checkpoints": 10,
}
SMALL = {**SPEC, "policies": ["auto", "flat"], "graphs": ["cycle:6"]}

RUN = """
import itertools, json, os, signal, sys, threading
import sidelight as sl
from sidelight.experiment.folder import ResultsFolder

spec, folder, engine, moment, delay = sys.argv[1:]
count, write = itertools.count(1), ResultsFolder.write

def counted(self, outcome):  # once `moment` cells are written, this process has `delay` seconds to live
    write(self, outcome)
    if next(count) == int(moment):
        threading.Timer(float(delay), os.kill, (os.getpid(), signal.SIGKILL)).start()

ResultsFolder.write = counted
results = sl.sweep(json.loads(spec), folder, engine=engine, jobs=2)
print(len(results.cells), results.complete)
"""


def contents(folder):
    return {file.name: file.read_bytes() for file in (Path(folder) / "cells").glob("*.parquet")}


def finished(folder):
    return len(list((Path(folder) / "cells").glob("*.parquet")))


def started(spec, folder, engine="local", moment=0, delay=0.0):
    """The sweep in a process of its own, that can be killed."""
    source = str(Path(sl.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(spec), str(folder), engine, str(moment), str(delay)],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listening,
    )


def wait_until(true, seconds=600):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.002)


def running(session):
    """Processes of a session that are alive."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, of = status.read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(status.parent.name)
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All sixty cells, uninterrupted, one after the other in this process."""
    folder = tmp_path_factory.mktemp("whole")
    results = sl.sweep(SPEC, folder, jobs=1)
    assert results.complete
    assert len(results.cells) == 60
    return folder


# -- accidents ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_and_resumed_gives_the_same_bytes(whole, tmp_path, times):
    chance = random.Random(11)
    before = 0
    for moment in chance.sample(range(1, 16), times):
        process = started(SPEC, tmp_path, moment=moment, delay=chance.uniform(0, 0.03))
        process.communicate(timeout=600)
        assert process.returncode == -signal.SIGKILL
        assert before + moment <= finished(tmp_path) < 60
        before = finished(tmp_path)
        wait_until(lambda session=process.pid: not running(session), 20)  # workers end with their parent
    process = started(SPEC, tmp_path)
    output, errors = process.communicate(timeout=600)
    assert (output, errors) == ("60 True\n", "")
    assert contents(tmp_path) == contents(whole)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in whole.iterdir()}


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_interrupt_keeps_what_is_done(whole, tmp_path):
    endless = {**SPEC, "horizons": [200, 10**9]}  # ten short cells come first
    process = started(endless, tmp_path)
    wait_until(lambda: finished(tmp_path) >= 4 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: parent and workers
    output, errors = process.communicate(timeout=600)
    assert (process.returncode, errors) == (0, "")
    assert output == f"{finished(tmp_path)} False\n"
    assert 4 <= finished(tmp_path) <= 10
    wait_until(lambda: not running(process.pid), 20)  # helpers end just after their parent
    expected = {cell.id: cell for cell in sl.Results.read(whole).cells}
    results = sl.Results.read(tmp_path)
    assert all((cell.regret == expected[cell.id].regret).all() for cell in results.cells)
    assert {cell.status for cell in results.absent} == {"interrupted"}


def test_an_interrupt_in_this_process(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["sidelight.experiment.simulation"], "_wait", interrupted)
    monkeypatch.setattr(sys.modules["sidelight.experiment.simulation"], "CHUNK_SECONDS", 1e-9)
    long = {**SMALL, "horizons": [200_000]}
    results = sl.sweep(long, tmp_path, jobs=1)
    assert not results.complete
    assert len(results.cells) == 0
    assert {cell.status for cell in results.absent} == {"interrupted"}
    assert finished(tmp_path) == 0


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_while_a_cell_is_written(tmp_path, monkeypatch, when):
    """It waits for the file: results have exactly the cells that the folder has."""
    encode = folders.encode

    def interrupted(outcome):
        signal.raise_signal(signal.SIGINT)
        return encode(outcome)

    def forgetful(self, id):
        signal.raise_signal(signal.SIGINT)

    if when == "before":
        monkeypatch.setattr(folders, "encode", interrupted)
    else:
        monkeypatch.setattr(folders.ResultsFolder, "_forget", forgetful)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        results = sl.sweep(SMALL, tmp_path, jobs=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (len(results.cells), finished(tmp_path), results.complete) == (1, 1, False)
    assert {cell.status for cell in results.absent} == {"interrupted"}
    monkeypatch.undo()
    assert [cell.id for cell in sl.Results.read(tmp_path).cells] == [cell.id for cell in results.cells]


DEADLY = """
import os, signal
from pathlib import Path

class Deadly:  # kills its worker, until the file is there that `once` makes
    def __init__(self, graph, horizon, seed):
        mark = Path(os.environ["MARK"])
        there = mark.exists()
        if self.once:
            mark.touch()
        if not there:
            os.kill(os.getpid(), signal.SIGKILL)
    once = False
    def ask(self):
        return 0
    def tell(self, losses):
        pass

class Unlucky(Deadly):
    once = True
"""


@pytest.mark.parametrize("name", ["Deadly", "Unlucky"])
def test_dead_workers_are_replaced_and_what_they_played_is_tried_again(tmp_path, monkeypatch, name):
    (tmp_path / "own.py").write_text(DEADLY)
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    values = {**SMALL, "policies": [f"own.py:{name}", "flat"], "environments": ["gap:0.3"]}
    spec = sl.Spec.from_dict(values, tmp_path)
    results = sl.sweep(spec, tmp_path / "out", jobs=2)
    if name == "Deadly":
        assert [cell.policy for cell in results.cells] == ["flat"] * 2
        assert {(cell.policy, cell.status) for cell in results.absent} == {("own.py:Deadly", "failed")}
        assert {cell.reason for cell in results.absent} == {
            "its worker died 3 times, at last with exit code -9"
        }
        (tmp_path / "mark").touch()
        assert sl.sweep(spec, tmp_path / "out", jobs=1).complete  # a failed cell is tried again
    else:
        assert results.complete
    sl.sweep(spec, tmp_path / "whole", jobs=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_an_exit_code_that_the_pool_has_met_first_is_waited_for():
    """Whoever waits for a process first learns its exit code; until that is noted the other one sees none."""
    process = SimpleNamespace(exitcode=None, kill=lambda: None, join=lambda: None)
    watching = threading.Timer(0.1, setattr, (process, "exitcode", -9))
    watching.start()
    ended = object.__new__(workers.Workers)
    ended._pool = SimpleNamespace(
        _processes={1: process}, _executor_manager_thread=watching, shutdown=lambda **_: None
    )
    assert ended.end() == -9


def test_what_workers_wait_for_is_said_once(monkeypatch, caplog):
    """Two parts, whose workers say that they compile."""
    caplog.set_level("INFO", logger="sidelight")
    monkeypatch.setattr(notice, "_unsaid", [notice.TEXT])
    monkeypatch.setattr(workers.Workers, "__init__", lambda self, jobs: None)
    monkeypatch.setattr(workers.Workers, "end", lambda self: None)

    def submit(self, call, part, provenance):
        self._compiling = threading.Event()
        self._compiling.set()
        future = concurrent.futures.Future()
        future.set_result(("done", part))
        return future

    monkeypatch.setattr(workers.Workers, "submit", submit)
    assert sorted(workers.on_processes(range(2), {}, 1)) == [("done", 0), ("done", 1)]
    assert [record.getMessage() for record in caplog.records] == [notice.TEXT]


def test_an_error_of_ours_fails_one_cell_and_is_tried_again(tmp_path, monkeypatch):
    module = sys.modules["sidelight.experiment.cells"]
    simulate = module.simulate

    def faulty(policy, environment, seeds, horizon, **options):
        if horizon == 400:
            raise ZeroDivisionError("oh")
        return simulate(policy, environment, seeds, horizon, **options)

    monkeypatch.setattr(module, "simulate", faulty)
    results = sl.sweep(SMALL, tmp_path, jobs=1)
    assert {(cell.status, cell.reason) for cell in results.absent} == {("failed", "ZeroDivisionError: oh")}
    assert len(results.cells) == finished(tmp_path) == 4
    monkeypatch.undo()
    assert sl.sweep(SMALL, tmp_path, jobs=1).complete


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import sidelight as sl\nsl.sweep({SMALL!r}, {str(tmp_path / 'out')!r}, jobs=2)\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(sl.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 1
    assert 'if __name__ == "__main__":' in run.stderr.splitlines()[-1]
    assert finished(tmp_path / "out") == 0


# -- engines -----------------------------------------------------------------------------------------------


def test_two_cores_give_the_same_bytes_as_one(whole, tmp_path):
    assert sl.sweep(SPEC, tmp_path, jobs=2).complete
    assert contents(tmp_path) == contents(whole)


def test_a_dask_cluster_started_for_the_sweep_gives_the_same_bytes(whole, tmp_path):
    process = started(SPEC, tmp_path, "dask")
    output, errors = process.communicate(timeout=600)
    assert (output, errors) == ("60 True\n", "")
    assert contents(tmp_path) == contents(whole)


@contextlib.contextmanager
def cluster():
    import logging

    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    ) as running:
        yield running


@pytest.mark.full
def test_a_killed_dask_worker_loses_nothing_and_needs_no_shared_files(whole, tmp_path):
    graph = tmp_path / "here" / "g.npz"
    graph.parent.mkdir()
    sl.write_graph(sl.families.cycle(6), graph)
    entries = ["mab:5", "cliques:3,4", {"file": "g.npz", "name": "from a file"}]
    spec = sl.Spec.from_dict({**SPEC, "graphs": entries}, graph.parent)
    built(spec.graphs[-1])
    graph.unlink()  # workers on other machines would not have it either
    out = tmp_path / "out"
    seen = []
    with cluster() as running:

        def kill_one():
            wait_until(lambda: finished(out) >= 3)
            seen.append(finished(out))
            os.kill(running.workers[0].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        results = sl.sweep(spec, out, engine=running.scheduler_address)
        killer.join()
    assert seen[0] < 60
    assert results.complete
    assert len(results.cells) == 60
    shared = {name: data for name, data in contents(out).items() if name in contents(whole)}
    assert len(shared) == 40
    reference = {cell.id: cell for cell in sl.Results.read(whole).cells}
    for cell in results.cells:
        if cell.id in reference:
            assert (cell.regret == reference[cell.id].regret).all()
            assert (cell.plays == reference[cell.id].plays).all()
    by_family = [cell for cell in reference.values() if cell.graph == "cycle:6"]
    from_file = [cell for cell in results.cells if cell.graph == "from a file"]
    pairs = {(c.policy, c.environment, c.horizon): c.regret.tolist() for c in by_family}
    assert {(c.policy, c.environment, c.horizon): c.regret.tolist() for c in from_file} == pairs


def test_engines_that_do_not_exist(tmp_path):
    for engine in ("locall", "http://x", "dask://", 3, None):
        with pytest.raises(sl.InvalidOption, match="unknown engine"):
            sl.sweep(SMALL, tmp_path / "out", engine=engine)
    for jobs in (0, -1, 1.5, "all"):
        with pytest.raises(sl.InvalidOption, match="jobs"):
            sl.sweep(SMALL, tmp_path / "out", jobs=jobs)
    with pytest.raises(sl.InvalidOption, match="got 3"):
        sl.sweep(3, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr("sidelight.experiment.sweep.dask.CONNECT_SECONDS", 1)
    with pytest.raises(sl.errors.WorkerError, match=r"no Dask cluster at tcp://127\.0\.0\.1:9"):
        sl.sweep(SMALL, tmp_path, engine="dask://127.0.0.1:9")


# -- cells -------------------------------------------------------------------------------------------------


def test_what_does_not_apply_is_recorded_with_the_reason_and_not_tried_again(tmp_path, monkeypatch):
    (tmp_path / "blind.csv").write_text("src,dst\n0,1\n0,2\n")
    values = {**SMALL, "graphs": ["cycle:6", "blind.csv"], "environments": ["gap:0.2,5"], "horizons": [100]}
    spec = sl.Spec.from_dict(values, tmp_path)
    results = sl.sweep(spec, tmp_path / "out", jobs=1)
    assert results.complete
    assert [cell.graph for cell in results.cells] == ["cycle:6"] * 2
    assert {(cell.graph, cell.status) for cell in results.absent} == {("blind.csv", "not applicable")}
    assert "5" in results.absent[0].reason  # the environment's best arm does not exist there
    assert finished(tmp_path / "out") == 4
    monkeypatch.setattr(sys.modules["sidelight.experiment.cells"], "simulate", None)
    again = sl.sweep(spec, tmp_path / "out", jobs=1)
    assert again.absent == results.absent
    assert sl.Results.read(tmp_path / "out").absent == results.absent
    plain = {**values, "environments": ["gap"]}
    monkeypatch.undo()
    unobservable = sl.sweep(sl.Spec.from_dict(plain, tmp_path), tmp_path / "other", jobs=1)
    assert all("reveal" in cell.reason for cell in unobservable.absent)
    assert len(unobservable.absent) == 2


DEMAND = "soup\n" + "\n".join(str(k % 6) for k in range(100)) + "\n"


@pytest.fixture
def demand(tmp_path, monkeypatch):
    """A data set with demand for a hundred days, and a sweep that plays it."""
    losses = tmp_path / "data" / "losses"
    losses.mkdir(parents=True)
    (losses / "dishes.json").write_text('{"form": "series"}')
    (losses / "dishes.csv").write_text(DEMAND)
    monkeypatch.setenv("SIDELIGHT_DATA", str(losses.parent))
    return losses, {**SMALL, "environments": ["dataset:dishes"], "horizons": [100]}


def test_other_data_under_the_same_name_are_refused(demand, tmp_path):
    losses, values = demand
    assert sl.sweep(values, tmp_path / "out", jobs=1).complete
    before = contents(tmp_path / "out")
    (losses / "dishes.csv").write_text(DEMAND.replace("4", "3"))
    with pytest.raises(sl.errors.SpecChanged, match="environments: 'dataset:dishes' is not what it was"):
        sl.sweep(values, tmp_path / "out", jobs=1)
    (losses / "dishes.csv").write_text(DEMAND)
    assert sl.sweep(values, tmp_path / "out", jobs=1).complete
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("loss", ["folder", "variable", "while reading"])
def test_missing_data_fail_a_cell_and_it_is_tried_again(demand, tmp_path, monkeypatch, loss):
    losses, values = demand
    spec = sl.Spec.from_dict(values)
    with monkeypatch.context() as patch:
        if loss == "folder":
            losses.rename(losses.with_name("elsewhere"))
        elif loss == "variable":
            patch.delenv("SIDELIGHT_DATA")
        else:  # there when it was hashed, gone a moment later
            (losses / "dishes.csv").rename(losses / "soon.csv")
            patch.setattr("sidelight.experiment.sources.LossSource.verify", lambda self: None)
        results = sl.sweep(spec, tmp_path / "out", jobs=1)
        assert [cell.status for cell in results.absent] == ["failed"] * 2
        assert all("MissingData" in cell.reason for cell in results.absent)
        assert finished(tmp_path / "out") == 0
    if loss == "folder":
        losses.with_name("elsewhere").rename(losses)
    elif loss == "while reading":
        (losses / "soon.csv").rename(losses / "dishes.csv")
    assert sl.sweep(spec, tmp_path / "out", jobs=1).complete
    assert finished(tmp_path / "out") == 2


def test_recorded_losses_that_go_missing_while_they_are_read(tmp_path, monkeypatch):
    for name in ("l.npy", "l.csv"):
        file = tmp_path / name
        if name == "l.npy":
            np.save(file, np.zeros((50, 6)))
        else:
            file.write_text("0,0,0,0,0,1\n" * 50)
        spec = sl.Spec.from_dict(
            {**SMALL, "policies": ["flat"], "environments": [f"replay:{name}"], "horizons": [50]}, tmp_path
        )
        kept = file.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr("sidelight.experiment.sources.LossSource.verify", lambda self, at=file: at.unlink())
            (failed,) = sl.sweep(spec, tmp_path / f"{name}.out", jobs=1).absent
        assert failed.status == "failed"
        assert "does not exist" in failed.reason
        file.write_bytes(kept)
        assert len(sl.sweep(spec, tmp_path / f"{name}.out", jobs=1).cells) == 1


def test_too_few_rounds_and_other_arms_do_not_apply_but_wrong_losses_fail(tmp_path):
    (tmp_path / "l.csv").write_text("0,0,0,0,0,1\n" * 50)
    (tmp_path / "own.py").write_text("def loss(round, arm):\n    return 0.5 if round < 60 else 7.0\n")
    values = {**SMALL, "policies": ["flat"], "graphs": ["cycle:6", "mab:5"], "horizons": [50, 100]}
    files = {**values, "environments": ["replay:l.csv", "own.py:loss"]}
    results = sl.sweep(sl.Spec.from_dict(files, tmp_path), tmp_path / "out", jobs=1)
    absent = {(cell.environment, cell.graph, cell.horizon): cell for cell in results.absent}
    assert {key: cell.status for key, cell in absent.items()} == {
        ("replay:l.csv", "cycle:6", 100): "not applicable",
        ("replay:l.csv", "mab:5", 50): "not applicable",
        ("replay:l.csv", "mab:5", 100): "not applicable",
        ("own.py:loss", "cycle:6", 100): "failed",
        ("own.py:loss", "mab:5", 100): "failed",
    }
    assert "50 rows" in absent["replay:l.csv", "cycle:6", 100].reason
    assert absent["replay:l.csv", "mab:5", 50].reason.startswith("'replay:l.csv' has 6 arms")


def test_company_changes_no_cell(tmp_path):
    alone = sl.sweep({**SMALL, "policies": ["flat"], "horizons": [400]}, tmp_path / "a", jobs=1)
    among = sl.sweep({**SMALL, "policies": ["adaptive", "flat"]}, tmp_path / "b", jobs=1)
    found = {cell.id: cell for cell in among.cells}
    for cell in alone.cells:
        assert (cell.regret == found[cell.id].regret).all()
        assert (cell.ledger == found[cell.id].ledger).all()


def test_progress_is_shown_on_demand_only(tmp_path, capfd):
    sl.sweep(SMALL, tmp_path / "a", jobs=1)
    assert capfd.readouterr() == ("", "")
    sl.sweep(SMALL, tmp_path / "b", jobs=1, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "8/8 cells" in err
    assert "left:" in err
    sl.sweep(SMALL, tmp_path / "b", jobs=1, progress=True)
    assert capfd.readouterr() == ("", "")  # nothing to do
