"""`python -m api.cli` is the same as `memplan`."""

from __future__ import annotations

from . import main

main()
