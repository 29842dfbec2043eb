"""Headers, linker scripts and buffer plans compile and link without warnings, and their assertions catch faults."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import planner
from api.cli.app import app
from planner import Buffer, Fixed, Pool, Problem, formats
from planner.formats.models.tflite.given import UNPLANNED
from planner.formats.models.tflite.model import read_model
from planner.formats.models.tflite.write import with_metadata
from planner.formats.tables.plans import PLAN_FORMATS, plan_format
from planner.model.errors import BadInput
from planner.model.plan import Plan
from tests.planner.formats.models.tflite import files as f
from tests.running.command import CliRunner

pytestmark = NEEDS_COMPILERS = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc and g++ are there to compile with"
)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Wcast-qual", "-Werror")
C = ("gcc", "-std=c11", *WARNINGS, "-Wstrict-prototypes")
CPP = ("g++", "-std=c++11", *WARNINGS, "-Wold-style-cast")
ODD = Problem(
    (
        Buffer("conv/1:0", 64, 16, live=((0, 2),)),
        Buffer("conv 1*/0", 32, live=((1, 3),)),
        Buffer("/* new */ int", 8, live=((2, 3),), pools=("default",)),
        Buffer(7, 24, 8, live=((0, 4),)),
        Buffer("größe??/\\", 0, live=((0, 4),)),
        Buffer("in place", 100, live=((0, 4),), fixed=Fixed("tcm", 32)),
    ),
    (Pool("default", 4096, 16), Pool("tcm", 512, 8, base=0x20000000), Pool("unused")),
    name="odd */ names",
)


def planned(problem: Problem = ODD) -> Plan:
    return planner.plan(problem)


def written(name: str, problem: Problem = ODD, source: bytes = b"") -> bytes:
    return formats.plan_format(name).write(problem, planned(problem), source)


def compiled(folder: Path, compiler: tuple[str, ...], text: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Compile the text into the program `out` in the folder; return the compiler's result."""
    path = folder / ("main.c" if compiler[0] == "gcc" else "main.cc")
    path.write_text(text)
    command = [*compiler, "-I", str(folder), str(path), "-o", str(folder / "out"), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def offsets(problem: Problem) -> list[tuple[int, int]]:
    return [(placement.offset, placement.size) for placement in planned(problem).placements]


def test_the_c_header_compiles_as_c_and_as_cpp_and_holds_the_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.h").write_bytes(written("c"))
    names = ("CONV_1_0", "CONV_1_0_2", "NEW_INT", "7", "GR_E", "IN_PLACE")
    printed = "\n".join(
        f'printf("%llu %llu\\n", 0ULL + MEMPLAN_{name}_OFFSET, 0ULL + MEMPLAN_{name}_SIZE);' for name in names
    )
    text = f"""#define MEMPLAN_IMPLEMENTATION
        #include "plan.h"
        #include <stdint.h>
        #include <stdio.h>
        int main(void) {{
          {printed}
          return (uintptr_t)MEMPLAN_CONV_1_0_ADDRESS % 16u != 0u || sizeof memplan_tcm != MEMPLAN_TCM_PEAK || MEMPLAN_TCM_BASE != 0x20000000u;
        }}"""
    for compiler in (C, (*CPP, "-Wno-old-style-cast")):
        made = compiled(tmp_path, compiler, text)
        assert made.returncode == 0, made.stderr
        ran = subprocess.run([tmp_path / "out"], capture_output=True, text=True, timeout=120, check=True)
        assert [tuple(map(int, line.split())) for line in ran.stdout.splitlines()] == offsets(ODD)


def test_the_cpp_header_compiles_and_holds_the_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.hpp").write_bytes(written("cpp:prefix=net"))
    names = [("default", "conv_1_0"), ("default", "conv_1_0_2"), ("default", "new_int"), ("default", "7")]
    plan = planned()
    checks = "\n".join(
        f'static_assert(net::pool_{placement.pool}::buffer_{name}.offset == {placement.offset}u, "");'
        for (_, name), placement in zip(names, plan.placements, strict=False)
    )
    text = f"""#define NET_IMPLEMENTATION
        #include "plan.hpp"
        {checks}
        static_assert(net::pool_tcm::base == 0x20000000u && net::pool_tcm::capacity == 512u, "");
        int main() {{ return sizeof net::net_tcm != net::pool_tcm::peak; }}"""
    for standard in ("-std=c++11", "-std=c++20"):
        made = compiled(tmp_path, (*CPP, standard), text)
        assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("define", "says"),
    [
        ("-DMEMPLAN_DEFAULT_CAPACITY=64", "default: the plan does not fit"),
        ("-DMEMPLAN_CONV_1_0_NEEDED=65", "conv_1_0: needs more than was planned"),
    ],
)
def test_assertions_of_headers_fail_for_wrong_values(tmp_path: Path, define: str, says: str) -> None:
    for name, compiler in (("c", C), ("cpp", CPP)):
        (tmp_path / "plan.h").write_bytes(written(name))
        text = '#include "plan.h"\nint main(void) { return 0; }'
        assert compiled(tmp_path, compiler, text).returncode == 0
        made = compiled(tmp_path, compiler, text, define)
        assert made.returncode != 0
        assert says in made.stderr


def symbols(folder: Path) -> dict[str, int]:
    listed = subprocess.run(["nm", folder / "out"], capture_output=True, text=True, timeout=120, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def test_the_linker_script_places_the_symbols_of_the_header(tmp_path: Path) -> None:
    (tmp_path / "plan.h").write_bytes(written("c"))
    (tmp_path / "plan.ld").write_bytes(written("ld"))
    text = """#define MEMPLAN_IMPLEMENTATION
        #include "plan.h"
        extern unsigned char memplan_default__conv_1_0[];
        int main(void) { return memplan_default__conv_1_0 != MEMPLAN_CONV_1_0_ADDRESS; }"""
    script = f"-Wl,-T,{tmp_path / 'plan.ld'}"
    made = compiled(tmp_path, C, text, "-no-pie", script)
    assert made.returncode == 0, made.stderr
    found = symbols(tmp_path)
    assert found["memplan_tcm"] == found["memplan_tcm_start"] == 0x20000000
    assert found["memplan_default"] == found["memplan_default_start"]
    for memory, use in zip(("default", "tcm"), planned().pools, strict=False):
        assert found[f"memplan_{memory}_end"] - found[f"memplan_{memory}_start"] == use.peak
    made = compiled(tmp_path, C, text, "-no-pie", script, "-Wl,--defsym=memplan_default_capacity=64")
    assert made.returncode != 0
    assert "default: the plan does not fit" in made.stderr


LARGE = Problem((Buffer("large", 1 << 20, 64, live=((0, 1),)),), (Pool("ram"), Pool("tcm", base=0x20000000)))


@pytest.mark.parametrize("form", ["c", "cpp"])
@pytest.mark.parametrize(
    ("has_script", "section"), [(False, None), (True, None), (False, ".bss.mine"), (False, ".noinit.mine")]
)
def test_memories_take_no_bytes_of_the_image(tmp_path: Path, form: str, has_script: bool, section: str | None) -> None:
    (tmp_path / "plan.h").write_bytes(written(form, LARGE))
    (tmp_path / "plan.ld").write_bytes(written("ld", LARGE))
    text = '#define MEMPLAN_IMPLEMENTATION\n#include "plan.h"\nint main(void) { return 0; }'
    script = ("-no-pie", f"-Wl,-T,{tmp_path / 'plan.ld'}") if has_script else ()
    named = () if section is None else (f'-DMEMPLAN_RAM_SECTION="{section}"',)
    made = compiled(tmp_path, C if form == "c" else CPP, text, *script, *named)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "out").stat().st_size < 1 << 18
    command = ["readelf", "-SW", str(tmp_path / "out")]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    rows = re.findall(r"\] (\S+) +(\S+) +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", listed)
    (of,) = [row for row in rows if int(row[3], 16) >= 1 << 20]
    assert of[1] == "NOBITS"
    assert of[0] == (".memplan.ram" if has_script else ".noinit.mine" if section == ".noinit.mine" else ".bss")


MODEL = f.model(
    f.subgraph(
        [f.tensor("x", [40]), f.tensor("w", [40], data=1), f.tensor("m", [40]), f.tensor("y", [10])],
        [0],
        [3],
        [f.operator("ADD", [0, 1], [2]), f.operator("MEAN", [2], [3])],
    ),
    buffers=[b"", bytes(40)],
)
STRUCT = """#include <stddef.h>
#include <stdint.h>
namespace tflite {{{begin}
struct BufferDescriptor {{ int32_t offset; }};
struct BufferPlan {{ int32_t buffer_count; BufferDescriptor buffer_plan_entries[1]; }};
constexpr size_t SizeOfBufferPlan(int32_t count) {{ return sizeof(BufferPlan) + sizeof(BufferDescriptor) * (count > 1 ? count - 1 : 0); }}
{end}}}
"""
"""The structures of tensorflow/lite/micro/memory_planner/memory_plan_struct.h (tflite-micro, 183da3e), by field.

There both are in namespace tflite; the header that memplan writes would take them from tflite::micro as well.
"""
SHIM = """#include "plan.h"
#include <stdio.h>
#if IS_INNER
using namespace tflite::micro;
#endif
using namespace tflite;
static_assert(sizeof(net::offsets) == SizeOfBufferPlan(net::offsets.buffer_count), "as large as TFLite Micro counts");
static_assert(offsetof(net::Offsets, entries) == offsetof(BufferPlan, buffer_plan_entries), "offsets begin where they do there");
int main() {
  const BufferPlan* plan = net_buffer_plan();
  for (int index = 0; index < plan->buffer_count; ++index) printf("%d\\n", static_cast<int>(plan->buffer_plan_entries[index].offset));
}"""
"""Reads a plan as NonPersistentMemoryPlannerShim does: the number of buffers, and the offset of each by index."""


def include_struct(path: Path, begin: str = "", end: str = "") -> None:
    """Put TFLite Micro's header into the folder."""
    folder = path / "tensorflow" / "lite" / "micro" / "memory_planner"
    folder.mkdir(parents=True)
    (folder / "memory_plan_struct.h").write_text(STRUCT.format(begin=begin, end=end))


@pytest.mark.parametrize("micro", [False, True])
def test_the_buffer_plan_compiles_in_place_of_tflite_micro_s_own(tmp_path: Path, micro: bool) -> None:
    problem = planner.read_problem(MODEL, format="tflite:like=tflm")[0]
    include_struct(tmp_path, *((" namespace micro {", "}") if micro else ()))
    (tmp_path / "plan.h").write_bytes(written("tflm:prefix=net", problem, MODEL))
    made = compiled(tmp_path, CPP, SHIM, f"-DIS_INNER={int(micro)}")
    assert made.returncode == 0, made.stderr
    ran = subprocess.run([tmp_path / "out"], capture_output=True, text=True, timeout=120, check=True)
    assert [int(line) for line in ran.stdout.split()] == [offset for offset, _ in offsets(problem)]


def test_no_buffer_plan_is_written_for_a_model_with_places_of_its_own() -> None:
    """The shim leaves to its base class what has a place, and that refuses it."""
    problem = planner.read_problem(MODEL, format="tflite:like=tflm")[0]
    placed = written("tflite", problem, MODEL)
    with pytest.raises(BadInput, match=r"the model places 'x' itself, .*: write the plan into the model"):
        written("tflm", problem, placed)
    online = with_metadata(read_model(placed), [UNPLANNED] * 4)
    assert written("tflm", problem, online) == written("tflm", problem, MODEL)


def test_the_memory_map_names_every_buffer_by_address() -> None:
    lines = written("map").decode().splitlines()
    assert lines[0].startswith("default: from 0x0, 4096 bytes, ")
    assert "  20000020..20000084         100  in place  0..3" in lines
    assert sum("  " in line[:2] for line in lines) == len(ODD.buffers)


@pytest.mark.parametrize("form", ["c", "cpp"])
@pytest.mark.parametrize(
    "name", ["*\\ int evil; /*", "*\u00e9int evil;", "/\u00e9 static_assert", "???/", "*/*/*/", "/*/\n#error"]
)
def test_no_name_ends_the_comment_in_which_it_stands(name: str, form: str, tmp_path: Path) -> None:
    problem = Problem((Buffer(name, 8, live=((0, 1),)),), (Pool(name),), name=name)
    header = tmp_path / "plan.h"
    header.write_bytes(written(form, problem))
    text = '#include "plan.h"\nint main(void) { return 0; }\n'
    assert compiled(tmp_path, C if form == "c" else CPP, text).stderr == ""
    assert "\n#error" not in header.read_text()
    assert written("map", problem).count(b"\n") == written("map", replace(problem, pools=(Pool("p"),))).count(b"\n")


def test_the_ending_decides_the_format_unless_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(MODEL)
    for row in PLAN_FORMATS.values():
        for ending in row.endings:
            assert plan_format(None, f"X{ending.upper()}") is row
        for arguments in (["-o", f"out{row.endings[0]}"], ["-o", "out.any", "--as", row.name]):
            arguments[1] = str(tmp_path / arguments[1])
            command = ["plan", str(tmp_path / "model.tflite"), "-q", *arguments]
            assert CliRunner().invoke(app, command).exit_code == 0
            assert Path(arguments[1]).stat().st_size
    assert json.loads((tmp_path / "out.json").read_bytes())["format"] == "memplan-plan/1"


@pytest.mark.parametrize("name", ["x.svg", "x.PNG", "x.pdf", "x.html", "x.docx", "x.json.old"])
def test_a_plan_is_not_written_into_a_file_that_says_it_is_something_else(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(planner.write_problem(ODD))
    out = tmp_path / name
    refused = CliRunner().invoke(app, ["plan", str(tmp_path / "p.json"), "-o", str(out)])
    assert refused.exit_code == 2
    assert ".json, .plan, .tflite" in refused.stderr
    assert "`memplan draw`" in refused.stderr
    assert not out.exists()
    assert CliRunner().invoke(app, ["plan", str(tmp_path / "p.json"), "-o", str(out), "--as", "plan"]).exit_code == 0


def test_plans_made_before_are_verified_and_written(tmp_path: Path) -> None:
    problem, plan, out = (tmp_path / name for name in ("p.json", "plan.json", "plan.h"))
    problem.write_bytes(planner.write_problem(ODD))
    plan.write_bytes(planner.write_plan(planned()))
    command = ["write", str(problem), str(plan), "-o"]
    assert CliRunner().invoke(app, [*command, str(out)]).exit_code == 0
    assert out.read_bytes() == written("c")
    assert CliRunner().invoke(app, [*command, "-", "--as", "map"]).stdout_bytes == written("map")
    out.unlink()
    document = json.loads(plan.read_bytes())
    document["placements"][0]["offset"] += 8
    plan.write_text(json.dumps(document))
    answer = CliRunner().invoke(app, [*command, str(out)])
    assert answer.exit_code == 1
    assert "[misaligned]" in answer.stderr
    assert not out.exists()


def test_impossible_outputs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(planner.write_problem(ODD))
    for arguments, says in (
        (
            ["-o", str(tmp_path / "out.tflite")],
            "a .tflite file is written from TensorFlow Lite models only, and this is memplan/1 JSON",
        ),
        (["-o", str(tmp_path / "out.cc"), "--format", "memplan"], "a .cc file is written from TensorFlow Lite"),
        (["-o", str(tmp_path / "out.h"), "--as", "d"], "known are plan, tflite, c"),
        (["-o", str(tmp_path / "out.h"), "--as", "c:prefix=1x"], "--as: prefix must be a name of C"),
        (["-o", str(tmp_path / "out.h"), "--as", "c:prefix=a,prefix=b"], "--as: prefix is given 2 times; give it once"),
        (["-o", str(tmp_path / "out.h"), "--as", "map:prefix=x"], "has no setting 'prefix'"),
        (["--as", "c"], "--as"),
    ):
        answer = CliRunner().invoke(app, ["plan", str(path), *arguments])
        assert answer.exit_code == 2
        assert says in answer.stderr
        assert [each.name for each in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("name", ["k.tflite", "k.cc"])
def test_how_to_plan_for_a_model_is_said(name: str, tmp_path: Path) -> None:
    model, made = tmp_path / "model.tflite", str(tmp_path / "plan.json")
    model.write_bytes(MODEL)
    assert CliRunner().invoke(app, ["plan", str(model), "-o", made]).exit_code == 0
    answer = CliRunner().invoke(app, ["write", str(model), made, "-o", str(tmp_path / name)])
    assert (answer.exit_code, "plan it with --like tflm" in answer.stderr) == (1, True)
    assert CliRunner().invoke(app, ["plan", str(model), "--like", "tflm", "-o", made]).exit_code == 0
    assert CliRunner().invoke(app, ["write", str(model), made, "-o", str(tmp_path / name)]).exit_code == 0


def test_only_models_are_run(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(planner.write_problem(ODD))
    answer = CliRunner().invoke(app, ["check-run", str(path), "--estimate"])
    assert (answer.exit_code, "Lite models only, and this is memplan/1 JSON" in answer.stderr) == (2, True)


def test_without_a_plan_nothing_is_written(tmp_path: Path) -> None:
    problem = Problem((Buffer("x", 64, live=((0, 1),)),), (Pool("p", 16),))
    for row in PLAN_FORMATS.values():
        if row.name != "plan":
            with pytest.raises(BadInput):
                row.write(problem, planned(problem), MODEL)
    path = tmp_path / "p.json"
    path.write_bytes(planner.write_problem(problem))
    assert CliRunner().invoke(app, ["plan", str(path), "-o", str(tmp_path / "out.h")]).exit_code == 3
    assert [each.name for each in tmp_path.iterdir()] == ["p.json"]
