"""All of the output arrives, however little the stream takes at a time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.forked import environment

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
