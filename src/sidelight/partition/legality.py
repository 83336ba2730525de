"""Is a list of blocks a legal partition? Every reason why not, at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._check import is_whole
from sidelight._types import Bools, Longs
from sidelight.analysis.observability import observability
from sidelight.errors import listing
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import gather_rows
from sidelight.graph.names import named

REASONS = {
    "not-a-block": "{block} is {arms}: give a sequence of arms, even for a single one",
    "empty": "{block} is empty",
    "not-an-arm": "{block} holds {arms}: arms are whole numbers",
    "out-of-range": "{block} holds {arms}: no such arm{s}",
    "repeated": "arm {arms} is in blocks {blocks}: keep it in one",
    "missing": "arm{s} {arms}: in no block",
    "unobservable": "{block}: nothing inside reveals arm{s} {arms}",
    "not-strong": "{block} is the single arm {arms}, which is not strongly observable: join it to others",
}
"""What can be wrong, by kind, in words."""


@dataclass(frozen=True)
class Violation:
    """One reason why blocks are not a legal partition; `str` says it in words.

    | kind         | blocks                     | arms                                      |
    |--------------|----------------------------|-------------------------------------------|
    | not-a-block  | the entry                  | the value found there                     |
    | empty        | the block                  | none                                      |
    | not-an-arm   | the block                  | its entries that are no whole numbers     |
    | out-of-range | the block                  | its entries outside 0..n−1                |
    | repeated     | of each occurrence         | the arm                                   |
    | missing      | none                       | every arm in no block                     |
    | unobservable | the block, of size ≥ 2     | its arms that nothing inside reveals      |
    | not-strong   | the singleton              | its arm, not strongly observable in G     |
    """

    kind: str
    blocks: tuple[int, ...]
    arms: tuple[Any, ...]

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, graph: FeedbackGraph | None = None) -> str:
        """What is wrong in words, with the labels of the graph if it is given and has some."""
        labelled = [
            named(graph, arm) if graph is not None and is_whole(arm) else repr(arm) for arm in self.arms
        ]
        return REASONS[self.kind].format(
            block=f"block {self.blocks[0]}" if self.blocks else "",
            blocks=listing(self.blocks),
            arms=listing(labelled),
            s="s" if len(self.arms) > 1 else "",
        )


def legality_violations(graph: FeedbackGraph, blocks: Iterable[Iterable[int]]) -> tuple[Violation, ...]:
    """Every reason why `blocks` is not a legal partition of `graph`; empty exactly when it is one.

    Legal: the blocks are disjoint, non-empty and cover every arm; a block of size ≥ 2 reveals each of
    its arms from inside (the induced subgraph is observable); a singleton is strongly observable in the
    whole graph. Source: section 3.1 of He & Zhang, with singletons read as in docs/theory/readings.md.
    A block that holds something that is no arm is not judged for observability. O(n + edges).

    >>> square = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    >>> [str(reason) for reason in legality_violations(square, [[0, 1], [2]])]
    ['arm 3: in no block', 'block 1 is the single arm 2, which is not strongly observable: join it to others']
    """
    return judge(graph, read_members(blocks))


@dataclass(frozen=True, eq=False)
class Members:
    """Blocks as they were given: block[r] holds arm[r]; what is no 64-bit integer is set apart."""

    n_blocks: int
    block: Longs  # (r,) sorted
    arm: Longs  # (r,) any integer, in range or not
    strange: tuple[Violation, ...]


def read_members(blocks: Iterable[Iterable[int]]) -> Members:
    """Flatten `blocks` without judging it against a graph."""
    # A lone value is no block, and is said to be none.
    entries: list[Any] = list(blocks) if isinstance(blocks, Iterable) else [blocks]
    read = [_integers(k, entry) for k, entry in enumerate(entries)]
    parts, strange = [part for part, _ in read], [violation for _, odd in read for violation in odd]
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    arm = np.concatenate(parts) if parts else np.empty(0)
    return Members(len(parts), owner, arm.astype(np.int64), tuple(strange))


def _integers(k: int, entry: Any) -> tuple[npt.NDArray[Any], list[Violation]]:
    """The 64-bit integers in entry k, and what else is in it."""
    if isinstance(entry, np.ndarray) and entry.ndim == 1 and entry.dtype.kind == "i":
        return entry, []
    none = np.empty(0, dtype=np.int64)
    if isinstance(entry, str | bytes) or not isinstance(entry, Iterable) or getattr(entry, "ndim", 1) == 0:
        return none, [Violation("not-a-block", (k,), (entry,))]
    values = entry.tolist() if isinstance(entry, np.ndarray) else list(entry)
    whole = [value for value in values if is_whole(value)]
    fits = [value for value in whole if -(2**63) <= value < 2**63]
    odd = {
        "not-an-arm": tuple(value for value in values if not is_whole(value)),
        "out-of-range": tuple(value for value in whole if not -(2**63) <= value < 2**63),
    }
    return np.array(fits, dtype=np.int64), [Violation(kind, (k,), some) for kind, some in odd.items() if some]


def judge(graph: FeedbackGraph, members: Members) -> tuple[Violation, ...]:
    """Every violation of `members` as a legal partition of `graph`."""
    n, m = graph.n_arms, members.n_blocks
    block, arm = members.block, members.arm
    foreign = (arm < 0) | (arm >= n)
    reasons = list(members.strange)
    reasons += _grouped("out-of-range", block[foreign], arm[foreign])

    sound = np.ones(m, dtype=bool)  # blocks that hold arms only, and at least one
    sound[block[foreign]] = False
    sound[[reason.blocks[0] for reason in members.strange]] = False
    empty = np.flatnonzero((np.bincount(block, minlength=m) == 0) & sound)
    sound[empty] = False
    reasons += [Violation("empty", (int(k),), ()) for k in empty]

    block, arm = block[~foreign], arm[~foreign]
    times = np.bincount(arm, minlength=n)
    distinct = bool(times.max() <= 1)
    if not distinct:
        reasons += _repeated(block, arm, times)
        block, arm = np.divmod(np.unique(block * n + arm), n)
    missing = np.flatnonzero(times == 0)
    if missing.size:
        reasons.append(Violation("missing", (), tuple(missing.tolist())))

    sizes = np.bincount(block, minlength=m)
    judged = sound[block]
    blind = judged & (sizes[block] > 1) & ~_revealed_inside(graph, block, arm, sizes, distinct)
    reasons += _grouped("unobservable", block[blind], arm[blind])
    strong = np.zeros(n, dtype=bool)
    strong[observability(graph).strong] = True
    lonely = judged & (sizes[block] == 1) & ~strong[arm]
    reasons += _grouped("not-strong", block[lonely], arm[lonely])
    return tuple(reasons)


def _revealed_inside(graph: FeedbackGraph, block: Longs, arm: Longs, sizes: Longs, distinct: bool) -> Bools:
    """(r,) does some arm of block[r] reveal arm[r]? The pairs are distinct and sorted by block."""
    n = graph.n_arms
    revealed = graph.has_loop[arm] | (graph.is_universal[arm] & (sizes[block] > 1))
    if distinct:  # every arm has one home: compare the homes of the two ends of each edge
        home = np.full(n, -1, dtype=np.int32)
        home[arm] = block
        target = graph.in_targets
        hit = target[home[graph.in_indices] == home[target]]
        seen = np.zeros(n, dtype=bool)
        seen[hit] = True
        result: Bools = revealed | seen[arm]  # homeless arms are not asked for
        return result
    # Overlapping blocks are wrong already, but what else is wrong is said too: look up (block, source) pairs.
    degree, sources = gather_rows(graph.in_indptr, graph.in_indices, arm)
    row = np.repeat(np.arange(arm.size), degree)
    hits = np.isin(block[row] * n + sources, block * n + arm, kind="sort")
    revealed[row[hits]] = True
    return revealed


def _repeated(block: Longs, arm: Longs, times: Longs) -> list[Violation]:
    """One violation per arm that occurs more than once, with the block of each occurrence."""
    rows = np.flatnonzero(times[arm] > 1)
    rows = rows[np.argsort(arm[rows], kind="stable")]
    by_arm = _grouped("repeated", arm[rows], block[rows])
    return [Violation("repeated", violation.arms, violation.blocks) for violation in by_arm]


def _grouped(kind: str, block: Longs, arm: Longs) -> list[Violation]:
    """One violation per block (sorted) with all its arms."""
    if block.size == 0:
        return []
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    stops = np.append(starts[1:], block.size)
    owners, arms = block[starts].tolist(), arm.tolist()
    return [
        Violation(kind, (owner,), tuple(arms[a:b])) for owner, a, b in zip(owners, starts, stops, strict=True)
    ]
