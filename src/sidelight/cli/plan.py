"""`sidelight plan`: the best certified plan for a graph, and why it is that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import names, options
from sidelight.cli.files import writable_file, write_file
from sidelight.cli.screen import columns, emit, emit_json, facts, safe

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.cli.graphs import GraphRequest, LoadedGraph
    from sidelight.planning import Condition

SHOWN = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
"""Rounds at which the bound of a plan without a horizon is shown."""


def _order(text: str) -> float | str:
    """A number, or a word that the library may know."""
    try:
        return float(text)
    except ValueError:
        return text


@click.command(short_help="Make a plan with a certified bound on the regret.")
@options.takes_graph
@options.horizon()
@click.option("--anytime", is_flag=True, help="Any number of rounds: what leaving --horizon out means.")
@click.option(
    "--realization",
    default="auto",
    show_default=True,
    metavar="NAME",
    shell_complete=names.offered("realizations"),
    help="How it is played, such as self-tuning or clustered; `sidelight list realizations` shows them all.",
)
@click.option(
    "--order",
    "-s",
    type=_order,
    metavar="S",
    help="Order of a self-tuning plan's entropy: a number up to 1, or 'bound' for the smallest bound.",
)
@click.option(
    "--share",
    type=float,
    metavar="C",
    help="A self-tuning plan raises its temperature, and so changes more slowly, at this fraction of what its rounds"
    " cost.  [default: ½]",
)
@click.option(
    "--slack",
    type=float,
    default=0.1,
    show_default=True,
    metavar="FRACTION",
    help="Let a self-tuning plan promise this much more than the smallest bound, for freer play.",
)
@click.option(
    "--confidence",
    type=float,
    metavar="P",
    help="The plan whose bound is smallest with probability P, such as 0.99; needs --horizon.",
)
@click.option(
    "--partition",
    metavar="NAME|FILE",
    shell_complete=names.offered("partitions", files=True),
    help="The blocks: single, components or another name that `sidelight list partitions` shows, or a JSON file with"
    " a list of blocks or a plan.",
)
@click.option(
    "--search", type=float, metavar="SECONDS", help="Also search for a better partition for so long."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(),
    help="Write the plan to a JSON file, which run plays and Plan.load reads.",
)
@options.as_json
def command(
    graph: GraphRequest,
    horizon: int | None,
    anytime: bool,
    realization: str,
    order: float | str | None,
    share: float | None,
    slack: float,
    confidence: float | None,
    partition: str | None,
    search: float | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Make a plan for T rounds with a certified bound on the regret, and list what else was considered.

    The plan tunes itself to the losses it meets, inside the smallest certified bound that is known for the graph and
    some slack. Where it cannot, the plan with the smallest bound is played as it is, and a note says so.

    Without --horizon the plan is for any number of rounds, and its bound is a function of the round. Where GRAPH is a
    saved plan, its graph is planned for anew, for its own horizon if neither --horizon nor --anytime is given.
    """
    if anytime and horizon is not None:
        raise click.UsageError("--anytime is for any number of rounds: leave --horizon out")
    import sidelight as sl
    from sidelight.errors import InvalidOption
    from sidelight.policy import plan_file

    loaded = graph.load()
    if horizon is None and not anytime and loaded.plan is not None:
        horizon = loaded.plan.horizon
    anytime = horizon is None
    if anytime and confidence is not None:
        raise click.UsageError(f"--confidence {confidence:g} tunes a plan for one horizon: give --horizon")
    g = loaded.graph
    file = None if output is None else writable_file(output)
    if file is not None and file.is_file() and file.stat().st_size and not plan_file.is_plan(file):
        raise InvalidOption(
            f"{file} is there already and is no plan: name another file with -o, or remove it first"
        )
    given = None if partition is None else _partition(g, partition)
    make: Callable[..., sl.Plan] = sl.plan  # which options go together is for the library to say
    tuned = {"order": order, "share": share, "slack": slack, "confidence": confidence}
    found = make(g, horizon, given, realization, search=search, **tuned)
    checks = _checks(found)
    answer = {
        "version": sl.__version__,
        "graph": loaded.to_dict(),
        **found.to_dict(),
        "checks": [check.to_dict() for check in checks],
    }
    if anytime:
        answer["bound_at"] = [_told(found, t) for t in SHOWN]
    elif confidence is not None:
        answer["likely"] = found.bound_at(found.bound.horizon, confidence).to_dict()
    if file is not None:
        write_file(file, plan_file.text_of(found, _called(loaded)))
    if as_json:
        emit_json(answer)
        return
    holding = sum(check.holds for check in checks)
    rounds = "any number of rounds" if anytime else f"{found.horizon:,} rounds"
    about = [("changed", change) for change in loaded.changes]
    about += [("arms, edges", f"{g.n_arms:,}, {g.n_edges:,}"), *plan_rows(found)]
    parts: list[Any] = [facts(f"Plan for {safe(loaded.source)}, {rounds}", about)]
    rows = [("anytime", found.curve.summary())] if anytime else bound_rows(found.bound)
    rows += [("note", found.details.note)] if found.details.note else []
    rows.append(("checked again", f"{holding} of {len(checks)} inequalities hold, by an independent check"))
    parts.append(facts("Bound", rows))
    if anytime:
        parts.append(_by_rounds(found))
    if len(found.details.considered) > 1:
        parts.append(_considered(found))
    if file is not None:
        parts.append(f"plan: {safe(str(file))}")
    emit(*parts)


def _checks(found: sl.Plan) -> list[Condition]:
    """What the bound rests on, checked again."""
    import sidelight as sl

    return list(sl.check_certificate(found))


def _called(loaded: LoadedGraph) -> str:
    """What the file of a plan calls its graph: a family as it was written, or a file without its folders."""
    from sidelight.policy.plan_file import MOST_NAME

    name = loaded.name if loaded.plan is not None else Path(loaded.name).name
    return name if name.isprintable() and len(name) <= MOST_NAME else ""


def _told(found: sl.Plan, t: int) -> dict[str, Any]:
    """The bound after t rounds in short."""
    bound = found.bound_at(t)
    return {"t": t, "value": bound.value, "certified": bound.certified, "informative": bound.informative}


def _by_rounds(found: sl.Plan) -> Any:
    """The bound of a plan without a horizon, at a few numbers of rounds."""
    rows = []
    for t in SHOWN:
        told = _told(found, t)
        notes = [] if told["certified"] else ["not certified yet"]
        notes += [] if told["informative"] else ["vacuous: not below t"]
        rows.append((f"{t:,}", f"{told['value']:,.1f}", f"{told['value'] / t:.3g}", ", ".join(notes)))
    return columns("After t rounds", (">t", ">regret at most", ">per round", ""), rows)


def _considered(found: sl.Plan) -> Any:
    """Everything the planner weighed, the winner first."""
    weighed = sorted(found.details.considered, key=lambda other: (not other.certified, other.value))
    rows = [
        (
            other.partition,
            other.realization,
            f"{other.value:,.1f}",
            "" if other.certified else "not certified",
        )
        for other in weighed
    ]
    return columns("Considered", ("partition", "realization", ">regret at most", ""), rows)


def _partition(g: sl.FeedbackGraph, text: str) -> sl.Partition:
    """A natural partition by name, or the blocks in a file."""
    import sidelight as sl
    from sidelight.errors import InvalidOption
    from sidelight.partition import natural

    if text in natural.__all__:
        found: sl.Partition = getattr(natural, text)(g)
        return found
    file = Path(text)
    if not file.is_file():
        known = ", ".join(natural.__all__)
        raise InvalidOption(f"{text!r} is neither a file nor a partition; known are {known}")
    try:
        saved = json.loads(file.read_text())
    except (ValueError, OSError, RecursionError) as error:
        raise InvalidOption(f"{file} is not JSON: {error}") from None
    blocks = saved.get("blocks") if isinstance(saved, dict) else saved
    if not isinstance(blocks, list) or not all(isinstance(block, list) for block in blocks):
        raise InvalidOption(f"{file} holds no list of blocks such as [[0, 1], [2, 3]], and no plan")
    return sl.Partition(g, blocks)


# -- bounds and plans in words ------------------------------------------------------------------------------


def bound_rows(bound: sl.Bound) -> list[tuple[str, str]]:
    """A bound with its terms and conditions."""
    from sidelight.planning.bounds.bound import NEVER

    rows = [("regret at most", f"{bound.value:,.1f}  ({safe(bound.theorem)})")]
    rows += [(f"  {name}", f"{value:,.1f}") for name, value in bound.terms.items()]
    for condition in bound.conditions:
        mark = "holds" if condition.holds else "[red]fails[/red]"
        rows.append((f"  {safe(condition.name)}", f"{mark}, slack {condition.slack:.3g}"))
    certified = "yes" if bound.certified else f"[red]no[/red], valid from T = {bound.valid_from:,}"
    never = bound.informative_from >= NEVER
    since = "never: it is of order T" if never else f"T = {bound.informative_from:,}"
    since += f"; [red]vacuous[/red] at T = {bound.horizon:,}" if bound.vacuous else ""
    return [*rows, ("certified", certified), ("informative from", since)]


def plan_rows(plan: sl.Plan) -> list[tuple[str, str]]:
    """Blocks, realization and the plain numbers among a plan's parameters."""
    from sidelight.planning.plan import numbers_of

    rows = [("partition", _blocks(plan.partition)), ("realization", plan.realization)]
    kinds = sorted(set(plan.details.choices))
    if kinds and kinds != [plan.realization]:
        rows.append(("blocks play", ", ".join(kinds[:6]) + (", …" if len(kinds) > 6 else "")))
    numbers = numbers_of(plan.parameters)
    return rows + [(name, f"{value}  ({meaning})" if meaning else value) for name, value, meaning in numbers]


def _blocks(partition: sl.Partition) -> str:
    sizes = [str(size) for size in partition.sizes[:12]] + ["…"] * (len(partition.sizes) > 12)
    many = len(partition.blocks) > 1
    start = f"{len(partition.blocks):,} blocks of sizes" if many else "one block of size"
    return f"{start} {', '.join(sizes)}"
