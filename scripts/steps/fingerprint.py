"""Prints a fingerprint of the named files (patterns are relative to the repository's root), so that scripts can tell whether their set-up is current.

With --compiler the C++ compiler counts too: a set-up made without one is made again when there is one. Of the modules in --packages only the names
count.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def compiler() -> str:
    """The path of the C++ compiler that CMake would find, and its version."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        words = shlex.split(name) if name else []
        if words and (path := shutil.which(words[0])):
            version = subprocess.run(
                [path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
            )
            return path + version.stdout.decode(errors="replace").partition("\n")[0]
    return "none"


def main() -> None:
    """Reads the command line and prints the fingerprint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", action="store_true")
    parser.add_argument("patterns", nargs="+")
    parser.add_argument("--packages", nargs="+", default=[], metavar="FOLDER")
    arguments = parser.parse_args()

    digest = hashlib.sha256(f"{sys.version} {ROOT}".encode())
    if arguments.compiler:
        digest.update(compiler().encode())
    for pattern in arguments.patterns:
        for path in sorted(ROOT.glob(pattern)):
            digest.update(f"\0{path.relative_to(ROOT)}\0".encode())
            digest.update(path.read_bytes())
    for folder in arguments.packages:
        for path in sorted(ROOT.glob(f"{folder}/**/*.py")):
            if (path.parent / "__init__.py").exists():  # other files there are generated, such as the site's examples
                digest.update(f"\0{path.relative_to(ROOT)}".encode())
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
