"""`sidelight serve`: the decision service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sidelight.cli import options

if TYPE_CHECKING:
    from sidelight.service.service import Service


@click.command(short_help="Run the decision service.")
@click.option(
    "--store",
    metavar="URL",
    envvar="SIDELIGHT_STORE",
    help="sqlite:///FILE or postgresql://USER@HOST/DB; by default a file in the user's folder for data.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 for all of them."
)
@click.option(
    "--port", "-p", type=click.IntRange(0, 65535), default=8383, show_default=True, help="0 for any."
)
@click.option(
    "--advertise", metavar="URL", help="Where other processes with the same PostgreSQL store reach this one."
)
@click.option("--rate", type=float, metavar="N", help="Requests a second for each token; 0 for no limit.")
@click.option("--new-admin-token", is_flag=True, help="Make another admin token and print it once.")
@click.option(
    "--access-log", is_flag=True, help="A line in the log for every request, not only for failed ones."
)
@options.as_json
def command(
    store: str | None,
    host: str,
    port: int,
    advertise: str | None,
    rate: float | None,
    new_admin_token: bool,
    access_log: bool,
    as_json: bool,
) -> None:
    """Serve policies over HTTP until interrupted; docs/service.md describes it.

    Listens on this machine only, unless --host says otherwise. The first start prints a token that may do everything,
    once; SIDELIGHT_ADMIN_TOKEN in the environment sets it instead. Needs `pip install 'sidelight[service]'`.

    \b
    sidelight serve
    sidelight serve --store sqlite:///prices.db --port 9000
    """
    from dataclasses import replace

    from sidelight.cli.files import needs

    needs("service", "msgspec", "starlette", "uvicorn", "prometheus_client")

    from sidelight.service.access import Limits
    from sidelight.service.server import Settings, run
    from sidelight.service.service import environment_token

    limits = Limits() if rate is None else replace(Limits(), rate=rate)
    settings = Settings(
        store=store,
        host=host,
        port=port,
        advertise=advertise,
        limits=limits,
        access_log=access_log,
        new_admin_token=new_admin_token,
        environment=environment_token(),
    )

    def announce(service: Service, address: str) -> None:
        from sidelight._json import text

        if as_json:  # one line, since more may follow in the log
            about = {"address": address, "store": service.store.where, "admin_token": service.admin_token}
            click.echo(text(about, indent=None), nl=False)
            return
        click.echo(f"serving at {address}")
        click.echo(f"data in {service.store.where}")
        if service.admin_token is not None:
            click.echo(f"admin token, shown this once: {service.admin_token}")

    run(settings, announce)
