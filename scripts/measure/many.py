"""How fast many small problems are planned, and the overhead of each.

    python -m scripts.measure.many [--count N] [--buffers N] [--processes N] [--cluster WHERE]

The problems are random and all different. Overhead: the processor time of all processes minus that of planning, for each problem.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from pathlib import Path

from planner import Options, write_problem
from planner.generate import Request, generate
from planner.many import Entry, Farm, collect, plan_many
from scripts.measure.arguments import Arguments


def write_problems(count: int, buffers: int) -> None:
    """Write so many different problems into the folder `problems`."""
    Path("problems").mkdir()
    for seed in range(count):
        problem = generate("transformer", Request(buffers, seed))
        Path(f"problems/{seed:06}.json").write_bytes(write_problem(problem))


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--buffers", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cluster")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        write_problems(wanted.count, wanted.buffers)
        Path("out").mkdir()
        entries: list[Entry] = []
        farm = Farm(Options(workers=1), wanted.processes, wanted.cluster)
        before, begun = os.times(), time.monotonic()
        assert plan_many(collect(["problems"], Path("out")), Path("out"), farm, entries.append)
        seconds, after = time.monotonic() - begun, os.times()
        planning = sum(entry.seconds or 0.0 for entry in entries)
        spent = sum(after[:4]) - sum(before[:4])
        own = after.user + after.system - before.user - before.system
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{len(entries)} problems of {wanted.buffers} buffers in {seconds:.2f} s: {len(entries) / seconds:.0f} a second; planning {1e3 * planning / len(entries):.2f} ms each by the clock; "
            f"processor {1e3 * spent / len(entries):.2f} ms each ({1e3 * own / len(entries):.2f} ms of it here); {memory} MiB here"
        )


if __name__ == "__main__":
    main()
