"""Which kernels run: the compiled ones, or their reference in Python, and why."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import NamedTuple, cast

from ..fitting.orders import ORDERS
from ..model.errors import SolverError
from ..model.instance import Instance
from .interface import NATIVE_SIZES, PYTHON_SIZES, Kernels, Sizes

VARIABLE = "MEMPLAN_KERNELS"
NATIVE_MODULE = "solvers.kernels._native"


class KernelsUnavailable(SolverError):
    """MEMPLAN_KERNELS asks for kernels that are not there, or for no kernels that exist."""


class Origin(StrEnum):
    """Where the kernels come from."""

    NATIVE = "native"
    REFERENCE = "reference"


class Wanted(StrEnum):
    """The values of MEMPLAN_KERNELS."""

    AUTO = "auto"
    """Native if it loads, else the reference."""
    NATIVE = "native"
    """Native or an error, so that a fallback cannot hide a broken build."""
    REFERENCE = "reference"


class Selection(NamedTuple):
    """The kernels that run in this process."""

    origin: Origin
    kernels: Kernels
    reason: str | None = None
    """Why these are not the native ones."""

    @property
    def sizes(self) -> Sizes:
        return NATIVE_SIZES if self.origin is Origin.NATIVE else PYTHON_SIZES


@cache
def active() -> Selection:
    """The kernels that this process uses, as MEMPLAN_KERNELS says; decided on first use."""
    return select(os.environ.get(VARIABLE) or Wanted.AUTO)


def active_for(instance: Instance) -> Selection:
    """The same, or the reference if the instance's numbers are too great for them."""
    chosen = active()
    return chosen if chosen.sizes.hold(instance) else _reference("the instance's numbers are too great")


def select(wanted: str) -> Selection:
    """The kernels that are wanted. Raises KernelsUnavailable where that is impossible."""
    if wanted not in tuple(Wanted):
        raise KernelsUnavailable(f"{VARIABLE} must be one of {', '.join(Wanted)}, not {wanted[:50]!r}")
    if wanted == Wanted.REFERENCE:
        return _reference(f"{VARIABLE}=reference asks for the reference")
    native = _native()
    if not isinstance(native, str):
        return Selection(Origin.NATIVE, native)
    if wanted == Wanted.NATIVE:
        raise KernelsUnavailable(f"{VARIABLE}=native, but {native}")
    return _reference(native)


def _reference(reason: str) -> Selection:
    from .python import kernels

    return Selection(Origin.REFERENCE, kernels, reason)


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
    kernels = cast(Kernels, module)
    # An editable installation keeps its compiled part while the Python part moves on.
    missing = [name for name, arguments in promised().items() if not _takes(kernels, name, arguments)]
    missing = missing or [f"order {name}" for name in ORDERS if name not in kernels.greedy_orders()]
    return f"they are older than the rest of memplan (no {', '.join(missing)})" if missing else kernels


def promised() -> dict[str, tuple[str, ...]]:
    """The names of all kernels and of what each is given."""
    functions = {name: value for name, value in vars(Kernels).items() if not name.startswith("_")}
    return {name: f.__code__.co_varnames[1 : f.__code__.co_argcount] for name, f in functions.items()}


def _takes(kernels: Kernels, name: str, arguments: tuple[str, ...]) -> bool:
    """Is there such a compiled function, with these arguments? It says so itself: "def name(first: int, second: tuple) -> object"."""
    signatures = getattr(getattr(kernels, name, None), "__nb_signature__", None)
    if signatures is None:
        return False
    signature = signatures[0][0]
    return signature.count(": ") == len(arguments) and all(f"{argument}: " in signature for argument in arguments)
