"""Measures what each command takes for a problem of many random buffers, against its time limit.

    python -m scripts.measure.planning.any_input {short|long|exclusions|together|pools} [--count N] [--limit SECONDS] [--seed N]

`long` lifetimes last half of all time on average, `short` ones up to 400 of ten times as many steps as there are buffers. `exclusions` has ten for each
buffer; `together` are all live at once, and each excludes the next; `pools` has 16, and buffers in `same_pool`, `different_pool` and exclusions. The
plan has the limit, and so have `verify`, `report` and `draw` of it. Prints for each its exit code (0: an answer, 4: none in time), its processor
seconds, those of the wall, and MiB.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.measure.arguments import Arguments
from scripts.measure.spent import by_command


def problem(shape: str, count: int, chance: random.Random) -> dict[str, Any]:
    """Return a problem in memplan's own format."""
    span = 10 * count
    most = span if shape == "long" else 400
    starts = [chance.randrange(span) for _ in range(count)]
    buffers = [
        {
            "id": i,
            "size": chance.randrange(1, 4096),
            "live": [[start, min(span + 1, start + chance.randrange(1, most))]],
        }
        for i, start in enumerate(starts)
    ]

    def groups(size: int) -> list[list[int]]:
        mixed = chance.sample(range(count), count)
        return [mixed[size * k : size * k + size] for k in range(count // 10)]

    def pairs(number: int) -> list[list[int]]:
        return [chance.sample(range(count), 2) for _ in range(number)]

    constraints: dict[str, Any] = {}
    if shape == "together":
        buffers = [{**buffer, "live": [[0, 1]]} for buffer in buffers]
        constraints = {"exclusions": [[i, i + 1] for i in range(count - 1)]}
    if shape == "exclusions":
        constraints = {"exclusions": pairs(10 * count)}
    if shape == "pools":
        constraints = {"same_pool": groups(2), "different_pool": groups(3), "exclusions": pairs(count // 10)}
    pools = [{"name": f"p{p}", "size": None} for p in range(16 if shape == "pools" else 1)]
    return {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "pools": pools,
        "buffers": buffers,
        "constraints": constraints,
    }


def run(name: str, *arguments: str) -> None:
    """Run a command and print what it took."""
    used = by_command((sys.executable, "-m", "memplan", name, *arguments))
    taken = f"{used.processor:6.2f} s, {used.wall:6.2f} of the wall, {used.peak_bytes / 1048576:5.0f} MiB"
    print(f"{name:7} {used.code} {taken}", flush=True)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("shape", choices=("short", "long", "exclusions", "together", "pools"))
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--limit", default="3")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made, answer = Path(folder, "problem.json"), Path(folder, "plan.json")
        made.write_text(json.dumps(problem(given.shape, given.count, random.Random(given.seed))), "utf-8")
        run("plan", str(made), "--time-limit", given.limit, "--out", str(answer))
        if answer.exists():
            for name, *more in (("verify",), ("report",), ("draw", "--out", str(Path(folder, "plan.svg")))):
                run(name, str(made), str(answer), "--time-limit", given.limit, *more)


if __name__ == "__main__":
    main()
