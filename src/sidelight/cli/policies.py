"""`sidelight policies`: the policies and tokens of a running service."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import options
from sidelight.cli.graphs import LoadedGraph
from sidelight.cli.screen import columns, emit, emit_json, facts, needs, safe

if TYPE_CHECKING:
    from sidelight.client import Client

SCOPES = ("read", "decide", "observe", "admin")

MEANING = "in expectation at least the regret"


def _connected(url: str, token: str | None) -> dict[str, Any]:
    needs("client", "httpx")
    from sidelight.client import Client

    return {"service": click.get_current_context().with_resource(Client(url, token, tries=3))}


asks = options.collected(
    _connected,
    options.option("--url", str, "Of the service.", envvar="SIDELIGHT_URL", default="http://127.0.0.1:8383"),
    options.option(
        "--token",
        str,
        "Better in the environment, as SIDELIGHT_TOKEN: others do not see it there.",
        envvar=["SIDELIGHT_TOKEN", "SIDELIGHT_ADMIN_TOKEN"],
    ),
)
"""--url and --token, handed over as a `Client` named `service`."""


@click.group(short_help="Manage policies and tokens of a running service.")
def command() -> None:
    """Make, list, back up and open policies of a service that `sidelight serve` runs. All of them have --json.

    \b
    export SIDELIGHT_TOKEN=sl_…
    sidelight policies create prices cycle:12 --rewards 0 25 --expires 86400
    sidelight policies tokens create --policy prices --scope decide --scope observe
    """


@command.command()
@click.argument("name")
@options.takes_graph
@options.horizon()
@options.option("--rewards LOW HIGH", float, "It is told rewards in this range.", nargs=2)
@options.option("--losses LOW HIGH", float, "It is told losses in this range.", nargs=2)
@options.option("--seed", options.count, "Of its draws; by default chosen at random.")
@options.option("--expires SECONDS", float, "Cancel what is unanswered after so long.")
@options.as_json
@asks
def create(service: Client, name: str, graph: LoadedGraph, as_json: bool, **given: Any) -> None:
    """Plan for a graph and begin to play it."""
    _show(service.create(name, graph.graph, **given).show(), as_json)


@command.command(name="list")
@options.as_json
@asks
def list_(service: Client, as_json: bool) -> None:
    """All policies as they stand."""
    policies = list(service.policies())
    if as_json:
        emit_json({"policies": policies})
        return
    heads = ("policy", ">arms", ">decided", ">open", ">certificate", ">bound", ">entropy")
    rows = []
    for each in policies:
        counts = (f"{each[name]:,}" for name in ("arms", "decided", "open"))
        values = (each["certificate"]["value"], each["bound"]["value"], each["entropy"])
        rows.append([safe(each["name"]), *counts, *map(_number, values)])
    emit(columns(f"{len(policies)} policies at {safe(service.url)}", heads, rows))


@command.command()
@click.argument("name")
@options.as_json
@asks
def show(service: Client, name: str, as_json: bool) -> None:
    """One policy as it stands."""
    _show(service.policy(name).show(), as_json)


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path())
@options.as_json
@asks
def export(service: Client, name: str, file: str, as_json: bool) -> None:
    """Write everything about a policy to FILE, while it goes on; `import` takes it in again."""
    service.policy(name).export(file)
    if as_json:
        emit_json({"policy": name, "file": file})


@command.command(name="import")
@click.argument("name")
@click.argument("file", type=click.Path())
@options.as_json
@asks
def import_(service: Client, name: str, file: str, as_json: bool) -> None:
    """Take in a policy that `export` has written, under the name NAME."""
    _show(service.bring(name, file).show(), as_json)


@command.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
@asks
def remove(service: Client, name: str, yes: bool, as_json: bool) -> None:
    """Delete a policy and all its events."""
    if not yes:
        click.confirm(f"Delete {name} and everything it has learnt?", abort=True)
    service.policy(name).remove()
    if as_json:
        emit_json({"removed": name})


@command.group()
def tokens() -> None:
    """Who may do what."""


@tokens.command(name="create")
@options.option("--scope", click.Choice(SCOPES), "Repeat for more.", multiple=True, required=True)
@options.option("--policy NAME", str, "The one policy that it is for; all without it.")
@options.option("--note", str, "What it is for.", default="", show_default=False)
@options.as_json
@asks
def create_token(service: Client, scope: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """A new token, printed this once."""
    token = service.create_token(scope, **given)
    if as_json:
        emit_json(token)
        return
    click.echo(token["token"])
    if sys.stdout.isatty():
        click.echo(
            f"shown this once; revoke it with `sidelight policies tokens revoke {token['id']}`", err=True
        )


@tokens.command(name="list")
@options.as_json
@asks
def list_tokens(service: Client, as_json: bool) -> None:
    """All tokens, without their secrets."""
    listed = service.tokens()
    if as_json:
        emit_json({"tokens": listed})
        return
    rows = [
        [each["id"], " ".join(each["scopes"]), safe(each["policy"] or "all"), safe(each["note"])]
        for each in listed
    ]
    emit(columns(f"{len(listed)} tokens", ("id", "scopes", "policy", "note"), rows))


@tokens.command()
@click.argument("id")
@options.as_json
@asks
def revoke(service: Client, id: str, as_json: bool) -> None:
    """A token is good no longer."""
    service.revoke(id)
    if as_json:
        emit_json({"revoked": id})


def _show(policy: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(policy)
        return
    unit, bound, certificate = policy["unit"], policy["bound"], policy["certificate"]
    ended = f"{policy['cancelled']:,} cancelled, {policy['expired']:,} expired"
    proved = "" if bound["certified"] else f", not certified: {bound['why']}"
    emit(
        facts(
            safe(policy["name"]),
            (
                ("graph", f"{policy['arms']:,} arms, {policy['edges']:,} edges"),
                ("told", f"{unit['kind']} in [{unit['low']:g}, {unit['high']:g}]"),
                ("decisions", f"{policy['decided']:,}, of which {policy['open']:,} open, {ended}"),
                ("certificate", f"{_number(certificate['value'])} after {certificate['round']:,} rounds, {MEANING}"),
                ("bound", f"{_number(bound['value'])} in {bound['rounds']:,} rounds{proved}"),
                ("entropy of play", _number(policy["entropy"])),
            ),
        )
    )  # fmt: skip


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"
