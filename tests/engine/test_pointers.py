"""Pointers and bundles of them mean what views and tuples mean."""

from typing import NamedTuple

import numpy as np
import pytest
from kernel_entries import INTERPRETED
from numba import njit
from numpy.testing import assert_array_equal

from sidelight.engine._numba.jit import noinline
from sidelight.engine._numba.pointers import by_reference, offset, pointer, prefetch


class Pair(NamedTuple):
    count: int
    numbers: np.ndarray
    names: np.ndarray


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
def double_through(pair):
    noinline()
    for i in range(pair.count):
        pair.numbers[i] *= 2.0
        pair.names[i] += 1
    return pair.numbers[0]


@njit
def through_a_reference(numbers, names, first, last):
    pair = Pair(last - first, pointer(numbers, first, last), pointer(names, first, last))
    reference = by_reference(pair)
    prefetch(reference.numbers, 0)
    return double_through(reference) + double_through(reference)


@njit
def two_references(numbers):
    low = Pair(1, pointer(numbers, 0, 1), pointer(numbers, 1, 2))
    high = Pair(2, pointer(numbers, 2, 3), pointer(numbers, 3, 4))
    one, other = by_reference(low), by_reference(high)
    one.numbers[0] = other.names[0] + other.count
    other.numbers[0] = one.names[0] - one.count
    return one.numbers[0]


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("double", [doubled, doubled_from])
def test_cells_are_those_of_the_array(dtype, double):
    array = np.arange(10).astype(dtype)
    assert double(array, 3, 7) == 6
    assert_array_equal(array, [0, 1, 2, 6, 8, 10, 12, 7, 8, 9])


def test_what_is_written_through_a_reference_is_in_the_arrays():
    numbers, names = np.arange(6.0), np.arange(6, dtype=np.int32)
    assert through_a_reference(numbers, names, 1, 4) == 2.0 + 4.0
    assert_array_equal(numbers, [0.0, 4.0, 8.0, 12.0, 4.0, 5.0])
    assert_array_equal(names, [0, 3, 4, 5, 4, 5])


def test_references_are_apart():
    numbers = np.array([1.0, 10.0, 100.0, 1000.0])
    assert two_references(numbers) == 1002.0
    assert_array_equal(numbers, [1002.0, 10.0, 9.0, 1000.0])


@pytest.mark.skipif(INTERPRETED, reason="there is no machine code to look at")
def test_apart_keeps_a_function_out_of_its_callers():
    through_a_reference(np.arange(6.0), np.arange(6, dtype=np.int32), 1, 4)
    (code,) = through_a_reference.inspect_llvm().values()
    calls = [line for line in code.splitlines() if "call" in line and "double_through" in line]
    assert len(calls) == 2
    assert "noinline" in code


@pytest.mark.skipif(not INTERPRETED, reason="compiled, these are intrinsics")
def test_interpreted_cells_are_views_and_bundles_refer_to_themselves():
    array = np.arange(5.0)
    assert np.shares_memory(pointer(array, 1, 3), array)
    pair = Pair(1, array, array)
    assert by_reference(pair) is pair
    assert noinline() is None
