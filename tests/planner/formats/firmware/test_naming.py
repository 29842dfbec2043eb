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
from tests.planner.formats.firmware.test_firmware import NEEDS_COMPILERS, C, compiled, planned, symbols, written

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


@pytest.mark.parametrize("word", ["int", "class", "NULL"])
def test_no_namespace_is_called_as_a_word_of_cpp(word: str) -> None:
    with pytest.raises(BadInput, match="word of C"):
        written(f"cpp:prefix={word}")
    assert written(f"c:prefix={word}")
