"""A program as it runs: the ticks of each step, and when each tensor is needed and written."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from ...checks.report import bad_input, quoted
from ...model.columns.rows import FEW, StepColumns
from ...model.columns.texts import GatheredTexts
from ...model.deadline import PREPARING, in_time, tick
from ...model.errors import Code
from ...model.problem import BufferId, Interval
from ..columns import Memory, ids_of, name_of
from ..operators import OperatorKind, TensorKind
from ..program import Program
from .events import Events, Lives, Writes
from .homes import Homes
from .listing import listing_of
from .liveness import Life, Part, Region, life_of
from .nodes import Compute, Cycle, Fork, Handed, Listing, Run, Step
from .sizes import Uses, require_short
from .transfers import Begun

_ALIASES = frozenset((OperatorKind.VIEW, OperatorKind.IDMA_WAIT))
_TRANSFERS = frozenset((OperatorKind.IDMA_LOAD, OperatorKind.IDMA_STORE))


@dataclass(slots=True)
class Flow:
    """A program as it runs."""

    tensors: Memory
    steps: list[Step]
    """All but operators that only compute."""
    elsewhere: set[BufferId]
    homes: Homes
    lives: Lives
    writes: Writes
    rewritten: set[BufferId] = field(default_factory=set)
    """Tensors that several steps write."""
    ticks: int = 0
    named: array[int] = field(default_factory=lambda: array("q"))
    """Ticks of operators with names."""
    names: GatheredTexts = field(default_factory=GatheredTexts)
    """Their names."""

    def steps_named(self) -> Sequence[tuple[int, str]]:
        """Return the names by tick; in columns, if they are many."""
        steps = StepColumns(self.named, cast("Sequence[str]", self.names.all()))
        return tuple(steps) if len(steps) <= FEW else steps


def flow_of(program: Program) -> Flow:
    """Return how the sound program runs. Raises BadInput if a run takes too long, or writes state that is lent for reading."""
    listing = listing_of(program)
    require_short(program, listing)
    return _Running(program, listing).run()


def _rewritten(listing: Listing) -> Iterator[BufferId]:
    """Yield the tensors that several steps write."""
    number = listing.tensors.number
    written = bytearray(len(number))
    computed = (outputs for nodes in listing.nodes.values() for outputs in nodes.computed())
    for outputs in chain((step.operator.outputs for step in listing.steps), computed):
        yield from (id_ for id_ in outputs if written[number[id_]])
        for id_ in outputs:
            written[number[id_]] = True


class _Running:
    """Goes through the program tick by tick, and records what happens to each tensor."""

    def __init__(self, program: Program, listing: Listing) -> None:
        self._program = program
        self._listing = listing
        self._events = Events(listing.tensors.number)
        self._uses = Uses(listing)
        number = self._events.number
        lives, writes = Lives(number), Writes(number)
        self._flow = Flow(listing.tensors, listing.steps, listing.elsewhere, listing.homes, lives, writes)
        self._handed: dict[BufferId, Handed] = {}
        self._frames: list[Begun] = []
        """The transfers begun by each function that runs at the moment, the entry's first."""
        self._throughout: dict[BufferId, list[Interval]] = {}
        """What is needed throughout some loops, whatever happens to it there."""
        self._namesakes: dict[BufferId, list[BufferId]] = {}
        """The mutable inputs that stand for the same state at the moment."""
        self._shared = {*ids_of(program.tensors)}
        self._flow.rewritten.update(_rewritten(listing))
        self._operators = {function.name: function.operators for function in program.functions}
        self._numbers = {function.name: f for f, function in enumerate(program.functions)}
        self._looked_through = self._views_of_elsewhere()

    def run(self) -> Flow:
        flow = self._flow
        entries = Region(False, [self._entry(name) for name in self._program.entries])
        whole = Part(0, entries.end, [entries])
        tensors = in_time(flow.tensors.items(), PREPARING, "tensor")
        for (id_, tensor), events in zip(tensors, self._events.of_each(), strict=True):
            if tensor.kind is TensorKind.MUTABLE and id_ not in flow.elsewhere:
                flow.lives.append(Life(((0, whole.end),)))
            else:
                life = life_of(whole, events)
                for loop in self._throughout.get(id_, ()):
                    life = life.and_throughout(*loop)
                flow.lives.append(life)
            flow.writes.append(tuple(event.tick for event in events if event.is_written))
        return flow

    def _views_of_elsewhere(self) -> dict[BufferId, BufferId]:
        """Keep what lies elsewhere needed as long as its views are, which lie there too, or are copies."""
        found: dict[BufferId, BufferId] = {}
        for step in self._listing.steps:
            if step.kind in _ALIASES:
                operator = step.operator
                (source,), (result,) = operator.inputs, operator.outputs
                is_elsewhere = source in self._listing.elsewhere or source in found
                is_view_alone = (
                    self._flow.tensors[result].kind is TensorKind.INTERMEDIATE and result not in self._flow.rewritten
                )
                if is_elsewhere and result not in self._listing.elsewhere and is_view_alone:
                    found[result] = source
        return found

    def _entry(self, name: str) -> Part:
        part = Part(self._now)
        begun = self._function(name, part.inside)
        function, homes = self._listing.functions[name], self._listing.homes
        for transfer in begun:
            self._read(transfer.needed)
        self._read(homes[(None, id_) if id_ in self._shared else (name, id_)] for id_ in function.outputs)
        for id_ in function.inputs:
            home = homes[name, id_]
            if not self._events.has(home):  # nobody needs it, and still it is given
                self._events.note(home, part.start, is_read=False, is_written=True)
        self._tick()
        part.end = self._now
        return part

    def _tick(self) -> None:
        self._flow.ticks += 1

    @property
    def _now(self) -> int:
        return self._flow.ticks

    def _function(self, name: str, inside: list[Region]) -> Begun:
        """Run it, and return its unawaited transfers."""
        tick(PREPARING)
        begun = Begun()
        self._frames.append(begun)
        for node in in_time(self._listing.nodes[name], PREPARING, "operator"):
            match node:
                case Compute():
                    self._compute(node)
                case Step():
                    self._transfer(node, begun)
                case Run():
                    self._run(node, inside, begun)
                case Fork():
                    self._steps((node.test,))
                    self._fork(node, inside, begun)
                case Cycle():
                    self._steps(node.enter)
                    self._cycle(node, inside, begun)
            self._uses.require_few(len(self._events))
        self._frames.pop()
        return begun

    def _transfer(self, step: Step, begun: Begun) -> None:
        """Note a step, which may begin a transfer, look at its result, or wait for it."""
        operator = step.operator
        if operator.kind in _TRANSFERS:
            self._read_sides_of(operator.outputs[0])
        elif operator.kind is OperatorKind.IDMA_WAIT and operator.inputs[0] in begun:
            self._read(begun.end(operator.inputs[0]))
        self._steps((step,))
        if operator.kind in _TRANSFERS:
            begun.begin(operator.outputs[0], self._with_sources((*operator.inputs, *operator.outputs)))
        elif operator.kind is OperatorKind.VIEW and operator.inputs[0] in begun:
            begun.look_at(operator.inputs[0], operator.outputs[0])

    def _read_sides_of(self, result: BufferId) -> None:
        """Note that earlier transfers to the result, which another overwrites, need their sides until now."""
        for name in self._names(result):
            for begun in self._frames:
                self._read(begun.sides(name))

    def _with_sources(self, ids: Iterable[BufferId]) -> Iterator[BufferId]:
        """Yield these, and what views among them show that lies elsewhere."""
        for id_ in ids:
            yield id_
            while id_ in self._looked_through:
                id_ = self._looked_through[id_]
                yield id_

    def _names(self, id_: BufferId) -> Iterator[BufferId]:
        """Yield it, and what it stands for."""
        yield id_
        while id_ in self._handed:
            id_ = self._handed[id_].to
            yield id_

    def _run(self, run: Run, inside: list[Region], begun: Begun, *, is_certain: bool = True) -> list[BufferId]:
        """Run its function. Transfers that this began go on in the caller; return what they need."""
        before = len(self._events)
        self._uses.hand_over(len(run.handed) + len(run.read_only))
        self._handed.update(run.handed)
        mutable = [id_ for id_, _ in run.handed if self._flow.tensors[id_].kind is TensorKind.MUTABLE]
        for id_ in mutable:
            self._namesakes.setdefault(self._stands_for(id_), []).append(id_)
        needed = self._go_on(self._function(run.function, inside), dict(run.handed), begun, is_certain=is_certain)
        self._steps(run.given_back)
        for id_ in mutable:
            self._namesakes[self._stands_for(id_)].remove(id_)
        for id_, _ in run.handed:
            del self._handed[id_]
        if run.read_only:
            self._refuse_written(run, before)
        return needed

    def _go_on(
        self, inner: Begun, handed: Mapping[BufferId, Handed], begun: Begun, *, is_certain: bool
    ) -> list[BufferId]:
        """Let a function's unawaited transfers go on in its caller, and return what they need, by the caller's names."""

        def named(id_: BufferId) -> BufferId:
            return handed[id_].to if id_ in handed else id_

        all_needed: list[BufferId] = []
        for transfer in inner:
            self._uses.hand_over(len(transfer.results) + len(transfer.needed))
            first, *views = map(named, transfer.results)
            needed = [*self._with_sources(map(named, transfer.needed))]
            begun.begin(first, needed, is_certain=is_certain and transfer.is_certain)
            for view in views:
                begun.look_at(first, view)
            all_needed += needed
        return all_needed

    def _stands_for(self, id_: BufferId) -> BufferId:
        """Return what was handed over under this name, in the end."""
        *_, last = self._names(id_)
        return last

    def _refuse_written(self, run: Run, before: int) -> None:
        written = self._events.written_since(before)
        for lent in run.read_only:
            lent = self._stands_for(lent)
            if self._events.number[lent] in written:
                text = (
                    f"{quoted(run.function)} is handed {quoted(lent)} to read, and it is written meanwhile: "
                    "hand it over as mutable, or copy it before"
                )
                at = ("functions", self._numbers[run.caller], "operators", run.at)
                raise bad_input(Code.CONTRADICTION, at, text)

    def _fork(self, fork: Fork, inside: list[Region], begun: Begun) -> None:
        arms = []
        for run in fork.arms:
            arm = Part(self._now)
            self._run(run, arm.inside, begun, is_certain=False)
            arm.end = self._now
            arms.append(arm)
        if arms[0].start < arms[-1].end:
            inside.append(Region(False, arms))

    def _cycle(self, cycle: Cycle, inside: list[Region], begun: Begun) -> None:
        question, turn = Part(self._now), Part(0)
        needed: list[BufferId] = []
        if cycle.question is not None and cycle.test is not None:
            needed += self._run(cycle.question, question.inside, begun)
            self._steps((cycle.test,))
        question.end = turn.start = self._now
        needed += self._run(cycle.turn, turn.inside, begun, is_certain=False)
        self._steps(cycle.again)
        turn.end = self._now
        if question.start < turn.end:
            inside.append(Region(True, [question, turn]))
        for id_ in needed:  # transfers of one turn go on in the next
            for name in self._names(id_):
                self._throughout.setdefault(name, []).append((question.start, turn.end))

    def _compute(self, operator: Compute) -> None:
        self._read(operator.inputs)
        for id_ in operator.outputs:
            self._note(id_, False, True, self._now)
        if operator.name is not None:
            self._named(operator.name)
        self._tick()

    def _steps(self, steps: tuple[Step, ...]) -> None:
        """Note these steps, all at the same tick, if there are any."""
        for step in steps:
            if isinstance(step.ticks, list):
                step.ticks.append(self._now)
            elif step.ticks:
                step.ticks = [*step.ticks, self._now]
            elif step.kind is not OperatorKind.COMPUTE:
                step.ticks = (self._now,)  # less than a list, and most steps run once
            operator = step.operator
            self._read(operator.inputs)
            for id_ in (*operator.outputs, *step.workspaces):
                self._note(id_, False, True, self._now)
        if steps:
            self._name(steps[0])
            self._tick()

    def _name(self, step: Step) -> None:
        name = name_of(self._operators[step.function], step.index)
        if name is not None:
            self._named(name if step.part is None else f"{name}: {step.part}")

    def _named(self, name: str) -> None:
        """Note the name of what runs now."""
        self._uses.name(name)
        self._flow.named.append(self._now)
        self._flow.names.append(name)

    def _read(self, ids: Iterable[BufferId]) -> None:
        for id_ in ids:
            self._note(id_, True, False, self._now)

    def _note(self, id_: BufferId, is_read: bool, is_written: bool, at: int) -> None:
        """Note the event for the tensor, and for what the tensor stands for."""
        while True:
            tick(PREPARING)
            if is_written and self._events.has(id_) and any(begun.needs(id_) for begun in self._frames):
                is_read = True  # until now by a transfer
            self._events.note(id_, at, is_read=is_read, is_written=is_written)
            handed = self._handed.get(id_)
            if handed is not None:
                # The rest of the whole stays as it is.
                is_read = is_read or (handed.in_parts and is_written)
                id_ = handed.to
            elif is_read and id_ in self._looked_through:
                id_, is_written = self._looked_through[id_], False
            else:
                break
            self._uses.require_few(len(self._events))
        if is_written:
            for name in self._namesakes.get(id_, ()):
                self._events.note(name, at, is_read=False, is_written=True)
                self._uses.require_few(len(self._events))
