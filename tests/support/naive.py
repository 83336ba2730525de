"""The two-level algorithm as the paper prints it: slow, readable, independent of the package.

Every function shows the equation it computes. Nothing here imports the library: dense matrices, one
pass per formula, generic root finding. Names follow the paper: m blocks V_k, Y on the blocks, X_k inside
block k, γ the global and γ_k the local exploration, Z what is played. "notes" are the readings that make the
paper's parameters concrete (which T is large enough, one block only, a single loop-less singleton).

Optimal covers and in-degree-1 prunings are not unique. So `weights` (x*_k of each block of size ≥ 2) and
`parent` (the one in-neighbour each arm keeps) are inputs, checked here against their definitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import mpmath
import numpy as np
from scipy.optimize import brentq, linprog

# -- the instance: a graph and a legal partition ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Instance:
    """A[i, j]: playing i reveals j. Blocks partition the arms; raises ValueError unless they are legal."""

    A: np.ndarray  # (n, n) bool
    blocks: tuple[np.ndarray, ...]  # the arms of block k, in the order given

    def __post_init__(self) -> None:
        problems = violations(self.A, self.blocks)
        if problems:
            raise ValueError("; ".join(problems))

    @classmethod
    def from_edges(
        cls, n: int, edges: Iterable[tuple[int, int]], blocks: Sequence[Sequence[int]]
    ) -> Instance:
        return cls(adjacency(n, edges), tuple(np.array(block) for block in blocks))

    @property
    def n(self) -> int:
        return len(self.A)

    @property
    def m(self) -> int:
        return len(self.blocks)

    @property
    def U1S(self) -> list[int]:
        """Singleton blocks whose arm reveals itself."""
        return [k for k, V in enumerate(self.blocks) if len(V) == 1 and self.A[V[0], V[0]]]

    @property
    def U1N(self) -> list[int]:
        """Singleton blocks whose arm does not reveal itself."""
        return [k for k, V in enumerate(self.blocks) if len(V) == 1 and not self.A[V[0], V[0]]]

    @property
    def U2(self) -> list[int]:
        """Blocks of two arms or more."""
        return [k for k, V in enumerate(self.blocks) if len(V) >= 2]

    def block_of(self, arm: int) -> int:
        return next(k for k, V in enumerate(self.blocks) if arm in V)


def adjacency(n: int, edges: Iterable[tuple[int, int]]) -> np.ndarray:
    A = np.zeros((n, n), dtype=bool)
    for i, j in edges:
        A[i, j] = True
    return A


def in_neighbors(A: np.ndarray, v: int) -> set[int]:
    """Nin(v) = {u : (u, v) ∈ E}."""
    return {u for u in range(len(A)) if A[u, v]}


def observability(A: np.ndarray, v: int) -> str:
    """Strong: a loop, or Nin(v) = V∖{v}; unobservable: Nin(v) = ∅; weak otherwise.

    With one arm and no loop both definitions apply, Nin(v) = ∅ = V∖{v}: such an arm is unobservable.
    """
    seen_by = in_neighbors(A, v)
    if not seen_by:
        return "unobservable"
    if v in seen_by or seen_by == set(range(len(A))) - {v}:
        return "strong"
    return "weak"


def violations(A: np.ndarray, blocks: Sequence[Sequence[int]]) -> list[str]:
    """Everything that keeps the blocks from being a legal partition (section 3.1, with the notes' reading).

    Blocks of size ≥ 2 must be observable in G[V_k]; a singleton must be strongly observable in G.
    """
    found = []
    arms = sorted(int(arm) for V in blocks for arm in V)
    if arms != list(range(len(A))):
        found.append(f"blocks do not hold each of {len(A)} arms exactly once: {arms}")
    for k, V in enumerate(blocks):
        if len(V) == 0:
            found.append(f"block {k} is empty")
        elif len(V) == 1:
            if observability(A, V[0]) != "strong":
                found.append(f"block {k}: singleton {V[0]} is not strongly observable")
        else:
            for v in V:
                if not in_neighbors(A, v) & {int(u) for u in V}:
                    found.append(f"block {k}: nothing inside reveals arm {v}")
    return found


def incidence(instance: Instance) -> np.ndarray:
    """E_H = {(i, j) : i ≠ j and some u ∈ V_i reveals some v ∈ V_j}."""
    H = np.zeros((instance.m, instance.m), dtype=bool)
    for a, Va in enumerate(instance.blocks):
        for b, Vb in enumerate(instance.blocks):
            H[a, b] = a != b and any(instance.A[u, v] for u in Va for v in Vb)
    return H


# -- what the partition's realizations need: δ_k, x*_k and a pruning -------------------------------------


def block_domination(instance: Instance, k: int) -> tuple[float, np.ndarray]:
    """(δ_k, x*_k):  min Σ_v x_v  s.t.  Σ_{v ∈ Nin(u) ∩ V_k} x_v ≥ 1 for u ∈ V_k,  0 ≤ x ≤ 1."""
    V = instance.blocks[k]
    inside = instance.A[np.ix_(V, V)].astype(float)
    lp = linprog(np.ones(len(V)), A_ub=-inside.T, b_ub=-np.ones(len(V)), bounds=(0, 1))
    if not lp.success:
        raise ValueError(f"block {k}: {lp.message}")
    return float(lp.fun), np.asarray(lp.x)


def optimal_weights(instance: Instance) -> dict[int, np.ndarray]:
    """One optimal cover per block of size ≥ 2."""
    return {k: block_domination(instance, k)[1] for k in instance.U2}


def checked_domination(
    instance: Instance, weights: Mapping[int, np.ndarray], tolerance: float = 1e-9
) -> dict[int, float]:
    """δ_k = Σ_j x*_{k,j} of the weights given, after checking that each is a cover and none is cheaper."""
    delta = {}
    for k in instance.U2:
        V, x = instance.blocks[k], np.asarray(weights[k], dtype=float)
        if x.shape != (len(V),) or (x < -tolerance).any():
            raise ValueError(f"block {k}: weights must be {len(V)} numbers ≥ 0, got {x}")
        covered = instance.A[np.ix_(V, V)].T @ x
        if (covered < 1 - tolerance).any():
            raise ValueError(f"block {k}: weights {x} leave arms uncovered: {covered}")
        best, _ = block_domination(instance, k)
        if abs(x.sum() - best) > tolerance * best:
            raise ValueError(f"block {k}: weights cost {x.sum()}, the optimum is {best}")
        delta[k] = float(x.sum())
    return delta


def first_parents(instance: Instance) -> np.ndarray:
    """One pruning: each arm of a block of size ≥ 2 keeps its lowest in-neighbour inside the block."""
    parent = np.full(instance.n, -1)
    for k in instance.U2:
        V = {int(v) for v in instance.blocks[k]}
        for i in V:
            parent[i] = min(in_neighbors(instance.A, i) & V)
    return parent


def check_parents(instance: Instance, blocks: Iterable[int], parent: np.ndarray) -> None:
    """The pruned block has in-degree 1: parent(i) lies in the block of i and reveals i."""
    for k in blocks:
        for i in instance.blocks[k]:
            j = int(parent[i])
            if j not in instance.blocks[k] or not instance.A[j, i]:
                raise ValueError(f"parent({i}) = {j} is not an in-neighbour inside block {k}")


# -- potentials and the mirror step ----------------------------------------------------------------------


@dataclass(frozen=True)
class Tsallis:
    """ψ(y) = −√y/η."""

    rate: float

    def gradient(self, y):
        return -1 / (2 * self.rate * y**0.5)

    def inverse_gradient(self, dual):
        """The y with ψ'(y) = dual; the gradient is negative everywhere, so dual must be too."""
        return 1 / (2 * self.rate * dual) ** 2

    def curvature(self, y):
        return 1 / (4 * self.rate * y**1.5)


@dataclass(frozen=True)
class Entropy:
    """ψ(y) = y log y/η."""

    rate: float

    def gradient(self, y):
        log = mpmath.log if isinstance(y, mpmath.mpf) else math.log
        return (log(y) + 1) / self.rate

    def inverse_gradient(self, dual):
        exp = mpmath.exp if isinstance(dual, mpmath.mpf) else math.exp
        return exp(self.rate * dual - 1)

    def curvature(self, y):
        return 1 / (self.rate * y)


@dataclass(frozen=True)
class Power:
    """ψ(x) = −x^h/(h(1−h)η), 0 < h < 1; ψ'' = x^{h−2}/η, as for x log x/η when h = 1. With a `line` ψ(1) = 0."""

    h: float
    rate: float
    line: bool = False

    @property
    def slope(self):
        return 1 / (self.h * (1 - self.h) * self.rate) if self.line else 0.0

    def gradient(self, x):
        return self.slope - (x ** (self.h - 1)) / ((1 - self.h) * self.rate)

    def inverse_gradient(self, dual):
        return ((1 - self.h) * self.rate * (self.slope - dual)) ** (-1 / (1 - self.h))

    def curvature(self, x):
        return x ** (self.h - 2) / self.rate


Potential = Tsallis | Entropy | Power
Solver = Callable[[Sequence[Potential], Sequence[float]], np.ndarray]


def bracket(potentials: Sequence[Potential], dual: Sequence) -> tuple:
    """ν between these solves Σ_i (ψ_i')⁻¹(dual_i + ν) = 1.

    At the upper end no coordinate exceeds 1 and one equals it, so the sum is ≥ 1;
    at the lower end no coordinate exceeds 1/m, so the sum is ≤ 1.
    """
    m = len(potentials)
    one = dual[0] * 0 + 1  # float or mpf, as the dual
    upper = min(psi.gradient(one) - d for psi, d in zip(potentials, dual, strict=True))
    lower = min(psi.gradient(one / m) - d for psi, d in zip(potentials, dual, strict=True))
    return lower, upper


def solve_multiplier(potentials: Sequence[Potential], dual: Sequence[float]) -> np.ndarray:
    """The point y of the simplex with ψ_i'(y_i) = dual_i + ν for one ν, by Brent's method.

    ν is measured from the lower end of its bracket, so that it is resolved relative to the bracket's width.
    """
    if len(dual) == 1:
        return np.ones(1)
    dual = [float(d) for d in dual]
    lower, upper = bracket(potentials, dual)
    shifted = [d + lower for d in dual]

    def point(nu: float) -> np.ndarray:
        return np.array([psi.inverse_gradient(d + nu) for psi, d in zip(potentials, shifted, strict=True)])

    def excess(nu: float) -> float:
        return math.fsum(point(nu)) - 1

    width = upper - lower
    if excess(0.0) >= 0:  # the solution is the lower end itself, up to rounding: y is uniform
        return point(0.0)
    if excess(width) <= 0:  # the solution is the upper end: y is a vertex, up to rounding
        return point(width)
    return point(brentq(excess, 0.0, width, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000))


def solve_multiplier_mp(
    potentials: Sequence[Potential], dual: Sequence[float], digits: int = 50
) -> np.ndarray:
    """`solve_multiplier` in `digits`-digit arithmetic, rounded once at the end.

    The sum is increasing and convex in ν, so Newton's method from the right end falls monotonically onto
    the root. Its slope is Σ 1/ψ_i''(y_i).
    """
    if len(dual) == 1:
        return np.ones(1)
    with mpmath.workdps(digits + 10):
        exact = [mpmath.mpf(float(d)) for d in dual]
        psis = [replace(psi, rate=mpmath.mpf(float(psi.rate))) for psi in potentials]
        _, nu = bracket(psis, exact)
        step = mpmath.inf
        while step > mpmath.mpf(10) ** -digits * (1 + abs(nu)):
            y = [psi.inverse_gradient(d + nu) for psi, d in zip(psis, exact, strict=True)]
            slope = mpmath.fsum(1 / psi.curvature(v) for psi, v in zip(psis, y, strict=True))
            step = (mpmath.fsum(y) - 1) / slope
            nu -= step
        return np.array([float(psi.inverse_gradient(d + nu)) for psi, d in zip(psis, exact, strict=True)])


def argmin_potential(potentials: Sequence[Potential], solve: Solver = solve_multiplier) -> np.ndarray:
    """argmin_{y ∈ Δ} Ψ(y): one ν with ψ_i'(y_i) = ν. Not uniform when rates differ."""
    return solve(potentials, [0.0] * len(potentials))


def mirror_step(
    potentials: Sequence[Potential], y: np.ndarray, loss: np.ndarray, solve: Solver = solve_multiplier
) -> np.ndarray:
    """argmin_{y' ∈ Δ} ⟨y', loss⟩ + B_Ψ(y', y):  loss_i + ψ_i'(y'_i) − ψ_i'(y_i) = ν for one ν."""
    dual = [psi.gradient(float(p)) - float(c) for psi, p, c in zip(potentials, y, loss, strict=True)]
    return solve(potentials, dual)


# -- parameters (section 4, appendix, and the notes) -----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spread:
    """γ(k, j) = β g_j(X),  g_j(X) = x_j max_{i ∈ Nout(j) ∩ V_k owed} X_i^{1−h}/c_i,  c_i = Σ_{j ∈ Nin(i) ∩ V_k} x_j.

    For every X and every owed arm i:  (a) Σ_{j ∈ Nin(i)} g_j ≥ X_i^{1−h},  (b) Σ_j g_j ≤ (Σ_j x_j)^h.
    """

    beta: float
    h: float
    cover: np.ndarray  # (n_k,) x
    owed: np.ndarray  # (n_k,) bool

    def shape(self, instance: Instance, k: int, X: np.ndarray) -> np.ndarray:
        """g(X), by the definition."""
        V = instance.blocks[k]
        inside = instance.A[np.ix_(V, V)]
        c = inside.T @ self.cover
        g = np.zeros(len(V))
        for j in range(len(V)):
            needs = [X[i] ** (1 - self.h) / c[i] for i in range(len(V)) if inside[j, i] and self.owed[i]]
            g[j] = self.cover[j] * max(needs, default=0.0)
        return g


def diameter(h: float, n: int) -> float:
    """D_h(n) = (n^{1−h} − 1)/(h(1−h)), the range of −Σ x^h/(h(1−h)) on the simplex; log n for h = 1."""
    return math.log(n) if h == 1 else (n ** (1 - h) - 1) / (h * (1 - h))


@dataclass(frozen=True, eq=False)
class Parameters:
    """Everything that is fixed before round 1."""

    alpha: float  # total local exploration of each block of size ≥ 2
    eta: float | None  # rates of Ψ: on U2 (None where unused)
    eta_loop: float | None  # on U1S
    eta_loopless: float | None  # on U1N
    gamma_constant: np.ndarray  # (n,) the constant part of γ
    gamma_local: np.ndarray  # (n,) γ_k(j) at the arm (k, j)
    parent: np.ndarray  # (n,) the pruning, −1 where not adaptive
    block_potential: Mapping[int, str] = field(default_factory=dict)  # k ∈ U2 → "entropy" | "tsallis"
    block_rate: Mapping[int, float] = field(default_factory=dict)  # k ∈ U2 → η_k
    adaptive: Mapping[int, float] = field(default_factory=dict)  # k ∈ U2 → c_k of the adaptive exploration
    arm_potential: Sequence[Potential] | None = None  # (n,) with its rate, instead of the two mappings above
    top_potential: Sequence[Potential] | None = None  # (m,) instead of eta, eta_loop, eta_loopless
    spread: Mapping[int, Spread] = field(default_factory=dict)  # k ∈ U2 → exploration that follows X^{1−h}
    lifted: Sequence[int] = ()  # arms with Power potentials that are explored by [floor·X^{1−h} − X]₊
    floor: float = 0.0
    c: float = 0.0  # estimates are (ℓ − c)/P

    def gamma(self, instance: Instance, X: Sequence[np.ndarray]) -> np.ndarray:
        """γ(k, j) = constant + c_k Σ_{i : parent(i) = j} √X_k(i)."""
        gamma = self.gamma_constant.copy()
        for k, c in self.adaptive.items():
            for i, x in zip(instance.blocks[k], X[k], strict=True):
                gamma[self.parent[i]] += c * np.sqrt(x)
        for k, spread in self.spread.items():
            gamma[instance.blocks[k]] += spread.beta * spread.shape(instance, k, X[k])
        for v in self.lifted:
            k = instance.block_of(v)
            x = X[k][list(instance.blocks[k]).index(v)]
            gamma[v] += max(self.floor * x ** (1 - self.arm_potential[v].h) - x, 0.0)
        return gamma

    def largest_exploration(self, instance: Instance) -> float:
        """The largest total γ̄ over all X: Σ_i √X(i) ≤ √n_k."""
        adaptive = sum(c * np.sqrt(len(instance.blocks[k])) for k, c in self.adaptive.items())
        spread = sum(s.beta * s.cover.sum() ** s.h for s in self.spread.values())
        return float(self.gamma_constant.sum() + adaptive + spread)


def clustered_parameters(instance: Instance, T: float, weights: Mapping[int, np.ndarray]) -> Parameters:
    """Theorem realized-upper-bound: negative entropy and constant exploration in every block.

    β = δ̄/((2T)^{1/3} (Σ_k δ_k log n_k)^{2/3}),   γ(k, j) = β x*_j log n_k / δ̄,   η_k = √(2β) log n_k/√(δ̄T).
    """
    delta = checked_domination(instance, weights)
    shared = _shared_parameters(instance, T, weights, delta)
    if not instance.U2:
        return _within_half(instance, shared)
    log_n = {k: np.log(len(instance.blocks[k])) for k in instance.U2}
    total = sum(delta.values())
    demand = sum(delta[k] * log_n[k] for k in instance.U2)
    beta = total / ((2 * T) ** (1 / 3) * demand ** (2 / 3))
    gamma = shared.gamma_constant.copy()
    for k in instance.U2:
        gamma[instance.blocks[k]] = beta * weights[k] * log_n[k] / total
    printed = replace(
        shared,
        gamma_constant=gamma,
        block_rate={k: np.sqrt(2 * beta) * log_n[k] / np.sqrt(total * T) for k in instance.U2},
        block_potential=dict.fromkeys(instance.U2, "entropy"),
    )
    return _within_half(instance, printed)


def adaptive_parameters(
    instance: Instance, T: float, weights: Mapping[int, np.ndarray], parent: np.ndarray
) -> Parameters:
    """Theorem adapt-realized-upper-bound: −Σ√x and exploration that follows X in every block.

    β = 2^{1/3} δ̄ n_max^{1/6}/(T^{1/3} (Σ_k √n_k)^{2/3}),   η_k = √(β √n_k/(2Tδ̄)),
    γ(k, j) = (β/δ̄) x*_j Σ_{i ∈ Nout(j)} √X_k(i)  on the pruned block, where x*_j = 1 iff j keeps a child.
    β is proportional to δ̄, so both formulas depend on β/δ̄ only. n_max stands for the unknown n_{k*}.
    """
    if not instance.U2:
        raise ValueError("the adaptive realization needs a block of size ≥ 2")
    delta = checked_domination(instance, weights)
    check_parents(instance, instance.U2, parent)
    shared = _shared_parameters(instance, T, weights, delta)
    n = {k: len(instance.blocks[k]) for k in instance.U2}
    total = sum(delta.values())
    roots = sum(np.sqrt(n[k]) for k in instance.U2)
    beta = 2 ** (1 / 3) * total * max(n.values()) ** (1 / 6) / (T ** (1 / 3) * roots ** (2 / 3))
    printed = replace(
        shared,
        parent=np.asarray(parent),
        adaptive=dict.fromkeys(instance.U2, beta / total),
        block_rate={k: np.sqrt(beta * np.sqrt(n[k]) / (2 * T * total)) for k in instance.U2},
        block_potential=dict.fromkeys(instance.U2, "tsallis"),
    )
    return _within_half(instance, printed)


def hybrid_parameters(
    instance: Instance,
    T: float,
    weights: Mapping[int, np.ndarray],
    parent: np.ndarray,
    entropy_blocks: Iterable[int],
) -> Parameters:
    """Section Remark on Realization: each block its own; every block has restriction regret √(2T/b).

    Entropy block:   β_k = b log n_k,  γ(k, j) = β_k x*_j,  η_k = √(2 β_k log n_k/T).
    Adaptive block:  c_k = 4b√n_k,  γ(k, j) = c_k Σ_{i : parent(i) = j} √X_k(i),  η_k = √(√n_k c_k/(2T)).
    Exploration costs b·M with M = Σ_E δ_k log n_k + Σ_A 4n_k, so b = (2T)^{−1/3} M^{−2/3}.
    """
    if not instance.U2:
        raise ValueError("the hybrid realization needs a block of size ≥ 2")
    delta = checked_domination(instance, weights)
    entropy = [k for k in instance.U2 if k in set(entropy_blocks)]
    others = [k for k in instance.U2 if k not in entropy]
    check_parents(instance, others, parent)
    shared = _shared_parameters(instance, T, weights, delta)
    n = {k: len(instance.blocks[k]) for k in instance.U2}
    M = sum(delta[k] * np.log(n[k]) for k in entropy) + sum(4 * n[k] for k in others)
    b = (2 * T) ** (-1 / 3) * M ** (-2 / 3)
    gamma = shared.gamma_constant.copy()
    rates, adaptive = {}, {}
    for k in entropy:
        beta = b * np.log(n[k])
        gamma[instance.blocks[k]] = beta * weights[k]
        rates[k] = np.sqrt(2 * beta * np.log(n[k]) / T)
    for k in others:
        adaptive[k] = 4 * b * np.sqrt(n[k])
        rates[k] = np.sqrt(np.sqrt(n[k]) * adaptive[k] / (2 * T))
    printed = replace(
        shared,
        gamma_constant=gamma,
        parent=np.where([instance.block_of(i) in others for i in range(instance.n)], parent, -1),
        adaptive=adaptive,
        block_rate=rates,
        block_potential={k: "entropy" if k in entropy else "tsallis" for k in instance.U2},
    )
    return _within_half(instance, printed)


def interpolated_parameters(
    instance: Instance,
    T: float,
    weights: Mapping[int, np.ndarray],
    h: Mapping[int, float],
    b: float,
    alpha: float,
    top: Sequence[Potential],
    extra: float = 0.0,
) -> Parameters:
    """Every block of U2 plays Tsallis-h:  β_k = b D_k,  η_k = √(2 D_k β_k/T),  γ(k, j) = β_k g_j(X_k).

    One block alone has η = √(4Dβ/T) instead, where stability and exploration are even, or, from bT = 4 downwards,
    where exploration stays at ½, the larger of β and √(2Dβ/T).
    At h = 1 the exploration is constant, β_k x_j max_i 1/c_i. `b`, `alpha`, the rates of Ψ in `top` and `extra`
    are free: any that satisfy the conditions of the bound will do. `extra` is what loop-less singletons see: on
    the covers of U2, else even on U1S, else n/(n−1) times as much even on U1N.
    """
    delta = checked_domination(instance, weights)
    gamma, local = np.zeros(instance.n), np.zeros(instance.n)
    potential: list[Potential] = [Entropy(1.0)] * instance.n
    spreads = {}
    for k in instance.U2:
        V = instance.blocks[k]
        D = diameter(h[k], len(V))
        beta = b * D
        eta = math.sqrt(2 * D * beta / T)
        if instance.m == 1:
            eta = math.sqrt(4 * D * beta / T) if b * T >= 4 else max(beta, eta)
        spread = Spread(beta, h[k], np.asarray(weights[k]), np.ones(len(V), dtype=bool))
        if h[k] == 1:
            gamma[V] = beta * spread.shape(instance, k, np.ones(len(V)))
        else:
            spreads[k] = spread
        for v in V:
            potential[v] = Entropy(eta) if h[k] == 1 else Power(h[k], eta)
        gamma[V] += extra * weights[k] / sum(delta.values())
        local[V] = alpha * weights[k] / delta[k]
    if not instance.U2:
        n_N = len(instance.U1N)
        carriers = instance.U1S or instance.U1N
        total = extra if instance.U1S or n_N < 2 else extra * n_N / (n_N - 1)
        for k in carriers:
            gamma[instance.blocks[k]] = total / len(carriers)
    return Parameters(
        alpha, None, None, None, gamma, local, np.full(instance.n, -1),
        arm_potential=potential, top_potential=top, spread=spreads,
    )  # fmt: skip


def flat_parameters(
    instance: Instance,
    cover: np.ndarray,
    owed: np.ndarray,
    h: float,
    beta: float,
    eta: float,
    eta_loop: float = 0.0,
    eta_loopless: float = 0.0,
    extra: float = 0.0,
    shifted: np.ndarray | None = None,
) -> Parameters:
    """One block: owed arms play Tsallis-h, shifted ones x log x/η_N, all others −√x/η_S.

    γ(j) = β g_j(X) over the owed arms only, and `extra` spread evenly over the arms that are not shifted: those that
    are not owed and have no loop, unless told otherwise. `cover` must give every owed arm 1.
    """
    if instance.m != 1 or (instance.A.T @ cover < 1 - 1e-9)[owed].any() or (cover < 0).any():
        raise ValueError("a flat plan needs one block and a cover of its owed arms")
    if shifted is None:
        shifted = ~(owed | np.diag(instance.A))
    potential: list[Potential] = []
    for v in range(instance.n):
        if owed[v]:
            potential.append(Entropy(eta) if h == 1 else Power(h, eta))
        else:
            potential.append(Entropy(eta_loopless) if shifted[v] else Tsallis(eta_loop))
    gamma = np.where(shifted, 0.0, extra / max(int(np.sum(~shifted)), 1))
    spread = Spread(beta, h, cover, owed)
    if h == 1:
        gamma = gamma + beta * spread.shape(instance, 0, np.ones(instance.n))
    return Parameters(
        0.0, None, None, None, gamma, np.zeros(instance.n), np.full(instance.n, -1),
        arm_potential=potential, spread={} if h == 1 else {0: spread},
    )  # fmt: skip


def _shared_parameters(
    instance: Instance, T: float, weights: Mapping[int, np.ndarray], delta: Mapping[int, float]
) -> Parameters:
    """Rates of Ψ, exploration of singletons and local exploration: the same for every realization.

    η_S̄ = √(log(n_N+1)/(10T)).
    U2 = ∅:  η_S = 1/√(2T), or 1/√(24T) if U1N ≠ ∅; with n_N = 1, η_S̄ is capped at η_S.
    U2 ≠ ∅:  α = 2^{2/3} (m2 Q)^{1/6} T^{−1/3}  (2^{4/3} if U1N ≠ ∅), at most 1;  Q = Σ δ_k²;
             η = ½ (m2/Q)^{1/4} √(α/T)  (¼ if U1N ≠ ∅);  η_S = 1/√(4T)  (1/(2√(6T)) if U1N ≠ ∅).
    U1N ≠ ∅: γ = 4η_S/n_S on U1S, 4η_S̄/(n_N−1) on U1N if n_N > 1, else 0.
    γ_k(j) = α x*_j/δ_k.  One block only: Y ≡ 1, nothing to learn on top, α = 0.
    """
    n_S, n_N, m2 = len(instance.U1S), len(instance.U1N), len(instance.U2)
    eta_loopless = np.sqrt(np.log(n_N + 1) / (10 * T)) if n_N else None
    alpha, eta = 0.0, None
    if m2 == 0:
        eta_loop = 1 / np.sqrt((24 if n_N else 2) * T)
        if n_N == 1:
            eta_loopless = min(eta_loopless, eta_loop)
    else:
        eta_loop = 1 / (2 * np.sqrt(6 * T)) if n_N else 1 / np.sqrt(4 * T)
        if instance.m > 1:
            Q = sum(d**2 for d in delta.values())
            alpha = min(1.0, (2 ** (4 / 3) if n_N else 2 ** (2 / 3)) * (m2 * Q) ** (1 / 6) * T ** (-1 / 3))
            eta = (1 / 4 if n_N else 1 / 2) * (m2 / Q) ** (1 / 4) * np.sqrt(alpha / T)

    gamma = np.zeros(instance.n)
    if n_N:
        for k in instance.U1S:
            gamma[instance.blocks[k]] = 4 * eta_loop / n_S
        if n_N > 1:
            for k in instance.U1N:
                gamma[instance.blocks[k]] = 4 * eta_loopless / (n_N - 1)
    local = np.zeros(instance.n)
    for k in instance.U2:
        local[instance.blocks[k]] = alpha * weights[k] / delta[k]
    no_parent = np.full(instance.n, -1)
    return Parameters(alpha, eta, eta_loop if n_S else None, eta_loopless, gamma, local, no_parent)


def _within_half(instance: Instance, printed: Parameters) -> Parameters:
    """Below its threshold T a plan still plays: all of γ is scaled down to γ̄ = ½ in the worst case.

    Only exploration is scaled. The rates η_k, η_S and η_S̄ stay as printed; η follows α, which is cut at 1.
    """
    total = printed.largest_exploration(instance)
    if total <= 1 / 2:
        return printed
    scale = 1 / (2 * total)
    adaptive = {k: c * scale for k, c in printed.adaptive.items()}
    return replace(printed, gamma_constant=printed.gamma_constant * scale, adaptive=adaptive)


# -- the algorithm ---------------------------------------------------------------------------------------


class Ledger(NamedTuple):
    """One round of Lemma regret, in expectation over the arm played: regret ≤ the sum of the four terms."""

    regret: float  # E⟨ℓ̂, Z − e_{a*}⟩
    projection: float  # E⟨L̂, Y − e_{k*}⟩
    global_exploration: float  # Σγ·(1 − E⟨L̂, Y⟩)
    restriction: float  # E⟨ℓ̂_{k*}, X_{k*} − e_{j*}⟩ if k* ∈ U2, else 0
    local_exploration: float  # Σ γ_{k*} if k* ∈ U2, else 0

    @property
    def total(self) -> float:
        return self.projection + self.global_exploration + self.restriction + self.local_exploration


class TwoLevelOSMD:
    """Algorithm osmd-decomp. The state is X_k for every block and Y, all of them distributions."""

    def __init__(self, instance: Instance, parameters: Parameters, solve: Solver = solve_multiplier) -> None:
        self.instance, self.parameters, self.solve = instance, parameters, solve
        self.Psi = self._top_potentials()
        # X_k(1) ← argmin Φ_k on U2, 1 on U1;  Y(1) ← argmin Ψ
        self.X = [argmin_potential(self._Phi(k), solve) for k in range(instance.m)]
        self.Y = argmin_potential(self.Psi, solve)

    def _top_potentials(self) -> list[Potential]:
        """Ψ = Σ_{U2} −√y/η + Σ_{U1S} −√y/η_S + Σ_{U1N} y log y/η_S̄."""
        p, U1S, U1N = self.parameters, self.instance.U1S, self.instance.U1N
        if self.instance.m == 1:
            return [Tsallis(1.0)]  # Y ≡ 1 whatever the rate
        if p.top_potential is not None:
            return list(p.top_potential)
        return [
            Tsallis(p.eta_loop) if k in U1S else Entropy(p.eta_loopless) if k in U1N else Tsallis(p.eta)
            for k in range(self.instance.m)
        ]

    def _Phi(self, k: int) -> list[Potential]:
        """Φ_k, without its step η_k unless every arm has its own; a singleton has nothing to choose."""
        size = len(self.instance.blocks[k])
        if size == 1:
            return [Entropy(1.0)]
        if self.parameters.arm_potential is not None:
            return [self.parameters.arm_potential[v] for v in self.instance.blocks[k]]
        return [Entropy(1.0) if self.parameters.block_potential[k] == "entropy" else Tsallis(1.0)] * size

    def tilde(self, k: int) -> np.ndarray:
        """X̃_k(j) = (1 − γ̄_k) X_k(j) + γ_k(j);  X_k itself on U1, where γ_k = 0."""
        local = self.parameters.gamma_local[self.instance.blocks[k]]
        return (1 - local.sum()) * self.X[k] + local

    def gamma(self) -> np.ndarray:
        """γ of this round, arm by arm."""
        return self.parameters.gamma(self.instance, self.X)

    def distribution(self) -> np.ndarray:
        """Z((k, j)) = (1 − γ̄) Y(k) X̃_k(j) + γ((k, j))."""
        gamma = self.gamma()
        Z = gamma.copy()
        for k, V in enumerate(self.instance.blocks):
            Z[V] += (1 - gamma.sum()) * self.Y[k] * self.tilde(k)
        return Z

    def estimates(self, arm: int, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ℓ̂(v) = 1[v ∈ Nout(A)] (ℓ(v) − c)/Σ_{a ∈ Nin(v)} Z(a)  and  L̂(k) = ⟨X̃_k, ℓ̂_k⟩.

        Losses that `arm` does not reveal are not read: they may be NaN.
        """
        revealed = self.instance.A[arm]
        seen_probability = self.instance.A.T @ self.distribution()
        estimate = np.zeros(self.instance.n)
        estimate[revealed] = (losses[revealed] - self.parameters.c) / seen_probability[revealed]
        block = np.array([self.tilde(k) @ estimate[V] for k, V in enumerate(self.instance.blocks)])
        return estimate, block

    def shift(self, L: np.ndarray) -> float:
        """c = Σ_{k ∈ U1N} L̂(k) Y(k)."""
        return float(sum(L[k] * self.Y[k] for k in self.instance.U1N))

    def step(self, arm: int, losses: np.ndarray) -> None:
        """X_k ← argmin η_k⟨x, ℓ̂_k⟩ + B_{Φ_k}(x, X_k);   Y ← argmin ⟨y, L̂ − c·1⟩ + B_Ψ(y, Y)."""
        estimate, L = self.estimates(arm, losses)
        for k in self.instance.U2:
            loss = self.parameters.block_rate.get(k, 1.0) * estimate[self.instance.blocks[k]]
            self.X[k] = mirror_step(self._Phi(k), self.X[k], loss, self.solve)
        if self.instance.m > 1:
            self.Y = mirror_step(self.Psi, self.Y, L - self.shift(L), self.solve)

    def ledger(self, losses: np.ndarray, best: int) -> Ledger:
        """Both sides of Lemma regret for this round, exactly: a sum over all arms that may be played."""
        instance, Z, gamma = self.instance, self.distribution(), self.gamma()
        k = instance.block_of(best)
        V = instance.blocks[k]
        regret = projection = restriction = explored = 0.0
        for arm in range(instance.n):
            estimate, L = self.estimates(arm, losses)
            regret += Z[arm] * (estimate @ Z - estimate[best])
            explored += Z[arm] * float(gamma.sum()) * (1 - self.parameters.c - float(L @ self.Y))
            projection += Z[arm] * (L @ self.Y - L[k])
            if k in instance.U2:
                restriction += Z[arm] * (estimate[V] @ self.X[k] - estimate[best])
        local = float(self.parameters.gamma_local[V].sum()) if k in instance.U2 else 0.0
        return Ledger(float(regret), float(projection), explored, float(restriction), local)


def run(
    instance: Instance,
    parameters: Parameters,
    arms: Sequence[int],
    losses: np.ndarray,
    solve: Solver = solve_multiplier,
) -> list[np.ndarray]:
    """Z(1), …, Z(len(arms)) when `arms` were played against the (rounds, n) `losses`."""
    twin = TwoLevelOSMD(instance, parameters, solve)
    played = []
    for arm, loss in zip(arms, losses, strict=True):
        played.append(twin.distribution())
        twin.step(int(arm), loss)
    return played
