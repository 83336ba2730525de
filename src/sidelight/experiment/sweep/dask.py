"""Cells on a Dask cluster: a lost worker's cells are played again by the others.

Workers need sidelight in the same version. Graphs from files travel with the tasks, and results travel back to
the process that runs the sweep, so the folder of results is not shared. Losses do not travel: files that
environments name must be at the same path on every worker, and SIDELIGHT_DATA must name the same data sets.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import signal
import warnings
from collections.abc import Generator, Sequence
from typing import Any

from sidelight._version import __version__
from sidelight.errors import InvalidOption, WorkerError
from sidelight.experiment.cells import Outcome, Part, absent, execute
from sidelight.experiment.sources import GraphSource, built
from sidelight.experiment.spec import CellSpec
from sidelight.graph import FeedbackGraph

CONNECT_SECONDS = 20
LOST = "the scheduler was lost; finished cells are kept, run the sweep again to continue"


def on_cluster(
    parts: Sequence[Part], provenance: dict[str, str], address: str | None, jobs: int
) -> Generator[Outcome, None, None]:
    """What came of the parts as they finish, played at `address`, or by `jobs` workers started for this."""
    if not parts:
        return
    distributed = _distributed()
    with contextlib.ExitStack() as held:
        held.enter_context(_quiet())
        client = held.enter_context(_client(distributed, held, address, min(jobs, len(parts))))
        # results of an earlier sweep that the scheduler still knows are not ours
        token = secrets.token_hex(4)
        graphs = _graphs(client, parts, token)
        futures: dict[str, tuple[CellSpec, Any]] = {}
        held.callback(_cancel, client, futures)
        for part in parts:
            key = f"sidelight-{part.cell.id}-{part.seeds[0]}-{token}"
            graph = graphs.get(part.cell.graph)
            futures[key] = (part.cell, client.submit(execute, part, provenance, graph, key=key, pure=False))
        finished = distributed.as_completed([future for _, future in futures.values()], loop=client.loop)
        try:
            for future in finished:
                cell, _ = futures.pop(future.key)  # the cluster forgets a result once nobody holds its future
                yield _outcome(future, cell)
        except OSError as error:
            raise WorkerError(LOST) from error


def dask_setup(worker: object) -> None:
    """Called by every worker that is started for a sweep: ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _outcome(future: Any, cell: CellSpec) -> Outcome:
    if future.status in ("cancelled", "lost"):
        raise WorkerError(LOST)
    if future.status == "error":  # `execute` itself does not raise: too many of its workers have died
        error = future.exception()
        return absent(cell, "failed", f"{type(error).__name__}: {error}")
    outcome: Outcome = future.result()
    theirs = outcome.provenance.get("sidelight")
    if theirs != __version__:
        raise WorkerError(
            f"a worker runs sidelight {theirs}, this is {__version__}; install the same version"
        )
    return outcome


def _client(distributed: Any, held: contextlib.ExitStack, address: str | None, jobs: int) -> Any:
    try:
        if address is None:
            cluster = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # any free port: sweeps may run side by side
                silence_logs=logging.CRITICAL,
                preload=[__name__],
            )
            address = held.enter_context(cluster)
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, RuntimeError, ValueError) as error:  # timeouts are OSErrors
        raise WorkerError(f"no Dask cluster at {address or 'this machine'}: {error}") from error


def _graphs(client: Any, parts: Sequence[Part], token: str) -> dict[GraphSource, Any]:
    """Graphs from files as tasks of their own: unlike scattered data they outlive the worker that has them."""
    graphs = {}
    for source in {part.cell.graph for part in parts if part.cell.graph.path is not None}:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # once per graph, and meant
            key = f"sidelight-graph-{source.digest[:16]}-{token}"
            graphs[source] = client.submit(_same, built(source), key=key, pure=False)
    return graphs


def _same(graph: FeedbackGraph) -> FeedbackGraph:
    return graph


def _cancel(client: Any, futures: dict[str, tuple[CellSpec, Any]]) -> None:
    """What is still running when the sweep ends early would keep the cluster busy for nobody."""
    if futures:
        with contextlib.suppress(Exception):
            client.cancel([future for _, future in futures.values()], force=True)


@contextlib.contextmanager
def _quiet() -> Generator[None, None, None]:
    """What goes wrong is raised; tracebacks of the connection beside it help nobody."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InvalidOption(
            "a Dask engine needs distributed, which is not installed: pip install sidelight[cluster]"
        ) from None
    return distributed
