"""Feedback graphs of the literature and of applications, each with what is known about it.

δ* is the fractional (weak) domination number, the least total weight x ≥ 0 with Σ_{i∈Nin(j)} x_i ≥ 1 for
every arm j. α is the independence number: most arms of which none reveals another (loops do not count).
"Strong" and "weak" are the classes of Alon, Cesa-Bianchi, Dekel and Koren (2015): an arm is strongly
observable when it reveals itself or every other arm reveals it.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from sidelight._check import checked_count, checked_seed, suggestion
from sidelight.errors import InvalidOption
from sidelight.graph import building
from sidelight.graph.building import from_pairs, pairs
from sidelight.graph.edges import Edges
from sidelight.graph.feedback_graph import FeedbackGraph

# -- strongly observable ----------------------------------------------------------------------------------


def mab(n: int) -> FeedbackGraph:
    """Multi-armed bandit: every arm reveals itself only. Strong, δ* = n, α = n.

    >>> mab(3).n_edges
    3
    """
    arms = np.arange(checked_count("n", n))
    return FeedbackGraph._of(Edges(arms.size, arms, arms))


def full(n: int) -> FeedbackGraph:
    """Full feedback (experts): every arm reveals every arm. Strong, δ* = 1, α = 1. O(n) memory."""
    arms = np.arange(checked_count("n", n))
    return FeedbackGraph._of(Edges(arms.size, arms[:0], arms[:0], universal=arms))


def loopless_clique(n: int) -> FeedbackGraph:
    """Every arm reveals all others but not itself, n ≥ 2. Strong, δ* = n/(n−1), α = 1. O(n) memory."""
    arms = np.arange(checked_count("n", n, least=2))
    none = np.zeros(arms.size, dtype=bool)
    return FeedbackGraph._of(Edges(arms.size, arms[:0], arms[:0], universal=arms, universal_loops=none))


def loopy_star(n: int) -> FeedbackGraph:
    """Arm 0 reveals every arm, each other arm reveals itself. Strong, δ* = 1, α = max(n−1, 1).

    Source: Alon et al. (2015), figure 1.
    """
    arms = np.arange(checked_count("n", n))
    return from_pairs(arms.size, pairs(arms, arms), pairs(0, arms))


# -- weakly observable: the paper's families --------------------------------------------------------------


def cycle(n: int, directed: bool = False) -> FeedbackGraph:
    """Arm i reveals i+1 (mod n), and i−1 as well unless `directed`; no loops. α = ⌊n/2⌋.

    Undirected, n ≥ 3: δ* = n/2, weak (strong for n = 3, a clique). Directed, n ≥ 2: δ* = n, weak (strong for
    n = 2). Theorem adapt-realized-upper-bound: regret O(n^{1/3} T^{2/3}), tight.
    """
    n = checked_count("n", n, least=2 if directed else 3)
    arms = np.arange(n)
    ahead = pairs(arms, (arms + 1) % n)
    return from_pairs(n, ahead) if directed else from_pairs(n, ahead, ahead[:, ::-1])


def cliques(sizes: Sequence[int]) -> FeedbackGraph:
    """Disjoint loop-less cliques of the given sizes, each ≥ 2, numbered one after another.

    Weak (strong when there is one clique only). δ* = Σ n_k/(n_k−1), α = number of cliques.
    Source: Theorem union-of-cliques.

    >>> cliques([2, 3]).out_neighbors(2)
    array([3, 4], dtype=int32)
    """
    size = building.checked_sizes("sizes", sizes)
    if len(size) == 1:
        return loopless_clique(int(size[0]))
    _refuse_too_large(f"a union of {len(size)} cliques", cliques, sizes)
    starts = np.cumsum(size) - size
    parts = [np.empty((0, 2), dtype=np.int64)]
    for s in np.unique(size).tolist():  # all cliques of one size at once
        i, j = np.divmod(np.arange(s * s), s)
        inside = pairs(i, j)[i != j]
        parts.append((starts[size == s][:, None, None] + inside).reshape(-1, 2))
    return from_pairs(int(size.sum()), *parts)


def bicliques(sizes: Sequence[int | tuple[int, int]]) -> FeedbackGraph:
    """Disjoint complete bipartite graphs: an even n_k means n_k/2 + n_k/2, a pair (a, b) means a + b.

    Weak (strong for one K_{1,1} only). δ* = 2 for each, α = Σ max(a_k, b_k).
    Source: section "Disjoint Union of Complete Bipartite Graphs".
    """
    sides = [building.checked_sides(item) for item in building.checked_items("sizes", sizes)]
    _refuse_too_large(f"a union of {len(sides)} bicliques", bicliques, sizes)
    parts, first = [], 0
    for a, b in sides:
        left, right = first + np.arange(a), first + a + np.arange(b)
        across = pairs(np.repeat(left, b), np.tile(right, a))
        parts += [across, across[:, ::-1]]
        first += a + b
    return from_pairs(first, *parts)


def complete_bipartite(a: int, b: int) -> FeedbackGraph:
    """Arms 0..a−1 and a..a+b−1 reveal each other across. Weak unless a = b = 1; δ* = 2, α = max(a, b)."""
    return bicliques([(a, b)])


def hypercube(d: int) -> FeedbackGraph:
    """2^d arms; arms reveal those whose numbers differ in one bit. δ* = 2^d/d, α = 2^{d−1}, d ≥ 1.

    Weak for d ≥ 2 (d = 1 is a pair, strong). Source: Theorem hypercube.
    """
    d = checked_count("d", d)
    _refuse_too_large(f"hypercube({d})", hypercube, d)
    arms = np.repeat(np.arange(2**d), d)
    return from_pairs(2**d, pairs(arms, arms ^ np.tile(1 << np.arange(d), 2**d)))


def grid(rows: int, cols: int) -> FeedbackGraph:
    """Arm r·cols + c reveals its neighbours up, down, left and right; no loops; at least two arms.

    Weak (strong for two arms). α = ⌈rows·cols/2⌉; δ* has no simple closed form.
    """
    rows, cols = checked_count("rows", rows), checked_count("cols", cols)
    _refuse_too_large(f"grid({rows}, {cols})", grid, rows, cols)
    arms = np.arange(checked_count("rows*cols", rows * cols, least=2)).reshape(rows, cols)
    right = pairs(arms[:, :-1].ravel(), arms[:, 1:].ravel())
    down = pairs(arms[:-1].ravel(), arms[1:].ravel())
    return from_pairs(rows * cols, right, down, right[:, ::-1], down[:, ::-1])


def revealing_action(n: int) -> FeedbackGraph:
    """Arm 0 reveals every arm, itself included; the others reveal nothing. n ≥ 2, δ* = 1, α = n−1.

    Weak for n ≥ 3. With two arms, arm 1 is revealed by every other arm: strong, see `apple_tasting`.
    """
    arms = np.arange(checked_count("n", n, least=2))
    return from_pairs(arms.size, pairs(0, arms))


def corrupted_mab(n: int, c: int) -> FeedbackGraph:
    """Multi-armed bandit whose last c arms lost their loop and are revealed by a partner instead.

    Corrupted arms reveal each other in pairs; if c is odd, arm 0 reveals the last one. Weak for c ≥ 1 (c = 0
    is `mab`), exactly c arms are weakly observable. δ* = n for even c, n−1 for odd c; α = n − ⌈c/2⌉. Needs
    n ≥ 3 when c ≥ 1, and c < n unless c = n is even. Source: Theorem c-corrupted and its figure, left.
    """
    n, c = building.checked_corrupted("corrupted_mab", n, c)
    if c == n and c % 2:
        raise InvalidOption(f"corrupted_mab needs an arm with a loop when c is odd, got n={n}, c={c}")
    healthy = np.arange(n - c)
    first = n - c + 2 * np.arange(c // 2)
    parts = [pairs(healthy, healthy), pairs(first, first + 1), pairs(first + 1, first)]
    return from_pairs(n, *parts, pairs(0, np.array([n - 1] if c % 2 else [])))


def corrupted_full(n: int, c: int) -> FeedbackGraph:
    """Full feedback whose last c arms lost their loop and are revealed by one healthy arm only.

    Corrupted arm n−c+k is revealed by arm k mod (n−c); every arm reveals all healthy arms. Weak for c ≥ 1
    (c = 0 is `full`), exactly c arms are weakly observable. δ* = max(min(c, n−c), 1), α = max(c, 1). Needs
    c < n, and n ≥ 3 when c ≥ 1. O(n) memory. Source: Theorem c-corrupted, in the spirit of its figure, right.
    """
    n, c = building.checked_corrupted("corrupted_full", n, c)
    if c == n:
        raise InvalidOption(f"corrupted_full needs at least one healthy arm, got n={n}, c={c}")
    lost = np.arange(c)
    return FeedbackGraph._of(Edges(n, lost % (n - c), n - c + lost, universal=np.arange(n - c)))


# -- random -----------------------------------------------------------------------------------------------


def bounded_in_degree(n: int, d: int, seed: int) -> FeedbackGraph:
    """Each arm is revealed by 1 to d arms other than itself, number and arms drawn uniformly. 1 ≤ d < n.

    No loops; arms with n−1 in-neighbours are strong, the others weak. 1 < δ* ≤ n, α ≥ n/(2d+1).
    Theorem adapt-realized-upper-bound: regret O(n^{1/3} T^{2/3}). Same seed, same graph.
    """
    n = checked_count("n", n, least=2)
    d = checked_count("d", d)
    if d >= n:
        raise InvalidOption(f"d must be at most n−1 = {n - 1}: an arm has no more in-neighbours, got d={d}")
    _refuse_too_large(f"bounded_in_degree({n}, {d})", bounded_in_degree, n, d, seed)
    rng = np.random.default_rng(checked_seed(seed))
    drawn = building.distinct_draws(rng, rng.integers(1, d, size=n, endpoint=True), n - 1)
    targets, skipping = np.divmod(drawn, n - 1)
    return from_pairs(n, pairs(skipping + (skipping >= targets), targets))


def random(n: int, p: float, seed: int, loops: bool = False) -> FeedbackGraph:
    """Directed Erdős–Rényi graph: each edge (i, j), i ≠ j, is there with probability p, independently.

    Self-loops are drawn, with the same probability, only with `loops=True`. Any class is possible: for small
    p some arms may be revealed by nobody (unobservable). Time and memory O(n + edges). Same seed, same graph.
    """
    n = checked_count("n", n)
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 <= p <= 1:
        raise InvalidOption(f"p is a probability in [0, 1], got p={p!r}")
    if p == 1 and n >= 2:
        return full(n) if loops else loopless_clique(n)
    width = n if loops else n - 1
    _refuse_too_large(f"random({n}, {p})", random, n, p, seed, loops)
    rng = np.random.default_rng(checked_seed(seed))
    sources, skipping = np.divmod(building.bernoulli_positions(rng, n * width, float(p)), max(width, 1))
    return from_pairs(n, pairs(sources, skipping if loops else skipping + (skipping >= sources)))


# -- applications -----------------------------------------------------------------------------------------


def newsvendor(k: int) -> FeedbackGraph:
    """Order sizes 0..k−1 under censored demand: sales at order i tell the sales at every j ≤ i.

    Strong (all loops), δ* = 1 (the largest order reveals all), α = 1. Use the observable cost
    (h+b)(q−d)⁺ − bq. Source: Lugosi, Markakis and Neu (2017).
    """
    return _triangle(newsvendor, k, upper=False)


def auction(k: int) -> FeedbackGraph:
    """Bids 0..k−1 in a first-price auction showing the winning bid: bid i reveals every j ≥ i.

    A win tells what higher bids would have paid; a loss shows the rival bid and so everything. The edges are
    those guaranteed in both cases. Strong (all loops), δ* = 1 (the lowest bid reveals all), α = 1.
    Source: Han, Zhou and Weissman (2020).
    """
    return _triangle(auction, k, upper=True)


def pricing(k: int) -> FeedbackGraph:
    """Reserve prices 0..k−1 where bids that reach the price are seen: price i reveals every j ≥ i.

    Bids below the price stay hidden, but they sell at no higher price either: the revenue at every j ≥ i is
    known whatever happens ("one-sided full information"). Strong (all loops), δ* = 1 (the lowest price
    reveals all), α = 1. Source: Cesa-Bianchi, Gaillard, Gentile and Gerchinovitz (2017). A posted price
    answered by yes or no guarantees no edge but the loop: use `mab(k)`.
    """
    return _triangle(pricing, k, upper=True)


def _triangle(family: Callable[[int], FeedbackGraph], k: int, upper: bool) -> FeedbackGraph:
    """Arm i of k reveals every j ≤ i, or every j ≥ i where `upper`."""
    k = checked_count("k", k)
    _refuse_too_large(f"{family.__name__}({k})", family, k)
    return from_pairs(k, pairs(*(np.triu_indices(k) if upper else np.tril_indices(k))))


def apple_tasting() -> FeedbackGraph:
    """Arm 0 "inspect" reveals both losses, arm 1 "pass" reveals nothing: A = [[1, 1], [0, 0]].

    Strong: the only other arm reveals "pass". δ* = 1, α = 1. Source: Alon et al. (2015), figure 1.
    """
    return FeedbackGraph.from_edges(2, [(0, 0), (0, 1)], labels=["inspect", "pass"])


def label_efficient(k: int) -> FeedbackGraph:
    """Arms 0..k−1 are experts that reveal nothing; arm k queries the label and reveals every arm, itself too.

    Weak for k ≥ 2 (two arms are strong), δ* = 1, α = k. Source: Cesa-Bianchi, Lugosi and Stoltz (2005).
    """
    k = checked_count("k", k)
    labels = [*(f"expert {i + 1}" for i in range(k)), "query"]
    return from_pairs(k + 1, pairs(k, np.arange(k + 1)), labels=labels)


def teams(sizes: Sequence[int]) -> FeedbackGraph:
    """Peer monitoring: each member sees the rest of the team but not itself; `cliques` with labels.

    Weak (strong for one team). δ* = Σ n_k/(n_k−1), α = number of teams.

    >>> teams([2, 3]).labels[2]
    'team 2 / member 1'
    """
    graph = cliques(sizes)
    labels = [f"team {t + 1} / member {m + 1}" for t, size in enumerate(sizes) for m in range(size)]
    return building.labelled(graph, labels)


def ring_probe(n: int) -> FeedbackGraph:
    """Nodes on a ring measure their two neighbours only: the undirected `cycle` with labels. δ* = n/2."""
    graph = cycle(n)
    return building.labelled(graph, [f"node {i + 1}" for i in range(graph.n_arms)])


# -- reveals that may fail ---------------------------------------------------------------------------------


def faulty(graph: FeedbackGraph, p: float) -> FeedbackGraph:
    """The same graph where every reveal works with probability p only, or p times what it did before.

    δ* is at most 1/p times what it was; classes stay. By name: any family with `:works=0.9` at its end.

    >>> faulty(cycle(4), 0.5).probability(0, 1)
    0.5
    """
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 < p <= 1:
        raise InvalidOption(f"p is a probability in (0, 1], got p={p!r}")
    if p == 1:
        return graph
    building.refuse_too_many_edges(f"faulty({graph!r})", graph.n_edges)
    edges, chances = graph.edges(), graph.edge_probabilities()
    return FeedbackGraph._of(
        Edges(graph.n_arms, edges[:, 0], edges[:, 1], graph.labels, probabilities=float(p) * chances)
    )


def lossy_probe(n: int, p: float) -> FeedbackGraph:
    """Nodes on a ring probe their two neighbours, and each answer gets lost with probability 1 − p: `ring_probe`.

    Weak for n ≥ 4, δ* = n/(2p), α = ⌊n/2⌋.
    """
    return faulty(ring_probe(n), p)


def shared_screens(n: int, p: float) -> FeedbackGraph:
    """Every arm shows its own loss; those of the two next to it, on a ring, are passed on with probability p.

    Strong (all loops are certain), n ≥ 3, δ* = n/(1 + 2p), α = ⌊n/2⌋ (1 for n = 3).
    """
    arms = np.arange(checked_count("n", n, least=3))
    beside = cycle(arms.size)
    shown = faulty(beside, p)
    edges = np.concatenate([pairs(arms, arms), shown.edges()])
    chances = np.concatenate([np.ones(arms.size), shown.edge_probabilities()])
    return FeedbackGraph._of(Edges(arms.size, edges[:, 0], edges[:, 1], probabilities=chances))


# -- by name ----------------------------------------------------------------------------------------------


def parse(spec: str) -> FeedbackGraph:
    """Graph from a short text: a family, its arguments in order, and a flag if it has one.

    "cycle:100", "cycle:100:directed", "cliques:5x20" (five of 20), "cliques:3,4,5", "bicliques:2+3,8",
    "hypercube:7", "corrupted_mab:20,2", "random:100,0.1,7", "random:100,0.1,7:loops", "apple_tasting". With
    `:works=0.9` at the end every reveal works with that probability (`faulty`).

    >>> parse("cliques:2x3").n_arms
    6
    """
    family, arguments, flags, works = _read(spec)
    return faulty(family.made(arguments, flags), works)


def size(spec: str) -> tuple[int, int]:
    """(arms, edges) of what `parse` would make of a text, without making it: whoever has limits asks this first.

    Of random graphs this is what is expected (`random`) or the most that is possible (`bounded_in_degree`).

    >>> size("hypercube:25")
    (33554432, 838860800)
    """
    family, arguments, flags, _ = _read(spec)
    return family.size(arguments, flags)


def _read(spec: str) -> tuple["_Family", list[Any], dict[str, bool], float]:
    """A family, its arguments and flags, and how likely reveals work."""
    if not isinstance(spec, str):
        raise InvalidOption(f"a family is named by a text such as 'cycle:100', got {spec!r}")
    name, *rest = (part.strip() for part in spec.split(":"))
    key = name.lower().replace("-", "_")
    if key not in _FAMILIES:
        raise InvalidOption(f"unknown family {name!r} in {spec!r}; {suggestion(key, _FAMILIES, 'families')}")
    family = _FAMILIES[key]
    words = [word.strip() for word in rest[0].split(",")] if rest and rest[0] else []
    flags = [flag.lower() for flag in rest[1:]]
    try:
        works = 1.0
        if flags and flags[-1].startswith("works="):
            works = building.read_number(flags.pop().removeprefix("works="))
        if unknown := [flag for flag in flags if flag != family.flag]:
            raise ValueError(f"unknown flag {unknown[0]!r}")
        return family, family.read(words), dict.fromkeys(flags, True), works
    except ValueError as error:
        raise InvalidOption(f"cannot read {spec!r}: {error}; write it as {family.usage}") from error


def usages() -> tuple[str, ...]:
    """How to write each family for `parse`, such as "cycle:N[:directed]"."""
    return tuple(family.usage for family in _FAMILIES.values())


class _Family:
    """A function above, written as text: numbers in order, block sizes, and a flag with a default."""

    def __init__(self, build: Callable[..., FeedbackGraph], size: "_Size") -> None:
        self.build, self._size = build, size
        kinds = {each.name: each.annotation for each in signature(build).parameters.values()}
        self.flag = next((name for name, kind in kinds.items() if kind is bool), None)
        self.numbers = {name: kind for name, kind in kinds.items() if kind in (int, float)}
        self.sized = "sizes" in kinds

    @property
    def usage(self) -> str:
        name = self.build.__name__
        if self.sized:
            return f"{name}:SIZE,{'A+B' if self.build is bicliques else 'SIZE'},... or {name}:COUNTxSIZE"
        arguments = ",".join(self.numbers).upper()
        return name + f":{arguments}" * bool(arguments) + f"[:{self.flag}]" * bool(self.flag)

    def read(self, words: list[str]) -> list[Any]:
        if self.sized:
            return [_run(word) for word in words]
        if len(words) != len(self.numbers):
            expected = f"{len(self.numbers)} argument{'s' * (len(self.numbers) != 1)}"
            raise ValueError(f"{expected} expected, {len(words)} given")
        return [
            building.read_number(word, kind) for kind, word in zip(self.numbers.values(), words, strict=True)
        ]

    def made(self, arguments: list[Any], flags: dict[str, bool]) -> FeedbackGraph:
        """The graph of arguments as `read` gives them."""
        if self.sized:
            return self.build([block for times, block in arguments for _ in range(times)])
        return self.build(*arguments, **flags)

    def size(self, arguments: list[Any], flags: dict[str, bool]) -> tuple[int, int]:
        """Its arms and edges; those of blocks add up, so that a run of them is asked for once."""
        if not self.sized:
            return self._size(*arguments, **flags)
        runs = [(times, *self._size([block])) for times, block in arguments]
        return sum(times * arms for times, arms, _ in runs), sum(times * edges for times, _, edges in runs)


def _run(word: str) -> tuple[int, Any]:
    """(1, 3) for "3", (5, 20) for "5x20" (five of 20) and (1, (2, 3)) for "2+3" (a pair)."""
    times, _, block = word.rpartition("x")
    sides = tuple(building.read_number(side, int) for side in block.split("+"))
    repeated = building.read_number(times, int) if times else 1
    if not 1 <= repeated <= 10_000_000:
        raise ValueError(f"{repeated} blocks of one size are outside 1..10000000")
    return repeated, sides if len(sides) > 1 else sides[0]


# -- how large they are ------------------------------------------------------------------------------------

_Size = Callable[..., tuple[int, int]]


def _clique_sizes(sizes: Sequence[int]) -> tuple[int, int]:
    each = building.checked_sizes("sizes", sizes).tolist()
    return sum(each), sum(s * (s - 1) for s in each)


def _biclique_sizes(sizes: Sequence[int | tuple[int, int]]) -> tuple[int, int]:
    sides = [building.checked_sides(item) for item in building.checked_items("sizes", sizes)]
    return sum(a + b for a, b in sides), 2 * sum(a * b for a, b in sides)


def _hypercube_size(d: int) -> tuple[int, int]:
    if checked_count("d", d) > 30:
        raise InvalidOption(f"d must be at most 30 (2³⁰ arms), got d={d}")
    return 2**d, d * 2**d


def _random_size(n: int, p: float, seed: int, loops: bool = False) -> tuple[int, int]:
    return n, round(n * (n if loops else n - 1) * (float(p) if 0 <= p <= 1 else 1.0))


def _triangle_size(k: int) -> tuple[int, int]:
    return k, k * (k + 1) // 2


_SIZES: dict[Callable[..., FeedbackGraph], _Size] = {
    mab: lambda n: (n, n),
    full: lambda n: (n, n * n),
    loopless_clique: lambda n: (n, n * (n - 1)),
    loopy_star: lambda n: (n, 2 * n - 1),
    cycle: lambda n, directed=False: (n, n if directed else 2 * n),
    cliques: _clique_sizes,
    bicliques: _biclique_sizes,
    complete_bipartite: lambda a, b: (a + b, 2 * a * b),
    hypercube: _hypercube_size,
    grid: lambda rows, cols: (rows * cols, 2 * (rows * (cols - 1) + (rows - 1) * cols)),
    revealing_action: lambda n: (n, n),
    corrupted_mab: lambda n, c: (n, n),
    corrupted_full: lambda n, c: (n, n * (n - c) + c),
    bounded_in_degree: lambda n, d, seed: (n, n * d),
    random: _random_size,
    newsvendor: _triangle_size,
    auction: _triangle_size,
    pricing: _triangle_size,
    apple_tasting: lambda: (2, 2),
    label_efficient: lambda k: (k + 1, k + 1),
    teams: _clique_sizes,
    ring_probe: lambda n: (n, 2 * n),
    lossy_probe: lambda n, p: (n, 2 * n),
    shared_screens: lambda n, p: (n, 3 * n),
}
"""Arms and edges of every family, from its arguments. Arguments that the family refuses may give any numbers."""

_FAMILIES = {build.__name__: _Family(build, size) for build, size in _SIZES.items()}


def _refuse_too_large(what: str, family: Callable[..., FeedbackGraph], *arguments: Any) -> None:
    """An error, before anything is built, instead of running out of memory."""
    building.refuse_too_many_edges(what, _SIZES[family](*arguments)[1])


def __dir__() -> list[str]:
    return sorted([*_FAMILIES, "faulty", "parse", "size"])
