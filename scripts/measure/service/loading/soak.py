"""Keeps a service busy with all kinds of requests for long, and watches whether its processes grow: memory, descriptors, threads.

What is asked repeats, so that whatever is remembered of it is remembered before growth is counted from. Growth is the difference between the least that
a process had in an early part of the time and in the last part: work that is just going on does not count, what it leaves behind does. A service that
keeps 2 KiB of each request is told of after two minutes at 140 requests a second. In the end comes a burst of large bodies, after which every process must soon be as small as before.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from planner.formats import write_problem
from planner.generate import Request, generate
from scripts.measure.service.loading.client import Client, variants

MIB = 1 << 20
LINES = 4
"""Connections on which requests are sent, each as soon as it is due and the one before is answered."""
SAMPLE_SECONDS = 0.5
TOLD_SECONDS = 60.0
PARTS = 6
"""Parts of the time: the first two are not counted, since caches are still being filled."""
MOST_MIB, MOST_MIB_A_MINUTE = 10.0, 0.1
MOST_DESCRIPTORS = 8
MOST_THREADS = 4
BURST, BURST_BYTES = 12, 20 * MIB
AFTER_BURST_MIB = 50.0
SETTLED_SECONDS = 20.0
LARGE = 1 * MIB
HEAD = "| process | memory, MiB | at the end | a minute | descriptors | at the end | threads | at the end | after a burst, MiB |\n|---|---|---|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at a moment."""

    resident: int
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Sample:
        """Takes a sample. Raises OSError if the process has ended."""
        here = Path(f"/proc/{pid}")
        status = dict(line.split(":", 1) for line in (here / "status").read_text().splitlines())
        descriptors = len(list((here / "fd").iterdir()))
        return cls(int(status["VmRSS"].split()[0]) << 10, descriptors, int(status["Threads"]))


def least(samples: list[Sample]) -> Sample:
    """The least of each value."""
    return Sample(
        min(sample.resident for sample in samples),
        min(sample.descriptors for sample in samples),
        min(sample.threads for sample in samples),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of one process."""

    name: str
    early: Sample
    late: Sample
    minutes: float
    """Minutes between the two parts compared."""
    after_burst: int
    """Bytes more than before the burst."""

    @property
    def mib(self) -> float:
        return (self.late.resident - self.early.resident) / MIB

    @property
    def is_bounded(self) -> bool:
        return (
            self.mib <= MOST_MIB + MOST_MIB_A_MINUTE * self.minutes
            and self.late.descriptors - self.early.descriptors <= MOST_DESCRIPTORS
            and self.late.threads - self.early.threads <= MOST_THREADS
            and self.after_burst <= AFTER_BURST_MIB * MIB
        )

    def row(self) -> str:
        """A row under HEAD."""
        columns = [
            self.name if self.is_bounded else f"{self.name}: GROWS",
            f"{self.early.resident / MIB:.0f}",
            f"{self.late.resident / MIB:.0f}",
            f"{self.mib / self.minutes:+.1f}",
            *(f"{early} | {late}" for early, late in (
                (self.early.descriptors, self.late.descriptors), (self.early.threads, self.late.threads))),
            f"{self.after_burst / MIB:+.0f}",
        ]  # fmt: skip
        return f"| {' | '.join(columns)} |"


async def soak(client: Client, minutes: float, rate: float | None = None) -> list[Growth]:
    """The growth of every process of the service in that time, with at most this many requests a second."""
    assert client.system.service is not None
    bodies = list(variants(100, seed=3))
    answers = [await client.ask("POST", "/v1/plans", body) for body in bodies]
    kinds = activities(client, bodies, answers[0][2])
    begun = time.monotonic()
    end = begun + 60 * minutes
    count = 0

    async def line() -> None:
        nonlocal count
        while time.monotonic() < end:
            count += 1
            if rate is not None:
                await asyncio.sleep(max(0.0, begun + count / rate - time.monotonic()))
            await kinds[count % len(kinds)](count)

    watched = asyncio.create_task(watch(client.system.processes(), end))
    async with asyncio.TaskGroup() as group:
        for _ in range(LINES):
            group.create_task(line())
    seen = await watched
    print(f"{count} requests in {minutes:g} minutes", flush=True)
    after = await burst(client)
    return [growth(name, seen[pid], minutes, after[pid]) for pid, name in client.system.processes().items()]


def growth(name: str, samples: list[Sample], minutes: float, after_burst: int) -> Growth:
    """The growth between the third part of the time and the last."""
    size = len(samples) // PARTS
    early, late = least(samples[2 * size : 3 * size]), least(samples[-size:])
    return Growth(name, early, late, minutes * (PARTS - 3) / PARTS, after_burst)


async def watch(processes: dict[int, str], end: float) -> dict[int, list[Sample]]:
    """Samples of each process until `end`, shown every minute."""
    seen: dict[int, list[Sample]] = {pid: [] for pid in processes}
    last = time.monotonic()
    while time.monotonic() < end:
        for pid, samples in seen.items():
            samples.append(Sample.of(pid))
        if time.monotonic() >= last + TOLD_SECONDS:
            last += TOLD_SECONDS
            sizes = ", ".join(f"{name} {seen[pid][-1].resident / MIB:.0f}" for pid, name in processes.items())
            print(f"MiB: {sizes}", file=sys.stderr, flush=True)
        await asyncio.sleep(SAMPLE_SECONDS)
    return seen


async def burst(client: Client) -> dict[int, int]:
    """Sends many large bodies at a time; returns the growth of each process after it has settled."""
    pids = list(client.system.processes())
    before = {pid: Sample.of(pid).resident for pid in pids}
    body = b" " * BURST_BYTES
    await asyncio.gather(*(client.ask("POST", "/v1/plans", body) for _ in range(BURST)), return_exceptions=True)
    end = time.monotonic() + SETTLED_SECONDS
    while True:
        more = {pid: Sample.of(pid).resident - before[pid] for pid in pids}
        if max(more.values()) <= AFTER_BURST_MIB * MIB / 2 or time.monotonic() > end:
            return more
        await asyncio.sleep(SAMPLE_SECONDS)


def activities(client: Client, bodies: list[bytes], plan: bytes) -> list[Callable[[int], Awaitable[object]]]:
    """The requests that are made in turn: answered, refused, abandoned and broken off ones."""
    large = json.dumps({**json.loads(bodies[0]), "name": "large"}).encode() + b" " * LARGE
    lines = b"\n".join(json.dumps(json.loads(body)).encode() for body in bodies[:5])
    both = b'{"problem": %s, "plan": %s}' % (bodies[0], plan)
    hard = write_problem(generate("random", Request(100, 5)))
    again = {"Cache-Control": "no-cache"}

    async def job(number: int) -> None:
        _, _, payload = await client.ask("POST", f"/v1/jobs?seed={number % 50}", hard)
        here = f"/v1/jobs/{json.loads(payload)['id']}"
        async with left(client, f"GET {here}/events"):
            await client.ask("DELETE", here)
        await client.ask("GET", "/v1/jobs")

    async def break_off(number: int) -> None:
        head = f"POST /v1/plans HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {LARGE}"
        async with left(client, head, large[: LARGE // (1 + number % 3)], answered=False):
            pass

    async def batch(_: int) -> None:
        head = f"POST /v1/batches HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(lines)}"
        async with left(client, head, lines):
            pass

    return [
        lambda n: client.ask("POST", "/v1/plans", bodies[n % len(bodies)], headers=again),
        lambda n: client.ask("POST", "/v1/plans", bodies[n % len(bodies)]),
        lambda _: client.ask("POST", "/v1/plans", large),
        lambda _: client.ask("POST", "/v1/plans", large[: LARGE // 2]),
        lambda _: client.ask("POST", "/v1/sweep?capacity=1GiB", bodies[0]),
        lambda _: client.ask("POST", "/v1/shapes", bodies[0]),
        lambda _: client.ask("POST", "/v1/pareto", bodies[0]),
        lambda _: client.ask("POST", "/v1/validate", large),
        lambda _: client.ask("POST", "/v1/verify", both),
        lambda _: client.ask("POST", "/v1/draw", both),
        job,
        break_off,
        batch,
        lambda _: client.ask("GET", "/metrics"),
        lambda _: client.ask("GET", "/nowhere"),
    ]


@contextlib.asynccontextmanager
async def left(client: Client, head: str, body: bytes = b"", *, answered: bool = True) -> AsyncIterator[None]:
    """Sends a request and closes the connection after the beginning of its answer, or before."""
    if " HTTP/" not in head:
        head += " HTTP/1.1"
    reader, writer = await client.connect()
    try:
        writer.write(f"{head}\r\nHost: localhost\r\n\r\n".encode() + body)
        await writer.drain()
        if answered:
            await reader.readuntil(b"\r\n\r\n")
        yield
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
