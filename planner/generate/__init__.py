"""Made-up problems of many kinds and sizes, the same ones for the same seed on every machine."""

from __future__ import annotations

from .kinds import KINDS, Kind, generate, generate_shaped
from .networks.shaped_transformer import shaped_transformer
from .request import Request

__all__ = ["KINDS", "Kind", "Request", "generate", "generate_shaped", "shaped_transformer"]
