"""A request's memory is free once it is answered, without garbage collection, and goes back to the system."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import resource
import socket
import time
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import Response
from starlette.types import Message

from api.errors import Refusal
from api.process.memory_budget import Budget
from api.routes.http import sending
from api.routes.http.body import Bodies, Body
from api.routes.http.guard import Guard
from api.routes.http.sending import Sender, Stream
from tests.http.hostile.attacks import connected, many, whole
from tests.http.served import JSON, PLAIN, SECONDS, SLOW, SLOW_QUERY, THREE, Served, refusal, running_inside, serving
from tests.running.processes import memory, until

MIB = 1 << 20
MOST_BYTES = 10 * MIB
"""The most bytes of a body."""


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Bodies]]:
    """A service in this process, so that tests can look at its objects."""
    with running_inside(tmp_path_factory.mktemp("data"), max_body_bytes=MOST_BYTES) as (client, app):
        guard = app._guarded
        assert isinstance(guard, Guard)
        yield client, guard.bodies


def body(number: int) -> bytes:
    """A body; with an odd number it is so large that a reader reads it, not a solver at once."""
    return json.dumps({**THREE, "notes": "x" * (300_000 if number % 2 else 10), "name": f"problem {number}"}).encode()


LINES = {"Content-Type": "application/x-ndjson"}
REQUESTS: dict[str, Callable[[httpx.Client, int], httpx.Response]] = {
    "plan": lambda client, n: client.post("/v1/plans", content=body(n), headers=JSON),
    "refused": lambda client, n: client.post("/v1/plans", content=body(n)[:-1], headers=JSON),
    "job": lambda client, n: client.post("/v1/jobs", content=body(n), headers=JSON),
    "once": lambda client, n: client.post("/v1/plans", content=body(n), headers=JSON | {"Idempotency-Key": f"key {n}"}),
    "not waited for": lambda client, n: client.post(
        "/v1/plans?goal=fit", content=body(n), headers=JSON | {"Prefer": "wait=0", "Cache-Control": "no-cache"}
    ),
    "validate": lambda client, n: client.post("/v1/validate", content=body(n), headers=JSON),
    "verify": lambda client, n: client.post("/v1/verify", content=b'{"problem": %s}' % body(n), headers=JSON),
    "explain": lambda client, n: client.post("/v1/explain", content=body(n), headers=JSON),
    "batch": lambda client, n: client.post("/v1/batches", content=b"%s\n{}\n[\n" % body(n), headers=LINES),
    "too long": lambda client, _: client.post("/v1/plans", content=iter([b" " * (MOST_BYTES + MIB)]), headers=JSON),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_body_s_memory_is_free_once_answered(inside: tuple[httpx.Client, Bodies], kind: str) -> None:
    client, bodies = inside
    gc.disable()
    try:
        for number in range(4):
            try:
                assert REQUESTS[kind](client, number).status_code < 500
            except httpx.TransportError:
                assert kind == "too long"
        until(lambda: bodies.held == 0)
    finally:
        gc.enable()


def test_a_fault_is_answered_like_any_refusal(
    inside: tuple[httpx.Client, Bodies], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("api.routes.checks.read_body", fault)
    answer = inside[0].post("/v1/validate", json=THREE)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert answer.headers["connection"] == "close", "a client that sends more on this connection gets no answer"


WARM, COUNTED = 3, 12
LEFT_BYTES = 400
"""What a request may leave behind: counters, and containers that have grown."""


def test_a_request_leaves_hardly_any_memory_behind(inside: tuple[httpx.Client, Bodies]) -> None:
    """A kilobyte left of each request would be megabytes a minute."""
    client, _ = inside
    kinds = [ask for kind, ask in REQUESTS.items() if kind != "too long"]

    def held(rounds: int) -> int:
        """Return the memory in use after this many rounds of the same requests."""
        for number in range(rounds):
            for ask in kinds:
                ask(client, 2 * (number % 3))
            client.get("/metrics")
            client.get("/nowhere")
            client.get("/v1/jobs")
        until(lambda: not client.get("/v1/jobs?state=running").json()["jobs"])
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    held(WARM)
    logging.disable()  # pytest would keep what is logged
    tracemalloc.start()
    try:
        held(WARM)
        before = held(WARM)
        grown = held(COUNTED) - before
    finally:
        tracemalloc.stop()
        logging.disable(logging.NOTSET)
    assert grown / COUNTED / (len(kinds) + 3) < LEFT_BYTES


def test_closed_connections_are_collected(inside: tuple[httpx.Client, Bodies]) -> None:
    """Each ends as a cycle in asyncio."""
    client, _ = inside
    for number in range(4000):
        socket.create_connection((client.base_url.host, client.base_url.port or 80)).close()
        if number % 50 == 0:
            client.get("/healthz")  # once it is answered, those before are closed
    until(lambda: sum(type(each).__name__ == "_SelectorSocketTransport" for each in gc.get_objects()) < 2000)


def test_memory_is_given_back_after_a_burst(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        service.plan()
        before = memory(service.process.pid, "VmRSS")
        for _ in range(4):
            refusal(service.plan(b" " * 20_000_000))
        until(lambda: memory(service.process.pid, "VmRSS") < before + 50 * MIB)


FLOOD = 10_000_000
"""The bytes of each of many bodies that are sent at the same time."""


def limited(folder: Path, bytes_: int) -> Served:
    """A service with an address space of so many bytes, in its own interpreter, since forked ones use more."""
    return Served(folder, command=["tests.running.limited", f"RLIMIT_AS={bytes_}", "serve", "--port", "0"])


@pytest.mark.parametrize("limit", ["of its own", "that it was started with"])
def test_the_service_answers_busy_before_memory_runs_out(tmp_path: Path, limit: str) -> None:
    if limit == "of its own":
        service = Served(tmp_path, {"MEMPLAN_SERVICE_MEMORY": str(168 * MIB), "MEMPLAN_MAX_BODY_BYTES": str(FLOOD)})
    else:
        service = limited(tmp_path, resource.RLIM_INFINITY)
        service.plan()
        enough = memory(service.process.pid, "VmSize") + 120 * MIB
        service.stop()
        service = limited(tmp_path, enough)
    try:
        service.plan()
        answers = many(12, whole("/v1/plans", b" " * FLOOD))(service)
        assert set(answers) <= {400, 503}
        assert {400, 503} <= set(answers), "some are taken, the others are told to come back"
        assert memory(service.process.pid, "VmHWM") < 198 * MIB
        until(lambda: service.plan().status_code == 200)
        assert service.process.poll() is None
    finally:
        assert service.stop() == 0
        assert any('"memory"' in line and "service_mib" in line for line in service.log), "what it may take is logged"


def test_large_answers_are_sent_in_pieces_and_idle_readers_cut_off(tmp_path: Path) -> None:
    size = 20 * MIB
    with serving(tmp_path, send_seconds="1", max_bodies_bytes=str(3 * size)) as service:
        before = memory(service.process.pid, "VmRSS")
        job = service.client.post("/v1/jobs", content=json.dumps(THREE).encode() + b" " * size, headers=JSON).json()
        path = f"/v1/jobs/{job['id']}/problem"
        whole = service.client.get(path)
        assert (whole.content.rstrip(), len(whole.content)) == (
            json.dumps(THREE).encode(),
            int(whole.headers["content-length"]),
        )
        until(lambda: memory(service.process.pid, "VmRSS") < before + 50 * MIB)
        Path(f"/proc/{service.process.pid}/clear_refs").write_text("5")  # the peak is counted from here on
        resting = sockets(service.process.pid)
        lines = [deaf(service.address, path) for _ in range(20)]
        time.sleep(0.5)
        until(lambda: service.client.get(path).status_code == 200)
        assert memory(service.process.pid, "VmHWM") < before + 200 * MIB, "twenty times as much would be 400"
        until(lambda: sockets(service.process.pid) <= resting)
        answers = [taken(line) for line in lines]
        assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
        assert all(len(answer) < size for answer in answers), "none of them was waited for"
        until(lambda: memory(service.process.pid, "VmRSS") < before + 80 * MIB)


def test_answers_to_clients_that_leave_are_freed_without_collection() -> None:
    async def sending() -> None:
        bodies = Bodies(10 * MIB, Budget(1 << 60))
        begun = asyncio.Event()

        async def pieces() -> AsyncGenerator[bytes, None]:
            for _ in range(3):
                body = Body(bodies)
                body.add(b"x" * MIB)
                yield bytes(body)

        async def send(message: Message) -> None:
            if message.get("body"):
                begun.set()
                await asyncio.sleep(SECONDS)

        async def receive() -> Message:
            await begun.wait()
            return {"type": "http.disconnect"}

        scope = {"type": "http", "headers": []}
        sender = Sender(scope, receive, send, bodies)
        await Stream(pieces(), {}, "text/plain")(scope, sender.receive, sender)
        sender.close()
        assert bodies.held == 0

    gc.disable()
    try:
        asyncio.run(sending())
    finally:
        gc.enable()


def test_room_is_checked_once_for_small_bodies_and_for_each_large_one() -> None:
    looked: list[int] = []

    class Watched(Budget):
        def has_room(self, more: int = 0) -> bool:
            looked.append(more)
            return more < MIB

    bodies = Bodies(10 * MIB, Watched(1 << 60))
    for _ in range(200):
        bodies.take(1000)
    assert not looked, "each request is let in with a look of its own"
    bodies.take(100_000)
    assert looked == [100_000]
    with pytest.raises(Refusal):
        bodies.take(MIB)
    assert (looked, bodies.held) == ([100_000, MIB], 300_000)


def test_large_answers_count_while_they_are_sent() -> None:
    async def sending() -> None:
        bodies = Bodies(10 * MIB, Budget(1 << 60))
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "headers": []}
        first, second = (Sender(scope, receive, send, bodies) for _ in range(2))
        await Response(b"x" * 6 * MIB)(scope, receive, first)
        assert (bodies.held, first.status, b"".join(message.get("body", b"") for message in sent)) == (
            6 * MIB,
            200,
            b"x" * 6 * MIB,
        )
        await Response(b"x" * 6 * MIB)(scope, receive, second)
        assert (second.status, bodies.held) == (503, 6 * MIB), "there is no room for both"
        assert b"too_busy" in sent[-1]["body"]
        first.close()
        assert bodies.held == 0

    asyncio.run(sending())


def test_a_refusal_is_sent_at_once(inside: tuple[httpx.Client, Bodies], monkeypatch: pytest.MonkeyPatch) -> None:
    """As the whole body has arrived, the service does not wait for more of it."""
    monkeypatch.setattr(sending, "REST_SECONDS", 2 * SECONDS)
    client, _ = inside
    batch = client.post("/v1/batches", content=b"\n" * 1_000_000, headers=LINES)
    assert refusal(batch)["code"] == "too_large"


def test_a_refusal_is_sent_whole_while_the_body_still_comes(tmp_path: Path) -> None:
    with serving(tmp_path, max_body_bytes="1000000") as service:
        assert whole("/v1/plans", b" " * 20_000_000)(service) == [413], "and not a line that is cut"


def sockets(pid: int) -> int:
    """Return the number of sockets that a process has open."""
    found = 0
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += str(each.readlink()).startswith("socket:")
    return found


def deaf(address: str, path: str) -> socket.socket:
    """A connection on which an answer is requested and not read."""
    host, _, port = address.removeprefix("http://").partition(":")
    line = socket.socket()
    line.settimeout(SECONDS)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect((host, int(port)))
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return line


def taken(line: socket.socket) -> bytes:
    """Return all that has arrived on a connection."""
    read = bytearray()
    with line:
        line.settimeout(5)
        try:
            while piece := line.recv(1 << 16):
                read += piece
        except OSError:
            pass
    return bytes(read)


def test_silent_connections_make_room(tmp_path: Path) -> None:
    with serving(tmp_path, max_connections="10") as service:
        lines = [connected(service) for _ in range(60)]
        with httpx.Client(base_url=service.address, timeout=SECONDS, trust_env=False, verify=PLAIN) as client:
            assert client.get("/healthz").status_code == 200
        assert sum(taken(line) == b"" for line in lines[:40]) == 40, "the oldest are gone"
        for line in lines[40:]:
            line.close()


def test_probes_are_answered_while_all_connections_are_in_use(tmp_path: Path) -> None:
    with serving(tmp_path, max_connections="4", max_streams_per_token="5") as service:
        job = service.client.post(f"/v1/jobs{SLOW_QUERY}", content=SLOW, headers=JSON).json()["id"]
        service.client.close()
        streams = [deaf(service.address, f"/v1/jobs/{job}/events") for _ in range(4)]
        assert all(stream.recv(12) == b"HTTP/1.1 200" for stream in streams)
        with httpx.Client(base_url=service.address, timeout=SECONDS, trust_env=False, verify=PLAIN) as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
            busy = client.get("/v1/jobs")
            assert busy.headers["retry-after"]
            assert refusal(busy)["code"] == "too_busy"
        for stream in streams:
            stream.close()


def test_event_streams_of_one_token_are_limited(tmp_path: Path) -> None:
    with serving(tmp_path, max_streams_per_token="2") as service:
        job = service.client.post(f"/v1/jobs{SLOW_QUERY}", content=SLOW, headers=JSON).json()["id"]
        streams = [deaf(service.address, f"/v1/jobs/{job}/events") for _ in range(2)]
        assert all(stream.recv(12) == b"HTTP/1.1 200" for stream in streams)
        assert refusal(service.client.get(f"/v1/jobs/{job}/events"))["code"] == "too_many_streams"
        batch = service.client.post("/v1/batches", content=json.dumps(THREE), headers=LINES)
        assert refusal(batch)["code"] == "too_many_streams", "a batch is followed as well"
        for stream in streams:
            stream.close()
        until(lambda: refused_streams(service.client, job) == 200)


def refused_streams(client: httpx.Client, job: str) -> int:
    with client.stream("GET", f"/v1/jobs/{job}/events") as answer:
        return answer.status_code


def test_lists_of_jobs_do_not_grow_with_the_problems_sent(inside: tuple[httpx.Client, Bodies]) -> None:
    client, _ = inside
    pools = [{"name": f"{i}" + "p" * 1000, "size": 96} for i in range(20)]
    capacity = {pool["name"]: 90 for pool in pools}
    many = json.dumps({**THREE, "pools": pools, "solve": {"capacity": capacity}})
    added = client.post("/v1/jobs", content=many, headers=JSON).json()
    assert added["options"]["capacity"] == capacity
    listed = client.get("/v1/jobs?limit=1")
    assert listed.json()["jobs"][0]["id"] == added["id"]
    assert len(listed.content) < 2000
