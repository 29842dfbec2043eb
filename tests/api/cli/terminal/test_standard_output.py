"""All output arrives, however little the stream takes at a time; JSON is printable on a terminal and raw elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from api.cli.terminal.standard_output import escaped, json_ascii
from tests.running.forked import environment

DRIVER = """
import os, sys
from api.cli.terminal.standard_output import write_out
if "--nonblocking" in sys.argv:
    os.set_blocking(1, False)
write_out(bytes(range(256)) * 4000)
"""


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


def test_a_printable_document_stays_unchanged() -> None:
    assert escaped(b'{\n "a": 1\n}\n') == b'{\n "a": 1\n}\n'


@pytest.mark.parametrize("text", ["é", "😀"])
def test_terminals_without_utf8_get_escapes(text: str) -> None:
    assert json.loads(json_ascii(json.dumps(text, ensure_ascii=False))) == text
