"""Made-up problems of many kinds and sizes, the same ones for the same seed on every machine."""

from __future__ import annotations

from .kinds import KINDS, Kind, generate
from .request import Request
from .shaped_transformer import shaped_transformer

__all__ = ["KINDS", "Kind", "Request", "generate", "shaped_transformer"]
