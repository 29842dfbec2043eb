"""Bytes as people read them: exactly, in groups of three digits, and roughly, in binary units."""

from __future__ import annotations

UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def grouped(number: int) -> str:
    """1048576 as `1 048 576`."""
    return f"{number:,}".replace(",", " ")


def exact(size: int) -> str:
    """1048576 as `1 048 576 B`."""
    return f"{grouped(size)} B"


def rough(size: int) -> str:
    """1048576 as `1.0 MiB`; below 1 KiB the exact figure is short enough."""
    if abs(size) < 1024:
        return exact(size)
    power = min((abs(size).bit_length() - 1) // 10, len(UNITS))
    if power < len(UNITS) and abs(size) / 1024**power >= 1023.95:
        power += 1
    return f"{size / 1024**power:.1f} {UNITS[power - 1]}"


def both(size: int) -> str:
    """1048576 as `1 048 576 B (1.0 MiB)`."""
    return exact(size) if abs(size) < 1024 else f"{exact(size)} ({rough(size)})"


def percent(part: float) -> str:
    """0.031 as `3.1 %`. What is not nothing does not show as 0.0 %."""
    if part and abs(part) < 0.0005:
        return "< 0.05 %"
    return f"{part * 100:.1f} %"
