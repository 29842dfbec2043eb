"""Checks whether this installation is complete, and tells how to mend it. No solver library is imported."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple

from ....process import machine

OLDEST_PYTHON = (3, 11)
PROBE_SECONDS = 5.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    ok: bool
    """False: something is wrong, missing, or slower than possible."""
    detail: str
    remedy: str | None = None
    """What to do, if there is anything to do or to gain."""
    is_absent: bool = False
    """An extra that is not installed, which is no fault."""


class Extra(NamedTuple):
    """What can be installed besides."""

    title: str
    module: str
    distribution: str
    extra: str
    purpose: str


EXTRAS = (
    Extra("HiGHS", "highspy", "highspy", "highs", "a solver"),
    Extra("Typst", "typst", "typst", "pictures", "pictures as PNG and PDF"),
    Extra("tflite-micro", "tflite_micro", "tflite-micro", "tflm", "running what was planned"),
    Extra("ExecuTorch", "executorch", "executorch", "executorch", "memory planning in ExecuTorch"),
    Extra("Procrastinate", "procrastinate", "procrastinate", "postgresql", "several services on one PostgreSQL"),
    Extra("Dask", "distributed", "distributed", "cluster", "many problems on a cluster"),
    Extra("omnimalloc", "omnimalloc", "omnimalloc", "peers", "another planner, to compare with"),
    Extra("Vela", "ethosu", "ethos-u-vela", "peers", "another planner, to compare with"),
)
"""As docs/install.md has them."""


def run() -> list[Check]:
    """Run all checks; a check that fails to run is a finding like any other."""
    probes: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("Python", _python),
        ("memplan", _memplan),
        ("kernels", _kernels),
        ("numpy", lambda: _library("numpy", "numpy", "memplan")),
        ("pydantic", lambda: _library("pydantic", "pydantic", "memplan")),
        ("OR-Tools", lambda: _library("OR-Tools", "ortools", "memplan")),
        ("PuLP", lambda: _library("PuLP", "pulp", "memplan")),
        ("CBC", _cbc),
        ("cores", _cores),
        ("memory", _memory),
        *((each.title, partial(_extra, each)) for each in EXTRAS),
    )
    return [_guarded(name, probe) for name, probe in probes]


def _guarded(name: str, probe: Callable[[], Check]) -> Check:
    try:
        return probe()
    except Exception as error:  # noqa: BLE001 - what a broken installation raises cannot be foreseen
        return Check(name, False, f"cannot be examined: {type(error).__name__}: {error}", "reinstall memplan")


def _python() -> Check:
    ok = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    detail = (
        f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    return Check("Python", ok, detail, None if ok else f"install Python {oldest} or newer")


def _memplan() -> Check:
    try:
        return Check("memplan", True, version("memplan"))
    except PackageNotFoundError:
        return Check("memplan", False, "runs from its source, not installed", "run `pip install .` in its folder")


def _kernels() -> Check:
    from solvers.kernels.selection import VARIABLE, KernelsUnavailable, Origin, Wanted, active

    try:
        selection = active()
    except KernelsUnavailable as error:
        return Check("kernels", False, str(error), f"unset {VARIABLE}, or reinstall memplan with a C++20 compiler")
    if selection.origin is Origin.NATIVE:
        return Check("kernels", True, "native")
    wanted = os.environ.get(VARIABLE) == Wanted.REFERENCE
    remedy = (
        f"unset {VARIABLE}"
        if wanted
        else "install a C++20 compiler and Python's headers (Debian, Ubuntu: apt-get install g++ python3-dev), "
        "then reinstall memplan with pip's --force-reinstall --no-cache-dir"
    )
    return Check("kernels", wanted, f"reference in Python (same answers, slower): {selection.reason}", remedy)


def _library(name: str, module: str, bring: str) -> Check:
    """Check that a library is installed by its metadata, which takes milliseconds; importing it can take seconds."""
    if find_spec(module) is None:
        return Check(name, False, "not installed", f"run `pip install '{bring}'`")
    return Check(name, True, version(module))


def _extra(extra: Extra) -> Check:
    with suppress(PackageNotFoundError):  # a folder of that name is none
        if find_spec(extra.module) is not None:
            return Check(extra.title, True, f"{version(extra.distribution)} ({extra.purpose})")
    bring = f"run `pip install 'memplan[{extra.extra}]'`"
    return Check(extra.title, True, f"not installed: an extra ({extra.purpose})", bring, is_absent=True)


def _cbc() -> Check:
    from solvers.exact.milp.cbc import VARIABLE, find_cbc

    found = find_cbc()
    if found is None and VARIABLE in os.environ:
        return Check("CBC", False, f"{VARIABLE} names no program", f"unset {VARIABLE}, or let it name a working cbc")
    if found is None:
        remedy = "run `pip install 'memplan'` again (PuLP carries it), or put cbc on the PATH (Debian: coinor-cbc)"
        return Check("CBC", False, "no cbc program found", remedy)
    try:
        output = subprocess.run(
            [found, "-quit"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_SECONDS,
            check=False,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(
            "CBC", False, f"{found} does not run: {error}", "put a working cbc on the PATH (Debian: coinor-cbc)"
        )
    number = re.search(r"Version:\s*(\S+)", output)
    if number is None:
        return Check(
            "CBC", False, f"{found} does not say its version", "put a working cbc on the PATH (Debian: coinor-cbc)"
        )
    return Check("CBC", True, f"{number[1]} at {found}")


def _cores() -> Check:
    cores = machine.cores()
    quota = "" if cores.quota is None else f", limited to {cores.quota:g} cores' worth of time"
    return Check("cores", True, f"{cores.usable}{quota}")


def _memory() -> Check:
    memory = machine.memory()
    facts = (("in total", memory.total), ("available", memory.available), ("allowed by the container", memory.limit))
    known = [f"{value // MIB} MiB {what}" for what, value in facts if value is not None]
    return Check("memory", True, ", ".join(known) or "not known on this system")
