"""`sidelight look --live`: how far a sweep is, and its results so far, from a server on this machine alone."""

import json
import os
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

import sidelight as sl
from sidelight.cli.watching import Progress, Watched
from sidelight.errors import ResultsError

SPEC = {
    "policies": ["uniform", "exp3g"],
    "graphs": ["cycle:5"],
    "environments": ["gap:0.2"],
    "horizons": [50, 100],
    "seeds": 3,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    sl.sweep(SPEC, folder, jobs=1, progress=False)
    return folder


@contextmanager
def watched(folder):
    server = Watched(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.close()


def unfinished(whole, folder, left=2):
    """A copy of the folder in which some cells are not there yet, and how to finish the next one."""
    (folder / "cells").mkdir(parents=True)
    for name in ("manifest.json", "timings.jsonl"):
        (folder / name).write_bytes((whole / name).read_bytes())
    cells = sorted((whole / "cells").glob("*.parquet"))
    for file in cells[left:]:
        (folder / "cells" / file.name).write_bytes(file.read_bytes())

    def finish():
        file = next(each for each in cells if not (folder / "cells" / each.name).exists())
        (folder / "cells" / file.name).write_bytes(file.read_bytes())

    return finish


def test_pace_and_time_left(tmp_path):
    (tmp_path / "cells").mkdir()
    manifest = {"cells": [{"id": name, "horizon": 100} for name in "abcd"], "seeds": [0, 1]}
    assert Progress.of(tmp_path, manifest) == Progress(0, 4, 0.0, None, None)
    for at, name in enumerate(["a", "b", "c", "stranger"]):
        file = tmp_path / "cells" / f"{name}.parquet"
        file.touch()
        os.utime(file, (1000 + 10 * at, 1000 + 10 * at))
    assert Progress.of(tmp_path, manifest) == Progress(3, 4, 0.75, 20.0, 10.0)


def test_a_sweep_while_it_runs(whole, tmp_path):
    finish = unfinished(whole, tmp_path / "s")
    with watched(tmp_path / "s") as server:
        with urllib.request.urlopen(server.address) as answer:
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert '<script src="assets/progress.js">' in answer.read().decode()
        with urllib.request.urlopen(f"{server.address}events") as stream:
            counts = []
            for line in stream:
                if line.startswith(b"data: "):
                    counts.append(json.loads(line[6:])["done"])
                    if counts[-1] == 4:
                        break
                    finish()
            assert counts == [2, 3, 4]
        with urllib.request.urlopen(server.address) as answer:
            assert "without numbers" not in answer.read().decode()  # made anew, with all of them


def test_nobody_else(whole):
    with watched(whole) as server:
        asked = urllib.request.Request(server.address, headers={"Host": "example.org"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked)
        assert refused.value.code == 403
        refused.value.close()
        with pytest.raises(urllib.error.HTTPError) as unknown:
            urllib.request.urlopen(f"{server.address}assets/../manifest.json")
        assert unknown.value.code == 404
        unknown.value.close()


def test_nothing_to_watch(tmp_path, run):
    with pytest.raises(ResultsError):
        Watched(tmp_path)
    code, _, err = run("look", tmp_path, "--live")
    assert code != 0
    assert "no results" in err
