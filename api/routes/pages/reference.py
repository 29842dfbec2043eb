"""The OpenAPI document as a page for people: plain HTML made by the service itself, without scripts and without outside files."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from ...errors import CONTENT_TYPE
from .page import File, answer_file

DOCUMENT = "/openapi.json"
PATH = "/docs/api"
"""Beside the documentation, which is at /docs."""
router = APIRouter(tags=["page"])

Described = dict[str, Any]

TITLES = {
    "plans": "Plans",
    "jobs": "Jobs and batches",
    "checks": "Checks",
    "drawings": "Drawings",
    "about": "About the service",
    "page": "Examples",
}


@router.get(PATH, include_in_schema=False)
async def reference(request: Request) -> Response:
    """The page."""
    return await _written_once(request, "text/html", rendered)


@router.get(DOCUMENT, include_in_schema=False)
async def document(request: Request) -> Response:
    """The document itself."""
    return await _written_once(request, "application/json", json.dumps)


async def _written_once(request: Request, kind: str, written: Callable[[Described], str]) -> Response:
    """Return the text, which never changes while the process runs and takes a tenth of a second: written at the first request, for all."""
    state = request.app.state
    if not hasattr(state, "described"):
        state.described = {}
    known: dict[str, asyncio.Task[File]] = state.described
    if kind not in known:
        known[kind] = asyncio.create_task(
            asyncio.to_thread(lambda: File.of(written(request.app.openapi()).encode(), kind))
        )
    return answer_file(request, await asyncio.shield(known[kind]))


def rendered(document: Described) -> str:
    """Return the whole page."""
    by_tag: dict[str, list[tuple[str, str, Described]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((method, path, operation))
    return "\n".join(
        [
            *_head(document),
            *_contents(by_tag),
            '<main id="operations">',
            *_opening(document),
            *_sections(by_tag),
            *_schemas(document),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _head(document: Described) -> Iterator[str]:
    info = document["info"]
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">'
    yield f"<title>{escape(info['title'])}: the API</title>"
    yield '<link rel="icon" href="../web/icon.svg" type="image/svg+xml">\n<link rel="stylesheet" href="../web/reference.css">\n</head>\n<body>'
    yield '<a class="skip" href="#operations">To the operations</a>'
    yield f'<header><h1><a href="../"><img src="../web/icon.svg" alt="" width="22" height="22"> {escape(info["title"])}</a></h1>'
    yield f"<p>The API, version {escape(info['version'])}</p></header>"


def _contents(by_tag: dict[str, list[tuple[str, str, Described]]]) -> Iterator[str]:
    yield '<nav aria-label="Operations">'
    for tag, operations in by_tag.items():
        yield f"<h2>{escape(TITLES.get(tag, tag))}</h2>\n<ul>"
        for method, path, operation in operations:
            yield f'<li><a href="#{_anchor(method, path)}">{escape(operation["summary"])}</a></li>'
        yield "</ul>"
    yield '<h2><a href="#schemas">Schemas</a></h2>\n</nav>'


def _opening(document: Described) -> Iterator[str]:
    yield f"<p>{escape(document['info']['summary'])}</p>"
    yield '<p>For programs: <a href="../openapi.json"><code>/openapi.json</code></a> says the same.</p>'
    for name, scheme in document["components"]["securitySchemes"].items():
        needed = "Needed by whatever says so below" if document.get("security") else "Not needed here"
        yield f"<p><strong>{escape(name.capitalize())}</strong>: {_prose(scheme['description'])} {needed}.</p>"


def _sections(by_tag: dict[str, list[tuple[str, str, Described]]]) -> Iterator[str]:
    for tag, operations in by_tag.items():
        yield f"<h2>{escape(TITLES.get(tag, tag))}</h2>"
        for method, path, operation in operations:
            yield f'<section id="{_anchor(method, path)}">\n<h3>{escape(operation["summary"])}</h3>'
            yield f'<p class="call"><span class="method {method}">{method.upper()}</span> <code>{escape(path)}</code></p>'
            yield f"<p>{_prose(operation.get('description', ''))}</p>"
            yield from _parameters(operation.get("parameters", []))
            body = operation.get("requestBody", {}).get("content", {})
            if body:
                yield "<h4>Body</h4>"
                yield from _contents_of(body)
            yield "<h4>Answers</h4>"
            yield from _answers(operation["responses"])
            yield "</section>"


def _parameters(parameters: list[Described]) -> Iterator[str]:
    if not parameters:
        return
    yield f"<details>\n<summary>{len(parameters)} parameter{'s' * (len(parameters) > 1)}</summary>\n<dl>"
    for each in parameters:
        schema = each["schema"]
        notes = [each["in"], _kind(schema)]
        if each.get("required"):
            notes.append("required")
        if schema.get("default") is not None:
            notes.append(f"default {json.dumps(schema['default'])}")
        description = each.get("description") or schema.get("description") or ""
        yield f'<dt><code>{escape(each["name"])}</code> <span class="soft">{escape(", ".join(filter(None, notes)))}</span></dt><dd>{_prose(description)}</dd>'
    yield "</dl>\n</details>"


def _answers(responses: dict[str, Described]) -> Iterator[str]:
    refused = [status for status, response in responses.items() if CONTENT_TYPE in response.get("content", {})]
    for status, response in responses.items():
        if status not in refused:
            yield f"<p><strong>{escape(status)}</strong> {_prose(response['description'])}</p>"
            yield from _contents_of(response.get("content", {}))
    if refused:
        yield f'<p class="soft">{escape(", ".join(refused))}: a <a href="#schema-Refusal">refusal</a>, {escape(CONTENT_TYPE)}</p>'


def _contents_of(content: dict[str, Described]) -> Iterator[str]:
    for kind, each in content.items():
        schema = each.get("schema", {}).get("$ref", "").rpartition("/")[2]
        of = f', <a href="#schema-{escape(schema)}">{escape(schema)}</a>' if schema else ""
        yield f"<p><code>{escape(kind)}</code>{of}</p>"
        examples = each.get("examples") or {"": {"value": each["example"]}}
        for name, example in examples.items():
            label = example.get("summary") or name
            yield f"<details>\n<summary>Example{': ' if label else ''}{escape(label)}</summary>\n{_block(example['value'])}\n</details>"


def _schemas(document: Described) -> Iterator[str]:
    yield '<h2 id="schemas">Schemas</h2>'
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f'<section id="schema-{escape(name)}">\n<h3>{escape(name)}</h3>'
        yield f"<details>\n<summary>JSON Schema</summary>\n{_block(schema)}\n</details>\n</section>"


def _block(value: object) -> str:
    """Return a block that scrolls if it is wider than the page, by keyboard too."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return f'<pre tabindex="0">{escape(text.rstrip())}</pre>'


def _kind(schema: Described) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(kind for kind in map(_kind, schema["anyOf"]) if kind != "null")
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", ""))


def _prose(text: str) -> str:
    """Return escaped sentences of docstrings, with text in backticks as code."""
    return re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text))


def _anchor(method: str, path: str) -> str:
    return "-".join([method, *re.findall(r"\w+", path)])
