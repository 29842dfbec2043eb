"""Sets of made-up problems that are measured repeatedly, fixed before anything is tuned on them.

Seeds below 100 are for tuning. Those from 1000 on (`check`) only serve to see whether results of tuning hold for other problems of the kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...generate import Request

Suite = tuple[tuple[str, Request], ...]


def _each(kind: str, sizes: Iterable[int], seeds: Iterable[int], alignment: int = 1) -> Suite:
    seeds = tuple(seeds)
    return tuple((kind, Request(size, seed, alignment)) for size in sizes for seed in seeds)


_GRAPHS = ("transformer", "convnet", "unet", "recurrent", "training")
_CHOICES = ("pools", "offload", "memories", "hot", "pool_packing")

SUITES: dict[str, Suite] = {
    # one of each kind, in seconds
    "smoke": (
        *(
            one
            for kind in ("random", "packing", *_GRAPHS, "prefill", "decode", "pangu")
            for one in _each(kind, (60,), (1,))
        ),
        *_each("convnet", (60,), (2,), alignment=64),
        *(one for kind in (*_CHOICES, "variants") for one in _each(kind, (20,), (1,))),
    ),
    # many small ones, as compilers produce them
    "kernels": tuple(
        one
        for kind in ("random", "packing", *_GRAPHS, "pangu", *_CHOICES)
        for one in _each(kind, (10, 20, 40, 60, 100, 150, 200, 250), range(7), alignment=32)
    ),
    "packings": _each("packing", (20, 50, 100, 200, 500), range(3)),
    "graphs": tuple(one for kind in _GRAPHS for one in _each(kind, (200, 1000), range(3), alignment=16)),
    "training": (
        *_each("training", (2_000, 4_000, 7_000), range(2)),
        *_each("recurrent", (2_000, 4_000, 7_000), range(2)),
    ),
    "pangu": _each("pangu", (10_000, 14_000, 20_000), range(2)),
    "scale": _each("random", (1_000, 10_000, 100_000, 1_000_000), (0,)),
    "pools": (
        *_each("pools", (20, 50, 100, 200), range(2), alignment=8),
        *_each("offload", (50, 200), range(2), alignment=16),
        *_each("pool_packing", (10, 20, 50, 100), range(2), alignment=8),
    ),
    "memories": tuple(
        one for kind in ("memories", "hot") for one in _each(kind, (60, 300, 1_000), range(2), alignment=16)
    ),
    "variants": _each("variants", (30, 60, 120), range(2), alignment=16),
    "check": (
        *(one for kind in ("random", "packing", *_GRAPHS) for one in _each(kind, (150, 700), (1000, 1001))),
        *_each("training", (3_000,), (1000,)),
        *_each("recurrent", (3_000,), (1000,)),
        *_each("pangu", (12_000,), (1000,)),
        *(one for kind in (*_CHOICES, "variants") for one in _each(kind, (40,), (1000,))),
    ),
}
