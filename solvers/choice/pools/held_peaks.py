"""Where the peaks of the earlier terms are held at their least, what a later term costs is decided by which pools are high.

All blocks in the last pool is often one way to have the least peaks, and from there no window of time leads on. So first the pool that costs
most is made as low as it can be with these peaks, then the next one; what lives in the others costs little as soon as windows have gone over it.
"""

from __future__ import annotations

from dataclasses import replace

from .program import Costs, Program


def is_held_by_peaks(program: Program, index: int) -> bool:
    """Do only peaks decide the earlier terms, and does only who is where decide this one?"""
    term = program.terms[index]
    is_of_choices = any(map(any, term.of_homes)) and not any(term.of_peaks)
    return index > 0 and is_of_choices and not any(any(map(any, one.of_homes)) for one in program.terms[:index])


def heights_first(program: Program, index: int) -> Program:
    """The program with other terms from this one on: how high each pool is, the dearest one first; not the one that costs least."""
    beyond = [0] * len(program.rooms)
    for homes, costs in zip(program.homes, program.terms[index].of_homes, strict=True):
        for pool, cost in zip(homes, costs, strict=True):
            beyond[pool] += cost - min(costs)
    dearest = sorted((pool for pool, cost in enumerate(beyond) if cost > min(beyond)), key=lambda pool: -beyond[pool])
    nothing = tuple((0,) * len(homes) for homes in program.homes)
    heights = (Costs(nothing, tuple(int(pool == each) for pool in range(len(beyond)))) for each in dearest)
    return replace(program, terms=(*program.terms[:index], *heights))
