"""Heavy cliques of any graph, found in one go."""

from __future__ import annotations

import numpy as np

from .instance import Bools, Ints


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
