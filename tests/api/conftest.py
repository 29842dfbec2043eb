"""A PostgreSQL server for whoever wants one."""

from __future__ import annotations

from tests.running.postgresql import postgresql

__all__ = ["postgresql"]
