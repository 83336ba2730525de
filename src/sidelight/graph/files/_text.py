"""Edge lists as text: lines of whole numbers to arrays, one pass over the bytes."""

import numpy as np
import numpy.typing as npt

from sidelight._types import Ints
from sidelight.engine._numba.jit import compiled

Bytes = npt.NDArray[np.uint8]

COMMA, NEWLINE, PERCENT, QUOTE, RETURN, SPACE, TAB, ZERO = 44, 10, 37, 34, 13, 32, 9, 48


@compiled()
def parse_edges(
    text: Bytes, columns: int, largest: int, sources: Ints, targets: Ints
) -> tuple[int, int, int]:
    """Read lines "i,j" with `columns` − 2 further fields that are skipped; returns (edges, lines, stop).

    `text` (bytes as uint8) ends with a newline, which stops every inner loop. Blank lines are skipped; spaces
    around numbers and a return before the newline are allowed. Stops at the first line that is anything else,
    has a quote in it, or holds a number above `largest`: `stop` is where that line starts, or len(text).
    """
    size = text.size
    edges = 0
    lines = 0
    at = 0
    while at < size:
        start = at
        while text[at] == SPACE or text[at] == TAB:
            at += 1
        if text[at] == RETURN and text[at + 1] == NEWLINE:
            at += 1
        if text[at] == NEWLINE:
            at += 1
            lines += 1
            continue
        first = 0
        for field in range(2):
            while text[at] == SPACE or text[at] == TAB:
                at += 1
            digits = at
            value = 0
            while ZERO <= text[at] <= ZERO + 9:
                value = value * 10 + int(text[at]) - ZERO
                if value > largest:
                    return edges, lines, start
                at += 1
            if at == digits:
                return edges, lines, start
            while text[at] == SPACE or text[at] == TAB:
                at += 1
            if field == 0:
                first = value
                if text[at] != COMMA:
                    return edges, lines, start
                at += 1
            else:
                targets[edges] = value
        sources[edges] = first
        commas = 1
        while text[at] != NEWLINE:
            if text[at] == COMMA:
                commas += 1
            elif text[at] == QUOTE or (commas == 1 and text[at] != RETURN):
                return edges, lines, start
            at += 1
        if commas != columns - 1:
            return edges, lines, start
        at += 1
        lines += 1
        edges += 1
    return edges, lines, size


@compiled()
def parse_entries(
    text: Bytes, values: int, size: int, sources: Ints, targets: Ints
) -> tuple[int, int, int, int]:
    """Read Matrix Market lines "i j" with `values` further numbers; returns (entries, kept, lines, stop).

    Positions count from 1 to `size` and are written from 0. An entry whose numbers are all zero is counted
    but not kept. `text` ends with a newline; blank lines and lines that start with % are skipped. Stops at
    the first line that is anything else (NaN included): `stop` is where that line starts, or len(text).
    """
    entries = 0
    kept = 0
    lines = 0
    at = 0
    while at < text.size:
        start = at
        while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
            at += 1
        if text[at] == PERCENT:
            while text[at] != NEWLINE:
                at += 1
        if text[at] == NEWLINE:
            at += 1
            lines += 1
            continue
        for field in range(2):
            digits = at
            position = 0
            while ZERO <= text[at] <= ZERO + 9:
                position = position * 10 + int(text[at]) - ZERO
                if position > size:
                    return entries, kept, lines, start
                at += 1
            if at == digits or position == 0 or text[at] > SPACE:
                return entries, kept, lines, start
            while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
                at += 1
            if field == 0:
                sources[kept] = position - 1
            else:
                targets[kept] = position - 1
        nonzero = values == 0
        found = 0
        while text[at] != NEWLINE:
            found += 1
            mantissa = True
            digits = 0
            while text[at] > SPACE:
                byte = text[at]
                if ZERO <= byte <= ZERO + 9:
                    digits += 1
                    if mantissa and byte != ZERO:
                        nonzero = True
                elif byte == 69 or byte == 101:  # E, e
                    mantissa = False
                elif byte != 43 and byte != 45 and byte != 46:  # +, -, .
                    return entries, kept, lines, start
                at += 1
            if digits == 0:
                return entries, kept, lines, start
            while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
                at += 1
        if found != values:
            return entries, kept, lines, start
        at += 1
        lines += 1
        entries += 1
        if nonzero:
            kept += 1
    return entries, kept, lines, text.size
