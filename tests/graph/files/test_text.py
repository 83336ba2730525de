"""The edge-list kernels against a parser made of split and int."""

import re

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidelight.graph.files._text import parse_edges, parse_entries

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
def test_parses_what_is_written(edges):
    text = b"".join(b"%d,%d\n" % edge for edge in edges)
    assert parse(text) == (edges, len(edges), len(text))


def naive_entries(text, values, size):
    """(kept entries, number of entries, lines, stop), one line at a time."""
    kept, entries, at = [], 0, 0
    for number, line in enumerate(text.split(b"\n")[:-1]):
        words = line.replace(b"\r", b" ").split()
        if words and not words[0].startswith(b"%"):
            positions = [int(word) if word.isdigit() else 0 for word in words[:2]]
            known = all(
                set(word) <= set(b"0123456789+-.eE") and re.search(rb"\d", word) for word in words[2:]
            )
            inside = all(1 <= position <= size for position in positions)
            if len(words) != 2 + values or not known or not inside:
                return kept, entries, number, at
            entries += 1
            if values == 0 or any(float(word) for word in words[2:]):
                kept.append((positions[0] - 1, positions[1] - 1))
        at += len(line) + 1
    return kept, entries, text.count(b"\n"), at


reals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value == 0 or abs(value) > 1e-300),
    st.sampled_from([0, -0.0, 1, 10, 0.01, 1e-5]),
).map(lambda value: repr(value).encode())
words = st.one_of(
    st.integers(1, 9).map(lambda value: str(value).encode()),
    reals,
    st.sampled_from([b"0", b"10", b"nan", b"x", b"\xff", b"."]),
)
entry_lines = st.one_of(
    st.tuples(st.integers(1, 9).map(str), st.integers(1, 9).map(str)).map(
        lambda pair: " ".join(pair).encode()
    ),
    st.tuples(st.just(b" 3\t4 "), reals).map(b" ".join),
    st.lists(words, min_size=1, max_size=4).map(b" ".join),
    st.sampled_from([b"", b"\r", b"1 2\r", b"% note", b"  "]),
)


@lawful
@given(st.lists(entry_lines, max_size=8), st.sampled_from([0, 1, 2]))
@example([b"1 1", b"9 9"], 0)
@example([b"1 1 0.0e9", b"2 3 1e-5"], 1)
def test_entries_like_split_and_float(rows, values):
    text = b"".join(row + b"\n" for row in rows)
    sources, targets = np.empty((2, len(text) // 4 + 1), dtype=np.int32)
    entries, kept, lines, stop = parse_entries(np.frombuffer(text, np.uint8), values, 9, sources, targets)
    found = list(zip(sources[:kept].tolist(), targets[:kept].tolist(), strict=True))
    assert (found, entries, lines, stop) == naive_entries(text, values, 9)
