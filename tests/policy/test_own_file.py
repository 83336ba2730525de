"""Players from files of Python."""

import pickle
import sys

import pytest

import sidelight as sl
from sidelight.policy.own import own_from_source, own_source

PLAYER = """
import helper_of_mine
from dataclasses import dataclass

@dataclass
class Fixed:
    graph: object
    horizon: int
    seed: int
    def ask(self):
        return helper_of_mine.ARM
    def tell(self, losses):
        pass

PLAN = None
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "helper_of_mine.py").write_text("ARM = 2")
    path = tmp_path / "mine.py"
    path.write_text(PLAYER)
    yield path
    sys.modules.pop("helper_of_mine", None)


def load(path, name):
    return own_from_source(path, own_source(path), name)


def test_a_class_may_use_what_stands_beside_its_file(file):
    made = load(file, "Fixed")
    assert made(None, 1, 2).ask() == 2
    assert load(file, "Fixed") is made  # run once
    assert pickle.loads(pickle.dumps(made)) is made
    assert str(file.parent) not in sys.path


def test_another_content_is_another_module(file):
    before = load(file, "Fixed")
    file.write_text(PLAYER + "\nMORE = 1\n")
    assert load(file, "Fixed") is not before


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        (PLAYER, "Fixd", r"nothing called 'Fixd'; did you mean 'Fixed'\? Known names: Fixed"),
        ("x = 1", "Fixed", "nothing called 'Fixed', nor any class"),
        (PLAYER, "PLAN", "PLAN of .* is NoneType, not a class or function"),
    ],
)
def test_names_that_are_not_there(file, source, name, message):
    file.write_text(source)
    with pytest.raises(sl.InvalidOption, match=message):
        load(file, name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = (", r"cannot be run: SyntaxError.*mine\.py:1\)"),
        ("\n\n1 / 0", r"cannot be run: ZeroDivisionError: division by zero \(.*mine\.py:3, in <module>\)"),
        ("import no_such_module_of_mine", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("\0", "cannot be run: SyntaxError"),
    ],
)
def test_files_that_cannot_be_run(file, source, message):
    file.write_text(source)
    with pytest.raises(sl.errors.PolicyError, match=message):
        load(file, "Fixed")
    with pytest.raises(sl.errors.PolicyError, match=message):  # and are not taken for good the second time
        load(file, "Fixed")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(sl.InvalidOption, match="does not exist; write FILE"):
        own_source(tmp_path / "none.py")
    with pytest.raises(sl.InvalidOption, match="cannot be read"):
        own_source(tmp_path)
