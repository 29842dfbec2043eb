"""Sound and broken requests are made up from the OpenAPI document: no answer is a 5xx, and the document allows each.

tests/api/routes/openapi/test_open_api.py runs this in a process of its own, because the library that makes up the
requests takes a second to load, which every test process would otherwise spend.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.specs.openapi import checks

from api.errors import CONTENT_TYPE, HttpCode
from planner.formats.tables.format import BYTES
from planner.formats.tables.problems import FORMATS
from planner.model.errors import Code
from tests.api.routes.openapi.test_open_api import document, operations
from tests.http.queued.test_jobs import post_job, until
from tests.http.served import SECONDS, THREE, Served, serving
from tests.small.strategies import NIGHTLY

CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.unsupported_method,
]
CODES = {code.value for code in (*Code, *HttpCode)} - {HttpCode.INTERNAL.value}
TRIES = 10 if NIGHTLY else 2
"""Random requests for each operation; schemathesis also sends the examples, and each limit once."""
JSON = "application/json"


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(_: schemathesis.SerializationContext, value: object) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode("ascii")


@schemathesis.serializer(*{kind for row in FORMATS.values() if not row.is_text for kind in row.media_types} - {BYTES})
def as_it_is(_: schemathesis.SerializationContext, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _document() -> dict[str, Any]:
    """Return the document from which requests are made up.

    A body that several operations take is made up for the first of them (a problem has 1 700 limits), since one
    function reads them all; the others get the examples, and objects of any kind. So it is with a part that stands at
    several places of a body, such as buffers of problems and of alternatives. By night each gets all.
    """
    made = document()
    seen = set[str]()
    if not NIGHTLY:
        _make_up_once(made["components"]["schemas"], "Problem", set())
    for _, _, operation in operations(made):
        if not NIGHTLY and (body := operation.get("requestBody", {}).get("content", {}).get(JSON)):
            schema = json.dumps(body["schema"], sort_keys=True)
            if schema in seen:
                body["schema"] = {"type": "object"}
            seen.add(schema)
    return made


def _make_up_once(schemas: dict[str, Any], name: str, seen: set[str]) -> None:
    """Leave each part of this schema only where it is named first; elsewhere it becomes an object of any kind."""

    def visit(part: Any) -> None:
        if isinstance(part, list):
            for each in part:
                visit(each)
        elif isinstance(part, dict):
            named = str(part.get("$ref", "")).rpartition("/")[2]
            if named in seen:
                part.clear()
                part["type"] = "object"
            elif named:
                _make_up_once(schemas, named, seen)
            else:
                visit(list(part.values()))

    seen.add(name)
    visit(schemas[name])


described = schemathesis.openapi.from_dict(_document())


def _endpoints() -> dict[tuple[str, str], list[str]]:
    """Return, for each parameter of each operation, all operations that take the same parameter."""
    alike = defaultdict(list)
    for method, path, operation in operations(document()):
        for parameter in operation.get("parameters", ()):
            alike[json.dumps(parameter, sort_keys=True)].append((f"{method.upper()} {path}", parameter["name"]))
    return {endpoint: [label for label, _ in endpoints] for endpoints in alike.values() for endpoint in endpoints}


ENDPOINTS = _endpoints()


@described.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Decide whether to send a made-up request. All limits have tests of their own, so that by day half the limits of
    parameters are sent, each to one of the operations that take it, and a twelfth of the limits of bodies."""
    phase = case.meta.phase if case.meta else None
    if NIGHTLY or phase is None or not isinstance(phase.data, CoveragePhaseData):
        return True
    name, sent = phase.data.parameter or "", phase.data.description
    number = zlib.crc32(f"{name} {sent}".encode())
    if phase.data.parameter_location is ParameterLocation.BODY:  # made up for one operation anyhow
        return number % 12 == 0
    endpoints = ENDPOINTS.get((case.operation.label, name))
    return endpoints is None or 2 * endpoints.index(case.operation.label) == number % (2 * len(endpoints))


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with short time limits, so that hard problems do not hold up the test. max_explain_seconds is longer,
    because on a busy machine solvers may take more than two seconds to be ready."""
    limits = {"sync_seconds": "0.5", "default_time_limit": "0.2", "max_time_limit": "0.2", "max_explain_seconds": "20"}
    with serving(tmp_path_factory.mktemp("data"), **limits) as served:
        yield served


@pytest.fixture(scope="module")
def known(impatient: Served) -> dict[str, str]:
    """The ids of a job and of a batch that the service has, by the beginning of their path."""
    job = until(impatient, post_job(impatient, THREE), "succeeded")
    kind = {"Content-Type": "application/x-ndjson"}
    answer = impatient.client.post("/v1/batches", content=json.dumps(THREE), headers=kind)
    return {"/v1/jobs/{id}": job["id"], "/v1/batches/{id}": json.loads(answer.text.splitlines()[0])["batch"]}


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """One session for many requests; schemathesis repeats a request if the service has just closed the connection."""
    with requests.Session() as made:
        made.trust_env = False
        yield made


@described.parametrize()
@settings(
    max_examples=TRIES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
def test_every_answer_is_one_that_was_promised(
    case: schemathesis.Case[Any], impatient: Served, known: dict[str, str], session: requests.Session
) -> None:
    for beginning, id_ in known.items():
        if case.path.startswith(beginning) and len(str(case.path_parameters.get("id"))) % 2:
            case.path_parameters["id"] = id_
    response = case.call(base_url=impatient.address, session=session, timeout=SECONDS)
    case.validate_response(response, checks=CHECKS)
    if response.status_code >= 400:
        assert response.headers["content-type"][0].startswith(CONTENT_TYPE)
        assert response.json()["code"] in CODES
