"""What the families share: edges in bulk, fast draws, and arguments that are checked once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight._check import checked_count
from sidelight._types import Longs
from sidelight.errors import InvalidOption
from sidelight.graph.edges import Edges
from sidelight.graph.feedback_graph import MAX_MATERIALIZED_EDGES, FeedbackGraph

LONGEST_NUMBER = 100
"""Characters: sizes are multiplied and shown, which Python refuses to do with thousands of digits."""

# -- edges ------------------------------------------------------------------------------------------------


def pairs(sources: Any, targets: Any) -> Longs:
    """(E, 2) edges; a single arm on either side is repeated."""
    i, j = np.broadcast_arrays(np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64))
    return np.column_stack([i.ravel(), j.ravel()])


def from_pairs(n: int, *parts: Longs, labels: Sequence[str] | None = None) -> FeedbackGraph:
    """Graph from batches of edges that are known to be in range."""
    every = np.concatenate(parts)
    return FeedbackGraph._of(Edges(n, every[:, 0], every[:, 1], labels))


def labelled(graph: FeedbackGraph, labels: Sequence[str]) -> FeedbackGraph:
    """The same graph with (distinct) labels."""
    return replace(graph, labels=tuple(labels))


def bernoulli_positions(rng: np.random.Generator, total: int, p: float) -> Longs:
    """Sorted positions in 0..total−1, each kept with probability p: jump ahead by geometric gaps."""
    if total == 0 or p == 0:
        return np.empty(0, dtype=np.int64)
    if p == 1:
        return np.arange(total)
    parts, last = [], -1
    while last < total:
        ahead = total - last
        gaps = rng.geometric(p, size=int(min(ahead * p * 1.05 + 1000, 10_000_000)))
        # Huge gaps would overflow an integer sum: cut where a float sum is surely past the end.
        past = np.cumsum(gaps, dtype=float) > 1.01 * ahead
        finished = bool(past.any())
        positions = last + np.cumsum(gaps[: int(past.argmax())] if finished else gaps)
        parts.append(positions[positions < total])
        last = total if finished else int(positions[-1])
    return np.concatenate(parts)


def distinct_draws(rng: np.random.Generator, counts: Longs, population: int) -> Longs:
    """Codes row·population + value: for each row, `counts[row]` distinct uniform values below population."""
    inverted = counts > population // 2  # for a majority it is quicker to draw what stays out
    wanted = np.where(inverted, population - counts, counts)
    rows = np.arange(counts.size)
    drawn = np.empty(0, dtype=np.int64)
    while (missing := wanted - np.bincount(drawn // population, minlength=counts.size)).any():
        more = np.repeat(rows, missing) * population + rng.integers(population, size=int(missing.sum()))
        drawn = np.unique(np.concatenate([drawn, more]))
    crowded = rows[inverted]
    everyone = (crowded[:, None] * population + np.arange(population)).ravel()
    left_out = inverted[drawn // population]
    kept_in = np.setdiff1d(everyone, drawn[left_out], assume_unique=True)
    return np.concatenate([drawn[~left_out], kept_in])


# -- arguments --------------------------------------------------------------------------------------------


def read_number(word: str, kind: type = float) -> Any:
    """A number written out, of type int or float; ValueError in plain words, where Python speaks of literals."""
    if len(word) > LONGEST_NUMBER:
        raise ValueError(f"{word[:20]!r}… is too long for a number")
    try:
        return kind(
            word if word.isascii() else ""
        )  # Python reads the digits of every script, nobody else does
    except ValueError:
        raise ValueError(f"{word!r} is not a {'whole ' if kind is int else ''}number") from None


def checked_items(name: str, sizes: object) -> list[Any]:
    """A non-empty sequence of block sizes, not yet looked into."""
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Sequence | np.ndarray):
        raise InvalidOption(f"{name} must be a sequence such as [3, 4, 5], got {sizes!r}")
    if len(sizes) == 0:
        raise InvalidOption(f"{name} must name at least one block, got {sizes!r}")
    return list(sizes)


def checked_sizes(name: str, sizes: object) -> Longs:
    """Clique sizes, each ≥ 2, together at most MAX_ARMS arms."""
    values = [checked_count(f"{name}[{k}]", size, 2) for k, size in enumerate(checked_items(name, sizes))]
    checked_count(f"the sum of {name}", sum(values))
    return np.array(values, dtype=np.int64)


def checked_sides(item: object) -> tuple[int, int]:
    """The two sides of a biclique, given as an even total or as a pair."""
    if isinstance(item, Sequence | np.ndarray) and not isinstance(item, str | bytes) and len(item) == 2:
        return checked_count("a", item[0]), checked_count("b", item[1])
    size = checked_count("size", item, least=2)
    if size % 2:
        raise InvalidOption(f"a biclique size must be even (n/2 + n/2) or a pair such as (2, 3), got {size}")
    return size // 2, size // 2


def checked_corrupted(family: str, n: object, c: object) -> tuple[int, int]:
    """(n, c) with 0 ≤ c ≤ n such that corrupted arms are really weak."""
    arms, lost = checked_count("n", n), checked_count("c", c, least=0)
    if lost > arms:
        raise InvalidOption(f"{family} cannot corrupt more arms than there are, got n={arms}, c={lost}")
    if lost and arms < 3:
        raise InvalidOption(
            f"{family} needs n ≥ 3: two arms stay strongly observable, got n={arms}, c={lost}"
        )
    return arms, lost


def refuse_too_many_edges(what: str, edges: int) -> None:
    """An error instead of running out of memory."""
    if edges > MAX_MATERIALIZED_EDGES:
        raise InvalidOption(f"{what} has {edges:,} edges, more than the {MAX_MATERIALIZED_EDGES:,} supported")
