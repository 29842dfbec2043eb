"""A plan for the linker: a script fragment with a section and symbols for each memory, and a map for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...facts.variants import as_chosen
from ...model.plan import Plan
from ...model.problem import Problem
from .naming import PREFIX, Memory, certain_memories, memories, remark, require_prefix, section_of

HEAD = """\
/* Made by memplan: a section for each memory, for GNU ld and lld. Give it besides the usual script: -Wl,-T,FILE
   What the C header defines lies in it. The symbol {p}_<memory>_capacity says how much room there is; what does not fit does not link.
{regions}*/
"""
MOST = (1 << 32) - 1
"""The bytes of a memory without a size."""


def linker_script(problem: Problem, plan: Plan, _source: bytes, prefix: str = PREFIX) -> bytes:
    """Return the fragment. Raises BadInput for what it cannot express."""
    p, found = prefix, memories(problem, plan)
    _require(p, found)
    regions = "".join(f"   {line}\n" for line in _regions(p, found))
    lines = [HEAD.format(p=p, regions=regions)]
    for memory in found:
        lines += _section(p, memory)
    lines += [*(line for memory in found for line in _assertions(p, memory)), ""]
    return "\n".join(lines).encode("ascii")


def check_script(problem: Problem, _source: bytes, prefix: str = PREFIX) -> None:
    """Raise BadInput if no plan of the problem can be such a fragment."""
    _require(prefix, certain_memories(problem))


def _require(prefix: str, found: Sequence[Memory]) -> None:
    require_prefix(prefix)
    for memory in found:
        if memory.pool.base is None:
            memory.require_alignment()


def memory_map(problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return every memory's contents by address."""
    return "\n".join([*_map(problem, plan), ""]).encode("utf-8")


def _regions(p: str, found: tuple[Memory, ...]) -> Iterator[str]:
    known = [memory for memory in found if memory.pool.base is not None and memory.use.size is not None]
    if known:
        yield "As regions of a script of your own:"
        for memory in known:
            pool = memory.pool
            yield f"MEMORY {{ {p}_{memory.name} (rw) : ORIGIN = {pool.base or 0:#x}, LENGTH = {memory.use.size} }}"


def _section(p: str, memory: Memory) -> Iterator[str]:
    m = f"{p}_{memory.name}"
    yield f"/* Memory {remark(memory.use.name)} */"
    room = max(MOST, memory.peak) if memory.use.size is None else memory.use.size
    yield f"PROVIDE({m}_capacity = {room:#x});"
    if memory.pool.base is None:
        at, alignment = "", f" ALIGN({memory.alignment})"
    else:
        at, alignment = f" {memory.pool.base:#x}", ""
    yield f"SECTIONS\n{{\n  .{p}.{memory.name}{at} (NOLOAD) :{alignment}\n  {{"
    yield f"    {m}_start = .;\n    KEEP(*({section_of(p, memory)}))\n    . = MAX(., {memory.peak:#x});\n    {m}_end = .;\n  }}"
    for name, placement in memory.buffers:
        yield f"  PROVIDE({m}__{name} = {m}_start + {placement.offset:#x}); /* {remark(placement.id)}: {placement.size} bytes */"
    yield "}\nINSERT AFTER .bss;\n"


def _assertions(p: str, memory: Memory) -> Iterator[str]:
    m = f"{p}_{memory.name}"
    yield f'ASSERT({m}_end - {m}_start <= {m}_capacity, "{memory.name}: the plan does not fit");'
    yield f'ASSERT({m}_start % {memory.alignment} == {memory.phase}, "{memory.name}: begins in the wrong place");'


def _map(problem: Problem, plan: Plan) -> Iterator[str]:
    live = {buffer.id: buffer.live for buffer in as_chosen(problem, plan).buffers}
    for memory in memories(problem, plan):
        base = memory.pool.base or 0
        size = "unlimited" if memory.use.size is None else f"{memory.use.size} bytes"
        yield f"{remark(memory.use.name)}: from {base:#x}, {size}, {memory.peak} used, {memory.use.bound} at least; aligned to {memory.alignment}"
        width = len(f"{base + memory.peak:x}")
        for _, placement in memory.buffers:
            start = base + placement.offset
            times = " ".join(f"{since}..{until - 1}" for since, until in live.get(placement.id) or () if since < until)
            yield f"  {start:0{width}x}..{start + placement.size:0{width}x}  {placement.size:>10}  {remark(placement.id)}  {times}".rstrip()
        yield ""
