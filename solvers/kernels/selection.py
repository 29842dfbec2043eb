"""Which kernels run: the compiled ones, or their reference in Python, and why."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from ..model.instance import Ints
from .errors import KernelsUnavailable

VARIABLE = "MEMPLAN_KERNELS"
NATIVE_MODULE = "solvers.kernels._native"


class Kernels(Protocol):
    """What each set of kernels offers; both give the same answers."""

    def max_live(self, starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]:
        """The largest sum of weights live in one section, and the first section where it occurs; (0, None) without sections."""

    def apart(self, starts: Ints, ends: Ints, pools: Ints, lows: Ints, highs: Ints) -> bool:
        """Has no address of a pool two rects at any time? Empty rects cover nothing."""


class Kind(StrEnum):
    """Where the kernels come from."""

    NATIVE = "native"
    REFERENCE = "reference"


class Wanted(StrEnum):
    """What MEMPLAN_KERNELS may ask for."""

    AUTO = "auto"
    """Native if it loads, else the reference."""
    NATIVE = "native"
    """Native or an error, so that a fallback cannot hide a broken build."""
    REFERENCE = "reference"


class Selection(NamedTuple):
    """The kernels that run in this process."""

    kind: Kind
    kernels: Kernels
    reason: str | None = None
    """Why these are not the native ones."""


@cache
def active() -> Selection:
    """The kernels that this process uses, as MEMPLAN_KERNELS says; decided on first use."""
    return select(os.environ.get(VARIABLE) or Wanted.AUTO)


def select(wanted: str) -> Selection:
    """The kernels that are wanted. Raises KernelsUnavailable where that is impossible."""
    if wanted not in tuple(Wanted):
        raise KernelsUnavailable(f"{VARIABLE} must be one of {', '.join(Wanted)}, not {wanted[:50]!r}")
    if wanted == Wanted.REFERENCE:
        return _reference(f"{VARIABLE}=reference asks for the reference")
    native = _native()
    if not isinstance(native, str):
        return Selection(Kind.NATIVE, native)
    if wanted == Wanted.NATIVE:
        raise KernelsUnavailable(f"{VARIABLE}=native, but {native}")
    return _reference(native)


def _reference(reason: str) -> Selection:
    return Selection(Kind.REFERENCE, cast(Kernels, import_module("solvers.kernels.python.kernels")), reason)


def _native() -> Kernels | str:
    """The compiled kernels, or why they cannot be had."""
    try:
        module = import_module(NATIVE_MODULE)
    except ModuleNotFoundError as error:
        if error.name == NATIVE_MODULE:
            return "they are not part of this installation (no working C++ compiler when memplan was installed)"
        return f"they cannot be loaded: {error}"
    except ImportError as error:
        return f"they cannot be loaded: {error}"
    # An editable installation keeps its compiled part while the Python part moves on.
    missing = [name for name in vars(Kernels) if not name.startswith("_") and not hasattr(module, name)]
    if missing:
        return f"they are older than the rest of memplan (no {', '.join(missing)})"
    return cast(Kernels, module)
