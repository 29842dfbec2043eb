"""Parameters of routes: the service, the options in a request's query, the preferences in its headers."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_origin
from urllib.request import parse_http_list

from fastapi import Depends, FastAPI, Header
from pydantic import Field, ValidationError, create_model
from starlette.requests import Request

from planner.checks.report import pointer
from planner.formats.tables.problems import names
from planner.model.errors import BadInput, Code, Finding
from planner.planning.options.capacity import parse_capacities
from planner.planning.options.options import OptionKind

from ...errors import HttpCode, Refusal, refused, refused_findings
from ...jobs.requests.endpoints import ENDPOINTS, FIELDS, OFFERED, PLANS, Endpoint, RequestOptions
from ...jobs.requests.options import no_such_option, wrong_options
from ...service import Service
from ...store.records import Once

VERSION = "/v1/"
Described = dict[str, dict[str, bool]]
"""For each operation its parameters in the query, and whether each is a list."""
NOWHERE = {"type": "http", "method": "GET", "path": "", "root_path": "", "headers": [], "query_string": b""}
"""What no route matches."""
KEY = re.compile(r"[\x21-\x7e]{1,255}")


async def service_of(request: Request) -> Service:
    """Return the service. Asynchronous, so that no thread is needed."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(service_of)]


class BodyQuery(RequestOptions):
    """The query of a request with a problem in its body, or many."""

    format: str | None = Field(
        default=None, description=f"The body's format: {names()}; by default recognised. `text/plain` needs it."
    )


class ProblemQuery(BodyQuery):
    """The query of a request with one problem."""

    name: str | None = Field(
        default=None,
        max_length=200,
        description="The problem's name if it has none of its own, such as its file's name.",
    )


class RequestQuery(ProblemQuery):
    """The query of a request that is answered with a plan if there is one in time."""

    require: Literal["feasible"] | None = Field(
        default=None, description="`feasible`: an answer without a plan is an error (422)."
    )


def begin_to_describe(app: FastAPI) -> asyncio.Task[Described]:
    """Begin to read the parameters of all paths out of their description, which takes a while: no request shall wait for it.

    Routes are made when they are first looked at, which two threads cannot do at once: so that is done before.
    """
    for route in app.routes:
        route.matches(dict(NOWHERE))
    begun = asyncio.create_task(asyncio.to_thread(lambda: _described(app.openapi())))
    app.state.parameters = begun
    return begun


async def known_only(request: Request) -> None:
    """Raise Refusal unless each parameter in the query is in the path's description, and there once unless it is a list: none is ignored."""
    path = request.scope["route"].path
    if not request.scope["query_string"] or not path.startswith(VERSION):
        return
    described: Described = await asyncio.shield(request.app.state.parameters)
    here = described[f"{request.method} {path}"]
    findings = []
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        message = _of_unknown(name, described) if name not in here else f"is given {count} times; give it once"
        if name not in here or (count > 1 and not here[name]):
            findings.append(Finding(Code.INVALID_OPTION, pointer(("options", name[:60])), message))
    if findings:
        raise refused_findings(findings)


def _described(document: Mapping[str, Any]) -> Described:
    return {
        f"{method.upper()} {path}": {
            each["name"]: each["schema"].get("type") == "array"
            for each in operation.get("parameters", ())
            if each["in"] == "query"
        }
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def _of_unknown(name: str, described: Described) -> str:
    elsewhere = ", ".join(operation for operation, names in described.items() if name in names)
    return f"there is no such option here, only for {elsewhere}; leave it out" if elsewhere else no_such_option(name)


class EndpointQuery:
    """The query of requests at one endpoint."""

    def __init__(self, endpoint: Endpoint, base: type[BodyQuery] = RequestQuery) -> None:
        self._endpoint = endpoint
        sizes = {name for name, row in OFFERED.items() if row.kind is OptionKind.SIZES and name not in endpoint.own}
        self._sizes = sizes
        fields: dict[str, Any] = FIELDS | dict(endpoint.own)
        for name in sizes:
            help_text = f"{OFFERED[name].help} `NAME=BYTES`, and `64KiB` works too."
            fields[name] = (list[str], Field(default=[], description=help_text))
        self._lists = {name for name, (type_, _) in fields.items() if get_origin(type_) is list}
        """Parameters that may be repeated."""
        self.model: type[BodyQuery] = create_model(f"{endpoint.name.title()}{base.__name__}", __base__=base, **fields)
        self._nothing = self.model()

    async def __call__(self, request: Request) -> BodyQuery:
        """Return the query. Raises Refusal. FastAPI's own way takes longer than everything else it does, even without a query."""
        if not request.scope["query_string"]:
            return self._nothing
        given: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            given.setdefault(name, []).append(value)
        try:
            return self.model.model_validate(
                {name: values if name in self._lists else values[-1] for name, values in given.items()}
            )
        except ValidationError as error:
            raise wrong_options(error.errors(include_url=False)) from None

    def options(self, query: BodyQuery) -> RequestOptions:
        """Return the options in the query. Raises Refusal."""
        given = {name: value for name, value in query.given().items() if name not in RequestQuery.model_fields}
        for name in self._sizes & given.keys():
            try:
                given[name] = parse_capacities(given[name])
            except BadInput as error:
                raise refused(error) from None
        return self._endpoint.loose.model_validate(given)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for OpenAPI."""
        found = []
        for name, described in self.model.model_json_schema()["properties"].items():
            schema = {key: value for key, value in described.items() if (key, value) != ("default", None)}
            about = {"in": "query", "required": False, "description": schema["description"]}
            found.append({"name": name, **about, "schema": schema})
        return {"parameters": found}


QUERIES = {name: EndpointQuery(endpoint) for name, endpoint in ENDPOINTS.items()}
PLAN_QUERY = QUERIES[PLANS.name]
PlanOptions = Annotated[RequestQuery, Depends(PLAN_QUERY)]
PLAN_PARAMETERS = PLAN_QUERY.parameters()
JOB_QUERY, LINES_QUERY = EndpointQuery(PLANS, ProblemQuery), EndpointQuery(PLANS, BodyQuery)
"""The queries of a job and of a batch: they are not answered with a plan, and a batch has no problem's name."""
JobOptions = Annotated[ProblemQuery, Depends(JOB_QUERY)]
LinesOptions = Annotated[BodyQuery, Depends(LINES_QUERY)]
IdempotencyKey = Annotated[
    str | None, Header(description="A request that is repeated with the same key has the effect of one.")
]
Prefer = Annotated[
    list[str] | None,
    Header(
        description="`respond-async`: answer with a job at once; `wait=SECONDS`: wait at most so long for the plan."
    ),
]


class Preferences:
    """The client's wishes (RFC 7240); unknown ones are ignored."""

    def __init__(self, prefer: Sequence[str] | None) -> None:
        """`prefer`: the header's lines, as many as there are."""
        words = [word.partition(";")[0].rstrip() for word in _words(", ".join(prefer or ()))]
        self.is_async = "respond-async" in words
        waits = [word[5:] for word in words if re.fullmatch(r"wait=[0-9]{1,6}", word)]
        self.wait = int(waits[0]) if waits else None


def wants_anew(request: Request) -> bool:
    """True if the client wants no stored answer (RFC 9111)."""
    return "no-cache" in _words(", ".join(request.headers.getlist("cache-control")))


def _words(header: str) -> list[str]:
    """Return the elements of a list; commas within quotes separate none."""
    return [word.strip().lower() for word in parse_http_list(header)]


def once_of(key: str | None, path: str, fingerprint: str) -> Once | None:
    """Return the idempotency key. Raises Refusal if it is invalid."""
    if key is None:
        return None
    if not KEY.fullmatch(key):
        text = "the Idempotency-Key must have 1 to 255 visible ASCII characters"
        raise Refusal(400, HttpCode.INVALID_HEADER, text)
    return Once(key, hashlib.sha256(f"{path} {fingerprint}".encode()).hexdigest())
