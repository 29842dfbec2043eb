"""Runs a compiler, unless it has compiled the same before: then its output is taken from the folder in MEMPLAN_COMPILED.

Used as a prefix of the command that CMake runs for each file (CMAKE_CXX_COMPILER_LAUNCHER). "The same" means the compiler, its options, the file, the
sources beside it, and everything in its include folders, at any path; also the sources beside those that the file includes by their whole path, as the files do
in which CMake gathers several. So an installation into a new environment need not compile again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES_OF_WHAT_IS_MADE = ("-o", "-MF", "-MT", "-MQ")
INCLUDES = ("-isystem", "-iquote", "-idirafter", "-I")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
MOST = 400
"""Number of files kept: some builds of all kernels."""


def tree(folder: Path) -> str:
    """A digest of the files below a folder, by their relative names."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*.h*") if path.is_file()):
        digest.update(f"\0{path.relative_to(folder)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources(folder: Path) -> str:
    """A digest of the sources in a folder. What a compiler has made there meanwhile is none."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in SOURCES):
        digest.update(f"\0{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def describe(command: list[str]) -> tuple[str, Path, Path | None] | None:
    """A digest of all inputs, the output file, and its dependency file; None if the output must not be kept."""
    compiler = shutil.which(command[0])
    if compiler is None or "-c" not in command or "-o" not in command:
        return None
    if any("/cmTC_" in word for word in command):  # CMake tests the compiler with these, and reads its output
        return None
    about = Path(compiler).resolve().stat()
    parts = [str(Path(compiler).resolve()), str(about.st_size), str(about.st_mtime_ns), sys.platform]
    parts += [f"{name}={os.environ.get(name)}" for name in ("CPATH", "CPLUS_INCLUDE_PATH", "SOURCE_DATE_EPOCH")]
    made: dict[str, str] = {}
    words = iter(command[1:])
    for word in words:
        if word in NAMES_OF_WHAT_IS_MADE:
            made[word] = next(words)
        elif word in INCLUDES:
            parts += [word, tree(Path(next(words)))]
        elif word.startswith("-I"):
            parts += ["-I", tree(Path(word[2:]))]
        elif word == "-c":
            source = Path(next(words))
            included = re.findall(r'^#include "(/.+)"', source.read_text(encoding="utf-8"), re.MULTILINE)
            parts += [
                source.name,
                *map(sources, dict.fromkeys([source.parent, *(Path(each).parent for each in included)])),
            ]
        else:
            parts.append(word)
    depends = Path(made["-MF"]) if "-MF" in made else None
    return hashlib.sha256("\0".join(parts).encode()).hexdigest(), Path(made["-o"]), depends


@contextlib.contextmanager
def turn(kept: Path) -> Iterator[None]:
    """A lock: a second build that starts meanwhile, for another Python, then finds the file compiled."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, ImportError):  # without it, both compile
            import fcntl

            kept.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(held.enter_context(kept.with_suffix(".lock").open("w")), fcntl.LOCK_EX)
        yield


def keep(made: Path, kept: Path) -> None:
    """Keeps the output for the next time, in one atomic step. The oldest files are removed."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    half = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.copyfile(made, half)
    half.replace(kept)
    there = sorted(kept.parent.glob("*.o"), key=lambda path: path.stat().st_mtime)
    for path in there[:-MOST]:
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)


def main() -> int:
    """Compiles or copies."""
    command = sys.argv[1:]
    folder = os.environ.get("MEMPLAN_COMPILED")
    found = describe(command) if folder else None
    if folder is None or found is None:
        return subprocess.run(command, check=False).returncode
    digest, made, depends = found
    kept = Path(folder) / f"{digest}.o"
    with turn(kept):
        if kept.exists():
            shutil.copyfile(kept, made)
            if depends is not None:
                depends.write_text(f"{made}:\n", encoding="utf-8")
            return 0
        status = subprocess.run(command, check=False).returncode
        if status == 0:
            with contextlib.suppress(OSError):  # others may be writing there; this output is valid without it
                keep(made, kept)
        return status


if __name__ == "__main__":
    sys.exit(main())
