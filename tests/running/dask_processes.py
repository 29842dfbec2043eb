"""Schedulers and workers of Dask as processes, which may be killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def scheduler_at(address: str) -> subprocess.Popen[bytes]:
    return started("scheduler", "--port", address.rsplit(":", 1)[1], "--no-dashboard", "--no-show")


def worker_of(address: str, folder: Path) -> subprocess.Popen[bytes]:
    local = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder))
    return started("worker", address, *local)


GROWING = """
import signal, sys
from distributed import LocalCluster
port, folder = sys.argv[1:]
where = {"host": "127.0.0.1", "scheduler_port": int(port), "dashboard_address": None, "local_directory": folder}
cluster = LocalCluster(n_workers=0, threads_per_worker=1, **where)
cluster.adapt(minimum=0, maximum=2, interval="200ms")
signal.pause()
"""


def growing_at(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """A scheduler that has workers only while there is work."""
    return _process("-c", GROWING, address.rsplit(":", 1)[1], str(folder))


def started(*command: str) -> subprocess.Popen[bytes]:
    return _process("-m", f"distributed.cli.dask_{command[0]}", *command[1:])


def _process(*arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
