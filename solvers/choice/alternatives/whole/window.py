"""Chooses anew in a window of time, with CP-SAT: the alternatives of all groups within it, and the memories of their blocks and others'.

What lies outside stays as it is, so a window is small however large the instance is.
"""

from __future__ import annotations

from typing import Any

from ....exact.cpsat import engine
from ....model.solver import Control
from ..instance import Choices, Pick, Share
from .state import Homes, State

STRICT = 8
"""A byte too many costs this many times what a byte of a group's alternatives saves; where the memory has no more room, STRICT times that."""
MOST_COST = 1 << 34
"""Costs are counted in units so that no window costs more."""


def penalty_of(choices: Choices) -> int:
    """The cost of a byte too many at a time."""
    assert choices.memories is not None
    dearest = max((max(of_group) - min(of_group) for of_group in choices.costs), default=0)
    sizes = [share.size for shares in choices.memories.live for share in shares]
    return STRICT * (dearest * len(sizes) // max(sum(sizes), 1) + 1)


class Window:
    """The window from time `low` to `high`. Until `ahead`, blocks without a memory may be anywhere, byte by byte."""

    def __init__(self, state: State, low: int, high: int, ahead: int, penalty: int) -> None:
        self._state, self._layout = state, state.layout
        self._low, self._high, self._ahead = low, high, ahead
        self._penalty = penalty
        self._most = max((share.size for time in range(low, ahead) for share in state.layout.live[time]), default=1)
        self._model: Any = engine.new_model()
        self._chosen: dict[int, list[Any]] = {}
        """The literals of each free group's alternatives."""
        self._homes: dict[int, dict[int, Any]] = {}
        """The literals of each free block's memories."""
        self._there: dict[tuple[int, tuple[Pick, ...]], Any] = {}
        self._parts: dict[tuple[int, tuple[Pick, ...]], dict[int, Any]] = {}
        self._over: list[tuple[Any, int]] = []

    def improve(self, budget: engine.Budget, control: Control) -> int:
        """Put the best choice found into the state; return the work used."""
        self._build()
        found: list[tuple[dict[int, int], Homes]] = []

        def on_solution(value: engine.ReadValue) -> None:
            choice = {g: next(a for a, each in enumerate(of) if value(each)) for g, of in self._chosen.items()}
            homes = {b: next(p for p, each in of.items() if value(each)) for b, of in self._homes.items() if any(map(value, of.values()))}  # fmt: skip
            found[:] = [(choice, homes)]

        reply = engine.solve(self._model, budget, control, on_solution)
        for choice, homes in found:
            for g, a in choice.items():
                self._state.choice[g] = a
            self._state.homes.update(homes)
        return reply.work

    def _build(self) -> None:
        self._add_groups()
        for time in range(self._low, self._ahead):
            self._add_time(time)
        self._add_ties()
        groups = [
            (each, costs) for g, of in self._chosen.items() for each, costs in zip(of, self._costs(g), strict=True)
        ]
        total = [*groups, *self._over]
        self._model.minimize(engine.weighted_sum([each for each, _ in total], [weight for _, weight in total]))
        for g, of in self._chosen.items():
            for a, each in enumerate(of):
                self._model.add_hint(each, self._state.choice[g] == a)
        for block, homes in self._homes.items():
            for p, each in homes.items():
                if block in self._state.homes:
                    self._model.add_hint(each, self._state.homes[block] == p)

    def _costs(self, g: int) -> list[int]:
        costs = self._layout.choices.costs[g]
        unit = max(-(-sum(max(of) for of in self._layout.choices.costs) // MOST_COST), 1)
        return [(cost - min(costs)) // unit for cost in costs]

    def _add_groups(self) -> None:
        """Groups of which all is in the window are free; rules tie them to each other and to the rest."""
        layout, choice, model = self._layout, self._state.choice, self._model
        for g, extent in enumerate(layout.groups):
            if extent.last >= 0 and extent.is_within(self._low, self._ahead):
                self._chosen[g] = [model.new_bool_var("") for _ in layout.choices.costs[g]]
                model.add_exactly_one(self._chosen[g])

        def literal(pick: Pick) -> Any:
            g, a = pick
            return self._chosen[g][a] if g in self._chosen else int(choice[g] == a)

        for one, other in layout.choices.requires:
            if one[0] in self._chosen or other[0] in self._chosen:
                model.add(literal(one) <= literal(other))
        for one, other in layout.choices.forbids:
            if one[0] in self._chosen or other[0] in self._chosen:
                model.add(literal(one) + literal(other) <= 1)

    def _add_time(self, time: int) -> None:
        """At this time, each memory holds what it may, and a byte more has a price."""
        state, model = self._state, self._model
        count = len(state.tops)
        inside: list[list[Any]] = [[] for _ in range(count)]
        fixed = [0] * count
        loose: dict[tuple[int, ...], list[Any]] = {}
        for share in self._layout.live[time]:
            there = self._presence(share)
            if there is None:
                continue
            if self._is_free(share.block):
                for p, literal in self._parts_of(share, there).items():
                    inside[p].append(share.size * literal)
            elif share.block not in state.homes:
                loose.setdefault(self._layout.pools[share.block], []).append(share.size * there)
            elif isinstance(there, int):
                fixed[state.homes[share.block]] += share.size
            else:
                inside[state.homes[share.block]].append(share.size * there)
        for pools, sizes in loose.items():
            parts = {p: model.new_int_var(0, engine.LARGEST_TRUSTED, "") for p in pools}
            model.add(sum(parts.values()) == sum(sizes))
            for p, part in parts.items():
                inside[p].append(part)
        for p, terms in enumerate(inside):
            cap = state.cap(time, p)
            if cap is not None and terms:
                over = model.new_int_var(0, engine.LARGEST_TRUSTED, "")
                model.add(sum(terms) <= over + (cap - fixed[p]))
                self._over.append((over, self._penalty * (STRICT if self._is_strict(p) else 1)))

    def _add_ties(self) -> None:
        """Blocks that belong into one memory, or into different ones: to break that costs as much as many bytes too many."""
        model, layout = self._model, self._layout
        for tie in dict.fromkeys(tie for block in self._homes for tie in layout.ties.get(block, ())):
            holds: list[Any] = []
            if tie.pick is not None and tie.pick[0] in self._chosen:
                holds = [self._chosen[tie.pick[0]][tie.pick[1]]]
            elif tie.pick is not None and self._state.choice[tie.pick[0]] != tie.pick[1]:
                continue
            one, other = self._in_pools(tie.one), self._in_pools(tie.other)
            if not one or not other:
                continue
            broken = model.new_bool_var("")
            for p in one.keys() | other.keys() if tie.is_same else one.keys() & other.keys():
                others = [each for q, each in other.items() if (q == p) != tie.is_same]
                model.add(one.get(p, 0) + sum(others) <= 1 + broken).only_enforce_if(holds)
            self._over.append((broken, STRICT * self._penalty * self._most))

    def _in_pools(self, block: int) -> dict[int, Any]:
        """For each memory, an expression that is 1 if the block is in it; empty if it has none yet."""
        found: dict[int, Any] = {}
        for b, literal in self._homes.get(block, {}).items():
            pool = self._layout.bins[b].pool
            found[pool] = found.get(pool, 0) + literal
        if not found and block in self._state.homes:
            return {self._layout.bins[self._state.homes[block]].pool: 1}
        return found

    def _is_strict(self, pool: int) -> bool:
        """Is the memory not larger than what it may hold?"""
        size = self._layout.bins[pool].size
        return size is not None and size == self._state.tops[pool]

    def _is_free(self, block: int) -> bool:
        """True if the block's memory is decided here: it begins in the window, and ends there or has none yet."""
        extent = self._layout.blocks[block]
        begins = self._low <= extent.first < self._high
        return begins and (extent.last < self._ahead or block not in self._state.homes)

    def _presence(self, share: Share) -> Any:
        """A literal or a sum that is 1 if the share is there; None if it is not, whatever is chosen here."""
        free = [self._chosen[g][a] for g, a in share.picks if g in self._chosen]
        if not share.picks or any(self._state.choice[g] == a for g, a in share.picks if g not in self._chosen):
            return 1
        if not free:
            return None
        if len({g for g, _ in share.picks}) == 1:
            return free[0] if len(free) == 1 else sum(free)
        key = share.block, share.picks
        if key not in self._there:
            self._there[key] = self._model.new_bool_var("")
            for literal in free:
                self._model.add_implication(literal, self._there[key])
        return self._there[key]

    def _parts_of(self, share: Share, there: Any) -> dict[int, Any]:
        """For each memory, a literal that is 1 if the share is there and in it."""
        model, block = self._model, share.block
        is_single = self._layout.is_single[block]
        if block not in self._homes:
            self._homes[block] = {p: model.new_bool_var("") for p in self._layout.pools[block]}
            model.add(sum(self._homes[block].values()) == (there if is_single else 1))
        if is_single:
            return self._homes[block]
        key = block, share.picks
        if key not in self._parts:
            self._parts[key] = {p: model.new_bool_var("") for p in self._layout.pools[block]}
            model.add(sum(self._parts[key].values()) == there)
            for p, literal in self._parts[key].items():
                model.add_implication(literal, self._homes[block][p])
        return self._parts[key]
