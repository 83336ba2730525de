"""What is written appears whole or not at all and replaces regular files only; what is read is bounded."""

import gzip
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from sidelight._files import (
    IN_MEMORY,
    allowed,
    digest,
    file_digest,
    is_replaced,
    locked,
    replacing,
    unpacking,
)


def write(path, content=b"new"):
    with replacing(path) as file:
        file.write(content)


def write_half(path):
    with replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def only(folder, *names):
    return sorted(entry.name for entry in folder.iterdir()) == sorted(names)


def test_files_are_made_and_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write(path, b"old")
    os.chmod(path, 0o600)
    write(path)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # what was private stays private
    assert only(tmp_path, "a.txt")


def test_what_fails_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        write_half(path)
    assert path.read_bytes() == b"old"
    assert only(tmp_path, "a.txt")


def test_gz_is_packed_the_same_every_time(tmp_path):
    write(tmp_path / "a.gz")
    write(tmp_path / "b.gz")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"new"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_links_are_followed_and_stay(tmp_path):
    (tmp_path / "far").mkdir()
    target, link, second = tmp_path / "far" / "real", tmp_path / "link", tmp_path / "second"
    link.symlink_to("far/real")  # relative, and dangling at first
    second.symlink_to(link)
    for content in (b"one", b"two"):
        write(second, content)
        assert link.is_symlink()
        assert second.is_symlink()
        assert target.read_bytes() == content
    assert only(tmp_path / "far", "real")


def test_folders_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(IsADirectoryError):
            write(path)
    assert only(tmp_path, "link")


def test_loops_of_links_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        write(tmp_path / "a")


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("size", [3, IN_MEMORY + 1])
def test_pipes_are_written_to(tmp_path, through_link, size):
    pipe = path = tmp_path / "pipe"
    os.mkfifo(pipe)
    if through_link:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(path, b"x" * size)
    reader.join(20)
    assert got == [b"x" * size]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_nothing_half_made_enters_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # without a reader: opening it would block
    with pytest.raises(ZeroDivisionError):
        write_half(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_stay_devices(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # one of our own: the system's is at stake
        with open(device, "wb") as file:
            file.write(b"try")
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    assert not is_replaced(device)
    write(device)
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert only(tmp_path, "null")


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_standard_output_goes_on_where_it_is(tmp_path, name):
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = (
        "from pathlib import Path; from sidelight._files import replacing\n"
        "print('before')\n"
        f"with replacing(Path({str(tmp_path / name)!r})) as file: file.write(b'inside\\n')\n"
        "print('after')"
    )
    out = tmp_path / "out.txt"
    out.write_text("kept\n")
    with open(out, "a") as target:
        subprocess.run([sys.executable, "-c", code], stdout=target, check=True, env={**os.environ})
    assert out.read_text() == "kept\nbefore\ninside\nafter\n"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"before\ninside\nafter\n"


def test_what_unpacks_to_too_much_is_refused_on_the_way(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(10**6)))
    with unpacking(path) as file:
        assert file.read() == bytes(10**6)
    for limit in (10**6 - 1, 1):
        with unpacking(path, limit) as file, pytest.raises(ValueError, match=f"more than {limit:,} bytes"):
            file.read()


def test_the_limit_grows_with_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    assert allowed(path) == 2**28
    os.truncate(path, 2**30)  # sparse: takes no room
    assert allowed(path) == 2**36
    assert allowed(path, 17) == 17


def test_a_lock_is_held_by_one(tmp_path):
    path = tmp_path / ".lock"
    with locked(path) as first, locked(path) as second:
        assert (first, second) == (True, False)
    with locked(path) as again:
        assert again


def test_digests_are_of_everything_in_turn(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    numbers = np.frombuffer(b"abc", dtype=np.uint8)
    assert expected == digest("abc") == digest("a", b"bc") == digest(numbers) == file_digest(tmp_path / "a")
    assert digest(np.arange(6).reshape(2, 3).T) == digest(np.array([0, 3, 1, 4, 2, 5]))
