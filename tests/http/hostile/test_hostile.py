"""Whatever strangers send, the answer is right, no process dies, and memory stays bounded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.hostile.attacks import (
    HOST,
    Attack,
    connected,
    cost,
    floods,
    head,
    large_bodies,
    sent,
    status_of,
)
from tests.http.hostile.scenes import Scene, quick_scenes, scenes
from tests.http.served import SECONDS, Served, serving

MOST = 500_000
"""The most bytes of a body."""
SERVICE_BYTES = 64 << 20
WORKER_BYTES = 100 << 20
"""Limits far above what was measured (docs/experiments/service.md), and far below what a fault would take."""
PAUSE = 0.1
"""Seconds between looks at /healthz, few because these tests do not check how long others wait."""
ATTACKS = [*large_bodies(MOST), *floods(MOST)]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    patience = str(2 * SECONDS)  # else time may be over on a busy machine
    with serving(
        tmp_path_factory.mktemp("data"),
        max_body_bytes=str(MOST),
        max_batch="200",
        default_time_limit=patience,
        max_explain_seconds=patience,
    ) as served:
        served.plan()
        yield served


@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
def test_attacks_are_answered_rightly_in_little_memory(attacked: Served, attack: Attack) -> None:
    processes = attacked.children()
    found = cost(attacked, attack, PAUSE)
    assert set(found.statuses) <= set(attack.right)
    assert found.service_bytes < SERVICE_BYTES
    assert found.workers_bytes < WORKER_BYTES
    assert set(processes) <= set(attacked.children()), "no worker died of it"
    assert not any("fault" in line for line in attacked.log)


GET = "GET /healthz HTTP/1.1\r\n"
POST = head("/v1/plans", "application/json").decode()[:-2]


@pytest.mark.parametrize("size", [1_000, 150_000, 450_000])
def test_an_answer_that_comes_before_the_body_s_end_is_not_lost(attacked: Served, size: int) -> None:
    """The service closes such a connection, but must not reset it while the client is still sending."""
    sending = head("/v1/plans?time_limit=never", "application/json", f"Content-Length: {size}")
    for _ in range(5):
        with connected(attacked) as line:
            line.sendall(sending)
            time.sleep(0.02)
            for _ in range(size // 1000):
                line.sendall(b" " * 1000)
            assert status_of(line) == 422


NO_HTTP = {
    "nothing that is HTTP": ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "an old protocol": ("GET /healthz\r\n\r\n", 400),
    "a protocol to come": ("GET /healthz HTTP/9.9\r\n" + HOST + "\r\n", 505),
    "no host": (GET + "\r\n", 400),
    "two hosts": (GET + HOST + "Host: evil.example\r\n\r\n", 400),
    "a name with a space": (GET + HOST + "X Y: 1\r\n\r\n", 400),
    "NUL in a value": (GET + HOST + "X: \0\r\n\r\n", 400),
    "a line that goes on": (GET + HOST + "X: 1\r\n 2\r\n\r\n", 200),
    "a bare carriage return": (GET + HOST + "X: 1\rY: 2\r\n\r\n", 400),
    "half a character": (GET + HOST + "X: \x80\r\n\r\n", 200),
    "a path that is none": ("GET /\x80 HTTP/1.1\r\n" + HOST + "\r\n", 400),
    "a head that is too long": (GET + HOST + "X: " + "a" * 100_000 + "\r\n\r\n", 431),
    "two thousand headers": (GET + HOST + "X: 1\r\n" * 2_000 + "\r\n", 200),
    "twenty thousand headers": (GET + HOST + "X: 1\r\n" * 20_000 + "\r\n", 431),
    "two lengths": (POST + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    "a length and chunks": (POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "another way of sending": (POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "a chunk without a size": (POST + "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
    "a chunk of more than any body may have": (POST + "Transfer-Encoding: chunked\r\n\r\n" + "f" * 15 + "\r\n{", 413),
    "a chunk of all there is": (POST + "Transfer-Encoding: chunked\r\n\r\n" + "f" * 30 + "\r\n", 400),
    "a chunk with much to say": (POST + "Transfer-Encoding: chunked\r\n\r\n1;" + "a" * 100_000 + "\r\n", 431),
    "another host's address": ("GET http" + "://evil.example/healthz HTTP/1.1\r\n" + HOST + "\r\n", 403),
    "a method that is none": ("BREW /healthz HTTP/1.1\r\n" + HOST + "\r\n", 405),
    "a tunnel": ("CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + "\r\n", 404),
    "a path of a megabyte": ("GET /" + "a" * 1_000_000 + " HTTP/1.1\r\n" + HOST + "\r\n", 431),
    "a talk over the same line": (GET + HOST + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200),
}


@pytest.mark.parametrize(("text", "status"), [pytest.param(*each, id=name) for name, each in NO_HTTP.items()])
def test_wrong_request_heads_are_refused_in_the_same_form(attacked: Served, text: str, status: int) -> None:
    with connected(attacked) as line:
        line.sendall(text.encode("latin-1"))
        with line.makefile("rb") as answer:
            begun = answer.readline()
            headers = dict(iter(lambda: answer.readline().decode().strip().lower().partition(": ")[::2], ("", "")))
            body = answer.read(int(headers["content-length"]))
    assert begun.split()[1] == str(status).encode(), (begun, body)
    if status >= 400:
        assert headers["content-type"] == "application/problem+json"
        assert b'"code": ' in body


def test_many_requests_in_one_go_are_all_answered(attacked: Served) -> None:
    with connected(attacked) as line:
        line.sendall((GET + HOST + "\r\n").encode() * 499 + (GET + HOST + "Connection: close\r\n\r\n").encode())
        with line.makefile("rb") as answer:
            assert answer.read().count(b'{"status":"alive"}') == 500


def test_an_unread_answer_holds_no_other_client_up(attacked: Served) -> None:
    with connected(attacked) as line:
        line.sendall((GET + HOST + "\r\n").encode() * 5000)
        assert sent(attacked, iter(((GET + HOST + "Connection: close\r\n\r\n").encode(),))) == [200]


def test_a_rush_of_connections_never_takes_the_last_descriptor(tmp_path: Path) -> None:
    """Once no descriptor is left, the event loop accepts no connection for a second."""
    few = ["tests.running.limited", "RLIMIT_NOFILE=256", "serve", "--port", "0"]
    service = Served(tmp_path, command=few)
    with contextlib.ExitStack() as lines:
        lines.callback(service.stop)
        for _ in range(700):
            lines.enter_context(connected(service))
        assert service.client.get("/healthz").status_code == 200
    assert not any("out of system resource" in line for line in service.log)


@pytest.mark.parametrize("scene", [pytest.param(scene, id=scene.name) for scene in quick_scenes()])
def test_quick_scenes_are_answered_rightly_in_little_memory(tmp_path: Path, scene: Scene) -> None:
    """The other scenes are run by ./scripts/hostile, and in small by the tests of memory, fairness and refusals."""
    with serving(tmp_path, **scene.settings) as service:
        for attack in scene.attacks:
            found = cost(service, attack, PAUSE)
            assert set(found.statuses) <= set(attack.right), attack.name
            assert found.service_bytes < SERVICE_BYTES, attack.name


def test_the_script_covers_every_scene() -> None:
    every = list(scenes(10_000, scale=1000))
    named = [attack.name for scene in every for attack in scene.attacks]
    assert len(named) == len(set(named)) > 50
    assert {scene.name for scene in quick_scenes()} <= {scene.name for scene in every}
