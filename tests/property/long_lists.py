"""Documents in which one or two lists are long, for everything that can grow in a problem."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import combinations, pairwise
from math import isqrt
from typing import Any

Document = dict[str, Any]


def _new() -> Document:
    return {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "pools": [{"name": "first"}, {"name": "second", "size": 1 << 40}, {"name": "third", "size": 1 << 40}],
        "buffers": [{"id": i, "size": 8 + i, "live": [[i, i + 3]]} for i in range(4)],
        "constraints": {},
    }


def _with_buffers(document: Document, count: int) -> list[Document]:
    """Return the document's buffers, after adding some so that there are at least `count`."""
    dice = random.Random(count)
    buffers: list[Document] = document["buffers"]
    for i in range(len(buffers), count):
        start = dice.randrange(2 * count)
        live = [[start, start + 1 + dice.randrange(20)]]
        buffers.append({"id": i, "size": 1 + dice.randrange(1000), "live": live})
    return buffers


def _with_pools(document: Document, count: int) -> list[Document]:
    pools: list[Document] = document["pools"]
    for i in range(len(pools), count):
        pools.append({"name": f"p{i}", "size": (1 << 20) + i % 100, "alignment": 1 << i % 4})
    return pools


def _pairs(document: Document, count: int) -> list[tuple[int, int]]:
    """Return `count` different pairs of buffers in a fixed random order."""
    many = len(_with_buffers(document, isqrt(2 * count) + 2))
    dice = random.Random(count)
    found: dict[tuple[int, int], None] = {}
    while len(found) < count:
        a, b = sorted(dice.sample(range(many), 2)) if many > 2000 else (-1, -1)
        if a < 0:
            every = list(combinations(range(many), 2))
            dice.shuffle(every)
            return every[:count]
        found[a, b] = None
    return list(found)


def _pools(document: Document, count: int) -> None:
    _with_pools(document, count)


def _buffers(document: Document, count: int) -> None:
    _with_buffers(document, count)


def _live(document: Document, count: int) -> None:
    for i, buffer in enumerate(document["buffers"][:2]):
        buffer["live"] = [[3 * j + i, 3 * j + i + 2] for j in range(count // 2)]


def _lives(document: Document, count: int) -> None:
    """Give many buffers many lifetimes each."""
    for i, buffer in enumerate(_with_buffers(document, isqrt(count))):
        buffer["live"] = [[3 * j + i % 2, 3 * j + i % 2 + 2] for j in range(isqrt(count))]


def _reserved(document: Document, count: int) -> None:
    for pool in document["pools"][:2]:
        pool["reserved"] = [[1000 * j, 1000 * j + j % 900] for j in range(count // 2)]


def _allowed(document: Document, count: int) -> None:
    names = [pool["name"] for pool in _with_pools(document, count)]
    for buffer in document["buffers"][:3]:
        buffer["pools"] = names[::-1]


def _conflicts(document: Document, count: int) -> None:
    document["constraints"]["conflicts"] = _pairs(document, count)


def _exclusions(document: Document, count: int) -> None:
    taken = set(document["constraints"].get("conflicts", ()))
    document["constraints"]["exclusions"] = [pair for pair in _pairs(document, count) if pair not in taken]


def _colocations(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    tied = [{"buffer": i, "base": i - 1 - i % 7 % i, "offset": 0} for i in range(1, count + 1)]
    document["constraints"]["colocations"] = tied


def _views(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    tied = [{"buffer": i, "base": i - i % 2, "offset": 4} for i in range(1, count + 1, 2)]
    document["constraints"]["colocations"] = tied


def _same_pool(document: Document, count: int) -> None:
    document["constraints"]["same_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _same_pools(document: Document, count: int) -> None:
    _with_buffers(document, count + 1)
    document["constraints"]["same_pool"] = [[i, i + 1] for i in range(0, count, 2)]


def _different_pool(document: Document, count: int) -> None:
    _with_pools(document, count)
    document["constraints"]["different_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _different_pools(document: Document, count: int) -> None:
    _with_buffers(document, count + 2)
    document["constraints"]["different_pool"] = [[i, i + 1] for i in range(count)]


def _crowd(document: Document, count: int) -> None:
    """Require different pools for more buffers than there are pools, of which there are many."""
    _with_pools(document, min(count // 10, 150))
    document["constraints"]["different_pool"] = [[buffer["id"] for buffer in _with_buffers(document, count)]]


def _penalties(document: Document, count: int) -> None:
    rows = [{"first": a, "second": b, "cost": 1 + (a + b) % 9} for a, b in _pairs(document, count)]
    document["constraints"]["reuse_penalties"] = rows
    document["objective"] = {"terms": ["sum_of_peaks", "reuse_cost"]}


def _hub(document: Document, count: int) -> None:
    """Let one buffer share addresses with any other only at a cost."""
    buffers = _with_buffers(document, count + 1)
    rows = [{"first": 0, "second": buffer["id"], "cost": 1 + buffer["id"] % 9} for buffer in buffers[1:]]
    document["constraints"]["reuse_penalties"] = rows
    document["objective"] = {"terms": ["reuse_cost", "sum_of_peaks"]}


def _kept_apart(document: Document, count: int) -> None:
    """Let one buffer be in conflict with half of the others, and exclude the rest."""
    buffers = [buffer["id"] for buffer in _with_buffers(document, count + 1)]
    document["constraints"]["conflicts"] = [(0, i) for i in buffers[1::2]]
    document["constraints"]["exclusions"] = [(0, i) for i in buffers[2::2]]


def _steps(document: Document, count: int) -> None:
    document["steps"] = [{"time": i, "name": f"step {i}"} for i in range(count)]


def _ranges(document: Document, count: int) -> None:
    document["symbols"] = {"n": [1, 64]}
    for buffer in _with_buffers(document, count):
        size = buffer.pop("size")
        buffer["size_range"] = [size // 2, f"{size}*n" if buffer["id"] % 2 else size]


def _sizes(document: Document, count: int) -> None:
    document["symbols"] = {"n": [1, 64], "m": [2, 9]}
    for buffer in _with_buffers(document, count):
        buffer["size"] = f"{1 + buffer['id'] % 300}*n*(n + m)"


def _symbols(document: Document, count: int) -> None:
    document["symbols"] = {f"n{i}": [1, 64] for i in range(count)}


def _was(document: Document, count: int) -> None:
    buffers, pool = _with_buffers(document, count), document["pools"][0]["name"]
    rows = [{"buffer": buffer["id"], "pool": pool, "offset": 64 * (i % 97)} for i, buffer in enumerate(buffers)]
    document["objective"] = {"terms": ["sum_of_peaks", "moved_bytes"], "was": rows}


def _constants(document: Document, count: int) -> None:
    document["pools"][1]["read_only"] = True
    _with_buffers(document, count)
    for buffer in document["buffers"][count // 2 :]:
        buffer["kind"] = "constant"


def _accesses(document: Document, count: int) -> None:
    for i, buffer in enumerate(_with_buffers(document, count)):
        buffer["accesses"] = i % 13
    document["objective"] = {"terms": ["access_cost", "sum_of_peaks"]}


def _at_once(document: Document, count: int) -> None:
    """Let all buffers be live at the same time, in pools that hold a few each."""
    document["buffers"] = [{"id": i, "size": 8, "live": [[0, 9]]} for i in range(count)]
    document["pools"] = [{"name": f"p{i}", "size": 64} for i in range(count)]


def _alignments(document: Document, count: int) -> None:
    for i, buffer in enumerate(_with_buffers(document, count)):
        buffer["alignment"] = 1 + i
    for i, pool in enumerate(_with_pools(document, count)):
        pool["alignment"] = 1 + i


def _fixed(document: Document, count: int) -> None:
    at = 0
    for buffer in _with_buffers(document, count):
        if buffer["id"] % 2:
            buffer["fixed"] = {"pool": "third", "offset": at}
            at += buffer["size"]


def _with_groups(document: Document, count: int) -> list[Document]:
    """Return the document's groups, after adding some of two alternatives so that there are at least `count`."""
    variants: Document = document.setdefault("variants", {"costs": [{"name": "cycles"}], "groups": []})
    groups: list[Document] = variants["groups"]
    for g in range(len(groups), count):
        groups.append({"name": f"g{g}", "alternatives": [_alternative(f"g{g}.{a}", g + a) for a in range(2)]})
    return groups


def _alternative(name: str, number: int) -> Document:
    buffer = {"id": name, "size": 8 + number % 50, "live": [[number % 1000, number % 1000 + 3]]}
    return {"name": name, "costs": {"cycles": number % 17}, "buffers": [buffer]}


def _groups(document: Document, count: int) -> None:
    _with_groups(document, count // 4)


def _rules(document: Document, count: int) -> None:
    names = [group["name"] for group in _with_groups(document, count // 8 + 1)]
    for kind, a in ("requires", 0), ("forbids", 1):
        pairs = [[[g, f"{g}.{a}"], [h, f"{h}.0"]] for g, h in pairwise(names)]
        document["variants"][kind] = pairs


def _alternatives(document: Document, count: int) -> None:
    several = [_alternative(f"one of {a}", a) for a in range(count)]
    _with_groups(document, 1).append({"name": "of many", "alternatives": several})


def _alternatives_at_once(document: Document, count: int) -> None:
    """Let all buffers of many alternatives live at the same times."""
    several = [_alternative(f"one of {a}", 1000 * a) for a in range(count)]
    _with_groups(document, 1).append({"name": "of many at once", "alternatives": several})


def _cost_terms(document: Document, count: int) -> None:
    names = [f"c{k}" for k in range(count)]
    one, other = {"name": "dear", "costs": dict.fromkeys(names, 1)}, {"name": "cheap"}
    _with_groups(document, 1).append({"name": "in many ways", "alternatives": [one, other]})
    document["variants"]["costs"] += [{"name": name} for name in names]


def _longer(document: Document, count: int) -> None:
    times = [{"buffer": 0, "live": [[3 * j, 3 * j + 1] for j in range(count)]}]
    alternatives = [{"name": "longer", "live": times}, {"name": "as it is"}]
    _with_groups(document, 1).append({"name": "how long", "alternatives": alternatives})


def _own(document: Document, count: int) -> None:
    given = {"exclusions": _pairs(document, count)}
    alternatives = [{"name": "apart", "constraints": given}, {"name": "as they are"}]
    _with_groups(document, 1).append({"name": "of its own", "alternatives": alternatives})


def _inside(document: Document, count: int) -> None:
    """Let one alternative bring many buffers, with all kinds of constraints between them."""
    many = max(count // 6, 2)
    names = [f"in {i}" for i in range(many)]
    buffers = [{"id": name, "size": 8, "live": [[i, i + 1], [i + 2, i + 4]]} for i, name in enumerate(names)]
    ties = [{"buffer": b, "base": a, "offset": 8} for a, b in zip(names[::4], names[1::4], strict=False)]
    given = {
        "colocations": ties,
        "conflicts": [*zip(names[::4], names[2::4], strict=False)],
        "exclusions": [*zip(names[1::4], names[2::4], strict=False)],
        "same_pool": [[*pair] for pair in zip(names[2::4], names[3::4], strict=False)],
        "different_pool": [[*pair] for pair in zip(names[3::4], names[4::4], strict=False)],
        "reuse_penalties": [{"first": a, "second": b, "cost": 1} for a, b in pairwise(names)],
    }
    alternatives = [{"name": "many", "buffers": buffers, "constraints": given}, {"name": "none"}]
    _with_groups(document, 1).append({"name": "inside", "alternatives": alternatives})


def _own_lists(document: Document, count: int) -> None:
    """Let a buffer of an alternative have many lifetimes and pools, and a set of pools or of different ones be long."""
    names = [pool["name"] for pool in _with_pools(document, count)]
    live = [[3 * j, 3 * j + 1] for j in range(count)]
    long = {"id": "long", "size": 8, "live": live, "pools": names[1:]}
    few = [{"id": f"few {i}", "size": 8, "live": [[0, 1]]} for i in range(count)]
    given = {"same_pool": [[buffer["id"] for buffer in few]]}
    apart = {"different_pool": [[buffer["id"] for buffer in few]]}
    alternatives = [
        {"name": "long", "buffers": [long]},
        {"name": "together", "buffers": few, "constraints": given},
        {"name": "apart", "buffers": few, "constraints": apart},
    ]
    _with_groups(document, 1).append({"name": "own lists", "alternatives": alternatives})


def _all_longer(document: Document, count: int) -> None:
    times = [{"buffer": buffer["id"], "live": [[0, 1]]} for buffer in _with_buffers(document, count)]
    alternatives = [{"name": "longer", "live": times}, {"name": "as they are"}]
    _with_groups(document, 1).append({"name": "how long all", "alternatives": alternatives})


LISTS: dict[str, Callable[[Document, int], None]] = {
    "pools": _pools,
    "buffers": _buffers,
    "live": _live,
    "lives": _lives,
    "reserved": _reserved,
    "allowed": _allowed,
    "conflicts": _conflicts,
    "exclusions": _exclusions,
    "colocations": _colocations,
    "views": _views,
    "same_pool": _same_pool,
    "same_pools": _same_pools,
    "different_pool": _different_pool,
    "different_pools": _different_pools,
    "crowd": _crowd,
    "penalties": _penalties,
    "hub": _hub,
    "kept_apart": _kept_apart,
    "steps": _steps,
    "ranges": _ranges,
    "sizes": _sizes,
    "symbols": _symbols,
    "was": _was,
    "constants": _constants,
    "accesses": _accesses,
    "at_once": _at_once,
    "alignments": _alignments,
    "fixed": _fixed,
    "groups": _groups,
    "rules": _rules,
    "alternatives": _alternatives,
    "alternatives_at_once": _alternatives_at_once,
    "costs": _cost_terms,
    "longer": _longer,
    "own": _own,
    "inside": _inside,
    "own_lists": _own_lists,
    "all_longer": _all_longer,
}
"""Functions by name, each of which makes one list of a document long, and whatever else the list needs."""


def pairs() -> list[str]:
    """Return the names of all pairs of lists, but for pairs that are about the same list."""
    same = [
        {"colocations", "views"},
        {"same_pool", "same_pools"},
        {"different_pool", "different_pools", "crowd"},
        {"at_once", "buffers", "pools"},
        {"groups", "rules"},
        {"penalties", "hub", "was", "accesses"},
        {"conflicts", "exclusions", "kept_apart"},
        {"sizes", "ranges", "symbols"},
    ]
    return [f"{a}*{b}" for a, b in combinations(LISTS, 2) if not any({a, b} <= those for those in same)]


def problem(name: str, count: int) -> bytes:
    """Return the document of this name with lists of this length."""
    document = _new()
    # "at_once" replaces the pools and buffers, so it comes first; what is done to sizes comes last.
    for each in sorted(name.split("*"), key=lambda one: (one in ("sizes", "ranges", "symbols"), one != "at_once")):
        LISTS[each](document, count)
    return json.dumps(document).encode()


def entries(part: Any, key: str = "") -> int:
    """Return the number of entries in all lists of a document; a pair or an interval counts as one."""
    if isinstance(part, dict):
        return sum(entries(value, name) for name, value in part.items())
    if not isinstance(part, list):
        return 0
    if key in ("live", "reserved", "conflicts", "exclusions") and not (part and isinstance(part[0], dict)):
        return len(part)
    return len(part) + sum(entries(each) for each in part)
