"""`python -m memplan` is the same as `memplan`."""

from __future__ import annotations

from api.cli import main

main()
