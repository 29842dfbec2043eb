"""C functions that compute the offsets of a plan for all shapes: straight integer arithmetic without loops or memory."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...checks.report import in_comment
from ..options.options import bad_option
from .answer import Behind, ShapesPlan
from .expression import NAME, Expression, Kind

HEAD = """\
/* Made by memplan: offsets of {count} buffers, worked out from {symbols}.
   {prefix}_offsets writes one offset for each buffer, in the order of the problem, and returns 0, or -1 if a symbol is out of range.
   {prefix}_peak returns the bytes that all of them take (of several pools the sum), or -1. */
#include <stdint.h>

"""
FUNCTIONS = {
    "max": "a > b ? a : b",
    "min": "a < b ? a : b",
    "ceildiv": "a / b + (a % b > 0)",
}
"""Functions of two values; those in use are defined in the source."""


def c_source(found: ShapesPlan, ids: list[str | int], prefix: str = "memplan") -> bytes:
    """Return the functions of a plan whose offsets are expressions; `ids` are the buffers' ids in the problem's order. Raises BadInput."""
    require_prefix(prefix, "prefix")
    if found.plan is not None:
        raise bad_option("mode", "C functions are for offsets that are expressions; the others are numbers")
    place = {id_: i for i, id_ in enumerate(ids)}
    if len(place) < len(ids) or place.keys() != {each.id for each in found.behind}:
        raise bad_option("ids", "they are those of the plan's buffers, each once")
    symbols = ", ".join(f"int64_t {_symbol(name)}" for name in found.symbols)
    names = ", ".join(found.symbols) or "nothing"
    parts = [f"\nint {prefix}_offsets({symbols}{', ' if symbols else ''}int64_t *offsets)\n{{\n"]
    parts += _checks(found)
    parts += [f"    {line}\n" for each in found.behind for line in _lines(each, place, prefix)]
    if not found.behind:
        parts.append("    (void)offsets;\n")
    parts += [
        f"    offsets[{place[each.id]}] = o{place[each.id]}; /* {_comment(each.id)} */\n" for each in found.behind
    ]
    parts.append("    return 0;\n}\n")
    parts.append(f"\nint64_t {prefix}_peak({symbols or 'void'})\n{{\n")
    parts += _checks(found)
    parts += [f"    {line}\n" for each in found.behind for line in _lines(each, place, prefix)]
    for number, pool in enumerate(found.pools):
        parts.append(f"    int64_t p{number} = 0;\n")
        for each in found.behind:
            if each.pool == pool.name:
                parts.append(f"    p{number} = {prefix}_max(p{number}, e{place[each.id]});\n")
    parts.append(f"    return {' + '.join(f'p{number}' for number in range(len(found.pools)))};\n}}\n")
    head = HEAD.format(count=len(ids), symbols=names, prefix=prefix)
    called = [
        f"static int64_t {prefix}_{name}(int64_t a, int64_t b) {{ return {value}; }}\n"
        for name, value in FUNCTIONS.items()
        if any(f"{prefix}_{name}(" in part.partition("/*")[0] for part in parts)
    ]
    return "".join([head, *called, *parts]).encode("ascii")


def require_prefix(prefix: str, option: str) -> None:
    """Raise BadInput, about that option, unless names of C functions can begin so."""
    if not NAME.fullmatch(prefix):
        raise bad_option(option, "a prefix is a letter, then letters, digits and _")


def _checks(found: ShapesPlan) -> Iterator[str]:
    for name, (low, high) in found.symbols.items():
        yield f"    if ({_symbol(name)} < INT64_C({low}) || {_symbol(name)} > INT64_C({high})) return -1;\n"


def _lines(each: Behind, place: dict[str | int, int], prefix: str) -> Iterator[str]:
    i = place[each.id]
    behind = "0"
    for id_ in each.after:
        behind = f"e{place[id_]}" if behind == "0" else f"{prefix}_max({behind}, e{place[id_]})"
    if each.alignment > 1 and behind != "0":
        behind = f"{prefix}_ceildiv({behind}, INT64_C({each.alignment})) * INT64_C({each.alignment})"
    yield f"const int64_t o{i} = {behind};"
    yield f"const int64_t e{i} = o{i} + {_c(each.size, prefix)};"
    yield f"(void)e{i};"


def _c(made: Expression, prefix: str) -> str:
    match made.kind:
        case Kind.NUMBER:
            return f"INT64_C({made.value})" if made.value >= 0 else f"(-INT64_C({-made.value}))"
        case Kind.SYMBOL:
            return _symbol(made.name)
        case Kind.SUM:
            return f"({' + '.join(_c(part, prefix) for part in made.parts)})"
        case Kind.PRODUCT:
            return f"({' * '.join(_c(part, prefix) for part in made.parts)})"
        case _:
            found = _c(made.parts[0], prefix)
            for part in made.parts[1:]:
                found = f"{prefix}_{made.kind.value}({found}, {_c(part, prefix)})"
            return found


def _symbol(name: str) -> str:
    """Return a symbol's name that clashes with no word of C nor with the functions' own names."""
    return f"s_{name}"


def _comment(id_: str | int) -> str:
    """Return the buffer's name in ASCII, without anything that could end the comment."""
    return in_comment(json.dumps(id_))
