"""Parameters of routes: the service, the options in a request's query, the preferences in its headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_origin
from urllib.request import parse_http_list

from fastapi import Depends, Header
from pydantic import Field, ValidationError, create_model
from starlette.requests import Request

from planner.formats.tables.problems import names
from planner.model.errors import BadInput
from planner.planning.options.capacity import parse_capacities
from planner.planning.options.options import OptionKind

from ...errors import HttpCode, Refusal, refused
from ...jobs.requests.endpoints import ENDPOINTS, FIELDS, OFFERED, PLANS, Endpoint, RequestOptions
from ...jobs.requests.options import wrong_options
from ...service import Service
from ...store.records import Once

KEY = re.compile(r"[\x21-\x7e]{1,255}")


async def service_of(request: Request) -> Service:
    """Return the service. Asynchronous, so that no thread is needed."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(service_of)]


class RequestQuery(RequestOptions):
    """The query of a request for a plan."""

    format: str | None = Field(
        default=None, description=f"The body's format: {names()}; by default recognised. `text/plain` needs it."
    )
    name: str | None = Field(
        default=None,
        max_length=200,
        description="The problem's name if it has none of its own, such as its file's name.",
    )
    require: Literal["feasible"] | None = Field(
        default=None, description="`feasible`: an answer without a plan is an error (422)."
    )


class EndpointQuery:
    """The query of requests at one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        sizes = {name for name, row in OFFERED.items() if row.kind is OptionKind.SIZES and name not in endpoint.own}
        self._sizes = sizes
        fields: dict[str, Any] = FIELDS | dict(endpoint.own)
        for name in sizes:
            help_text = f"{OFFERED[name].help} `NAME=BYTES`, and `64KiB` works too."
            fields[name] = (list[str], Field(default=[], description=help_text))
        self._lists = {name for name, (type_, _) in fields.items() if get_origin(type_) is list}
        """Parameters that may be repeated."""
        self.model: type[RequestQuery] = create_model(f"{endpoint.name.title()}Query", __base__=RequestQuery, **fields)
        self._nothing = self.model()

    async def __call__(self, request: Request) -> RequestQuery:
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

    def options(self, query: RequestQuery) -> RequestOptions:
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
