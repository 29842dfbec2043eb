"""A plan for people on a terminal: its status, its use of each pool, and where everything lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.box import ROUNDED
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from planner.facts.variants import as_chosen
from planner.model.plan import Choice, Plan, PlanStatus, Shortage
from planner.model.problem import BufferId, Problem, term_in_words, weighs_peaks
from planner.reporting.explain import explain_bound
from solvers.model.errors import StopReason
from solvers.model.instance import Term

from ..text import both, counted, grouped, percent
from .columns import LONGEST_NAME, MAX_ROWS, WRITTEN, WRITTEN_BY_OPTION, more, new_table, rows_for, shown_id
from .consoles import STYLES, console_on, plain, word
from .placements import placements_table, pools_table, shown_placements

if TYPE_CHECKING:
    from planner.graph import NestedPlan
    from planner.planning.sharing import Sharing

MAX_NAMED_BUFFERS = 40
STOPPED = {
    StopReason.PROVED: "",
    StopReason.GOAL_MET: "stopped as the goal was met",
    StopReason.TIME_LIMIT: "stopped by the time limit",
    StopReason.WORK_LIMIT: "stopped by the work limit",
    StopReason.MEMORY_LIMIT: "stopped by the memory limit",
    StopReason.CANCELLED: "interrupted",
    StopReason.SOLVER_FAILED: "stopped as the solvers failed",
}
MAY_HELP = {
    StopReason.TIME_LIMIT: "A longer --time-limit may help.",
    StopReason.WORK_LIMIT: "A greater --work-limit may help.",
    StopReason.MEMORY_LIMIT: "A greater --memory-limit may help.",
}
"""What to try if nothing was found."""
NOTHING_PROVEN = "nothing is proven about the peak"
GAVE_UP = "The solver gave up: another one may find a plan (auto tries many)."
ENDED_ITSELF = "nothing more to try"
"""For runs that end as by a limit of work, without having had or exhausted one."""


def print_report(
    problem: Problem,
    plan: Plan,
    *,
    explain: bool,
    written_to: str | None = None,
    as_map: bool = False,
    console: Console | None = None,
    has_work_limit: bool = False,
) -> None:
    """Print everything about the plan, for a terminal: the verdict comes last, where the reader looks."""
    console = console or console_on()
    limited = has_work_limit or any("the work limit ended" in warning for warning in plan.warnings)
    ended_itself = plan.stop is StopReason.WORK_LIMIT and not limited
    lines = verdict(problem, plan, figures(problem, plan), explain=explain, ended_itself=ended_itself)
    if as_map:
        from planner.drawing import memory_map

        from .block_map import print_map

        print_map(memory_map(problem, plan), console)
    elif plan.placements:
        print_tables(problem, plan, console, height_of(lines, console), written_to)
    if explain and plan.status is not PlanStatus.INFEASIBLE:
        for text in explain_bound(problem, plan).splitlines():
            console.print(plain(text))
        console.print()
    print_verdict(lines, console, written_to)


def verdict(
    problem: Problem,
    answer: Plan | Sharing,
    figures: Iterable[Text],
    *,
    explain: bool,
    ended_itself: bool = False,
) -> list[Text | Panel]:
    """Return the result in a few lines."""
    lines: list[Text | Panel] = [Text.assemble(word("warning"), ": ", plain(warning)) for warning in answer.warnings]
    lines.append(headline(problem, answer, ENDED_ITSELF if ended_itself else STOPPED[answer.stop]))
    if answer.status is PlanStatus.INFEASIBLE:
        lines.append(infeasible_panel(answer.shortage, explain=explain))
    elif answer.status is PlanStatus.UNKNOWN:
        nothing = "Neither a plan that fits was found, nor a proof that there is none."
        lines.append(Text(f"{nothing} {GAVE_UP if ended_itself else MAY_HELP.get(answer.stop, '')}".strip()))
    return [*lines, *figures]


def height_of(lines: Iterable[Text | Panel], console: Console) -> int:
    """Return how many of the terminal's lines they take."""
    return sum(len(console.render_lines(line, pad=False)) for line in lines)


def print_verdict(lines: Iterable[Text | Panel], console: Console, written_to: str | None) -> None:
    for line in lines:
        console.print(line)
    if written_to is not None:
        console.print(Text.assemble("written to ", plain(written_to)), soft_wrap=True)


def headline(problem: Problem, plan: Plan | Sharing, ended: str) -> Text:
    """`optimal   resnet50: 1 042 buffers   0.13 s   greedy`"""
    count = len(as_chosen(problem, plan).buffers if isinstance(plan, Plan) else problem.buffers)
    subject = counted(count, "buffer")
    if problem.name:
        subject = f"{problem.name[:LONGEST_NAME]}: {subject}"
    facts = [subject, f"{plan.run.seconds:.2f} s"]
    facts += [fact for fact in (plan.solver, ended) if fact]
    return Text.assemble(word(plan.status.value), *(part for fact in facts for part in ("   ", plain(fact))))


def figures(problem: Problem, plan: Plan) -> Iterable[Text]:
    """Return peak, bound and gap, and each term of an objective that is not the peak alone: the gap is that of what was minimised."""
    if plan.peak is not None:
        yield Text.assemble("  peak   ", Text(both(plan.peak), style="bold"))
    if plan.status is not PlanStatus.INFEASIBLE:
        yield Text(f"  bound  {_bound(plan)}")
    if _is_peak(problem, plan) and plan.gap is not None and plan.gap > 0:
        yield Text(f"  gap    {percent(plan.gap)}")
    if plan.choice is not None:
        proven = "" if plan.choice.cost_bound is None else f"   bound {grouped(plan.choice.cost_bound)}"
        yield Text(f"  cost   {grouped(plan.choice.cost)}{proven}")
        yield plain(f"  chosen {chosen(plan.choice)}")
    yield from terms(problem, plan)


def chosen(choice: Choice) -> str:
    """Return the chosen alternatives, the first few of them."""
    picks = [f"{group}: {alternative}" for group, alternative in choice.alternatives[:MAX_NAMED_BUFFERS]]
    rest = len(choice.alternatives) - len(picks)
    return f"{', '.join(picks)}{f' … and {grouped(rest)} more' if rest else ''}"


def terms(problem: Problem, plan: Plan) -> Iterable[Text]:
    """Return value, bound and gap of each term, unless the peak alone was minimised."""
    for number, term in enumerate(() if _is_peak(problem, plan) else plan.objective.terms):
        value = "none" if term.value is None else grouped(term.value)
        bound = "nothing proven" if term.bound is None else f"bound {grouped(term.bound)}"
        gap = f"   gap {percent(plan.gap)}" if number == 0 and plan.gap else ""
        yield Text(f"  {term_in_words(problem, term.name)}  {value}   {bound}{gap}")


def _is_peak(problem: Problem, plan: Plan) -> bool:
    return [term.name for term in plan.objective.terms] == [Term.SUM_OF_PEAKS] and not weighs_peaks(problem)


def _bound(plan: Plan) -> str:
    """Return what is proven of the peak; where something else was minimised, that may be nothing."""
    if plan.peak and not plan.bound:
        return NOTHING_PROVEN
    if plan.peak is None:
        return both(plan.bound)
    is_first = not plan.objective.terms or plan.objective.terms[0].name is Term.SUM_OF_PEAKS
    return f"{both(plan.bound)}   {'no plan can have a smaller peak' if is_first else 'no plan has a smaller peak, at any cost'}"


def print_tables(problem: Problem, plan: Plan, console: Console, below: int, written_to: str | None) -> None:
    """Print buffers and pools; so many lines are still to come below, besides where the plan is written to."""
    whole = WRITTEN_BY_OPTION if written_to is None else WRITTEN
    rows = rows_for(console, 7 + min(len(plan.pools), MAX_ROWS) + below + (written_to is not None))
    ordered = shown_placements(plan, problem.pools, rows)
    console.print(placements_table(ordered, problem.pools, console.width), crop=False)
    if rest := more(len(plan.placements), rows, whole):
        console.print(f"{rest}; shown: those at the peak, then the largest")
    console.print()
    console.print(pools_table(plan.pools, console.width), crop=False)
    if rest := more(len(plan.pools), whole=whole):
        console.print(rest)
    console.print()


def infeasible_panel(shortage: Shortage | None, *, explain: bool) -> Panel:
    """Return what is short, where and when, and the buffers concerned."""
    lines: list[Text] = []
    if shortage is None:
        lines.append(Text("Proven: no plan fits within the capacities."))
    else:
        lines.append(plain(shortage.message))
        facts = []
        if shortage.pool is not None:
            facts.append(("pool", shortage.pool[:LONGEST_NAME]))
        if shortage.bytes_short is not None:
            facts.append(("short by", both(shortage.bytes_short)))
        if shortage.time is not None:
            facts.append(("at time", str(shortage.time)))
        if shortage.buffers:
            facts.append(("buffers", named(shortage.buffers)))
        lines += [Text.assemble(f"{label:<9}", plain(value)) for label, value in facts]
        lines += subset_lines(shortage, explain=explain)
    return Panel(
        Text("\n").join(lines), box=ROUNDED, border_style=STYLES["infeasible"], title="no plan fits", title_align="left"
    )


def subset_lines(shortage: Shortage, *, explain: bool) -> list[Text]:
    """Return the buffers that cannot be placed together, if they were sought."""
    if shortage.subset is None:
        return [] if explain else [Text("--explain finds a smallest set of buffers that cannot be placed together.")]
    count = len(shortage.subset)
    if shortage.irreducible:
        claim = f"These {grouped(count)} cannot be placed together; without any one of them the rest can:"
    else:
        claim = f"These {grouped(count)} cannot be placed together (perhaps not the fewest):"
    return [Text(), Text(claim), plain(named(shortage.subset))]


def named(buffers: Sequence[BufferId]) -> str:
    """Return the buffers' names, the first few in full."""
    text = ", ".join(shown_id(b) for b in buffers[:MAX_NAMED_BUFFERS])
    rest = len(buffers) - MAX_NAMED_BUFFERS
    return f"{text} … and {grouped(rest)} more" if rest > 0 else text


def print_nested(made: NestedPlan) -> None:
    """Print the arenas of a program's functions: a row for each, innermost first, and the need of any entry."""
    console = console_on()
    table = new_table()
    for name in ("function", "buffers", "bytes", "status"):
        table.add_column(name, justify="right" if name in ("buffers", "bytes") else "left")
    for arena in made.arenas:
        peak = "none" if arena.plan.peak is None else grouped(arena.plan.peak)
        buffers = grouped(len(arena.problem.buffers))
        table.add_row(plain(arena.function), buffers, peak, arena.plan.status.value)
    console.print(table, crop=False)
    console.print()
    if made.peak is not None:
        console.print(plain(f"  peak   {both(made.peak)}   each function in an arena within its caller's"))
