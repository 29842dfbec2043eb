"""The sentences that say why no choice of alternatives fits: one table for those who write them and those who check them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_COST = "no choice of alternatives has a cost of {most} or less"
_ROOM = "no choice of alternatives fits into the capacities"
_POOL = "pool {pool} is {short} too small for every choice of alternatives"
_LEAST = ": it has {size}, and the least that any needs is {need} ({choice})"
_AT_LEAST = ": it has {size}, and every choice needs at least {need} ({enough} are enough for {choice})"
_OTHERS = "; one of them ({choice}) would take {taken}; others may need less"
_ENOUGH = "; {enough} are enough for {choice}"

SENTENCES: Mapping[str, str] = {
    "no place": "no choice of alternatives can be placed, however large the memories are",
    "too dear": _COST,
    "too dear, cheapest": _COST + ": the cheapest costs {cost} ({choice})",
    "too dear, bound": _COST + ": the cheapest costs at least {cost}",
    "no room": _ROOM,
    "no room, taken": _ROOM + _OTHERS,
    "no room, enough": _ROOM + _ENOUGH,
    "no room, least": _POOL + _LEAST,
    "no room, bound": _POOL + _AT_LEAST,
    "no room within": _ROOM + " and a cost of {most}",
    "no room within, taken": _ROOM + " and a cost of {most}" + _OTHERS,
    "no room within, enough": _ROOM + " and a cost of {most}" + _ENOUGH,
    "no room within, least": _POOL + " with a cost of {most} or less" + _LEAST,
    "no room within, bound": _POOL + " with a cost of {most} or less" + _AT_LEAST,
}


def say(name: str, **words: object) -> str:
    """Return the sentence of this name with these words; those that it does not have are left out."""
    return SENTENCES[name].format(**words)


def is_said(text: str, known: Mapping[str, object]) -> bool:
    """True if it is one of the sentences. The known words must be there as they are; None is for those that it may not have."""
    return any(re.fullmatch(_pattern(sentence, known), text, re.DOTALL) for sentence in SENTENCES.values())


def _pattern(sentence: str, known: Mapping[str, object]) -> str:
    parts = re.split(r"(\{\w+\})", sentence)
    return "".join(_word(part[1:-1], known) if part.startswith("{") else re.escape(part) for part in parts)


def _word(name: str, known: Mapping[str, object]) -> str:
    if name not in known:
        return ".+"
    word = known[name]
    return r"(?!)" if word is None else re.escape(str(word))
