"""Edge lists as text: lines of whole numbers to arrays, one pass over the bytes."""

import numpy as np
import numpy.typing as npt

from sidelight._types import Ints
from sidelight.engine._numba.jit import compiled

Bytes = npt.NDArray[np.uint8]

COMMA, NEWLINE, QUOTE, RETURN, SPACE, TAB, ZERO = 44, 10, 34, 13, 32, 9, 48


@compiled()
def parse_edges(text: Bytes, columns: int, largest: int, sources: Ints, targets: Ints) -> tuple[int, int]:
    """Read lines "i,j" with `columns` − 2 further fields that are skipped; returns (edges, stop).

    `text` (bytes as uint8) ends with a newline, which stops every inner loop. Blank lines are skipped; spaces
    around numbers and a return before the newline are allowed. Stops at the first line that is anything else,
    has a quote in it, or holds a number above `largest`: `stop` is where that line starts, or len(text).
    """
    size = text.size
    edges = 0
    at = 0
    while at < size:
        start = at
        while text[at] == SPACE or text[at] == TAB:
            at += 1
        if text[at] == RETURN and text[at + 1] == NEWLINE:
            at += 1
        if text[at] == NEWLINE:
            at += 1
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
                    return edges, start
                at += 1
            if at == digits:
                return edges, start
            while text[at] == SPACE or text[at] == TAB:
                at += 1
            if field == 0:
                first = value
                if text[at] != COMMA:
                    return edges, start
                at += 1
            else:
                targets[edges] = value
        sources[edges] = first
        commas = 1
        while text[at] != NEWLINE:
            if text[at] == COMMA:
                commas += 1
            elif text[at] == QUOTE or (commas == 1 and text[at] != RETURN):
                return edges, start
            at += 1
        if commas != columns - 1:
            return edges, start
        at += 1
        edges += 1
    return edges, size
