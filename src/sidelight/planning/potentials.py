"""Potentials of mirror descent: negative entropy and the Tsallis family that ends in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption

Rate = float | Floats
"""One learning rate, or one for each coordinate."""


class Potential(Protocol):
    """Convex and separable, F(x) = Σ f(xᵢ)/ηᵢ, with the learning rates η inside.

    Laws: `inverse_gradient` undoes `gradient` on x > 0; `hessian` is the derivative of `gradient`;
    `diameter(n)` = max F − min F on the simplex of n coordinates with one rate; and for θ in the range
    of the gradient, `inverse_gradient(θ)` is what a kernel computes from (`power`, `kernel_rate`):

        power q > 0:  x = (a·(−θ))^{−q}        power 0:  x = exp(a·θ − 1)        a = kernel_rate
    """

    @property
    def power(self) -> float:
        """Exponent q of the inverse gradient, 0 for the exponential."""
        ...

    @property
    def kernel_rate(self) -> Rate:
        """Factor a of the inverse gradient."""
        ...

    def value(self, x: Floats) -> float:
        """F(x), zeros allowed."""
        ...

    def gradient(self, x: Floats) -> Floats:
        """∇F(x) for x > 0."""
        ...

    def inverse_gradient(self, dual: Floats) -> Floats:
        """The x > 0 with ∇F(x) = dual."""
        ...

    def hessian(self, x: Floats) -> Floats:
        """Diagonal of ∇²F(x) for x > 0."""
        ...

    def diameter(self, n: int) -> float:
        """max F − min F over the distributions on n coordinates."""
        ...


@dataclass(frozen=True, eq=False)
class NegativeEntropy:
    """F(x) = Σ xᵢ log xᵢ / η."""

    rate: Rate  # η > 0

    def __post_init__(self) -> None:
        _require_positive(self.rate)

    @property
    def power(self) -> float:
        """0: the inverse gradient is an exponential."""
        return 0.0

    @property
    def kernel_rate(self) -> Rate:
        """η."""
        return self.rate

    def value(self, x: Floats) -> float:
        """F(x) with 0·log 0 = 0."""
        positive = np.where(x > 0, x, 1.0)
        return float(np.sum(x * np.log(positive) / self.rate))

    def gradient(self, x: Floats) -> Floats:
        """(1 + log x)/η."""
        return np.asarray((1 + np.log(x)) / self.rate)

    def inverse_gradient(self, dual: Floats) -> Floats:
        """exp(η·dual − 1)."""
        return np.asarray(np.exp(self.rate * dual - 1))

    def hessian(self, x: Floats) -> Floats:
        """1/(η x)."""
        return np.asarray(1 / (self.rate * x))

    def diameter(self, n: int) -> float:
        """log(n)/η: from a corner (0) to the centre (−log n)."""
        return float(np.log(n) / _single(self.rate))


@dataclass(frozen=True, eq=False)
class Tsallis:
    """F(x) = −Σ xᵢʰ / (h(1−h)η) for 0 < h < 1; as h → 1 its Hessian becomes that of negative entropy."""

    h: float
    rate: Rate  # η > 0

    def __post_init__(self) -> None:
        if not 0 < self.h < 1:
            raise InvalidOption(f"a Tsallis potential needs 0 < h < 1, got h={self.h}")
        _require_positive(self.rate)

    @classmethod
    def root(cls, step: Rate) -> Tsallis:
        """The paper's −Σ √xᵢ / step, which is h = ½ with η = 4·step.

        >>> Tsallis.root(0.5).value(np.array([0.25, 0.25]))
        -2.0
        """
        return cls(0.5, 4 * step)

    @property
    def power(self) -> float:
        """q = 1/(1−h)."""
        return 1 / (1 - self.h)

    @property
    def kernel_rate(self) -> Rate:
        """a = (1−h)η."""
        return (1 - self.h) * self.rate

    def value(self, x: Floats) -> float:
        """F(x)."""
        return float(-np.sum(x**self.h / self.rate) / (self.h * (1 - self.h)))

    def gradient(self, x: Floats) -> Floats:
        """−x^{h−1}/((1−h)η)."""
        return np.asarray(-(x ** (self.h - 1)) / self.kernel_rate)

    def inverse_gradient(self, dual: Floats) -> Floats:
        """((1−h)η·(−dual))^{−1/(1−h)} for dual < 0."""
        return np.asarray((self.kernel_rate * -dual) ** -self.power)

    def hessian(self, x: Floats) -> Floats:
        """x^{h−2}/η."""
        return np.asarray(x ** (self.h - 2) / self.rate)

    def diameter(self, n: int) -> float:
        """(n^{1−h} − 1)/(h(1−h)η): from a corner to the centre."""
        return float((n ** (1 - self.h) - 1) / (self.h * (1 - self.h) * _single(self.rate)))


def _require_positive(rate: Any) -> None:
    rates = np.asarray(rate, dtype=np.float64)
    if not (np.isfinite(rates) & (rates > 0)).all():
        raise InvalidOption(f"a learning rate must be positive and finite, got {rate}")


def _single(rate: Rate) -> float:
    if np.ndim(rate) != 0:
        raise InvalidOption("the diameter of a simplex is given for one common learning rate")
    return float(rate)
