"""The edge-list kernel against a parser made of split and int."""

import re

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidelight.graph.files._text import parse_edges

LARGEST = 2**31 - 2
lawful = settings(deadline=None, derandomize=True, max_examples=150)


def naive_parse(text, columns, largest):
    """(edges, stop), one line at a time."""
    edges, at = [], 0
    for line in text.split(b"\n")[:-1]:
        if line.rstrip(b"\r").strip(b" \t") or line.count(b"\r") > 1:
            fields = line.rstrip(b"\r").split(b",")
            ids = [field.strip(b" \t") for field in fields[:2]]
            numbers = all(re.fullmatch(rb"\d+", field) for field in ids)
            if len(fields) != columns or not numbers or max(map(int, ids)) > largest or b'"' in line:
                return edges, at
            edges.append((int(ids[0]), int(ids[1])))
        at += len(line) + 1
    return edges, at


def parse(text, columns=2, largest=LARGEST):
    sources, targets = np.empty((2, len(text) // 4 + 1), dtype=np.int32)
    count, stop = parse_edges(np.frombuffer(text, np.uint8), columns, largest, sources, targets)
    return list(zip(sources[:count].tolist(), targets[:count].tolist(), strict=True)), stop


numbers = st.one_of(st.integers(0, 30), st.integers(0, LARGEST + 3)).map(lambda value: str(value).encode())
fields = st.one_of(
    numbers,
    numbers,
    numbers,
    st.sampled_from([b"", b" 7", b"7\t", b"-1", b"1.5", b"nan", b"x", b'"3"', b"\xff"]),
)
lines = st.one_of(
    st.tuples(numbers, numbers).map(b",".join),
    st.lists(fields, min_size=1, max_size=4).map(b",".join),
    st.sampled_from([b"", b"\r", b"0,1\r", b" ", b"\t\r"]),
)


@lawful
@given(st.lists(lines, max_size=8), st.sampled_from([2, 3]), st.sampled_from([5, LARGEST]))
@example([b"0,0", b"00012,3"], 2, LARGEST)
@example([b"1,2,0.5", b"3,4,anything at all"], 3, LARGEST)
@example([b"99999999999999999999999999,1"], 2, LARGEST)
def test_parses_like_split_and_int(rows, columns, largest):
    text = b"".join(row + b"\n" for row in rows)
    assert parse(text, columns, largest) == naive_parse(text, columns, largest)


@lawful
@given(st.lists(st.tuples(st.integers(0, LARGEST), st.integers(0, LARGEST)), max_size=20))
@example([(0, LARGEST), (9, 10), (99, 100)])
def test_parses_what_is_written(edges):
    text = b"".join(b"%d,%d\n" % edge for edge in edges)
    assert parse(text) == (edges, len(text))
