"""Names for C, C++ and linker scripts, and numbers in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import lcm
from typing import NamedTuple

from ...checks.report import bad_input, in_comment, printable, quoted
from ...facts.names import Names
from ...facts.variants import as_chosen
from ...model.errors import Code
from ...model.plan import Placement, Plan, PoolUse
from ...model.problem import Buffer, Pool, Problem
from ..tables.settings import AS

MOST_CHARACTERS = 48
"""The longest name derived from a longer one."""
PREFIX = "memplan"
LARGEST_ALIGNMENT = 1 << 28
"""That object files know."""
SUFFIXES = ("_start", "_end", "_capacity")
"""Of the linker script's symbols, which must not be the arrays of other memories."""
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept
const const_cast consteval constexpr constinit continue contract_assert decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_DECLARED = """
main max_align_t nullptr_t offsetof ptrdiff_t size_t std
NULL PTRDIFF_MAX PTRDIFF_MIN SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIZE_MAX WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN
far hpux huge i386 linux m68k mips near sparc sun unix vax AVR MIPSEB MIPSEL PPC R3000 R4000 WIN32 WIN64 WINNT
"""
"""What <stddef.h> and <stdint.h> declare besides the integers, and what compilers define as macros."""
_SIZED = (f"{kind}{bits}" for kind in ("int", "int_least", "int_fast") for bits in (8, 16, 32, 64))
_INTEGERS = (*_SIZED, "intmax", "intptr")
RESERVED = frozenset(
    (
        *_WORDS.split(),
        *_DECLARED.split(),
        *(f"{sign}{name}_t" for sign in ("", "u") for name in _INTEGERS),
        *(
            f"{sign}{name}_{end}".upper()
            for sign in ("", "u")
            for name in _INTEGERS
            for end in ("min", "max", "c", "width")
        ),
        *(f"{name}_WIDTH" for name in ("PTRDIFF", "SIG_ATOMIC", "SIZE", "WCHAR", "WINT")),
    )
)
"""What C or C++, or a header that ours include, has a meaning for."""
_OF_COMPILERS = re.compile(r"_[A-Z]|.*__")
"""Names that belong to compilers and their libraries."""
MOST_LETTERS = 64
_IDENTIFIER = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{MOST_LETTERS - 1}}}")


class Memory(NamedTuple):
    """A pool and its contents in the plan."""

    name: str
    """The name in C."""
    pool: Pool
    use: PoolUse
    alignment: int
    """The required alignment of the memory's first byte, so that every buffer is aligned."""
    buffers: tuple[tuple[str, Placement], ...]
    """By address, with their names in C."""

    @property
    def peak(self) -> int:
        return self.use.peak or 0

    @property
    def phase(self) -> int:
        """The remainder that the address of the memory's first byte has to leave."""
        return (self.pool.base or 0) % self.alignment

    def require_alignment(self) -> None:
        """Raise BadInput unless compilers and linkers can align to it."""
        if self.alignment & (self.alignment - 1) or self.alignment > LARGEST_ALIGNMENT:
            text = f"the buffers in {quoted(self.use.name)} need an alignment of {self.alignment}, and compilers and linkers know powers of two up to {LARGEST_ALIGNMENT}"
            raise bad_input(Code.UNSUPPORTED, (), text)


def memories(problem: Problem, plan: Plan) -> tuple[Memory, ...]:
    """Return the pools in the plan's order."""
    problem = as_chosen(problem, plan)
    pools = {pool.name: pool for pool in problem.pools}
    wanted = {buffer.id: buffer.alignment for buffer in problem.buffers}
    ids = unique(str(placement.id) for placement in plan.placements)
    found: dict[str, list[tuple[str, Placement]]] = {use.name: [] for use in plan.pools}
    for name, placement in zip(ids, plan.placements, strict=True):
        found[placement.pool].append((name, placement))
    made = []
    names = unique((use.name for use in plan.pools), SUFFIXES)
    for name, use in zip(names, plan.pools, strict=True):
        held = sorted(found[use.name], key=lambda each: (each[1].offset, each[1].size))
        alignment = lcm(pools[use.name].alignment, *(wanted.get(each.id, 1) for _, each in held))
        made.append(Memory(name, pools[use.name], use, alignment, tuple(held)))
    return tuple(made)


def certain_memories(problem: Problem) -> tuple[Memory, ...]:
    """Return the pools as what must lie in them makes them in every plan, without that: what these cannot be written as, no plan can."""
    held: dict[str, list[Buffer]] = {pool.name: [] for pool in problem.pools}
    for buffer in problem.buffers:
        homes = tuple(held) if buffer.pools is None else buffer.pools
        if buffer.fixed is not None or len(homes) == 1:
            held[homes[0] if buffer.fixed is None else buffer.fixed.pool].append(buffer)
    made = []
    for name, pool in zip(unique(held, SUFFIXES), problem.pools, strict=True):
        use = PoolUse(pool.name, pool.size, max((buffer.size for buffer in held[pool.name]), default=0), 0)
        alignment = lcm(pool.alignment, *{buffer.alignment for buffer in held[pool.name]})
        made.append(Memory(name, pool, use, alignment, ()))
    return tuple(made)


def unique(names: Iterable[str], suffixes: Sequence[str] = ()) -> Iterator[str]:
    """Return each name reduced to letters, digits and underscores, with a number appended if another gives the same, with one of the suffixes or without."""
    made = Names(mark="_", first=2)
    taken = set[str]()
    for name in names:
        base = (
            re.sub(r"[^A-Za-z0-9]+", "_", name[: 4 * MOST_CHARACTERS]).strip("_").lower()[:MOST_CHARACTERS].rstrip("_")
            or "buffer"
        )
        found = made.new(base)
        while any(found + suffix in taken or found.removesuffix(suffix) in taken for suffix in suffixes):
            found = made.new(base)
        taken.add(found)
        yield found


def section_of(prefix: str, memory: Memory) -> str:
    """Return the section of a memory in object files. Compilers and linkers keep no bytes for sections of this beginning."""
    return f".bss.{prefix}.{memory.name}"


def require_prefix(prefix: str) -> str:
    """Raise BadInput unless it is a valid prefix of C names."""
    if not _IDENTIFIER.fullmatch(prefix):
        raise bad_input(
            Code.INVALID_OPTION,
            AS,
            f"prefix must be a name of C with {MOST_LETTERS} characters at most, not {quoted(prefix)}",
        )
    return prefix


def require_namespace(prefix: str, taken: Collection[str] = ()) -> str:
    """Raise BadInput unless it is a valid name of a namespace, beside those that are taken."""
    require_prefix(prefix)
    if prefix in RESERVED or prefix in taken or _OF_COMPILERS.match(prefix):
        text = f"prefix names a namespace, and {quoted(prefix)} has a meaning of its own in C++; choose another prefix"
        raise bad_input(Code.INVALID_OPTION, AS, text)
    return prefix


def require_arrays(prefix: str, found: Sequence[Memory], taken: Collection[str] = ()) -> None:
    """Raise BadInput unless the memories that need room can be arrays in C and C++, beside names that are taken."""
    for memory in found:
        name = f"{prefix}_{memory.name}"
        if memory.peak and (name in RESERVED or name in taken):
            what = "is there already" if name in taken else "has a meaning of its own in C or C++"
            text = f"memory {quoted(memory.use.name)} would be {name}, which {what}; choose another prefix than {quoted(prefix)}"
            raise bad_input(Code.INVALID_OPTION, AS, text)


def remark(text: object) -> str:
    """Return text for a comment of C, which it can neither end nor nest."""
    return in_comment(printable(str(text)))
