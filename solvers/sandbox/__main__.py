"""`python -m solvers.sandbox`: a zygote. Started by the sandbox, never by people."""

from __future__ import annotations

from .zygote import main

if __name__ == "__main__":
    main()
