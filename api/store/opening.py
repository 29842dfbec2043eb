"""The database of a store's URL."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from .protocol import StoreUnavailable
from .sql.databases.database import Database
from .sql.store import DatabaseStore


def open_store(url: str) -> DatabaseStore:
    """Return the store of that URL, with its tables up to date. Raises StoreUnavailable."""
    return DatabaseStore(open_database(url))


def is_shared(url: str) -> bool:
    """True if several processes share the store. Raises StoreUnavailable."""
    return _parsed(url).get_backend_name() != "sqlite"


def file_of(url: str) -> Path | None:
    """Return the file of a store that processes do not share; None if it has none. Raises StoreUnavailable."""
    name = _parsed(url).database
    return None if name in (None, "", ":memory:") or name.startswith("file:") else Path(name).resolve()


def open_database(url: str) -> Database:
    if is_shared(url):
        from .sql.databases.postgres import PostgresDatabase

        return PostgresDatabase(_parsed(url))
    from .sql.databases.sqlite import SqliteDatabase

    return SqliteDatabase(_parsed(url))


def why(error: StoreUnavailable) -> str:
    """Return all that is known, for the service's operator; it may name hosts and users, but no passwords."""
    return " ".join(str(getattr(error.__cause__, "orig", error)).split())


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreUnavailable("the store's URL cannot be read") from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreUnavailable("only sqlite:/// and postgresql:// URLs are supported")
    return parsed
