"""The service's errors: problem documents (RFC 9457) with the same codes as the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from http import HTTPStatus

from planner.model.errors import MAX_FINDINGS, Code, Finding, PlannerError

CONTENT_TYPE = "application/problem+json"


class HttpCode(StrEnum):
    """Stable codes of errors specific to HTTP; the others are planner.model.errors.Code."""

    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    MALFORMED_REQUEST = "malformed_request"
    INVALID_HEADER = "invalid_header"
    UNAUTHORISED = "unauthorised"
    FORBIDDEN = "forbidden"
    FORBIDDEN_HOST = "forbidden_host"
    FORBIDDEN_ORIGIN = "forbidden_origin"
    NOT_LOOPBACK = "not_loopback"
    TOO_SLOW = "too_slow"
    KEY_REUSED = "idempotency_key_reused"
    BATCH_ENDED = "batch_ended"
    QUEUE_FULL = "queue_full"
    TOO_BUSY = "too_busy"
    TOO_MANY_STREAMS = "too_many_streams"
    INFEASIBLE = "infeasible"
    NO_PLAN = "no_plan_in_time"
    NO_PLAN_YET = "no_plan_yet"
    NO_PROOF = "no_proof"
    WORKER_DIED = "worker_died"
    STORE_UNAVAILABLE = "store_unavailable"
    STORE_DAMAGED = "store_damaged"
    STOPPING = "stopping"
    NOT_READY = "not_ready"
    INTERNAL = "internal"


MALFORMED = frozenset(
    {Code.INVALID_JSON, Code.TOO_DEEP, Code.DUPLICATE_KEY, Code.NOT_FINITE, Code.INTEGER_TOO_LONG, Code.UNREADABLE}
)
"""Findings about the bytes: they are not a sound document of any kind."""


class Refusal(Exception):
    """A request that is refused: status, code, and one clear sentence."""

    def __init__(
        self,
        status: int,
        code: Code | HttpCode,
        detail: str,
        *,
        findings: Sequence[Finding] = (),
        more: int = 0,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.findings = tuple(findings[:MAX_FINDINGS])
        self.more = more + len(findings[MAX_FINDINGS:])
        self.headers = dict(headers or {})
        self.members = dict(members or {})

    def document(self) -> bytes:
        """Return the problem document."""
        fields: dict[str, object] = {
            "type": f"urn:memplan:problem:{self.code.value}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code.value,
        }
        if self.findings:
            fields["errors"] = [
                {"code": found.code.value, "pointer": found.pointer, "message": found.message}
                for found in self.findings
            ]
            fields["more"] = self.more
        return json.dumps(fields | self.members, allow_nan=False).encode("ascii")


def status_of(code: Code) -> int:
    """Return 400 for bytes that are no document, 413 if time ran out, 503 for solvers that broke and plans that are withheld, 422 for unusable input."""
    if code in MALFORMED:
        return HTTPStatus.BAD_REQUEST
    if code is Code.OUT_OF_TIME:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    broken = code in (Code.SOLVER_FAILED, Code.PLAN_WITHHELD)
    return HTTPStatus.SERVICE_UNAVAILABLE if broken else HTTPStatus.UNPROCESSABLE_ENTITY


def refused(error: PlannerError) -> Refusal:
    """Return the planner's error as a refusal; the first finding determines its kind."""
    return refused_findings(error.findings, error.more)


def refused_findings(findings: Sequence[Finding], more: int = 0) -> Refusal:
    """Return findings from another process as a refusal."""
    first = findings[0]
    place = f"{first.pointer}: " if first.pointer else ""
    rest = len(findings) + more - 1
    detail = f"{place}{first.message}" + (f" (and {rest} more)" if rest else "")
    return Refusal(status_of(first.code), first.code, detail, findings=findings, more=more)


def bad_option(name: str, message: str) -> Refusal:
    """Return the refusal of an invalid option, in the planner's words."""
    return refused_findings([Finding(Code.INVALID_OPTION, f"/options/{name}" if name else "", message)])


def unsupported(detail: str) -> Refusal:
    """Return the refusal of a body that is not, or cannot be, what the request claims."""
    return Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HttpCode.UNSUPPORTED_MEDIA_TYPE, detail)


def too_busy(detail: str) -> Refusal:
    """Return the refusal for lack of room at the moment. The connection ends, since the rest of the request is not read."""
    headers = {"Retry-After": "5", "Connection": "close"}
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, HttpCode.TOO_BUSY, detail, headers=headers)


class OutOfMemory(Refusal):
    """The request needs more memory than one may have. Trying again is useless, but earlier partial results may serve."""

    def __init__(self, detail: str = "this takes more memory than there is for one request") -> None:
        headers = {"Connection": "close"}
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Code.TOO_LARGE, detail, headers=headers)


def too_large(detail: str) -> Refusal:
    """Return the refusal of more than the service takes. The connection ends, since the rest of the body is not read."""
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Code.TOO_LARGE, detail, headers={"Connection": "close"})


def takes_too_long(seconds: float) -> Refusal:
    """Return the refusal of a check that exceeded its own time limit."""
    text = f"this takes longer than {seconds:g} seconds to look at; make it smaller, or give it to the command `memplan`, which waits for as long as you do"
    return Refusal(413, Code.TOO_LARGE, text)
