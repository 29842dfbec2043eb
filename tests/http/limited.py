"""memplan with a limit on its address space, as `ulimit -v` sets one: BYTES, then the command."""

from __future__ import annotations

import resource
import sys

from api.cli import main

if __name__ == "__main__":
    most = int(sys.argv.pop(1))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    sys.exit(main())
