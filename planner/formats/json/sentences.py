"""pydantic's findings in our own words: a stable code, the place, and one sentence on which a user can act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic_core import ErrorDetails

from ...checks.report import Place, did_you_mean, quoted
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TEXT

BUFFER_ID_ERROR = "buffer_id"
LABEL_ERROR = "label"
PADDING_ERROR = "padding"
"""Our own error types, for values of alternative types."""

RESERVED = frozenset({"size_range", "variants", "extensions"})
"""Names that a later version of the format may define where they mean nothing now."""


def kind_of(value: object) -> str:
    """Return the kind of a JSON value, and the value if it is short."""
    match value:
        case None:
            return "null"
        case bool():
            return "the boolean " + str(value).lower()
        case int():
            return f"the integer {quoted(value)}"
        case float():
            return f"the number {quoted(value)}"
        case str():
            return f"the string {quoted(value)}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "something else"


SYMBOLS = """; a size may depend on symbols where the document declares them, as in 'symbols': {'n': [1, 2048]}"""


def _is_expression(place: Place, value: object) -> bool:
    """True for a buffer's size in letters, in a document without symbols."""
    is_size = len(place) == 3 and (place[0], place[2]) == ("buffers", "size")
    return is_size and isinstance(value, str) and any(c.isalpha() for c in value)


def _fields_at(schema: Any, place: Place) -> Iterable[str]:
    """Return the names of the fields that an object at this place may have; none if it is one of several kinds."""
    for step in place:
        inner = _unwrapped(schema)
        schema = inner.get("items_schema") if isinstance(step, int) else inner.get("fields", {}).get(step)
        if not isinstance(schema, dict):
            return ()
    fields = _unwrapped(schema).get("fields")
    return fields if isinstance(fields, dict) else ()


def _unwrapped(schema: Any) -> Any:
    while "fields" not in schema and isinstance(schema.get("schema"), dict):
        schema = schema["schema"]
    return schema


def describe_error(error: ErrorDetails, within: Place = (), schema: Any = None) -> tuple[Code, Place, str]:
    """Return one of pydantic's errors as code, place and sentence. `within`: the place of the part concerned; `schema`: what that should be."""
    place: Place = tuple(step for step in error["loc"] if not isinstance(step, bool))
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return Code.MISSING_FIELD, place, f"the field {quoted(str(place[-1]))} is missing"
    if kind == "extra_forbidden":
        name = str(place[-1])
        if name in RESERVED:
            return (
                Code.NOT_SUPPORTED_YET,
                place,
                f"the field {quoted(name)} is reserved: it has no meaning in this place yet",
            )
        meant = "" if schema is None else did_you_mean(name, _fields_at(schema, place[:-1]))
        return Code.UNKNOWN_FIELD, place, f"there is no field {quoted(name)} here{meant}"
    if kind in (BUFFER_ID_ERROR, LABEL_ERROR) and isinstance(value, str) and value:
        return Code.TOO_LARGE, place, too_long(value, MAX_TEXT)
    if kind in _TYPES:
        hint = SYMBOLS if _is_expression((*within, *place), value) else ""
        return Code.WRONG_TYPE, place, f"must be {_TYPES[kind]}, not {kind_of(value)}{hint}"
    if kind in _VALUES:
        code, sentence = _VALUES[kind]
        return code, place, sentence(value, context)
    return Code.INVALID_VALUE, place, f"{kind_of(value)} cannot be used here"


_TYPES = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing": "an integer",
    "string_type": "a string",
    "bool_type": "a boolean",
    "bool_parsing": "a boolean",
    "float_type": "a number",
    "float_parsing": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "none_required": "null",
    LABEL_ERROR: "a string or an integer",
}


def too_long(text: str, most: int) -> str:
    """Return the sentence about a string that is too long."""
    return f"must have {most} characters at most, not {len(text)}"


def _wrong_id(value: Any, _: dict[str, Any]) -> str:
    if value == "":
        return "an id must not be empty"
    return f"an id must be a string, or an integer from -2^62 to 2^62, not {kind_of(value)}"


def _length(value: Any, context: dict[str, Any]) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    wanted = f"at least {least}" if most is None else f"at most {most}"
    if isinstance(value, list) and 2 in (least, most):
        return f"must be a pair of two values, not a list of {context.get('actual_length', len(value))}"
    return f"must have {wanted} items"


def _bound(value: Any, context: dict[str, Any]) -> str:
    ((bound, number),) = context.items()
    return f"must be {_BOUNDS[bound].format(_number(number))}, not {quoted(value)}"


_BOUNDS = {"ge": "{} or more", "le": "{} or less", "gt": "more than {}", "lt": "less than {}"}


def _number(value: float) -> str:
    return {MAX_ADDRESS: "2^62", -MAX_ADDRESS: "-2^62"}.get(int(value), str(value).removesuffix(".0"))


def _one_of(value: Any, context: dict[str, Any]) -> str:
    return f"must be {context['expected']}, not {kind_of(value)}"


_VALUES: dict[str, tuple[Code, Callable[[Any, dict[str, Any]], str]]] = {
    BUFFER_ID_ERROR: (Code.WRONG_TYPE, _wrong_id),
    PADDING_ERROR: (
        Code.WRONG_TYPE,
        lambda *_: 'must be "valid", "same", or [before, after] for each axis of the kernel, as in [[1, 1], [0, 2]]',
    ),
    "too_short": (Code.INVALID_VALUE, _length),
    "too_long": (Code.INVALID_VALUE, _length),
    "string_too_short": (Code.INVALID_VALUE, lambda value, _: "must not be empty"),
    "string_too_long": (Code.TOO_LARGE, lambda value, context: too_long(value, context["max_length"])),
    "greater_than_equal": (Code.OUT_OF_RANGE, _bound),
    "less_than_equal": (Code.OUT_OF_RANGE, _bound),
    "greater_than": (Code.OUT_OF_RANGE, _bound),
    "less_than": (Code.OUT_OF_RANGE, _bound),
    "int_parsing_size": (Code.OUT_OF_RANGE, lambda value, _: f"{kind_of(value)} is too large"),
    "finite_number": (Code.NOT_FINITE, lambda value, _: "must be a finite number"),
    "literal_error": (Code.INVALID_VALUE, _one_of),
    "enum": (Code.INVALID_VALUE, _one_of),
    "value_error": (Code.INVALID_VALUE, lambda _, context: str(context["error"])),
    "json_invalid": (Code.INVALID_JSON, lambda value, _: "is not valid JSON"),
}
