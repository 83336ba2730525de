"""Claims: plans that tune themselves, against plans with rates fixed beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.environment import Environment, gap, hard
from sidelight.errors import SidelightError
from sidelight.experiment.claims.catalogue import signed
from sidelight.experiment.claims.claim import Curve, Estimate, Evidence, Prediction
from sidelight.experiment.claims.measures import (
    BOOTSTRAP_SEED,
    REPLICATES,
    Claims,
    Environments,
    Row,
    columns,
    finished,
    interval,
    largest,
    ratio_of_means,
)
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
SELF, KNOWN, FIXED = "self_tuning", "self-tuning, T known", "fixed"
CASES = "family and environment (see the table)"


# -- bounds -------------------------------------------------------------------------------------------------


@claims.cases(
    "self-tuning-constants",
    "six families all of whose arms are weakly observable, four large ones more in the full run",
    (PAGE, signed.PAGE),
    Prediction.near(
        "leading term",
        1.701,
        0.003,
        "(9/2)^{1/3} = 1.651, times 1.01·1.02^{2/3}·1.01^{1/3} = 1.027 for lazy play, and 1.02^{1/6} for the table",
    ),
    Prediction.near(
        "bound at T = 10¹² / leading term", 1.0, 0.001, "what is not leading falls like T^{−1/3}"
    ),
    Prediction.most("largest bound at any T", 1.708, "and is negative: steps of 2 % cost 1.02^{1/3} at most"),
    unit="over (Dκδ^s)^{1/3}T^{2/3}, s = ½",
    notes=("Intervals are ranges over the families.",),
    specs=(signed.COVERED, signed.COVERED + signed.LARGE),
)
def constants(spec: str) -> Row:
    """Without a horizon the bound tends to 1.651·1.03·(Dδ^s)^{1/3}T^{2/3} where all arms are covered: the second
    factor is the price of playing lazily, and of prices that are tabulated.
    """
    graph = families.parse(spec)
    chosen, scale = plan(graph, order=0.5), signed.weak_scale(graph, 0.5)
    leading = float(chosen.curve.constant) / scale  # type: ignore[union-attr, arg-type]
    bounds = [chosen.bound_at(T).value / T ** (2 / 3) / scale for T in (10**6, 10**9, 10**12)]
    return {
        "family": spec,
        "leading term": leading,
        "bound at T = 10⁶": bounds[0],
        "bound at T = 10¹²": bounds[-1],
        "bound at T = 10¹² / leading term": bounds[-1] / leading,
        "bound at any T": max(bounds),
    }


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
    specs: Sequence[str], players: Sequence[str], environments: Environments, horizon: int, seeds: int
) -> Games:
    """Everyone who applies, on every graph, in every environment, against the same losses."""
    games = {}
    for spec in specs:
        graph = families.parse(spec)
        applying = {name: player for name in players if (player := _player(name, graph, horizon)) is not None}
        for environment, losses in environments(graph, horizon).items():
            games[spec, environment] = {
                name: finished(player, losses, seeds, horizon).regret[:, -1]
                for name, player in applying.items()
            }
    return games


def _player(name: str, graph: FeedbackGraph, horizon: int) -> Playable | None:
    try:
        if name == KNOWN:
            return plan(graph, horizon, realization="self-tuning")
        return registry.make(name, graph, horizon)
    except SidelightError:  # a baseline that does not apply
        return None


def _mean_ratio(games: Games, theirs: Sequence[str], where: str = "") -> Estimate:
    """Geometric mean of the ratio of our mean regret to that of the best of these rivals in each game."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    logs, samples = [], []
    for (_, environment), played in games.items():
        rivals = [played[name] for name in theirs if name in played]
        if not environment.startswith(where) or not rivals:
            continue
        mine, other = played[SELF], min(rivals, key=lambda regret: float(regret.mean()))
        replicates = [resampled_means(regret, REPLICATES, rng) for regret in (mine, other)]
        if min(mine.mean(), other.mean(), *(each.min() for each in replicates)) <= 0:
            return Estimate.unknown()
        logs.append(np.log(mine.mean() / other.mean()))
        samples.append(np.log(replicates[0] / replicates[1]))
    if not logs:
        return Estimate.unknown()
    return interval(float(np.exp(np.mean(logs))), np.exp(np.mean(samples, axis=0)))


def _compared(
    games: Games, estimates: Mapping[str, Estimate], horizon: int, rivals: Sequence[str] = (), **more: Any
) -> Evidence:
    """A row for each game, and a point for each game and player."""
    rows = [
        {"family": spec, "environment": environment}
        | {name: float(regret.mean()) for name, regret in played.items()}
        for (spec, environment), played in games.items()
    ]
    drawn = []
    for name in dict.fromkeys(name for played in games.values() for name in played):
        at = [index for index, played in enumerate(games.values(), 1) if name in played]
        means = [float(played[name].mean()) for played in games.values() if name in played]
        drawn.append(Curve(name, "measured" if name == SELF else "baseline", at, means))
    beaten = {name: _mean_ratio(games, [name]) for name in rivals}
    y_label = f"regret after {horizon:,} rounds"
    return Evidence(rows, estimates, drawn, CASES, y_label, beaten, **more)


@claims.add(
    "self-tuning-weak",
    "seven weakly observable families, four in the quick run",
    (PAGE,),
    Prediction.most("regret / fixed rates", 0.6, "geometric mean over gaps 0.2, 0.05 and hard instances"),
    Prediction.most(
        "regret / fixed rates, gap 0.2", 0.4, "logarithmic regret against exploration at a fixed rate"
    ),
    horizon=(100_000, 100_000),
    seeds=(6, 20),
    specs=(FEW, WEAK),
    rivals=(("exp3g", "chlz21"),) * 2,
)
def weak(horizon: int, seeds: int, specs: Sequence[str], rivals: Sequence[str]) -> Evidence:
    """On weakly observable graphs a plan that tunes itself has much less regret than the best plans that do not."""
    games = _games(specs, (SELF, FIXED, *rivals), _both, horizon, seeds)
    estimates = {
        "regret / fixed rates": _mean_ratio(games, [FIXED]),
        "regret / fixed rates, gap 0.2": _mean_ratio(games, [FIXED], "gap 0.2"),
    }
    return _compared(games, estimates, horizon, rivals)


@claims.add(
    "self-tuning-hard",
    "twelve families, their hard instances",
    (PAGE,),
    Prediction.most("largest regret / fixed rates", 1.2, "nearly optimal against the worst case as well"),
    horizon=(10_000, 100_000),
    seeds=(32, 40),
    specs=((*WEAK, *STRONG),) * 2,
)
def hardness(horizon: int, seeds: int, specs: Sequence[str]) -> Evidence:
    """Where losses are as hard as lower bounds make them, tuning itself costs a plan little."""
    games = _games(specs, (SELF, FIXED), _hard, horizon, seeds)
    ratios = [_mean_ratio({game: played}, [FIXED]) for game, played in games.items()]
    evidence = _compared(games, {"largest regret / fixed rates": largest(ratios)}, horizon)
    for row, ratio in zip(evidence.rows, ratios, strict=True):
        row["ratio"] = ratio.value
    return evidence


@claims.add(
    "self-tuning-strong",
    "five strongly observable families, gaps 0.2 and 0.05",
    (PAGE,),
    Prediction.most("regret / best certified baseline", 1.15, "geometric mean over games, the best of each"),
    horizon=(10_000, 100_000),
    seeds=(8, 20),
    specs=(STRONG, STRONG),
    rivals=(("ts_n", "ucb_n"),) * 2,
)
def strong(horizon: int, seeds: int, specs: Sequence[str], rivals: Sequence[str]) -> Evidence:
    """On strongly observable graphs it is about as good as the best known algorithm with a worst-case bound for
    each; algorithms for independent losses, which have no such bound, may be better still.
    """
    certified = (FIXED, "exp3g", "exp3", "exp3_ix", "tsallis_inf", "q_ftrl", "hedge")
    games = _games(specs, (SELF, *certified, *rivals), _easy, horizon, seeds)
    best = {"regret / best certified baseline": _mean_ratio(games, certified)}
    notes = ("A baseline counts in the games it applies to.",)
    return _compared(games, best, horizon, rivals, notes=notes)


@claims.add(
    "self-tuning-logarithm",
    "cycle:20, teams:5x4, revealing_action:20, mab:20, gap 0.2",
    (PAGE,),
    Prediction.most(
        "last decade / decade before", 2.0, "a logarithm adds the same again, t^{2/3} 4.6 times as much"
    ),
    horizon=(100_000, 1_000_000),
    seeds=(8, 20),
    specs=(("cycle:20", "teams:5x4", "revealing_action:20", "mab:20"),) * 2,
)
def logarithm(horizon: int, seeds: int, specs: Sequence[str]) -> Evidence:
    """Where one arm is better by a gap in every round, regret grows like log t, though nobody told the plan."""
    rows, grown, lines = [], [], []
    points = [horizon // parts for parts in (1000, 300, 100, 30, 10, 3)]
    for spec in specs:
        graph = families.parse(spec)
        losses = gap(graph.n_arms, best=graph.n_arms // 2, gap=0.2)
        run = finished(plan(graph, realization="self-tuning"), losses, seeds, horizon, points)
        before, last = (run.regret[:, b] - run.regret[:, a] for a, b in ((2, 4), (4, 6)))
        grown.append(ratio_of_means(last, before))
        lines.append(Curve(spec, "measured", run.checkpoints.tolist(), run.mean.tolist()))
        row = {"family": spec, "regret at T/100": run.mean[2], "at T/10": run.mean[4], "at T": run.mean[-1]}
        rows.append(row | {"last decade / decade before": grown[-1].value})
    first = lines[0]
    power = [first.y[2] * (t / first.x[2]) ** (2 / 3) for t in first.x]
    drawn = (*lines, Curve("t^{2/3}", "bound", first.x, power))
    estimates = {"last decade / decade before": largest(grown)}
    return Evidence(rows, estimates, drawn, "t, rounds", "regret, gap 0.2")


@claims.add(
    "self-tuning-certificate",
    "twelve families (seven in the quick run), gaps 0.2 and 0.05 and hard instances",
    (PAGE,),
    Prediction.most("mean regret / mean certificate", 1.0, "Theorem 1"),
    Prediction.most("certificate / budget, any run", 1.0, "Theorem 3′: the bound for T, on every run"),
    Prediction.most("certificate / bound at t, any run", 1.0, "Theorem 2, on every run"),
    horizon=(10_000, 100_000),
    seeds=(48, 48),
    specs=((*FEW, *STRONG[:3]), (*WEAK, *STRONG)),
)
def certificate(horizon: int, seeds: int, specs: Sequence[str]) -> Evidence:
    """What a game certifies while it is played is never below the mean regret, and never above what was promised."""
    rows, shares = [], []
    used: dict[str, list[float]] = {SELF: [], KNOWN: []}
    for spec in specs:
        graph = families.parse(spec)
        for name in used:
            player = plan(graph, None if name == SELF else horizon, realization="self-tuning")
            promised = player.bound_at(horizon).value
            for environment, losses in _both(graph, horizon).items():
                run = finished(player, losses, seeds, horizon)
                certified = run.certificate[:, -1]
                shares.append(ratio_of_means(run.regret[:, -1], certified))
                used[name].append(float(certified.max()) / promised)
                row: dict[str, Any] = {"family": spec, "environment": environment, "plan": name}
                row |= {"regret": float(run.mean[-1]), "certificate": float(certified.mean())}
                rows.append(row | {"largest": float(certified.max()), "promised": promised})
    return Evidence(
        rows,
        {
            "mean regret / mean certificate": largest(shares),
            "certificate / budget, any run": max(used[KNOWN]),
            "certificate / bound at t, any run": max(used[SELF]),
        },
        columns(rows, {"regret": "measured", "certificate": "predicted", "promised": "bound"}),
        "family, environment and plan (see the table)",
        f"regret after {horizon:,} rounds",
        notes=("Each number is the largest over all games; certificates are those of single runs.",),
    )
