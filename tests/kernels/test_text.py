"""The edge-list kernels against a parser made of split and int."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidelight.kernels.text import format_edges, parse_edges, write_number

LARGEST = 2**31 - 2
lawful = settings(deadline=None, derandomize=True, max_examples=150)


def naive_parse(text, columns, largest):
    """(edges, lines, stop), one line at a time."""
    edges, lines, at = [], 0, 0
    for line in text.split(b"\n")[:-1]:
        if line.rstrip(b"\r").strip(b" \t") or line.count(b"\r") > 1:
            fields = line.rstrip(b"\r").split(b",")
            ids = [field.strip(b" \t") for field in fields[:2]]
            numbers = all(re.fullmatch(rb"\d+", field) for field in ids)
            if len(fields) != columns or not numbers or max(map(int, ids)) > largest or b'"' in line:
                return edges, lines, at
            edges.append((int(ids[0]), int(ids[1])))
        at += len(line) + 1
        lines += 1
    return edges, lines, at


def parse(text, columns=2, largest=LARGEST):
    sources, targets = np.empty((2, len(text) // 4 + 1), dtype=np.int32)
    count, lines, stop = parse_edges(np.frombuffer(text, np.uint8), columns, largest, sources, targets)
    return list(zip(sources[:count].tolist(), targets[:count].tolist(), strict=True)), lines, stop


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
def test_formats_what_it_parses(edges):
    ends = np.array(edges, dtype=np.int32).reshape(-1, 2)
    text = np.zeros(22 * len(edges), dtype=np.uint8)
    used = format_edges(ends[:, 0].copy(), ends[:, 1].copy(), text)
    assert text[:used].tobytes() == b"".join(b"%d,%d\n" % edge for edge in edges)
    assert not text[used:].any()
    assert parse(text[:used].tobytes()) == (edges, len(edges), used)


@pytest.mark.parametrize("value", [0, 9, 10, 12345, LARGEST])
def test_write_number(value):
    text = np.zeros(16, dtype=np.uint8)
    end = write_number(value, text, 3)
    assert text[3:end].tobytes() == str(value).encode()
    assert not text[end:].any()
