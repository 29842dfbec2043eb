"""Which kernels run, the compiled ones or the Python reference, and why."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import NamedTuple, cast

from ..fitting.orders import ORDERS
from ..model.errors import SolverError
from ..model.instance import Instance
from . import plain
from .interface import NATIVE_SIZES, PYTHON_SIZES, Kernels, Sizes

VARIABLE, NATIVE_MODULE = plain.VARIABLE, plain.NATIVE_MODULE


class KernelsUnavailable(SolverError):
    """MEMPLAN_KERNELS asks for kernels that cannot be loaded, or has an unknown value."""


class Origin(StrEnum):
    """Where the kernels come from."""

    NATIVE = "native"
    REFERENCE = "reference"


class Wanted(StrEnum):
    """The values of MEMPLAN_KERNELS."""

    AUTO = "auto"
    """Native kernels if they load, else the reference."""
    NATIVE = "native"
    """Native kernels or an error, so that a fallback cannot hide a broken build."""
    REFERENCE = plain.REFERENCE


class Selection(NamedTuple):
    """The kernels that run in this process."""

    origin: Origin
    kernels: Kernels
    reason: str | None = None
    """Why the native kernels do not run; None if they do."""

    @property
    def sizes(self) -> Sizes:
        return NATIVE_SIZES if self.origin is Origin.NATIVE else PYTHON_SIZES


@cache
def active() -> Selection:
    """The kernels of this process, chosen by MEMPLAN_KERNELS on first use."""
    return select(os.environ.get(VARIABLE) or Wanted.AUTO)


def active_for(instance: Instance) -> Selection:
    """The active kernels, or the reference if the instance is too large for them."""
    chosen = active()
    return chosen if chosen.sizes.hold(instance) else _reference("the instance's numbers are too great")


def select(wanted: str) -> Selection:
    """The kernels asked for. Raises KernelsUnavailable if they cannot be had."""
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
    """The compiled kernels, or why they cannot be used."""
    try:
        module = import_module(NATIVE_MODULE)
    except ModuleNotFoundError as error:
        if error.name == NATIVE_MODULE:
            return "they are not part of this installation (no working C++ compiler when memplan was installed)"
        return f"they cannot be loaded: {error}"
    except ImportError as error:
        return f"they cannot be loaded: {error}"
    kernels = cast(Kernels, module)
    # After an update, an editable installation may still have older compiled kernels.
    missing = [name for name, arguments in promised().items() if not _takes(kernels, name, arguments)]
    missing = missing or [f"order {name}" for name in ORDERS if name not in kernels.greedy_orders()]
    return f"they are older than the rest of memplan (no {', '.join(missing)})" if missing else kernels


def promised() -> dict[str, tuple[str, ...]]:
    """The names of all kernels and of their arguments."""
    functions = {name: value for name, value in vars(Kernels).items() if not name.startswith("_")}
    return {name: f.__code__.co_varnames[1 : f.__code__.co_argcount] for name, f in functions.items()}


def _takes(kernels: Kernels, name: str, arguments: tuple[str, ...]) -> bool:
    """True if there is a compiled function of this name with these arguments. nanobind keeps its signature as text: "def name(first: int, second:
    tuple) -> object".
    """
    signatures = getattr(getattr(kernels, name, None), "__nb_signature__", None)
    if signatures is None:
        return False
    signature = signatures[0][0]
    return signature.count(": ") == len(arguments) and all(f"{argument}: " in signature for argument in arguments)
