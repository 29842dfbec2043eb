"""The client that loads a service: requests are sent when they are due, and answers are timed from then."""

from __future__ import annotations

import asyncio
import json
import random
import selectors
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from planner.formats import write_problem
from planner.generate import Request, generate
from scripts.measure.service.loading.system import System

LATE_SECONDS = 30.0
"""An answer that takes longer counts as none."""
HEAD = (
    "| what | due a second | answered a second | p50 ms | p90 ms | p99 ms | service, processor ms each | workers | database | answers |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(slots=True)
class Answers:
    """The results of the requests."""

    seconds: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    spent: tuple[float, ...] = ()
    """Processor seconds of each part of the system; empty if it runs elsewhere."""

    def row(self, what: str, rate: float | None, took: float) -> str:
        """A row under HEAD."""
        found, count = sorted(self.seconds), sum(self.kinds.values())
        late = [
            f"{1e3 * found[min(len(found) - 1, int(share * len(found)))]:.1f}" for share in (0.5, 0.9, 0.99) if found
        ]
        work = [f"{1e3 * seconds / max(1, count):.2f}" for seconds in self.spent]
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        columns = [
            what,
            "" if rate is None else f"{rate:g}",
            f"{(len(found) if found else count) / took:.1f}",
            *(late or [""] * 3),
            *(work + [""] * (3 - len(work))),
            kinds,
        ]
        return f"| {' | '.join(columns)} |"


class Client:
    """Keeps connections open, and sends one request over one of them at a time."""

    def __init__(self, system: System) -> None:
        self.system = system
        parts = urlsplit(system.url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Opens a connection."""
        return await asyncio.open_connection(self._host, self._port)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Sends a request; returns status, headers in lower case, and the body of the answer."""
        self._idle = [
            line for line in self._idle if not line[0].at_eof()
        ]  # the service closes connections that are idle for long
        reader, writer = self._idle.pop() if self._idle else await self.connect()
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        writer.write(head.encode() + body)
        received = await reader.readuntil(b"\r\n\r\n")
        first, *lines = received.decode("latin-1").split("\r\n")
        got = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        payload = await reader.readexactly(int(got.get("content-length", 0)))
        if got.get("connection") == "close":
            writer.close()
        else:
            self._idle.append((reader, writer))
        return int(first.split()[1]), got, payload

    async def leave_open(self, path: str, body: bytes, kind: str) -> asyncio.StreamWriter:
        """Sends a request whose answer takes long, and waits only for its beginning."""
        reader, writer = await self.connect()
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        status = await reader.readuntil(b"\r\n")
        if b" 200 " not in status:
            sys.exit(f"{path} was answered {status.decode('latin-1').strip()}")
        return writer

    async def steady(
        self, what: str, rate: float, seconds: float, make: Callable[[int], tuple[str, str, bytes]]
    ) -> None:
        """Sends requests at this rate, each when it is due, and shows the results."""
        answers = Answers()
        before = self.system.spent()
        begun = time.perf_counter()

        async def one(number: int) -> None:
            due = begun + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                async with asyncio.timeout(LATE_SECONDS):
                    status, headers, _ = await self.ask(*make(number))
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                answers.kinds[type(error).__name__] += 1
                return
            answers.seconds.append(time.perf_counter() - due)
            answers.kinds[f"{status}{' hit' if headers.get('x-cache') == 'hit' else ''}"] += 1

        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                group.create_task(one(number))
        answers.spent = since(before, self.system)
        print(answers.row(what, rate, seconds), flush=True)


def variants(count: int, seed: int = 1) -> Iterator[bytes]:
    """Different problems of 200 easy buffers: the same one with some sizes changed."""
    chance = random.Random(seed)
    document = json.loads(write_problem(generate("transformer", Request(200, seed))))
    for _ in range(count):
        buffers = [{**buffer, "size": buffer["size"] + 64 * chance.randrange(4)} for buffer in document["buffers"]]
        yield json.dumps({**document, "buffers": buffers}).encode()


def run_punctually(work: Coroutine[Any, Any, None]) -> None:
    """Runs the work on an event loop with precise timers: the usual one counts in whole milliseconds, which would appear as the service's time."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        runner.run(work)


def since(before: tuple[float, ...], system: System) -> tuple[float, ...]:
    """The processor seconds of each part of the system since then."""
    return tuple(now - then for now, then in zip(system.spent(), before, strict=True))
