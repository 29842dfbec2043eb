"""Runs memplan under a resource limit; arguments: the limit, such as RLIMIT_AS=1000000000, and the command's own."""

from __future__ import annotations

import resource
import sys

from api.cli import main

if __name__ == "__main__":
    name, _, number = sys.argv.pop(1).partition("=")
    resource.setrlimit(getattr(resource, name), (int(number), int(number)))
    sys.exit(main())
