"""Claims: plans that tune themselves, against plans with rates fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import fractional_domination
from sidelight.environment import Environment, gap, hard
from sidelight.errors import SidelightError
from sidelight.experiment.claims.claim import Claims, Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.measures import BOOTSTRAP_SEED, REPLICATES, interval
from sidelight.experiment.run import Run
from sidelight.experiment.simulation import simulate
from sidelight.experiment.statistics import resampled_means
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.policy import names as registry
from sidelight.policy.player import Playable

claims = Claims("self-tuning plans")
PAGE = "docs/theory/self-tuning.md"
WEAK = (
    "cycle:20", "cycle:20:directed", "teams:5x4", "hypercube:5", "revealing_action:20", "corrupted_mab:20,1",
    "bicliques:4x8",
)  # fmt: skip
STRONG = ("mab:20", "full:20", "loopless_clique:20", "loopy_star:20", "newsvendor:26")
FEW = ("cycle:20", "teams:5x4", "hypercube:5", "revealing_action:20")
QUICK, FULL = {"horizon": 10_000, "seeds": 8}, {"horizon": 100_000, "seeds": 20}
SELF, KNOWN, FIXED, ANYTIME = "self_tuning", "self-tuning, T known", "fixed", "anytime"
CASES = "family and environment (see the table)"


# -- bounds -------------------------------------------------------------------------------------------------


@claims.add(
    "self-tuning-constants",
    "seven weakly observable families",
    (PAGE,),
    Prediction.most(
        "known T: bound / (Dδ^s)^{1/3}T^{2/3}, best s", 1.51, "3/2: a round pays the larger, not the sum"
    ),
    Prediction.most(
        "unknown T: bound / (Dδ^s)^{1/3}T^{2/3}, s = ½",
        2.05,
        "1.966 by Theorem 2, times 1.02^{2/3}·1.01^{1/3}/0.99 for being lazy and κ^{1/3} for large blocks",
    ),
    Prediction.most("known T: bound / CHLZ21 as printed", 0.64, "1.5/2.381 = 0.630"),
    quick={"families": WEAK},
    full={"families": (*WEAK, "cycle:400", "hypercube:9", "cliques:100x4", "grid:20,20")},
)
def constants(sizes: Sizes) -> Evidence:
    """Stability and exploration are not paid together: 1.5(Dδ^s)^{1/3}T^{2/3} if T is known, 1.966 if it is not."""
    T, rows = 10**15, []
    for spec in sizes["families"]:
        graph = families.parse(spec)
        n, delta = graph.n_arms, fractional_domination(graph).value
        best = min(_scale(n, delta, s) for s in np.linspace(0.02, 1.0, 99)) ** (1 / 3) * T ** (2 / 3)
        half = _scale(n, delta, 0.5) ** (1 / 3) * T ** (2 / 3)
        known = plan(graph, T, realization="fixed").bound.value
        chlz21 = 3 * 2 ** (-1 / 3) * _scale(n, delta, 1.0) ** (1 / 3) * T ** (2 / 3)
        row = {
            "family": spec,
            "known T": known / best,
            "unknown T": plan(graph, realization="self-tuning").bound_at(T).value / half,
        }
        rows.append(row | {"known T / CHLZ21": known / chlz21})
    at = range(1, len(rows) + 1)
    return Evidence(
        rows,
        {
            "known T: bound / (Dδ^s)^{1/3}T^{2/3}, best s": _range(rows, "known T"),
            "unknown T: bound / (Dδ^s)^{1/3}T^{2/3}, s = ½": _range(rows, "unknown T"),
            "known T: bound / CHLZ21 as printed": _range(rows, "known T / CHLZ21"),
        },
        (
            Curve("known T", "measured", at, [row["known T"] for row in rows]),
            Curve("unknown T", "measured", at, [row["unknown T"] for row in rows]),
            Curve("3/2", "predicted", at, [1.5] * len(rows)),
            Curve("1.966", "predicted", at, [1.966] * len(rows)),
            Curve("2.381 as printed", "bound", at, [3 * 2 ** (-1 / 3)] * len(rows)),
        ),
        "family (see the table)",
        "leading constant at T = 10¹⁵",
        notes=("Intervals are ranges over the families.",),
    )


def _scale(n: int, delta: float, s: float) -> float:
    """D_s·δ^s, with D_s the largest value of the entropy of order s on n arms."""
    diameter = np.log(n) if s == 1.0 else (n ** (1 - s) - 1) / (s * (1 - s))
    return float(diameter * delta**s)


def _range(rows: Sequence[Mapping[str, object]], column: str) -> Estimate:
    values = [float(str(row[column])) for row in rows]
    return Estimate(float(np.median(values)), min(values), max(values))


# -- play ---------------------------------------------------------------------------------------------------


def _easy(graph: FeedbackGraph, horizon: int) -> dict[str, Environment]:
    n = graph.n_arms
    return {f"gap {width:g}": gap(n, best=n // 2, gap=width) for width in (0.2, 0.05)}


def _hard(graph: FeedbackGraph, horizon: int) -> dict[str, Environment]:
    return {"hard": hard(graph, horizon, seed=1)}


def _both(graph: FeedbackGraph, horizon: int) -> dict[str, Environment]:
    return _easy(graph, horizon) | _hard(graph, horizon)


Games = dict[tuple[str, str], dict[str, Floats]]
"""(family, environment) → player → final regret of every seed."""


def _games(
    specs: Sequence[str],
    players: Sequence[str],
    environments: Callable[[FeedbackGraph, int], dict[str, Environment]],
    sizes: Sizes,
) -> Games:
    """Everyone who applies, on every graph, in every environment, against the same losses."""
    T, found = int(sizes["horizon"]), {}
    for spec in specs:
        graph = families.parse(spec)
        who = {name: made for name in players if (made := _made(name, graph, T)) is not None}
        for environment, losses in environments(graph, T).items():
            found[spec, environment] = {
                name: _run(player, losses, T, sizes["seeds"]).regret[:, -1] for name, player in who.items()
            }
    return found


def _made(name: str, graph: FeedbackGraph, horizon: int) -> Playable | None:
    try:
        if name == KNOWN:
            return plan(graph, horizon, realization="self-tuning")
        return registry.make(name, graph, horizon)
    except SidelightError:  # a baseline that does not apply
        return None


def _run(player: Playable, losses: Environment, T: int, seeds: int, checkpoints: Sequence[int] = ()) -> Run:
    """A finished run; an interrupt ends the claim."""
    points = [*checkpoints, T]
    run = simulate(player, losses, range(seeds), T, checkpoints=points, progress=False)
    if not run.complete:
        raise KeyboardInterrupt
    return run


def _mean_ratio(games: Games, ours: str, theirs: str | Sequence[str], where: str = "") -> Estimate:
    """Geometric mean of the ratio of mean regrets to those of a rival, or of the best of several in each game."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    logs, samples = [], []
    for (_, environment), played in games.items():
        rivals = [name for name in ([theirs] if isinstance(theirs, str) else theirs) if name in played]
        if not environment.startswith(where) or not rivals:
            continue
        rival = min(rivals, key=lambda name: float(played[name].mean()))
        mine, other = played[ours], played[rival]
        replicates = [resampled_means(regret, REPLICATES, rng) for regret in (mine, other)]
        if min(mine.mean(), other.mean(), *(each.min() for each in replicates)) <= 0:
            return Estimate.unknown()
        logs.append(np.log(mine.mean() / other.mean()))
        samples.append(np.log(replicates[0] / replicates[1]))
    if not logs:
        return Estimate.unknown()
    return interval(float(np.exp(np.mean(logs))), np.exp(np.mean(samples, axis=0)))


def _share(regret: Floats, certificate: Floats) -> Estimate:
    """Mean regret over the mean certificate of the same runs."""
    both = np.stack([regret, certificate], axis=1)
    samples = resampled_means(both, REPLICATES, np.random.default_rng(BOOTSTRAP_SEED))
    return interval(float(regret.mean() / certificate.mean()), samples[:, 0] / samples[:, 1])


def _rows(games: Games) -> list[dict[str, object]]:
    return [
        {"family": spec, "environment": environment}
        | {name: float(regret.mean()) for name, regret in played.items()}
        for (spec, environment), played in games.items()
    ]


def _curves(games: Games, players: Sequence[str]) -> list[Curve]:
    """A point for each game and player."""
    drawn = []
    for name in players:
        at = [index for index, played in enumerate(games.values(), 1) if name in played]
        means = [float(played[name].mean()) for played in games.values() if name in played]
        drawn.append(Curve(name, "measured" if name == SELF else "baseline", at, means))
    return drawn


@claims.add(
    "self-tuning-weak",
    "seven weakly observable families, four in the quick run",
    (PAGE,),
    Prediction.most("regret / fixed rates", 0.6, "geometric mean over gaps 0.2, 0.05 and hard instances"),
    Prediction.most("regret / anytime rates", 0.7, "the same"),
    Prediction.most(
        "regret / fixed rates, gap 0.2", 0.4, "logarithmic regret against exploration at a fixed rate"
    ),
    Prediction.most("regret / anytime rates, gap 0.2", 0.5, "logarithmic regret against t^{2/3}"),
    quick={"horizon": 100_000, "seeds": 6, "families": FEW, "rivals": ("exp3g", "chlz21")},
    full={"horizon": 100_000, "seeds": 20, "families": WEAK, "rivals": ("exp3g", "chlz21")},
)
def weak(sizes: Sizes) -> Evidence:
    """On weakly observable graphs a plan that tunes itself has much less regret than the best plans that do not."""
    players = (SELF, FIXED, ANYTIME, *sizes["rivals"])
    games = _games(sizes["families"], players, _both, sizes)
    return Evidence(
        _rows(games),
        {
            "regret / fixed rates": _mean_ratio(games, SELF, FIXED),
            "regret / anytime rates": _mean_ratio(games, SELF, ANYTIME),
            "regret / fixed rates, gap 0.2": _mean_ratio(games, SELF, FIXED, "gap 0.2"),
            "regret / anytime rates, gap 0.2": _mean_ratio(games, SELF, ANYTIME, "gap 0.2"),
        },
        _curves(games, players),
        CASES,
        f"regret after {sizes['horizon']:,} rounds",
        {name: _mean_ratio(games, SELF, name) for name in sizes["rivals"]},
    )


@claims.add(
    "self-tuning-hard",
    "twelve families, their hard instances",
    (PAGE,),
    Prediction.most("largest regret / fixed rates", 1.2, "nearly optimal against the worst case as well"),
    quick={"horizon": 10_000, "seeds": 32, "families": (*WEAK, *STRONG)},
    full={"horizon": 100_000, "seeds": 40, "families": (*WEAK, *STRONG)},
)
def hardness(sizes: Sizes) -> Evidence:
    """Where losses are as hard as lower bounds make them, tuning itself costs a plan little."""
    games = _games(sizes["families"], (SELF, FIXED), _hard, sizes)
    ratios = {game: _mean_ratio({game: played}, SELF, FIXED) for game, played in games.items()}
    rows = [row | {"ratio": ratio.value} for row, ratio in zip(_rows(games), ratios.values(), strict=True)]
    return Evidence(
        rows,
        {"largest regret / fixed rates": max(ratios.values(), key=lambda ratio: ratio.value)},
        _curves(games, (SELF, FIXED)),
        CASES,
        f"regret after {sizes['horizon']:,} rounds",
    )


@claims.add(
    "self-tuning-strong",
    "five strongly observable families, gaps 0.2 and 0.05",
    (PAGE,),
    Prediction.most("regret / best certified baseline", 1.15, "geometric mean over games, the best of each"),
    quick=QUICK | {"families": STRONG, "rivals": ("ts_n", "ucb_n")},
    full=FULL | {"families": STRONG, "rivals": ("ts_n", "ucb_n")},
)
def strong(sizes: Sizes) -> Evidence:
    """On strongly observable graphs it is about as good as the best known algorithm with a worst-case bound for
    each; algorithms for independent losses, which have no such bound, may be better still.
    """
    certified = (FIXED, ANYTIME, "exp3g", "exp3", "exp3_ix", "tsallis_inf", "q_ftrl", "hedge")
    players = (SELF, *certified, *sizes["rivals"])
    games = _games(sizes["families"], players, _easy, sizes)
    return Evidence(
        _rows(games),
        {"regret / best certified baseline": _mean_ratio(games, SELF, certified)},
        _curves(games, players),
        CASES,
        f"regret after {sizes['horizon']:,} rounds",
        {name: _mean_ratio(games, SELF, name) for name in sizes["rivals"]},
        notes=("A baseline counts in the games it applies to.",),
    )


@claims.add(
    "self-tuning-logarithm",
    "cycle:20, teams:5x4, revealing_action:20, mab:20, gap 0.2",
    (PAGE,),
    Prediction.most(
        "last decade / decade before", 2.0, "a logarithm adds the same again, t^{2/3} 4.6 times as much"
    ),
    quick={
        "horizon": 100_000,
        "seeds": 8,
        "families": ("cycle:20", "teams:5x4", "revealing_action:20", "mab:20"),
    },
    full={
        "horizon": 1_000_000,
        "seeds": 20,
        "families": ("cycle:20", "teams:5x4", "revealing_action:20", "mab:20"),
    },
)
def logarithm(sizes: Sizes) -> Evidence:
    """Where one arm is better by a gap in every round, regret grows like log t, though nobody told the plan."""
    T, rows, grown, lines = int(sizes["horizon"]), [], [], []
    points = [T // 1000, T // 300, T // 100, T // 30, T // 10, T // 3]
    for spec in sizes["families"]:
        graph = families.parse(spec)
        losses = gap(graph.n_arms, best=graph.n_arms // 2, gap=0.2)
        run = _run(plan(graph, realization="self-tuning"), losses, T, sizes["seeds"], points)
        before, last = (run.regret[:, b] - run.regret[:, a] for a, b in ((2, 4), (4, 6)))
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        samples = resampled_means(np.stack([before, last], axis=1), REPLICATES, rng)
        ratio = interval(float(last.mean() / before.mean()), samples[:, 1] / samples[:, 0])
        grown.append(ratio)
        lines.append(Curve(spec, "measured", run.checkpoints.tolist(), run.mean.tolist()))
        rows.append(
            {"family": spec, "regret at T/100": run.mean[2], "at T/10": run.mean[4], "at T": run.mean[-1]}
        )
        rows[-1] |= {"last decade / decade before": ratio.value}
    first = lines[0]
    power = [first.y[2] * (t / first.x[2]) ** (2 / 3) for t in first.x]
    return Evidence(
        rows,
        {"last decade / decade before": max(grown, key=lambda ratio: ratio.value)},
        (*lines, Curve("t^{2/3}", "bound", first.x, power)),
        "t, rounds",
        "regret, gap 0.2",
    )


@claims.add(
    "self-tuning-certificate",
    "twelve families (seven in the quick run), gaps 0.2 and 0.05 and hard instances",
    (PAGE,),
    Prediction.most("mean regret / mean certificate", 1.0, "Theorem 1"),
    Prediction.most("certificate / budget, any run", 1.0, "Theorem 3: the bound for T, on every run"),
    Prediction.most("certificate / bound at t, any run", 1.0, "Theorem 2, on every run"),
    quick={"horizon": 10_000, "seeds": 48, "families": (*FEW, *STRONG[:3])},
    full={"horizon": 100_000, "seeds": 48, "families": (*WEAK, *STRONG)},
)
def certificate(sizes: Sizes) -> Evidence:
    """What a game certifies while it is played is never below the mean regret, and never above what was promised."""
    T, rows, shares = int(sizes["horizon"]), [], []
    for spec in sizes["families"]:
        graph = families.parse(spec)
        for name in (SELF, KNOWN):
            player = _made(name, graph, T)
            promised = None if player is None else player.bound_at(T)
            assert player is not None
            assert promised is not None
            for environment, losses in _both(graph, T).items():
                run = _run(player, losses, T, sizes["seeds"])
                kept = run.certificate[:, -1]
                shares.append(_share(run.regret[:, -1], kept))
                row = {"family": spec, "environment": environment, "plan": name}
                row |= {"regret": float(run.mean[-1]), "certificate": float(kept.mean())}
                row |= {"largest": float(kept.max()), "promised": promised.value}
                rows.append(row)
    used = {
        name: [row["largest"] / row["promised"] for row in rows if row["plan"] == name]
        for name in (SELF, KNOWN)
    }
    at = range(1, len(rows) + 1)
    return Evidence(
        rows,
        {
            "mean regret / mean certificate": max(shares, key=lambda share: share.value),
            "certificate / budget, any run": Estimate.exact(max(used[KNOWN])),
            "certificate / bound at t, any run": Estimate.exact(max(used[SELF])),
        },
        (
            Curve("regret", "measured", at, [row["regret"] for row in rows]),
            Curve("mean certificate", "predicted", at, [row["certificate"] for row in rows]),
            Curve("promised beforehand", "bound", at, [row["promised"] for row in rows]),
        ),
        "family, environment and plan (see the table)",
        f"regret after {T:,} rounds",
        notes=("Each number is the largest over all games; certificates are those of single runs.",),
    )
