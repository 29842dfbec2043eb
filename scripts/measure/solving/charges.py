"""Compares what each step of a plan for several memories is charged with the processor time that it takes. A Markdown table, a row for each step.

python -m scripts.measure.solving.charges [--seconds 10] [--buffers 300 2000] [--prefer speed size] [--seeds 1] [--kinds KIND ...]

The work of so many seconds is done without a clock. A step's seconds are those of all processes, less those of steps within it; so is its work. With
other load beside, a unit of work takes longer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from planner import end_solver_processes, plan
from planner.generate import Request, generate
from planner.model.plan import TermValue
from scripts.measure import spent
from scripts.measure.arguments import Arguments, by_work, cases, seeds
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.questions.asking import Asking
from solvers.portfolio import execute
from solvers.portfolio.joint import joint

PLANNING = "all else"
LEAST_SECONDS = 0.05
"""What takes less has no row."""


class Steps:
    """Work and processor seconds, by step."""

    def __init__(self) -> None:
        self.work, self.times = Counter[str](), Counter[str]()
        self.seconds: dict[str, float] = defaultdict(float)
        self._open = [PLANNING]
        self._since = spent.seconds()

    def _turn(self) -> None:
        """Charge the time until now to the step that is open."""
        now = max(spent.seconds(), self._since)  # a process that is just ending may be missing for a moment
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._turn()
        self._open.append(name)
        self.times[name] += 1
        yield
        self._turn()
        self._open.pop()

    def took(self, name: str, work: int) -> None:
        """The step took so much work, which the step around it counts, too."""
        self.work[name] += work
        if len(self._open) > 1:
            self.work[self._open[-1]] -= work

    def close(self) -> None:
        self._turn()


def asked(steps: Steps, name_of: Callable[..., str], method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which counts its object's work, as a step."""

    def call(owner: Any, *args: Any, **named: Any) -> Any:
        name, before = name_of(*args), owner.work
        with steps.step(name):
            answer = method(owner, *args, **named)
        steps.took(name, owner.work - before)
        return answer

    return call


def question_of(program: Any, question: Any, *_: Any) -> str:
    return "questions that weigh peaks" if question.weighs_peaks(program) else "questions"


def engine_of(steps: Steps, ask: Callable[..., Any]) -> Callable[..., Any]:
    """The portfolio's `ask`, an engine as a step."""

    def call(name: str, *args: Any) -> Any:
        with steps.step(name):
            outcome = ask(name, *args)
        steps.took(name, getattr(outcome, "work", 0))
        return outcome

    return call


@contextmanager
def watched() -> Iterator[Steps]:
    """The steps taken within this context."""
    steps = Steps()
    with ExitStack() as stack:
        for owner, method, name_of in (
            (Asking, "ask", question_of),
            (Asking, "relax", lambda *_: "linear program"),
            (Asking, "relax_box", lambda *_: "linear programs of boxes"),
            (Packing, "outcome", lambda *_: "packing"),
            (Packing, "beside", lambda *_: "packing in windows"),
        ):
            step = asked(steps, name_of, getattr(owner, method))
            stack.enter_context(patch.object(owner, method, step))
        stack.enter_context(patch.object(joint, "ask", engine_of(steps, execute.ask)))
        yield steps
    steps.close()


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_several_memories()
    parser.add_buffers(300, 2000)
    parser.add_seeds(1, 1000)
    parser.add_work(10)
    parser.add_argument("--whole", action="store_true", help="only a row for each problem")
    args = parser.parse_args()
    print("| problem | step | times | work, in millions | seconds | microseconds for a unit | gaps |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind, buffers, prefer in cases(args):
        for seed in seeds(args):
            problem = generate(kind, Request(buffers, seed))
            with watched() as steps:
                made = plan(problem, replace(by_work(args.seconds), prefer=prefer))
            end_solver_processes()
            name = f"{kind}, {buffers}, {prefer}, {seed}"
            for step in sorted(steps.seconds, key=lambda each: -steps.seconds[each]):
                if steps.seconds[step] >= LEAST_SECONDS and not args.whole:
                    print(line(name, step, steps.times[step], steps.work[step], steps.seconds[step]))
            gaps = ", ".join("" if (open_ := gap(term)) is None else f"{open_:.2f} %" for term in made.objective.terms)
            whole = line(name, "all", 1, sum(steps.work.values()), sum(steps.seconds.values()))
            print(f"{whole} {gaps} |", flush=True)


def gap(term: TermValue) -> float | None:
    """How far the term may be above its least, in percent."""
    return None if not term.bound or term.value is None else 100 * (term.value / term.bound - 1)


def line(name: str, step: str, times: int, work: int, seconds: float) -> str:
    each = f"{1e6 * seconds / work:.2f}" if work else ""
    return f"| {name} | {step} | {times} | {work / 1e6:.2f} | {seconds:.2f} | {each} |"


if __name__ == "__main__":
    main()
