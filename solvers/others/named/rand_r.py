"""The C library's rand_r, which TVM's hill climb draws from: with the same seed, the same swaps."""

from __future__ import annotations

from dataclasses import dataclass

_WORD = 1 << 32


@dataclass(slots=True)
class RandR:
    """A linear congruential generator of which each draw takes three steps (as GNU's C library defines it)."""

    seed: int

    def draw(self) -> int:
        """From 0 to 2^31 - 1."""
        drawn = 0
        for bits in (11, 10, 10):
            self.seed = (self.seed * 1103515245 + 12345) % _WORD
            drawn = (drawn << bits) ^ ((self.seed >> 16) % (1 << bits))
        return drawn

    def below(self, count: int) -> int:
        """The draw's remainder, as C programs take it."""
        return self.draw() % count
