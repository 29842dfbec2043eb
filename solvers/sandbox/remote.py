"""A child process as its requester sees it: its messages, its output, how to stop it, and how it died."""

from __future__ import annotations

import codecs
import contextlib
import selectors
import shutil
import socket
import time
from dataclasses import dataclass

from .child import Job, Service, order_of, pack_job
from .frames import Unpacker, pack
from .launcher import Launcher
from .messages import Message
from .parent_death import kill_group
from .reading import Unreadable, decode

BURIAL_SECONDS = 0.1
"""How long to wait for the report that a killed child is dead."""
DEATH_SECONDS = 1.0
"""How long to wait for the reason why a child died by itself: on a busy machine it comes late."""
CHUNK = 1 << 18


@dataclass(slots=True)
class Fate:
    """The fork server's reports on a child."""

    pid: int | None = None
    code: int | None = None
    """Its exit code, negative for a signal, once it is dead."""
    reason: str | None = None
    """Why it could not be started."""
    scratch: str | None = None
    """Its folder for temporary files; the fork server removes it when the child is dead."""

    def note(self, words: bytes) -> None:
        for line in words.decode(errors="replace").splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "pid":
                self.pid = int(rest)
            elif kind == "scratch":
                self.scratch = rest
            elif kind == "exit":
                self.code = int(rest)
            else:
                self.reason = rest


class Remote:
    """One child: a channel for messages, a connection to its fork server, and with a verbose job its output."""

    def __init__(self, launcher: Launcher, family: str | None, job: Job | Service) -> None:
        self.fate = Fate()
        self.fault: str | None = None
        """The first fault in the child's stream."""
        self.lines: list[str] = []
        """Its output that has not been read yet."""
        self._launcher = launcher
        self._unpacker = Unpacker()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished_line = ""
        self._selector = selectors.DefaultSelector()
        self._open: list[socket.socket] = []
        ends: list[socket.socket] = []
        for _ in range(3 if job.verbose else 2):
            ours, theirs = launcher.pair()
            self._open.append(ours)
            ends.append(theirs)
        self._channel, self._line, *outputs = self._open
        self._outputs = outputs
        try:
            launcher.start(family, order_of(job), [end.fileno() for end in ends])
        except BaseException:
            self.close()
            raise
        finally:
            for end in ends:  # otherwise the end of the child would go unnoticed
                end.close()
        self._unsent = memoryview(pack_job(job))
        self._selector.register(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
        for ours in (self._line, *outputs):
            self._selector.register(ours, selectors.EVENT_READ)

    @property
    def is_silent(self) -> bool:
        """True if it will never send anything again."""
        return self.fault is not None or self._channel not in self._selector.get_map()

    def receive(self, seconds: float) -> list[Message]:
        """Return the child's messages within that time, as soon as there are any."""
        messages: list[Message] = []
        for key, events in self._selector.select(seconds):
            if key.fileobj is self._channel:
                if events & selectors.EVENT_WRITE:
                    self._send()
                if events & selectors.EVENT_READ:
                    messages += self._read_channel()
            elif key.fileobj is self._line:
                self.fate.note(self._read(self._line))
            else:
                self._read_output()
        return messages

    def say(self, payload: bytes) -> None:
        """Sends a further payload to the child."""
        self._unsent = memoryview(bytes(self._unsent) + pack(payload))
        if self._channel in self._selector.get_map():
            self._selector.modify(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def ask_to_stop(self) -> bool:
        """Asks the solver to stop. False if it has not received its whole job yet."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)
        return not self._unsent

    def kill(self) -> list[Message]:
        """Kills the child and all that it started. Returns its last messages."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._unsent = memoryview(b"")
        messages: list[Message] = []
        give_up = time.monotonic() + (DEATH_SECONDS if self.is_silent else BURIAL_SECONDS)
        while not (self.is_silent and self._is_buried) and (left := give_up - time.monotonic()) > 0:
            messages += self.receive(left)
        if self.fate.code is None and self.fate.pid is not None:
            kill_group(self.fate.pid)  # its fork server is dead or slow, and nothing else would end what it started
            if self.fate.scratch is not None:
                shutil.rmtree(self.fate.scratch, ignore_errors=True)
        return messages

    def close(self) -> None:
        """Closes all connections. The fork server kills what still runs."""
        self._selector.close()
        for ours in self._open:
            self._launcher.hang_up(ours)

    @property
    def _is_buried(self) -> bool:
        return self.fate.code is not None or self._line not in self._selector.get_map()

    def _send(self) -> None:
        try:
            sent = self._channel.send(self._unsent[:CHUNK])
        except BlockingIOError:
            return
        except OSError:  # it died: reading will report it
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.modify(self._channel, selectors.EVENT_READ)

    def _read_channel(self) -> list[Message]:
        data = self._read(self._channel)
        messages: list[Message] = []
        for payload in self._unpacker.feed(data):
            try:
                messages.append(decode(payload))
            except Unreadable as error:
                self.fault = f"it sent something that is not a message: {error}"
                break
        if self._unpacker.fault is not None:
            self.fault = f"it sent {self._unpacker.fault}"
        return messages

    def _read_output(self) -> None:
        data = self._read(self._outputs[0])
        *lines, self._unfinished_line = (self._unfinished_line + self._decoder.decode(data, final=not data)).split("\n")
        if not data and self._unfinished_line:
            lines.append(self._unfinished_line)
        self.lines += lines

    def _read(self, ours: socket.socket) -> bytes:
        """The bytes that have arrived; always empty after the end of the stream."""
        try:
            data = ours.recv(CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(ours)
        return data
