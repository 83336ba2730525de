"""`sidelight evaluate`: what other policies would have cost, from a log of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import names, options
from sidelight.cli.screen import columns, emit, emit_json, safe

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.evaluation import Evaluations

METHODS = ("dr", "ips", "snips")
INTERVALS = ("martingale", "bernstein", "bootstrap")


@click.command(short_help="Estimate from a log what others would have cost.")
@click.argument("log", metavar="LOG", type=click.Path())
@click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    required=True,
    metavar="TARGET",
    help="An arm or label, 'uniform', or a distribution ARM:PROBABILITY,…; NAME=TARGET names it. Repeat to compare.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="dr",
    show_default=True,
    shell_complete=names.offered(METHODS),
    help="Estimator: doubly robust, inverse probabilities, or these self-normalised.",
)
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    default="martingale",
    show_default=True,
    shell_complete=names.offered(INTERVALS),
    help="The first holds for any log, the second for independent rounds, the third roughly.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option(
    "--floor", type=float, metavar="P", help="Every arm was to be seen with at least this probability."
)
@click.option("--clip", type=float, metavar="M", help="Weights are at most M.")
@click.option(
    "--losses", type=float, nargs=2, metavar="LOW HIGH", help="Range of losses, where the log does not say."
)
@click.option("--rewards", type=float, nargs=2, metavar="LOW HIGH", help="Range of rewards, likewise.")
@click.option("--arms", type=options.count, metavar="N", help="Number of arms, where the log does not say.")
@options.as_json
def command(
    log: str,
    targets: tuple[str, ...],
    method: Any,
    interval: Any,
    level: float,
    floor: float | None,
    clip: float | None,
    losses: tuple[float, float] | None,
    rewards: tuple[float, float] | None,
    arms: int | None,
    as_json: bool,
) -> None:
    """Estimate from a log of decisions what each target would have cost or earned per decision, with intervals.

    LOG is a .csv or .parquet file, or a folder of parquet parts: one row per revealed arm with the probability
    that it was to be seen, or the columns of Open Bandit Pipeline. docs/looking-back.md says which.

    \b
    sidelight evaluate log.csv --target uniform --target 3 --target "mixed=0:0.5,3:0.5"
    """
    import sidelight as sl

    read = sl.Log.read(log, n_arms=arms, losses=losses, rewards=rewards)
    wanted = dict(_named(read, text) for text in targets)
    found = sl.evaluate(read, wanted, method=method, interval=interval, level=level, floor=floor, clip=clip)
    if as_json:
        emit_json({"log": _about(read), "targets": found.to_dict()})
        return
    bases = {row.interval: row.target for row in found}
    told = (f"{'intervals' if len(bases) == 1 else safe(name)}: {basis}" for basis, name in bases.items())
    emit(_table(read, found), *told)


def _about(log: sl.Log) -> dict[str, Any]:
    return {"rounds": log.n_rounds, "rows": log.n_rows, "arms": log.n_arms, "unit": log.unit._asdict()}


def _table(log: sl.Log, found: Evaluations) -> Any:
    others = [name for name in found.rows[0].methods if name != found.rows[0].method]
    heads = (
        "target",
        f">{found.rows[0].method}",
        ">low",
        ">high",
        *(f">{name}" for name in others),
        ">worth rounds",
    )
    rows = [
        [
            safe(row.target),
            *(f"{value:.4g}" for value in (row.estimate, row.low, row.high)),
            *(f"{row.methods[name].value:.4g}" for name in others),
            f"{row.ess:,.1f}",
        ]
        for row in found
    ]
    unit = log.unit
    title = (
        f"{unit.kind.capitalize()} a round, in [{unit.low:g}, {unit.high:g}], from {log.n_rounds:,} rounds and "
        f"{log.n_rows:,} revealed values"
    )
    return columns(title, heads, rows)


def _named(log: sl.Log, text: str) -> tuple[str, Any]:
    """NAME=TARGET, or a target that is its own name; a label that contains = or : comes first."""
    if text in (log.labels or ()):
        return text, text
    name, equals, words = text.partition("=")
    return (name, _target(log, words)) if equals else (text, _target(log, text))


def _target(log: sl.Log, words: str) -> Any:
    if words in (log.labels or ()) or words == "uniform":
        return words
    if ":" not in words:
        return _arm(log, words)
    found = {}
    for part in words.split(","):
        arm, _, probability = part.rpartition(":")
        try:
            found[_arm(log, arm)] = float(probability)
        except ValueError:
            raise click.BadParameter(f"{part!r} is not ARM:PROBABILITY", param_hint="--target") from None
    return found


def _arm(log: sl.Log, words: str) -> Any:
    return int(words) if words.isascii() and words.isdigit() and words not in (log.labels or ()) else words
