"""All output arrives, however little the stream takes at a time; JSON is printable on a terminal and raw elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.cli.terminal.standard_output import escaped, json_ascii
from tests.api.cli.test_bad_input import THREE, written
from tests.running.command import COMMAND
from tests.running.forked import environment

DRIVER = """
import os, sys
from api.cli.terminal.standard_output import write_out
if "--nonblocking" in sys.argv:
    os.set_blocking(1, False)
write_out(bytes(range(256)) * 4000)
"""

PRINTING = (
    "plan {problem}",
    "plan {problem} --map",
    "plan {problem} --report full",
    "inspect {problem} --tables",
    "plan {problem} --unknown --json",
    "solvers",
    "--version",
    "--help",
    "plan -h",
    "bench set --help",
)
"""A command for each way to print: documents, tables, refused arguments, and help."""


@pytest.mark.parametrize("extra", [[], ["--nonblocking"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_every_byte_arrives_in_a_slow_pipe(extra: list[str], unbuffered: str) -> None:
    reading, writing = os.pipe()
    env = environment({"PYTHONUNBUFFERED": unbuffered})
    with subprocess.Popen([sys.executable, "-c", DRIVER, *extra], stdout=writing, env=env) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            assert stream.read() == bytes(range(256)) * 4000
    assert process.returncode == 0


def test_unprintable_characters_are_escaped_and_keep_their_meaning() -> None:
    value = {"naïve 数": ["\u202e\x7f\x9b\u2028", "\U000e0041 😀"], "n": 1}
    document = json.dumps(value, ensure_ascii=False, indent=1)
    text = escaped(document.encode()).decode()
    assert text.replace("\n", "").isprintable()
    assert "naïve 数" in text
    assert json.loads(text) == value


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert escaped(b"\x89PNG\r\n\x1a\n") == b"\\x89PNG\\r\n\\u001a\n"


def test_a_printable_document_stays_unchanged() -> None:
    assert escaped(b'{\n "a": 1\n}\n') == b'{\n "a": 1\n}\n'


@pytest.mark.parametrize("text", ["é", "😀"])
def test_terminals_without_utf8_get_escapes(text: str) -> None:
    assert json.loads(json_ascii(json.dumps(text, ensure_ascii=False))) == text


@contextmanager
def left() -> Iterator[int]:
    """A pipe whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def ended(line: str, folder: Path, output: int) -> tuple[int, bytes]:
    """Run the command; return its exit code and what it says on stderr."""
    words = [word.format(problem=written(folder, THREE)) for word in line.split()]
    done = subprocess.run(
        [*COMMAND, *words], stdout=output, stderr=subprocess.PIPE, env=environment(), check=False, timeout=120
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("line", PRINTING)
def test_whatever_is_printed_ends_quietly_when_its_reader_has_left(line: str, tmp_path: Path) -> None:
    with left() as pipe:
        assert ended(line, tmp_path, pipe) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("line", PRINTING)
def test_whatever_is_printed_on_a_full_disk_ends_with_a_sentence(line: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        code, text = ended(line, tmp_path, full.fileno())
    assert (code, text) == (2, b"error: cannot write to the standard output: no space left on device\n")
