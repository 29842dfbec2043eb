"""What PostgreSQL's errors mean to who runs it. The driver's own words may name hosts, users and values."""

from __future__ import annotations

from ...protocol import StoreDamaged, StoreUnavailable

DAMAGED = ("XX001", "XX002")
"""The server's codes for damaged tables and indexes."""
WORDS = {
    "08006": "the connection to its server broke",
    "25006": "its server takes no writes",
    "40P01": "two writers waited for each other",
    "42501": "its user may not do what is needed",
    "53100": "its disk is full",
    "53200": "its server has no memory left",
    "53300": "its server has too many connections",
    "55P03": "another process holds what is to be written",
    "57014": "its server takes too long",
    "57P01": "its server was stopped",
    "57P02": "its server has crashed",
    "57P03": "its server is starting or stopping",
    "57P04": "its database was removed",
    "58030": "its disk cannot be read or written",
}
"""Of the server's other codes, those whose cause lies outside of memplan."""


def trouble(what: str, error: BaseException | None) -> StoreUnavailable:
    """Return the driver's error as our own: what, the store or the queue, does not answer."""
    state = getattr(error, "sqlstate", None)
    if state in DAMAGED:
        return StoreDamaged(f"{what} is damaged: its server reports {type(error).__name__} ({state})")
    return StoreUnavailable(f"{what} does not answer: {_why(error, state)}")


def _why(error: BaseException | None, state: str | None) -> str:
    import psycopg

    if state in WORDS:
        return WORDS[state]
    if state is None and isinstance(error, psycopg.OperationalError):
        return "there is no connection to its server"
    return f"its server reports {type(error).__name__}" + (f" ({state})" if state else "")
