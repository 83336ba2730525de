"""`sidelight doctor`: is this installation able to do its work? One function for each check."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple

import click

from sidelight._check import checked_jobs
from sidelight._version import __version__
from sidelight.cli import options
from sidelight.cli.screen import columns, emit, emit_json, safe

BROKEN = 3
"""Exit code when something essential does not work."""


class Finding(NamedTuple):
    """What one check found: "ok", "note" (works, but could be better) or "broken"."""

    name: str
    state: str
    detail: str


@click.command(short_help="Check that this installation works.")
@click.option("--no-run", is_flag=True, help="Leave out the self-check, which may compile for a minute.")
@options.option("--store FILE", str, "Check the SQLite file of a service too, every page of it.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, no_run: bool, store: str | None, as_json: bool) -> None:
    """Check Python, packages, machine, compiled kernels and permissions, and play a small game that checks itself.

    Exits with 3 if something essential is broken.
    """
    results = list(findings(not no_run, store))
    broken = [finding for finding in results if finding.state == "broken"]
    if as_json:
        emit_json({"healthy": not broken, "findings": [finding._asdict() for finding in results]})
    else:
        marks = {"ok": "[green]ok[/green]", "note": "[yellow]note[/yellow]", "broken": "[red]broken[/red]"}
        rows = [(finding.name, marks[finding.state], safe(finding.detail)) for finding in results]
        emit(columns("sidelight doctor", ("", "", ""), rows))
        emit(f"{len(broken)} essential things are broken" if broken else "everything essential works")
    if broken:
        ctx.exit(BROKEN)


def findings(run: bool = True, address: str | None = None) -> Iterator[Finding]:
    """Every check in turn; one that fails in an unforeseen way counts as broken and stops no other."""
    checks: list[Callable[[], Iterator[Finding]]] = [python, packages, machine, kernels, sqlite, permissions]
    if address is not None:
        checks.append(partial(store, address))
    for check in (*checks, self_check) if run else checks:
        try:
            yield from check()
        except Exception as error:
            name = getattr(check, "__name__", "store").replace("_", " ")
            yield Finding(name, "broken", f"{type(error).__name__}: {error}")


# -- checks -------------------------------------------------------------------------------------------------


OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE, SOUND_WAL = [3, 35], [3, 51, 3]
SCARCE_MEMORY = 1 << 30
SCARCE_DISK = 200 << 20
CGROUP = Path("/sys/fs/cgroup")

EXTRAS = {
    "distributed": "cluster",
    "httpx": "client",
    "msgspec": "service",
    "starlette": "service",
    "uvicorn": "service",
    "prometheus_client": "service",
    "psycopg": "postgres",
}
"""Optional packages and the extra that brings each."""


def python() -> Iterator[Finding]:
    """The interpreter and where the library is."""
    state = "ok" if sys.version_info >= OLDEST_PYTHON else "broken"
    yield Finding("python", state, f"{platform.python_version()} ({sys.executable}), needs 3.11 or newer")
    yield Finding("sidelight", "ok", f"{__version__} in {Path(__file__).parents[1]}")


def packages() -> Iterator[Finding]:
    """Every package that the library requires, importable and not too old; optional ones with how to get them."""
    for name, least in requirements():
        yield _package(name, least)
    for name, extra in EXTRAS.items():
        finding = _package(name, "")
        if finding.state == "ok":
            yield finding._replace(detail=f"{finding.detail} (extra {extra!r})")
        else:
            yield Finding(name, "note", f"{finding.detail}; optional: pip install 'sidelight[{extra}]'")


def requirements() -> list[tuple[str, str]]:
    """(package, least version) of everything that the installed library declares as required."""
    declared = metadata.requires("sidelight") or []
    plain = [line for line in declared if "extra ==" not in line]
    matches = [re.match(r"([A-Za-z0-9._-]+)\s*(?:>=\s*([0-9.]+))?", line) for line in plain]
    return [(match[1], match[2] or "") for match in matches if match]


def _package(name: str, least: str) -> Finding:
    try:
        import_module(name)
        version = metadata.version(name)
    except Exception as error:  # a broken binary raises all kinds
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        return Finding(name, "broken", "not installed" if missing else f"{type(error).__name__}: {error}")
    if least and _order(version) < _order(least):
        return Finding(name, "broken", f"{version} is too old: pip install '{name}>={least}'")
    return Finding(name, "ok", version)


def _order(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


def machine() -> Iterator[Finding]:
    """Cores and memory that this process may use."""
    yield Finding("cores", "ok", f"{checked_jobs(None)} ({platform.machine()}, {platform.system()})")
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = page * os.sysconf("SC_PHYS_PAGES"), page * os.sysconf("SC_AVPHYS_PAGES")
        listed = Path("/proc/meminfo").read_text()
        free = int(re.findall(r"MemAvailable:\s*(\d+) kB", listed)[0]) << 10
    except (AttributeError, ValueError, OSError, IndexError):
        yield Finding("memory", "note", "unknown on this system")
        return
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        limit, used = (int((CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        total, free = min(total, limit), max(min(free, limit - used), 0)
    state = "ok" if free >= SCARCE_MEMORY else "note"
    yield Finding("memory", state, f"{_gigabytes(total)}, {_gigabytes(free)} free")


def kernels() -> Iterator[Finding]:
    """Where compiled kernels are kept, and whether those of the simulation are there."""
    from numba.core import config

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        yield Finding("kernels", "note", "NUMBA_DISABLE_JIT is set: everything runs interpreted, very slowly")
        return
    from sidelight.engine._numba.cache import folders

    compiled = any(list(folder.glob("*.play-*")) for folder in folders())
    detail = "compiled" if compiled else "not compiled yet: first runs wait for it, or `sidelight warmup`"
    yield Finding("kernels", "ok" if compiled else "note", detail)
    folder = folders()[-1].parent if folders() else Path()
    if _can_write(folder):
        yield Finding("kernel cache", "ok", str(folder))
    else:
        hint = "set SIDELIGHT_CACHE_DIR to a folder of yours, or every process compiles anew"
        yield Finding("kernel cache", "note", f"{folder} cannot be written; {hint}")


def sqlite() -> Iterator[Finding]:
    """What the embedded store of the decision service would run on."""
    import sqlite3

    version = sqlite3.sqlite_version
    detail = f"{version}, needs 3.35 or newer"
    if _order(version) < SOUND_WAL:  # needs two writers on one file, and the service is the only one
        detail += "; a rare fault of its log was fixed in 3.51.3: let no other program write to a store"
    yield Finding("sqlite", "ok" if _order(version) >= OLDEST_SQLITE else "broken", detail)


def store(address: str) -> Iterator[Finding]:
    """Every page and index of the file of a service, which may go on meanwhile, by SQLite's own check."""
    from sidelight.service.store.base import reading
    from sidelight.service.store.sqlite import SqliteStore

    start = time.perf_counter()
    with reading(address) as opened:
        if not isinstance(opened, SqliteStore):
            yield Finding("store", "note", f"{opened.where} is checked by its own server")
            return
        if problems := opened.problems():
            yield Finding("store", "broken", f"{opened.path} is damaged: {'; '.join(problems[:3])}")
            return
        what = f"{opened.path}, {opened.count():,} policies: integrity_check finds nothing wrong"
    yield Finding("store", "ok", f"{what} ({time.perf_counter() - start:.1f} s)")


def permissions() -> Iterator[Finding]:
    """May results be written here, and temporary files anywhere?"""
    here, temporary = Path.cwd(), Path(tempfile.gettempdir())  # which raises where there is none
    if _can_write(here):
        state = "ok" if shutil.disk_usage(here).free >= SCARCE_DISK else "note"
        yield Finding("this folder", state, _room(here))
    else:
        yield Finding("this folder", "note", f"{here} cannot be written: name another with -o")
    yield Finding("temporary files", "ok", _room(temporary))


def self_check() -> Iterator[Finding]:
    """Plan, verify and play a small graph; compiled simulation and ask/tell must agree."""
    import numpy as np

    import sidelight as sl

    start = time.perf_counter()
    graph = sl.families.cycle(6)
    if not sl.fractional_domination(graph).verify(graph):
        raise AssertionError("the certificate of δ* does not hold")
    plan = sl.plan(graph, horizon=1000)
    failing = [check.name for check in sl.check_certificate(plan) if not check.holds]
    if failing:
        raise AssertionError(f"the certificate of the plan does not hold: {', '.join(failing)}")
    coins = sl.environments.bernoulli(np.array([0.5, 0.5, 0.2, 0.5, 0.5, 0.5]))
    run = sl.simulate(plan, coins, seeds=[7], progress=False)
    policy, plays = plan.policy(seed=7), np.zeros(6, dtype=np.int64)
    for t in range(1000):
        arm = policy.ask()
        plays[arm] += 1
        policy.tell(coins.losses(7, t, graph.out_neighbors(arm)))
    if run.plays is None or not np.array_equal(run.plays[0], plays):
        raise AssertionError("a simulated run and the same run by ask and tell played different arms")
    regret = f"regret {run.regret[0, -1]:,.0f} of at most {plan.bound.value:,.0f}"
    what = f"planned, verified and played 1,000 rounds twice, {regret} ({time.perf_counter() - start:.1f} s)"
    yield Finding("self-check", "ok", what)


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".sidelight-"):
            return True
    except OSError:
        return False


def _room(folder: Path) -> str:
    return f"{folder}, {_gigabytes(shutil.disk_usage(folder).free)} free"


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):,.1f} GB"
