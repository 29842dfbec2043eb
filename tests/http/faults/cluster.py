"""Services and workers on one PostgreSQL, each a process that tests may kill, and the jobs that were given to them."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

import planner
from api.jobs.kinds.plans import plan_within
from api.jobs.kinds.shapes import SO_FAR
from planner import read_plan, read_problem, read_shaped, read_sharing
from planner.formats import read_frontier, read_program
from planner.formats.documents import FRONTIER_FORMAT, NESTED_FORMAT, SHARING_FORMAT, SWEEP_FORMAT
from planner.graph.nested import arenas_of
from tests.http.served import JSON, PLAIN, SECONDS, SLOW, THREE, Running, Served
from tests.running.postgresql import Server

READY = re.compile(r"memplan worker is ready")
STALLED_SECONDS = 2.5
ENDLESS = "?solver=waiting&time_limit=600"
LONG = "?solver=waiting&time_limit=3"
"""A query for a job that ends by its time limit, with a plan."""
LONG_OBJECTS = "?objects=true&time_limit=3&work_limit=1000000000000"
"""Like LONG, with shared storage objects."""


class Stream(threading.Thread):
    """Follows a job's events until the stream ends or breaks."""

    def __init__(self, service: Served, id_: str, after: int = 0) -> None:
        super().__init__(daemon=True)
        self._address = f"{service.address}/v1/jobs/{id_}/events"
        self._after = after
        self.heard: list[tuple[int | None, str, dict[str, Any]]] = []
        self.start()

    def run(self) -> None:
        headers = {"Last-Event-ID": str(self._after)}
        fields: dict[str, str] = {}
        with (
            contextlib.suppress(httpx.TransportError),
            httpx.stream(
                "GET", self._address, headers=headers, timeout=SECONDS, trust_env=False, verify=PLAIN
            ) as response,
        ):
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                if not line and "event" in fields:
                    number = int(fields["id"]) if "id" in fields else None
                    self.heard.append((number, fields["event"], json.loads(fields["data"])))
                    fields = {}
                elif line and name:
                    fields[name] = value

    def until(self, kind: str) -> dict[str, Any]:
        """Wait for the first event of a kind, and return its data."""
        end = time.monotonic() + SECONDS
        while True:
            for _, heard, data in list(self.heard):
                if heard == kind:
                    return data
            assert time.monotonic() < end, self.heard
            time.sleep(0.05)

    @property
    def kinds(self) -> list[str]:
        return [kind for _, kind, _ in self.heard]

    @property
    def numbers(self) -> list[int]:
        return [number for number, _, _ in self.heard if number is not None]


class Cluster:
    """Two services, two workers, one database."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.url = server.new_database()
        self._folder = folder
        self._variables = {
            "MEMPLAN_STORE_URL": self.url,
            "MEMPLAN_STALLED_SECONDS": str(STALLED_SECONDS),
            "MEMPLAN_READY_SECONDS": "0.1",
        }
        self._given: dict[str, bytes] = {}
        """The problem of each job."""
        self._sound: set[str] = set()
        self.workers: list[Running] = []
        self.services: list[Served] = []
        self.restore()

    def restore(self) -> None:
        """Start every killed process again."""
        self.workers = [each for each in self.workers if each.process.poll() is None]
        self.services = [each for each in self.services if each.process.poll() is None]
        lacking = [Running(READY, ["api.cli", "worker"], self._variables) for _ in range(2 - len(self.workers))]
        with ThreadPoolExecutor() as threads:
            new = [threads.submit(Served, self._folder, self._variables) for _ in range(2 - len(self.services))]
        self.workers += lacking
        self.services += [each.result() for each in new]
        for worker in lacking:
            worker.wait()

    def close(self) -> None:
        """End every process."""
        for each in (*self.services, *self.workers):
            each.process.send_signal(signal.SIGTERM)
        for each in (*self.services, *self.workers):
            each.stop()

    def post(
        self, service: Served, problem: bytes | None = None, query: str = "", *, endpoint: str = "jobs", **headers: str
    ) -> str:
        """Post a job and return its id."""
        content = json.dumps(THREE).encode() if problem is None else problem
        headers = {**JSON, "Prefer": "respond-async", **headers}
        response = service.client.post(f"/v1/{endpoint}{query}", content=content, headers=headers)
        assert response.status_code == 202, response.text
        id_: str = response.json()["id"]
        self._given[id_] = content
        return id_

    def post_some(self, seeds: range) -> list[str]:
        """Post quick jobs to all services in turn, and return their ids."""
        return [self.post(self.services[seed % 2], None, f"?seed={seed}") for seed in seeds]

    def worker_of(self, id_: str, attempt: int) -> Running:
        """Return the worker that has taken on this attempt of the job."""
        end = time.monotonic() + SECONDS
        while True:
            for worker in self.workers:
                for line in list(worker.log):
                    if '"taken on"' in line and id_ in line and json.loads(line)["attempt"] == attempt:
                        return worker
            assert time.monotonic() < end, "nobody took it on"
            time.sleep(0.05)

    def job(self, id_: str, service: Served | None = None) -> dict[str, Any]:
        found: dict[str, Any] = (service or self.services[0]).client.get(f"/v1/jobs/{id_}").json()
        return found

    def until(self, id_: str, *states: str, attempt: int = 0) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while True:
            now = self.job(id_)
            if now["state"] in states and now["attempt"] >= attempt:
                return now
            assert time.monotonic() < end, now
            time.sleep(0.1)

    def until_there_is_a_plan(self, id_: str) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while (now := self.job(id_))["links"]["plan"] is None:
            assert time.monotonic() < end, now
            time.sleep(0.1)
        return now

    def require_sound(self) -> None:
        """Assert that no job is lost, none has ended twice, every plan is right, and nothing is left in the queue."""
        for id_, content in self._given.items():
            if id_ in self._sound:
                continue
            self._sound.add(id_)
            now = self.until(id_, "succeeded", "cancelled", "failed")
            assert now["state"] in ("succeeded", "cancelled"), now
            stream = Stream(self.services[0], id_)
            stream.join(SECONDS)
            assert stream.numbers == list(range(1, len(stream.numbers) + 1))
            assert [stream.kinds.count("done"), stream.kinds[-1]] == [1, "done"]
            self._require_right(content, self.services[1].client.get(f"/v1/jobs/{id_}/plan").content, now["best"])
        end = time.monotonic() + SECONDS
        with psycopg.connect(self.url, autocommit=True) as connection:
            while connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchone() != (0,):
                assert time.monotonic() < end
                time.sleep(0.05)
            ends = "SELECT job, count(*) FROM events WHERE kind = 'done' GROUP BY job"
            ended: dict[str, int] = dict(connection.execute(ends).fetchall())
        assert {id_: ended.get(id_) for id_ in self._sound} == dict.fromkeys(self._sound, 1), "of all before, too"

    def _require_right(self, content: bytes, answer: bytes, best: int) -> None:
        """Assert that an answer is valid for its problem, and has the value that the job states if it is one plan."""
        document = json.loads(answer)
        if document["format"] == SO_FAR:
            shapes, _ = read_shaped(content)
            assert not any(planner.verify(shapes.at(row["at"]), plan_within(row["plan"])) for row in document["shapes"])
            return
        problem, _ = read_problem(content)
        if document["format"] == FRONTIER_FORMAT:
            assert not any(planner.verify(problem, plan) for plan in read_frontier(answer).points)
            return
        if document["format"] == SWEEP_FORMAT:
            found = [(p["capacity"], plan_within(p["plan"])) for p in document["points"] if p["plan"] is not None]
            assert not any(planner.verify(planner.with_capacity(problem, sizes), plan) for sizes, plan in found)
            return
        if document["format"] == NESTED_FORMAT:
            plans, file = [plan_within(arena["plan"]) for arena in document["arenas"]], read_program(content)
            arenas = arenas_of(file.program, file.pools, file.options, plans)
            assert len(arenas) == len(plans)
            assert not any(planner.verify(arena.problem, arena.plan) for arena in arenas)
            return
        if document["format"] == SHARING_FORMAT:
            sharing = read_sharing(answer)
            assert (planner.verify_sharing(problem, sharing), sharing.total) == ((), best)
        else:
            plan = read_plan(answer)
            assert (planner.verify(problem, plan), plan.objective.value) == ((), best)


@contextmanager
def cluster(server: Server, folder: Path) -> Iterator[Cluster]:
    made = Cluster(server, folder)
    try:
        yield made
    finally:
        made.close()


__all__ = ["ENDLESS", "LONG", "LONG_OBJECTS", "SLOW", "STALLED_SECONDS", "Cluster", "Stream", "cluster"]
