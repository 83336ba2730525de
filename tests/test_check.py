"""Arguments as they enter."""

import os

import pytest

import sidelight as sl
from sidelight._check import checked_path
from sidelight.environment.data import data_folder
from sidelight.errors import (
    GraphFileError,
    InvalidOption,
    MissingData,
    ResultsError,
    SavedStateError,
    SpecError,
)
from sidelight.experiment.claims import reproduce
from sidelight.experiment.results import Results
from sidelight.report.claims_page import write_claims_page
from sidelight.report.page import write_report

SPEC = {"policies": ["auto"], "graphs": ["cycle:6"], "environments": ["gap"], "horizons": [10], "seeds": 1}

TAKES_A_PATH = {
    "read_graph": (lambda path: sl.read_graph(path), GraphFileError),
    "write_graph": (lambda path: sl.write_graph(sl.families.cycle(5), path), GraphFileError),
    "Policy.save": (
        lambda path: sl.plan(sl.families.cycle(5), 10).policy(seed=0).save(path),
        SavedStateError,
    ),
    "Policy.load": (lambda path: sl.Policy.load(path), SavedStateError),
    "replay": (lambda path: sl.environments.replay(path), InvalidOption),
    "data sets": (lambda path: data_folder(path), MissingData),
    "Spec.read": (lambda path: sl.Spec.read(path), SpecError),
    "Spec.from_dict": (lambda path: sl.Spec.from_dict(SPEC, path), SpecError),
    "sweep": (lambda path: sl.sweep(sl.Spec.from_dict(SPEC), path, jobs=1), ResultsError),
    "Results.read": (lambda path: Results.read(path), ResultsError),
    "reproduce": (
        lambda path: reproduce(["clique-domination"], quick=True, folder=path),
        InvalidOption,
    ),
    "report": (lambda path: write_report(path, Results((), "", {}, ())), InvalidOption),
    "page of the claims": (lambda path: write_claims_page(None, path), InvalidOption),
}


@pytest.mark.parametrize("path", ["a\0b.csv", "half a pair \ud800.csv", 5, b"bytes.csv"])
@pytest.mark.parametrize("name", TAKES_A_PATH)
def test_what_no_file_is_called_is_refused(name, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error = TAKES_A_PATH[name]
    with pytest.raises(error, match=r"path, got|no file name has"):
        call(path)
    assert not list(tmp_path.iterdir())


def test_paths_of_all_kinds(tmp_path):
    assert checked_path("a file", str(tmp_path)) == checked_path("a file", tmp_path) == tmp_path
    with os.scandir(tmp_path.parent) as entries:
        assert checked_path("a file", next(entries)).parent == tmp_path.parent
    assert checked_path("a file", "caf\udce9")  # bytes of a name that is no UTF-8, as Python spells them
