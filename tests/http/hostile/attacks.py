"""Attacks on a service, and their cost: how long others wait meanwhile, and how much memory the service takes."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.http.served import PLAIN, SECONDS, THREE, Served
from tests.running.processes import memory

HUNG_UP = 0
"""Stands for a status if the service closed the connection and its answer, if any, is lost."""
CHUNK = 1 << 16
HOST = "Host: localhost\r\n"
JSON = "application/json"
CSV = "text/csv"
LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Attack:
    """Something hostile to send to a service; `send` returns the statuses of the answers."""

    name: str
    send: Callable[[Served], list[int]]
    right: tuple[int, ...]
    """The statuses that are right."""
    meanwhile: Callable[[Served], AbstractContextManager[object]] = contextlib.nullcontext
    """A context that is open while the attack is sent; its own time does not count."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an attack to the service."""

    statuses: tuple[int, ...]
    seconds: float
    stall_seconds: float
    """The longest time that /healthz took during the attack."""
    service_bytes: int
    """How many bytes more than before the service's own process took at most."""
    workers_bytes: int
    """How many bytes more than before any worker process took at most."""
    log_bytes: int
    """How much the service logged."""


def connected(service: Served) -> socket.socket:
    where = urlsplit(service.address)
    assert where.hostname
    assert where.port
    return socket.create_connection((where.hostname, where.port), timeout=SECONDS)


def status_of(line: socket.socket) -> int:
    """Read an answer to its end, and return its status."""
    try:
        with line.makefile("rb") as answer:
            words = answer.readline().split()
            while answer.read(CHUNK):
                pass
    except ConnectionError:
        return HUNG_UP
    return int(words[1]) if len(words) > 1 else HUNG_UP


def sent(service: Served, pieces: Iterator[bytes]) -> list[int]:
    """Send the pieces on a new connection until the service closes it, and return the answer's status."""
    with connected(service) as line:
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                line.sendall(piece)
        return [status_of(line)]


def head(path: str, kind: str, *more: str) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", "Connection: close", *more, "", "")
    return "\r\n".join(lines).encode()


def whole(path: str, body: bytes, kind: str = JSON) -> Callable[[Served], list[int]]:
    """A request whose header states the length of the body."""
    return lambda service: sent(service, iter((head(path, kind, f"Content-Length: {len(body)}"), body)))


def chunked(path: str, chunk: bytes, count: int) -> Callable[[Served], list[int]]:
    """A request whose body comes in chunks."""
    some = min(count, max(1, CHUNK // len(chunk)))
    written = b"%x\r\n%s\r\n" % (len(chunk), chunk) * some

    def pieces() -> Iterator[bytes]:
        yield head(path, JSON, "Transfer-Encoding: chunked")
        for _ in range(count // some):
            yield written
        yield b"0\r\n\r\n"

    return lambda service: sent(service, pieces())


def many(count: int, attack: Callable[[Served], list[int]]) -> Callable[[Served], list[int]]:
    """The same attack many times at once."""

    def send(service: Served) -> list[int]:
        with ThreadPoolExecutor(count) as threads:
            return [status for statuses in threads.map(attack, [service] * count) for status in statuses]

    return send


def held(count: int, beginning: bytes, seconds: float) -> Callable[[Served], list[int]]:
    """Connections on which a request is begun and never finished."""

    def send(service: Served) -> list[int]:
        with ExitStack() as lines:
            for _ in range(count):
                lines.enter_context(connected(service)).sendall(beginning)
            time.sleep(seconds)
        return []

    return send


def filled(beginning: bytes, unit: bytes, end: bytes, most: int) -> bytes:
    """Return the unit repeated between beginning and end, as often as fits into `most` bytes."""
    return beginning + unit * ((most - len(beginning) - len(end)) // len(unit)) + end


def large_bodies(most: int) -> Iterator[Attack]:
    """Attacks with bodies as large as the service takes."""
    opening = b'{"format": "memplan/1", "buffers": ['
    plans = {
        "blanks": (b" " * most, 400),
        "depth": (b"[" * most, 400),
        "depth of objects": (filled(b"", b'{"a":', b"", most), 400),
        "one number": (b"9" * most, 400),
        "one text": (filled(b'"', b"a", b'"', most), 422),
        "halves of surrogate pairs": (filled(opening + b'{"size": 1, "id": "', b"\\ud800", b'"}]}', most), 400),
        "a name of NULs": (filled(opening + b'{"size": 1, "id": "', b"\\u0000", b'"}]}', most), 422),
        "NaN": (filled(opening, b"NaN,", b"0]}", most), 400),
        "infinity": (filled(opening, b"1e999,", b"0]}", most), 400),
        "bad items": (filled(opening, b"1.5,", b"0]}", most), 422),
        "buffers that lack all": (filled(opening, b"{},", b"{}]}", most), 422),
        "the same key": (filled(b"{", b'"a":0,', b'"a":0}', most), 400),
        "unknown fields": (b"{%s}" % b",".join(b'"%d":0' % n for n in range(most // 11)), 422),
        "empty lists": (filled(opening, b"[],", b"0]}", most), 422),
    }
    for name, (body, status) in plans.items():
        yield Attack(name, whole("/v1/plans", body), (status,))
    yield Attack("lines of a table", whole("/v1/plans", b"\n" * most, CSV), (422,))
    yield Attack("columns of a table", whole("/v1/plans", b"," * most, CSV), (422,))
    yield Attack("blank problems of a batch", whole("/v1/batches", b"\n" * 20_000, LINES), (413,))
    yield Attack("short problems of a batch", whole("/v1/batches", b"0\n" * (most // 2), LINES), (200,))
    yield Attack("deep problems of a batch", whole("/v1/batches", (b"[" * (most // 251) + b"\n") * 250, LINES), (200,))
    for path in ("pareto", "sweep?capacity=64", "shapes"):
        yield Attack(f"depth, to {path.partition('?')[0]}", whole(f"/v1/{path}", b"[" * most), (400,))
    alternatives = b'{"format": "memplan/1", "buffers": [], "variants": {"groups": [{"name": "g", "alternatives": ['
    yield Attack("alternatives", whole("/v1/pareto", filled(alternatives, b"{},", b"{}]}]}}", most)), (422,))
    symbols = b'{"format": "memplan/1", "symbols": {"n": [1, 9]}, "buffers": ['
    yield Attack("sizes in letters", whole("/v1/shapes", filled(symbols, b'{"size":"n*n"},', b"{}]}", most)), (422,))
    long = filled(symbols + b'{"id": 1, "size": "n', b"*n", b'"}]}', most)
    yield Attack("a long expression", whole("/v1/shapes", long), (422,))
    both = b'{"problem": %s, "plan": ' % json.dumps(THREE).encode()
    yield Attack("a deep plan", whole("/v1/verify", filled(both, b"[", b"", most)), (400,))
    yield Attack("placements", whole("/v1/verify", filled(both + b'{"placements": [', b"0,", b"0]}}", most)), (422,))


def floods(most: int) -> Iterator[Attack]:
    """Attacks with more bytes, pieces or connections than the service takes."""
    hundred = 100_000_000
    yield Attack("100 MB", whole("/v1/plans", b" " * hundred), (413, HUNG_UP))
    yield Attack("100 MB in chunks", chunked("/v1/plans", b" " * CHUNK, hundred // CHUNK), (413, HUNG_UP))
    yield Attack("chunks of one byte", chunked("/v1/plans", b" ", 200_000), (400,))
    yield Attack("eight large bodies at a time", many(8, whole("/v1/plans", b" " * most)), (400, 503, HUNG_UP))
    begun = b"GET /healthz HTTP/1.1\r\n" + HOST.encode() + b"X-Slow: "
    yield Attack("300 slow heads", held(300, begun, 1.0), ())
    slow = head("/v1/plans", JSON, f"Content-Length: {most}")
    yield Attack("100 slow bodies", held(100, slow + b" " * CHUNK, 1.0), ())
    yield Attack("a head of 1 MB", lambda service: sent(service, iter((begun, b"a" * 1_000_000))), (431, HUNG_UP))


class Watch:
    """Asks for /healthz over and over, and keeps the longest time that an answer took."""

    def __init__(self, service: Served, pause: float) -> None:
        self._address = service.address
        self._pause = pause
        self._done = threading.Event()
        self.longest = 0.0
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with httpx.Client(base_url=self._address, timeout=SECONDS, trust_env=False, verify=PLAIN) as client:
            while not self._done.is_set():
                begun = time.perf_counter()
                assert client.get("/healthz").status_code == 200
                self.longest = max(self.longest, time.perf_counter() - begun)
                self._done.wait(self._pause)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def cost(service: Served, attack: Attack, pause: float = 0.005) -> Cost:
    """Return the cost of an attack; `pause` is the seconds between two requests for /healthz."""
    workers = service.children()
    before = {}
    for pid in (service.process.pid, *workers):
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is counted from here on
        before[pid] = memory(pid, "VmRSS")
    before_log = len("".join(service.log))
    with attack.meanwhile(service), Watch(service, pause) as watch:
        begun = time.perf_counter()
        statuses = attack.send(service)
        seconds = time.perf_counter() - begun
    more: dict[int, int] = {}
    for pid, had in before.items():
        with contextlib.suppress(LookupError, OSError):  # the process has ended
            more[pid] = memory(pid, "VmHWM") - had
    own = more.pop(service.process.pid)
    log = len("".join(service.log)) - before_log
    return Cost(tuple(statuses), seconds, watch.longest, own, max(more.values(), default=0), log)
