"""Attacks that send little and ask for much: studies of several plans, proofs, forms, batches and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from tests.http.hostile.attacks import HOST, HUNG_UP, LINES, Attack, head, many, sent, whole
from tests.http.served import THREE, Served
from tests.planner.formats.models.onnx import models as onnx

Send = Callable[[Served], list[int]]
UNSAID = (400, 414, 422, 431)
"""The statuses for malformed or meaningless requests."""
SMALL = json.dumps(THREE).encode()
BASE: dict[str, Any] = {"format": "memplan/1", "lifetimes": "half_open"}
ODD = (
    "-1",
    "0",
    "9" * 400,
    "8" * 4000,
    "1e9",
    "0x10",
    "NaN",
    "１２",
    "",
    " ",
    "\u202e5",
    "\x00",
    "%00",
    "1..2",
    "..",
    "z" * 5000,
)
"""Odd values for places that take a number, a size or a name."""


def crowd(count: int, **more: object) -> dict[str, Any]:
    """A problem of so many buffers, each of which is live together with a few others."""
    rows = [{"id": k, "size": 16 + k % 97, "live": [[k, k + 2 + k % 5]]} for k in range(count)]
    return BASE | {"pools": [{"name": "arena"}], "buffers": rows} | more


def choices(groups: int, alternatives: int) -> dict[str, Any]:
    """A problem of groups of alternatives, all of whose combinations are variants."""
    rows = [
        {"name": f"g{g}", "alternatives": [{"name": f"a{k}", "costs": {"cycles": k}, "buffers": [{"id": f"{g}.{k}", "size": 64 * (alternatives - k), "live": [[g, g + 2]]}]} for k in range(alternatives)]}
        for g in range(groups)
    ]  # fmt: skip
    return BASE | {
        "pools": [{"name": "arena"}],
        "buffers": [],
        "variants": {"costs": [{"name": "cycles"}], "groups": rows},
    }


def shaped(symbols: dict[str, list[int]], sizes: list[str]) -> dict[str, Any]:
    rows = [{"id": k, "size": size, "live": [[k, k + 3]]} for k, size in enumerate(sizes)]
    return BASE | {"symbols": symbols, "buffers": rows}


def posted(path: str, document: object) -> Send:
    return whole(path, json.dumps(document).encode())


def form(parts: list[tuple[str, bytes]], boundary: bytes = b"b", path: str = "/v1/verify") -> Send:
    """A form of these parts, each with its Content-Disposition verbatim."""
    pieces = [
        b"--%s\r\nContent-Disposition: %s\r\n\r\n%s\r\n" % (boundary, says.encode(), data) for says, data in parts
    ]
    body = b"".join(pieces) + b"--%s--\r\n" % boundary
    return whole(path, body, f"multipart/form-data; boundary={boundary.decode('latin-1')}")


def got(path: str) -> Send:
    """A GET request with its path verbatim."""
    request = f"GET {path} HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n".encode()
    return lambda service: sent(service, iter((request,)))


def keyed(body: bytes, key: str) -> Send:
    """A batch that is sent with an Idempotency-Key."""
    request = head("/v1/batches", LINES, f"Idempotency-Key: {key}", f"Content-Length: {len(body)}") + body
    return lambda service: sent(service, iter((request,)))


def sweep_attacks() -> Iterator[Attack]:
    refused = (400, 422)
    for name, query in {
        "every byte of 2^62": f"capacity=0..{1 << 62}&step=1",
        "a size of 4 000 digits": f"capacity={'9' * 4000}",
        "ranges backwards": "capacity=9..1",
        "no step": "capacity=0..64&step=0",
        "1 000 sizes a thousand times": "&".join(["capacity=" + ",".join(map(str, range(100)))] * 50),
    }.items():
        yield Attack(f"sweep: {name}", whole(f"/v1/sweep?{query}", SMALL), (*UNSAID, 200, 202))
    pools = [{"name": f"p{k}"} for k in range(16)]
    rows = [{"id": k, "size": 8, "live": [[0, 9]]} for k in range(4)]
    ranges = "&".join(f"capacity=p{k}=0..1048576" for k in range(16))
    yield Attack(
        "sweep: 64 sizes of 16 pools each",
        posted(f"/v1/sweep?{ranges}&step=16384", BASE | {"pools": pools, "buffers": rows}),
        refused,
    )
    yield Attack(
        "sweep: many buffers at many sizes",
        posted("/v1/sweep?capacity=0..65536&step=64&time_limit=1", crowd(5000)),
        (200, 202, 413, 422, 503),
    )
    for word in ODD:
        yield Attack(
            f"sweep: {word[:8]!r} for a size",
            whole(f"/v1/sweep?capacity={quote(word)}", SMALL),
            (*UNSAID, 200),
        )


def study_attacks() -> Iterator[Attack]:
    yield Attack("pareto: 200 choices of 50", posted("/v1/pareto?time_limit=2", choices(200, 50)), (200, 202, 413, 503))
    yield Attack(
        "pareto: 10 000 choices of two",
        posted("/v1/pareto?time_limit=2", choices(10_000, 2)),
        (200, 202, 413, 503),
    )
    yield Attack(
        "pareto: one choice of 20 000", posted("/v1/pareto?time_limit=2", choices(1, 20_000)), (200, 202, 413, 503)
    )
    yield Attack("pareto: more points than can be", posted(f"/v1/pareto?points={'9' * 19}", choices(2, 2)), (200, 422))
    for word in ODD:
        yield Attack(
            f"pareto: {word[:8]!r} for points",
            posted(f"/v1/pareto?points={quote(word)}", choices(2, 2)),
            (*UNSAID, 200),
        )
    wide = {f"s{k}": [1, 1 << 40] for k in range(16)}
    entangled = "+".join(f"max(s{k}*s{(k + 1) % 16}, ceildiv(s{k}, s{(k + 3) % 16}))" for k in range(16))
    yield Attack(
        "shapes: 16 wide symbols, entangled",
        posted("/v1/shapes?time_limit=2", shaped(wide, [entangled] * 3)),
        (200, 202, 413, 422, 503),
    )
    yield Attack(
        "shapes: products beyond all bounds",
        posted("/v1/shapes", shaped({"n": [1, 1 << 61]}, ["*".join(["n"] * 200)])),
        (422,),
    )
    yield Attack("shapes: brackets", posted("/v1/shapes", shaped({"n": [1, 9]}, ["(" * 500 + "n" + ")" * 500])), (422,))
    yield Attack(
        "shapes: a thousand sizes",
        posted(
            "/v1/shapes?time_limit=2", shaped({"n": [1, 4096], "m": [1, 64]}, [f"{k + 1}*n*m+{k}" for k in range(1000)])
        ),
        (200, 202, 413, 422, 503),
    )
    at = "&".join(f"at=n={k}" for k in range(1, 3000))
    yield Attack(
        "shapes: 3 000 shapes to hold for",
        posted(f"/v1/shapes?mode=buckets&{at}", shaped({"n": [1, 4096]}, ["n"])),
        UNSAID,
    )
    for word in ODD:
        yield Attack(
            f"shapes: {word[:8]!r} for a shape",
            posted(f"/v1/shapes?mode=buckets&at={quote('n=' + word)}", shaped({"n": [1, 9]}, ["n"])),
            (*UNSAID, 200),
        )
        yield Attack(
            f"shapes: {word[:8]!r} for a name in C",
            posted(f"/v1/shapes?c={quote(word)}", shaped({"n": [1, 9]}, ["n"])),
            (*UNSAID, 200),
        )


def proof_attacks() -> Iterator[Attack]:
    late = (200, 202, 413, 422, 503)
    dice = [{"id": k, "size": 17 + 31 * k % 89, "live": [[k % 13, k % 13 + 3 + k % 7]]} for k in range(60)]
    hard = BASE | {"pools": [{"name": "arena"}], "buffers": dice}
    yield Attack("proof: 60 buffers that are hard to refute", posted("/v1/proof?time_limit=3", hard), late)
    yield Attack("proof: 20 000 buffers", posted("/v1/proof?time_limit=2", crowd(20_000)), late)
    at_once = BASE | {
        "pools": [{"name": "arena"}],
        "buffers": [{"id": k, "size": 1 + k, "live": [[0, 9]]} for k in range(5000)],
    }
    yield Attack("proof: 5 000 buffers at one time", posted("/v1/proof?time_limit=2", at_once), late)
    two = BASE | {"pools": [{"name": "a"}, {"name": "b"}], "buffers": dice}
    yield Attack("proof: of two memories", posted("/v1/proof?time_limit=2", two), late)
    yield Attack("proof: twenty at a time", many(20, posted("/v1/proof?time_limit=1", hard)), late)
    for path in ("x", "../../etc/passwd", "%00", "a" * 5000, "\u202e", "1" * 400):
        yield Attack(f"proof: of job {path[:10]!r}", got(f"/v1/jobs/{quote(path, safe='')}/proof"), (*UNSAID, 404))


def form_attacks() -> Iterator[Attack]:
    plan = b'{"format": "memplan-plan/1"}'
    whole_form = [
        ('form-data; name="problem"; filename="a.json"', SMALL),
        ('form-data; name="plan"; filename="b.json"', plan),
    ]
    refused = (400, 413, 415, 422)
    yield Attack("form: 100 000 parts", form([('form-data; name="x"', b"")] * 100_000), refused)
    yield Attack("form: the same part a thousand times", form(whole_form * 1000), refused)
    yield Attack("form: a name of 1 MB", form([(f'form-data; name="{"p" * 1_000_000}"', b"")]), refused)
    yield Attack(
        "form: a file name that leads out",
        form([('form-data; name="problem"; filename="../../../etc/passwd"', SMALL), whole_form[1]]),
        refused,
    )
    yield Attack("form: no name", form([("form-data", SMALL)] * 2), refused)
    yield Attack("form: a part of a form", form([('form-data; name="problem"', b"--b\r\n" * 100_000)]), refused)
    yield Attack(
        "form: no end",
        whole(
            "/v1/draw",
            b'--b\r\nContent-Disposition: form-data; name="problem"\r\n\r\n' + b"\r\n--" * 1_000_000,
            "multipart/form-data; boundary=b",
        ),
        refused,
    )
    yield Attack("form: a boundary of 5 000", form(whole_form, b"b" * 5000), (*refused, HUNG_UP))
    yield Attack("form: no boundary", whole("/v1/verify", SMALL, "multipart/form-data"), refused)
    yield Attack("form: an empty boundary", whole("/v1/verify", SMALL, 'multipart/form-data; boundary=""'), refused)
    yield Attack(
        "form: heads without end",
        whole("/v1/verify", b"--b\r\n" + b"X: y\r\n" * 200_000, "multipart/form-data; boundary=b"),
        refused,
    )
    yield Attack(
        "form: half a surrogate",
        form(
            [
                (
                    'form-data; name="problem"; filename="\udcff"'.encode("utf-8", "surrogatepass").decode("latin-1"),
                    b"[" * 1_000_000,
                ),
                whole_form[1],
            ]
        ),
        refused,
    )


def batch_attacks() -> Iterator[Attack]:
    yield Attack("batch: a line without end", whole("/v1/batches", b" " * (16 << 20), LINES), (400, 413, 422))
    same = b"\n".join([SMALL] * 500)
    yield Attack("batch: one key, eight at a time", many(8, keyed(same, "same")), (200, 409, 429))
    other = same.replace(b"64", b"48")
    yield Attack("batch: the same key, other lines", keyed(other, "same"), (200, 409, 422))
    for word in ("0-99999999999999999999", "-1", "5-1", "0-1," * 3000, "１", "0-" + "8" * 4000, ",", "a"):
        yield Attack(f"batch: have {word[:8]!r}", got(f"/v1/batches/none?have={quote(word)}"), (*UNSAID, 404))
    odd = b"\n".join(json.dumps(word).encode() for word in ODD) + b'\n{"id": 1e999}\n\xff\xfe\n' + b'{"a":' * 100_000
    yield Attack("batch: lines of all kinds", whole("/v1/batches", odd, LINES), (200,))


def onnx_chain(count: int, dimension: int = 1) -> bytes:
    """An ONNX model of so many tiny operators in a chain."""
    nodes = [onnx.node("Relu", f"t{k}", f"t{k + 1}") for k in range(count)]
    ends = ([onnx.value(f"t{at}", [dimension])] for at in (0, count))
    return onnx.model(onnx.graph(nodes, *ends))


def file_attacks() -> Iterator[Attack]:
    bytes_ = "application/octet-stream"
    late = (200, 202, 400, 413, 422, 503)
    yield Attack(
        "onnx: a chain of 40 000 tiny operators",
        whole("/v1/plans?format=onnx&time_limit=5", onnx_chain(40_000), bytes_),
        late,
    )
    yield Attack("onnx: sizes beyond all bounds", whole("/v1/plans?format=onnx", onnx_chain(3, 1 << 61), bytes_), late)
    deep = onnx.graph([])
    for _ in range(500):
        deep = onnx.graph([onnx.node("If", "a", "b", then_branch=("graph", deep))])
    yield Attack("onnx: branches 500 deep", whole("/v1/plans?format=onnx", onnx.model(deep), bytes_), late)
    yield Attack("onnx: 2 MB of zeros", whole("/v1/plans?format=onnx", b"\x00" * 2_000_000, bytes_), late)
    yield Attack(
        "tflite: offsets that lead round",
        whole("/v1/plans?format=tflite", b"\x08\x00\x00\x00TFL3" + b"\x04\x00\x00\x00" * 100_000, bytes_),
        late,
    )
    yield Attack(
        "tflite: lengths of 2^32",
        whole("/v1/plans?format=tflite", b"\x08\x00\x00\x00TFL3" + b"\xff" * 400_000, bytes_),
        late,
    )
    text = b"HloModule m\n\nENTRY e {\n" + b"  a = f32[9999999999999999999] parameter(0)\n" * 5000 + b"}\n"
    for path in ("plans", "validate", "proof", "sweep?capacity=64", "pareto", "shapes"):
        joint = "&" if "?" in path else "?"
        yield Attack(
            f"a text of another tool, to {path.partition('?')[0]}",
            whole(f"/v1/{path}{joint}format=xla-text", text, "text/plain"),
            (*late, 415),
        )


def endpoint_attacks() -> Iterator[Attack]:
    """All attacks of this module."""
    for attacks in (sweep_attacks(), study_attacks(), proof_attacks(), form_attacks(), batch_attacks(), file_attacks()):
        yield from attacks
