"""Measures how long one client's small plan takes alone and during another client's batch, and how long the batch takes.

    python -m scripts.measure.service.batches [--lines N] [--rate N] [--seconds N]

A service with two solver processes and two tokens. One client asks for different small plans, `rate` a second, each when it is due: first alone for
this many seconds, then during the other's batch, whose lines are small problems as well. Both halves are in one run, so that their ratio is
meaningful on a busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from planner import write_problem
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments
from tests.http.served import Served, serving

HEAD = "| small plans | answered | p50 ms | p90 ms | p99 ms |\n|---|---|---|---|---|"
SMALL = json.loads(write_problem(generate("transformer", Request(20, 1))))


def small(number: int) -> bytes:
    return json.dumps({**SMALL, "solve": {"seed": number}}).encode()


def token(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", "Content-Type": "application/json"}


async def plans(client: httpx.AsyncClient, rate: float, go_on: Callable[[], bool], first: int) -> list[float]:
    """Milliseconds of each plan, from when it was due."""
    found: list[float] = []

    async def one(number: int, due: float) -> None:
        answer = await client.post("/v1/plans", content=small(first + number), headers=token("small"))
        assert answer.status_code == 200, answer.text
        found.append(1e3 * (time.perf_counter() - due))

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        number = 0
        while go_on():
            due = begun + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(number, due))
            number += 1
    return sorted(found)


async def batch(service: Served, lines: int) -> tuple[float, int]:
    """Seconds until all lines are answered, and the number of plans."""
    where, begun, plans_there = urlsplit(service.address), time.perf_counter(), 0

    async def body() -> AsyncIterator[bytes]:
        for number in range(lines):
            yield small(1_000_000 + number) + b"\n"

    reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1 << 24)
    head = "POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer batch\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head.encode())

    async def send() -> None:
        async for line in body():
            writer.write(b"%x\r\n%s\r\n" % (len(line), line))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    sending = asyncio.create_task(send())
    await reader.readuntil(b"\r\n\r\n")
    while size := int(await reader.readline(), 16):
        plans_there += (await reader.readexactly(size + 2)).count(b'"line": ')
    await sending
    writer.close()
    return time.perf_counter() - begun, plans_there


def row(what: str, found: list[float]) -> list[float]:
    late = [found[min(len(found) - 1, int(share * len(found)))] for share in (0.5, 0.9, 0.99)]
    print(f"| {what} | {len(found)} | {' | '.join(f'{each:.1f}' for each in late)} |")
    return late


def resident(pid: int) -> int:
    """Peak memory of the process so far, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


async def measured(service: Served, wanted: argparse.Namespace) -> None:
    async with httpx.AsyncClient(base_url=service.address, timeout=120, trust_env=False) as client:
        await plans(client, wanted.rate, iter([True] * 40 + [False]).__next__, 0)
        end = time.perf_counter() + wanted.seconds
        print(HEAD)
        alone = row("alone", await plans(client, wanted.rate, lambda: time.perf_counter() < end, 1000))
        before = resident(service.process.pid)
        other = asyncio.create_task(batch(service, wanted.lines))
        beside = row("beside the batch", await plans(client, wanted.rate, lambda: not other.done(), 100_000))
        seconds, answered = await other
    print(f"| ratio | | {' | '.join(f'{b / a:.2f}' for a, b in zip(alone, beside, strict=True))} |")
    memory = f"the service's own process had {before} MiB at most before, and {resident(service.process.pid)} at most with it"
    print(f"\n{answered} lines of the batch answered in {seconds:.1f} s, {answered / seconds:.0f} a second; {memory}")


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=5.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    wanted = parser.parse_args()
    tokens = ",".join(f"{name}={hashlib.sha256(name.encode()).hexdigest()}" for name in ("small", "batch"))
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), tokens=tokens, workers="2", readers="2", log_level="warning") as service,
    ):
        asyncio.run(measured(service, wanted))


if __name__ == "__main__":
    main()
