"""What is known of small graphs from their matrices alone, by trying everything."""

import numpy as np


def independence(matrix):
    """α from all subsets of arms."""
    n = len(matrix)
    near = np.logical_or(matrix, np.transpose(matrix)) & ~np.eye(n, dtype=bool)
    masks = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in near]
    best = np.zeros(1 << n, dtype=np.int8)
    for subset in range(1, 1 << n):  # without the last arm, or with it and without its neighbours
        last = subset.bit_length() - 1
        rest = subset ^ (1 << last)
        best[subset] = max(best[rest], 1 + best[rest & ~masks[last]])
    return int(best[-1])
