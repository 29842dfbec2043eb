"""Keeps one fork server per family of solvers, and asks it for children."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from solvers.model.errors import Unavailable

from .child import Surroundings
from .frames import pack

ROOT = Path(__file__).resolve().parents[2]
"""The folder that contains the package `solvers`: a fork server needs it on its path."""

ENVIRONMENT = {
    # Threads of numpy's BLAS would make forking unsafe.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Each arena reserves unused address space, which the memory cap counts.
    "MALLOC_ARENA_MAX": "2",
}
FAREWELL_SECONDS = 2.0


class Launcher:
    """The fork servers of this process."""

    def __init__(self) -> None:
        self._fork_servers: dict[str | None, tuple[subprocess.Popen[bytes], socket.socket]] = {}
        self._lock = threading.Lock()
        self._lines: set[socket.socket] = set()
        self._inherited: list[object] = []

    def start(self, family: str | None, order: bytes, ends: list[int]) -> None:
        """Orders a child of the family's fork server with these file descriptors."""
        with self._lock:
            for _ in range(2):
                orders = self._orders(family)
                try:
                    socket.send_fds(orders, [order], ends)
                    return
                except OSError:  # the fork server was killed; a new one replaces it
                    self._end(family)
            raise Unavailable(family or "sandbox", "the process that starts solvers ends at once")

    def pair(self) -> tuple[socket.socket, socket.socket]:
        """A connection to a child: our end, which forked copies of this process close, and the child's."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._lines.add(ours)
        return ours, theirs

    def hang_up(self, ours: socket.socket) -> None:
        """Closes a connection."""
        self._lines.discard(ours)
        ours.close()

    def shutdown(self) -> None:
        """Ends all fork servers and all their children. A later request starts new ones."""
        with self._lock:
            for family in list(self._fork_servers):
                self._end(family)

    def forget(self) -> None:
        """Called in a forked copy of this process: closes the fork servers' connections, since they belong to the original and must notice its end."""
        for line in (*self._lines, *(orders for _, orders in self._fork_servers.values())):
            line.close()
        self._inherited += self._fork_servers.values()  # a process object that is dropped would complain
        self._fork_servers, self._lines, self._lock = {}, set(), threading.Lock()

    def _orders(self, family: str | None) -> socket.socket:
        known = self._fork_servers.get(family)
        if known is not None and known[0].poll() is None:
            return known[1]
        if known is not None:
            self._end(family)
        self._fork_servers[family] = _start_fork_server(family)
        return self._fork_servers[family][1]

    def _end(self, family: str | None) -> None:
        process, orders = self._fork_servers.pop(family)
        orders.close()
        try:
            process.wait(FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def environment() -> dict[str, str]:
    """The environment of a process that forks others."""
    search_path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(search_path)}


def start_fork_server(orders: int, _family: str | None) -> subprocess.Popen[bytes]:
    """Starts a fork server that reads its orders from this descriptor."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "solvers.sandbox.fork_server"],
        stdin=orders,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        cwd="/",
        # A terminal's Ctrl-C reaches its whole foreground group; the fork server must survive it, so that the caller can decide.
        start_new_session=True,
    )


def _start_fork_server(family: str | None) -> tuple[subprocess.Popen[bytes], socket.socket]:
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds") or not sys.executable:
        raise Unavailable(
            family or "sandbox", "solvers' processes need a system that can fork, and a Python program to start"
        )
    orders, theirs = socket.socketpair()
    with theirs:
        process = start_fork_server(theirs.fileno(), family)
    boot = json.dumps([Surroundings.of_this_process().path, family]).encode()
    with contextlib.suppress(OSError):  # if it has died already, the first request fails and reports it
        orders.sendall(pack(boot))
    return process, orders


launcher = Launcher()
atexit.register(launcher.shutdown)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=launcher.forget)
