"""The exact search in plain Python: the text to understand it by, the oracle of the native kernel, and the fallback without one.

From the outside in: `kernel` takes the arrays and `building` makes a model of them; `descent` asks for one height after the other, with the attempts
that `strategies` sets; `decision` answers whether that height is enough, in some attempts for blocks that `building.glue` keeps together. It places
blocks or raises them, in the clique that `choice` says; `states` hold what that leads to. It decides as the native kernel does, number by number: the same placements, the same bounds, the same count of work.
"""

from __future__ import annotations

from .kernel import search

__all__ = ["search"]
