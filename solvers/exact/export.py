"""Programs and models as text, written by a child process: the libraries that it takes are not loaded here, and the caller may lose patience."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..model.errors import SolverError, SolverFailed, Unsupported
from ..model.instance import Instance
from . import EXPORT

LOOK_SECONDS = 0.05
MOST_PLACES = 50_000
"""Pairs of a block and a pool. Each takes a kilobyte of CP-SAT's text, and a third of one in a program, where a block's only pool takes nothing."""


def export_in_child(
    instance: Instance,
    kind: str,
    blocks: Sequence[str] | None = None,
    pools: Sequence[str] | None = None,
    *,
    plain: bool = False,
    look: Callable[[], None] = lambda: None,
) -> str:
    """The instance as lp, mps or cpsat; see solvers.exact.milp.export and solvers.exact.cpsat.

    `look` is called over and over. What it raises ends the child.
    """
    places = int(instance.allowed.sum()) - (0 if kind == "cpsat" else instance.blocks)
    if places > MOST_PLACES:
        raise Unsupported(EXPORT, f"too large: {places} pairs of a buffer and a pool, {MOST_PLACES} at most")
    root = str(Path(__file__).resolve().parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); from solvers.exact.export import main; main()"
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as request:
        pickle.dump((instance, kind, blocks, pools, plain), request)
        request.seek(0)
        child = subprocess.Popen([sys.executable, "-c", code], stdin=request, stdout=pipe, stderr=pipe)
    with child:
        try:
            while True:
                try:
                    written, errors = child.communicate(timeout=LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    look()
        except BaseException:
            child.kill()
            raise
    if child.returncode != 0:
        raise SolverFailed(EXPORT, errors.decode("utf-8", "replace").strip().rpartition("\n")[2])
    answer = pickle.loads(written)
    if isinstance(answer, SolverError):
        raise answer
    return str(answer)


def main() -> None:
    """The child: reads a pickled request from standard input, writes a pickled text or error to standard output."""
    instance, kind, blocks, pools, plain = pickle.load(sys.stdin.buffer)
    answer: str | SolverError
    try:
        if kind == "cpsat":
            from .cpsat import export as export_model

            answer = export_model(instance, blocks, pools)
        else:
            from .milp.export import export

            answer = export(instance, kind, blocks, pools, plain=plain)
    except SolverError as error:
        answer = error
    sys.stdout.buffer.write(pickle.dumps(answer))
