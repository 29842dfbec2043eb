"""Modules and caches that the forking process loads so that forked processes need not."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys

from api.cli import load_libraries_lean

LIBRARIES = (
    "alembic.command",
    "encodings.ascii",
    "encodings.idna",
    "encodings.unicode_escape",
    "fastapi",
    "fastapi.openapi.utils",
    "fastapi.telemetry._runtime",
    "numpy",
    "numpy.random",
    "procrastinate",
    "prometheus_client",
    "psycopg",
    "psycopg_pool",
    *(["pydantic.v1"] if sys.version_info < (3, 14) else []),
    "pydantic_settings",
    "rich.console",
    "rich.progress",
    "rich.table",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.orm",
    "sqlite3",
    "structlog",
    "typer",
    "typer.rich_utils",
    "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.h11_impl",
)
"""Libraries to load beforehand, as is every module of the project; each process would need a quarter of a second."""
PACKAGES = ("api", "planner", "solvers")
RUN_WHEN_LOADED = (".__main__", ".env")
"""Endings of modules that do their work when imported: commands, and what alembic runs."""


def load() -> None:
    """Load all libraries, all modules of the project, and what their caches keep."""
    load_libraries_lean()
    for name in (*LIBRARIES, *PACKAGES):
        importlib.import_module(name)
    for package in PACKAGES:
        for module in pkgutil.walk_packages(sys.modules[package].__path__, f"{package}."):
            if not module.name.endswith(RUN_WHEN_LOADED):
                importlib.import_module(module.name)
    _know_formats()
    _know_commands()
    _know_settings()


def _know_formats() -> None:
    """Fill pydantic's caches by reading a problem and a plan, which saves 20 ms in each process."""
    from planner.formats import read_plan, read_problem, write_plan, write_problem
    from tests.api.sample_plans import stacked

    problem, plan = stacked([("a", 1)])
    read_problem(write_problem(problem))
    read_plan(write_plan(plan))


def _know_commands() -> None:
    """Fill typer's caches by calling each command, which saves 10 ms in each process."""
    from api.cli.app import COMMANDS
    from api.cli.invocation import command_called

    for name in COMMANDS:
        with contextlib.suppress(Exception):  # an argument or file is missing
            command_called(name).commands[name].make_context(name, ["random", "b"])


def _know_settings() -> None:
    """Fill Python's caches of subclass checks, which saves 3 ms in each service and worker."""
    from api.settings import Settings

    Settings()
