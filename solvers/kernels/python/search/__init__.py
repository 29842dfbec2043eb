"""The exact search in plain Python: the readable version, the tests' reference for the native kernel, and the fallback without it.

From the outside in: `kernel` takes the arrays; `building` makes a model of them; `descent` asks for one height after the other, with the attempts
that `strategies` sets; `decision` answers whether a height is enough. Some attempts run on blocks that `building.glue` keeps together. The search
places blocks or raises them in the clique that `choice` selects; `states` propagate the consequences. Placements, bounds and the count of work are
the same as the native kernel's.
"""

from __future__ import annotations

from .kernel import search

__all__ = ["search"]
