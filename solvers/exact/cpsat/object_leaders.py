"""Storage objects shared by any blocks: every object has a leader, its first block in the order of size, whose size is the object's.

A block joins the object of an earlier leader, or leads one itself. Since the leader is the first, no two variables stand for the same object, so only
blocks of equal size are symmetric. Blocks are numbered by size, the largest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .engine import ReadValue, new_model

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel


@dataclass(frozen=True, slots=True)
class LeadersModel:
    """The model, and the variables for the leader of each block."""

    cp: CpModel
    follows: list[dict[int, Any]]
    """By block: leader -> literal; the block itself if it leads."""

    def objects(self, value: ReadValue) -> list[list[int]]:
        """The users of each object in a solution."""
        found: dict[int, list[int]] = {}
        for number, leaders in enumerate(self.follows):
            leader = next(leader for leader, literal in leaders.items() if value(literal))
            found.setdefault(leader, []).append(number)
        return list(found.values())


def leaders_terms(blocks: int, cliques: Sequence[Sequence[int]]) -> int:
    """An upper bound on the model's size."""
    return blocks * (blocks + 1) // 2 + sum(sum(clique) for clique in cliques)


def leaders_model(
    size: Sequence[int],
    cliques: Sequence[Sequence[int]],
    least: Sequence[int],
    below: int,
) -> LeadersModel:
    """Builds a model that minimises the sum of the leaders' sizes and requires it to be smaller than `below`.

    `cliques`: sets of blocks that may not share; each such pair is in at least one. `least[k]`: proven least size of the k-th largest object.
    """
    cp = new_model()
    apart: list[set[int]] = [set() for _ in size]
    for clique in cliques:
        for member in clique:
            apart[member].update(clique)
    follows: list[dict[int, Any]] = []
    for number in range(len(size)):
        leaders = [leader for leader in range(number) if leader not in apart[number]]
        literals = {leader: cp.new_bool_var(f"follow{number}_{leader}") for leader in (*leaders, number)}
        cp.add_exactly_one(literals.values())
        for leader in leaders:
            cp.add_implication(literals[leader], follows[leader][leader])
        follows.append(literals)
    for clique in cliques:
        for leader in range(max(clique)):
            users = [follows[member][leader] for member in clique if member > leader and leader in follows[member]]
            if len(users) > 1:
                cp.add_at_most_one(users)
    leads = [follows[number][number] for number in range(len(size))]
    for rank, level in enumerate(least):
        if rank + 1 == len(least) or least[rank + 1] < level:
            cp.add(sum(lead for lead, own in zip(leads, size, strict=True) if own >= level) >= rank + 1)
    total = sum(own * lead for own, lead in zip(size, leads, strict=True))
    cp.add(total >= sum(least))
    cp.add(total <= below - 1)
    cp.minimize(total)
    return LeadersModel(cp, follows)
