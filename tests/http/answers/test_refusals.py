"""Any bad request is answered with a problem document that has a stable code, never a 500, and the service goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from planner.formats.tables.problems import FORMATS
from tests.http.queued.test_jobs import until
from tests.http.served import JSON, SECONDS, SLOW, SLOW_QUERY, THREE, Served, refusal, serving


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/v1/plans/", 404, "not_found"),
        ("GET", "/docs/nothing.html", 404, "not_found"),
        ("GET", "/v1/jobs/../../etc/passwd", 404, "not_found"),
        ("GET", "/%00%ff%0d%0aX:1", 404, "not_found"),
        ("GET", "/v1/plans", 405, "method_not_allowed"),
        ("PUT", "/v1/jobs", 405, "method_not_allowed"),
        ("DELETE", "/healthz", 405, "method_not_allowed"),
        ("PATCH", "/v1/verify", 405, "method_not_allowed"),
        ("GET", "/v1/jobs/0123456789", 404, "not_found"),
        ("GET", "/v1/jobs/%F0%9F%92%A9/plan", 404, "not_found"),
        ("DELETE", "/v1/jobs/0123456789", 404, "not_found"),
        ("GET", "/v1/jobs?limit=0", 422, "invalid_option"),
        ("GET", "/v1/jobs?state=lost", 422, "invalid_option"),
        ("GET", "/v1/jobs?colour=red", 422, "invalid_option"),
    ],
)
def test_every_path_refuses_in_the_same_form(service: Served, method: str, path: str, status: int, code: str) -> None:
    found = [refusal(service.client.request(method, path, headers=each)) for each in ({}, {"Content-Encoding": "gzip"})]
    assert [(each["status"], each["code"]) for each in found] == [(status, code)] * 2


def test_no_path_ignores_a_parameter(service: Served) -> None:
    described = service.client.get("/openapi.json").json()["paths"]
    operations = [(method, path) for path in described if path.startswith("/v1/") for method in described[path]]
    assert len(operations) > 20
    for method, path in operations:
        query = {"seed_": ["1"]} if method == "post" else {"seed": ["1"], "part": ["a", "b"]}
        found = refusal(service.client.request(method, path, params=query))
        assert (found["status"], found["code"]) == (422, "invalid_option"), (method, path)
        assert [each["pointer"] for each in found["errors"]] == [f"/options/{name}" for name in query], (method, path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/jobs?require=feasible", "only for POST /v1/plans, POST /v1/explain, "),
        ("/v1/batches?require=feasible", "only for POST /v1/plans, POST /v1/explain, "),
        ("/v1/batches?name=a", "only for POST /v1/plans, "),
        ("/v1/plans?step=4096", "only for POST /v1/sweep; leave it out"),
        ("/v1/plans?seed=1&seed=2", "is given 2 times; give it once"),
        ("/v1/plans?dim=batch", "?format=onnx:dim="),
        ("/v1/explain?explain=false", "is always true here; leave it out"),
        ("/v1/explain?arenas=nested", "only for POST /v1/plans, "),
        ("/v1/explain?objects=true", "only for POST /v1/plans, "),
    ],
)
def test_a_parameter_without_effect_is_refused_where_it_has_none(service: Served, path: str, message: str) -> None:
    found = refusal(service.client.post(path, json=THREE))
    name = path.partition("?")[2].partition("=")[0]
    assert (found["status"], found["errors"][0]["pointer"]) == (422, f"/options/{name}")
    assert message in found["errors"][0]["message"]


@pytest.mark.parametrize("path", ["plans", "jobs", "validate", "explain", "verify", "draw", "report", "write"])
@pytest.mark.parametrize(
    ("format_", "message"),
    [
        ("onnx:dim=b=x", "dim: "),
        ("onnx:dim=b=1,dim=b=2", "dim: 'b' is given twice"),
        ("onnx:dim=unused=3", "dim: "),
        ("tflite:like=tflm,in_place", "in_place and like=tflm exclude each other"),
        ("onnx:colour=red", "has no setting 'colour'"),
        ("nothing", "there is no format 'nothing'"),
    ],
)
def test_faults_of_a_format_s_settings_are_placed_in_the_query(
    service: Served, path: str, format_: str, message: str
) -> None:
    model = FORMATS[format_.partition(":")[0]].document if format_ != "nothing" else b"{}"
    plan = service.plan(THREE).content
    if path in ("verify", "draw", "report", "write"):
        answer = service.client.post(f"/v1/{path}", params={"format": format_}, files={"problem": model, "plan": plan})
    else:
        octets = {"Content-Type": "application/octet-stream"}
        answer = service.client.post(f"/v1/{path}", params={"format": format_}, content=model, headers=octets)
    found = answer.json() if path == "validate" and answer.status_code == 200 else refusal(answer)
    assert [error["pointer"] for error in found["errors"]] == ["/options/format"]
    assert message in found["errors"][0]["message"]


def test_options_in_a_posted_document_stay_there(service: Served) -> None:
    program = json.loads(FORMATS["graph"].document)
    for options, place in (({"format": 1}, "/format"), ({"fastest": "none"}, "/fastest")):
        given = {"problem": {**program, "options": options}, "plan": service.plan(THREE).json()}
        found = refusal(service.client.post("/v1/verify", json=given))
        assert found["errors"][0]["pointer"] == f"/problem/options{place}"


@pytest.mark.parametrize("path", ["/v1/jobs?limit=x", "/v1/jobs?before=!", "/v1/jobs?limit=0"])
def test_wrong_queries_are_explained_in_plain_words(service: Served, path: str) -> None:
    assert " should " not in refusal(service.client.get(path))["detail"]


def test_a_refused_method_is_answered_with_the_allowed_ones(service: Served) -> None:
    assert service.client.get("/v1/plans").headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("", ""),
        ("text/plain", ""),
        ("application/x-www-form-urlencoded", ""),
        ("multipart/form-data; boundary=x", ""),
        ("application/json; charset=utf-16", ""),
        ("application/json", "?format=minimalloc"),
        ("text/csv", "?format=usmp"),
        ("application/x-python-pickle", ""),
    ],
)
def test_wrong_content_types_are_refused(service: Served, kind: str, query: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    for path in ("/v1/plans", "/v1/jobs", "/v1/validate"):
        response = service.client.post(f"{path}{query}", content=b"{}", headers=headers)
        found = refusal(response)
        assert (found["status"], found["code"]) == (415, "unsupported_media_type"), path


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "x"])
def test_compressed_bodies_are_refused_unread(service: Served, encoding: str) -> None:
    found = refusal(service.plan(b"\x1f\x8b", **{"Content-Encoding": encoding}))
    assert (found["status"], found["code"]) == (415, "unsupported_encoding")


def bombs() -> Iterator[tuple[str, bytes, int, str]]:
    buffer = {"id": "a", "size": 1}
    yield "empty", b"", 400, "invalid_json"
    yield "not UTF-8", b"\xff\xfe{}", 400, "invalid_json"
    yield "cut off", b'{"format": "memplan/1", "buf', 400, "invalid_json"
    yield "depth", b"[" * 100_000, 400, "too_deep"
    yield "depth in a solve", b'{"format": "memplan/1", "buffers": [], "solve": ' + b'{"a":' * 100_000, 400, "too_deep"
    yield "NaN", json.dumps({**THREE, "buffers": [{"id": "a", "size": float("nan")}]}).encode(), 400, "not_finite"
    yield "huge float", b'{"format": "memplan/1", "buffers": [{"id": "a", "size": 1e999}]}', 400, "not_finite"
    yield (
        "huge integer",
        b'{"format": "memplan/1", "buffers": [{"id": "a", "size": ' + b"9" * 50_000 + b"}]}",
        400,
        "integer_too_long",
    )
    yield (
        "beyond 2^62",
        json.dumps({"format": "memplan/1", "buffers": [{"id": "a", "size": 2**63}]}).encode(),
        422,
        "out_of_range",
    )
    yield "duplicate keys", b'{"format": "memplan/1", "format": "memplan/1", "buffers": []}', 400, "duplicate_key"
    yield (
        "duplicate solve",
        b'{"format": "memplan/1", "buffers": [], "solve": {}, "solve": {"seed": 1}}',
        400,
        "duplicate_key",
    )
    yield (
        "half a surrogate pair",
        b'{"format": "memplan/1", "buffers": [{"id": "\\ud800", "size": 1}]}',
        400,
        "invalid_json",
    )
    yield (
        "bad items",
        json.dumps({"format": "memplan/1", "buffers": [{"id": 1.5}] * 10_000}).encode(),
        422,
        "wrong_type",
    )
    yield "same id", json.dumps({"format": "memplan/1", "buffers": [buffer, buffer]}).encode(), 422, "duplicate_id"
    yield "too many keys", json.dumps({f"k{i}": i for i in range(50_000)}).encode(), 422, "too_large"
    yield "a list", b"[]", 422, "wrong_type"
    yield "another format", b'{"format": "memplan/9", "buffers": []}', 422, "unknown_format"
    yield "reserved", b'{"format": "memplan/1", "buffers": [], "extensions": {}}', 422, "not_supported_yet"


@pytest.mark.parametrize(("body", "status", "code"), [pytest.param(*rest, id=name) for name, *rest in bombs()])
def test_hostile_bodies_are_refused(service: Served, body: bytes, status: int, code: str) -> None:
    for path in ("/v1/plans", "/v1/jobs", "/v1/explain"):
        response = service.client.post(path, content=body, headers=JSON)
        found = refusal(response)
        assert (found["status"], found["code"]) == (status, code), path
        assert len(found["errors"]) <= 20
        assert len(response.content) < 20_000
    assert service.client.post("/v1/validate", content=body, headers=JSON).json()["valid"] is False


def test_names_come_back_unchanged(service: Served) -> None:
    """Control characters and the like in names are in JSON strings of the answers, and nowhere else."""
    names = ["\x00", "\r\nX-Evil: 1", "\x1b[31m", "\u202e", "<script>", "💥", "a" * 1024, "../../x", "{{7*7}}"]
    problem = {"format": "memplan/1", "name": names[1], "buffers": [{"id": name, "size": 8} for name in names]}
    response = service.plan(problem)
    assert [placed["id"] for placed in response.json()["placements"]] == names
    assert "x-evil" not in response.headers
    job = service.client.post("/v1/jobs", json=problem).json()
    assert job["name"] == names[1]
    assert service.client.get(job["links"]["self"]).json()["name"] == names[1]
    assert not any("\x1b" in line or "X-Evil" in line for line in service.log)


def test_a_body_declared_too_large_is_refused_before_it_is_sent(service: Served) -> None:
    where = urlsplit(service.address)
    with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
        line.sendall(
            b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100000000\r\n\r\n"
        )
        answer = line.makefile("rb").read()  # reading ends because the service hangs up
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "too_large"' in answer


def test_a_body_of_undeclared_length_is_cut_off(service: Served) -> None:
    """Of 100 MB in chunks, the service takes less than half before it hangs up."""
    where = urlsplit(service.address)
    sent = 0
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
        line.sendall(
            b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        try:
            while sent < 100_000_000:
                line.sendall(chunk)
                sent += 0x10000
        except OSError:
            pass
    assert sent < 50_000_000
    assert service.client.get("/healthz").status_code == 200


@pytest.mark.parametrize("length", ["-1", "1e3", "９", "1" * 30])
def test_lengths_that_are_no_numbers_are_refused(service: Served, length: str) -> None:
    where = urlsplit(service.address)
    with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
        head = f"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        line.sendall(head.encode())
        answer = line.makefile("rb").read()
    assert answer.split()[1] in (b"400", b"413")


def test_requests_for_another_host_are_refused(service: Served) -> None:
    found = refusal(service.client.get("/healthz", headers={"Host": "evil.example"}))
    assert (found["status"], found["code"]) == (403, "forbidden_host")
    assert service.client.get("/healthz", headers={"Host": "LOCALHOST:1"}).status_code == 200
    assert service.client.get("/healthz", headers={"Host": "[::1]:8080"}).status_code == 200


def test_pages_of_other_origins_cannot_write(service: Served) -> None:
    for headers in ({"Origin": "https" + "://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        found = refusal(service.plan(THREE, **headers))
        assert (found["status"], found["code"]) == (403, "forbidden_origin")
    own = urlsplit(service.address)
    assert service.plan(THREE, Origin=f"{own.scheme}://{own.netloc}").status_code == 200
    assert service.client.get("/v1/jobs", headers={"Origin": "null"}).status_code == 200


def test_no_other_origin_is_ever_let_in_to_read(service: Served) -> None:
    response = service.client.get("/healthz", headers={"Origin": "null"})
    assert not [name for name in response.headers if name.startswith("access-control")]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]


@pytest.mark.parametrize("key", ["", "a" * 256, "a b", "\x7f"])
def test_idempotency_keys_must_be_plain(service: Served, key: str) -> None:
    found = refusal(service.plan(THREE, **{"Idempotency-Key": key}))
    assert (found["status"], found["code"]) == (400, "invalid_header")


def test_too_many_buffers_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, max_buffers="2", formats="memplan", allowed_solvers="greedy") as strict:
        found = refusal(strict.plan())
        assert (found["status"], found["code"]) == (413, "too_large")
        csv = strict.client.post("/v1/plans", content=b"id,lower,upper,size\n", headers={"Content-Type": "text/csv"})
        assert refusal(csv)["code"] == "unsupported_media_type"
        two = {**THREE, "buffers": THREE["buffers"][:2]}
        assert refusal(strict.plan(two, "?solver=search"))["code"] == "unknown_solver"
        assert strict.plan(two, "?solver=greedy").status_code == 200
        assert [s["name"] for s in strict.client.get("/v1/solvers").json()["solvers"] if s["available"]] == ["greedy"]


def test_too_many_bytes_at_a_time_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, max_bodies_bytes="1000") as small:
        for _ in range(3):
            response = small.plan(b" " * 1001)
            found = refusal(response)
            assert (found["status"], found["code"], response.headers["retry-after"]) == (503, "too_busy", "5")
            assert small.plan().status_code == 200


def test_slow_bodies_are_given_up(tmp_path: Path) -> None:
    with serving(tmp_path, body_seconds="0.2") as hurried:
        where = urlsplit(hurried.address)
        with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
            line.sendall(
                b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 1000\r\n\r\n{"
            )
            answer = line.makefile("rb").read()
        for head in (b"", b"GET /hea", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
            with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
                line.sendall(head)
                assert line.makefile("rb").read() == b"", "the service hangs up"
        with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert line.recv(12) == b"HTTP/1.1 200"
            line.sendall(b"GET /hea")
            assert line.makefile("rb").read().endswith(b'{"status":"alive"}'), "and no more"
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code": "too_slow"' in answer


def test_a_request_without_a_host_is_refused(service: Served) -> None:
    where = urlsplit(service.address)
    with socket.create_connection((where.hostname, where.port), timeout=SECONDS) as line:
        line.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b"forbidden_host" in line.makefile("rb").read()


def exchanged(service: Served, request: bytes) -> bytes:
    """Send a request, and return everything that comes back until the service closes the connection."""
    host, port = service.address.removeprefix("http" + "://").split(":")
    with socket.create_connection((host, int(port)), SECONDS) as line:
        line.sendall(request)
        return b"".join(iter(lambda: line.recv(65536), b""))


def test_a_host_named_in_the_target_counts(service: Served) -> None:
    absolute = b"GET http" + b"://%s/healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
    assert exchanged(service, absolute % (b"localhost", b"evil.example")).startswith(b"HTTP/1.1 200 ")
    shouted = absolute.replace(b"http", b"HTTP", 1)
    assert exchanged(service, shouted % (b"LOCALHOST", b"evil.example")).startswith(b"HTTP/1.1 200 ")
    refused = exchanged(service, absolute % (b"evil.example", b"localhost"))
    assert refused.startswith(b"HTTP/1.1 403 ")
    assert b"forbidden_host" in refused


@pytest.mark.parametrize("version", [b"1.2", b"2.0", b"3.7"])
def test_unknown_versions_of_http_are_refused(service: Served, version: bytes) -> None:
    answer = exchanged(service, b"GET /healthz HTTP/%s\r\nHost: localhost\r\n\r\n" % version)
    assert answer.startswith((b"HTTP/1.1 505 ", b"HTTP/1.1 400 ")), answer


def test_a_connection_with_two_lengths_is_closed(service: Served) -> None:
    both = b"POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    answers = exchanged(service, both + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1") == 1, "what follows is not taken for a request"


def test_head_is_answered_as_get_without_the_body(service: Served) -> None:
    job = until(service, service.client.post("/v1/jobs", content=json.dumps(THREE), headers=JSON).json(), "succeeded")[
        "links"
    ]
    for path in (
        "/",
        "/healthz",
        "/readyz",
        "/v1/solvers",
        "/v1/schema",
        "/openapi.json",
        "/docs/api",
        job["self"],
        job["plan"],
    ):
        head, get = service.client.head(path), service.client.get(path)
        assert (head.status_code, head.content) == (get.status_code, b"") == (200, b""), path
        ours = {name: value for name, value in get.headers.items() if name not in ("date", "age")}
        assert {name: value for name, value in head.headers.items() if name in ours} == ours, path
    assert service.client.head("/nowhere").status_code == 404
    assert service.client.head("/v1/plans").status_code == 405
    assert service.client.put("/healthz").headers["allow"] == "GET, HEAD"
    assert service.client.put("/v1/plans").headers["allow"] == "POST"
    assert service.client.put("/v1/jobs").headers["allow"] == "GET, HEAD, POST"
    assert service.client.put(job["self"]).headers["allow"] == "DELETE, GET, HEAD"


def test_head_of_an_endless_stream_ends(service: Served) -> None:
    job = service.client.post(f"/v1/jobs{SLOW_QUERY}", content=SLOW, headers=JSON).json()
    head = service.client.head(job["links"]["events"])
    assert (head.status_code, head.content) == (200, b"")
    service.client.delete(job["links"]["self"])
