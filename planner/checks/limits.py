"""How deep and how large: what a document may hold, and the numbers of a problem, so that everything computed from them fits into 63 bits."""

from __future__ import annotations

from solvers.model.instance import ADDRESS_LIMIT

MAX_ADDRESS = ADDRESS_LIMIT
"""Greatest size, offset, alignment, cost and count, inclusive."""
MAX_TIME = ADDRESS_LIMIT
"""Times lie between -MAX_TIME and MAX_TIME, inclusive."""
MAX_DEPTH = 64
"""Lists and objects inside each other."""
MOST_KEYS, BYTES_A_KEY = 1 << 16, 24
"""Of one object, and one more for each so many bytes of the document."""
MAX_DIGITS = 20
"""Of an integer as it is written."""
MAX_TEXT = 1024
"""Characters of a name, an id, or any other text of a problem's: kinds, devices, types. What a constant holds is as long as its size says."""
MAX_PROSE = 16_384
"""Characters of a sentence in a plan or a sharing: a warning, why nothing fits."""
MAX_COST_TERMS = 64
"""Of alternatives, each of which has a cost for every term."""
