"""Long batches are read and answered at the same time, resumed by clients that come back, and no burden to others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from planner import read_plan, read_problem, verify
from tests.http.served import SECONDS, SLOW, THREE, Served, refusal, serving
from tests.running.processes import until

LINES = {"Content-Type": "application/x-ndjson"}


def problem(number: int) -> dict[str, Any]:
    """A problem that differs from those of all other numbers."""
    buffers = [{**each, "size": each["size"] + 16 * (number % 60)} for each in THREE["buffers"]]
    return {**THREE, "name": f"{number}", "pools": [{"name": "arena"}], "buffers": buffers, "solve": {"seed": number}}


def line(number: int) -> bytes:
    return json.dumps(problem(number)).encode() + b"\n"


class Sending:
    """A batch that is sent piece by piece, while its answers are read."""

    def __init__(self, address: str, **headers: str) -> None:
        where = urlsplit(address)
        assert where.hostname
        self.line = socket.create_connection((where.hostname, where.port or 80), SECONDS)
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\n{more}Content-Type: application/x-ndjson\r\n"
        self.line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        self._heard = self.line.makefile("rb")
        self.head = b""

    def send(self, data: bytes) -> None:
        self.line.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.line.sendall(b"0\r\n\r\n")

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield each line as it arrives; a line in several pieces is put together."""
        while not self.head.endswith(b"\r\n\r\n"):
            self.head += self._heard.readline()
        rest = b""
        while size := int(self._heard.readline(), 16):
            rest += self._heard.read(size)
            self._heard.readline()
            *whole, rest = rest.split(b"\n")
            yield from map(json.loads, whole)

    def close(self) -> None:
        self._heard.close()
        self.line.close()


def require_right(found: dict[str, Any]) -> None:
    given, _ = read_problem(json.dumps({k: v for k, v in problem(found["line"]).items() if k != "solve"}).encode())
    assert verify(given, read_plan(json.dumps(found["plan"]).encode())) == ()
    assert found["plan"]["seed"] == found["line"]


def test_answers_come_while_lines_are_still_sent(service: Served) -> None:
    sending = Sending(service.address)
    sending.send(line(0)[:40])
    sending.send(line(0)[40:])
    answers = sending.answers()
    batch = next(answers)["batch"]
    for number in range(5):
        found = next(answers)
        assert found["line"] == number
        require_right(found)
        sending.send(b"\n" + line(number + 1))
    require_right(next(answers))
    sending.end()
    assert list(answers) == [{"batch": batch, "problems": 6}]
    sending.close()


def test_a_returning_client_gets_the_remaining_answers(service: Served) -> None:
    sending = Sending(service.address, Idempotency_Key="nightly")
    sending.send(b"".join(map(line, range(30))) + line(30)[:50])
    answers = sending.answers()
    batch = next(answers)["batch"]
    have = {next(answers)["line"] for _ in range(7)}
    sending.close()
    # All lines are sent again, since the client does not know which arrived.
    again = Sending(service.address, Idempotency_Key="nightly")
    for number in range(60):
        again.send(line(number))
    again.end()
    found = list(again.answers())
    again.close()
    assert (found[0], found[-1]) == ({"batch": batch}, {"batch": batch, "problems": 60})
    assert sorted(each["line"] for each in found[1:-1]) == list(range(60)), "each of them once"
    known = ",".join(map(str, sorted(have)))
    rest = [json.loads(text) for text in service.client.get(f"/v1/batches/{batch}?have={known}").text.splitlines()]
    assert sorted(each["line"] for each in rest[1:-1]) == sorted(set(range(60)) - have)
    for each in rest[1:-1]:
        require_right(each)


def test_a_batch_goes_on_when_its_client_leaves_until_its_jobs_are_cancelled(tmp_path: Path) -> None:
    waits = {"solver": "waiting", "time_limit": 600}
    long = b"".join(json.dumps({**json.loads(SLOW), "solve": {**waits, "seed": i}}).encode() + b"\n" for i in (1, 2))
    with serving(tmp_path, workers="1") as service:
        sending = Sending(service.address)
        sending.send(b"".join(map(line, range(5))) + long)
        sending.end()
        batch = next(sending.answers())["batch"]

        def states() -> list[str]:
            return sorted(job["state"] for job in service.client.get(f"/v1/jobs?batch={batch}").json()["jobs"])

        until(lambda: len(states()) == 7)
        sending.close()
        until(lambda: states() == ["queued", "running", *["succeeded"] * 5])
        for job in service.client.get(f"/v1/jobs?batch={batch}").json()["jobs"]:
            if job["finished"] is None:
                assert service.client.delete(job["links"]["self"]).is_success
        rest = [json.loads(text) for text in service.client.get(f"/v1/batches/{batch}").text.splitlines()]
        assert rest[-1] == {"batch": batch, "problems": 7}
        assert sorted(each["state"] for each in rest[1:-1]) == ["cancelled"] * 2 + ["succeeded"] * 5


def test_a_batch_is_cancelled_in_one_request(tmp_path: Path) -> None:
    """Waiting jobs are cancelled, running ones stop with their plans, and no more lines are taken with its key."""
    with serving(tmp_path) as service:
        key = {"Idempotency-Key": "taken-back"}
        slow = b"%s\n" % json.dumps({**problem(0), "solve": {"solver": "waiting", "time_limit": 600}}).encode()
        sending = Sending(service.address, **key)
        for each in (slow, *map(line, range(1, 120))):
            sending.send(each)
        answers = sending.answers()
        batch = next(answers)["batch"]
        path = f"/v1/batches/{batch}"

        def jobs(query: str = "") -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = service.client.get(f"/v1/jobs?batch={batch}&limit=500{query}").json()["jobs"]
            return found

        until(lambda: len(jobs()) == 120 and any(job["line"] == 0 and job["best"] for job in jobs("&state=running")))
        ended = service.client.delete(path)
        assert (ended.status_code, ended.json() | {"unfinished": 0}) == (
            200,
            {"batch": batch, "problems": 120, "unfinished": 0},
        )
        sending.send(line(120))
        sending.end()
        received = list(answers)
        assert (received[-1]["problems"], received[-1]["error"]["code"], received[-1]["error"]["status"]) == (
            120,
            "batch_ended",
            409,
        )
        (first,) = [each for each in received[:-1] if each["line"] == 0]
        assert (first["state"], first["status"], first["stop"]) == ("cancelled", "feasible", "cancelled")
        assert {each["state"] for each in received[:-1]} == {"cancelled", "succeeded"}
        assert service.client.delete(path).json() == {"batch": batch, "problems": 120, "unfinished": 0}
        sent = service.client.post("/v1/batches", content=line(1), headers={**LINES, **key})
        assert (sent.status_code, refusal(sent)["code"]) == (409, "batch_ended")
        again = [json.loads(text) for text in service.client.get(path).text.splitlines()]
        assert sorted(each["line"] for each in again[1:-1]) == list(range(120))
        assert refusal(service.client.delete("/v1/batches/nothing"))["code"] == "not_found"
        sending.close()


def test_a_batch_whose_name_is_known_can_be_ended(service: Served) -> None:
    for number in range(12):
        sending = Sending(service.address)
        sending.send(line(number))
        path = f"/v1/batches/{next(sending.answers())['batch']}"
        assert service.client.delete(path).status_code == 200
        sending.close()


def test_killed_workers_lose_no_line(tmp_path: Path) -> None:
    with serving(tmp_path, workers="2") as service:
        sending = Sending(service.address)
        for number in range(60):
            sending.send(line(number))
        sending.end()
        answers = sending.answers()
        next(answers)
        lines = []
        for found in answers:
            if "problems" in found:
                break
            lines.append(found["line"])
            require_right(found)
            if len(lines) in (10, 30):
                for pid in service.children():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        sending.close()
        assert sorted(lines) == list(range(60))


def test_a_stopped_service_leaves_the_remaining_answers_for_later(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        sending = Sending(service.address)
        for number in range(100):
            sending.send(line(number))
        answers = sending.answers()
        batch = next(answers)["batch"]
        lines = [next(answers)["line"]]
        service.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ValueError, OSError):  # in the end the connection breaks
            lines += [found["line"] for found in answers if "line" in found]
        sending.close()
    with serving(tmp_path) as service:
        have = ",".join(map(str, lines))
        rest = [json.loads(text) for text in service.client.get(f"/v1/batches/{batch}?have={have}").text.splitlines()]
        taken = rest[-1]["problems"]
        assert sorted([*lines, *(each["line"] for each in rest[1:-1])]) == list(range(taken)), "each of them once"


def test_a_client_that_reads_nothing_holds_no_other_up(service: Served) -> None:
    sending = Sending(service.address)
    for number in range(60):
        sending.send(line(number))
    sending.end()
    until(lambda: 59 in {job["line"] for job in service.client.get("/v1/jobs?limit=60").json()["jobs"]})
    assert service.plan({**THREE, "name": "beside"}, "?seed=77").status_code == 200
    answers = list(sending.answers())
    assert answers[-1]["problems"] == 60
    sending.close()
