"""Other projects' planners, for comparison: each gets the problem as the user gave it, and its answer is checked like any other.

They come with the extra `memplan[peers]`. Problems with features that they do not know (a choice of pools, fixed offsets, views, reserved ranges) are
refused.
"""

from __future__ import annotations
