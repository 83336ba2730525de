"""The naive twin is itself tested by the laws the paper proves, before anything is compared with it."""

import functools

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from instances import CASE_IDS, CASES, INSTANCES
from naive import Entropy, Instance, Power, Tsallis, TwoLevelOSMD
from numpy.testing import assert_allclose

exact = settings(deadline=None, derandomize=True, max_examples=60)


# -- making instances ------------------------------------------------------------------------------------


def parameters_of(instance, realization, horizon, entropy_blocks=None):
    weights, parent = naive.optimal_weights(instance), naive.first_parents(instance)
    if realization == "clustered":
        return naive.clustered_parameters(instance, horizon, weights)
    if realization == "adaptive":
        return naive.adaptive_parameters(instance, horizon, weights, parent)
    if realization == "interpolated":
        return interpolated_of(instance, horizon, weights)
    if realization == "flat":
        return flat_of(instance, horizon)
    if entropy_blocks is None:
        entropy_blocks = instance.U2[::2]
    return naive.hybrid_parameters(instance, horizon, weights, parent, entropy_blocks)


def interpolated_of(instance, horizon, weights):
    """Blocks with h = 1/4, 1/2, 3/4, 1 in turn, and a quarter of exploration at most."""
    h = {k: (0.25, 0.5, 0.75, 1.0)[at % 4] for at, k in enumerate(instance.U2)}
    shares = [naive.diameter(h[k], len(instance.blocks[k])) * weights[k].sum() ** h[k] for k in instance.U2]
    b = 0.25 / sum(shares) if shares else 0.0
    top = [
        Entropy(0.1) if k in instance.U1N else Tsallis(1 / np.sqrt(horizon + k)) for k in range(instance.m)
    ]
    extra = 0.1 if instance.U1N else 0.0
    return naive.interpolated_parameters(instance, horizon, weights, h, b, 0.2, top, extra)


def flat_of(instance, horizon):
    """Arms that are not strong are owed exploration, at h = 2/3; the others have potentials of their own."""
    A = instance.A
    owed = np.array([naive.observability(A, v) == "weak" for v in range(instance.n)])
    cover = np.ones(instance.n) if owed.any() else np.zeros(instance.n)
    h = 2 / 3
    beta = 0.2 / max(cover.sum(), 1.0) ** h
    return naive.flat_parameters(instance, cover, owed, h, beta, 1 / horizon, 0.3, 0.1, 0.1)


def instance_of(named):
    return Instance.from_edges(named.n_arms, named.edges, named.blocks)


@st.composite
def legal_instances(draw, max_arms=7):
    """Random edges and blocks, with just enough edges added to make the partition legal."""
    n = draw(st.integers(1, max_arms))
    cells = st.lists(st.booleans(), min_size=n * n, max_size=n * n)
    A = np.array(draw(cells)).reshape(n, n) & np.array(draw(cells)).reshape(n, n)  # sparse: one in four
    label = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    blocks = [[v for v in range(n) if label[v] == k] for k in sorted(set(label))]
    for V in blocks:
        if len(V) == 1:
            if n == 1 or draw(st.booleans()):
                A[V[0], V[0]] = True
            else:
                A[:, V[0]] = np.arange(n) != V[0]
    for V in blocks:
        for v in V if len(V) >= 2 else []:
            if not A[V, v].any():
                A[draw(st.sampled_from(V)), v] = True
    return Instance(A, tuple(np.array(V) for V in draw(st.permutations(blocks))))


@st.composite
def games(draw):
    """A twin some rounds into a game, and the losses of its next round."""
    instance = draw(legal_instances())
    horizon = draw(st.sampled_from([1, 30, 1_000, 100_000]))
    kinds = ["clustered", "adaptive", "hybrid"] if instance.U2 else ["clustered"]
    kinds += ["interpolated"] + ["flat"] * (instance.m == 1 and instance.n > 1)
    realization = draw(st.sampled_from(kinds))
    entropy_blocks = [k for k in instance.U2 if draw(st.booleans())]
    twin = TwoLevelOSMD(instance, parameters_of(instance, realization, horizon, entropy_blocks))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for _ in range(draw(st.integers(0, 8))):
        twin.step(int(rng.integers(instance.n)), rng.integers(0, 2, instance.n).astype(float))
    losses = draw(st.lists(st.floats(0, 1), min_size=instance.n, max_size=instance.n))
    return twin, np.array(losses)


# -- partitions, covers, prunings ------------------------------------------------------------------------


def test_instances_are_legal_and_cover_every_kind():
    kinds = set()
    for named in INSTANCES:
        instance = instance_of(named)
        kinds |= {name for name in ("U1S", "U1N", "U2") if getattr(instance, name)}
        n_N = len(instance.U1N)
        kinds |= {"n_N = 1"} if n_N == 1 else {"n_N ≥ 2"} if n_N else set()
        kinds |= {"n_N = 1, U2 = ∅"} if n_N == 1 and not instance.U2 else set()
        kinds |= {"one block"} if instance.m == 1 and instance.U2 else set()
        kinds |= {"all three"} if instance.U1S and instance.U1N and instance.U2 else set()
        H = naive.incidence(instance)
        kinds |= {"cross-block edges"} if any(H[k].any() or H[:, k].any() for k in instance.U2) else set()
        assert ("adaptive" in named.realizations) == bool(instance.U2)
    sizes = {"n_N = 1", "n_N ≥ 2", "n_N = 1, U2 = ∅", "one block"}
    assert kinds == {"U1S", "U1N", "U2", "all three", "cross-block edges"} | sizes
    assert len({named.name for named in INSTANCES}) == len(INSTANCES) >= 12


@pytest.mark.parametrize(
    ("n", "edges", "blocks", "problem"),
    [
        (1, [], [[0]], "singleton 0 is not strongly observable"),
        (3, [(0, 1), (1, 0), (0, 2)], [[0, 1], [2]], "singleton 2 is not strongly observable"),
        (3, [(0, 1), (1, 0), (0, 2), (2, 0)], [[0], [1, 2]], "nothing inside reveals arm 1"),
        (2, [(0, 0), (1, 1)], [[0]], "exactly once"),
        (2, [(0, 0), (1, 1)], [[0, 1], [1]], "exactly once"),
        (1, [(0, 0)], [[0], []], "block 1 is empty"),
    ],
)
def test_illegal_partitions_are_refused(n, edges, blocks, problem):
    with pytest.raises(ValueError, match=problem):
        Instance.from_edges(n, edges, blocks)


def test_loopless_singleton_seen_by_all_others_is_legal():
    instance = Instance.from_edges(3, [(0, 2), (1, 2), (0, 1), (1, 0)], [[0, 1], [2]])
    assert (instance.U1S, instance.U1N, instance.U2) == ([], [1], [0])


def test_closed_forms_of_the_domination_number():
    delta = {
        named.name: [naive.block_domination(instance, k)[0] for k in instance.U2]
        for named in INSTANCES
        for instance in [instance_of(named)]
    }
    assert_allclose(delta["cycle"], [3])
    assert_allclose(delta["directed_cycle"], [7])
    assert_allclose(delta["cliques"], [3 / 2, 4 / 3, 2])
    assert_allclose(delta["bicliques"], [2, 2])
    assert_allclose(delta["revealing_action"], [1])


def test_weights_and_parents_must_fit_the_block():
    instance = Instance.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)], [[0, 1, 2, 3]])
    good = {0: np.ones(4)}
    naive.clustered_parameters(instance, 100, good)
    for bad, problem in [
        (np.full(4, 0.5), "uncovered"),
        (np.full(4, 2.0), "optimum"),
        (np.ones(3), "4 numbers"),
    ]:
        with pytest.raises(ValueError, match=problem):
            naive.clustered_parameters(instance, 100, {0: bad})
    naive.adaptive_parameters(instance, 100, good, np.array([1, 0, 3, 2]))
    for bad in ([1, 0, 3, -1], [1, 0, 3, 0], [0, 0, 3, 2]):
        with pytest.raises(ValueError, match="not an in-neighbour"):
            naive.adaptive_parameters(instance, 100, good, np.array(bad))


# -- the mirror step -------------------------------------------------------------------------------------


@st.composite
def steps(draw):
    m = draw(st.integers(1, 6))
    rates = st.floats(1e-4, 3)
    kinds = st.one_of(
        st.builds(Tsallis, rates), st.builds(Entropy, rates), st.builds(Power, st.floats(0.1, 0.9), rates)
    )
    potentials = [draw(kinds) for _ in range(m)]
    log_y = np.array(draw(st.lists(st.floats(-12, 0), min_size=m, max_size=m)))
    y = np.exp(log_y) / np.exp(log_y).sum()
    losses = draw(st.lists(st.floats(-2, 200), min_size=m, max_size=m))
    return potentials, y, np.array(losses)


def value(psi, y):
    if isinstance(psi, Power):
        return -(y**psi.h) / (psi.h * (1 - psi.h) * psi.rate)
    return -np.sqrt(y) / psi.rate if isinstance(psi, Tsallis) else y * np.log(y) / psi.rate


def objective(potentials, y, loss, point):
    """⟨point, loss⟩ + B_Ψ(point, y), written out."""
    bregman = sum(
        value(psi, p) - value(psi, q) - psi.gradient(q) * (p - q)
        for psi, p, q in zip(potentials, point, y, strict=True)
    )
    return point @ loss + bregman


@exact
@given(steps(), st.integers(0, 2**32 - 1))
def test_step_minimises_its_objective(step, seed):
    potentials, y, loss = step
    found = naive.mirror_step(potentials, y, loss)
    assert (found > 0).all()
    assert_allclose(found.sum(), 1, rtol=0, atol=1e-10)
    best = objective(potentials, y, loss, found)
    rng = np.random.default_rng(seed)
    for size in (1, 1e-1, 1e-3):
        other = (1 - size) * found + size * rng.dirichlet(np.ones(len(y)))
        assert best <= objective(potentials, y, loss, other) + 1e-9 * (1 + abs(best))


@exact
@given(steps())
def test_both_solvers_agree(step):
    potentials, y, loss = step
    in_doubles = naive.mirror_step(potentials, y, loss)
    in_digits = naive.mirror_step(potentials, y, loss, solve=naive.solve_multiplier_mp)
    assert_allclose(in_digits.sum(), 1, rtol=0, atol=1e-15)
    assert_allclose(in_doubles, in_digits, rtol=1e-9, atol=1e-12)


@exact
@given(steps())
def test_a_loss_common_to_all_changes_nothing(step):
    potentials, y, loss = step
    assert_allclose(naive.mirror_step(potentials, y, np.full(len(y), loss[0])), y, rtol=1e-9, atol=1e-12)


def test_entropy_step_is_multiplicative_weights():
    y, loss = np.array([0.2, 0.5, 0.3]), np.array([0.0, 3.0, 1.0])
    weights = y * np.exp(-0.7 * loss)
    assert_allclose(naive.mirror_step([Entropy(0.7)] * 3, y, loss), weights / weights.sum(), rtol=1e-14)


def test_two_tsallis_arms_in_closed_form():
    """y = (1/4, 3/4) solves 2ηL = (1/√y₁ − 1/√½) − (1/√y₂ − 1/√½) from the uniform start."""
    loss = np.array([(2 - 2 / np.sqrt(3)) / (2 * 0.1), 0.0])
    found = naive.mirror_step([Tsallis(0.1)] * 2, np.array([0.5, 0.5]), loss)
    assert_allclose(found, [0.25, 0.75], rtol=1e-13)


# -- parameters ------------------------------------------------------------------------------------------


@exact
@given(legal_instances(), st.sampled_from([1, 5, 100, 10**4, 10**7]), st.data())
def test_exploration_is_a_probability_at_every_horizon(instance, horizon, data):
    realizations = ["clustered", "adaptive", "hybrid"] if instance.U2 else ["clustered"]
    p = parameters_of(instance, data.draw(st.sampled_from(realizations)), horizon)
    assert 0 <= p.alpha <= 1
    assert p.largest_exploration(instance) <= 1 / 2 + 1e-12
    for k in instance.U2:
        assert_allclose(p.gamma_local[instance.blocks[k]].sum(), p.alpha)
    uniform = [np.full(len(V), 1 / len(V)) for V in instance.blocks]
    assert_allclose(p.gamma(instance, uniform).sum(), p.largest_exploration(instance))
    if instance.m == 1:
        assert p.alpha == 0


@exact
@given(legal_instances(), st.sampled_from([1, 100, 10**5]))
def test_hybrid_of_entropy_blocks_is_clustered(instance, horizon):
    assume(instance.U2)
    hybrid = parameters_of(instance, "hybrid", horizon, entropy_blocks=instance.U2)
    clustered = parameters_of(instance, "clustered", horizon)
    assert_allclose(hybrid.gamma_constant, clustered.gamma_constant, rtol=1e-12)
    for k in instance.U2:
        assert_allclose(hybrid.block_rate[k], clustered.block_rate[k], rtol=1e-12)


@pytest.mark.parametrize("name", ["cycle", "directed_cycle", "hypercube"])
def test_hybrid_of_adaptive_blocks_of_one_size_is_adaptive(name):
    instance = instance_of(next(named for named in INSTANCES if named.name == name))
    hybrid = parameters_of(instance, "hybrid", 5_000, entropy_blocks=[])
    adaptive = parameters_of(instance, "adaptive", 5_000)
    for k in instance.U2:
        assert_allclose(hybrid.adaptive[k], adaptive.adaptive[k], rtol=1e-12)
        assert_allclose(hybrid.block_rate[k], adaptive.block_rate[k], rtol=1e-12)


def test_printed_parameters_by_hand():
    """Two loop-less triangles and a loop, T = 8000: δ_k = 3/2, m2·Q = 9, Σδ_k log n_k = 3 log 3."""
    triangles = [(u, v) for V in ([0, 1, 2], [3, 4, 5]) for u in V for v in V if u != v]
    instance = Instance.from_edges(7, [*triangles, (6, 6)], [[0, 1, 2], [3, 4, 5], [6]])
    p = parameters_of(instance, "clustered", 8_000)
    assert_allclose(p.alpha, 2 ** (2 / 3) * 9 ** (1 / 6) / 20)
    assert_allclose(p.eta, 0.5 * (2 / 4.5) ** 0.25 * np.sqrt(p.alpha / 8_000))
    assert_allclose(p.eta_loop, 1 / np.sqrt(32_000))
    b = 1 / (16_000 ** (1 / 3) * (3 * np.log(3)) ** (2 / 3))  # β/δ̄
    assert_allclose(p.gamma_constant, [b * 0.5 * np.log(3)] * 6 + [0], rtol=1e-12)
    assert_allclose(p.block_rate[0], np.sqrt(2 * b / 8_000) * np.log(3))
    a = parameters_of(instance, "adaptive", 8_000)
    c = 2 ** (1 / 3) * 3 ** (1 / 6) / (20 * (2 * np.sqrt(3)) ** (2 / 3))
    assert_allclose(list(a.adaptive.values()), [c, c])
    assert_allclose(a.block_rate[1], np.sqrt(c * np.sqrt(3) / 16_000))


def test_loopless_singletons_by_hand():
    T = 10_000
    named = {named.name: instance_of(named) for named in INSTANCES}
    one = parameters_of(named["mab_and_one_loopless"], "clustered", T)
    assert one.eta_loopless == one.eta_loop == 1 / np.sqrt(24 * T)  # capped: log 2/10 > 1/24
    assert_allclose(one.gamma_constant, [4 * one.eta_loop / 5] * 5 + [0])
    three = parameters_of(named["mab_and_three_loopless"], "clustered", T)
    assert_allclose(three.eta_loopless, np.sqrt(np.log(4) / (10 * T)))
    assert_allclose(three.gamma_constant, [three.eta_loop] * 4 + [2 * three.eta_loopless] * 3)
    weak = parameters_of(named["cycle_and_one_loopless"], "clustered", T)
    assert_allclose(weak.eta_loopless, np.sqrt(np.log(2) / (10 * T)))  # not capped: U2 ≠ ∅
    assert_allclose(weak.alpha, 2 ** (4 / 3) * 4 ** (1 / 3) * T ** (-1 / 3))  # δ = 4, m2 = 1
    assert_allclose(weak.eta, 0.25 * 4 ** (-1 / 2) * np.sqrt(weak.alpha / T))


def test_below_the_thresholds_only_exploration_is_scaled():
    """A directed cycle of 4 as one block, T = 1: adaptive γ̄ = 2^{1/3}·4^{1/6}·2^{1/3} = 2 becomes ½."""
    instance = Instance.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [[0, 1, 2, 3]])
    p = parameters_of(instance, "adaptive", 1)
    printed = 2 ** (1 / 3) * 4 ** (1 / 6) / 2 ** (2 / 3)
    assert_allclose(printed * np.sqrt(4), 2)
    assert_allclose(p.adaptive[0], printed / 4)
    assert_allclose(p.block_rate[0], np.sqrt(printed * 2 / 2))
    assert_allclose(p.largest_exploration(instance), 0.5)
    two = Instance.from_edges(
        4, [(0, 1), (1, 0), (2, 3), (3, 2)], [[0, 1], [2, 3]]
    )  # δ = 2: α printed is 3.2
    p = parameters_of(two, "clustered", 1)
    assert p.alpha == 1
    assert_allclose(p.eta, 0.5 * (2 / 8) ** 0.25)
    assert_allclose(p.gamma_constant, np.full(4, 0.125))  # printed 2^{−1/3}(4 log 2)^{1/3}, scaled to ½


@exact
@given(legal_instances(), st.integers(0, 2**32 - 1))
def test_interpolated_blocks_are_balanced_and_covered(instance, seed):
    """Of several blocks each has D/η + ηT/(2β) = √(2T/b); an arm is seen β·X^{1−h} or more, for at most b·Σ D·δ^h."""
    T = 5_000
    p = parameters_of(instance, "interpolated", T)
    weights, rng = naive.optimal_weights(instance), np.random.default_rng(seed)
    X = [rng.dirichlet(np.full(len(V), 0.3)) for V in instance.blocks]
    gamma, budget, least = p.gamma(instance, X), 0.0, []
    for at, k in enumerate(instance.U2):
        h, V = (0.25, 0.5, 0.75, 1.0)[at % 4], instance.blocks[k]
        D, delta = naive.diameter(h, len(V)), weights[k].sum()
        eta = p.arm_potential[V[0]].rate
        beta = eta**2 * T / (2 * D)
        if instance.m == 1 and eta * T >= 2 * D:  # even, or explored at ½
            beta = eta if eta * T < 4 * D else eta**2 * T / (4 * D)
        least.append(D / eta + eta * T / (2 * beta))
        seen = instance.A[np.ix_(V, V)].T @ gamma[V]
        assert (seen >= beta * X[k] ** (1 - h) * (1 - 1e-9)).all()
        budget += beta * delta**h
    assert_allclose(least, least[:1] * len(least), rtol=1e-9)
    extra = 0.2 if instance.U1N else 0.0
    assert gamma.sum() <= budget + extra + 1e-9
    assert budget <= 0.25 + 1e-9


def test_flat_needs_a_cover():
    ring = Instance.from_edges(3, [(0, 1), (1, 2), (2, 0)], [[0, 1, 2]])
    owed = np.ones(3, dtype=bool)
    naive.flat_parameters(ring, np.ones(3), owed, 0.5, 0.1, 0.1)
    for cover in (np.array([1.0, 1.0, 0.5]), np.array([2.0, 2.0, -1.0])):
        with pytest.raises(ValueError, match="cover"):
            naive.flat_parameters(ring, cover, owed, 0.5, 0.1, 0.1)


# -- laws of the algorithm -------------------------------------------------------------------------------


@exact
@given(games())
def test_distribution_is_on_the_simplex(game):
    twin, _ = game
    for vector in [twin.distribution(), twin.Y, *twin.X]:
        assert (vector >= 0).all()
        assert_allclose(vector.sum(), 1, rtol=0, atol=1e-12)


@exact
@given(games())
def test_estimates_are_unbiased(game):
    """E ℓ̂ = ℓ and E L̂(k) = ⟨X̃_k, ℓ_k⟩, exactly: a sum over all arms, none sampled."""
    twin, losses = game
    Z = twin.distribution()
    drawn = [twin.estimates(arm, losses) for arm in range(twin.instance.n)]
    assert_allclose(sum(z * arm for z, (arm, _) in zip(Z, drawn, strict=True)), losses, rtol=1e-9, atol=1e-12)
    mean = sum(z * block for z, (_, block) in zip(Z, drawn, strict=True))
    means = [twin.tilde(k) @ losses[V] for k, V in enumerate(twin.instance.blocks)]
    assert_allclose(mean, means, rtol=1e-9, atol=1e-12)


@exact
@given(games())
def test_lemma_regret_holds_in_every_round(game):
    """Regret ≤ projection + Σγ·(1 − E⟨L̂, Y⟩) + (restriction + Σγ_k*)·1[k* ∈ U2]; what it drops is known exactly."""
    twin, losses = game
    instance, Z, gamma = twin.instance, twin.distribution(), twin.gamma()
    for best in range(instance.n):
        ledger = twin.ledger(losses, best)
        assert_allclose(ledger.regret, losses @ Z - losses[best], rtol=0, atol=1e-9)
        assert ledger.regret <= ledger.total + 1e-9
        k = instance.block_of(best)
        V = instance.blocks[k]
        local = twin.parameters.gamma_local[V]
        dropped = gamma @ (1 - losses)
        if k in instance.U2:
            dropped += local.sum() * (twin.X[k] @ losses[V]) + local @ (1 - losses[V])
        assert_allclose(ledger.total - ledger.regret, dropped, rtol=0, atol=1e-9)


@exact
@given(games(), st.integers(0, 2**32 - 1))
def test_only_revealed_losses_are_read(game, seed):
    twin, losses = game
    arm = int(np.random.default_rng(seed).integers(twin.instance.n))
    twin.step(arm, np.where(twin.instance.A[arm], losses, np.nan))
    assert np.isfinite(twin.distribution()).all()


class WithoutShift(TwoLevelOSMD):
    def shift(self, L):
        return 0.0


@pytest.mark.parametrize("name", ["every_kind", "mab_and_three_loopless", "cycle_and_one_loopless"])
def test_the_shift_changes_nothing(name):
    named = next(named for named in INSTANCES if named.name == name)
    instance = instance_of(named)
    parameters = parameters_of(instance, named.realizations[-1], 2_000)
    printed, plain = TwoLevelOSMD(instance, parameters), WithoutShift(instance, parameters)
    rng = np.random.default_rng(1)
    shifts = 0
    for _ in range(200):
        assert_allclose(printed.distribution(), plain.distribution(), rtol=0, atol=1e-12)
        arm, losses = int(rng.choice(instance.n, p=printed.distribution())), rng.random(instance.n)
        shifts += printed.shift(printed.estimates(arm, losses)[1]) > 0
        printed.step(arm, losses)
        plain.step(arm, losses)
    assert shifts > 100


def test_first_distribution_on_blocks():
    """Y(1) = argmin Ψ is uniform for one rate, not when rates differ."""
    named = {named.name: instance_of(named) for named in INSTANCES}
    alike = TwoLevelOSMD(named["mab"], parameters_of(named["mab"], "clustered", 1_000))
    assert_allclose(alike.Y, np.full(5, 0.2), rtol=1e-14)
    mixed = TwoLevelOSMD(named["every_kind"], parameters_of(named["every_kind"], "clustered", 1_000))
    p, gradients = mixed.parameters, [psi.gradient(y) for psi, y in zip(mixed.Psi, mixed.Y, strict=True)]
    assert_allclose(gradients, gradients[0], rtol=1e-12)
    assert p.eta != p.eta_loop
    assert abs(mixed.Y[2] - mixed.Y[3]) > 0.01


@pytest.mark.parametrize(("named", "realization"), CASES, ids=CASE_IDS)
def test_trajectory_in_doubles_follows_fifty_digits(named, realization):
    """The same arms and losses, every solve done in 50 digits: rounding does not grow along the way."""
    instance = instance_of(named)
    parameters = parameters_of(instance, realization, named.horizon)
    rng = np.random.default_rng(3)
    rounds = 6 if instance.n > 20 else 20
    losses = (rng.random((rounds, instance.n)) < rng.random(instance.n)).astype(float)
    arms = rng.integers(0, instance.n, rounds)
    in_doubles = naive.run(instance, parameters, arms, losses)
    solve = functools.partial(naive.solve_multiplier_mp, digits=50)
    in_digits = naive.run(instance, parameters, arms, losses, solve=solve)
    assert len(in_doubles) == rounds
    assert_allclose(in_doubles, in_digits, rtol=0, atol=1e-11)


def test_losses_move_the_distribution_towards_the_better_arm():
    instance = instance_of(next(named for named in INSTANCES if named.name == "cycle"))
    losses = np.tile([1.0, 1.0, 0.0, 1.0, 1.0, 1.0], (600, 1))
    arms = np.arange(600) % 6
    played = naive.run(instance, parameters_of(instance, "adaptive", 2_000), arms, losses)
    assert played[-1][2] > 0.5
