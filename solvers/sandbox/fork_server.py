"""The process that forks solvers' processes: started once, with the heavy library imported, and single-threaded, so that forking is cheap and safe.

It owns its children: only it may wait for them, so only it can kill one without hitting another process that got its number.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from types import FrameType

from .child import FOR_JOB, run_job
from .frames import HEADER
from .parent_death import die_with, kill_group

ORPHAN_CHECK_SECONDS = 2.0


@dataclass(slots=True)
class Child:
    """A running child: its process, the connection to its requester, and its folder for temporary files."""

    pid: int
    line: socket.socket
    scratch: str


class ForkServer:
    """Forks a child per request, and kills its whole group when the requester closes the connection or the child ends."""

    def __init__(self, orders: socket.socket, family: str | None) -> None:
        self._orders = orders
        self._family = family
        self._prepared = set[str | None]()
        self._parent = os.getppid()
        self._children: dict[int, Child] = {}
        self._lifeline = os.pipe()
        self._woken, waker = socket.socketpair()
        for end in (self._woken, waker):
            end.setblocking(False)
        self._waker = waker
        signal.signal(signal.SIGCHLD, _nothing)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(orders, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serves requests until the requester is gone."""
        while os.getppid() == self._parent:
            for key, _ in self._selector.select(ORPHAN_CHECK_SECONDS):
                if key.fileobj is self._orders:
                    if not self._take_order():
                        return
                elif key.fileobj is self._woken:
                    self._woken.recv(4096)
                elif isinstance(key.data, Child):
                    kill_group(key.data.pid)  # it is reaped when its death is noticed
                    self._selector.unregister(key.data.line)
            self._reap()

    def close(self) -> None:
        """Kills all children."""
        for child in self._children.values():
            kill_group(child.pid)
        for child in self._children.values():
            os.waitpid(child.pid, 0)
            shutil.rmtree(child.scratch, ignore_errors=True)

    def _take_order(self) -> bool:
        try:
            data, fds, _, _ = socket.recv_fds(self._orders, 1, 3)
        except OSError:
            return False
        if not data or len(fds) < 2:
            return False
        module = self._orders.recv(self._orders.recv(1)[0], socket.MSG_WAITALL).decode()
        self._prepare(None if data == FOR_JOB else module)
        channel, line = socket.socket(fileno=fds[0]), socket.socket(fileno=fds[1])
        self._fork(channel, line, fds[2] if len(fds) > 2 else None)
        channel.close()
        for output in fds[2:]:
            os.close(output)
        return True

    def _prepare(self, module: str | None) -> None:
        """Imports what children for this service, or for jobs (None), need, before the first of them."""
        if module in self._prepared:
            return
        self._prepared.add(module)
        if module is None:
            _import_for_jobs(self._family)
        elif module:
            with contextlib.suppress(Exception):
                import_module(module)
        gc.freeze()  # keeps the collector from touching, and so copying, the pages that children share

    def _fork(self, channel: socket.socket, line: socket.socket, output: int | None) -> None:
        try:
            scratch = tempfile.mkdtemp(prefix="memplan-")
            fork_server, pid = os.getpid(), os.fork()
        except OSError as error:
            _tell(line, f"error {error}")
            line.close()
            return
        if pid == 0:
            self._run_child(fork_server, channel, line, output, scratch)
        _set_group(pid)
        child = Child(pid, line, scratch)
        self._children[pid] = child
        self._selector.register(line, selectors.EVENT_READ, child)
        _tell(line, f"scratch {scratch}\npid {pid}")

    def _run_child(
        self, fork_server: int, channel: socket.socket, line: socket.socket, output: int | None, scratch: str
    ) -> None:
        """Runs in the child and never returns."""
        code = 1
        try:
            _set_group(0)
            die_with(fork_server, self._lifeline[0])
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            os.close(self._lifeline[1])
            for end in (line, self._woken, self._waker, *(child.line for child in self._children.values())):
                end.close()
            run_job(channel, output, scratch)
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        for pid, child in list(self._children.items()):
            code = _exit_code(pid)
            if code is None:
                continue
            del self._children[pid]
            shutil.rmtree(child.scratch, ignore_errors=True)
            _tell(child.line, f"exit {code}")
            if child.line in self._selector.get_map():
                self._selector.unregister(child.line)
            child.line.close()


def main() -> None:
    """Serves the process at the other end of standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = socket.socket(fileno=0)
    path, module = _read_boot(orders)
    sys.path[:] = path
    _call(module, "preload")
    fork_server = ForkServer(orders, module)
    try:
        fork_server.serve()
    finally:
        fork_server.close()
        os._exit(0)


def _read_boot(orders: socket.socket) -> tuple[list[str], str | None]:
    header = orders.recv(HEADER.size, socket.MSG_WAITALL)
    if len(header) < HEADER.size:
        os._exit(0)
    _, length, _ = HEADER.unpack(header)
    path, module = json.loads(orders.recv(length, socket.MSG_WAITALL))
    return path, module


def _import_for_jobs(family: str | None) -> None:
    """Imports what solvers need. Which kernels run is left to the child, whose environment says so.

    `numpy.ma` is what numpy imports when `unique` is first called.
    """
    with contextlib.suppress(Exception):
        from solvers.kernels.selection import Wanted, select

        select(Wanted.AUTO)
        import_module("numpy.ma")
    _call(family, "preload_solvers")


def _call(family: str | None, name: str) -> None:
    """Calls the family's function of that name, if there is one. If an import fails, the solver reports it later."""
    if family is not None:
        with contextlib.suppress(Exception):
            getattr(import_module(family), name, _nothing)()


def _set_group(pid: int) -> None:
    """Gives the process its own group. Both sides of a fork do this, so that the group exists whichever comes first."""
    try:
        os.setpgid(pid, pid)
    except OSError:
        return


def _exit_code(pid: int) -> int | None:
    """The exit code of a child that has ended, after killing its group; None while it lives."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        done, status = os.waitpid(pid, os.WNOHANG)
        if not done:
            return None
        kill_group(pid)
        return os.waitstatus_to_exitcode(status)
    if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        return None
    kill_group(pid)  # before its number is released: processes that it started may live on
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _tell(line: socket.socket, words: str) -> None:
    try:
        line.send(words.encode() + b"\n", socket.MSG_DONTWAIT)
    except OSError:
        return


def _nothing(*_: int | FrameType | None) -> None:
    """A handler for signals that only need to arrive."""


if __name__ == "__main__":
    main()
