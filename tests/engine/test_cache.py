"""Cached machine code is forgotten when, and only when, a kernel source has changed."""

import os

import pytest

from sidelight.engine._numba.cache import forget_stale_kernels

CACHED = ("engine.ask-12.py311.nbi", "engine.ask-12.py311.1.nbc", "simplex.add-3.py311.nbi")


@pytest.fixture
def folder(tmp_path):
    """A package with two sources, cached code and an ordinary bytecode file, as after an earlier import."""
    (tmp_path / "engine.py").write_text("a = 1\n")
    (tmp_path / "simplex.py").write_text("b = 1\n")
    (tmp_path / "__pycache__").mkdir()
    forget_stale_kernels(tmp_path)
    fill(tmp_path)
    return tmp_path


def fill(folder):
    for name in (*CACHED, "engine.cpython-311.pyc"):
        (folder / "__pycache__" / name).write_bytes(b"code")


def cached(folder):
    return {file.name for file in (folder / "__pycache__").glob("*.nb?")}


def test_untouched_while_sources_are(folder):
    for _ in range(3):
        assert forget_stale_kernels(folder) is False
        assert cached(folder) == set(CACHED)


def changed(folder):
    (folder / "simplex.py").write_text("b = 22\n")


def touched(folder):
    status = (folder / "simplex.py").stat()
    os.utime(folder / "simplex.py", ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


def added(folder):
    (folder / "walk.py").write_text("")


def removed(folder):
    (folder / "simplex.py").unlink()


def renamed(folder):
    (folder / "simplex.py").rename(folder / "simplices.py")


@pytest.mark.parametrize("change", [changed, touched, added, removed, renamed])
def test_forgotten_when_a_source_changes(folder, change):
    change(folder)
    assert forget_stale_kernels(folder) is True
    assert cached(folder) == set()
    assert (folder / "__pycache__" / "engine.cpython-311.pyc").exists()  # Python looks after its own
    assert forget_stale_kernels(folder) is False
    fill(folder)  # compiled afresh
    assert forget_stale_kernels(folder) is False
    assert cached(folder) == set(CACHED)


def test_a_cache_of_unknown_origin_is_forgotten(tmp_path):
    (tmp_path / "engine.py").write_text("a = 1\n")
    (tmp_path / "__pycache__").mkdir()
    fill(tmp_path)
    assert forget_stale_kernels(tmp_path) is True
    assert cached(tmp_path) == set()


def test_nothing_cached_yet(tmp_path):
    (tmp_path / "engine.py").write_text("a = 1\n")
    assert forget_stale_kernels(tmp_path) is False
    assert (tmp_path / "__pycache__").is_dir()
    assert forget_stale_kernels(tmp_path) is False


def test_other_files_do_not_matter(folder):
    (folder / "notes.txt").write_text("")
    (folder / "__pycache__" / "more.pyc").write_bytes(b"")
    assert forget_stale_kernels(folder) is False
    assert cached(folder) == set(CACHED)


def test_no_half_written_stamps_are_left(folder):
    changed(folder)
    forget_stale_kernels(folder)
    stamps = [file.name for file in (folder / "__pycache__").iterdir() if "stamp" in file.name]
    assert stamps == ["sidelight-kernels.stamp"]
