"""Packets on a stream of bytes, each with its length and a checksum, so that garbage is noticed before it is read."""

from __future__ import annotations

import struct
import zlib

HEADER = struct.Struct("!4sQI")
MAGIC = b"mpf1"
LARGEST = 1 << 34


def pack(payload: bytes) -> bytes:
    """A payload as one frame."""
    return HEADER.pack(MAGIC, len(payload), zlib.crc32(payload)) + payload


class Unpacker:
    """Cuts a stream of bytes into payloads, however the bytes arrive."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.fault: str | None = None
        """The stream's first fault, if any. Nothing after it is read; earlier payloads still count."""

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that are complete after these bytes."""
        self._buffer += data
        payloads: list[bytes] = []
        while self.fault is None and len(self._buffer) >= HEADER.size:
            magic, length, checksum = HEADER.unpack_from(self._buffer)
            if magic != MAGIC or length > LARGEST:
                self.fault = "bytes that are no frame"
                break
            end = HEADER.size + length
            if len(self._buffer) < end:
                break
            payload = bytes(self._buffer[HEADER.size : end])
            if zlib.crc32(payload) != checksum:
                self.fault = "a frame with a wrong checksum"
                break
            payloads.append(payload)
            del self._buffer[:end]
        return payloads
