"""Recognises formats by a file's content. Each function accepts files of only one format, after reading little of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..documents import Source


UTF_16 = "text in UTF-16: save it as UTF-8, as by `iconv -f {} -t UTF-8`"
PICKLE = (
    "a pickle, which can run code and is never read: save PyTorch's memory snapshot as JSON, "
    "as by `json.dump(torch.cuda.memory._snapshot(), file)`"
)
WRAPPED = {
    b"\x1f\x8b": "compressed by gzip: unpack it first, as by `gzip -d`",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first, as by `zstd -d`",
    b"\xfd7zXZ\x00": "compressed by xz: unpack it first, as by `xz -d`",
    b"BZh": "compressed by bzip2: unpack it first, as by `bzip2 -d`",
    b"PK\x03\x04": "a zip archive, but not of columns: unpack it first; a program of torch.export (.pt2) goes to memplan.compilers.torch_program",
    **{bytes((0x80, protocol)): PICKLE for protocol in range(2, 6)},
    b"\xff\xfe": UTF_16.format("UTF-16"),
    b"\xfe\xff": UTF_16.format("UTF-16"),
}
"""What a file that is in no format may be, by its first bytes, and what to do then."""

SHORTEST = 4
"""Two characters in UTF-16."""


def wrapped(data: bytes) -> str | None:
    """Return what holds the problem, if the file begins like that."""
    known = next((what for beginning, what in WRAPPED.items() if data.startswith(beginning)), None)
    if known is not None or len(data) < SHORTEST:
        return known
    even, odd = data[::2], data[1::2]  # of ASCII in UTF-16, one of both is zeros, even without a byte order mark
    if any(odd) == any(even) or 0 in (even if any(even) else odd):
        return None
    return UTF_16.format("UTF-16LE" if any(even) else "UTF-16BE")


def is_minimalloc(source: Source) -> bool:
    if source.may_be_json:
        return False
    from ..planners.minimalloc import looks_like_csv

    return looks_like_csv(source.data)


def is_columns(source: Source) -> bool:
    if source.data[:2] != b"PK":
        return False
    from ..memplan.columns import looks_like

    return looks_like(source.data)


def is_st_edge(source: Source) -> bool:
    return source.may_be_json and {"memory_pools", "buffers"} <= source.top.keys()


def is_usmp(source: Source) -> bool:
    if not source.may_be_json or "format" in source.top or is_st_edge(source):
        return False
    names = (b'"name_hint"', b'"size_bytes"')
    return "intervals" in source.top or ("buffers" in source.top and any(name in source.data for name in names))


def is_named(source: Source, *beginnings: str) -> bool:
    """True if the document names it."""
    format_ = source.top.get("format")
    return isinstance(format_, str) and format_.startswith(beginnings)


def is_chrome(source: Source) -> bool:
    if not source.may_be_json or "format" in source.top:
        return False
    return "traceEvents" in source.top or (source.data.lstrip()[:1] == b"[" and b'"ph"' in source.data[:65536])


def is_xla(source: Source) -> bool:
    if source.data[:1] != b"\n":
        return False
    from ..dumps.buffer_assignment import looks_like

    return looks_like(source.data)


def is_memory_space(source: Source) -> bool:
    if not source.data[:64].lstrip(b"\xef\xbb\xbf\r\n").startswith(b"buffer_id,"):
        return False
    from ..dumps.memory_space import looks_like

    return looks_like(source.data)


def is_idealloc(source: Source) -> bool:
    if source.data[:1] != b"\0" or len(source.data) % 64:
        return False
    from ..planners.idealloc import looks_like

    return looks_like(source.data)
