"""Dask's schedulers and workers as processes that tests may kill, forked from a process that has loaded Dask."""

from __future__ import annotations

import importlib
import os
import signal
import warnings
from pathlib import Path
from typing import Any

from tests.running.forked import Forked, Kind, environment

ROOT = Path(__file__).parents[2]
GROWING = "growing"


def scheduler_at(address: str) -> Forked:
    return started("scheduler", "--port", address.rsplit(":", 1)[1], "--no-dashboard", "--no-show")


def worker_of(address: str, folder: Path) -> Forked:
    local = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder))
    return started("worker", address, *local)


def growing_at(address: str, folder: Path) -> Forked:
    """Start a scheduler that has workers only while there is work."""
    return started(GROWING, address.rsplit(":", 1)[1], str(folder))


def started(*command: str) -> Forked:
    """Start one of Dask's processes; the processes that it starts for memplan are forked, too."""
    with Path(os.devnull).open("r+b") as nothing:
        files = (nothing.fileno(),) * 3
        return Forked(
            command,
            files,
            environment({"PYTHONWARNINGS": "ignore", "MEMPLAN_SOLVERS": "waiting"}),
            kind=Kind.DASK,
            family=__name__,
        )


def preload() -> None:
    """Load Dask in the process from which all its processes are forked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in ("scheduler", "worker"):
            importlib.import_module(f"distributed.cli.dask_{part}")


def main(command: list[str]) -> None:
    """Run the command in the forked process."""
    warnings.simplefilter("ignore")
    if command[0] == GROWING:
        _grow(*command[1:])
    importlib.import_module(f"distributed.cli.dask_{command[0]}").main(command[1:])


def _grow(port: str, folder: str) -> None:
    distributed: Any = importlib.import_module("distributed")
    where = {"host": "127.0.0.1", "scheduler_port": int(port), "dashboard_address": None, "local_directory": folder}
    cluster = distributed.LocalCluster(n_workers=0, threads_per_worker=1, **where)
    cluster.adapt(minimum=0, maximum=2, interval="200ms")
    signal.pause()
