"""What PostgreSQL's codes of errors mean to who runs it; the driver's own words may name hosts, users and values."""

from __future__ import annotations

WORDS = {
    None: "there is no connection to its server",
    "25006": "its server takes no writes",
    "42501": "its user may not do what is needed",
    "53100": "its disk is full",
    "53200": "its server has no memory left",
    "53300": "its server has too many connections",
    "55P03": "another process holds what is to be written",
    "57014": "its server takes too long",
    "57P01": "its server was stopped",
    "57P02": "its server has crashed",
    "57P03": "its server is starting or stopping",
}


def why(error: BaseException | None) -> str:
    """Return in words why a statement failed."""
    import psycopg

    state = getattr(error, "sqlstate", None)
    if state in WORDS and isinstance(error, psycopg.Error) and (state or isinstance(error, psycopg.OperationalError)):
        return WORDS[state]
    return f"its database reports {type(error).__name__}" + (f" ({state})" if state else "")
