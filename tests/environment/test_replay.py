"""Recorded losses: as a matrix or from files, mapped or read, and refused with the place that is wrong."""

import gzip
import mmap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight import _files
from sidelight.environment.tables import read_table

env = sl.environments
LOSSES = np.random.default_rng(8).random((40, 5)).round(6)


def written(path, text):
    if path.suffix == ".gz":
        with gzip.open(path, "wt") as file:
            file.write(text)
    else:
        path.write_text(text)
    return path


def as_csv(table, header=True):
    lines = [",".join(f"a{i}" for i in range(table.shape[1]))] if header else []
    return "\n".join([*lines, *(",".join(map(repr, row)) for row in table.tolist())]) + "\n"


@pytest.mark.parametrize("name", ["losses.csv", "losses.csv.gz"])
@pytest.mark.parametrize("header", [True, False])
def test_text_is_replayed(tmp_path, name, header):
    environment = env.replay(written(tmp_path / name, as_csv(LOSSES, header)))
    assert_array_equal(environment.table, LOSSES)
    assert_array_equal(environment.losses(0, 7, [4, 1]), LOSSES[7, [4, 1]])


def test_windows_line_ends_marks_and_blank_lines(tmp_path):
    file = tmp_path / "losses.csv"
    file.write_bytes(b"\xef\xbb\xbfx,y\r\n0.5,1\r\n\r\n 0.25 ,0\r\n")
    assert_array_equal(env.replay(file).table, [[0.5, 1], [0.25, 0]])


def test_arrays_are_mapped(tmp_path):
    np.save(tmp_path / "losses.npy", LOSSES)
    environment = env.replay(tmp_path / "losses.npy")
    owner = environment.table
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    assert isinstance(owner, mmap.mmap)  # nothing was copied
    assert not environment.table.flags.writeable
    assert_array_equal(environment.table, LOSSES)
    run = sl.simulate(sl.plan(sl.families.mab(5), 40), environment, seeds=[0, 1])
    same = sl.simulate(sl.plan(sl.families.mab(5), 40), env.matrix(LOSSES), seeds=[0, 1])
    assert_array_equal(run.regret, same.regret)
    assert run.environment == str(tmp_path / "losses.npy")


@pytest.mark.parametrize("convert", [np.asfortranarray, np.float32, np.bool_, lambda x: x.astype(">f8")])
def test_other_arrays_are_converted(tmp_path, convert):
    np.save(tmp_path / "losses.npy", convert(LOSSES))
    environment = env.replay(tmp_path / "losses.npy")
    assert environment.table.dtype == np.float64
    assert environment.table.flags.c_contiguous
    assert_array_equal(environment.table, convert(LOSSES).astype(np.float64))


def test_no_more_is_looked_at_than_asked_for(tmp_path):
    """What is wrong further down does not matter, for either kind of file."""
    wrong = LOSSES.copy()
    wrong[20, 2] = np.nan
    np.save(tmp_path / "losses.npy", wrong)
    written(tmp_path / "losses.csv", as_csv(wrong))
    for name in ("losses.npy", "losses.csv"):
        assert_array_equal(env.replay(tmp_path / name, rounds=20).table, LOSSES[:20])
        with pytest.raises(sl.InvalidOption, match="row 20"):
            env.replay(tmp_path / name, rounds=21)


def test_repeating(tmp_path):
    environment = env.replay(written(tmp_path / "losses.csv", as_csv(LOSSES)), repeat=True)
    assert_array_equal(environment.losses(0, 41, np.arange(5)), LOSSES[1])
    with pytest.raises(sl.InvalidOption, match=r"losses\.csv has 40 rows.*41"):
        env.replay(tmp_path / "losses.csv").check_horizon(41)


@pytest.mark.parametrize("bad", ["nan", "inf", "1.5", "-0.25", "", "high"])
def test_fields_that_are_no_losses(tmp_path, bad):
    file = written(tmp_path / "losses.csv", f"left,right\n0.5,0.5\n0.5,{bad}\n")
    with pytest.raises(sl.InvalidOption, match=rf"row 1, column 1 \('right'\).*got '?{bad}"):
        env.replay(file)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.5, -0.25])
def test_entries_that_are_no_losses(tmp_path, bad):
    wrong = LOSSES.copy()
    wrong[17, 3] = bad
    np.save(tmp_path / "losses.npy", wrong)
    with pytest.raises(sl.InvalidOption, match=rf"losses\.npy: row 17, arm 3 .*{bad}"):
        env.replay(tmp_path / "losses.npy")


@pytest.mark.parametrize("line", ["0.5", "0.5,0.5,0.5"])
def test_ragged_rows(tmp_path, line):
    file = written(tmp_path / "losses.csv", f"0.5,0.5\n{line}\n")
    with pytest.raises(sl.InvalidOption, match=rf"row 1 has {line.count(',') + 1} columns.* has 2"):
        env.replay(file)


def test_files_that_are_something_else(tmp_path):
    good = written(tmp_path / "good.csv.gz", as_csv(LOSSES)).read_bytes()
    (tmp_path / "short.csv.gz").write_bytes(good[: len(good) // 2])
    (tmp_path / "plain.csv.gz").write_text("0.5,0.5\n")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "folder.csv").mkdir()
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "words.npy", np.array([["a"]]))
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    np.savez(tmp_path / "many.npz", a=LOSSES)
    (tmp_path / "many.npy").write_bytes((tmp_path / "many.npz").read_bytes())
    names = [file.name for file in tmp_path.iterdir() if file.name != "good.csv.gz"]
    for name in [*names, "absent.csv", "absent.npy", "losses.txt"]:
        with pytest.raises(sl.InvalidOption, match=name.replace(".", r"\.")):
            env.replay(tmp_path / name)
    with pytest.raises(sl.InvalidOption, match="None"):
        env.replay(None)


def test_tables_without_some_columns(tmp_path):
    file = written(tmp_path / "demand.csv", "date,steak, fish\n2013-10-04,36,6\n2013-10-05,30,8\n")
    table = read_table(file, skip={"date"})
    assert table.names == ("steak", "fish")
    assert_array_equal(table.values, [[36, 6], [30, 8]])


# -- matrices ---------------------------------------------------------------------------------------------


def test_matrix_is_read_row_by_row():
    environment = env.matrix(LOSSES)
    assert_array_equal([environment.losses(0, t, np.arange(5)) for t in range(40)], LOSSES)


def test_too_long_a_horizon_for_the_matrix():
    plan = sl.plan(sl.families.mab(5), horizon=41)
    with pytest.raises(sl.InvalidOption, match=r"40 rows.*41"):
        sl.simulate(plan, env.matrix(LOSSES))
    assert sl.simulate(plan, env.matrix(LOSSES, repeat=True)).complete


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan"), float("inf")])
def test_matrices_with_losses_outside_the_unit_interval(bad):
    wrong = LOSSES.copy()
    wrong[17, 3] = bad
    with pytest.raises(sl.InvalidOption, match=rf"row 17, arm 3 .*{bad}"):
        env.matrix(wrong)


@pytest.mark.parametrize("table", [[], [[]], [0.5, 0.5], 0.5, np.zeros((2, 2, 2))], ids=repr)
def test_matrices_of_the_wrong_shape(table):
    with pytest.raises(sl.InvalidOption, match="shape"):
        env.matrix(table)


def test_files_that_unpack_to_far_more_than_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LEAST_LIMIT", 10_000)
    path = written(tmp_path / "bomb.csv.gz", "0.5,0.5\n" * 100_000)
    with pytest.raises(sl.InvalidOption, match="unpacks to more than"):
        env.replay(path)


@pytest.mark.parametrize("name", ["values.csv", "values.npy"])
def test_values_of_any_scale(tmp_path, name):
    values = np.array([[0.0, 25.0, 10.0], [5.0, 20.0, 15.0]])
    if name.endswith("csv"):
        np.savetxt(tmp_path / name, values, delimiter=",", fmt="%g")
    else:
        np.save(tmp_path / name, values)
    for made in (env.replay(tmp_path / name, rewards=(0, 25)), env.matrix(values, rewards=(0, 25))):
        np.testing.assert_allclose(made.table, 1 - values / 25)
        assert made.best_arm(horizon=2) == 1
    np.testing.assert_allclose(env.replay(tmp_path / name, losses=(-25, 25)).table, (values + 25) / 50)
    with pytest.raises(sl.InvalidOption, match=r"must be in \[0, 24\], got .?25"):
        env.replay(tmp_path / name, rewards=(0, 24))
    with pytest.raises(sl.InvalidOption, match=r"row 0, arm 1 must be in \[0, 24\], got 25"):
        env.matrix(values, losses=(0, 24))
    with pytest.raises(sl.InvalidOption, match="not both"):
        env.matrix(values, losses=(0, 25), rewards=(0, 25))
