"""The documentation site, if it was built (./scripts/docs): static files."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...errors import HttpCode, Refusal
from .page import FOLDER, File, answer_file
from .reference import PATH as API

router = APIRouter(include_in_schema=False)
SITE = FOLDER.parent / "site"
FIRST = "index.html"
INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Only this service's own files, and the theme's few lines of script in each page, by their hashes."""


@cache
def files(folder: Path) -> dict[str, File]:
    """Return all files, by their paths: no other can be requested."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            data = path.read_bytes()
            scripts = INLINE.findall(data) if kind == "text/html" else []
            found[path.relative_to(folder).as_posix()] = File.of(data, kind, POLICY.format(scripts=hashes(scripts)))
    return found


def hashes(scripts: list[bytes]) -> str:
    """Return the policy's names of permitted inline scripts."""
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode("ascii") for script in dict.fromkeys(scripts))
    return "".join(f" 'sha256-{digest}'" for digest in digests)


@router.get("/docs")
async def front() -> Response:
    """Redirect to the start of the documentation, or to the API's page if the site was not built. Relative: a proxy may serve both below a folder."""
    return RedirectResponse(f"docs/{FIRST}" if FIRST in files(SITE) else API.removeprefix("/"))


@router.get("/docs/{path:path}")
async def site(request: Request, path: str) -> Response:
    """Return one file of the documentation."""
    file = files(SITE).get(path or FIRST)
    if file is None:
        raise Refusal(404, HttpCode.NOT_FOUND, "there is no such page; ./scripts/docs builds the documentation")
    return answer_file(request, file)
