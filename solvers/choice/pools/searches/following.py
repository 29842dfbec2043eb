"""What comes and goes from one section to an end of time, as divisions are followed there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....kernels.interface import Change, Course
from ....model.instance import Ints


class Lives(NamedTuple):
    """Rects of an instance: their classes, their sizes pool by pool, the only pool of each or -1, and from which section to which they are live."""

    group: Ints
    sizes: Ints
    only: Ints
    begin: Ints
    end: Ints

    def live_at(self, section: int) -> Lives:
        """Those that are live at this section."""
        here = (self.begin <= section) & (section < self.end)
        return Lives(*(column[here] for column in self))

    def taken(self) -> tuple[Ints, Ints, Ints]:
        """If all are live at once: what is taken in each pool in any case, the classes that have a choice, and what each takes in each pool."""
        settled = self.only >= 0
        always = np.zeros(self.sizes.shape[1], dtype=np.int64)
        np.add.at(always, self.only[settled], self.sizes[settled, self.only[settled]])
        classes, which = np.unique(self.group[~settled], return_inverse=True)
        units = np.zeros((len(classes), len(always)), dtype=np.int64)
        np.add.at(units, which, self.sizes[~settled])
        return always, classes, units

    def courses(self, sections: Ints, fullest: int) -> list[Course]:
        """From the fullest of these sections back to the first, and on to the last; the shorter one comes first."""
        begin, end = np.searchsorted(sections, self.begin), np.searchsorted(sections, self.end)
        back = self._replace(begin=fullest - end + 1, end=fullest - begin + 1)
        on = self._replace(begin=begin - fullest, end=end - fullest)
        both = [back.course(fullest + 1), on.course(len(sections) - fullest)]
        return sorted(both, key=lambda course: len(course.begin))

    def course(self, steps: int) -> Course:
        """The same where sections are steps, of which there are so many."""
        live = Lives(*(column[(self.begin < self.end) & (self.end > 0) & (self.begin < steps)] for column in self))
        comes, goes = live.begin > 0, live.end < steps
        step = np.concatenate([live.begin[comes], live.end[goes]])
        group, only = (np.concatenate([column[comes], column[goes]]) for column in (live.group, live.only))
        units = np.concatenate([live.sizes[comes], -live.sizes[goes]])
        settled = only >= 0
        always = np.zeros((steps, units.shape[1]), dtype=np.int64)
        np.add.at(always, (step[settled], only[settled]), units[settled, only[settled]])
        classes = int(self.group.max(initial=0)) + 1
        begins, ends = np.full(classes, steps), np.zeros(classes, dtype=np.int64)
        np.minimum.at(begins, live.group, live.begin)
        np.maximum.at(ends, live.group, live.end)
        changes, which = np.unique(step[~settled] * classes + group[~settled], return_inverse=True)
        more = np.zeros((len(changes), units.shape[1]), dtype=np.int64)
        np.add.at(more, which, units[~settled])
        at, who = np.divmod(changes, classes)
        kind = np.where(at == begins[who], Change.COMES, np.where(at == ends[who], Change.GOES, Change.OTHER))
        order = np.lexsort((who, -more.max(axis=1), kind, at))
        order = order[(kind[order] != Change.OTHER) | more[order].any(axis=1)]
        begin = np.searchsorted(at[order], np.arange(steps + 1))
        return Course(always.reshape(-1), begin, kind[order], who[order], more[order].reshape(-1))
