"""Machine code is kept, shared and never stale; where it cannot be kept, everything runs all the same."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from sidelight.engine._numba import cache

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

COMPILED = """
import sys
import numpy as np
from sidelight.engine.random import fill_hashed_units
out = np.zeros(3)
fill_hashed_units(1, 2, np.arange(3), out)
print(out)
print(sum(fill_hashed_units.stats.cache_hits.values()), file=sys.stderr)
"""


def played(code=COMPILED, package=None, **environment):
    """Run a small kernel in a process of its own: what it prints, and was its code in the cache?"""
    package = package or cache.PACKAGE.parent
    kept = {name: value for name, value in os.environ.items() if not re.search("CACHE|NUMBA|HOME", name)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"PYTHONPATH": str(package)} | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.split() == ["1"]


def files(folder):
    return [file for file in Path(folder).rglob("*") if file.is_file()]


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to be altered."""
    copied = tmp_path / "package" / "sidelight"
    shutil.copytree(cache.PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied.parent


# -- what the address says ------------------------------------------------------------------------------


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "round.py").write_text("a = 1\n")
    (tmp_path / "_search_kernels.py").write_text("b = 1\n")
    (tmp_path / "cli.py").write_text("c = 1\n")
    return tmp_path


def changed(sources):
    (sources / "_search_kernels.py").write_text("b = 2\n")


def added(sources):
    (sources / "engine" / "walk.py").write_text("")


def removed(sources):
    (sources / "_search_kernels.py").unlink()


def renamed(sources):
    (sources / "engine" / "round.py").rename(sources / "engine" / "rounds.py")


@pytest.mark.parametrize("change", [changed, added, removed, renamed])
def test_other_sources_have_another_digest(sources, change):
    before = cache.source_digest(sources)
    change(sources)
    assert cache.source_digest(sources) != before


def test_equal_sources_have_the_same_digest(sources, tmp_path_factory):
    before = cache.source_digest(sources)
    os.utime(sources / "engine" / "round.py", ns=(1, 1))
    (sources / "cli.py").write_text("c = 2\n")  # compiles nothing
    assert cache.source_digest(sources) == before
    elsewhere = tmp_path_factory.mktemp("other") / "installation"
    shutil.copytree(sources, elsewhere)
    assert cache.source_digest(elsewhere) == before


def test_no_sources_no_digest(tmp_path):
    assert cache.source_digest(tmp_path) is None


def test_all_compiled_functions_are_in_the_sources():
    """A function compiled elsewhere would go stale unnoticed."""
    known = {source for pattern in cache.KERNEL_SOURCES for source in cache.PACKAGE.glob(pattern)}
    decorated = re.compile(r"^@(\w*jit|kernel|internal|inlined|compiled|loop|callback)\b", re.MULTILINE)
    assert [file for file in cache.PACKAGE.rglob("*.py") if decorated.search(file.read_text())]
    for file in cache.PACKAGE.rglob("*.py"):
        assert file in known or not decorated.search(file.read_text()), file


# -- processes that come after ----------------------------------------------------------------------------


def test_code_is_kept_and_found_again(tmp_path):
    first, hit = played(SIDELIGHT_CACHE_DIR=tmp_path)
    assert not hit
    names = {file.name.partition("-")[0] for file in files(tmp_path)}
    assert "sidelight.engine.random.fill_hashed_units" in names
    assert played(SIDELIGHT_CACHE_DIR=tmp_path) == (first, True)


def test_equal_sources_share_and_others_do_not(tmp_path, package):
    first, _ = played(SIDELIGHT_CACHE_DIR=tmp_path / "cache")
    assert played(package=package, SIDELIGHT_CACHE_DIR=tmp_path / "cache") == (first, True)
    callee = package / "sidelight" / "engine" / "random.py"
    callee.write_text(callee.read_text().replace("0x94D049BB133111EB", "0x94D049BB133111ED"))
    other, hit = played(package=package, SIDELIGHT_CACHE_DIR=tmp_path / "cache")
    assert not hit
    assert other != first  # not the stale number
    assert played(SIDELIGHT_CACHE_DIR=tmp_path / "cache") == (first, True)  # nothing was taken from the first


def test_a_source_that_changes_under_a_process_is_not_kept(tmp_path, package):
    """Its functions were read before: kept, they would pass for those of the new source."""
    source = package / "sidelight" / "engine" / "random.py"
    edit = f"import sidelight.engine.random\nopen({str(source)!r}, 'a').write('# more')\n"
    played(edit + COMPILED, package=package, SIDELIGHT_CACHE_DIR=tmp_path / "cache")
    assert not [file for file in files(tmp_path / "cache") if "fill_hashed_units" in file.name]


HARMS = {
    "empty": lambda content: b"",
    "cut short": lambda content: content[:-100],
    "one bit": lambda content: content[:999] + bytes([content[999] ^ 1]) + content[1000:],
    "not ours": lambda content: b"code" * 100,
}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache of one function in one folder, and that file."""
    monkeypatch.setattr(cache, "folders", lambda: (tmp_path,))
    kept = cache.KernelCache(_twice)
    kept.save_overload("int64", _compiled(_twice))
    assert kept.load_overload("int64", TARGET).entry_point(21) == 42
    assert kept.load_overload("float64", TARGET) is None
    (file,) = files(tmp_path)
    return kept, file


def _twice(x):
    return 2 * x


def _compiled(function):
    compiled = numba.njit(function)
    compiled.compile((numba.int64,))
    (result,) = compiled.overloads.values()
    return result


TARGET = numba.njit(_twice).targetctx if not numba.config.DISABLE_JIT else None


@pytest.mark.parametrize("harm", HARMS)
def test_harmed_files_are_not_loaded(kept, harm):
    kept, file = kept
    file.write_bytes(HARMS[harm](file.read_bytes()))
    assert kept.load_overload("int64", TARGET) is None


def test_a_folder_in_place_of_a_file(kept):
    kept, file = kept
    file.unlink()
    file.mkdir()
    assert kept.load_overload("int64", TARGET) is None
    kept.save_overload("int64", _compiled(_twice))  # cannot, and says nothing
    assert kept.load_overload("int64", TARGET) is None


def test_switched_off(kept):
    kept, file = kept
    kept.disable()
    assert kept.load_overload("int64", TARGET) is None
    file.unlink()
    kept.save_overload("int64", _compiled(_twice))
    assert not file.exists()
    kept.enable()
    kept.save_overload("int64", _compiled(_twice))
    assert file.exists()


def test_many_processes_at_once(tmp_path):
    """All compile, all write, all run; what is left is whole."""
    environment = os.environ | {"SIDELIGHT_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILED]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    printed = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4
    assert len(printed) == 1
    assert not [file for file in files(tmp_path) if file.name.startswith(".")]  # nothing half-written
    assert all(cache._opened(file.read_bytes()) for file in files(tmp_path))
    assert played(SIDELIGHT_CACHE_DIR=tmp_path)[1]


# -- where it is kept -------------------------------------------------------------------------------------


def test_places_in_order(monkeypatch, tmp_path):
    for name in ("SIDELIGHT_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.places() == [tmp_path / "home/.cache/sidelight/kernels"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.places() == [tmp_path / "xdg/sidelight/kernels"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache.places() == [tmp_path / "numba/sidelight"]
    monkeypatch.setenv("SIDELIGHT_CACHE_DIR", str(tmp_path / "own"))
    assert cache.places() == [tmp_path / "own/kernels"]
    monkeypatch.setenv("SIDELIGHT_CACHE_DIR", "/proc/nobody")  # read, if it is there; not written
    assert cache.places() == [Path("/proc/nobody/kernels"), tmp_path / "numba/sidelight"]


def test_without_a_home_temporary_files_serve(tmp_path):
    nowhere = {"HOME": "/proc/nobody", "TMPDIR": tmp_path}
    first, hit = played(**nowhere)
    assert not hit
    assert played(**nowhere) == (first, True)
    (own,) = tmp_path.iterdir()
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trap", ["open to others", "a link"])
def test_a_temporary_folder_of_others_is_not_trusted(tmp_path, trap):
    name = f"sidelight-{os.geteuid()}"
    if trap == "a link":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    played(HOME="/proc/nobody", TMPDIR=tmp_path)  # in memory
    assert not files(tmp_path)


def test_a_place_that_cannot_be_written_is_read_and_passed_over(tmp_path, monkeypatch):
    """As in an image whose kernels were compiled while it was built.

    Root may write anywhere, so the refusal is made here.
    """
    built, own = tmp_path / "built", tmp_path / "own"
    monkeypatch.setattr(cache, "folders", lambda: (built, own))

    def write(folder, name, content, write=cache._write):
        if folder == built:
            raise PermissionError
        write(folder, name, content)

    monkeypatch.setattr(cache, "_write", write)
    kept = cache.KernelCache(_twice)
    kept.save_overload("int64", _compiled(_twice))
    assert [file.parent for file in files(tmp_path)] == [own]
    shutil.move(own, built)
    assert kept.load_overload("int64", TARGET).entry_point(21) == 42


def test_nothing_is_written_into_the_package(tmp_path, package):
    before = files(package)
    played(package=package, SIDELIGHT_CACHE_DIR=tmp_path / "cache", PYTHONDONTWRITEBYTECODE=1)
    assert files(package) == before


# -- what is no longer used ---------------------------------------------------------------------------------


def test_old_folders_are_forgotten(tmp_path):
    old, recent = tmp_path / "old", tmp_path / "recent"
    for folder in (old, recent):
        cache._write(folder, "code", b"")
    os.utime(old, (0, 0))
    cache._write(tmp_path / "new", "code", b"")  # when a new one comes
    assert not old.exists()
    assert {file.parent.name for file in files(tmp_path)} == {"recent", "new"}


def test_a_folder_in_use_is_not_old(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE_DIR", str(tmp_path))
    (folder,) = cache.folders.__wrapped__()
    folder.mkdir(parents=True)
    os.utime(folder, (0, 0))
    assert cache.folders.__wrapped__() == (folder,)
    assert folder.stat().st_mtime > 1e9
