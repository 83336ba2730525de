import math

import numpy as np
import pytest
from mpmath import mp

from kernel_entries import exponentials
from sidelight.kernels.bits import bits_float, float_bits


def exponential(x):
    out = np.empty(1)
    exponentials(np.array([x]), out)
    return out[0]


@pytest.mark.parametrize("x", [0.0, -0.0, -1e-300, -1e-17, -0.3465, -0.34658, -1.0, -37.5, -700.0, -707.999])
def test_exponential_is_exact_to_rounding(x):
    with mp.workdps(40):
        truth = mp.exp(mp.mpf(x))
        assert abs(exponential(x) / truth - 1) < 3e-16


def test_exponential_on_a_sweep():
    xs = -np.random.default_rng(0).exponential(30.0, 500)
    ours = np.empty(500)
    exponentials(xs, ours)
    np.testing.assert_allclose(ours, np.exp(xs), rtol=5e-16)


@pytest.mark.parametrize("x", [-708.0, -745.0, -1e9, -math.inf])
def test_exponential_vanishes_below_the_normal_range(x):
    assert exponential(x) == 0.0


def test_bits_round_trip():
    for x in (0.0, 1.0, -2.5, 1e-300, 1e300, math.inf):
        assert bits_float(float_bits(x)) == x
    assert float_bits(1.0) == 0x3FF0000000000000
