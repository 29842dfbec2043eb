"""A PostgreSQL server for the tests that ask for one."""

from __future__ import annotations

from tests.running.postgresql import postgresql

__all__ = ["postgresql"]
