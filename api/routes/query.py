"""Options in a request's query, and the preferences in its headers."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any, Literal

from fastapi import Depends, Header
from pydantic import Field, ValidationError, create_model
from starlette.requests import Request

from planner.formats.table import names
from planner.model.errors import BadInput
from planner.options.capacity import parse_capacities
from planner.options.options import OptionKind

from ..errors import HttpCode, Refusal, refused
from ..jobs.options import FIELDS, OFFERED, RequestOptions, SolveOptions, wrong_options
from ..store.records import Once

KEY = re.compile(r"[\x21-\x7e]{1,255}")


class RequestQuery(RequestOptions):
    """What the query of a request for a plan may say."""

    format: str | None = Field(
        default=None, description=f"The body's format: {names()}; by default recognised. `text/plain` needs it."
    )
    name: str | None = Field(
        default=None,
        max_length=200,
        description="What to call the problem if it has no name of its own: its file's, say.",
    )
    require: Literal["feasible"] | None = Field(
        default=None, description="`feasible`: an answer without a plan is an error (422)."
    )

    def options(self) -> RequestOptions:
        """The options among it. Raises Refusal."""
        said = {name: value for name, value in self.said().items() if name not in ("format", "name", "require")}
        for name in LISTS & said.keys():
            try:
                said[name] = parse_capacities(said[name])
            except BadInput as error:
                raise refused(error) from None
        return SolveOptions.model_validate(said)


LISTS = {name for name, row in OFFERED.items() if row.kind is OptionKind.SIZES}
"""What may be said more than once."""
QUERY_FIELDS: dict[str, Any] = FIELDS | {
    name: (list[str], Field(default=[], description=f"{OFFERED[name].help} `NAME=BYTES`, and `64KiB` works too."))
    for name in LISTS
}
PlanQuery = create_model("PlanQuery", __base__=RequestQuery, **QUERY_FIELDS)
NOTHING_SAID = PlanQuery()


async def plan_query(request: Request) -> RequestQuery:
    """What the query says. Raises Refusal. FastAPI's own way takes longer than all else that it does, even where nothing is said."""
    if not request.scope["query_string"]:
        return NOTHING_SAID
    said: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        said.setdefault(name, []).append(value)
    try:
        return PlanQuery.model_validate(
            {name: values if name in LISTS else values[-1] for name, values in said.items()}
        )
    except ValidationError as error:
        raise wrong_options(error.errors(include_url=False, include_input=False)) from None


def _parameters() -> list[dict[str, Any]]:
    found = []
    for name, said in PlanQuery.model_json_schema()["properties"].items():
        schema = {key: value for key, value in said.items() if (key, value) != ("default", None)}
        about = {"in": "query", "required": False, "description": schema["description"]}
        found.append({"name": name, **about, "schema": schema})
    return found


PlanOptions = Annotated[RequestQuery, Depends(plan_query)]
PLAN_PARAMETERS = {"parameters": _parameters()}
"""The same for OpenAPI."""
IdempotencyKey = Annotated[
    str | None, Header(description="Sent again with the same key, a request has the effect of one.")
]
Prefer = Annotated[
    str | None, Header(description="`respond-async`: answer with a job at once; `wait=SECONDS`: wait no longer.")
]


class Preferences:
    """What the client would like (RFC 7240); what is not understood is left aside."""

    def __init__(self, prefer: str | None) -> None:
        words = [word.strip().lower() for word in (prefer or "").split(",")]
        self.is_async = "respond-async" in words
        waits = [word[5:] for word in words if re.fullmatch(r"wait=[0-9]{1,6}", word)]
        self.wait = int(waits[0]) if waits else None


def once_of(key: str | None, path: str, fingerprint: str) -> Once | None:
    """The idempotency key. Raises Refusal if it is none."""
    if key is None:
        return None
    if not KEY.fullmatch(key):
        text = "the Idempotency-Key must have 1 to 255 visible ASCII characters"
        raise Refusal(400, HttpCode.INVALID_HEADER, text)
    return Once(key, hashlib.sha256(f"{path} {fingerprint}".encode()).hexdigest())
