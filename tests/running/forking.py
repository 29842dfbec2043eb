"""The forking process of tests/running/forked.py: loads the libraries, then forks `memplan` processes on request.

python -m tests.running.forking PATH listens on the socket PATH until its standard input ends, and then removes the folder of PATH.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import io
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn, Protocol

from tests.running.forked import (
    FAMILY,
    FOLDER,
    MESSAGE,
    NAME,
    ROOT,
    Kind,
    Parent,
    fork_server,
    forking_companions,
    forking_workers,
)

LARGE_PAGE = 2 << 20
COLLAPSE = 25
"""Linux's MADV_COLLAPSE; other kernels refuse it."""


class Closing(Protocol):
    def close(self) -> None: ...


def main() -> None:
    path, me = sys.argv[1], os.getpid()
    if not Path(path).parent.name.startswith(FOLDER):
        sys.exit(f"{path} is not in a folder that was made for it: {FOLDER}*")

    from tests.running.loaded import load

    load()

    def ready() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    # A forked process may also come here, on its way out with an exception; it must not remove the folder.
    try:
        _serve(path, ready)
    finally:
        if os.getpid() == me:
            shutil.rmtree(Path(path).parent)


def _serve(path: str, ready: Callable[[], None]) -> None:
    assert threading.active_count() == 1, "what has threads cannot be forked"
    gc.collect()
    gc.freeze()
    use_large_pages()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door, selectors.DefaultSelector() as events:
        door.bind(path)
        door.listen()
        events.register(door, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        ready()
        while True:
            for key, _ in events.select():
                if key.fileobj == 0:
                    return
                if key.fileobj is door:
                    line, _ = door.accept()
                    pid = _fork(path, line, door, events)
                    if pid is not None:
                        events.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, line))
                else:
                    pid, line = key.data
                    events.unregister(key.fileobj)
                    os.close(key.fd)
                    _, status = os.waitpid(pid, 0)
                    with line:
                        _tell(line, b"%d" % os.waitstatus_to_exitcode(status))


def use_large_pages() -> None:
    """Have the kernel keep this process's memory in pages of 2 MiB where it can, which a fork need not list one by one.

    A forked command takes a quarter less processor time. A process that writes to such a page copies 4 KiB of it, as
    before.
    """
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines():
        span, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and name in ([], ["[heap]"]):
            start, end = (int(place, 16) for place in span.split("-"))
            first = -(-start // LARGE_PAGE) * LARGE_PAGE
            for page in range(first, end - LARGE_PAGE + 1, LARGE_PAGE):
                advise(page, LARGE_PAGE, COLLAPSE)


def _tell(line: socket.socket, text: bytes) -> None:
    """Send the text, unless the process that asked has been killed since."""
    with contextlib.suppress(OSError):
        line.send(text)


def _fork(path: str, line: socket.socket, door: socket.socket, events: selectors.BaseSelector) -> int | None:
    """Fork for an order and return the process; None if only a family's path was asked for, or the asker was killed."""
    message, files = b"", list[int]()
    with contextlib.suppress(OSError):
        message, files, _, _ = socket.recv_fds(line, MESSAGE, 4)
    if not message:
        line.close()
        return None
    order = json.loads(message)
    others = [key.data[1] for key in events.get_map().values() if key.data]
    if "path of" in order:
        with line:
            _tell(line, _family(path, order["path of"], (*others, line, door, events)).encode())
        return None
    pid = os.fork()
    if pid == 0:
        for each in (*others, line, door, events):
            each.close()
        _become(order, files)
    for file in files:
        os.close(file)
    _tell(line, b"%d" % pid)
    return pid


def _family(path: str, family: str, others: Iterable[Closing]) -> str:
    """Return the socket's path of the process that has the family's library; start the process if there is none."""
    own = f"{path}-{family}"
    if not Path(own).exists():
        reading, writing = os.pipe()
        if os.fork() == 0:
            for each in others:
                each.close()
            Path("/proc/self/comm").write_text(FAMILY)
            with contextlib.suppress(Exception):
                getattr(importlib.import_module(family), "preload", list)()
            _serve(own, lambda: os.close(writing))
            os._exit(0)
        os.close(writing)
        os.read(reading, 1)  # the family's socket is open now
        os.close(reading)
    return own


def _become(order: dict[str, object], files: list[int]) -> NoReturn:
    """Become the ordered process, as if it had been started directly."""
    parent = Parent(str(order["parent"]), os.getppid())
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(len(files), 1024)
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    os.chdir(str(order["cwd"]))
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[0] = str(order["cwd"])
    sys.argv = ["memplan", *order["arguments"]]  # type: ignore[misc]
    sys.stdin = _text(0, "r", "strict")
    sys.stdout = _text(1, "w", "strict", line_buffering=os.isatty(1))
    sys.stderr = _text(2, "w", "backslashreplace", line_buffering=True)
    Path("/proc/self/comm").write_text(NAME.format(order["starter"]))
    if order["kind"] == Kind.FORK_SERVER:
        os.setsid()
        from solvers.sandbox.fork_server import main as fork_solvers

        fork_solvers()
    from solvers.sandbox import launcher

    launcher.start_fork_server = functools.partial(fork_server, parent)  # type: ignore[assignment]
    if order["kind"] == Kind.COMPANION:
        _accompany()
    if order["kind"] == Kind.DASK:
        os.setsid()
        with forking_workers(parent), forking_companions(parent):
            importlib.import_module(str(order["family"])).main(sys.argv[1:])
        sys.exit()
    if order["kind"] == Kind.WORKER:
        os.setpgid(0, 0)
        from api.jobs.processes.worker import main as work

        work()
    from api.cli import main as memplan

    starting = {"serve": forking_workers, "worker": forking_workers, "plan-many": forking_companions}
    with starting.get("".join(sys.argv[1:2]), contextlib.nullcontext)(parent):
        memplan()
    sys.exit()


def _accompany() -> NoReturn:
    """Serve as a companion, like a process of solvers.sandbox.companion.start_process."""
    from solvers.sandbox.companion import serve

    os.setsid()
    module, function = sys.argv[1].split(":")
    sys.path[0] = str(ROOT)
    sys.argv[1:] = [str(os.getppid())]
    serve(getattr(importlib.import_module(module), function))
    sys.exit()


def _text(file: int, mode: str, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    stream = open(file, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(stream, errors=errors, line_buffering=line_buffering)


if __name__ == "__main__":
    main()
