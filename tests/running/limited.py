"""Run memplan under a resource limit, as `ulimit` sets one: NAME=NUMBER, as in RLIMIT_AS=1000000000, then the command."""

from __future__ import annotations

import resource
import sys

from api.cli import main

if __name__ == "__main__":
    name, _, number = sys.argv.pop(1).partition("=")
    resource.setrlimit(getattr(resource, name), (int(number), int(number)))
    sys.exit(main())
