"""Other projects' planners, to compare with: each gets the problem as the user gave it, and its answer is checked like any other.

They come with the extra `memplan[peers]`. What they do not know (pools to choose from, fixed offsets, views, reserved ranges) they are not asked.
"""

from __future__ import annotations
