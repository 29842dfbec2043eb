"""The clique with the most bytes, where conflicts relate buffers that no moment does: what is live at one time is then not all there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..proofs.blocks import Blocks
from .cliques import Named, Stopped, clique_of

MOST_VERTICES = 800
"""With more buffers it is not looked for: all pairs of them are compared."""
MOST_STEPS = 20_000
"""The most sets of candidates that are examined: a second or two."""
STEPS_BETWEEN_POLLS = 64


def heaviest_clique(blocks: Blocks, stopped: Callable[[], bool] = lambda: False) -> Named | None:
    """Return a clique with as many bytes as was found; None if no pair is in conflict. Raises Stopped."""
    if not blocks.conflicts():
        return None
    vertices = sorted((b for b, size in enumerate(blocks.size) if size), key=lambda b: (-blocks.size[b], b))
    if len(vertices) > MOST_VERTICES:
        return None
    beside = [0] * len(vertices)
    for n, one in enumerate(vertices):
        if stopped():
            raise Stopped
        for m in range(n):
            if blocks.must_be_apart(one, vertices[m]):
                beside[n] |= 1 << m
                beside[m] |= 1 << n
    weights = [blocks.size[b] for b in vertices]
    chosen = _Heaviest(weights, beside, stopped).find()
    return clique_of(blocks, [vertices[n] for n in chosen])


class _Heaviest:
    """A search that colours the candidates: of each colour a clique has one at most."""

    def __init__(self, weights: list[int], beside: list[int], stopped: Callable[[], bool]) -> None:
        self._weights, self._beside, self._stopped = weights, beside, stopped
        self._best, self._most, self._steps = list[int](), 0, 0

    def find(self) -> list[int]:
        self._expand((1 << len(self._weights)) - 1, [], 0)
        return self._best

    def _expand(self, candidates: int, chosen: list[int], weight: int) -> None:
        self._steps += 1
        if self._steps % STEPS_BETWEEN_POLLS == 0 and self._stopped():
            raise Stopped
        if weight > self._most:
            self._best, self._most = [*chosen], weight
        for vertex, at_most in reversed([*self._coloured(candidates)]):
            if weight + at_most <= self._most or self._steps >= MOST_STEPS:
                return
            self._expand(candidates & self._beside[vertex], [*chosen, vertex], weight + self._weights[vertex])
            candidates &= ~(1 << vertex)

    def _coloured(self, candidates: int) -> Iterator[tuple[int, int]]:
        """Yield each candidate, and the most bytes of a clique among it and those before it."""
        before = 0
        while candidates:
            colour, left = 0, candidates
            members = []
            while left:
                vertex = (left & -left).bit_length() - 1
                members.append(vertex)
                colour |= 1 << vertex
                left &= ~self._beside[vertex] & ~(1 << vertex)
            candidates &= ~colour
            before += max(self._weights[vertex] for vertex in members)
            yield from ((vertex, before) for vertex in reversed(members))
