"""Other projects' planners, to compare with: each gets the problem as the user gave it, and its answer is checked like any other.

They come with the extra `memplan[peers]`. They do not get problems that they do not know (pools to choose from, fixed offsets, views, reserved ranges).
"""

from __future__ import annotations
