"""Clients with and without tokens, and single requests as attacks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import httpx

from tests.http.hostile.attacks import sent
from tests.http.served import JSON, PLAIN, SECONDS, Served

TOKENS = {"a": "the token of a", "b": "the token of b"}
SETTING = ",".join(f"{name}={hashlib.sha256(token.encode()).hexdigest()}" for name, token in TOKENS.items())


def client(service: Served, name: str = "") -> httpx.Client:
    """A client with one of the tokens; without a name, with none."""
    headers = JSON | ({"Authorization": f"Bearer {TOKENS[name]}"} if name else {})
    return httpx.Client(base_url=service.address, headers=headers, timeout=4 * SECONDS, trust_env=False, verify=PLAIN)


def request_of(method: str, path: str, body: bytes | None = None, name: str = "") -> Callable[[Served], list[int]]:
    """An attack that sends one ordinary request."""

    def send(service: Served) -> list[int]:
        with client(service, name) as one:
            return [one.request(method, path, content=body).status_code]

    return send


def posted(path: str, document: object, name: str = "") -> Callable[[Served], list[int]]:
    """An attack that posts a document, which is serialized when it is sent."""

    def send(service: Served) -> list[int]:
        return request_of("POST", path, json.dumps(document).encode(), name)(service)

    return send


def literal_request(text: str) -> Callable[[Served], list[int]]:
    """An attack that sends one request verbatim."""
    return lambda service: sent(service, iter((text.encode("latin-1"),)))
