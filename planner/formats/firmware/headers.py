"""A plan as a header, with C macros or C++ constants: the memories' places, and assertions that their contents fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...checks.report import bad_input, quoted
from ...model.errors import Code
from ...model.plan import Plan
from ...model.problem import Problem
from .naming import (
    PREFIX,
    Memory,
    certain_memories,
    memories,
    remark,
    require_arrays,
    require_namespace,
    require_prefix,
    section_of,
)

C_HEAD = """\
/* Made by memplan. {title}
   In one file, define {P}_IMPLEMENTATION before this is included: it gets the memories, each in a section of its own.
   {P}_<MEMORY>_CAPACITY says how much room there is, {P}_<BUFFER>_NEEDED how many bytes are used of a buffer: define them, and what does not fit does
   not compile. {P}_<MEMORY>_SECTION names a memory's section: one that begins with .bss. takes no bytes of the image, and is cleared at the start.
   {P}_PLACED says how a compiler is told of section and alignment. Of C it needs C11, of C++ C++11. */
#ifndef {P}_PLAN_H
#define {P}_PLAN_H

#ifndef {P}_PLACED
#define {P}_PLACED(section_, alignment_) __attribute__((section(section_), aligned(alignment_)))
#endif
#ifdef __cplusplus
#define {P}_ASSERT(condition_, text_) static_assert(condition_, text_)
#else
#define {P}_ASSERT(condition_, text_) _Static_assert(condition_, text_)
#endif
"""
CPP_HEAD = """\
// Made by memplan. {title}
// In one file, define {P}_IMPLEMENTATION before this is included: it gets the memories, each in a section of its own.
// {P}_<MEMORY>_CAPACITY says how much room there is, {P}_<BUFFER>_NEEDED how many bytes are used of a buffer: define them, and what does not fit does
// not compile. {P}_<MEMORY>_SECTION names a memory's section: one that begins with .bss. takes no bytes of the image, and is cleared at the start.
// {P}_PLACED says how a compiler is told of section and alignment. It needs C++11.
#ifndef {P}_PLAN_HPP
#define {P}_PLAN_HPP

#include <cstddef>
#include <cstdint>

#ifndef {P}_PLACED
#define {P}_PLACED(section_, alignment_) __attribute__((section(section_), aligned(alignment_)))
#endif

namespace {p} {{

struct Placement {{
  std::uint64_t offset;
  std::uint64_t size;
}};
"""


def c_header(problem: Problem, plan: Plan, _source: bytes, prefix: str = PREFIX) -> bytes:
    """Return the plan as macros. Raises BadInput for what they cannot express."""
    p, found = prefix, memories(problem, plan)
    _require_c(p, found)
    lines = [C_HEAD.format(P=p.upper(), title=_title(problem, plan))]
    for memory in found:
        lines += _c_memory(p, memory)
    lines += ['#ifdef __cplusplus\nextern "C" {\n#endif', *_variables(p, found), "#ifdef __cplusplus\n}\n#endif\n"]
    return "\n".join([*lines, "#endif\n"]).encode("ascii")


def cpp_header(problem: Problem, plan: Plan, _source: bytes, prefix: str = PREFIX) -> bytes:
    """Return the plan as constants in a namespace. Raises BadInput for what they cannot express."""
    p, found = prefix, memories(problem, plan)
    _require_cpp(p, found)
    lines = [CPP_HEAD.format(P=p.upper(), p=p, title=_title(problem, plan))]
    for memory in found:
        lines += _cpp_memory(p, memory)
    lines += [*_variables(p, found), f"}}  // namespace {p}\n"]
    return "\n".join([*lines, "#endif\n"]).encode("ascii")


def check_c(problem: Problem, _source: bytes, prefix: str = PREFIX) -> None:
    """Raise BadInput if no plan of the problem can be macros."""
    _require_c(prefix, certain_memories(problem))


def check_cpp(problem: Problem, _source: bytes, prefix: str = PREFIX) -> None:
    """Raise BadInput if no plan of the problem can be constants in a namespace."""
    _require_cpp(prefix, certain_memories(problem))


def _require_c(prefix: str, found: Sequence[Memory]) -> None:
    require_prefix(prefix)
    _require_alignment(found)
    require_arrays(prefix, found)


def _require_cpp(prefix: str, found: Sequence[Memory]) -> None:
    require_namespace(prefix)
    _require_alignment(found)
    require_arrays(prefix, found, {f"pool_{memory.name}" for memory in found})


def _require_alignment(found: Sequence[Memory]) -> None:
    """Raise BadInput if an array cannot be aligned as one of the memories needs."""
    for memory in found:
        memory.require_alignment()
        if memory.phase:
            text = f"the buffers in {quoted(memory.use.name)} need an alignment of {memory.alignment}, of which the pool's base is no multiple, as an array's address would be: move the base, or take the linker script alone"
            raise bad_input(Code.UNSUPPORTED, (), text)


def _title(problem: Problem, plan: Plan) -> str:
    name = "" if problem.name is None else f"{remark(problem.name)}: "
    return f"{name}{len(plan.placements)} buffers in {plan.peak} bytes, {plan.status.value}; problem {plan.problem_digest[:16]}."


def _c_memory(p: str, memory: Memory) -> Iterator[str]:
    m = f"{p}_{memory.name}".upper()
    yield f"/* Memory {remark(memory.use.name)} */"
    yield f"#define {m}_PEAK {memory.peak}u"
    yield f"#define {m}_ALIGNMENT {memory.alignment}u"
    if memory.pool.base is not None:
        yield f"#define {m}_BASE {memory.pool.base}u"
    if memory.use.size is not None:
        yield f"#ifndef {m}_CAPACITY\n#define {m}_CAPACITY {memory.use.size}u\n#endif"
    yield f"#ifdef {m}_CAPACITY"
    yield f'{p.upper()}_ASSERT({m}_PEAK <= {m}_CAPACITY, "{memory.name}: the plan does not fit");\n#endif'
    for name, placement in memory.buffers:
        b = f"{p}_{name}".upper()
        yield f"#define {b}_OFFSET {placement.offset}u /* {remark(placement.id)} */"
        yield f"#define {b}_SIZE {placement.size}u"
        if memory.peak:
            yield f"#define {b}_ADDRESS ((void *)({p}_{memory.name} + {b}_OFFSET))"
        yield f"#ifdef {b}_NEEDED"
        yield f'{p.upper()}_ASSERT({b}_NEEDED <= {b}_SIZE, "{name}: needs more than was planned");\n#endif'
    yield ""


def _cpp_memory(p: str, memory: Memory) -> Iterator[str]:
    capacity = f"{p}_{memory.name}_CAPACITY".upper()
    yield f"// Memory {remark(memory.use.name)}"
    yield f"namespace pool_{memory.name} {{"
    yield f"constexpr std::uint64_t peak = {memory.peak}u;"
    yield f"constexpr std::uint64_t alignment = {memory.alignment}u;"
    if memory.pool.base is not None:
        yield f"constexpr std::uint64_t base = {memory.pool.base}u;"
    if memory.use.size is not None:
        yield f"#ifndef {capacity}\n#define {capacity} {memory.use.size}u\n#endif"
    yield f"#ifdef {capacity}"
    yield f"constexpr std::uint64_t capacity = {capacity};"
    yield f'static_assert(peak <= capacity, "{memory.name}: the plan does not fit");\n#endif'
    for name, placement in memory.buffers:
        needed = f"{p}_{name}_NEEDED".upper()
        yield f"constexpr Placement buffer_{name} = {{{placement.offset}u, {placement.size}u}};  // {remark(placement.id)}"
        yield f"#ifdef {needed}"
        yield f'static_assert({needed} <= buffer_{name}.size, "{name}: needs more than was planned");\n#endif'
    yield f"}}  // namespace pool_{memory.name}\n"


def _variables(p: str, found: tuple[Memory, ...]) -> Iterator[str]:
    """Return the memories themselves, declared everywhere and defined in one file; empty ones are left out."""
    for memory in found:
        if memory.peak:
            yield f"extern unsigned char {p}_{memory.name}[{memory.peak}u];"
    yield f"#ifdef {p.upper()}_IMPLEMENTATION"
    for memory in found:
        if memory.peak:
            section = f"{p}_{memory.name}_SECTION".upper()
            yield f'#ifndef {section}\n#define {section} "{section_of(p, memory)}"\n#endif'
            yield f"{p.upper()}_PLACED({section}, {memory.alignment}) unsigned char {p}_{memory.name}[{memory.peak}u];"
    yield "#endif"
