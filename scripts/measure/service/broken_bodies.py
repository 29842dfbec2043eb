"""Sends a service broken files, as `scripts.measure.reading.broken` makes them, and counts the answers.

python -m scripts.measure.service.broken_bodies [--bodies 6000] [--seed 1] [FILE]...

Every format's own types, other formats', and none; with `?format=`, a wrong one, or without. Answers that no client should get (500, 503, 504, a closed
connection) and slow ones are listed. Exit code 1: there was one, or the service or one of its workers has ended.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx

from planner.formats import FORMATS
from scripts.measure.arguments import Arguments
from scripts.measure.reading.broken import made_up, seeds
from scripts.measure.reading.memory import MIB
from tests.http.served import Served
from tests.running.processes import memory

CLIENTS = 4
SLOW = 8.0
LIMIT = "time_limit=1"
QUESTIONS = (
    *["/v1/validate?"] * 5,
    *(f"/v1/{name}?{LIMIT}" for name in ("plans", "explain", "jobs", "pareto", "proof")),
    "/v1/shapes?",
    "/v1/verify?",
    "/v1/draw?",
    "/v1/write?as=tflite",
    f"/v1/sweep?capacity=64..512&step=64&{LIMIT}",
)
OTHER_TYPES = ("application/octet-stream", "text/plain", "", "application/json; charset=utf-16", "multipart/form-data")
NEVER = {500, 503, 504}


class Bodies:
    """What is sent, and what came of it."""

    def __init__(self, address: str, files: list[Path], seed: int) -> None:
        self._address = address
        self._chance = random.Random(seed)
        self._files = made_up(seeds(files), self._chance)
        self._lock = threading.Lock()
        self.answers: Counter[int | str] = Counter()
        self.wrong = 0

    def _next(self) -> tuple[str, dict[str, str], bytes]:
        chance = self._chance
        types = [*OTHER_TYPES, *(each for row in FORMATS.values() for each in row.media_types)]
        with self._lock:
            name, data = next(self._files)
            row = FORMATS.get(name.partition(":")[0])
            kind = chance.choice(row.media_types if row and chance.random() < 0.85 else types)
            said = chance.choice([name, name, name, name, None, chance.choice(list(FORMATS))])
            question = chance.choice(QUESTIONS) + (f"&format={said}" if said else "")
        return question, {"Content-Type": kind}, data

    def send(self, count: int) -> None:
        """Send so many, one after the other."""
        with httpx.Client(base_url=self._address, timeout=90, trust_env=False) as client:
            for _ in range(count):
                question, headers, data = self._next()
                begin = time.monotonic()
                try:
                    answer: int | str = client.post(question, content=data, headers=headers).status_code
                except httpx.HTTPError as error:
                    answer = type(error).__name__
                took = time.monotonic() - begin
                with self._lock:
                    self.answers[answer] += 1
                    if answer in NEVER or isinstance(answer, str) or took > SLOW:
                        self.wrong += took <= SLOW
                        print(f"{question} {headers}, {len(data)} bytes: {answer}, {took:.1f} s", flush=True)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--bodies", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("seeds", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = Served(Path(folder), {"MEMPLAN_WORKERS": "2"})
        service.plan()  # loads what is loaded on first use
        own, workers = service.process.pid, set(service.children())
        before = memory(own, "VmRSS")
        bodies = Bodies(service.address, arguments.seeds, arguments.seed)
        threads = [threading.Thread(target=bodies.send, args=(arguments.bodies // CLIENTS,)) for _ in range(CLIENTS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        works = service.plan().status_code == 200
        gone = workers - set(service.children())
        more = (memory(own, "VmRSS") - before) / MIB
        code = service.stop()
    print(", ".join(f"{count} answers {answer}" for answer, count in bodies.answers.most_common()))
    print(f"{len(gone)} of {len(workers)} processes ended; the service's own memory grew by {more:.0f} MiB")
    sys.exit(1 if bodies.wrong or gone or code or not works else 0)


if __name__ == "__main__":
    main()
