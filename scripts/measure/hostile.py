"""Sends a service what nobody should, and measures what that costs: how long others wait meanwhile, and how much memory its processes take.

.venv/bin/python -m scripts.measure.hostile [--most 8388608] [--only NAME]...

A row for each attack: the answers' statuses (0: the service hung up), how long it took, the longest that /healthz took meanwhile, asked every 5 ms, and
the most that the service's own process and the hungriest of its workers took more than before. `--most`: the largest body that the service takes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from tests.http.hostile import cost, floods, large_bodies
from tests.http.served import serving

MIB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=8 * MIB)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    print(
        "| sent | answers | s | /healthz at most, ms | service, MiB more | worker, MiB more |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), max_body_bytes=str(arguments.most)) as service:
        service.plan()  # what is loaded at first use has been loaded
        for attack in (*large_bodies(arguments.most), *floods(arguments.most)):
            if arguments.only and attack.name not in arguments.only:
                continue
            found = cost(service, attack)
            kinds = ", ".join(f"{count} × {status}" for status, count in sorted(Counter(found.statuses).items()))
            wrong = "" if set(found.statuses) <= set(attack.right) else f" (right: {attack.right})"
            print(
                f"| {attack.name} | {kinds}{wrong} | {found.seconds:.1f} | {1e3 * found.stall_seconds:.0f} "
                f"| {found.service_bytes / MIB:.0f} | {found.workers_bytes / MIB:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
