"""Folders of results: exact, whole, and never mistaken for something else."""

import contextlib
import errno
import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.experiment import folder as storage
from sidelight.experiment import parquet
from sidelight.experiment.parquet import decode, encode
from sidelight.experiment.results import Absent, Cell
from sidelight.experiment.run import PlaysOver
from sidelight.report.page import write_report

SPEC = {
    "title": "Small",
    "policies": ["auto", "flat"],
    "graphs": ["cycle:6", "mab:5"],
    "environments": ["gap:0.3"],
    "horizons": [300],
    "seeds": 2,
    "checkpoints": 8,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return sl.sweep(SPEC, tmp_path_factory.mktemp("results"), jobs=1)


@pytest.fixture
def folder(results, tmp_path):
    """A copy of the finished folder, to be mistreated."""
    target = tmp_path / "out"
    subprocess.run(["cp", "-r", results.provenance["folder"], target], check=True)
    return target


def contents(folder):
    return {file.name: file.read_bytes() for file in (Path(folder) / "cells").iterdir()}


def assert_same(one, two):
    for field in ("id", "graph", "policy", "environment", "horizon", "bound", "provenance"):
        assert getattr(one, field) == getattr(two, field)
    for field in ("seeds", "checkpoints", "regret", "cost", "ledger", "certificate", "plays"):
        assert_array_equal(getattr(one, field), getattr(two, field))
    for first, second in zip(one.plays_over or (), two.plays_over or (), strict=True):
        assert_array_equal(first, second)


# -- one file ----------------------------------------------------------------------------------------------


def test_cells_read_back_exactly(results):
    again = sl.Results.read(results.provenance["folder"])
    assert again.title == "Small"
    assert again.complete
    assert len(again.cells) == len(results.cells) == 4
    for one, two in zip(results.cells, again.cells, strict=True):
        assert_same(one, two)
        assert one.nanoseconds_per_round == two.nanoseconds_per_round > 0


def test_what_a_policy_does_not_keep_reads_back_as_none(results):
    bare = replace(results.cells[0], ledger=None, certificate=None, plays=None, bound=None)
    again = decode(encode(bare), "here")
    assert again.ledger is again.certificate is None
    assert again.plays is None
    assert again.bound is None
    assert_array_equal(again.regret, bare.regret)
    assert np.isnan(again.nanoseconds_per_round)
    odd = replace(bare, graph='Größe \U0001f600 "q"', bound={"value": float("inf")})
    assert decode(encode(odd), "here").graph == odd.graph
    assert decode(encode(odd), "here").bound == odd.bound


def test_plays_are_in_the_rows_of_their_rounds(results):
    cell = results.cells[0]
    assert cell.plays_over.rounds.size == cell.checkpoints.size == 8
    fewer = replace(cell, plays_over=PlaysOver(cell.checkpoints[[3, 7]], cell.plays_over.counts[[3, 7]]))
    alone = replace(cell, plays_over=None)
    for one in (cell, fewer, alone):
        assert_same(decode(encode(one), "here"), one)
    assert decode(encode(alone), "here").plays_over is None
    table = pyarrow.parquet.read_table(io.BytesIO(encode(fewer)))
    first = cell.seeds[0]
    rows = [row for row in table.to_pylist() if row["plays"] is not None]
    assert [(row["seed"], row["round"]) for row in rows] == [(first, t) for t in fewer.plays_over.rounds]
    assert [row["plays"] for row in rows] == fewer.plays_over.counts.tolist()


# -- earlier versions --------------------------------------------------------------------------------------

FORMAT_2 = Path(__file__).parent / "data" / "format-2"
"""Two policies on a cycle of four arms, as the version wrote it that kept plays at the end alone."""


def test_a_folder_of_format_2_is_read(tmp_path):
    found = sl.Results.read(FORMAT_2)
    assert found.complete
    flat, uniform = found.cells
    assert (flat.policy, uniform.policy) == ("flat", "uniform")
    assert flat.plays.tolist() == [72, 56, 55, 17]
    assert uniform.plays.tolist() == [45, 45, 52, 58]
    assert flat.plays_over is uniform.plays_over is None
    assert flat.checkpoints.tolist() == [1, 3, 6, 16, 40, 100]
    assert_allclose(flat.regret[:, -1], [22.2, 21.3])
    assert flat.ledger.shape == (2, 6, 4)
    assert uniform.ledger is None
    assert "flat" in write_report(tmp_path, found, files=False).read_text(encoding="utf-8")


def as_format_2(data):
    """The file of the same cell as the earlier version wrote it."""
    cell = decode(data, "here")
    columns, described = parquet._columns(cell), parquet._described(cell) | {"format": 2}
    columns["plays"] = [cell.plays, *[None] * (cell.regret.size - 1)]
    described["digest"] = parquet._digest(described, columns)
    types = parquet._types(pyarrow)
    table = pyarrow.table({name: pyarrow.array(columns[name], type=kind) for name, kind in types.items()})
    sink = io.BytesIO()
    metadata = {parquet.KEY: json.dumps(described).encode()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def test_a_folder_of_format_2_takes_more_policies(folder):
    """Older cells stay as they are, byte for byte; new ones know plays over the rounds; the page shows both."""
    before = {}
    for file in (folder / "cells").iterdir():
        file.write_bytes(as_format_2(file.read_bytes()))
        before[file.name] = file.read_bytes()
    more = {**SPEC, "policies": [*SPEC["policies"], "uniform"]}
    results = sl.sweep(more, folder, jobs=1)
    assert results.complete
    after = contents(folder)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 2
    assert {cell.policy: cell.plays_over is None for cell in results.cells} == {
        "auto": True,
        "flat": True,
        "uniform": False,
    }
    assert (folder / "report.html") == results.write(folder, figures=False)


def test_formats_that_are_not_known_are_refused(results):
    data = encode(results.cells[0]).replace(b'"format": 3', b'"format": 9')
    with pytest.raises(sl.errors.ResultsError, match="has format 9, this version reads 2 to 3"):
        decode(data, "cell.parquet")


def test_inapplicable_cells_read_back_and_failed_ones_keep_their_reason():
    cell = Absent("ab", "g", "p", "e", 7, "not applicable", "arms 3, 4 are revealed by no arm", {"spec": "x"})
    again = decode(encode(cell), "here")
    assert again == cell
    assert again.provenance == cell.provenance


def test_timings_leave_no_trace_in_the_file(results):
    cell = results.cells[0]
    assert encode(cell) == encode(replace(cell, nanoseconds_per_round=1.0))


def test_any_flipped_byte_and_any_cut_is_noticed(results):
    cell = results.cells[0]
    data = encode(cell)
    generator = np.random.default_rng(5)
    silent = 0
    for position in generator.choice(len(data), 400, replace=False):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(generator.integers(8))
        try:
            again = decode(bytes(damaged), "cell.parquet")
        except sl.errors.ResultsError as error:
            assert str(error).startswith("cell.parquet")  # noqa: PT017
        else:  # in statistics and other parts that carry nothing of the cell
            silent += 1
            assert_same(again, cell)
    assert silent < 200
    for length in generator.choice(len(data), 50, replace=False):
        with pytest.raises(sl.errors.ResultsError, match="damaged"):
            decode(data[:length], "cell.parquet")
    with pytest.raises(sl.errors.ResultsError, match="damaged"):
        decode(b"", "cell.parquet")


def test_a_table_of_the_same_form_with_other_numbers_is_refused(results):
    file = Path(results.provenance["folder"]) / "cells" / f"{results.cells[0].id}.parquet"
    table = pyarrow.parquet.read_table(file)
    costs = table["cost"].to_numpy().copy()
    costs[3] += 1e-12
    changed = table.set_column(table.schema.get_field_index("cost"), "cost", pyarrow.array(costs))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(changed, sink)
    with pytest.raises(sl.errors.ResultsError, match="checksum"):
        decode(sink.getvalue().to_pybytes(), "cell.parquet")


def test_files_are_plain_parquet(results):
    table = pyarrow.dataset.dataset(Path(results.provenance["folder"]) / "cells").to_table()
    assert table.num_rows == sum(cell.regret.size for cell in results.cells)
    last = table.filter(pyarrow.compute.field("round") == 300)
    for cell in results.cells:
        rows = last.filter(pyarrow.compute.field("cell") == cell.id)
        assert_array_equal(rows["regret"].to_numpy(), cell.regret[:, -1])
    file = Path(results.provenance["folder"]) / "cells" / f"{results.cells[0].id}.parquet"
    described = json.loads(pyarrow.parquet.read_schema(file).metadata[b"sidelight"])
    assert set(described["provenance"]) == {"sidelight", "python", "numpy", "numba", "platform", "spec"}
    assert described["bound"]["value"] == results.cells[0].bound["value"]


# -- the folder --------------------------------------------------------------------------------------------


def test_running_again_plays_nothing_and_changes_nothing(folder, results, monkeypatch):
    before = contents(folder)
    stamps = {file.name: file.stat().st_mtime_ns for file in (folder / "cells").iterdir()}
    again = sl.sweep(SPEC, folder, jobs=1)
    assert contents(folder) == before
    assert {file.name: file.stat().st_mtime_ns for file in (folder / "cells").iterdir()} == stamps
    assert [cell.id for cell in again.cells] == [cell.id for cell in results.cells]


def test_order_and_title_may_change(folder, results):
    again = sl.sweep({**SPEC, "policies": ["flat", "auto"], "title": "Other"}, folder, jobs=1)
    assert [c.policy for c in again.cells] == ["flat", "auto", "flat", "auto"]
    assert again.title == "Other"
    assert_same(again.cells[1], results.cells[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["auto", "clustered"]}, "policies: added 'clustered'; policies: removed 'flat'"),
        ({"policies": ["auto"]}, "policies: removed 'flat'"),
        ({"horizons": [400]}, "horizons: added 400; horizons: removed 300"),
        ({"graphs": ["cycle:7", "mab:5"]}, "graphs: added 'cycle:7'; graphs: removed 'cycle:6'"),
        ({"graphs": ["cycle:6", {"family": "mab:6", "name": "mab:5"}]}, "'mab:5' is not what it was"),
        ({"seeds": 3}, "seeds: added 2"),
        ({"checkpoints": 9}, "checkpoints: added 9; checkpoints: removed 8"),
        ({"checkpoints": [100]}, "checkpoints: added 100; checkpoints: removed 8"),
    ],
    ids=str,
)
def test_a_changed_spec_is_refused(folder, change, message):
    before = contents(folder)
    with pytest.raises(sl.errors.SpecChanged, match=message) as refused:
        sl.sweep({**SPEC, **change}, folder, jobs=1)
    assert str(folder) in str(refused.value)
    assert "start anew" in str(refused.value)
    assert contents(folder) == before


def test_another_version_is_refused(folder):
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "sidelight": "0.0.1"}))
    with pytest.raises(sl.errors.SpecChanged, match=r"sidelight was 0\.0\.1 and is"):
        sl.sweep(SPEC, folder, jobs=1)


def test_cells_of_an_earlier_meaning_are_refused(folder, monkeypatch):
    monkeypatch.setattr("sidelight.experiment.spec.ID_FORMAT", 1)
    with pytest.raises(sl.errors.SpecChanged, match="the same description now means other cells"):
        sl.sweep(SPEC, folder, jobs=1)


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"x" * 99]
)
def test_damaged_cells_are_played_again(folder, damage):
    before = contents(folder)
    file = next((folder / "cells").iterdir())
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(sl.errors.ResultsError, match=file.name):
        sl.Results.read(folder)
    again = sl.sweep(SPEC, folder, jobs=1)
    assert again.provenance["redone"] == [file.stem]
    assert contents(folder) == before


def test_a_cell_under_the_name_of_another_is_not_used(folder):
    before = contents(folder)
    one, two = sorted((folder / "cells").iterdir())[:2]
    one.write_bytes(two.read_bytes())
    with pytest.raises(sl.errors.ResultsError, match=f"{one.name} holds the cell {two.stem}"):
        sl.Results.read(folder)
    sl.sweep(SPEC, folder, jobs=1)
    assert contents(folder) == before


def test_what_killed_runs_leave_behind_is_cleared_away(folder):
    stray = [folder / "cells" / ".sidelight-00ff.tmp", folder / ".sidelight-00aa.tmp"]
    for file in stray:
        file.write_bytes(b"half a ce")
    with open(folder / "timings.jsonl", "a") as timings:
        timings.write('{"id": "half a li')
    sl.sweep(SPEC, folder, jobs=1)
    assert not any(file.exists() for file in stray)
    lost = next((folder / "cells").iterdir())
    lost.unlink()
    sl.sweep(SPEC, folder, jobs=1)
    assert all(cell.nanoseconds_per_round > 0 for cell in sl.Results.read(folder).cells)


def test_damaged_and_missing_manifests(folder, tmp_path):
    with pytest.raises(sl.errors.ResultsError, match=r"there is no manifest\.json"):
        sl.Results.read(tmp_path)
    good = json.loads((folder / "manifest.json").read_text())
    first = good["cells"][0]
    cells = [1, {}, [1], [[]], [{"id": "a"}], [{**first, "id": 7}], [{**first, "horizon": "300"}]]
    cells += [[{**first, "id": "../a"}], [{**first, "status": "failed"}], None, "ab"]
    damaged = ["{", "[]", '{"format": 99}', '{"format": 1}']
    for text in (*damaged, *(json.dumps({**good, "cells": entries}) for entries in cells)):
        (folder / "manifest.json").write_text(text)
        for use in (lambda: sl.sweep(SPEC, folder, jobs=1), lambda: sl.Results.read(folder)):
            with pytest.raises(sl.errors.ResultsError, match=r"manifest\.json is damaged"):
                use()
    lost = {"cells": [*good["cells"], {**first, "id": "lost"}]}  # has results, and is asked for no more
    (folder / "cells" / "lost.parquet").write_bytes(b"")
    odd = {**good, **lost, "spec": "x", "graphs": [{}], "policies": 3}
    (folder / "manifest.json").write_text(json.dumps(odd))
    with pytest.raises(sl.errors.SpecChanged, match=r"policies: .*removed 3; .*graphs: .*removed \{\}"):
        sl.sweep(SPEC, folder, jobs=1)
    (folder / "manifest.json").unlink()
    with pytest.raises(sl.errors.ResultsError, match="holds cells but no"):
        sl.sweep(SPEC, folder, jobs=1)


def test_two_sweeps_cannot_share_a_folder(folder):
    with (
        storage.ResultsFolder(folder, storage.manifest(sl.Spec.from_dict(SPEC))),
        pytest.raises(sl.errors.ResultsError, match="another sweep"),
    ):
        sl.sweep(SPEC, folder, jobs=1)
    assert sl.sweep(SPEC, folder, jobs=1).complete


def test_unfinished_folders_can_be_read(folder):
    gone = next((folder / "cells").iterdir())
    gone.unlink()
    results = sl.Results.read(folder)
    assert [(cell.id, cell.status) for cell in results.absent] == [(gone.stem, "interrupted")]
    assert not results.complete
    assert len(results.cells) == 3


def test_the_spec_is_kept(tmp_path):
    text = (
        'policies = ["flat"]\ngraphs = ["mab:3"]\nenvironments = ["gap"]\nhorizons = [50]\nseeds = 1  # one\n'
    )
    (tmp_path / "s.toml").write_text(text)
    sl.sweep(tmp_path / "s.toml", tmp_path / "out", jobs=1)
    assert (tmp_path / "out" / "spec.toml").read_text() == text
    assert sl.sweep(tmp_path / "out" / "spec.toml", tmp_path / "out", jobs=1).complete


# -- disks -------------------------------------------------------------------------------------------------


def test_a_full_disk_is_a_typed_error_and_loses_nothing(tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 4:  # the manifest and two cells have been written
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(sl.errors.ResultsError, match=r"No space left on device.*finished cells are kept"):
        sl.sweep(SPEC, tmp_path, jobs=1)
    assert len(sl.Results.read(tmp_path).cells) == 2
    assert not list(tmp_path.rglob("*.tmp"))
    assert sl.sweep(SPEC, tmp_path, jobs=1).complete


@contextlib.contextmanager
def small_disk(place, options):
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(tmp_path, results):
    with small_disk(tmp_path / "disk", "size=48k") as disk:
        (disk / "ballast").write_bytes(bytes(10_000))
        with pytest.raises(sl.errors.ResultsError, match="No space left on device"):
            sl.sweep(SPEC, disk / "out", jobs=1)
        kept = contents(disk / "out")
        assert 0 < len(kept) < 4
        (disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        assert sl.sweep(SPEC, disk / "out", jobs=1).complete
        assert contents(disk / "out") == contents(results.provenance["folder"])


def test_a_read_only_folder(tmp_path):
    with (
        small_disk(tmp_path / "disk", "size=1m,ro") as disk,
        pytest.raises(sl.errors.ResultsError, match=r"cannot write to .*Read-only"),
    ):
        sl.sweep(SPEC, disk / "out", jobs=1)


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(sl.errors.ResultsError, match=r"cannot write to .*out: "):
        sl.sweep(SPEC, tmp_path / "out", jobs=1)


def test_cells_have_statistics(results):
    cell = results.cells[0]
    assert isinstance(cell, Cell)
    assert_array_equal(cell.mean, cell.regret.mean(axis=0))
    assert_allclose(cell.standard_error, abs(cell.regret[0] - cell.regret[1]) / 2, rtol=1e-12)
