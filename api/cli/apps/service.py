"""The commands that run the service: `memplan serve`, `memplan worker` and `memplan migrate`, with their options."""

from __future__ import annotations

from typing import Annotated

import typer

SettingsFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="A TOML file with settings; docs/service.md lists all.")
]


def serve(
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address to listen on (127.0.0.1).")] = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on (8080); 0: any that is free.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Solver processes; by default one per core.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where jobs and plans are kept (memplan-data).")
    ] = None,
    store: Annotated[str | None, typer.Option(metavar="URL", help="The store, as an SQLAlchemy URL.")] = None,
    settings: SettingsFile = None,
    new_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print a new token and the setting for it, and exit.")
    ] = None,
) -> None:
    """Serve plans over HTTP. Every setting can also be a MEMPLAN_* variable."""
    from ..commands import service

    if new_token is not None:
        raise typer.Exit(service.new_token(new_token))
    given = {"host": host, "port": port, "workers": workers, "data_dir": data, "store_url": store}
    raise typer.Exit(service.serve(settings, given))


def worker(
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="The store that services share: postgresql://…")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Jobs at a time; by default one per core.")
    ] = None,
    settings: SettingsFile = None,
) -> None:
    """Carry out jobs of several services.

    The services share a PostgreSQL store. Every setting can also be a MEMPLAN_* variable.
    """
    from ..commands import service

    raise typer.Exit(service.work(settings, {"store_url": store, "workers": workers}))


def migrate(
    store: Annotated[str | None, typer.Option(metavar="URL", help="The store, as an SQLAlchemy URL.")] = None,
    settings: SettingsFile = None,
) -> None:
    """Bring the tables of a shared store up to date. Services and workers do so too when they start."""
    from ..commands import service

    raise typer.Exit(service.migrate(settings, {"store_url": store}))
