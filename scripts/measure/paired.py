"""Compares two checkouts on one machine by turns: the processor seconds of each, and the ratio of this one's to the other's. Prints a Markdown table.

git worktree add --detach ../before COMMIT && ../before/scripts/check      # the other one, with its environment
python -m scripts.measure.paired ../before [--rounds 7] [--corpus ../shared/corpus]

Each round does the same work in both, one after the other; which is first alternates. Seconds are medians; the ratio is the median of the rounds'
ratios, with the least and the greatest. With a corpus, the engine is measured as well.
"""

from __future__ import annotations

import http.client
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from planner.formats import write_problem
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments
from scripts.measure.service.loading.client import variants
from scripts.measure.service.loading.system import ROOT, interpreter, served
from scripts.measure.spent import by_command

FRESH, KEPT = 100, 300
"""Requests to a service: different problems, and the same one repeatedly."""
WARM = 20
"""Requests before them, to load modules and start processes."""

Work = Callable[[Path], float]
"""Does the work in a checkout; returns processor seconds."""


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--corpus", type=Path)
    arguments = parser.parse_args()
    other = arguments.other.resolve()
    if not Path(interpreter(other)).exists():
        parser.error(f"{other} has no environment: run its scripts/check")
    print("| what | other | this one | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for what, work in todo(Path(folder), arguments.corpus):
            print(f"| {what} | {' | '.join(compared(work, other, arguments.rounds))} |", flush=True)


def todo(folder: Path, corpus: Path | None) -> Iterator[tuple[str, Work]]:
    """The names and functions of all measurements."""
    out = str(folder / "plan.json")
    yield "importing the library", process("-c", "import planner; planner.plan")
    for buffers, rest in ((200, ()), (100_000, ("--solver", "greedy", "--time-limit", "none"))):
        file = folder / f"{buffers}.json"
        file.write_bytes(write_problem(generate("random", Request(buffers, 1))))
        yield f"`memplan plan`, {buffers} buffers", process("-m", "api.cli", "plan", str(file), "-o", out, *rest)
    if corpus is not None:
        for part in ("minimalloc", "nets"):
            engine = ("-m", "scripts.measure.engine", str(corpus.resolve()), "--seeds", "1", "--only", part)
            yield f"the engine: {part}", process(*engine)
    yield f"a service, {FRESH} fresh plans of 200 buffers", service(list(variants(WARM + FRESH)))
    yield f"a service, {KEPT} answers from the store", service(list(variants(1)) * (WARM + KEPT))


def compared(work: Work, other: Path, rounds: int) -> tuple[str, str, str]:
    """The seconds of both checkouts, and the ratio."""
    taken: dict[Path, list[float]] = {other: [], ROOT: []}
    for turn in range(rounds):
        for checkout in (other, ROOT) if turn % 2 == 0 else (ROOT, other):
            taken[checkout].append(work(checkout))
    ratios = [now / before for before, now in zip(taken[other], taken[ROOT], strict=True)]
    before, now = (statistics.median(taken[checkout]) for checkout in (other, ROOT))
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return f"{before:.3f} s", f"{now:.3f} s", ratio


def process(*arguments: str) -> Work:
    """Measures a Python process with all processes that it starts and waits for."""

    def work(checkout: Path) -> float:
        used = by_command([interpreter(checkout), *arguments], cwd=checkout)
        if used.code != 0:
            raise SystemExit(f"{checkout}: {' '.join(arguments)} ended with {used.code}")
        return used.processor

    return work


def service(bodies: list[bytes]) -> Work:
    """Measures a service and its workers, until all bodies after the first few have been answered."""

    def work(checkout: Path) -> float:
        with served("sqlite", checkout) as system:
            connection = http.client.HTTPConnection(urlsplit(system.url).netloc, timeout=120)
            begun = 0.0
            for number, body in enumerate(bodies):
                if number == WARM:
                    begun = sum(system.spent())
                connection.request("POST", "/v1/plans", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    raise SystemExit(f"{checkout}: a plan was answered with {answer.status}")
            connection.close()
            return sum(system.spent()) - begun

    return work


if __name__ == "__main__":
    main()
