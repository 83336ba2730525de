"""`sidelight serve`: the decision service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sidelight._json import text
from sidelight.cli import options
from sidelight.cli.screen import needs

if TYPE_CHECKING:
    from sidelight.service.service import Service


@click.command(short_help="Run the decision service.")
@options.option(
    "--store URL",
    str,
    "sqlite:///FILE or postgresql://USER@HOST/DB; by default a file in the user's folder for data.",
    envvar="SIDELIGHT_STORE",
)
@options.option("--host", str, "Address to listen at; 0.0.0.0 for all of them.", default="127.0.0.1")
@options.option("--port -p", click.IntRange(0, 65535), "0 for any.", default=8383)
@options.option(
    "--advertise URL", str, "Where other processes with the same PostgreSQL store reach this one."
)
@options.option("--rate N", float, "Requests a second for each token; 0 for no limit.")
@click.option("--new-admin-token", is_flag=True, help="Make another admin token and print it once.")
@click.option(
    "--access-log", is_flag=True, help="A line in the log for every request, not only for failed ones."
)
@options.as_json
def command(rate: float | None, as_json: bool, **settings: Any) -> None:
    """Serve policies over HTTP until interrupted; docs/service.md describes it.

    Listens on this machine only, unless --host says otherwise. The first start prints a token that may do everything,
    once; SIDELIGHT_ADMIN_TOKEN in the environment sets it instead. Needs `pip install '.[service]'` in the clone.

    \b
    sidelight serve
    sidelight serve --store sqlite:///prices.db --port 9000
    """
    needs("service", "msgspec", "starlette", "uvicorn", "prometheus_client")

    from sidelight.service.access import Limits
    from sidelight.service.server import Settings, run
    from sidelight.service.service import environment_token

    limits = Limits() if rate is None else Limits(rate=rate)

    def announce(service: Service, address: str) -> None:
        if as_json:  # one line, since more may follow in the log
            answer = {"address": address, "store": service.store.where, "admin_token": service.admin_token}
            click.echo(text(answer, indent=None), nl=False)
            return
        click.echo(f"serving at {address}")
        click.echo(f"data in {service.store.where}")
        if service.admin_token is not None:
            click.echo(f"admin token, shown this once: {service.admin_token}")

    run(Settings(limits=limits, environment=environment_token(), **settings), announce)
