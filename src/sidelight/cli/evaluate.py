"""`sidelight evaluate`: what other policies would have cost, from a log of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import options
from sidelight.cli.screen import columns, emit, emit_json, safe

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.evaluation import Evaluations


@click.command(short_help="Estimate from a log what others would have cost.")
@click.argument("log", metavar="LOG", type=click.Path())
@options.option(
    "--target -t TARGET",
    str,
    "An arm or label, 'uniform', or a distribution ARM:PROBABILITY,…; NAME=TARGET names it. Repeat to compare.",
    multiple=True,
    required=True,
)
@options.option(
    "--method",
    click.Choice(("dr", "ips", "snips")),
    "Estimator: doubly robust, inverse probabilities, or these self-normalised.",
    default="dr",
)
@options.option(
    "--interval",
    click.Choice(("martingale", "bernstein", "bootstrap")),
    "The first holds for any log, the second for independent rounds, the third roughly.",
    default="martingale",
)
@options.option("--level", float, "Confidence of the intervals.", default=0.95)
@options.option("--floor P", float, "Every arm was to be seen with at least this probability.")
@options.option("--clip M", float, "Weights are at most M.")
@options.option("--losses LOW HIGH", float, "Range of losses, where the log does not say.", nargs=2)
@options.option("--rewards LOW HIGH", float, "Range of rewards, likewise.", nargs=2)
@options.option("--arms N", options.count, "Number of arms, where the log does not say.")
@options.as_json
def command(
    log: str, target: tuple[str, ...], losses: Any, rewards: Any, arms: int | None, as_json: bool, **how: Any
) -> None:
    """Estimate from a log of decisions what each target would have cost or earned per decision, with intervals.

    LOG is a .csv or .parquet file, or a folder of parquet parts: one row per revealed arm with the probability
    that it was to be seen, or the columns of Open Bandit Pipeline. docs/looking-back.md says which.

    \b
    sidelight evaluate log.csv --target uniform --target 3 --target "mixed=0:0.5,3:0.5"
    """
    import sidelight as sl

    read = sl.Log.read(log, n_arms=arms, losses=losses, rewards=rewards)
    wanted = dict(_named(read, text) for text in target)
    evaluations = sl.evaluate(read, wanted, **how)
    if as_json:
        emit_json({"log": _described(read), "targets": evaluations.to_dict()})
        return
    bases = {row.interval: row.target for row in evaluations}
    intervals = (
        f"{'intervals' if len(bases) == 1 else safe(name)}: {basis}" for basis, name in bases.items()
    )
    emit(_table(read, evaluations), *intervals)


def _described(log: sl.Log) -> dict[str, Any]:
    return {"rounds": log.n_rounds, "rows": log.n_rows, "arms": log.n_arms, "unit": log.unit._asdict()}


def _table(log: sl.Log, evaluations: Evaluations) -> Any:
    first = evaluations.rows[0]
    others = [name for name in first.methods if name != first.method]
    numbers = (first.method, "low", "high", *others, "worth rounds")
    rows = []
    for row in evaluations:
        values = (row.estimate, row.low, row.high, *(row.methods[name].value for name in others))
        rows.append([safe(row.target), *(f"{value:.4g}" for value in values), f"{row.ess:,.1f}"])
    unit = log.unit
    title = (
        f"{unit.kind.capitalize()} a round, in [{unit.low:g}, {unit.high:g}], from {log.n_rounds:,} rounds and "
        f"{log.n_rows:,} revealed values"
    )
    return columns(title, ("target", *(f">{name}" for name in numbers)), rows)


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
    distribution = {}
    for part in words.split(","):
        arm, _, probability = part.rpartition(":")
        try:
            distribution[_arm(log, arm)] = float(probability)
        except ValueError:
            raise click.BadParameter(f"{part!r} is not ARM:PROBABILITY", param_hint="--target") from None
    return distribution


def _arm(log: sl.Log, words: str) -> Any:
    """An arm by label, or by number where no label looks like one."""
    numbered = not any(label.isdigit() for label in log.labels or ())
    return int(words) if numbered and words.isascii() and words.isdigit() else words
