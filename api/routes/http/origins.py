"""What pages of other origins may do, as their browsers ask before they send."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from ...errors import HttpCode, Refusal
from .sending import answer

METHODS = ("GET", "HEAD", "POST", "DELETE")
SENT = (
    "Authorization",
    "Cache-Control",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "Prefer",
)
READ = ("Age", "ETag", "Location", "Preference-Applied", "Retry-After", "X-Cache")


class Origins(CORSMiddleware):
    """Lets pages of these origins send what this service takes, and read its answers."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        super().__init__(app, origins, METHODS, SENT, expose_headers=READ, max_age=600)

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        named = bytes(response.body).decode().removeprefix("Disallowed CORS ")
        text = f"pages may not send this from there (allowed_origins); refused: {named}"
        kept = {name: response.headers[name] for name in response.headers if not name.startswith("content-")}
        return answer(Refusal(response.status_code, HttpCode.FORBIDDEN_ORIGIN, text, headers=kept))
