"""Loads a service in an open model: requests leave when they are due, whether or not earlier ones have been answered.

    ./scripts/load [--store sqlite|postgresql] [--seconds 20] [--only fresh|kept|queue] [--rate N] [--url http://127.0.0.1:8080]
    ./scripts/load --soak [MINUTES] [--rate N] [--store sqlite|postgresql]

A latency counts from the moment at which the request was due, so that a service that falls behind cannot hide it. Without --url it starts a service
of its own, with a store in a folder that is removed afterwards; `--store postgresql` starts a server and a `memplan worker` as well. Of those it tells
how much processor time an answer took: in the service's own process, in what reads and solves, and in the database. Other milliseconds are by the
clock; the client takes its part of the same processors.

fresh   200 easy buffers, another problem in every request
kept    one problem over and over, answered from the store
queue   with nothing to do, with solvers at work, and with 10 000 jobs waiting besides: /healthz, adding a job, pages of the list, /metrics;
        and how quickly those jobs were queued

--soak keeps it busy with requests of all kinds instead, for an hour unless another time is said, and tells of each process how much it grew: memory,
descriptors, threads; and what is left of a burst of large bodies. Exit code 1: something grows (`soak.py` says by how much it may).
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import count

from planner.formats import write_problem
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments
from scripts.measure.service.loading import soak as soaking
from scripts.measure.service.loading.client import HEAD, Answers, Client, run_punctually, since, variants
from scripts.measure.service.loading.system import STORES, System, served

RATES = {"fresh": 50.0, "kept": 300.0, "queue": 20.0}
QUEUED = re.compile(r'^memplan_jobs\{state="queued"\} (\S+)', re.MULTILINE)
JOBS = 10_000
BUSY = 64
"""Jobs that keep the solvers busy: more than there are cores."""
ENDLESS = {"solver": "cbc", "time_limit": 3600, "work_limit": 10**12}
"""Options of such jobs: a first plan is there at once, and its proof would take hours."""
BATCH = 1_000
PAGE = 50


async def fresh(client: Client, rate: float, seconds: float) -> None:
    bodies = list(variants(int(rate * seconds) + 20))
    for body in bodies[-20:]:  # the first answers of a service take longer: processes start, modules are loaded
        await client.ask("POST", "/v1/plans", body)
    await client.steady("fresh, 200 buffers", rate, seconds, lambda n: ("POST", "/v1/plans", bodies[n]))


async def kept(client: Client, rate: float, seconds: float) -> None:
    (body,) = variants(1, seed=7)
    for _ in range(20):
        await client.ask("POST", "/v1/plans", body)
    await client.steady("from the store", rate, seconds, lambda _: ("POST", "/v1/plans", body))


async def queue(client: Client, rate: float, seconds: float) -> None:
    lines = waiting_lines()

    async def health(what: str) -> None:
        await client.steady(f"/healthz, {what}", rate, seconds, lambda _: ("GET", "/healthz", b""))

    async def add(what: str) -> None:
        await client.steady(f"a job is added, {what}", rate, seconds, lambda _: ("POST", "/v1/jobs", next(lines)))

    await health("nothing to do")
    hard = json.loads(write_problem(generate("random", Request(400, 5))))
    busy = [json.dumps({**hard, "name": f"busy {n}", "solve": {**ENDLESS, "seed": n}}).encode() for n in range(BUSY)]
    batches = [await client.leave_open("/v1/batches", b"\n".join(busy), "application/x-ndjson")]
    while await queued(client) < BUSY // 2:
        await asyncio.sleep(0.2)
    await asyncio.sleep(2)
    await health("solvers at work")
    await add("solvers at work")
    before, begun, spent = await queued(client), time.perf_counter(), client.system.spent()
    for last in range(BATCH, JOBS + 1, BATCH):
        body = b"\n".join(next(lines) for _ in range(BATCH))
        batches.append(await client.leave_open("/v1/batches", body, "application/x-ndjson"))
        while await queued(client) < before + last:
            await asyncio.sleep(0.2)
    answers = Answers(spent=since(spent, client.system))
    answers.kinds["jobs"] = JOBS
    print(answers.row("queued in batches", None, time.perf_counter() - begun), flush=True)
    now = f"{await queued(client)} jobs queued"
    await health(now)
    await add(now)
    ages = [cursor async for cursor in cursors(client)]

    def page(more: str, number: int) -> tuple[str, str, bytes]:
        return "GET", f"/v1/jobs?limit={PAGE}{more.format(ages[number % len(ages)])}", b""

    for what, path in (
        ("newest", ""),
        ("of all ages", "&before={}"),
        ("running", "&state=running"),
        ("queued, of all ages", "&state=queued&before={}"),
    ):
        await client.steady(f"{PAGE} jobs listed ({what}), {now}", rate, seconds, partial(page, path))
    await client.steady(f"/metrics, {now}", rate, seconds, lambda _: ("GET", "/metrics", b""))
    for batch in batches:
        batch.close()


def waiting_lines() -> Iterator[bytes]:
    """Jobs that wait behind others, endlessly many."""
    easy = json.loads(write_problem(generate("transformer", Request(20, 1))))
    for number in count():
        yield json.dumps({**easy, "name": f"job {number}", "solve": {"seed": number}}).encode()


async def cursors(client: Client) -> AsyncIterator[str]:
    """The cursors of the list's pages, from the newest to the oldest job."""
    cursor, path = None, "/v1/jobs?limit=500"
    while True:
        _, _, payload = await client.ask("GET", path if cursor is None else f"{path}&before={cursor}")
        cursor = json.loads(payload)["next"]
        if cursor is None:
            return
        yield cursor


async def queued(client: Client) -> int:
    """The number of queued jobs."""
    _, _, text = await client.ask("GET", "/metrics")
    found = QUEUED.search(text.decode())
    return 0 if found is None else int(float(found[1]))


PARTS = {"fresh": fresh, "kept": kept, "queue": queue}


def soak(store: str, minutes: float, rate: float | None) -> int:
    """Runs the soak; returns an exit code: 1 if a process grows."""
    with served(store) as system:
        grown = asyncio.run(soaking.soak(Client(system), minutes, rate))
    print("\n".join((soaking.HEAD, *(each.row() for each in grown))))
    return 0 if all(each.is_bounded for each in grown) else 1


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", choices=tuple(PARTS))
    parser.add_argument(
        "--rate", type=float, help="requests a second (fresh 50, kept 300, queue 20, soak as many as are answered)"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--store", choices=STORES, default=STORES[0], help="of a service of the load's own")
    where.add_argument("--url", help="a service that runs already")
    parser.add_argument("--soak", type=float, nargs="?", const=60.0, metavar="MINUTES")
    arguments = parser.parse_args()
    if arguments.soak is not None:
        sys.exit(soak(arguments.store, arguments.soak, arguments.rate))
    print(HEAD)
    for name, part in PARTS.items():
        if arguments.only not in (None, name):
            continue
        rate = arguments.rate or RATES[name]
        if arguments.url:
            run_punctually(part(Client(System(arguments.url)), rate, arguments.seconds))
        else:
            with served(arguments.store) as system:
                run_punctually(part(Client(system), rate, arguments.seconds))


if __name__ == "__main__":
    main()
