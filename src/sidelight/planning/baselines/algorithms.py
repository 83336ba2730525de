"""Known algorithms as candidates: tuned and bounded as their authors do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from math import cbrt, e, log, sqrt
from typing import Any

import numpy as np

from sidelight._check import checked_horizon
from sidelight._realizations import UNIFORM
from sidelight._types import Floats, Longs
from sidelight.analysis import observability
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.errors import InfeasibleRequest, InvalidGraph, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names
from sidelight.partition import Partition, natural
from sidelight.planning.baselines.rules import uniform_bound
from sidelight.planning.bounds.bound import NEVER, Bound, Condition
from sidelight.planning.cliques import growth
from sidelight.planning.exploration import Cover, Solved, dominating_set, revealed_by
from sidelight.planning.minimised.round_cost import round_cost
from sidelight.planning.minimised.strong import Strong, q_of_ftrl
from sidelight.planning.minimised.strong import exp3g as exp3g_tuning
from sidelight.planning.plan import Candidate, Offer, Plan
from sidelight.planning.potentials import Potential
from sidelight.planning.tuning import Tuning


def checked_graph(graph: object, name: str) -> FeedbackGraph:
    """`graph` as a feedback graph, or an error."""
    if not isinstance(graph, FeedbackGraph):
        raise InvalidGraph(f"{name} needs a FeedbackGraph, got {type(graph).__name__}")
    return graph


def need_loops(given: object, name: str) -> FeedbackGraph:
    """Refuse graphs in which some arm does not reveal itself."""
    graph = checked_graph(given, name)
    lacking = np.flatnonzero(~graph.has_loop)
    if lacking.size:
        raise InfeasibleRequest(
            f"{name} needs every arm to reveal itself, but {names(graph, lacking.tolist())} do not; "
            "use sl.plan or chlz21, which need no self-loops"
        )
    return graph


def need_observable(given: object, name: str) -> FeedbackGraph:
    """Refuse graphs with an arm that nothing reveals."""
    graph = checked_graph(given, name)
    hidden = observability(graph).unobservable.tolist()
    if hidden:
        raise UnobservableGraph(
            f"no arm reveals {names(graph, hidden)}, so {name} cannot learn about them; add an edge into each or "
            "leave them out",
            hidden,
        )
    return graph


def needs_certain(name: str) -> InfeasibleRequest:
    """The error of what is known for reveals that never fail only."""
    return InfeasibleRequest(
        f"{name} needs reveals that never fail; use sl.plan or chlz21, which know how likely each works, or play on"
        " graph.at_least(1), the graph of the certain edges"
    )


ALON = "Alon, Cesa-Bianchi, Dekel & Koren 2015"


class Baseline(Candidate):
    """A known algorithm, tuned and bounded as its authors do; its graph must be one that it can play.

    `InfeasibleRequest` says why it cannot.
    """

    called: str  # as `sidelight.baselines` knows it
    title = ""
    formula = ""
    flat = False  # one block of all arms, for every observable graph; else singletons, for strongly observable ones
    may_fail = False  # is its bound proved where reveals may fail?

    def __init__(self, solved: Solved) -> None:
        if not (self.may_fail or solved.graph.certain):
            raise needs_certain(self.called)
        self.solved, self.graph, self.n = solved, solved.graph, solved.graph.n_arms
        self.prepare()
        block = self.flat and self.n > 1
        partition = (natural.single if block else natural.singletons)(self.graph)
        described = (self.called, partition, self.formula, (self.called,) if block else ())
        super().__init__("single" if block else "singletons", *described)

    @abstractmethod
    def prepare(self) -> None:
        """Refuse graphs that it cannot play, and find what depends on the graph alone."""

    def tuned(
        self, eta: float, gamma: Floats | float = 0.0, /, **parameters: float
    ) -> Callable[[], tuple[Tuning, dict[str, Any]]]:
        """One simplex at rate η with constant exploration γ (n,), its entropy of order q, a parameter unless it is 1.

        ψ(x) = (1 − Σx^q)/(1−q) has the derivative −q/(1−q)·x^{q−1}: Tsallis-q at rate η/q.
        """

        def tune() -> tuple[Tuning, dict[str, Any]]:
            if self.n == 1:  # alone, an arm is played whatever its rate
                return Tuning.singletons(1, Potential(1.0, 1.0)), {}
            make, q = (Tuning.flat if self.flat else Tuning.singletons), parameters.get("q", 1.0)
            return make(self.n, Potential(q, eta / q), constant=gamma), {"eta": eta} | parameters

        return tune


def as_plan(algorithm: type[Baseline]) -> Callable[[FeedbackGraph, int], Plan]:
    """The algorithm as a function of graph and horizon, documented like its class."""

    def planned(graph: FeedbackGraph, horizon: int) -> Plan:
        T = checked_horizon(horizon)
        return algorithm(Solved(checked_graph(graph, algorithm.called))).plan(T)

    planned.__doc__ = algorithm.__doc__
    planned.__name__ = planned.__qualname__ = algorithm.called
    return planned


# -- play that learns nothing -------------------------------------------------------------------------------

STANDSTILL = 2.0**-60
"""η·N·T: estimates are below N and add up to less than N·T, so weights change by less than rounding."""


class UniformCandidate(Candidate):
    """Every arm with probability 1/N in every round, whatever is seen, of one block.

    Played as exponential weights at a rate that never moves them.
    """

    source, title = "exact worst case", "uniform play"
    learns = False

    def __init__(self, partition: Partition) -> None:
        theorem = "uniform play learns nothing: R ≤ (1 − 1/N)·T"
        super().__init__("single", UNIFORM, partition, theorem, ("uniform",))

    def offer(self, T: float) -> Offer:
        """(1 − 1/N)·T, at a rate that is as good as zero."""
        n = self.partition.graph.n_arms
        rate = STANDSTILL / (n * T)
        parameters = {"eta": rate, "gamma_bar": 0.0, "rho": 1.0}
        terms = {"uniform play": uniform_bound(n, T)}
        return Offer(terms, lambda: (Tuning.flat(n, Potential(1.0, rate)), parameters))

    def bound(self, horizon: int) -> Bound:
        """True at every horizon, and never a sign of learning."""
        return Bound(horizon, self.offer(float(horizon)).terms, self.theorem, (), 1, NEVER)


# -- exponential weights without exploration ----------------------------------------------------------------


class Hedge(Baseline):
    """Exponential weights with η = √(8 log N/T); full feedback only.

        R ≤ √(T log N/2)                                    Freund & Schapire 1997; Cesa-Bianchi & Lugosi 2006

    >>> import sidelight as sl
    >>> round(sl.baselines.hedge(sl.families.full(8), 1000).bound.value, 2)
    32.24
    """

    called, title = "hedge", "Hedge"
    source, formula = "Freund & Schapire 1997", "√(T log N/2)"

    def prepare(self) -> None:
        """Refuse graphs that it cannot play."""
        lacking = int((self.graph.out_degree < self.n).sum())
        if lacking:
            raise InfeasibleRequest(
                f"hedge needs full feedback, but {lacking} of {self.n} arms do not reveal all arms; "
                "use exp3 (self-loops), chlz21 or sl.plan"
            )

    def offer(self, T: float) -> Offer:
        """√(8 log N/T), and no exploration."""
        terms = {"exponential weights": sqrt(T * log(self.n) / 2)}
        return Offer(terms, self.tuned(sqrt(8 * log(self.n) / T)))


class Exp3(Baseline):
    """Exponential weights with η = √(2 log N/(NT)), no exploration; every arm must reveal itself.

        R ≤ √(2NT log N)        Auer, Cesa-Bianchi, Freund & Schapire 2002; Bubeck & Cesa-Bianchi 2012

    On a bandit this is EXP3. Where a play reveals more, estimates are ℓ/P of all that is seen, P the probability of
    being seen: the rate stays that of a bandit, and so does the bound, since Σ x/P ≤ N.

    >>> import sidelight as sl
    >>> round(sl.baselines.exp3(sl.families.mab(5), 1000).bound.value, 2)
    126.86
    """

    called, title = "exp3", "EXP3"
    source, formula = "Auer, Cesa-Bianchi, Freund & Schapire 2002", "√(2NT log N)"

    def prepare(self) -> None:
        """Refuse graphs that it cannot play."""
        need_loops(self.graph, self.called)

    def offer(self, T: float) -> Offer:
        """√(2 log N/(NT)), and no exploration."""
        n = self.n
        terms = {"exponential weights": sqrt(2 * n * T * log(n))}
        return Offer(terms, self.tuned(sqrt(2 * log(n) / (n * T))))


# -- exponential weights that explore -----------------------------------------------------------------------


class CHLZ21(Baseline):
    """Exponential weights with γ(j) = b·x*_j, b = (log N/(2Tδ*²))^{1/3}, η = √(2b log N/T); any observable graph.

        R ≤ 3·2^{−1/3}·(δ* log N)^{1/3}·T^{2/3}  for T ≥ 4δ* log N          Chen, Huang, Li & Zhang 2021

    x* is a fractional cover of all arms of mass δ*: every arm is seen with probability ≥ b, so
    R ≤ log N/η + ηT/(2b) + bδ*T, minimised. At shorter horizons exploration is scaled down to ½ and the plan is
    not certified. Stability and exploration are even, so `sharper` makes 2·2^{−1/3} = 1.587 of the constant.

    >>> import sidelight as sl
    >>> round(sl.baselines.chlz21(sl.families.cycle(6), 10_000).bound.value)
    1936
    """

    called, title = "chlz21", "CHLZ21"
    source = "Chen, Huang, Li & Zhang 2021, constants of the full cover"
    formula, flat, may_fail = "3·2^{−1/3}(δ* log N)^{1/3}T^{2/3}", True, True

    def prepare(self) -> None:
        """Refuse graphs that it cannot play, and cover the others."""
        need_observable(self.graph, self.called)
        self.cover = Cover.of(self.solved.cover(np.arange(self.n)), self.n)

    def offer(self, T: float) -> Offer:
        """b·x*, scaled down to ½ at short horizons; log N/η + ηT/(2b) and bδ*T are even."""
        delta, logs = self.cover.mass, log(self.n)
        wanted = cbrt(delta * logs / (2 * T))  # b·δ*
        played, b = min(wanted, MOST_EXPLORATION), wanted / delta
        eta = sqrt(2 * b * logs / T)
        condition = Condition("γ̄ = (δ* log N/(2T))^{1/3} ≤ 1/2", wanted, MOST_EXPLORATION)
        rounds = T * round_cost(eta * delta / (2 * played), played) if self.n > 1 else 0.0
        gamma = played / delta * self.cover.weights
        return Offer(
            {"weights": 2 * wanted * T, "exploration": wanted * T},
            self.tuned(eta, gamma, b=b, delta=delta, gamma_bar=played),
            (condition,),
            {"diameter": logs / eta, "rounds": rounds} if self.n > 1 else {},
        )


class Exp3GWeak(Baseline):
    """Exponential weights with γ = min((δ log N/T)^{1/3}, ½) spread evenly over D, |D| = δ, and η = γ²/δ.

        R = O((δ log N)^{1/3}T^{2/3})                   Alon, Cesa-Bianchi, Dekel & Koren 2015, Theorem 2
        R ≤ 5/2·(δ log N)^{1/3}T^{2/3} + (n'/δ)·(δ log N)^{2/3}T^{1/3}       for γ < ½

    D, found greedily, reveals every arm without self-loop: the weak arms, and strong loop-less arms, which any two
    arms reveal. With γ ≤ ½, an arm that D reveals is seen with probability ≥ γ/δ, and each of the n' others, which
    have self-loops, contributes x/P ≤ 2. So log N/η + (η/2)(δ/γ + 2n')T + γT, which is the second line. Exploration
    covers stability, so `sharper` makes 2 of 5/2.

    >>> import sidelight as sl
    >>> plan = sl.baselines.exp3g_weak(sl.families.revealing_action(5), 10_000)
    >>> plan.parameters["delta"], plan.bound.certified
    (1.0, True)
    """

    called, title = "exp3g_weak", "Exp3.G, loop-less arms covered"
    source, flat, everyone = f"{ALON}, constants derived", True, False

    def prepare(self) -> None:
        """Refuse graphs that it cannot play, and find D."""
        g = need_observable(self.graph, self.called)
        if observability(g).weak.size == 0:
            raise InfeasibleRequest(
                "exp3g_weak needs a weakly observable graph, but every arm here is strongly observable; "
                "use exp3g_strong, or exp3g for either"
            )
        self.chosen: Longs = dominating_set(g) if self.everyone else self.solved.dominating_set
        self.delta, self.alone = self.chosen.size, int((~revealed_by(g, self.chosen)).sum())
        rest = f" + γ²·n'T/|D|, n' = {self.alone}" if self.alone else ""
        self.formula = f"5/2·(|D| log N)^{{1/3}}T^{{2/3}}{rest}, |D| = {self.delta} (greedy)"

    def offer(self, T: float) -> Offer:
        """γ/δ on D; log N/η + ½η(δ/γ + 2n')T + γT, as 1/(1−γ) ≤ 2: together 5/2·γT + γ²·(n'/δ)·T."""
        wanted, delta = cbrt(self.delta * log(self.n) / T), self.delta
        played = min(wanted, MOST_EXPLORATION)
        eta, shares = played**2 / delta, np.zeros(self.n)
        shares[self.chosen] = played / delta
        terms = {"diameter": wanted * T, "stability": wanted * T / 2, "exploration": wanted * T}
        sharper = {
            "diameter": log(self.n) / eta,
            "rounds": T * round_cost(eta * delta / (2 * played), played),
        }
        if self.alone:
            terms["self-loop arms"] = wanted * wanted * self.alone * T / delta
            sharper["self-loop arms"] = 0.5 * eta * self.alone / (1 - played) * T
        condition = Condition("γ = (|D| log N/T)^{1/3} ≤ 1/2", wanted, MOST_EXPLORATION)
        return Offer(terms, self.tuned(eta, shares, gamma=played, delta=float(delta)), (condition,), sharper)


class Exp3GEveryone(Exp3GWeak):
    """The same with a set that reveals all arms."""

    title, everyone = "Exp3.G, all arms covered", True


class Exp3GStrong(Baseline):
    """Exponential weights with γ = min(√(1/(αT)), ½) spread evenly over all arms, η = 2γ.

        R = O(√(αT)·log(NT))                            Alon, Cesa-Bianchi, Dekel & Koren 2015, Theorem 2
        R ≤ log N/η + ½ηρφ(η/p)·4α log(4N²/(αγ))·T + γT       constants derived with their Lemma 5

    α is the independence number, or the certified upper bound on it where it is not known.

    >>> import sidelight as sl
    >>> sl.baselines.exp3g_strong(sl.families.mab(4), 10_000).parameters["gamma"]
    0.005
    """

    called, title = "exp3g_strong", "Exp3.G"
    source = f"{ALON}; constants proved in docs/theory/strong.md, not taken from print"
    formula = "log N/η + ½ηρφ(η/p)·4α log(4N²/(αγ))·T + γT, of order √(αT)·log(NT)"

    def prepare(self) -> None:
        """Refuse graphs that it cannot play."""
        weak = observability(need_observable(self.graph, self.called)).weak.tolist()
        if weak:
            raise InfeasibleRequest(
                f"exp3g_strong needs a strongly observable graph, but {names(self.graph, weak)} are weakly "
                "observable; use exp3g_weak, or exp3g for either"
            )
        self.problem = Strong.of(self.solved.cliques)
        self.alpha = max(self.problem.alpha or self.problem.cliques, 1)

    def offer(self, T: float) -> Offer:
        """γ/N on all arms; Q = 4α log(4N²/(αγ)) by (2) of docs/theory/strong.md with s = 1."""
        n, alpha, (eta, gamma) = self.n, self.alpha, exp3g_tuning(self.problem, T)
        if n == 1:
            return Offer({"one arm": 0.0}, self.tuned(eta))
        Q = 4 * alpha * log(4 * n * n / (alpha * gamma)) if self.problem.n_loop else 0.0
        shift = growth(2 / (1 - 1 / n)) if self.problem.n_loopless else 1.0
        squares = Q + (1.0 if self.problem.n_loopless else 0.0)
        terms = {
            "diameter": log(n) / (2 * gamma),
            "stability": gamma / (1 - gamma) * shift * squares * T,
            "exploration": gamma * T,
        }
        return Offer(terms, self.tuned(eta, gamma / n, gamma=gamma, alpha_upper=float(alpha)))


# -- q-FTRL: Tsallis entropy between EXP3's and Tsallis-INF's, chosen by the independence number ------------


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

    def offer(self, T: float) -> Offer:
        """2√(eαT(2 + log(N/α))), without exploration."""
        n, alpha = self.n, self.alpha
        q = q_of_ftrl(n / alpha)
        eta = sqrt(2 * q * n ** (1 - q) / (T * (1 - q) * alpha**q))
        regret = 2 * sqrt(e * alpha * T * (2 + log(n / alpha))) if n > 1 else 0.0
        return Offer({"regret": regret}, self.tuned(eta, q=q, alpha_upper=float(alpha)))


hedge = as_plan(Hedge)
exp3 = as_plan(Exp3)
chlz21 = as_plan(CHLZ21)
exp3g_weak = as_plan(Exp3GWeak)
exp3g_strong = as_plan(Exp3GStrong)
q_ftrl = as_plan(QFTRL)


def exp3g(graph: FeedbackGraph, horizon: int) -> Plan:
    """`exp3g_strong` on strongly observable graphs, `exp3g_weak` on the others.

    >>> import sidelight as sl
    >>> sl.baselines.exp3g(sl.families.cycle(6), 1000).realization
    'exp3g_weak'
    """
    strong = observability(need_observable(graph, "exp3g")).graph == "strong"
    return (exp3g_strong if strong else exp3g_weak)(graph, horizon)


KNOWN: tuple[type[Baseline], ...] = (CHLZ21, Exp3GEveryone, Exp3GStrong, Exp3, Hedge, QFTRL, Exp3GWeak)
"""Algorithms whose bound is a row of `compare_bounds` wherever they can play."""
