"""Refutations about one memory: in one step if possible, otherwise by search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..proofs.blocks import Blocks
from ..proofs.replay import MOST_TREE_BUFFERS
from ..proofs.stacked import MOST_STACKED, end_above, have_no_room
from ..proofs.state import State
from .cliques import Named, Stopped, busiest_time, cliques
from .heaviest import heaviest_clique
from .search import Ending, Search

MOST_FLOORS = 100
"""The number of least starts of a clique that are tried."""


def refuted(blocks: Blocks, stopped: Callable[[], bool], first: Iterable[Named] = ()) -> Iterable[str] | Ending:
    """Return lines that show that the blocks cannot all be there, or how the search ended. `first` are cliques to begin with."""
    state, claimed = State(blocks), [*first]
    for named in claimed:
        short = _crowded(state, named)
        if short is not None:
            return short
    if stopped():
        return Ending.STOPPED
    short = in_one_step(blocks, state)
    if short is not None:
        return short
    busy = busiest_time(blocks)
    for named in claimed if busy is None else (*claimed, busy):
        short = _in_no_order(state, named, stopped)
        if short is not None:
            return short
    if len(blocks.size) > MOST_TREE_BUFFERS:
        return Ending.TOO_LARGE
    try:
        heavy = heaviest_clique(blocks, stopped)
        short = None if heavy is None else _crowded(state, heavy)
        if short is not None:
            return short
        named_cliques = cliques(blocks, stopped)
    except Stopped:
        return Ending.STOPPED
    if named_cliques is None:
        return Ending.TOO_LARGE
    ending, lines = Search(blocks, named_cliques, stopped).run()
    return lines if ending is Ending.REFUTED else ending


def in_one_step(blocks: Blocks, state: State) -> list[str] | None:
    """Return the proof by a buffer without a place, or by the busiest time."""
    for block in dict.fromkeys(blocks.block_of):
        state.know(block)
        if state.is_empty(block):
            return [f"e {block}"]
    busy = busiest_time(blocks)
    return None if busy is None else _crowded(state, busy)


def _crowded(state: State, named: Named) -> list[str] | None:
    """Return the proof of one step, if the clique has no room."""
    clique = state.clique(named.buffers)
    floors = {state.low[m.block] + m.low: m.buffer for m in clique.movers}
    for floor in sorted(floors)[:MOST_FLOORS]:
        if state.raised(clique, floors[floor])[2] is None:
            return [named.line, f"s 0 {floors[floor]}"]
    return None


def _in_no_order(state: State, named: Named, stopped: Callable[[], bool]) -> list[str] | None:
    """Return the proof of one step, if the clique's buffers have no room in any order."""
    members = state.clique(named.buffers).movers
    if len(members) > MOST_STACKED:
        return None
    end: int | None = 0
    for member in sorted(members, key=lambda each: -state.blocks.block(each.block).rule.modulus):
        end = None if end is None else end_above(state, member, end)
    return [named.line, "o 0"] if end is None and have_no_room(state, members, stopped) else None
