"""`sidelight plan`: the best certified plan for a graph, and why it is that one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight._realizations import REALIZATIONS
from sidelight.cli import names, options
from sidelight.cli.screen import columns, emit, emit_json, facts, safe, writable_file, write_file

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.cli.graphs import LoadedGraph

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
@options.option(
    "--realization NAME",
    click.Choice(tuple(REALIZATIONS)),
    "How it is played, such as self-tuning or clustered; `sidelight list realizations` shows them all.",
    default="auto",
)
@options.option(
    "--order -s S",
    _order,
    "Order of a self-tuning plan's entropy: a number up to 1, or 'bound' for the smallest bound.",
)
@options.option(
    "--share C",
    float,
    "A self-tuning plan raises its temperature, and so changes more slowly, at this fraction of what its rounds"
    " cost.  [default: ½]",
)
@options.option(
    "--slack FRACTION",
    float,
    "Let a self-tuning plan promise this much more than the smallest bound, for freer play.",
    default=0.05,
)
@options.option(
    "--confidence P",
    float,
    "The plan whose bound is smallest with probability P, such as 0.99; needs --horizon.",
)
@options.option(
    "--partition NAME|FILE",
    str,
    "The blocks: single, components or another name that `sidelight list partitions` shows, or a JSON file with a"
    " list of blocks or a plan.",
    shell_complete=names.offered("partitions", files=True),
)
@options.option("--search SECONDS", float, "Also search for a better partition for so long.")
@options.output("FILE", "Write the plan to a JSON file, which run plays and Plan.load reads.")
@options.as_json
def command(
    graph: LoadedGraph,
    horizon: int | None,
    anytime: bool,
    confidence: float | None,
    partition: str | None,
    output: str | None,
    as_json: bool,
    **tuning: Any,
) -> None:
    """Make a plan for T rounds with a certified bound on the regret, and list what else was considered.

    The plan tunes itself to the losses it meets, inside the smallest certified bound that is known for the graph and
    some slack: it plays freely while it keeps to that, and changes at most once to the potential with the smallest
    bound. Where even that needs more, the plan with the smallest bound is played as it is, and a note says so.

    Without --horizon the plan is for any number of rounds, and its bound is a function of the round. Where GRAPH is a
    saved plan, its graph is planned for anew, for its own horizon if neither --horizon nor --anytime is given.
    """
    if anytime and horizon is not None:
        raise click.UsageError("--anytime is for any number of rounds: leave --horizon out")
    import sidelight as sl
    from sidelight.policy import plan_file

    if horizon is None and not anytime and graph.plan is not None:
        horizon = graph.plan.horizon
    if horizon is None and confidence is not None:
        raise click.UsageError(f"--confidence {confidence:g} tunes a plan for one horizon: give --horizon")
    file = None if output is None else _place(output)
    blocks = None if partition is None else _partition(graph.graph, partition)
    # Which options go together is for the library to say.
    plan = sl.plan(graph.graph, horizon, blocks, confidence=confidence, **tuning)
    checks = list(sl.check_certificate(plan))
    if file is not None:
        write_file(file, plan_file.text_of(plan, _called(graph)))
    if as_json:
        answer = {"version": sl.__version__, "graph": graph.to_dict(), **plan.to_dict()}
        answer["checks"] = [check.to_dict() for check in checks]
        if horizon is None:
            answer["bound_at"] = [_bound_after(plan, t) for t in SHOWN]
        elif confidence is not None:
            answer["likely"] = plan.bound_at(plan.bound.horizon, confidence).to_dict()
        emit_json(answer)
        return
    rounds = "any number of rounds" if horizon is None else f"{plan.horizon:,} rounds"
    plan_facts = [("changed", change) for change in graph.changes]
    plan_facts += [("arms, edges", f"{plan.graph.n_arms:,}, {plan.graph.n_edges:,}"), *plan_rows(plan)]
    rows = [("anytime", plan.curve.summary())] if horizon is None else bound_rows(plan.bound)
    rows += [("note", plan.details.note)] if plan.details.note else []
    holding = sum(check.holds for check in checks)
    rows.append(("checked again", f"{holding} of {len(checks)} inequalities hold, by an independent check"))
    emit(
        facts(f"Plan for {safe(graph.source)}, {rounds}", plan_facts),
        facts("Bound", rows),
        *([_by_rounds(plan)] if horizon is None else []),
        *([_considered(plan)] if len(plan.details.considered) > 1 else []),
        *([] if file is None else [f"plan: {safe(str(file))}"]),
    )


def _place(output: str) -> Path:
    """Where the plan goes: nothing but another plan is overwritten."""
    from sidelight.errors import InvalidOption
    from sidelight.policy import plan_file

    file = writable_file(output)
    if file.is_file() and file.stat().st_size and not plan_file.is_plan(file):
        raise InvalidOption(
            f"{file} is there already and is no plan: name another file with -o, or remove it first"
        )
    return file


def _called(loaded: LoadedGraph) -> str:
    """What the file of a plan calls its graph: a family as it was written, or a file without its folders."""
    from sidelight.policy.plan_file import MOST_NAME

    name = loaded.name if loaded.plan is not None else Path(loaded.name).name
    return name if name.isprintable() and len(name) <= MOST_NAME else ""


def _bound_after(plan: sl.Plan, t: int) -> dict[str, Any]:
    """The bound after t rounds in short."""
    bound = plan.bound_at(t)
    return {"t": t, "value": bound.value, "certified": bound.certified, "informative": bound.informative}


def _by_rounds(plan: sl.Plan) -> Any:
    """The bound of a plan without a horizon, at a few numbers of rounds."""
    rows = []
    for t in SHOWN:
        bound = plan.bound_at(t)
        notes = [] if bound.certified else ["not certified yet"]
        notes += [] if bound.informative else ["vacuous: not below t"]
        rows.append((f"{t:,}", f"{bound.value:,.1f}", f"{bound.value / t:.3g}", ", ".join(notes)))
    return columns("After t rounds", (">t", ">regret at most", ">per round", ""), rows)


def _considered(plan: sl.Plan) -> Any:
    """Everything the planner weighed, the winner first."""
    rows = []
    for other in sorted(plan.details.considered, key=lambda other: (not other.certified, other.value)):
        lack = "" if other.certified else "not certified"
        rows.append((other.partition, other.realization, f"{other.value:,.1f}", lack))
    return columns("Considered", ("partition", "realization", ">regret at most", ""), rows)


def _partition(g: sl.FeedbackGraph, text: str) -> sl.Partition:
    """A natural partition by name, or the blocks in a file."""
    import sidelight as sl
    from sidelight.errors import InvalidOption
    from sidelight.partition import natural

    if text in natural.__all__:
        partition: sl.Partition = getattr(natural, text)(g)
        return partition
    file = Path(text)
    if not file.is_file():
        names = ", ".join(natural.__all__)
        raise InvalidOption(f"{text!r} is neither a file nor a partition; known are {names}")
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

    sizes = plan.partition.sizes
    listed = ", ".join([*map(str, sizes[:12]), *["…"] * (len(sizes) > 12)])
    start = f"{len(sizes):,} blocks of sizes" if len(sizes) > 1 else "one block of size"
    rows = [("partition", f"{start} {listed}"), ("realization", plan.realization)]
    kinds = sorted(set(plan.details.choices))
    if kinds and kinds != [plan.realization]:
        rows.append(("blocks play", ", ".join(kinds[:6]) + (", …" if len(kinds) > 6 else "")))
    numbers = numbers_of(plan.parameters)
    return rows + [(name, f"{value}  ({meaning})" if meaning else value) for name, value, meaning in numbers]
