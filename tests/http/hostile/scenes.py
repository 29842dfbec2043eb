"""Attacks that are more than single bodies; each scene is a service with its own settings and the attacks on it."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.http.hostile.absurd import absurd_attacks
from tests.http.hostile.attacks import Attack, connected, floods, head, large_bodies, many, sent, whole
from tests.http.hostile.clients import SETTING, TOKENS, client, literal_request, posted, request_of
from tests.http.hostile.costly_requests import choices, endpoint_attacks, form_attacks
from tests.http.served import JSON, SECONDS, SLOW, SLOW_QUERY, THREE, Served

MIB = 1 << 20
BOTH = {"workers": "2", "readers": "2"}


ENDLESS = "time_limit=600&work_limit=1000000000000"
LONG = {
    "jobs": (f"/v1/jobs{SLOW_QUERY}", SLOW),
    "frontiers": (f"/v1/pareto?{ENDLESS}", json.dumps(choices(200, 5)).encode()),
    "sweeps": (f"/v1/sweep?capacity=1000..100000&step=1000&solver=waiting&{ENDLESS}", SLOW),
    "proofs": (f"/v1/proof?solver=waiting&{ENDLESS}", SLOW),
}
"""Requests that take hours, each with its path and its body."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A service and the attacks on it."""

    name: str
    attacks: tuple[Attack, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    limit: str | None = None
    """The limit that the service is started with, in the form of tests/running/limited.py."""


def memory_scene(size: int) -> Scene:
    """A scene with many bodies and answers of this size at the same time."""
    long = {**THREE, "name": "n" * size}
    ids = {**THREE, "buffers": [{"id": f"{n}" + "i" * 2000, "size": 1} for n in range(size // 4000)]}
    kinds = {**THREE, "buffers": [{"id": 1, "size": 1, "kind": "k" * size}]}
    return Scene(
        "memory",
        (
            Attack("75 large bodies", lambda service: [s for _ in range(75) for s in whole("/v1/plans", b" " * size)(service)], (400,)),
            Attack("30 large bodies at a time", many(30, whole("/v1/plans", b" " * size)), (400, 503)),
            Attack("60 lines that ask for a large problem and take nothing", deaf_lines(60, size), (200,)),
            Attack("80 large requests that are left while they are worked on", left_alone(20, 5 * size // 2), (200,)),
            Attack("a long name", posted("/v1/jobs", long), (413, 422)),
            Attack("long ids", posted("/v1/jobs", ids), (422,)),
            Attack("a long kind", posted("/v1/jobs", kinds), (422,)),
            Attack("batches that nobody takes", batches(60), (200, 429)),
        ),
        BOTH,
    )  # fmt: skip


def deaf_lines(count: int, size: int) -> Callable[[Served], list[int]]:
    return lambda service: held_answers(service, [f"/v1/jobs/{large_job(service, size)}/problem"] * count)


def large_job(service: Served, size: int) -> str:
    """Have a problem of this size planned, and return its job."""
    with client(service) as one:
        job: str = one.post("/v1/jobs", content=json.dumps(THREE).encode() + b" " * size).json()["id"]
        while one.get(f"/v1/jobs/{job}").json()["state"] not in ("succeeded", "failed"):
            time.sleep(0.05)
    return job


def left_alone(count: int, size: int) -> Callable[[Served], list[int]]:
    """An attack by clients that do not wait for drawings and explanations; then a large body is sent by one that does wait."""

    def send(service: Served) -> list[int]:
        body = json.dumps(THREE).encode() + b" " * size
        ask = f"GET /v1/jobs/{large_job(service, size)}/drawing HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        explain = head("/v1/explain", "application/json", f"Content-Length: {len(body)}") + body
        for request in (ask, ask, ask, explain):
            with contextlib.ExitStack() as lines:
                for _ in range(count):
                    line = lines.enter_context(connected(service))
                    with contextlib.suppress(ConnectionError):  # more than the service has room for
                        line.sendall(request)
                time.sleep(1)
        time.sleep(2)
        with client(service) as one:
            return [one.post("/v1/plans", content=body).status_code]

    return send


def held_answers(service: Served, paths: list[str], name: str = "") -> list[int]:
    """Return the statuses of answers of which nothing more is read, all open at the same time."""
    leave = f"Authorization: Bearer {TOKENS[name]}\r\n" if name else ""
    statuses = []
    with contextlib.ExitStack() as lines:
        opened: list[socket.socket] = []
        for path in paths:
            line = lines.enter_context(connected(service))
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{leave}\r\n".encode())
            opened.append(line)
        statuses = [int(line.recv(12).split()[1]) for line in opened]
        time.sleep(1)
    return statuses


def batches(count: int) -> Callable[[Served], list[int]]:
    """An attack with many batches of a hundred problems, of whose answers only the status is read."""
    lines = b"\n".join(json.dumps({**THREE, "name": f"{n}"}).encode() for n in range(100))
    request = head("/v1/batches", "application/x-ndjson", f"Content-Length: {len(lines)}") + lines

    def one(service: Served) -> int:
        with connected(service) as line:
            line.sendall(request)
            status = int(line.recv(12).split()[1])
            time.sleep(1)
            return status

    def send(service: Served) -> list[int]:
        with ThreadPoolExecutor(count) as threads:
            return list(threads.map(one, [service] * count))

    return send


def lines_scene(count: int, descriptors: int) -> Scene:
    def silent(service: Served) -> list[int]:
        with contextlib.ExitStack() as lines:
            for _ in range(count):
                lines.enter_context(connected(service))
            time.sleep(1)
            return request_of("GET", "/healthz")(service)

    name = f"{count} silent lines, {descriptors} descriptors"
    return Scene("lines", (Attack(name, silent, (200,)),), limit=f"RLIMIT_NOFILE={descriptors}")


def budget_scene() -> Scene:
    flood = Attack(
        "24 bodies of 10 MB where there is little memory", many(24, whole("/v1/plans", b" " * 10_000_000)), (400, 503)
    )
    after = Attack(
        "a small problem afterwards", patient(request_of("POST", "/v1/plans", json.dumps(THREE).encode())), (200,)
    )
    little = {"service_memory": str(160 * MIB), "max_body_bytes": "10000000"}
    return Scene("a service with 160 MiB of its own", (flood, after), little)


def patient(send: Callable[[Served], list[int]]) -> Callable[[Served], list[int]]:
    """Repeat the request as long as the answer says that the service is busy."""

    def again(service: Served) -> list[int]:
        end = time.monotonic() + SECONDS
        while (statuses := send(service)) == [503] and time.monotonic() < end:
            time.sleep(0.5)
        return statuses

    return again


def time_scene(scale: int) -> Scene:
    """A scene with problems in which one list or two are long; with a scale of 1, as long as when they took too long.

    On a busy machine the answer to the largest may be that there was no time for a plan (503) or for reading (413).
    """
    n = scale

    def buffers(count: int, **more: object) -> list[dict[str, Any]]:
        return [{"id": k, "size": 16 + k % 7, "live": [[k, k + 3]], **more} for k in range(count)]

    def pools(count: int, **more: object) -> list[dict[str, Any]]:
        return [{"name": f"p{k}", "size": 1 << 20, **more} for k in range(count)]

    fast = {"read_bandwidth_bytes_per_cycle": 4, "write_bandwidth_bytes_per_cycle": 4, "clock_frequency_hz": 10**6}
    base = {"format": "memplan/1", "lifetimes": "half_open"}
    reserved = [[64 * k, 64 * k + 8] for k in range(100_000 // n)]
    problems: dict[str, dict[str, Any]] = {
        "5 000 in different_pool": {
            "pools": pools(5000 // n), "buffers": buffers(5000 // n), "constraints": {"different_pool": [list(range(5000 // n))]},
        },
        "3 000 pools, 3 000 buffers, access_cost": {
            "pools": pools(3000 // n, **fast), "buffers": buffers(3000 // n, reads=3), "objective": {"terms": ["access_cost"]},
        },
        "10 000 pools, 10 000 buffers": {"pools": pools(10_000 // n), "buffers": buffers(10_000 // n)},
        "100 000 reserved ranges, 3 000 buffers": {"pools": [{"name": "p", "reserved": reserved}], "buffers": buffers(3000 // n)},
        "200 000 constants": {
            "pools": [{"name": "ram"}, {"name": "flash", "read_only": True}], "buffers": buffers(200_000 // n, kind="constant"),
        },
        "2 000 pools, 2 000 buffers": {"pools": pools(2000 // n), "buffers": buffers(2000 // n)},
    }  # fmt: skip
    return Scene(
        "3 seconds for each",
        tuple(
            Attack(name, posted("/v1/plans?time_limit=3", base | problem), (200, 413, 503))
            for name, problem in problems.items()
        ),
        {**BOTH, "sync_seconds": "60"},
    )


def left(service: Served) -> list[int]:
    """Return 200 once the service has dropped all requests that nobody waits for any more."""
    with contextlib.ExitStack() as lines:
        for path, body in LONG.values():
            line = lines.enter_context(connected(service))
            length, leave = f"Content-Length: {len(body)}", f"Authorization: Bearer {TOKENS['a']}"
            line.sendall(head(path.replace("/jobs", "/plans"), JSON["Content-Type"], length, leave) + body)
        time.sleep(1)
    end = time.monotonic() + SECONDS
    with client(service, "a") as a:
        while any(a.get(f"/v1/jobs?state={state}").json()["jobs"] for state in ("queued", "running")):
            if time.monotonic() > end:
                return [504]
            time.sleep(0.1)
    return [200]


def streams(service: Served) -> list[int]:
    """Hold a hundred event streams of one token; return what a stream of another gets after these."""
    for name, count in (("a", 100), ("b", 1)):
        with client(service, name) as one:
            id_ = one.post(f"/v1/jobs{SLOW_QUERY}", content=SLOW).json()["id"]
            statuses = held_answers(service, [f"/v1/jobs/{id_}/events"] * count, name)
            one.delete(f"/v1/jobs/{id_}")
    return statuses


def tokens_scene(jobs: int, buffers: int) -> Scene:
    """A scene in which what one token does must leave room for the other."""
    small = json.dumps(THREE).encode()
    large = {**THREE, "buffers": [{"id": n, "size": 8, "live": [[n, n + 2]]} for n in range(buffers)]}

    def long_jobs(endpoint: str) -> Callable[[Served], AbstractContextManager[None]]:
        """A context in which as many long jobs of a run as there may be."""

        @contextmanager
        def meanwhile(service: Served) -> Iterator[None]:
            path, body = LONG[endpoint]
            with client(service, "a") as a:
                ids = [
                    a.post(f"{path}&seed={n}", content=body, headers={"Prefer": "respond-async"}).json()["id"]
                    for n in range(jobs)
                ]
                end = time.monotonic() + SECONDS
                while len(a.get("/v1/jobs?state=running").json()["jobs"]) < int(BOTH["workers"]):
                    assert time.monotonic() < end
                    time.sleep(0.05)
                yield
                for id_ in reversed(ids):
                    a.delete(f"/v1/jobs/{id_}")

        return meanwhile

    def of_others(service: Served) -> list[int]:
        """Ask for everything about a job with another token, and with ids that do not exist."""
        with client(service, "a") as a, client(service, "b") as b:
            id_ = a.post("/v1/jobs", content=small).json()["id"]
            paths = [f"/v1/jobs/{id_}{part}" for part in ("", "/plan", "/proof", "/problem", "/drawing", "/events")]
            found = [b.get(path).status_code for path in paths] + [b.delete(paths[0]).status_code]
            for forged in (
                id_[:-1],
                id_.upper() + "0",
                "0",
                "..",
                "%00",
                "%2e%2e%2f",
                "*",
                "'%20OR%201=1--",
                "i" * 5000,
            ):
                found += [a.get(f"/v1/{kind}/{forged}").status_code for kind in ("jobs", "batches")]
        return found

    @contextmanager
    def large_bodies(service: Served) -> Iterator[None]:
        with ThreadPoolExecutor(6) as threads:
            for _ in range(6):
                threads.submit(posted("/v1/validate", large, "a"), service)
            time.sleep(0.5)
            yield

    return Scene(
        "two tokens",
        (
            *(
                Attack(f"b's small plan beside a's {jobs} long {endpoint}", request_of("POST", f"/v1/plans?seed={n}", small, "b"), (200,), long_jobs(endpoint))
                for n, endpoint in enumerate(LONG)
            ),
            Attack("a leaves long requests on all endpoints", left, (200,)),
            Attack("jobs of others, and ids that are none", of_others, (404,)),
            Attack("b's small body beside a's six large ones", request_of("POST", "/v1/validate", small, "b"), (200,), large_bodies),
            Attack("b's event stream after a's hundred", streams, (200,)),
            Attack("figures of all", request_of("GET", "/metrics", None, "a"), (403,)),
        ),
        {**BOTH, "tokens": SETTING},
    )  # fmt: skip


def small_print_scene() -> Scene:
    host = "Host: localhost\r\nConnection: close\r\n"
    attacks = {
        "HEAD": (request_of("HEAD", "/healthz"), (200,)),
        "a target that names its host": (literal_request(f"GET http{'://'}localhost/healthz HTTP/1.1\r\n{host}\r\n"), (200,)),
        "a length and chunks": (literal_request(f"POST /v1/plans HTTP/1.1\r\n{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), (400,)),
        "a host [::1].evil": (literal_request("GET /v1/jobs HTTP/1.1\r\nHost: [::1].evil\r\nConnection: close\r\n\r\n"), (403,)),
        "a compressed body": (compressed("Content-Encoding: gzip"), (415,)),
        "a compressed body that does not say so": (compressed(), (400,)),
        "what is described, 2 000 times on 100 lines": (described, ()),
        "a worker that is killed": (killed_worker, (200,)),
    }  # fmt: skip
    return Scene("small print, and a killed worker", tuple(Attack(name, *each) for name, each in attacks.items()))


def compressed(*says: str) -> Callable[[Served], list[int]]:
    """An attack with 20 MB of blanks compressed to 100 kB."""

    def send(service: Served) -> list[int]:
        body = gzip.compress(b" " * 20_000_000, 1)
        length = f"Content-Length: {len(body)}"
        return sent(service, iter((head("/v1/plans", "application/json", length, *says), body)))

    return send


def described(service: Served) -> list[int]:
    """Request the OpenAPI document over and over on connections that read nothing of it."""
    with contextlib.ExitStack() as lines:
        for _ in range(100):
            line = lines.enter_context(connected(service))
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        time.sleep(1)
    return []


def killed_worker(service: Served) -> list[int]:
    """Kill the worker that runs a job, which the next worker must finish."""
    with client(service) as one:
        id_ = one.post("/v1/jobs?solver=waiting&time_limit=3", content=SLOW).json()["id"]
        time.sleep(0.7)
        for pid in service.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while one.get(f"/v1/jobs/{id_}").json()["state"] in ("queued", "running"):
            time.sleep(0.05)
        return [one.get(f"/v1/jobs/{id_}/plan").status_code]


def scenes(most: int, scale: int = 1) -> Iterator[Scene]:
    """All scenes, as ./scripts/hostile runs them; with a scale, most problems are that many times smaller."""
    patience = str(2 * SECONDS)  # else time may be over on a busy machine before the fault is found
    bodies = {"max_body_bytes": str(most), "default_time_limit": patience, "max_explain_seconds": patience}
    yield Scene(f"bodies of {most // MIB} MiB", (*large_bodies(most), *floods(most)), bodies)
    yield memory_scene(20_000_000 // scale)
    yield lines_scene(1300, 1024)
    yield budget_scene()
    yield time_scene(scale)
    yield tokens_scene(60, 300_000 // scale)
    yield small_print_scene()
    yield absurd_scene(1.0)
    yield endpoints_scene(endpoint_attacks())


def endpoints_scene(attacks: Iterable[Attack]) -> Scene:
    return Scene("endpoints that make much of little", tuple(attacks), BOTH)


def absurd_scene(share: float) -> Scene:
    return Scene("absurd values", tuple(absurd_attacks(share)), {"default_time_limit": "1", "max_time_limit": "1"})


def quick_scenes() -> Iterator[Scene]:
    """Small versions of the scenes that no other test tries."""
    yield tokens_scene(6, 1000)
    yield small_print_scene()
    yield absurd_scene(0.01)
    yield endpoints_scene(form_attacks())
