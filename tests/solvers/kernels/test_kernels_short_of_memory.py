"""A kernel that gets no memory raises an error, one that gets no threads does without, and the process goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from solvers.kernels.selection import Origin, Wanted, select

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does"),
    pytest.mark.skipif(
        select(Wanted.AUTO).origin is not Origin.NATIVE, reason=f"no native kernels: {select(Wanted.AUTO).reason}"
    ),
]

ROOT = Path(__file__).resolve().parents[3]

STACK = 1 << 30
"""Bytes of each thread's stack: so many that the limit alone decides how many threads there can be."""

SCRIPT = """
import random, resource
from pathlib import Path
from solvers.kernels.columns import columns
from solvers.fitting.orders import PASSES
from solvers.kernels import BadKernelInput
from solvers.kernels.selection import active
from tests.small.instances import make_instance

r = random.Random(5)
rows = [(s := r.randrange(COUNT), s + r.randint(1, 50), r.randint(1, 10**6)) for _ in range(COUNT)]
instance = make_instance(rows)
given, kernel = columns(instance), active().kernels
calls = {
    "greedy": lambda: kernel.greedy(instance.sections, given, PASSES, None, None, 4, lambda offsets: False),
    "search": lambda: kernel.search(
        instance.sections, given, 0, None, False, 1, 4, 3_000, 10**7, lambda offsets, bound: False
    )[1],
}
try:
    kernel.greedy(0, given[:-1], PASSES, None, None, 1, None)  # throwing for the first time takes memory, too
except (BadKernelInput, TypeError):
    pass
results = []
for room in ROOMS:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        results.append(hash(calls["KERNEL"]().tobytes()))
    except MemoryError:
        results.append("no memory")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(*results, sep=",")
"""


def results(kernel: str, count: int, rooms: list[int]) -> list[str]:
    """Return the results that a new process prints; `rooms` are the bytes it may allocate beyond what it has."""
    script = SCRIPT.replace("KERNEL", kernel).replace("COUNT", str(count)).replace("ROOMS", str(rooms))
    command = ["sh", "-c", f'ulimit -S -s {STACK >> 10} && exec "$0" -c "$1"', sys.executable, script]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip().split(",")


@pytest.mark.parametrize(("kernel", "count"), [("greedy", 30_000), ("search", 1_200)])
def test_a_kernel_without_memory_raises_an_error(kernel: str, count: int) -> None:
    assert results(kernel, count, [1]) == ["no memory"]


@pytest.mark.parametrize(("kernel", "count"), [("greedy", 2_000), ("search", 1_200)])
def test_fewer_threads_than_asked_for_give_the_same_answer(kernel: str, count: int) -> None:
    answers = results(kernel, count, [threads * STACK + STACK // 2 for threads in (0, 1, 2, 8)])
    assert len(answers) == 4
    assert set(answers) == {answers[0]} != {"no memory"}
