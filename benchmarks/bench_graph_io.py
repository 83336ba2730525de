"""How long graphs take to write, load and classify:  python benchmarks/bench_graph_io.py [arms [edges]]

The default, a million arms with ten million edges, is the size that should load and classify in seconds.
"""

import gzip
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.graph import FeedbackGraph, families, read_graph, write_graph


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def classify(graph: FeedbackGraph) -> dict[str, int]:
    """Arms per class, from the definition."""
    strong = graph.has_loop | graph.is_universal
    unseen = graph.in_degree == 0
    return {"strong": int(strong.sum()), "unobservable": int(unseen.sum())}


def write_unsorted(ends: np.ndarray, path: Path) -> None:
    """A csv.gz in random order, as other programs may leave it."""
    text = "%d,%d\n" * len(ends) % tuple(ends.ravel().tolist())
    path.write_bytes(gzip.compress(b"src,dst\n" + text.encode(), 1))


def main(arms: int = 1_000_000, edges: int = 10_000_000) -> None:
    small = families.cycle(10)
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".csv", ".csv.gz"):  # compile the kernels, which happens once per installation
            write_graph(small, Path(folder, f"warm{ending}"))
            read_graph(Path(folder, f"warm{ending}"))
        rng = np.random.default_rng(7)
        ends = rng.integers(0, arms, size=(edges, 2), dtype=np.int32)
        seconds, graph = timed(lambda: FeedbackGraph.from_edges(arms, ends))
        print(f"{graph}: built from an array in {seconds:.2f} s\n")
        print(f"{'format':<8} {'MB':>6} {'write s':>8} {'load s':>8} {'classify s':>11}")
        for ending in (".npz", ".csv", ".csv.gz", ".mtx"):
            path = Path(folder, f"graph{ending}")
            writing, _ = timed(lambda path=path: write_graph(graph, path))
            loading, loaded = timed(lambda path=path: read_graph(path))
            classifying, _ = timed(lambda loaded=loaded: classify(loaded))
            assert loaded == graph
            size = path.stat().st_size / 1e6
            print(f"{ending:<8} {size:6.0f} {writing:8.2f} {loading:8.2f} {classifying:11.3f}")
            del loaded
        path = Path(folder, "shuffled.csv.gz")
        writing, _ = timed(lambda: write_unsorted(ends, path))
        loading, loaded = timed(lambda: read_graph(path, n_arms=arms))
        assert loaded == graph
        print(f"{'unsorted':<8} {path.stat().st_size / 1e6:6.0f} {writing:8.2f} {loading:8.2f}   (csv.gz)")
    print()
    for name in ("full:100000", "loopless_clique:100000", "cliques:100000x10", "random:1000000,1e-05,7"):
        seconds, made = timed(lambda name=name: families.parse(name))
        print(f"{name:<24} {made.n_edges:>15,} edges in {seconds:.3f} s")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:3]))
