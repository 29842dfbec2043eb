"""Strict validation of JSON with pydantic, with its errors in our own words: place, code, one sentence, never too many.

The bytes are first validated as a whole, stopping early. Only if that fails is the document validated item by item, so that ten thousand bad
items cost a count and not ten thousand error objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, cast

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, from_json

from ...checks.report import Place, Report, quoted
from ...model.deadline import in_time, tick
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TEXT
from .scan import WIDE
from .sentences import BUFFER_ID_ERROR, LABEL_ERROR, describe_error

STRICT = ConfigDict(strict=True, extra="forbid")
"""For every wire type: no conversions, no unknown fields."""
STRICT_VALUES = ConfigDict(strict=True)
"""For parts that are not objects."""
TOLERANT = ConfigDict(strict=True, extra="allow")
"""For other tools' formats, whose files may have further fields."""


class _StopEarly:
    """Makes a list report only its first bad item, so that errors stay few."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        schema["fail_fast"] = True
        return cast(CoreSchema, schema)


Item = TypeVar("Item")
Items: TypeAlias = Annotated[list[Item], _StopEarly()]


class OneError:
    """Makes a union report one error instead of one for each member."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        schema["custom_error_type"] = schema["custom_error_message"] = self._kind
        return cast(CoreSchema, schema)


BufferIdField: TypeAlias = Annotated[
    Annotated[int, Field(ge=-MAX_ADDRESS, le=MAX_ADDRESS)]
    | Annotated[str, Field(min_length=1, json_schema_extra={"maxLength": MAX_TEXT})],
    OneError(BUFFER_ID_ERROR),
]
Label: TypeAlias = Annotated[str | int, OneError(LABEL_ERROR)]


class Part(NamedTuple):
    """The type of a long list's items."""

    item: TypeAdapter[Any]
    inner: Mapping[str, Part] = MappingProxyType({})
    """Lists within the items that may be long too."""
    member: TypeAdapter[Any] | None = None
    """The type of the items' items, if the items are long lists."""
    kept: Callable[[list[Any]], Any] | None = None
    """For a long document: turns sound items into what is kept of them, which can be extended and cleared."""


class Wire(NamedTuple):
    """A document type, and its long lists, which are validated item by item if something is wrong."""

    document: TypeAdapter[Any]
    lists: Callable[[], Mapping[tuple[str, ...], Part]]
    """Made on first use."""
    free: frozenset[str] = frozenset()
    """Fields whose own fields may be anything."""
    unread: frozenset[str] = frozenset()
    """The document's own free fields that are never read."""
    is_open: bool = False
    """True if its objects may have any further fields."""


def once(lists: Callable[[], Mapping[tuple[str, ...], Part]]) -> Callable[[], Mapping[tuple[str, ...], Part]]:
    """Return the lists of a Wire, made on first use: that takes longer than a small document."""
    return cache(lists)


@cache
def field_names(document: TypeAdapter[Any]) -> frozenset[str]:
    """Return the names of all fields of all objects in a document; found on first use, as few documents need them."""
    names: set[str] = set()
    todo: list[Any] = [document.core_schema]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            if here.get("type") == "typed-dict":
                names.update(here["fields"])
            todo.extend(here.values())
        elif isinstance(here, list | tuple):
            todo.extend(here)
    return frozenset(names)


def validated(wire: Wire, data: bytes, top: Mapping[str, Any]) -> Any:
    """Return the document as plain Python objects, all at once. Raises BadInput with at most MAX_FINDINGS findings, and the number of the rest."""
    if not _needed(wire.document.core_schema) <= top.keys():
        # pydantic would make an error for each missing field, with a copy of the whole document
        report = Report()
        take_apart(wire, from_json(data), report)
        report.raise_if_any()
    try:
        return wire.document.validate_json(data)
    except ValidationError as error:
        report = Report()
        take_apart(wire, from_json(data), report)
        if not report:
            _list_errors(error, (), report, wire.document)
        report.raise_if_any()
        raise  # not reached: an error that pydantic reports is listed above


def _needed(schema: Any) -> set[str]:
    """Return the required fields of the document itself."""
    while "fields" not in schema:
        schema = schema["schema"]
    return {name for name, field in schema["fields"].items() if field["required"]}


def report_wide(wire: Wire, document: Any, place: Place, report: Report) -> None:
    """Remove and report the unknown fields of objects with more keys than any type has, most only by number."""
    todo: list[tuple[Place, Any]] = [(place, document)]
    while todo:
        tick("reading")
        place, here = todo.pop()
        if isinstance(here, dict):
            if len(here) > WIDE:
                names = field_names(wire.document)
                for key in [key for key in here if key not in names]:
                    report.add(Code.UNKNOWN_FIELD, (*place, key), f"there is no field {quoted(key)} here")
                    del here[key]
            below = ((key, value) for key, value in here.items() if key not in wire.free)
            todo.extend(((*place, key), value) for key, value in below if isinstance(value, dict | list))
        elif isinstance(here, list):
            todo.extend(((*place, i), value) for i, value in enumerate(here) if isinstance(value, dict | list))


def take_apart(wire: Wire, document: Any, report: Report) -> None:
    """Report all faults of the document, its long lists item by item."""
    parts = wire.lists()
    longs: list[tuple[tuple[str, ...], list[Any]]] = []
    for path in parts:
        *way, last = path
        holder = document
        for key in way:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(holder.get(last), list):
            longs.append((path, holder[last]))
            holder[last] = []
    _validate_part(wire.document, document, (), report)
    for path, items in longs:
        part = parts[path]
        for i, item in enumerate(in_time(items, "reading", path[-1])):
            validate_item(part, item, (*path, i), report)


def is_taken_apart(part: Part, item: Any) -> bool:
    """True if several parts of the item are validated separately."""
    return (
        not part.inner.keys().isdisjoint(item)
        if isinstance(item, dict)
        else part.member is not None and isinstance(item, list)
    )


def validate_item(part: Part, item: Any, place: Place, report: Report) -> None:
    if part.member is not None and isinstance(item, list):
        _validate_all(part.member, item, place, report)
        return
    inner: dict[str, list[Any]] = {}
    if part.inner and isinstance(item, dict):
        inner = {name: value for name, value in item.items() if name in part.inner and isinstance(value, list)}
        item = {name: [] if name in inner else value for name, value in item.items()}
    _validate_part(part.item, item, place, report)
    for name, items in inner.items():
        _validate_all(part.inner[name].item, items, (*place, name), report)


def _validate_all(adapter: TypeAdapter[Any], items: list[Any], place: Place, report: Report) -> None:
    for j, item in enumerate(in_time(items, "reading")):
        _validate_part(adapter, item, (*place, j), report)


def _validate_part(adapter: TypeAdapter[Any], part: Any, place: Place, report: Report) -> None:
    try:
        adapter.validate_python(part)
    except ValidationError as error:
        if report.is_full:
            report.count(error.error_count())
        else:
            _list_errors(error, place, report, adapter)


def _list_errors(error: ValidationError, place: Place, report: Report, adapter: TypeAdapter[Any]) -> None:
    for detail in error.errors(include_url=False):
        code, at, message = describe_error(detail, place, None if report.is_full else adapter.core_schema)
        report.add(code, (*place, *at), message)


def unknown_keys(part: Mapping[str, Any], known: type) -> list[str]:
    """Return the keys of a tolerantly read object that its wire type lacks."""
    return [key for key in part if key not in known.__annotations__]
