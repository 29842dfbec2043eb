"""Files for `scripts.measure.reading.memory`: for every format one as programs write it, one without its end, and files made to take much memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from planner import Buffer, Problem
from planner.formats import FORMATS, Format
from tests.planner.formats.dumps import test_executorch as executorch
from tests.planner.formats.models.onnx.models import inside, node, number
from tests.planner.formats.models.onnx.models import value as declared
from tests.planner.formats.models.tflite import files

Make = Callable[[int], bytes]


def repeated(head: bytes, item: Callable[[int], bytes], tail: bytes, size: int, mark: bytes = b",") -> bytes:
    """A list that fills the file to this size."""
    length = len(item(123456)) + len(mark)
    return head + mark.join(item(i) for i in range(max(1, size // length))) + tail


def lists(head: bytes, item: bytes, tail: bytes) -> Make:
    """The same item repeated."""
    return lambda size: head + item * (size // len(item)) + item.rstrip(b",") + tail


def rows(head: bytes, item: Callable[[int], bytes], tail: bytes, mark: bytes = b",") -> Make:
    return lambda size: repeated(head, item, tail, size, mark)


def cut(make: Make) -> Make:
    """The file without its end."""
    return lambda size: make(size)[:-20]


START = number(1, 8) + inside(8, number(2, 18))
"""The beginning of an ONNX model: the versions of the format and of the operators."""
MEMPLAN = b'{"format":"memplan/1","lifetimes":"half_open","buffers":['
DSA = b'{"schema_version":1,"profile":"standard_dsa","instance":"i","problem":{"pools":[{"id":1,"name":"p","capacity":99999999999,"reserved_ranges":[]}],'
DSA_BUFFER = (
    b'{"id":%d,"name":"","size":8,"alignment":1,"live_intervals":[{"lower":%d,"upper":%d}],"allowed_pools":[1]}'
)
DSA_END = b'],"constraints":{"colocations":[],"separations":[],"temporal_exclusions":[],"pinned_allocations":[]},"objective":{"aggregation":"lexicographic","terms":["total_peak"]}}}'
DENSE: dict[str, Make] = {
    "memplan": rows(MEMPLAN, lambda i: b'{"id":"b%d","size":64,"live":[[%d,%d]]}' % (i, i, i + 2), b"]}"),
    "dsa": rows(DSA + b'"buffers":[', lambda i: DSA_BUFFER % (i, i, i + 2), DSA_END),
    "usmp": rows(b'{"lifetimes":"inclusive","intervals":[', lambda i: b"[%d,%d,64]" % (i, i + 2), b"]}"),
    "graph": lambda size: _graph(size // 105),
    "cascade": lambda size: _graph(min(size // 105, 4000), cascade=True),
    "trace": rows(
        b'{"format":"memplan-trace/1"}\n',
        lambda i: b'{"event":"alloc","id":"b%d","size":64}\n{"event":"free","id":"b%d"}' % (i, i),
        b"\n",
        b"\n",
    ),
    "st-edge-ai": rows(
        b'{"json_schema_version":"2.0","memory_pools":[{"id":0,"name":"p","size_bytes":-1,"alignment":4,"rights":"ACC_WRITE"}],"buffers":[',
        lambda i: (
            b'{"id":%d,"name":"b%d","size_bytes":64,"mpool_id":0,"offset_start":0,"alignment":4,"is_param":false,"epochs":{"start":%d,"end":%d}}'
            % (i, i, 2 * i, 2 * i + 1)
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
    "vela-log": rows(
        b"Tensor Allocation for mem_area Sram:\n",
        lambda i: b"%d - %d: 0x%x - 0x%x: 64: 64: FeatureMap: NHWC: b%d" % (i, i + 1, i % 2 * 64, i % 2 * 64 + 64, i),
        b"\n",
        b"\n",
    ),
    "xla": lambda size: _xla(size // 80),
    "xla-text": lambda size: _xla_text(size // 84),
    "xla-memory-space": rows(
        b"buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n",
        lambda i: b'%d,fusion.%d,0.5,64,%d,"%d;%d","fusion.%d{0};copy.%d{}",0' % (i, i, i, i + 1, i + 2, i, i),
        b"\n",
        b"\n",
    ),
    "tflite": lambda size: _tflite(size // 200),
    "executorch": lambda size: _executorch(size // 120),
    "onnx": lambda size: _chain(size // 120),
}
"""For formats that programs write more densely than `many_buffers` does, or that it cannot write."""


def many_buffers(row: Format) -> Make:
    """Plain buffers as the format's writer writes them; without a writer, the second buffer of its example repeated, each with its own id."""
    if row.writer:
        length = len(_written(row, range(123_000, 124_000))) // 1000
        return lambda size: _written(row, range(size // length))
    assert row.is_text, f"{row.name} is no text and is not written: say in DENSE how a long file of it is made"
    if row.is_json:
        whole = json.loads(row.example)
        item, whole["buffers"] = whole["buffers"][1], ["HERE"]
        head, _, tail = json.dumps(whole).partition('"HERE"')
        names = {key: value for key, value in item.items() if key in ("id", "name")}
        return rows(
            head.encode(),
            lambda i: json.dumps(item | {k: i if isinstance(v, int) else f"{v}{i}" for k, v in names.items()}).encode(),
            tail.encode(),
        )
    parts = re.split(r"^(.*\bb\b.*)$", row.example, maxsplit=1, flags=re.MULTILINE)
    assert len(parts) == 3, (
        f"no line of {row.name}'s example has a word b to repeat: say in DENSE how a long file of it is made"
    )
    head, line, tail = parts
    return rows(head.encode(), lambda i: re.sub(r"\bb\b", f"b{i}", line).encode(), tail.encode(), b"\n")


def _written(row: Format, starts: range) -> bytes:
    return row.write(Problem(tuple(Buffer(i, 64, live=((i, i + 2),)) for i in starts)))


def _graph(count: int, *, cascade: bool = False) -> bytes:
    """Operators one after the other."""
    kind = (
        b'"elementwise","inputs":["t%d"],"output":"t%d"' if cascade else b'"compute","inputs":["t%d"],"outputs":["t%d"]'
    )
    shape = b"[4,8,2]" if cascade else b"[64]"
    tensors = b",".join(
        b'{"id":"t%d","shape":%b}' % (i, shape if i or cascade else b'[64],"kind":"input"') for i in range(count + 1)
    )
    operators = b",".join(b'{"name":"o%d","kind":%b}' % (i, kind % (i, i + 1)) for i in range(count))
    if cascade:
        return b'{"format":"memplan-cascade/1","tensors":[' + tensors + b'],"operators":[' + operators + b"]}"
    head = (
        b'{"format":"memplan-graph/2","functions":[{"name":"main","inputs":["t0"],"outputs":["t%d"],"tensors":[' % count
    )
    return head + tensors + b'],"operators":[' + operators + b"]}]}"


def _xla(count: int) -> bytes:
    names = (
        inside(1, number(1, i + 1) + number(2, 64) + inside(3, inside(2, f"loop_multiply_fusion.{i}")))
        for i in range(count)
    )
    events = (
        inside(1, number(1, kind) + number(2, i + 1) + inside(4, f"fusion.{i}"))
        for i in range(count)
        for kind in (0, 1)
    )
    return b"".join(names) + inside(4, b"".join(events))


def _xla_text(count: int) -> bytes:
    values = (f" value: <{i} b{i} @0> (size=64,offset={64 * i}): s8[64]{{0}}" for i in range(count))
    ranges = (f"    b{i}{{}}:{i}-{i + 1}" for i in range(count))
    head = f"BufferAssignment:\nallocation 0: size {64 * count}, preallocated-temp:\n"
    return "\n".join(
        [head + "\n".join(values), "", f"HloLiveRange (max {count}):", "  BufferLiveRange:", *ranges, ""]
    ).encode()


def _tflite(count: int) -> bytes:
    tensors = [files.tensor(f"layer{i}", [64]) for i in range(count + 1)]
    operators = [files.operator("RELU", [i], [i + 1]) for i in range(count)]
    return files.model(files.subgraph(tensors, [0], [count], operators))


def _without_effect(count: int) -> bytes:
    """A model whose operators all do the same."""
    tensors = [files.tensor(name, [4]) for name in ("a", "b")]
    return files.model(files.subgraph(tensors, [0], [1], [files.operator("RELU", [0], [1])] * count))


def _executorch(count: int) -> bytes:
    values = [executorch.value(64) for _ in range(count)]
    return executorch.program(executorch.method(values, [executorch.kernel(i) for i in range(count)], [0], [count - 1]))


def _chain(count: int) -> bytes:
    nodes = (
        node("Relu", f"/layers.{i}/Relu_output_0", f"/layers.{i + 1}/Relu_output_0", name=f"/layers.{i}/Relu")
        for i in range(count)
    )
    ends = inside(11, declared("/layers.0/Relu_output_0", [64])) + inside(
        12, declared(f"/layers.{count}/Relu_output_0", [64])
    )
    return START + inside(7, b"".join(inside(1, each) for each in nodes) + ends)


PLAIN = {name: DENSE.get(name) or many_buffers(row) for name, row in FORMATS.items()}
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
    """A graph with an input `a` and this many items."""

    def make(size: int) -> bytes:
        each = item(123456)
        body = head + inside(11, declared("a", [4])) + b"".join(item(i) for i in range(size // len(each)))
        return START + inside(7, body + tail)

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
    "functions": lambda size: START + b"".join(inside(25, inside(1, f"f{i}")) for i in range(size // 10)),
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
    ("tflite", "operators without effect"): lambda size: _without_effect(size // 64),
    ("minimalloc", "solutions: every row fixes its buffer"): rows(
        b"id,lower,upper,size,offset\n", lambda i: b"b%d,%d,%d,64,%d" % (i, i, i + 2, i % 2 * 64), b"\n", b"\n"
    ),
    ("minimalloc", "a window in each row"): rows(
        b"id,lower,upper,size,gaps\n", lambda i: b"b%d,%d,%d,64,%d-%d@0:16" % (i, i, i + 9, i + 1, i + 3), b"\n", b"\n"
    ),
    ("minimalloc", "clocks of threads"): rows(
        b"id,lower,upper,size\n", lambda i: b"%d,%d:0,%d:1,4" % (i, i, i + 1), b"\n", b"\n"
    ),
    ("graph", "views alone"): lambda size: _graph(size // 105).replace(b'"compute"', b'"view"'),
}
