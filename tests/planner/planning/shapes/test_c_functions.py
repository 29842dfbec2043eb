"""Offsets written as C functions compile, and compute the same values."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from planner import (
    BadInput,
    Buffer,
    Problem,
)
from planner.generate import shaped_transformer
from planner.planning.shapes import (
    Mode,
    c_source,
    plan_shapes,
    shaped,
)
from tests.planner.planning.shapes.shaped_problems import OPTIONS, SHAPES, random_problem
from tests.planner.planning.shapes.test_verify_shapes import FOUND


@pytest.mark.parametrize("seed", range(4))
def test_c_functions_compute_the_same(seed: int, tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.fail("the tests need a C compiler, as the build of the kernels does")
    problem = random_problem(seed) if seed else shaped_transformer(longest=64)
    found = plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)
    ids = [buffer.id for buffer in problem.largest.buffers]
    (tmp_path / "offsets.c").write_bytes(c_source(found, ids, "net"))
    library = tmp_path / "offsets.so"
    strict = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-Wconversion",
        "-Wshadow",
        "-Wstrict-prototypes",
        "-shared",
        "-fPIC",
    ]
    subprocess.run([compiler, *strict, "-o", library, tmp_path / "offsets.c"], check=True)
    net = ctypes.CDLL(str(library))
    net.net_peak.restype = ctypes.c_int64
    made = (ctypes.c_int64 * len(ids))()
    for values in SHAPES if seed else [{"n": n} for n in range(1, 65)]:
        arguments = [ctypes.c_int64(value) for value in (values[name] for name in problem.symbols)]
        assert net.net_offsets(*arguments, made) == 0
        offsets = found.offsets(values)
        assert list(made) == [offsets[id_] for id_ in ids]
        assert net.net_peak(*arguments) == max(offsets[b.id] + b.size for b in problem.at(values).buffers)
    outside = [ctypes.c_int64(high + 1) for _, high in problem.symbols.values()]
    assert net.net_offsets(*outside, made) == net.net_peak(*outside) == -1


@pytest.mark.parametrize("name", ["ü*/ int x;\n??/", "*ü int x;", '*" int x;', "/ü"])
def test_c_functions_are_ascii_whatever_buffers_are_called(name: str) -> None:
    problem = shaped(Problem((Buffer(name, 4), Buffer(3, 4))), {"n": (1, 2)}, {3: "n"})
    source = c_source(plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS), [name, 3])
    assert source.isascii()
    assert source.count(b"*/") == source.count(b"/*")
    for prefix in ("1x", "a-b", ""):
        with pytest.raises(BadInput):
            c_source(FOUND, ["a", "b", "c"], prefix)


def test_c_functions_of_no_buffers_compile(tmp_path: Path) -> None:
    source = c_source(plan_shapes(shaped(Problem(()), {"n": (1, 2)}, {}), Mode.EXPRESSIONS, (), OPTIONS), [])
    (tmp_path / "offsets.c").write_bytes(source)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or "cc"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-c", "offsets.c"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("ids", [["a", "b"], ["a", "b", "c", "d"], ["a", "b", "c", "c"], ["a", "b", "x"]])
def test_c_functions_are_of_the_plan_s_buffers(ids: list[str | int]) -> None:
    with pytest.raises(BadInput) as caught:
        c_source(FOUND, ids)
    assert caught.value.findings[0].pointer == "/options/ids"
