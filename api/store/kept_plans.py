"""The table of plans that are kept for whoever asks for the same again. Every new problem is looked up here, so the statements are made once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, insert, select

from .records import Kept, StoredPlan
from .rows import plan_of, plan_values
from .tables import plans

_THIS = (plans.c.owner == bindparam("of"), plans.c.key == bindparam("under"))
_FIND = select(plans).where(*_THIS)
_DROP = delete(plans).where(*_THIS)
_PUT = insert(plans)


def find(connection: Connection, owner: str, key: str) -> StoredPlan | None:
    row = connection.execute(_FIND, {"of": owner, "under": key}).one_or_none()
    return None if row is None else plan_of(row)


def put(connection: Connection, kept: Sequence[Kept]) -> None:
    """In place of those that were there; of several under one key the last."""
    last = {(each.owner, each.key): each.plan for each in kept}
    connection.execute(_DROP, [{"of": owner, "under": key} for owner, key in last])
    rows = [{"owner": owner, "key": key, **plan_values(plan)} for (owner, key), plan in last.items()]
    connection.execute(_PUT, rows)
