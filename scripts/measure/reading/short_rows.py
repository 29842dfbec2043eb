"""Files of the shortest rows that say more of a buffer than its size and one lifetime: where each byte of a file becomes most bytes of memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from struct import pack

from scripts.measure.reading.files import DSA, DSA_END, MEMPLAN, Make, rows

POOLS = MEMPLAN.replace(b'"buffers"', b'"pools":[{"name":"p"},{"name":"q"}],"buffers"')
ST_EDGE = (
    b'{"json_schema_version":"2.0","memory_pools":[{"id":0,"name":"p","size_bytes":-1,"alignment":4,"rights":"ACC_WRITE"}],'
    b'"buffers":['
)
CSV = b"id,lower,upper,size"


def plain(count: int) -> bytes:
    """Return the beginning of a document with so many buffers, one after the other."""
    buffers = [{"id": i, "size": 1, "live": [[i, i + 1]]} for i in range(count)]
    return MEMPLAN[: -len(b'"buffers":[')] + b'"buffers":' + json.dumps(buffers, separators=(",", ":")).encode()


def csv(columns: bytes, row: Callable[[int], bytes]) -> Make:
    return rows(CSV + columns + b"\n", row, b"\n", b"\n")


def trace(event: Callable[[int], bytes]) -> Make:
    return rows(b'{"traceEvents":[', event, b"]}")


def related(kind: bytes, count: int, item: Callable[[int, int], bytes]) -> Make:
    """Return how a document is made whose buffers are related again and again; `item` takes the numbers of two."""
    return rows(
        plain(count) + b',"constraints":{"' + kind + b'":[',
        lambda i: item(1 + i % (count - 1), (i * 7 + i // (count - 1)) % (1 + i % (count - 1))),
        b"]}}",
    )


SHORT_ROWS: dict[tuple[str, str], Make] = {
    ("memplan", "two lifetimes"): rows(POOLS, lambda i: b'{"id":%d,"size":1,"live":[[0,1],[2,3]]}' % i, b"]}"),
    ("memplan", "many lifetimes"): rows(
        POOLS,
        lambda i: (
            b'{"id":%d,"size":1,"live":[%s]}' % (i, b",".join(b"[%d,%d]" % (2 * j, 2 * j + 1) for j in range(200)))
        ),
        b"]}",
    ),
    ("memplan", "pools"): rows(POOLS, lambda i: b'{"id":%d,"size":1,"live":[[0,1]],"pools":["p"]}' % i, b"]}"),
    ("memplan", "fixed places"): rows(
        POOLS, lambda i: b'{"id":%d,"size":1,"live":[[0,1]],"fixed":{"pool":"p","offset":%d}}' % (i, i), b"]}"
    ),
    ("memplan", "reserved ranges"): rows(
        MEMPLAN.replace(b'"buffers":[', b'"pools":[{"name":"p","reserved":['),
        lambda i: b"[%d,%d]" % (2 * i, 2 * i + 1),
        b']}],"buffers":[{"id":0,"size":1,"live":[[0,1]]}]}',
    ),
    ("memplan", "pools of a name alone"): rows(
        MEMPLAN.replace(b'"buffers":[', b'"pools":['),
        lambda i: b'{"name":"%d"}' % i,
        b'],"buffers":[{"id":0,"size":1,"live":[[0,1]]}]}',
    ),
    ("memplan", "conflicts"): related(b"conflicts", 2000, lambda a, b: b"[%d,%d]" % (a, b)),
    ("memplan", "colocations"): related(
        b"colocations", 30_000, lambda a, b: b'{"buffer":%d,"base":%d,"offset":0}' % (a, a - 1)
    ),
    ("memplan", "costs of reuse"): related(
        b"reuse_penalties", 2000, lambda a, b: b'{"first":%d,"second":%d,"cost":1}' % (a, b)
    ),
    ("minimalloc", "gaps"): csv(b",gaps", lambda i: b"%d,0,9,4,1-2 3-4 5-6" % i),
    ("minimalloc", "many gaps"): csv(
        b",gaps", lambda i: b"%d,0,999,4,%s" % (i, b" ".join(b"%d-%d" % (2 * j + 1, 2 * j + 2) for j in range(400)))
    ),
    ("minimalloc", "windows"): csv(
        b",gaps", lambda i: b"%d,0,99,4,%s" % (i, b" ".join(b"%d-%d@0:1" % (2 * j + 1, 2 * j + 2) for j in range(40)))
    ),
    ("minimalloc", "one window"): csv(b",gaps", lambda i: b"%d,0,9,4,1-2@0:1" % i),
    ("minimalloc", "offsets"): csv(b",offset", lambda i: b"%d,%d,%d,1,0" % (i, i, i + 1)),
    ("minimalloc", "all columns"): csv(
        b",alignment,hint,offset,kind,pool", lambda i: b"%d,%d,%d,4,2,4,8,INPUT,p%d" % (i, i, i + 1, i % 3)
    ),
    ("dsa", "intervals"): rows(
        DSA + b'"buffers":[',
        lambda i: (
            b'{"id":%d,"name":"","size":8,"alignment":1,"live_intervals":[{"lower":0,"upper":1},{"lower":2,"upper":3}],'
            b'"allowed_pools":[1]}' % i
        ),
        DSA_END,
    ),
    ("trace", "allocations left open"): rows(
        b'{"format":"memplan-trace/1"}\n', lambda i: b'{"event":"alloc","id":%d,"size":1}' % i, b"\n", b"\n"
    ),
    ("vela-log", "rows at one place"): rows(
        b"Tensor Allocation for mem_area Sram:\n",
        lambda i: b"0 - 1: 0x0 - 0x40: 64: 64: FeatureMap: NHWC: b%d" % i,
        b"\n",
        b"\n",
    ),
    ("st-edge-ai", "rows at one place"): rows(
        ST_EDGE,
        lambda i: (
            b'{"id":%d,"name":"b%d","size_bytes":4,"mpool_id":0,"alignment":4,"offset_start":0,"is_param":false,'
            b'"epochs":{"start":%d,"end":%d}}' % (i, i, i, i + 1)
        ),
        b"]}",
    ),
    ("st-edge-ai", "memories without buffers"): rows(
        b'{"json_schema_version":"2.0","buffers":[],"memory_pools":[',
        lambda i: b'{"id":%d,"name":"%d","size_bytes":1,"alignment":1}' % (i, i),
        b"]}",
    ),
    ("xla-text", "rows at one place"): rows(
        b"BufferAssignment:\nallocation 0: size 64, preallocated-temp:\n",
        lambda i: b" value: <%d b%d @0> (size=64,offset=0): s8[64]{0}" % (i, i),
        b"\n",
        b"\n",
    ),
    ("xla-text", "allocations alone"): rows(
        b"BufferAssignment:\n", lambda i: b"allocation %d: size 64, preallocated-temp:" % i, b"\n", b"\n"
    ),
    ("usmp", "no conflicts"): rows(b'{"buffers":[', lambda i: b'{"name_hint":"%d","size_bytes":1}' % i, b"]}"),
    ("usmp", "conflicts"): rows(
        b'{"buffers":[',
        lambda i: b'{"name_hint":"%d","size_bytes":1,"conflicts":["%d"]}' % (i, max(i - 1, 0)),
        b"]}",
    ),
    ("torch-snapshot", "blocks"): rows(
        b'{"device_traces":[[]],"segments":[{"address":0,"total_size":1,"device":0,"blocks":[',
        lambda i: b'{"size":1,"state":"active_allocated","address":%d}' % i,
        b"]}]}",
    ),
    ("chrome-trace", "threads of their own"): rows(
        b'{"traceEvents":[{"ph":"X","name":"b","ts":0,"dur":2,"args":{"size":64}},',
        lambda i: b'{"ph":"B","tid":%d,"ts":1}' % i,
        b"]}",
    ),
    ("chrome-trace", "ends alone"): rows(
        b'{"traceEvents":[{"ph":"X","name":"b","ts":0,"dur":2,"args":{"size":64}},',
        lambda i: b'{"ph":"E","tid":%d}' % i,
        b"]}",
    ),
    ("chrome-trace", "memory events"): trace(
        lambda i: (
            b'{"ph":"i","name":"[memory]","ts":%d,"args":{"Addr":%d,"Bytes":64,"Device Id":0,"Device Type":0}}' % (i, i)
        ),
    ),
    ("chrome-trace", "processes of their own"): trace(
        lambda i: b'{"ph":"B","ts":0,"pid":%d,"name":"%d","args":{"size":1}}' % (i, i)
    ),
    ("chrome-trace", "devices of their own"): trace(
        lambda i: b'{"name":"[memory]","ts":0,"args":{"Addr":0,"Bytes":1,"Device Id":%d}}' % i
    ),
    ("chrome-trace", "memory events alone"): trace(
        lambda i: b'{"name":"[memory]","ts":0,"args":{"Addr":%d,"Bytes":1}}' % i
    ),
    ("chrome-trace", "buffers in threads of their own"): trace(
        lambda i: b'{"ph":"B","ts":0,"tid":%d,"name":"b","args":{"size":1}}' % i
    ),
    ("chrome-trace", "buffers inside each other"): trace(
        lambda i: b'{"ph":"B","ts":0,"name":"%d","args":{"size":1}}' % i
    ),
    ("chrome-trace", "buffers with ids"): trace(
        lambda i: b'{"ph":"b","ts":0,"id":%d,"name":"b","args":{"size":1}}' % i
    ),
    ("chrome-trace", "bars of one buffer"): trace(
        lambda i: b'{"ph":"X","name":"b","ts":%d,"dur":1,"args":{"size":1}}' % (2 * i)
    ),
    ("idealloc", "heaps of their own"): lambda size: b"".join(
        pack(">8Q", i, 0, 1, 1, i, 0, 0, 1) for i in range(size // 64)
    ),
}
