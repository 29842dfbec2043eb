"""Messages between the service and its worker processes: a line of JSON, then bytes. Nothing in them can be executed."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from typing import Any

from planner.model.errors import Code, Finding

from ...errors import HttpCode, Refusal

NO_MEMORY = errno.ENOMEM
"""The exit code that says that a worker had no memory left: a message would take some."""


def pack(header: Mapping[str, Any], payload: bytes | bytearray | memoryview = b"") -> bytes:
    """Return one message."""
    line = json.dumps(header, allow_nan=False).encode("ascii")
    return b"".join((line, b"\n", payload))


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """Return its header and its payload."""
    line, _, payload = message.partition(b"\n")
    header: dict[str, Any] = json.loads(line)
    return header, payload


def as_message(refusal: Refusal) -> dict[str, Any]:
    """Return a refusal as a message to the service."""
    return {
        "kind": "refused",
        "status": int(refusal.status),
        "code": refusal.code.value,
        "detail": refusal.detail,
        "findings": [[found.code.value, found.pointer, found.message] for found in refusal.findings],
        "more": refusal.more,
        "headers": refusal.headers,
    }


def as_refusal(header: Mapping[str, Any]) -> Refusal:
    """Return a worker's refusal."""
    code = header["code"]
    return Refusal(
        header["status"],
        Code(code) if code in tuple(Code) else HttpCode(code),
        header["detail"],
        findings=[Finding(Code(kind), pointer, message) for kind, pointer, message in header["findings"]],
        more=header["more"],
        headers=header["headers"],
    )


def as_failure(refusal: Refusal) -> dict[str, Any]:
    """Return a refusal as a job stores it."""
    return {name: value for name, value in as_message(refusal).items() if name not in ("kind", "headers")}
