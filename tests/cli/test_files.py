"""Output that cannot be written: refused before the work, and nothing half written is left."""

import errno
import json
import os
import shutil
import subprocess
import sys

import pytest
from cli_checks import assert_one_line

import sidelight as sl

FOLDERS = {
    "demo": ("demo", "--horizon", "300", "--runs", "1"),
    "run": ("run", "cycle:5", "-T", "100", "--seeds", "1"),
}
"""Commands that write into a folder."""


@pytest.mark.parametrize("command", FOLDERS.values(), ids=FOLDERS)
def test_folders_that_cannot_be_made(fails, tmp_path, command):
    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "/proc/sidelight"):
        fails(*command, "-o", place, says=str(place))
    assert (tmp_path / "file").read_text() == "in the way"


def test_files_that_cannot_be_made(fails, tmp_path):
    for place in (tmp_path, tmp_path / "none" / "plan.json", "/proc/plan.json"):
        fails("plan", "cycle:6", "-T", 100, "-o", place, says=f"cannot write {place}")
    assert list(tmp_path.iterdir()) == []


def test_links_pipes_and_open_files_are_written_to(run, tmp_path):
    plan = ("plan", "cycle:6", "-T", 100, "-o")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.json").symlink_to("elsewhere/plan.json")
    assert run(*plan, tmp_path / "link.json")[0] == 0
    written = (tmp_path / "elsewhere" / "plan.json").read_text()
    assert json.loads(written)["horizon"] == 100
    assert (tmp_path / "link.json").is_symlink()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert run(*plan, pipe)[0] == 0
        assert reader.communicate(timeout=60)[0] == written
    assert pipe.is_fifo()
    code, out, _ = run(*plan, "/dev/stdout", "--json")
    assert code == 0
    assert out.startswith(written)


def test_a_disk_that_fills_up_leaves_the_old_file(fails, tmp_path, monkeypatch):
    file = tmp_path / "plan.json"
    sl.plan("cycle:5", 100).save(file)
    old = file.read_text()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sidelight._files.os.fsync", full)
    fails("plan", "cycle:6", "-T", 100, "-o", file, says=f"cannot write {file}: no space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    assert file.read_text() == old


def mounted(options, script, *arguments):
    """Run a shell script in `$1`, a small file system of its own; the rest are its further arguments."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    mount = 'mkdir -p "$1" && mount -t tmpfs -o "$0" sidelight "$1" || exit 77\n'
    command = ["unshare", "-rm", "sh", "-c", mount + script, options, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode in (1, 77) and "sidelight.cli" not in done.stderr and "error:" not in done.stderr:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    return done


PROGRAM = f'"{sys.executable}" -m sidelight'


def test_a_disk_that_is_really_full(tmp_path):
    script = f'{PROGRAM} plan cycle:3000 -T 1000 -o "$1/plan.json"; echo "exit $?"; ls -A "$1"'
    done = mounted("size=8k", script, tmp_path / "disk")
    assert done.stdout == "exit 1\n"
    assert_one_line(done.stderr)
    assert "no space left on device" in done.stderr


@pytest.mark.parametrize("command", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_that_is_really_read_only(tmp_path, command):
    script = f'{PROGRAM} {" ".join(command)} -o "$1/out"; echo "exit $?"'
    done = mounted("ro", script, tmp_path / "disk")
    assert done.stdout == "exit 1\n"
    assert_one_line(done.stderr)
    assert "read-only file system" in done.stderr
