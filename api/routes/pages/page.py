"""The web page: static files, and the examples that it offers."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from planner.formats.tables.format import JSON

from ...errors import HttpCode, Refusal
from ..http.answers import json_response, matches
from ..http.parameters import TheService
from ..openapi.examples import PROBLEM, shown
from ..openapi.shapes import OBJECT

router = APIRouter(tags=["page"])
FOLDER = Path(__file__).resolve().parents[2] / "web"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Only this service's own files, nothing inline, and no text ever becomes markup."""
HEADERS = {"Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "same-origin"}
VERSIONED = re.compile(r"([0-9a-f]{16})/(.*)")
LASTING = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Example:
    """A problem that the page offers."""

    title: str
    kind: str
    """The generator's."""
    buffers: int
    seed: int


EXAMPLES = {
    "transformer": Example("Transformer, 240 buffers", "transformer", 240, 1),
    "unet": Example("U-Net with long skips, 160 buffers", "unet", 160, 2),
    "training": Example("Training step, 1 500 buffers", "training", 1500, 3),
    "pools": Example("Three memories to choose from, 300 buffers", "pools", 300, 1),
    "variants": Example("Ways to choose from: a frontier, 120 buffers", "variants", 120, 1),
    "hard": Example("400 random buffers", "random", 400, 5),
    "large": Example("20 000 buffers that fill a memory without waste, if one finds out how", "packing", 20_000, 0),
}


@dataclass(frozen=True, slots=True)
class File:
    """A file for browsers, and what it may load."""

    data: bytes
    kind: str
    etag: str
    policy: str

    @classmethod
    def of(cls, data: bytes, kind: str, policy: str = POLICY) -> File:
        text = kind.startswith("text/")
        return cls(
            data, f"{kind}; charset=utf-8" if text else kind, f'"{hashlib.sha256(data).hexdigest()[:32]}"', policy
        )


@cache
def files() -> dict[str, File]:
    """Return all files, by their paths: no other can be requested."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in KINDS:
            found[path.relative_to(FOLDER).as_posix()] = File.of(path.read_bytes(), KINDS[path.suffix])
    return found


@cache
def version() -> str:
    """Return the name of all files' contents together."""
    return hashlib.sha256("".join(file.etag for file in files().values()).encode()).hexdigest()[:16]


@cache
def first_file() -> File:
    """Return the page with addresses of its files that name their version, so that browsers ask for each only once."""
    plain = FOLDER / "index.html"
    return File.of(plain.read_bytes().replace(b'"web/', b'"web/%s/' % version().encode()), KINDS[plain.suffix])


@router.get("/", include_in_schema=False)
async def page(request: Request) -> Response:
    return answer_file(request, first_file())


@router.get("/web/{path:path}", include_in_schema=False)
async def part(request: Request, path: str) -> Response:
    """Return one of the page's files; it lasts if its version is named, and another version's name is no matter."""
    versioned = VERSIONED.fullmatch(path)
    named, name = versioned.groups() if versioned else (None, path)
    file = files().get(name)
    if file is None:
        raise Refusal(404, HttpCode.NOT_FOUND, "there is no such file")
    return answer_file(request, file, lasts=named == version())


def answer_file(request: Request, file: File, *, lasts: bool = False) -> Response:
    """Return the file, or 304 if the browser has it already."""
    headers = {**HEADERS, "Content-Security-Policy": file.policy, "ETag": file.etag}
    if lasts:
        headers["Cache-Control"] = LASTING
    if matches(request, file.etag):
        return Response(status_code=304, headers=headers)
    return Response(file.data, 200, headers, file.kind)


@router.get(
    "/v1/examples",
    summary="List the examples",
    responses={200: shown("The examples.", {"examples": [{"name": "unet", "title": "U-Net"}]})},
)
async def examples() -> Response:
    """List problems to try; each is generated on request."""
    listed = [{"name": name, "title": example.title} for name, example in EXAMPLES.items()]
    return json_response({"examples": listed})


@router.get("/v1/examples/{name}", summary="An example", responses={200: shown("The problem.", PROBLEM, JSON, OBJECT)})
async def example(service: TheService, name: str) -> Response:
    """Return an example in memplan/1, ready to be sent to /v1/plans."""
    found = EXAMPLES.get(name)
    if found is None:
        raise Refusal(404, HttpCode.NOT_FOUND, "there is no such example")
    reply = await service.read("example", kind=found.kind, buffers=found.buffers, seed=found.seed)
    return Response(reply.payload, 200, {"Cache-Control": "private, max-age=3600"}, JSON)
