"""Files for `scripts.measure.reading`: of every format one as programs write it, the same cut off, and what is made to take memory."""

from __future__ import annotations

from collections.abc import Callable

from tests.planner.formats.models.onnx.models import inside, node, number
from tests.planner.formats.models.onnx.models import value as declared

Make = Callable[[int], bytes]


def repeated(head: bytes, item: Callable[[int], bytes], tail: bytes, size: int, mark: bytes = b",") -> bytes:
    """A list that makes the file so large."""
    length = len(item(123456)) + len(mark)
    return head + mark.join(item(i) for i in range(max(1, size // length))) + tail


def lists(head: bytes, item: bytes, tail: bytes) -> Make:
    """The same again and again."""
    return lambda size: head + item * (size // len(item)) + item.rstrip(b",") + tail


def rows(head: bytes, item: Callable[[int], bytes], tail: bytes, mark: bytes = b",") -> Make:
    return lambda size: repeated(head, item, tail, size, mark)


def cut(make: Make) -> Make:
    """Without its end."""
    return lambda size: make(size)[:-20]


MEMPLAN = b'{"format":"memplan/1","lifetimes":"half_open","buffers":['
DSA = b'{"schema_version":1,"profile":"standard_dsa","instance":"i","problem":{"pools":[{"id":1,"name":"p","capacity":99999999999,"reserved_ranges":[]}],'
DSA_BUFFER = (
    b'{"id":%d,"name":"","size":8,"alignment":1,"live_intervals":[{"lower":%d,"upper":%d}],"allowed_pools":[1]}'
)
DSA_END = b'],"constraints":{"colocations":[],"separations":[],"temporal_exclusions":[],"pinned_allocations":[]},"objective":{"aggregation":"lexicographic","terms":["total_peak"]}}}'
PLAIN: dict[str, Make] = {
    "memplan": rows(MEMPLAN, lambda i: b'{"id":"b%d","size":64,"live":[[%d,%d]]}' % (i, i, i + 2), b"]}"),
    "dsa": rows(DSA + b'"buffers":[', lambda i: DSA_BUFFER % (i, i, i + 2), DSA_END),
    "usmp": rows(b'{"lifetimes":"inclusive","intervals":[', lambda i: b"[%d,%d,64]" % (i, i + 2), b"]}"),
    "graph": rows(
        b'{"format":"memplan-graph/1","tensors":[',
        lambda i: b'{"id":"t%d","shape":[64],"kind":"intermediate"}' % i,
        b'],"operators":[]}',
    ),
    "minimalloc": rows(b"id,lower,upper,size\n", lambda i: b"%d,%d,%d,64" % (i, i, i + 2), b"\n", b"\n"),
    "trace": rows(
        b'{"format":"memplan-trace/1"}\n',
        lambda i: b'{"event":"alloc","id":"b%d","bytes":64}\n{"event":"free","id":"b%d"}' % (i, i),
        b"\n",
        b"\n",
    ),
    "st-edge-ai": rows(
        b'{"memory_footprint":{},"memory_pools":[{"id":0,"name":"p","address":0,"size_bytes":4096}],"buffers":[',
        lambda i: (
            b'{"id":%d,"name":"b%d","size_bytes":64,"mempool_id":0,"offset_start":0,"start_epoch":%d,"end_epoch":%d}'
            % (i, i, i, i)
        ),
        b"]}",
    ),
    "torch-snapshot": rows(
        b'{"segments":[],"device_traces":[[',
        lambda i: (
            b'{"action":"alloc","addr":%d,"size":512,"stream":0,"time_us":%d},{"action":"free_completed","addr":%d,"size":512,"stream":0,"time_us":%d}'
            % (i, 2 * i, i, 2 * i + 1)
        ),
        b"]]}",
    ),
    "chrome-trace": rows(
        b'{"traceEvents":[',
        lambda i: b'{"ph":"X","name":"b%d","pid":"p","tid":0,"ts":%d,"dur":2,"args":{"size":64}}' % (i, i),
        b"]}",
    ),
    "tflm-log": rows(
        b"", lambda i: b"%c (id=%d): size=64, offset=0, first_used=%d last_used=%d" % (97, i, i, i + 1), b"\n", b"\n"
    ),
}

JSON_HEADS = {
    "memplan": (MEMPLAN, b"]}"),
    "memplan pairs": (MEMPLAN + b'],"constraints":{"conflicts":[', b"]}}"),
    "dsa": (DSA + b'"buffers":[', b"]}}"),
    "dsa pairs": (DSA + b'"buffers":[],"constraints":{"separations":[', b"]}}}"),
    "dsa metadata": (b'{"schema_version":1,"problem":{},"metadata":{"x":[', b"]}}"),
    "usmp": (b'{"lifetimes":"inclusive","intervals":[', b"]}"),
    "usmp buffers": (b'{"buffers":[', b"]}"),
    "graph": (b'{"format":"memplan-graph/1","tensors":[', b'],"operators":[]}'),
    "graph functions": (b'{"format":"memplan-graph/2","functions":[', b"]}"),
    "cascade": (b'{"format":"memplan-cascade/1","operators":[', b"]}"),
    "st-edge-ai": (b'{"memory_footprint":{},"memory_pools":[],"buffers":[', b"]}"),
    "torch-snapshot": (b'{"segments":[],"device_traces":[[', b"]]}"),
    "chrome-trace": (b'{"traceEvents":[', b"]}"),
}
ITEMS = {
    "empty lists": b"[],",
    "empty objects": b"{},",
    "lists of empty lists": b"[[]],",
    "nothing": b"null,",
    "zeros": b"0,",
    "objects of one key": b'{"id":0},',
    "texts": b'"",',
    "pairs": b"[1,2],",
    "numbers": b"1234567,",
}


def onnx(head: bytes, item: Callable[[int], bytes], tail: bytes = b"") -> Make:
    """A graph with an input `a` and so many of these."""

    def make(size: int) -> bytes:
        each = item(123456)
        body = head + inside(11, declared("a", [4])) + b"".join(item(i) for i in range(size // len(each)))
        return number(1, 8) + inside(7, body + tail)

    return make


ONNX: dict[str, Make] = {
    "nodes": onnx(b"", lambda i: inside(1, node("Relu", "a", f"b{i}")), inside(12, declared("b0", None))),
    "nodes of one letter": onnx(b"", lambda i: inside(1, inside(1, "a") + inside(2, "b") + inside(4, "R"))),
    "empty nodes": onnx(b"", lambda _: inside(1, b"")),
    "initializers": onnx(b"", lambda i: inside(5, inside(8, f"w{i}") + number(2, 1))),
    "value infos": onnx(b"", lambda i: inside(13, inside(1, f"v{i}"))),
    "inputs": onnx(b"", lambda i: inside(11, declared(f"i{i}", [4]))),
    "outputs": onnx(b"", lambda _: inside(12, inside(1, "a"))),
    "attributes": onnx(
        b"", lambda i: inside(1, inside(4, "R") + b"".join(inside(5, inside(1, f"{i % 10}{j}")) for j in range(20)))
    ),
    "inputs of nodes": onnx(b"", lambda _: inside(1, inside(1, "a") * 500 + inside(2, "b") + inside(4, "Sum")), b""),
    "functions": lambda size: number(1, 8) + b"".join(inside(25, inside(1, f"f{i}")) for i in range(size // 10)),
    "empty fields": lambda size: number(1, 8) + inside(8, b"") * (size // 2),
    "ints of attributes": onnx(
        b"", lambda i: inside(1, inside(4, "R") + inside(5, inside(1, "p") + inside(8, b"\1" * 1000)))
    ),
    "shapes": onnx(b"", lambda i: inside(13, declared(f"v{i}", [1] * 16))),
}

FILES: dict[tuple[str, str], Make] = {
    **{(name, "as programs write it"): make for name, make in PLAIN.items()},
    **{(name, "cut off"): cut(make) for name, make in PLAIN.items()},
    **{
        (name.split()[0], " ".join([item, *(["in", *name.split()[1:]] if " " in name else [])])): lists(
            head, text, tail
        )
        for name, (head, tail) in JSON_HEADS.items()
        for item, text in ITEMS.items()
    },
    ("memplan", "one object of many keys"): rows(
        b'{"format":"memplan/1","buffers":[],"x":{', lambda i: b'"%d":0' % i, b"}}"
    ),
    ("memplan", "keys at the top"): rows(b'{"format":"memplan/1",', lambda i: b'"%d":0' % i, b"}"),
    ("memplan", "sound, but the last id is there twice"): rows(
        MEMPLAN,
        lambda i: b'{"id":"b%d","size":64,"live":[[%d,%d]],"kind":"x"}' % (i, i, i + 2),
        b',{"id":"b0","size":1,"live":[[0,1]]}]}',
    ),
    ("memplan", "one text"): rows(b'{"format":"memplan/1","name":"', lambda i: b"aaaaaaaaaa", b'"}', b""),
    ("memplan", "letters of three bytes"): rows(
        b'{"format":"memplan/1","name":"', lambda i: "\u20ac\u20ac".encode(), b'"}', b""
    ),
    ("memplan", "and one of four"): rows(
        '{"format":"memplan/1","name":"\U0001f600'.encode(), lambda i: b"aaaaaaaaaa", b'"}', b""
    ),
    **{("onnx", name): make for name, make in ONNX.items()},
}
