"""Results as tables for other programs."""

import csv
import io

import numpy as np
import pytest
from finished_cells import cell, curve_cell
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment.results import Results
from sidelight.report.tables import COLUMNS, results_rows, summary_csv

RESULTS = Results((curve_cell("auto", seeds=3), cell("x")))


def test_the_long_table_has_a_row_for_each_cell_seed_and_checkpoint():
    table = RESULTS.to_arrow()
    assert table.num_rows == sum(each.regret.size for each in RESULTS.cells)
    assert_array_equal(table["regret"], np.concatenate([each.regret.ravel() for each in RESULTS.cells]))
    first = RESULTS.cells[0]
    assert table["seed"][: first.checkpoints.size].to_pylist() == [0] * first.checkpoints.size
    assert table["policy"].to_pylist() == ["auto"] * first.regret.size + ["x"] * RESULTS.cells[1].regret.size
    assert table["bound"][0].as_py() == first.bound["value"]
    assert table["bound"][-1].as_py() is None
    assert table["certificate"].null_count == table.num_rows  # nobody certified anything
    assert Results(()).to_arrow().schema == table.schema


def test_the_summary_is_what_tables_show():
    table = RESULTS.to_arrow(summary=True)
    assert table.to_pylist() == results_rows(RESULTS)
    assert tuple(table.column_names) == tuple(COLUMNS) == tuple(results_rows(RESULTS)[0])
    assert Results(()).to_arrow(summary=True).schema == table.schema


def test_csv_keeps_every_digit():
    rows = list(csv.DictReader(io.StringIO(summary_csv(RESULTS))))
    assert [float(row["regret"]) for row in rows] == [row["regret"] for row in results_rows(RESULTS)]
    assert rows[1]["bound"] == ""


def test_pandas():
    run = sl.simulate(sl.plan("cycle:5", 50), "gap", seeds=2)
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError:
        for to_pandas in (run.to_pandas, RESULTS.to_pandas):
            with pytest.raises(sl.InvalidOption, match=r"pip install 'sidelight\[pandas\]'"):
                to_pandas()
        return
    assert run.to_pandas().regret.tolist() == run.regret.ravel().tolist()
    frame = RESULTS.to_pandas()
    assert frame.groupby("policy").regret.max()["x"] == 3.0
    assert RESULTS.to_pandas(summary=True).policy.tolist() == ["auto", "x"]
