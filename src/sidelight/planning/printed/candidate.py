"""A partition with one of the paper's realizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.planning.bounds.bound import Condition
from sidelight.planning.exploration import WeakBlocks
from sidelight.planning.minimised.price import price
from sidelight.planning.plan import Candidate
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.printed.projection import Projection
from sidelight.planning.printed.restriction import Restriction
from sidelight.planning.pruning import parents
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning


class PrintedCandidate(Candidate):
    """Projection over the blocks of a partition, restriction inside them: the theorems as printed."""

    source = "He & Zhang"

    def __init__(self, weak: WeakBlocks, inner: Restriction, realization: str) -> None:
        p = weak.partition
        squares = float(np.sum(weak.deltas**2))
        self.weak, self.inner = weak, inner
        self.top = Projection(p.strong_loop.size, p.strong_loopless.size, p.weak.size, squares)
        follows = inner.blocks(1.0).adaptive > 0
        choices = tuple("adaptive" if yes else "clustered" for yes in follows)
        super().__init__(weak.name, realization, p, inner.theorem(self.top.case), choices)

    @property
    def title(self) -> str:
        """Realization and partition."""
        return f"{self.realization}, {self.name}"

    def terms(self, T: float) -> dict[str, float]:
        """Projection and restriction."""
        return self.top.terms(T) | self.inner.terms(T)

    def conditions(self, T: float) -> tuple[Condition, ...]:
        """What "sufficiently large T" means."""
        return self.top.conditions(T, self.inner.most(T), self.inner.least(T))

    def sharper(self, T: float) -> dict[str, float]:
        """One block alone: D/η + T·max(η/(2β), γ̄), with the numbers that are played."""
        if not (self.top.alone and self.weak.sizes.size):
            return {}
        inner, wanted = self.inner.blocks(T), self.inner.most(T)
        scale = min(1.0, MOST_EXPLORATION / wanted)
        h, eta = (float(np.ravel(number)[0]) for number in (inner.potential.h, inner.potential.eta))
        beta = scale * float(inner.covering[0] + inner.adaptive[0])
        size = float(diameter(h, self.weak.sizes[0]))
        return {"diameter": size / eta, "rounds": T * price(eta / (2 * beta), scale * wanted)}

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at T and its parameters by name.

        Below the thresholds of the theorem it is still a tuning: all global exploration is scaled by one
        factor down to γ̄ = ½, and α is cut at 1.
        """
        top, p, weak, inner = self.top, self.partition, self.weak, self.inner.blocks(T)
        loop, loopless = top.loop_exploration(T), top.loopless_exploration(T)
        wanted = loop + loopless + self.inner.most(T)
        scale = min(1.0, MOST_EXPLORATION / wanted) if wanted > 0 else 1.0
        alpha = min(top.alpha(T), 1.0)
        rates = {
            "eta": top.eta(T, alpha),
            "eta_loop": top.eta_loop(T) if top.n_loop else 0.0,
            "eta_loopless": top.eta_loopless(T),
        }
        h, eta = np.full(p.n_blocks, 0.5), np.empty(p.n_blocks)
        # One block alone is always played: any potential does, and only its positivity matters.
        eta[p.weak] = 4 * (top.eta_loop(T) if top.alone else rates["eta"])
        eta[p.strong_loop] = 4 * rates["eta_loop"]
        h[p.strong_loopless], eta[p.strong_loopless] = 1.0, rates["eta_loopless"]
        singles = np.zeros(p.n_blocks)  # singletons share their totals evenly
        singles[p.strong_loop] = loop / max(p.strong_loop.size, 1)
        singles[p.strong_loopless] = loopless / max(p.strong_loopless.size, 1)
        tuning = Tuning.blocks(
            *weak.layout,
            Potential(h, eta),
            weak.inside(inner.potential),
            constant=scale * (singles[p.block_of] + weak.per_arm(inner.covering) * weak.cover),
            local=weak.per_arm(alpha / weak.deltas) * weak.cover,
            adaptive=scale * weak.per_block(inner.adaptive),
            parent=parents(p, p.weak[inner.adaptive > 0]),
        )
        gamma_bar = min(wanted, MOST_EXPLORATION)
        parameters: dict[str, Any] = {"alpha": alpha} | inner.parameters
        parameters |= {name: rate for name, rate in rates.items() if rate > 0}
        parameters |= {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar), "exploration_scale": scale}
        parameters |= {"eta_blocks": inner.steps.tolist(), "delta_blocks": weak.deltas.tolist()}
        return tuning, parameters
