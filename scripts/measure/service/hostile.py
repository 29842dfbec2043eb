"""Attacks services with what strangers might send, and measures the cost: how long others wait meanwhile, and how much memory the processes take.

./scripts/hostile [--most 8388608] [--scene WORD]... [--only NAME]...

One row for each attack: the answers' statuses (0: the service closed the connection), the duration, the slowest answer of /healthz meanwhile, asked
every 5 ms, the greatest growth of the service's own process and of its largest worker, and the remaining growth of the service's own process
afterwards. `--most`: the largest body of the first scene. Exit code 1: an answer was not right, or a service died.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.measure.arguments import Arguments
from tests.http.hostile.attacks import Attack, Cost, cost
from tests.http.hostile.scenes import Scene, scenes
from tests.http.served import Served
from tests.running.processes import memory

MIB = 1 << 20
HEAD = (
    "| sent | answers | s | /healthz at most, ms | service, MiB more | worker, MiB more | left, MiB | log, kB |\n"
    "|---|---|---|---|---|---|---|---|"
)
SETTLED_MIB = 20
SETTLED_SECONDS = 8.0


@contextmanager
def served(scene: Scene) -> Iterator[Served]:
    """The scene's service."""
    variables = {f"MEMPLAN_{name.upper()}": value for name, value in scene.settings.items()}
    command = None if scene.limit is None else ["tests.running.limited", scene.limit, "serve", "--port", "0"]
    with tempfile.TemporaryDirectory() as folder:
        service = Served(Path(folder), variables, command)
        try:
            if "tokens" not in scene.settings:
                service.plan()  # loads what is loaded on first use
            yield service
        finally:
            code = service.stop()
    if code:
        sys.exit(f"the service ended with exit code {code}")


def left(service: Served, before: int) -> int:
    """The remaining growth in bytes, after some time to free memory."""
    end = time.monotonic() + SETTLED_SECONDS
    while (more := memory(service.process.pid, "VmRSS") - before) > SETTLED_MIB * MIB and time.monotonic() < end:
        time.sleep(0.25)
    return more


def row(attack: Attack, found: Cost, rest: int) -> str:
    """A row under HEAD."""
    kinds = ", ".join(f"{count} × {status}" for status, count in sorted(Counter(found.statuses).items()))
    columns = [
        attack.name,
        kinds if is_right(attack, found) else f"WRONG: {kinds} (right: {attack.right})",
        f"{found.seconds:.1f}",
        f"{1e3 * found.stall_seconds:.0f}",
        *(f"{size / MIB:.0f}" for size in (found.service_bytes, found.workers_bytes, rest)),
        f"{found.log_bytes / 1000:.0f}",
    ]
    return f"| {' | '.join(columns)} |"


def is_right(attack: Attack, found: Cost) -> bool:
    return set(found.statuses) <= set(attack.right)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--most", type=int, default=8 * MIB)
    parser.add_argument("--scene", action="append", help="those with this word in their names")
    parser.add_argument("--only", action="append", help="this attack")
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    wrong = 0
    for scene in scenes(arguments.most):
        attacks = [attack for attack in scene.attacks if not arguments.only or attack.name in arguments.only]
        if not attacks or (arguments.scene and not any(word in scene.name for word in arguments.scene)):
            continue
        print(f"\n{scene.name}\n\n{HEAD}", flush=True)
        with served(scene) as service:
            for attack in attacks:
                before = memory(service.process.pid, "VmRSS")
                found = cost(service, attack)
                wrong += not is_right(attack, found)
                print(row(attack, found, left(service, before)), flush=True)
    if wrong:
        sys.exit(f"{wrong} answers were not right")


if __name__ == "__main__":
    main()
