"""The numbers that a problem may contain; everything that is computed from them fits into 63 bits."""

from __future__ import annotations

from solvers.instance import ADDRESS_LIMIT

MAX_ADDRESS = ADDRESS_LIMIT
"""Greatest size, offset, alignment, cost and count, inclusive."""
MAX_TIME = ADDRESS_LIMIT
"""Times lie between -MAX_TIME and MAX_TIME, inclusive."""
