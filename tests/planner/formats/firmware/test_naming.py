"""Memories in headers and linker scripts: where they lie, how they are aligned, and what they are called."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import planner
from planner import Buffer, Pool, Problem, formats
from planner.model.errors import BadInput
from planner.model.problem import Alternative, VariantGroup, Variants
from tests.planner.formats.firmware.test_firmware import (
    CPP,
    MODEL,
    NEEDS_COMPILERS,
    ODD,
    C,
    compiled,
    include_struct,
    planned,
    symbols,
    written,
)

pytestmark = NEEDS_COMPILERS


def refused(form: str, problem: Problem) -> str:
    with pytest.raises(BadInput) as caught:
        written(form, problem)
    return caught.value.findings[0].message


def test_a_memory_whose_base_is_not_aligned_as_its_buffers_lies_at_its_base(tmp_path: Path) -> None:
    buffers = (Buffer("a", 64, 64, live=((0, 1),)), Buffer("b", 16, live=((0, 1),)))
    problem = Problem(buffers, (Pool("sram", 4096, 16, base=0x20000010),))
    (tmp_path / "plan.ld").write_bytes(written("ld", problem))
    text = """extern char memplan_sram__a[], memplan_sram__b[];
        char *volatile used[2] = {memplan_sram__a, memplan_sram__b};
        int main(void) { return used[0] == used[1]; }"""
    assert compiled(tmp_path, C, text, "-no-pie", f"-Wl,-T,{tmp_path / 'plan.ld'}").returncode == 0
    found = symbols(tmp_path)
    for place in planned(problem).placements:
        assert found[f"memplan_sram__{place.id}"] == 0x20000010 + place.offset
    assert found["memplan_sram__a"] % 64 == 0
    assert all("move the base" in refused(form, problem) for form in ("c", "cpp"))


def test_chosen_buffers_keep_their_alignment_and_times(tmp_path: Path) -> None:
    ways = (Alternative("only", buffers=(Buffer("b", 64, 64, live=((3, 5),)),)),)
    groups = (VariantGroup("g", ways),)
    problem = Problem((Buffer("c", 4, live=((0, 1),)),), (Pool("sram"),), variants=Variants(groups))
    assert b"#define MEMPLAN_SRAM_ALIGNMENT 64u" in written("c", problem)
    assert b"ALIGN(64)" in written("ld", problem)
    assert b"3..4" in written("map", problem)


@pytest.mark.parametrize("other", ["sram_start", "sram end", "SRAM_capacity"])
@pytest.mark.parametrize("turned", [False, True])
def test_no_memory_is_called_as_a_symbol_of_another(tmp_path: Path, other: str, turned: bool) -> None:
    buffers = (Buffer("a", 64, live=((0, 2),), pools=("sram",)), Buffer("b", 32, live=((0, 2),), pools=(other,)))
    pools = (Pool("sram"), Pool(other))
    problem = Problem(buffers, pools[::-1] if turned else pools)
    (tmp_path / "plan.h").write_bytes(written("c", problem))
    (tmp_path / "plan.ld").write_bytes(written("ld", problem))
    text = """#define MEMPLAN_IMPLEMENTATION
        #include "plan.h"
        int main(void) {
          unsigned char *a = MEMPLAN_A_ADDRESS, *b = MEMPLAN_B_ADDRESS;
          return !(a + MEMPLAN_A_SIZE <= b || b + MEMPLAN_B_SIZE <= a);
        }"""
    made = compiled(tmp_path, C, text, "-no-pie", f"-Wl,-T,{tmp_path / 'plan.ld'}")
    assert made.returncode == 0, made.stderr
    assert subprocess.run([tmp_path / "out"], check=False).returncode == 0


def test_sizes_are_those_that_were_planned_for(tmp_path: Path) -> None:
    problem = planner.with_capacity(Problem((Buffer("a", 40, live=((0, 1),)),), (Pool("sram", 100),)), {"sram": 64})
    own = replace(problem, pools=(Pool("sram", 100),))
    text = [formats.plan_format(form).write(own, planned(problem), b"") for form in ("c", "cpp", "ld", "map")]
    assert [each.count(b"100") for each in text] == [0, 0, 0, 0]
    assert all(b"64" in each or b"0x40" in each for each in text)


@pytest.mark.parametrize("alignment", [48, 1 << 29])
@pytest.mark.parametrize("form", ["c", "cpp", "ld"])
def test_alignments_that_compilers_do_not_know_are_refused(form: str, alignment: int) -> None:
    assert "powers of two" in refused(form, Problem((Buffer("a", 8, alignment, live=((0, 1),)),)))


WORDS = [
    "int",
    "class",
    "NULL",
    "std",
    "main",
    "size_t",
    "int8_t",
    "uint_fast16_t",
    "INT8_MAX",
    "UINT64_C",
    "linux",
    "unix",
    "restrict",
    "char8_t",
    "_Bool",
    "__linux",
    "__FILE__",
    "a__b",
]
PLAIN = [
    "memplan",
    "net",
    "_x",
    "Placement",
    "placement",
    "offsets",
    "tflite",
    "micro",
    "buffer",
    "arena_peak",
    "Offsets",
    "int8",
    "size",
]
DIALECTS = ("-std=c++11", "-std=gnu++17", "-std=c++20")


@pytest.mark.parametrize("word", WORDS)
def test_no_namespace_is_called_as_what_has_a_meaning_in_cpp(word: str) -> None:
    problem = planner.read_problem(MODEL, format="tflite:like=tflm")[0]
    for form, of, source in (("cpp", ODD, b""), ("tflm", problem, MODEL)):
        with pytest.raises(BadInput, match="choose another prefix"):
            written(f"{form}:prefix={word}", of, source)
    assert written(f"c:prefix={word}")
    assert written(f"ld:prefix={word}")


@pytest.mark.parametrize("word", ["BufferPlan", "BufferDescriptor"])
def test_no_namespace_is_called_as_a_type_of_tflite_micro(word: str) -> None:
    problem = planner.read_problem(MODEL, format="tflite:like=tflm")[0]
    with pytest.raises(BadInput, match="choose another prefix"):
        written(f"tflm:prefix={word}", problem, MODEL)


@pytest.mark.parametrize(
    ("form", "prefix", "memory", "name"),
    [
        ("cpp", "pool", "sram", "pool_sram"),
        ("cpp", "pool_a", "b", "pool_a_b"),
        ("c", "size", "t", "size_t"),
        ("cpp", "int8", "t", "int8_t"),
        ("c", "static", "assert", "static_assert"),
    ],
)
def test_no_memory_is_called_as_something_else(form: str, prefix: str, memory: str, name: str) -> None:
    buffers = (Buffer("x", 8, live=((0, 1),), pools=(memory,)),)
    problem = Problem(buffers, (Pool(memory), Pool(f"a {memory}")))
    with pytest.raises(BadInput, match=f"would be {name}, .*; choose another prefix"):
        written(f"{form}:prefix={prefix}", problem)
    assert written(f"{form}:prefix={prefix}", replace(problem, buffers=()))  # nothing needs an array


@pytest.mark.parametrize("prefix", PLAIN)
def test_other_prefixes_compile(tmp_path: Path, prefix: str) -> None:
    model = planner.read_problem(MODEL, format="tflite:like=tflm")[0]
    include_struct(tmp_path)
    (tmp_path / "plan.h").write_bytes(written(f"c:prefix={prefix}"))
    (tmp_path / "plan.hpp").write_bytes(written(f"cpp:prefix={prefix}"))
    (tmp_path / "model.h").write_bytes(written(f"tflm:prefix={prefix}", model, MODEL))
    text = f'#define {prefix.upper()}_IMPLEMENTATION\n#include "{{}}"\nint main(void) {{{{ return 0; }}}}\n'
    assert compiled(tmp_path, C, text.format("plan.h")).stderr == ""
    for dialect in DIALECTS:
        for header in ("plan.hpp", "model.h"):
            assert (
                compiled(tmp_path, (*CPP, dialect, "-fsyntax-only", "-Wno-unused-function"), text.format(header)).stderr
                == ""
            )
