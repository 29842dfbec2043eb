"""Files planned side by side in processes that stay warm; equal problems once."""

from __future__ import annotations

import hashlib
import selectors
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..model.errors import BadInput, Code, Finding
from .collecting import ProblemFile
from .farm import Farm, require_usable
from .manifest import Entry, EntryStatus, Manifest, plan_name, settings_of
from .places import Place, Places, Processes
from .progress import Reached, UnderWay
from .worker import Lost, Make, Read, Unwritable, WasMade, WasRead, WasRefused, remove_unfinished, write_whole

POLL_SECONDS = 0.1
COUNT_SECONDS = 1.0
"""The interval at which the number of useful places is determined."""
TRIES = 2
"""Attempts for a file whose place was lost."""


@dataclass(slots=True, eq=False)
class _Slot:
    """A place, and its work."""

    place: Place
    file: ProblemFile | None = None
    read: WasRead | None = None
    key: str = ""
    """The key of its problem, among those that are planned once."""
    since: float = 0.0


@dataclass(slots=True)
class _Once:
    """One problem: who plans it, who waits for it, and the result."""

    waiting: list[tuple[ProblemFile, WasRead]] = field(default_factory=list)
    entry: Entry | None = None


def plan_many(
    files: Sequence[ProblemFile],
    folder: Path,
    farm: Farm,
    on_entry: Callable[[Entry], None] | None = None,
    stopped: Callable[[], bool] | None = None,
    under_way: dict[str, UnderWay] | None = None,
    where: Places | None = None,
) -> bool:
    """Plan into the folder what is not planned yet. Return False if `stopped` ended it before all were done; the next call continues.

    `on_entry` also receives existing entries. `under_way` always holds the files being planned and their progress. `where` is the result of
    `places_for`, if called before; it is closed. Raises BadInput, also if the folder cannot be written, and CannotSolve.
    """
    where = places_for(farm, len(files)) if where is None else where
    try:
        require_usable(farm)
        manifest = Manifest(folder)
        under_way = {} if under_way is None else under_way
        run = _Run(manifest, farm, where, on_entry or (lambda _: None), stopped or (lambda: False), under_way)
        return _written(run, manifest, files)
    finally:
        where.close()


def _written(run: _Run, manifest: Manifest, files: Sequence[ProblemFile]) -> bool:
    try:
        manifest.begin(settings_of(run.farm.options), anew=run.farm.anew)
        remove_unfinished({(manifest.folder / plan_name(file.name)).parent for file in files})
        return run.all_of(files)
    except OSError as error:
        message = f"{manifest.folder}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise BadInput(Finding(Code.UNWRITABLE, "/options/out", message)) from error
    finally:
        run.close()
        with suppress(OSError):
            manifest.close()


def places_for(farm: Farm, files: int) -> Places:
    """Return places for this many files. Processes that can be forked start at once; before there are threads this is cheap. Raises BadInput and CannotSolve."""
    if farm.cluster is None:
        return Processes(farm.processes, files)
    from .cluster import Cluster

    return Cluster(farm.cluster, farm.grace)


class _Run:
    """One call."""

    def __init__(
        self,
        manifest: Manifest,
        farm: Farm,
        where: Places,
        on_entry: Callable[[Entry], None],
        stopped: Callable[[], bool],
        under_way: dict[str, UnderWay],
    ) -> None:
        self._manifest, self.farm, self._where = manifest, farm, where
        self._under_way = under_way
        self._look_again = 0.0
        """When to determine the number of places next."""
        self._on_entry, self._stopped = on_entry, stopped
        self._waiting: deque[ProblemFile] = deque()
        self._problems: dict[str, _Once] = {}
        self._tries: dict[str, int] = {}
        self._baseline = {} if farm.baseline is None else _by_digest(farm.baseline)
        self._slots = selectors.DefaultSelector()
        self._answers = farm.answers if farm.options.stability is None else None
        """A plan close to another depends on more than its problem, so it is not stored."""

    def all_of(self, files: Sequence[ProblemFile]) -> bool:
        """True once there is an entry for each file."""
        for file in files:
            entry = self._manifest.entries.get(file.name)
            if entry is not None and self._manifest.is_done(file.name, _sha256(file.path)):
                if entry.digest is not None and entry.status.has_plan:
                    self._problems.setdefault(self._key(file, entry.digest), _Once(entry=entry))
                self._on_entry(entry)
            else:
                self._waiting.append(file)
        self._grow()
        while busy := [key.data for key in self._slots.get_map().values() if key.data.file is not None]:
            if self._stopped():
                return False
            self._grow()
            for key, _ in self._slots.select(POLL_SECONDS):
                self._hear(key.data)
            self._end_late(busy)
        return True

    def close(self) -> None:
        """End the processes and their work."""
        for key in list(self._slots.get_map().values()):
            self._end(key.data)
        self._slots.close()

    def _grow(self) -> None:
        """Open as many places as are useful now: a cluster's workers may have increased."""
        if self._waiting and time.monotonic() >= self._look_again:
            self._look_again = time.monotonic() + COUNT_SECONDS
            more = self._where.count() - len(self._slots.get_map())
            for _ in range(min(more, len(self._waiting))):
                self._start()

    def _start(self) -> None:
        slot = _Slot(self._where.open())
        self._slots.register(slot.place, selectors.EVENT_READ, slot)
        self._next(slot)

    def _end(self, slot: _Slot) -> int:
        self._slots.unregister(slot.place)
        return slot.place.end()

    def _next(self, slot: _Slot) -> None:
        """Give the process a file, if one is left."""
        self._leave(slot)
        slot.file = slot.read = None
        if self._waiting:
            slot.file = self._waiting.popleft()
            self._under_way[slot.file.name] = UnderWay()
            self._ask(slot, Read(str(slot.file.path), self.farm.format))

    def _leave(self, slot: _Slot) -> None:
        """Its file is no longer in progress."""
        if slot.file is not None:
            self._under_way.pop(slot.file.name, None)

    def _ask(self, slot: _Slot, message: Read | Make) -> None:
        slot.since = time.monotonic()
        with suppress(OSError):  # it is gone; reading will tell
            slot.place.send(message)

    def _hear(self, slot: _Slot) -> None:
        try:
            message = slot.place.receive()
        except (EOFError, OSError):
            code = self._end(slot)
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            self._lost(slot, f"the process that planned it ended {how}")
            self._replace()
            return
        assert slot.file is not None
        match message:
            case WasRead():
                self._was_read(slot, slot.file, message)
            case WasRefused():
                self._was_refused(slot, slot.file, message)
                self._next(slot)
            case WasMade():
                self._was_made(slot, slot.file, message)
            case Reached():
                self._under_way[slot.file.name].reached = message
            case Lost():
                self._lost(slot, message.reason, is_its_fault=message.is_its_fault)
                self._next(slot)
            case Unwritable(is_its_own=True):
                self._unwritten(slot.file, slot.read, message)
                self._forget(slot)
                self._next(slot)
            case Unwritable():
                raise BadInput(Finding(Code.UNWRITABLE, "/options/out", message.reason))

    def _was_read(self, slot: _Slot, file: ProblemFile, read: WasRead) -> None:
        slot.key = key = self._key(file, read.digest)
        once = self._problems.get(key)
        if once is None:
            known = self._baseline.get(read.digest)
            if known is not None and self._take_over(file, read, known, "baseline"):
                if (entry := self._manifest.entries[file.name]).plan is not None:
                    self._problems[key] = _Once(entry=entry)
                self._next(slot)
                return
            self._problems[key] = _Once()
            slot.read = read
            out, options = self._manifest.folder / plan_name(file.name), self.farm.options
            kept = None if self._answers is None else self._answers.find(read, options)
            self._ask(slot, Make(options, str(out), self._start_of(file), tells=True, known=kept))
            return
        if once.entry is None:
            once.waiting.append((file, read))
        else:
            self._as(file, read, once.entry)
        self._next(slot)

    def _was_made(self, slot: _Slot, file: ProblemFile, made: WasMade) -> None:
        read = slot.read
        assert read is not None
        entry = Entry(
            file=file.name,
            sha256=read.sha256,
            status=EntryStatus(made.status),
            digest=read.digest,
            plan=None if made.plan_sha256 is None else plan_name(file.name),
            plan_sha256=made.plan_sha256,
            source=None if made.plan_sha256 is None else "store" if made.is_known else "solved",
            stop=made.stop,
            peak=made.peak,
            bound=made.bound,
            buffers=read.buffers,
            seconds=made.seconds,
            moved=None if made.moves is None else made.moves.buffers,
            moved_bytes=None if made.moves is None else made.moves.bytes,
            peak_before=None if made.moves is None else made.moves.peak_before,
            reason=made.reason,
        )
        self._note_once(entry, slot.key)
        if self._answers is not None and not made.is_known and (data := self._manifest.plan_of(entry)) is not None:
            self._answers.keep(read, self.farm.options, data)
        self._next(slot)

    def _was_refused(self, slot: _Slot, file: ProblemFile, refused: WasRefused) -> None:
        if refused.is_no_problem and not file.is_named:
            return
        digest = None if slot.read is None else slot.read.digest
        entry = Entry(file.name, refused.sha256, EntryStatus.REFUSED, digest, reason=refused.reason)
        if slot.read is None:
            self._note(entry)
        else:
            self._note_once(entry, slot.key)

    def _note_once(self, entry: Entry, key: str) -> None:
        """Add the entry, and those of all files that waited for it."""
        self._note(entry)
        once = self._problems[key]
        once.entry = entry
        for file, its in once.waiting:
            self._as(file, its, entry)
        once.waiting.clear()

    def _as(self, file: ProblemFile, read: WasRead, entry: Entry) -> None:
        """Reuse the plan of an equal problem."""
        if entry.plan is None:
            self._note(replace(entry, file=file.name, sha256=read.sha256))
        elif not self._take_over(file, read, (self._manifest, entry), "same"):  # somebody removed the plan meanwhile
            self._problems.pop(self._key(file, read.digest), None)
            self._waiting.append(file)

    def _take_over(self, file: ProblemFile, read: WasRead, known: tuple[Manifest, Entry], source: str) -> bool:
        """Copy a plan byte for byte; False if it no longer exists."""
        manifest, entry = known
        data = manifest.plan_of(entry)
        if data is None:
            return False
        name = plan_name(file.name)
        path = self._manifest.folder / name
        try:
            write_whole(path, data)
        except OSError as error:
            unwritable = Unwritable.of(path, error)
            if not unwritable.is_its_own:
                raise
            self._unwritten(file, read, unwritable)
            return True
        copied = replace(entry, file=file.name, sha256=read.sha256, plan=name, source=source, seconds=0.0)
        self._note(replace(copied, moved=None, moved_bytes=None, peak_before=None))
        return True

    def _unwritten(self, file: ProblemFile, read: WasRead | None, unwritable: Unwritable) -> None:
        """The file has no plan, but others with its problem do."""
        assert read is not None
        self._note(Entry(file.name, read.sha256, EntryStatus.FAILED, read.digest, reason=unwritable.reason))

    def _key(self, file: ProblemFile, digest: str) -> str:
        """Return what decides a plan: the problem and, with stability, the file's older plan."""
        if self.farm.options.stability is None or self.farm.baseline is None:
            return digest
        old = self.farm.baseline.entries.get(file.name)
        return digest if old is None or old.plan_sha256 is None else f"{digest} {old.plan_sha256}"

    def _start_of(self, file: ProblemFile) -> bytes | None:
        """Return the baseline's plan of the file."""
        baseline = self.farm.baseline
        entry = None if baseline is None else baseline.entries.get(file.name)
        return None if baseline is None or entry is None else baseline.plan_of(entry)

    def _note(self, entry: Entry) -> None:
        self._manifest.add(entry)
        self._on_entry(entry)

    def _end_late(self, busy: Sequence[_Slot]) -> None:
        """End processes that are long overdue."""
        limit = self.farm.options.time_limit
        if limit is None or self.farm.cluster is not None:  # there each worker ends its own
            return
        for slot in busy:
            if slot.file is not None and time.monotonic() - slot.since > limit + self.farm.grace:
                self._end(slot)
                self._tries[slot.file.name] = TRIES  # it would take as long again
                self._lost(slot, f"still at it {limit + self.farm.grace:g} s later, and ended")
                self._replace()

    def _lost(self, slot: _Slot, reason: str, *, is_its_fault: bool = True) -> None:
        """Handle a lost place: its file is tried once more, and then recorded."""
        self._leave(slot)
        file, slot.file = slot.file, None
        if file is not None:
            tries = self._tries[file.name] = self._tries.get(file.name, 0) + is_its_fault
            if tries < TRIES:
                self._waiting.append(file)
                self._forget(slot)
            else:
                entry = Entry(file.name, _sha256(file.path), EntryStatus.FAILED, reason=reason)
                if slot.read is None:
                    self._note(entry)
                else:
                    self._note_once(replace(entry, digest=slot.read.digest), slot.key)

    def _replace(self) -> None:
        """Replace a lost place, if there is work."""
        if self._waiting:
            self._start()

    def _forget(self, slot: _Slot) -> None:
        """Nobody plans its problem now; the files that waited are read again."""
        if slot.read is not None:
            once = self._problems.pop(slot.key)
            self._waiting.extend(file for file, _ in once.waiting)


def _by_digest(manifest: Manifest) -> dict[str, tuple[Manifest, Entry]]:
    with_plans = (entry for entry in manifest.entries.values() if entry.plan is not None and entry.digest is not None)
    return {entry.digest: (manifest, entry) for entry in with_plans if entry.digest is not None}


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
