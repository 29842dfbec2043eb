"""Heavy cliques of any graph: grown by what may still follow, or looked for by a short branch and bound."""

from __future__ import annotations

import numpy as np

from ...model.instance import Bools, Ints
from ...model.interruption import check_interrupted

MOST_GROWN, MOST_LOOKS = 2_000, 1 << 24
"""A clique is grown from each of so many parts, as long as tables of those beside them have no more entries in all: that takes some tenths of a second."""
CLIQUE_STEPS = 20_000
CLIQUE_LOOK = 64
"""Steps of up to a tenth of a millisecond, between checks."""


def grown(edges: Bools, weight: Ints) -> list[int]:
    """A maximal clique: next comes who has, with all that may still follow, the most weight. `edges` is a table of all pairs, without those of one vertex."""
    worth = weight + edges @ weight
    is_open = np.ones(len(weight), dtype=np.bool_)
    clique = list[int]()
    while is_open.any():
        best = int(np.argmax(np.where(is_open, worth, -1)))
        clique.append(best)
        gone = is_open & ~edges[best]
        is_open &= ~gone
        worth -= edges[:, gone] @ weight[gone]
    return clique


def grown_clique(friends: dict[int, set[int]], size: Ints) -> list[int]:
    """The heaviest of the cliques that are grown from each part, those beside most first."""
    if len(friends) > MOST_GROWN:
        return []
    parts = np.array(sorted(friends), dtype=np.int64)
    place = {part: number for number, part in enumerate(parts.tolist())}
    edges = np.zeros((len(parts), len(parts)), dtype=np.bool_)
    for part, others in friends.items():
        edges[place[part], [place[other] for other in others]] = True
    weight = size[parts]
    best, most, looks = list[int](), 0, 0
    for first in np.argsort(-(weight + edges @ weight), kind="stable").tolist():
        check_interrupted()
        beside = np.flatnonzero(edges[first])
        looks += len(parts) + len(beside) ** 2
        if looks > MOST_LOOKS:
            break
        clique = [first, *beside[grown(edges[np.ix_(beside, beside)], weight[beside])].tolist()]
        if (total := int(weight[clique].sum())) > most:
            best, most = clique, total
    found: list[int] = parts[best].tolist()
    return found


def heaviest_clique(friends: dict[int, set[int]], weight: list[int], best: list[int]) -> tuple[list[int], bool]:
    """And whether none is heavier. Depth-first, heaviest candidates first; cuts where all candidates together are no heavier than the `best` that is known; ends after CLIQUE_STEPS."""
    best_weight = sum(weight[part] for part in best)
    steps = 0
    order = sorted(friends, key=lambda i: (-weight[i], i))
    rank = {i: place for place, i in enumerate(order)}
    # The chosen parts, their weight, the candidates, how many of them were skipped, and the weight of the others.
    stack: list[tuple[list[int], int, list[int], int, int]] = [([], 0, order, 0, sum(weight[i] for i in order))]
    while stack and steps < CLIQUE_STEPS:
        steps += 1
        if steps % CLIQUE_LOOK == 0:
            check_interrupted()
        chosen, total, candidates, passed, rest = stack.pop()
        if total > best_weight:
            best, best_weight = chosen, total
        if passed == len(candidates) or total + rest <= best_weight:
            continue
        head = candidates[passed]
        stack.append((chosen, total, candidates, passed + 1, rest - weight[head]))
        if candidates is order:  # there may be far more of them than the head has friends
            follow = sorted((i for i in friends[head] if rank[i] > passed), key=rank.__getitem__)
        else:
            follow = [i for i in candidates[passed + 1 :] if i in friends[head]]
        stack.append(([*chosen, head], total + weight[head], follow, 0, sum(weight[i] for i in follow)))
    return best, not stack
