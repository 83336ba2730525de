import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sidelight.errors import InvalidOption
from sidelight.planning.potentials import NegativeEntropy, Tsallis

lawful = settings(deadline=None, derandomize=True)
rates = st.floats(1e-4, 1e3)
potentials = st.one_of(
    st.builds(NegativeEntropy, rates),
    st.builds(Tsallis, st.floats(0.05, 0.95), rates),
    st.builds(Tsallis.root, rates),
)
points = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6).map(np.array)


@lawful
@given(potentials, points)
def test_the_two_maps_are_inverse(potential, x):
    assert_allclose(potential.inverse_gradient(potential.gradient(x)), x, rtol=1e-9)


@lawful
@given(potentials, points)
def test_gradient_and_hessian_are_derivatives(potential, x):
    h = 1e-5 * x
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up[i] += h[i]
        down[i] -= h[i]
        slope = potential.gradient(x)[i]
        spread = abs(potential.value(up)) + abs(potential.value(down))  # cancellation in the difference
        numeric = (potential.value(up) - potential.value(down)) / (2 * h[i])
        assert numeric == pytest.approx(slope, rel=1e-5, abs=1e-14 * spread / h[i] + 1e-12)
        curvature = (potential.gradient(up)[i] - potential.gradient(down)[i]) / (2 * h[i])
        assert curvature == pytest.approx(potential.hessian(x)[i], rel=1e-5)


@lawful
@given(potentials, points)
def test_kernel_form_is_the_inverse_gradient(potential, x):
    dual = potential.gradient(x)
    a, q = potential.kernel_rate, potential.power
    kernel = np.exp(a * dual - 1) if q == 0 else (a * -dual) ** -q
    assert_allclose(kernel, x, rtol=1e-9)


@lawful
@given(potentials, st.integers(1, 4))
def test_diameter_by_brute_force(potential, n):
    steps = 12  # a grid that contains every corner and, as 1, 2, 3, 4 divide 12, the centre
    grid = np.stack(np.meshgrid(*[np.arange(steps + 1)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    simplex = grid[grid.sum(axis=1) == steps] / steps
    values = [potential.value(x) for x in simplex]
    assert max(values) - min(values) == pytest.approx(potential.diameter(n), rel=1e-9, abs=1e-12)


def test_root_is_the_papers_potential():
    x = np.array([0.04, 0.25, 0.71])
    step = 0.3
    root = Tsallis.root(step)
    assert root.value(x) == pytest.approx(-np.sqrt(x).sum() / step)
    assert_allclose(root.hessian(x), 1 / (4 * step * x**1.5))
    assert (root.power, root.kernel_rate) == pytest.approx((2, 2 * step))
    assert root.diameter(9) == pytest.approx((3 - 1) / step)


def test_tsallis_curvature_tends_to_entropy():
    x = np.array([0.1, 0.9])
    assert_allclose(Tsallis(1 - 1e-9, 0.5).hessian(x), NegativeEntropy(0.5).hessian(x), rtol=1e-7)
    assert Tsallis(1 - 1e-7, 0.5).diameter(5) == pytest.approx(NegativeEntropy(0.5).diameter(5), rel=1e-5)


def test_one_rate_per_coordinate():
    x = np.array([0.2, 0.8])
    both = Tsallis.root(np.array([0.1, 0.4]))
    assert both.value(x) == pytest.approx(-np.sqrt(0.2) / 0.1 - np.sqrt(0.8) / 0.4)
    assert_allclose(both.inverse_gradient(both.gradient(x)), x)
    with pytest.raises(InvalidOption, match="one common"):
        both.diameter(2)


def test_entropy_at_a_corner():
    assert NegativeEntropy(1.0).value(np.array([1.0, 0.0])) == 0.0


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, np.inf, np.array([1.0, 0.0])])
def test_rates_must_be_positive(rate):
    with pytest.raises(InvalidOption, match="positive"):
        NegativeEntropy(rate)
    with pytest.raises(InvalidOption, match="positive"):
        Tsallis.root(rate)


@pytest.mark.parametrize("h", [0.0, 1.0, -0.5, np.nan])
def test_tsallis_order_is_inside_the_unit_interval(h):
    with pytest.raises(InvalidOption, match="0 < h < 1"):
        Tsallis(h, 1.0)
