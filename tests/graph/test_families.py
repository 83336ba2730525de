"""Each family against its definition: edges, class, and the δ* and α its docstring states."""

import inspect

import numpy as np
import pytest
from brute_force import independence
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import chi2

from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph, families
from sidelight.graph.building import bernoulli_positions, distinct_draws

lawful = settings(deadline=None, derandomize=True, max_examples=40)


def matrix_of(graph):
    return graph.to_sparse().toarray().astype(bool)


def graph_class(matrix):
    """Straight from the definition of Alon et al. (2015)."""
    n = len(matrix)
    classes = set()
    for arm in range(n):
        seen_by = set(np.flatnonzero(matrix[:, arm]))
        if not seen_by:
            return "unobservable"
        classes.add("strong" if arm in seen_by or seen_by >= set(range(n)) - {arm} else "weak")
    return "weak" if "weak" in classes else "strong"


def domination(matrix):
    ones = np.ones(len(matrix))
    return linprog(ones, A_ub=-matrix.T.astype(float), b_ub=-ones).fun


def by_rule(n, rule):
    return np.array([[bool(rule(i, j)) for j in range(n)] for i in range(n)])


def bits(number):
    return bin(number).count("1")


def block_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


# (family, rule "i reveals j", class, δ*, α)
KNOWN = [
    *((f"mab:{n}", lambda i, j: i == j, "strong", n, n) for n in (1, 2, 5)),
    *((f"full:{n}", lambda i, j: True, "strong", 1, 1) for n in (1, 2, 5)),
    *((f"loopless_clique:{n}", lambda i, j: i != j, "strong", n / (n - 1), 1) for n in (2, 3, 6)),
    *((f"loopy_star:{n}", lambda i, j: i in (0, j), "strong", 1, max(n - 1, 1)) for n in (1, 2, 5)),
    *(
        (f"revealing_action:{n}", lambda i, j: i == 0, "weak" if n > 2 else "strong", 1, n - 1)
        for n in (2, 3, 6)
    ),
    *(
        (
            f"cycle:{n}",
            lambda i, j, n=n: (i - j) % n in (1, n - 1),
            "weak" if n > 3 else "strong",
            n / 2,
            n // 2,
        )
        for n in (3, 4, 5, 8)
    ),
    *(
        (
            f"cycle:{n}:directed",
            lambda i, j, n=n: (j - i) % n == 1,
            "weak" if n > 2 else "strong",
            n,
            n // 2,
        )
        for n in (2, 3, 4, 7)
    ),
    *(
        (
            f"cliques:{','.join(map(str, sizes))}",
            lambda i, j, sizes=sizes: i != j and block_of(sizes)[i] == block_of(sizes)[j],
            "weak" if len(sizes) > 1 else "strong",
            sum(n / (n - 1) for n in sizes),
            len(sizes),
        )
        for sizes in ([2], [4], [2, 2], [3, 2, 4], (2, 3, 2))
    ),
    *(
        (
            f"hypercube:{d}",
            lambda i, j: bits(i ^ j) == 1,
            "weak" if d > 1 else "strong",
            2**d / d,
            2 ** (d - 1),
        )
        for d in (1, 2, 3, 4)
    ),
    *(
        (f"complete_bipartite:{a},{b}", lambda i, j, a=a: (i < a) != (j < a), kind, 2, max(a, b))
        for a, b, kind in [(1, 1, "strong"), (1, 2, "weak"), (3, 2, "weak"), (3, 3, "weak")]
    ),
    *(
        (
            f"corrupted_mab:{n},{c}",
            lambda i, j, n=n, c=c: (
                i == j
                if j < n - c
                else (i == 0 if c % 2 and j == n - 1 else (i >= n - c and i - (n - c) == (j - (n - c)) ^ 1))
            ),
            "weak" if c else "strong",
            n - c % 2,
            n - (c + 1) // 2,
        )
        for n, c in [(4, 0), (3, 1), (3, 2), (6, 1), (6, 2), (7, 3), (7, 4), (4, 4), (6, 6)]
    ),
    *(
        (
            f"corrupted_full:{n},{c}",
            lambda i, j, n=n, c=c: j < n - c or i == (j - (n - c)) % (n - c),
            "weak" if c else "strong",
            max(min(c, n - c), 1),
            max(c, 1),
        )
        for n, c in [(4, 0), (3, 1), (3, 2), (7, 2), (7, 3), (7, 5), (6, 3)]
    ),
    *((f"newsvendor:{k}", lambda i, j: j <= i, "strong", 1, 1) for k in (1, 2, 5)),
    *((f"auction:{k}", lambda i, j: j >= i, "strong", 1, 1) for k in (1, 2, 5)),
    *((f"pricing:{k}", lambda i, j: j >= i, "strong", 1, 1) for k in (1, 2, 5)),
    ("apple_tasting", lambda i, j: i == 0, "strong", 1, 1),
    *(
        (f"label_efficient:{k}", lambda i, j, k=k: i == k, "weak" if k > 1 else "strong", 1, k)
        for k in (1, 2, 5)
    ),
    ("teams:2,3", lambda i, j: i != j and (i < 2) == (j < 2), "weak", 2 + 1.5, 2),
    ("ring_probe:6", lambda i, j: (i - j) % 6 in (1, 5), "weak", 3, 3),
    *(
        (
            f"grid:{r},{c}",
            lambda i, j, c=c: abs(i // c - j // c) + abs(i % c - j % c) == 1,
            "weak" if r * c > 2 else "strong",
            None,
            (r * c + 1) // 2,
        )
        for r, c in [(1, 2), (1, 3), (2, 1), (2, 3), (3, 3), (3, 4)]
    ),
]


@pytest.mark.parametrize(
    ("spec", "rule", "kind", "delta", "alpha"),
    KNOWN,
    ids=lambda case: str(case) if isinstance(case, str) else "",
)
def test_family_is_what_it_says(spec, rule, kind, delta, alpha):
    graph = families.parse(spec)
    expected = by_rule(graph.n_arms, rule)
    matrix = matrix_of(graph)
    assert np.array_equal(matrix, expected)
    assert graph == FeedbackGraph.from_adjacency(expected, graph.labels)
    assert graph_class(matrix) == kind
    if delta is not None:
        assert domination(matrix) == pytest.approx(delta, abs=1e-9)
    if graph.n_arms <= 12:
        assert independence(matrix) == alpha


@pytest.mark.parametrize("sizes", [[4], [2, 6], [(1, 2), 4], [(3, 1), (2, 2), 2], np.array([2, 4])])
def test_bicliques(sizes):
    sides = [tuple(item) if np.ndim(item) else (item // 2, item // 2) for item in sizes]
    block = block_of([a + b for a, b in sides])
    side = np.concatenate([np.repeat([0, 1], pair) for pair in sides])
    graph = families.bicliques(sizes)
    expected = (block[:, None] == block) & (side[:, None] != side)
    assert np.array_equal(matrix_of(graph), expected)
    assert graph_class(expected) == "weak"
    assert domination(expected) == pytest.approx(2 * len(sides))
    assert independence(expected) == sum(max(pair) for pair in sides)


@pytest.mark.parametrize("family", [families.corrupted_mab, families.corrupted_full])
@pytest.mark.parametrize(("n", "c"), [(5, 1), (5, 2), (9, 4), (9, 7)])
def test_exactly_c_arms_are_corrupted(family, n, c):
    graph = family(n, c)
    weak = ~graph.has_loop & ~graph.is_universal
    assert np.flatnonzero(weak).tolist() == list(range(n - c, n))


def test_labels_of_applications():
    assert families.teams([2, 3]).labels[:3] == (
        "team 1 / member 1",
        "team 1 / member 2",
        "team 2 / member 1",
    )
    assert families.ring_probe(3).labels == ("node 1", "node 2", "node 3")
    assert families.label_efficient(2).labels == ("expert 1", "expert 2", "query")
    assert families.apple_tasting().labels == ("inspect", "pass")


@lawful
@given(st.integers(2, 12), st.data(), st.integers(0, 2**32))
def test_bounded_in_degree(n, data, seed):
    d = data.draw(st.integers(1, n - 1))
    graph = families.bounded_in_degree(n, d, seed)
    assert not graph.has_loop.any()
    assert graph.in_degree.min() >= 1
    assert graph.in_degree.max() <= d
    assert graph == families.bounded_in_degree(n, d, seed)
    matrix = matrix_of(graph)
    assert 1 < domination(matrix) + 1e-9 <= n + 2e-9
    assert independence(matrix) >= n / (2 * d + 1)


@pytest.mark.parametrize("counts", [[1, 2], [3, 3], [5, 4], [6, 0]])
def test_distinct_draws_are_uniform_over_subsets(counts):
    population, repeats = 6, 3_000
    rng = np.random.default_rng(11)
    codes = distinct_draws(rng, np.tile(counts, repeats), population)
    rows, values = np.divmod(codes, population)
    assert len(set(codes.tolist())) == codes.size
    assert np.array_equal(np.bincount(rows, minlength=2 * repeats), np.tile(counts, repeats))
    for which, count in enumerate(counts):
        seen = np.bincount(values[rows % 2 == which], minlength=population)
        expected = repeats * count / population
        if 0 < count < population:  # drawn without replacement, so the plain χ² is conservative
            assert ((seen - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, population - 1)
        else:
            assert (seen == expected).all()


@lawful
@given(st.integers(0, 200), st.sampled_from([0.0, 1e-300, 1e-12, 0.01, 0.3, 0.97, 1.0]), st.integers(0, 99))
def test_bernoulli_positions_are_increasing_and_inside(total, p, seed):
    found = bernoulli_positions(np.random.default_rng(seed), total, p)
    assert (np.diff(found) > 0).all()
    assert found.size == 0 or (found[0] >= 0 and found[-1] < total)
    assert found.size == {0.0: 0, 1.0: total}.get(p, found.size)


def test_bernoulli_positions_survive_astronomic_totals():
    found = bernoulli_positions(np.random.default_rng(0), 2**62, 1e-17)
    assert (np.diff(found) > 0).all()
    assert 5 < found.size < 200  # 46 expected


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("loops", [False, True])
def test_random_has_the_right_density_everywhere(p, loops):
    n = 300
    matrix = matrix_of(families.random(n, p, 5, loops=loops))
    assert matrix.diagonal().any() == loops
    possible = np.ones((n, n), dtype=bool) if loops else ~np.eye(n, dtype=bool)
    top = np.arange(n)[:, None] < n // 2
    regions = {
        "all": possible,
        "top": top,
        "left": top.T,
        "upper": np.triu(possible),
        "lower": np.tril(possible),
    }
    for name, region in regions.items():
        places = (possible & region).sum()
        found = (matrix & region).sum()
        assert abs(found - p * places) < 5 * np.sqrt(places * p * (1 - p)), name
    if loops:
        assert abs(matrix.diagonal().sum() - p * n) < 5 * np.sqrt(n * p * (1 - p))


def test_random_is_seeded_and_has_ends():
    assert families.random(50, 0.1, 7) == families.random(50, 0.1, 7)
    assert families.random(50, 0.1, 7) != families.random(50, 0.1, 8)
    assert families.random(5, 0, 1).n_edges == 0
    assert families.random(5, 1, 1) == families.loopless_clique(5)
    assert families.random(5, 1.0, 1, loops=True) == families.full(5)
    assert families.random(1, 1, 1).n_edges == 0
    assert families.random(1, 1, 1, loops=True).n_edges == 1
    assert families.random(100_000, 1, 1).n_edges == 100_000 * 99_999
    assert families.random(1_000_000, 1e-7, 3).n_arms == 1_000_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: families.mab(0), "n=0"),
        (lambda: families.mab(-2), "n=-2"),
        (lambda: families.mab(2.5), "n=2.5"),
        (lambda: families.mab(True), "n=True"),
        (lambda: families.mab(2**31), "2147483648"),
        (lambda: families.full("3"), "n='3'"),
        (lambda: families.loopless_clique(1), "n=1"),
        (lambda: families.revealing_action(1), "n=1"),
        (lambda: families.cycle(2), "n=2"),
        (lambda: families.cycle(1, directed=True), "n=1"),
        (lambda: families.cliques([3, 1]), r"sizes\[1\]=1"),
        (lambda: families.cliques([]), r"\[\]"),
        (lambda: families.cliques(5), "got 5"),
        (lambda: families.cliques("35"), "got '35'"),
        (lambda: families.cliques([100_000, 100_000]), "19,999,800,000 edges"),
        (lambda: families.bicliques([3]), "got 3"),
        (lambda: families.bicliques([(0, 2)]), "a=0"),
        (lambda: families.bicliques([(1, 2, 3)]), r"\(1, 2, 3\)"),
        (lambda: families.bicliques([]), r"\[\]"),
        (lambda: families.complete_bipartite(10**6, 10**6), "edges"),
        (lambda: families.hypercube(0), "d=0"),
        (lambda: families.hypercube(31), "d=31"),
        (lambda: families.hypercube(30), "edges"),
        (lambda: families.grid(1, 1), "rows"),
        (lambda: families.grid(0, 3), "rows=0"),
        (lambda: families.loopy_star(0), "n=0"),
        (lambda: families.corrupted_mab(5, 6), "c=6"),
        (lambda: families.corrupted_mab(5, -1), "c=-1"),
        (lambda: families.corrupted_mab(5, 5), "c=5"),
        (lambda: families.corrupted_mab(2, 1), "n=2, c=1"),
        (lambda: families.corrupted_full(4, 4), "c=4"),
        (lambda: families.corrupted_full(2, 1), "n=2, c=1"),
        (lambda: families.bounded_in_degree(5, 5, 0), "d=5"),
        (lambda: families.bounded_in_degree(5, 0, 0), "d=0"),
        (lambda: families.bounded_in_degree(5, 2, -1), "seed=-1"),
        (lambda: families.bounded_in_degree(5, 2, None), "seed=None"),
        (lambda: families.random(5, 1.5, 0), "p=1.5"),
        (lambda: families.random(5, float("nan"), 0), "p=nan"),
        (lambda: families.random(5, "0.5", 0), "p='0.5'"),
        (lambda: families.random(5, 0.5, 1.5), "seed=1.5"),
        (lambda: families.random(10**6, 0.5, 0), "edges"),
        (lambda: families.newsvendor(0), "k=0"),
        (lambda: families.auction(-1), "k=-1"),
        (lambda: families.pricing(100_000), "edges"),
        (lambda: families.label_efficient(0), "k=0"),
        (lambda: families.teams([1]), "=1"),
        (lambda: families.ring_probe(2), "n=2"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(InvalidOption, match=message):
        call()


SMALL = (
    "mab:5", "full:5", "full:1", "loopless_clique:4", "loopy_star:5", "loopy_star:1", "cycle:3", "cycle:6",
    "cycle:2:directed", "cycle:5:directed", "cliques:3", "cliques:2,3x4,2", "bicliques:2+3,2x8,1+1",
    "complete_bipartite:2,3", "hypercube:1", "hypercube:4", "grid:1,2", "grid:3,4", "revealing_action:4",
    "corrupted_mab:6,0", "corrupted_mab:6,2", "corrupted_mab:6,3", "corrupted_full:6,0", "corrupted_full:7,3",
    "newsvendor:5", "auction:5", "pricing:5", "apple_tasting", "label_efficient:3", "teams:2x3,2", "ring_probe:5",
    "lossy_probe:5,0.5", "shared_screens:3,0.5", "shared_screens:6,0.5", "random:6,1,3", "random:6,0,3",
    "random:6,1,3:loops", "bounded_in_degree:6,1,3", "full:4:works=0.5",
)  # fmt: skip


def test_sizes_are_those_of_the_graphs():
    for spec in SMALL:
        graph = families.parse(spec)
        assert families.size(spec) == (graph.n_arms, graph.n_edges), spec
    assert {spec.split(":")[0] for spec in SMALL} == {usage.split(":")[0] for usage in families.usages()}


@pytest.mark.parametrize("seed", range(20))
def test_sizes_of_random_graphs_are_expected_or_the_most_that_is_possible(seed):
    arms, edges = families.size(f"random:60,0.3,{seed}:loops")
    assert (arms, edges) == (60, 1080)
    assert abs(families.random(60, 0.3, seed, loops=True).n_edges - edges) < 5 * np.sqrt(3600 * 0.3 * 0.7)
    assert (
        families.bounded_in_degree(60, 7, seed).n_edges <= families.size(f"bounded_in_degree:60,7,{seed}")[1]
    )


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("hypercube:25", (2**25, 25 * 2**25)),
        ("grid:30000,30000", (900_000_000, 3_599_880_000)),
        ("cliques:10000000x30000", (3 * 10**11, 10**7 * 30_000 * 29_999)),
        ("cycle:" + "9" * 99, (10**99 - 1, 2 * 10**99 - 2)),
    ],
)
def test_sizes_are_known_of_what_nobody_could_build(spec, found):
    assert families.size(spec) == found


@pytest.mark.parametrize("spec", ["cycle:²", "cycle:٣", "cycle:" + "9" * 5000, "hypercube:-" + "9" * 90])
def test_what_is_no_number_to_us_is_none(spec):
    for read in (families.size, families.parse):
        with pytest.raises(InvalidOption):
            read(spec)


def test_every_family_can_be_parsed_and_documents_itself():
    public = {
        name
        for name, value in vars(families).items()
        if inspect.isfunction(value) and value.__module__ == families.__name__ and not name.startswith("_")
    } - {
        "parse",
        "size",
        "usages",
        "faulty",
    }  # that one takes a graph, and has a word of its own at the end of others
    assert {usage.split(":")[0] for usage in families.usages()} == public
    for name in public:
        text = inspect.getdoc(getattr(families, name))
        assert "δ*" in text or name == "random"


@pytest.mark.parametrize(
    ("spec", "graph"),
    [
        ("mab:50", families.mab(50)),
        ("full:3", families.full(3)),
        ("loopless-clique:4", families.loopless_clique(4)),
        ("Cycle:10", families.cycle(10)),
        (" cycle : 10 : directed ", families.cycle(10, directed=True)),
        ("cliques:5x20", families.cliques([20] * 5)),
        ("cliques:3,4,5", families.cliques([3, 4, 5])),
        ("cliques:2x3,4", families.cliques([3, 3, 4])),
        ("bicliques:2+3,2x8", families.bicliques([(2, 3), 8, 8])),
        ("bicliques:2x1+2", families.bicliques([(1, 2), (1, 2)])),
        ("hypercube:7", families.hypercube(7)),
        ("corrupted_mab:20,2", families.corrupted_mab(20, 2)),
        ("corrupted_full:20,3", families.corrupted_full(20, 3)),
        ("random:100,0.1,7", families.random(100, 0.1, 7)),
        ("random:100,0.1,7:loops", families.random(100, 0.1, 7, loops=True)),
        ("bounded_in_degree:30,3,1", families.bounded_in_degree(30, 3, 1)),
        ("grid:3,4", families.grid(3, 4)),
        ("complete_bipartite:2,3", families.complete_bipartite(2, 3)),
        ("apple_tasting", families.apple_tasting()),
        ("teams:2x3", families.teams([3, 3])),
    ],
)
def test_parse(spec, graph):
    assert families.parse(spec) == graph


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cyle:100", "did you mean 'cycle'.*mab, full"),
        ("zzz", "unknown family 'zzz'.*Known families: mab"),
        ("", "unknown family ''"),
        ("mab", "1 argument expected, 0 given; write it as mab:N"),
        ("mab:", "0 given"),
        ("mab:x", "'x'.*mab:N"),
        ("mab:1.5", "1.5"),
        ("mab:3,4", "2 given"),
        ("mab:3:directed", "unknown flag 'directed'"),
        ("cycle:100:dir", r"unknown flag 'dir'.*cycle:N\[:directed\]"),
        ("cliques:", r"\[\]"),
        ("cliques:axb", "axb"),
        ("cliques:0x5", "0 blocks"),
        ("cliques:100000000000x5", "100000000000 blocks"),
        ("cliques:2+3", "2, 3"),
        ("bicliques:1+2+3", "1, 2, 3"),
        ("random:100,0.1", "2 given"),
        ("random:100,2,3", "p=2.0"),
        ("apple_tasting:3", "1 given"),
        (17, "17"),
    ],
)
def test_parse_errors(spec, message):
    with pytest.raises(InvalidOption, match=message):
        families.parse(spec)
