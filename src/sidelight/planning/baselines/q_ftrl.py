"""q-FTRL: Tsallis entropy between EXP3's and Tsallis-INF's, chosen by the independence number."""

from __future__ import annotations

from math import e, log, sqrt
from typing import Any

from sidelight.errors import InfeasibleRequest
from sidelight.planning.baselines._common import Baseline, as_plan, need_loops
from sidelight.planning.minimised.strong import q_of_ftrl
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import Tuning


class QFTRL(Baseline):
    """FTRL with ψ(x) = (1 − Σx^q)/(1−q) and η = √(2qN^{1−q}/(T(1−q)α^q)); undirected graphs with self-loops.

        q = ½(1 + L/(√(L² + 4) + 2)),  L = log(N/α)
        R ≤ 2√(eαT(2 + log(N/α)))                   Eldowa, Esposito, Cesari & Cesa-Bianchi 2023, Theorem 1

    α is replaced by the certified upper bound of a clique cover: the bound grows with α, so it stays true.

    >>> import sidelight as sl
    >>> sl.baselines.q_ftrl(sl.families.mab(5), 1000).parameters["q"]
    0.5
    """

    called, title = "q_ftrl", "q-FTRL"
    source = "Eldowa, Esposito, Cesari & Cesa-Bianchi 2023"

    def prepare(self) -> None:
        """Refuse graphs that it cannot play."""
        need_loops(self.graph, self.called)
        if not self.solved.cliques.symmetric:
            raise InfeasibleRequest(
                "q_ftrl needs an undirected graph: some arm reveals another that does not reveal it; "
                "use exp3_ix or exp3g, or make it undirected with graph.symmetrized() if that is meant"
            )
        self.alpha = self.solved.cliques.value
        self.formula = f"2√(eαT(2 + log(N/α))), α ≤ {self.alpha}"

    def terms(self, T: float) -> dict[str, float]:
        """2√(eαT(2 + log(N/α)))."""
        n, alpha = self.n, self.alpha
        return {"regret": 2 * sqrt(e * alpha * T * (2 + log(n / alpha))) if n > 1 else 0.0}

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """ψ has the derivative −q/(1−q)·x^{q−1}: Tsallis-q at rate η/q."""
        n, alpha = self.n, self.alpha
        q = q_of_ftrl(n / alpha)
        eta = sqrt(2 * q * n ** (1 - q) / (T * (1 - q) * alpha**q))
        potential = Potential(q, eta / q) if n > 1 else Potential(0.5, 2.0)
        return Tuning.singletons(n, potential), {"q": q, "eta": eta, "alpha_upper": float(alpha)}


q_ftrl = as_plan(QFTRL)
