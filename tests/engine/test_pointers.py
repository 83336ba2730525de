"""Pointers mean what views mean."""

import numpy as np
import pytest
from kernel_entries import INTERPRETED
from numba import njit
from numpy.testing import assert_array_equal

from sidelight.engine._numba.jit import noinline
from sidelight.engine._numba.pointers import offset, pointer, prefetch


@njit
def doubled(array, start, stop):
    part = pointer(array, start, stop)
    for i in range(stop - start):
        part[i] *= 2
    return part[0]


@njit
def doubled_from(array, start, stop):
    part = offset(offset(pointer(array, 0, array.size), 1), start - 1)
    for i in range(stop - start):
        part[i] *= 2
    return part[0]


@njit
def doubled_apart(part):
    noinline()
    part[0] *= 2.0
    return part[0]


@njit
def doubled_twice(array):
    part = pointer(array, 1, 2)
    prefetch(part, 0)
    return doubled_apart(part) + doubled_apart(part)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("double", [doubled, doubled_from])
def test_cells_are_those_of_the_array(dtype, double):
    array = np.arange(10).astype(dtype)
    assert double(array, 3, 7) == 6
    assert_array_equal(array, [0, 1, 2, 6, 8, 10, 12, 7, 8, 9])


@pytest.mark.skipif(INTERPRETED, reason="there is no machine code to look at")
def test_apart_keeps_a_function_out_of_its_callers():
    array = np.arange(3.0)
    assert doubled_twice(array) == 2.0 + 4.0
    assert_array_equal(array, [0.0, 4.0, 2.0])
    (code,) = doubled_twice.inspect_llvm().values()
    calls = [line for line in code.splitlines() if "call" in line and "doubled_apart" in line]
    assert len(calls) == 2
    assert "noinline" in code


@pytest.mark.skipif(not INTERPRETED, reason="compiled, these are intrinsics")
def test_interpreted_cells_are_views():
    array = np.arange(5.0)
    assert np.shares_memory(pointer(array, 1, 3), array)
    assert noinline() is None
