"""Potentials: kernels invert their gradient, diameters and heights by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sidelight.errors import InvalidOption
from sidelight.planning.potentials import Potential, diameter, height

lawful = settings(deadline=None, derandomize=True)
rates = st.floats(1e-4, 1e3)
powers = st.one_of(st.just(1.0), st.floats(0.05, 0.95))
potentials = st.one_of(st.builds(Potential, powers, rates), st.builds(Potential.root, rates))
points = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6).map(np.array)


def gradient(potential, x):
    """∇F by hand: −x^{h−1}/((1−h)η), or (1 + log x)/η."""
    h, eta = potential.h, potential.eta
    return (1 + np.log(x)) / eta if h == 1 else -(x ** (h - 1)) / ((1 - h) * eta)


@lawful
@given(potentials, points)
def test_kernels_invert_the_gradient(potential, x):
    dual, (a, q) = gradient(potential, x), (potential.rate, potential.power)
    kernel = np.exp(a * dual - 1) if q == 0 else (a * -dual) ** -q
    assert_allclose(kernel, x, rtol=1e-9)


@lawful
@given(potentials, points)
def test_the_gradient_is_that_of_the_value(potential, x):
    step = 1e-5 * x
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up[i] += step[i]
        down[i] -= step[i]
        spread = abs(potential.value(up)) + abs(potential.value(down))  # cancellation in the difference
        numeric = (potential.value(up) - potential.value(down)) / (2 * step[i])
        slope = gradient(potential, x)[i]
        assert numeric == pytest.approx(slope, rel=1e-5, abs=1e-14 * spread / step[i] + 1e-12)


@lawful
@given(powers, rates, st.integers(1, 4))
def test_diameter_by_brute_force(h, eta, n):
    steps = 12  # a grid that contains every corner and, as 1, 2, 3, 4 divide 12, the centre
    grid = np.stack(np.meshgrid(*[np.arange(steps + 1)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    simplex = grid[grid.sum(axis=1) == steps] / steps
    values = [Potential(h, eta).value(x) for x in simplex]
    assert max(values) - min(values) == pytest.approx(float(diameter(h, n)) / eta, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("h", [0.3, 0.5, 1.0])
def test_height_is_reached_and_never_exceeded(h, n):
    """Equal coordinates are best by concavity: a fine scan of their total."""
    totals = np.linspace(1e-6, 1, 20_001)
    x = totals / n
    values = -n * x * np.log(x) if h == 1 else n * x**h / (h * (1 - h))
    assert values.max() == pytest.approx(float(height(h, n)), rel=1e-6)


def test_coordinates_may_differ():
    mixed = Potential(np.array([1.0, 0.5]), np.array([0.1, 0.4]))
    assert mixed.power.tolist() == [0.0, 2.0]
    assert mixed.rate.tolist() == [0.1, 0.2]
    x = np.array([0.3, 0.7])
    parts = Potential(1.0, 0.1).value(x[:1]) + Potential(0.5, 0.4).value(x[1:])
    assert mixed.value(x) == pytest.approx(parts)


def test_zeros_have_a_value():
    assert Potential(1.0, 1.0).value(np.array([1.0, 0.0])) == 0.0
    assert Potential.root(0.5).value(np.array([0.25, 0.25])) == -2.0


@pytest.mark.parametrize(
    ("h", "eta"), [(0.5, 0.0), (0.5, -1), (1.0, np.inf), (1.0, np.nan), (0.0, 1.0), (1.5, 1.0)]
)
def test_bad_numbers_are_refused(h, eta):
    with pytest.raises(InvalidOption):
        Potential(h, eta)
