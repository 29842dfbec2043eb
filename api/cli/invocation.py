"""One run of the command line: from its arguments to its exit code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Any

import typer

from .app import app
from .exit_codes import ExitCode
from .terminal.standard_output import one_way_out
from .terminal.text import say, tolerate_narrow_encodings, visible


def invoke(arguments: Sequence[str], begun: float | None = None) -> int:
    """Run one command. Usage errors are bad input like any other. Time limits count from `begun` (on time.monotonic(); default: now)."""
    tolerate_narrow_encodings()
    try:
        with one_way_out():
            return _invoke(arguments, time.monotonic() if begun is None else begun)
    except typer.Exit as ended:
        return ended.exit_code


def _invoke(arguments: Sequence[str], begun: float) -> int:
    called = command_called(arguments[0] if arguments else "")
    try:
        # without any argument, show the help
        code = called.main(list(arguments) or ["--help"], prog_name="memplan", standalone_mode=False, obj=begun)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        # Usage errors have no public class of their own in all supported versions of typer, but all have this method.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        if hasattr(error.__cause__, "errors"):
            _in_our_words(error)
        refuse_usage(message(), _command_path(called, arguments), as_json="--json" in arguments)
        return ExitCode.BAD_INPUT
    return code if isinstance(code, int) else ExitCode.OK


def command_called(name: str) -> Any:
    """Return an application with only this command: typer takes as long to examine all others as a small plan takes."""
    return _application(name if any(command.name == name for command in app.registered_commands) else None)


@cache
def _application(name: str | None) -> Any:
    if name is None:
        return typer.main.get_command(app)
    single = copy(app)
    single.registered_commands = [command for command in app.registered_commands if command.name == name]
    single.registered_groups = []
    return typer.main.get_command(single)


def _command_path(called: object, arguments: Sequence[str]) -> str:
    """Return the command in the arguments as typed: for some usage errors the library does not tell it."""
    path = ["memplan"]
    for word in arguments:
        called = getattr(called, "commands", {}).get(word)
        if called is None:
            break
        path.append(word)
    return " ".join(path)


def _in_our_words(error: Exception) -> None:
    """Return our own message: newer versions of typer read options with pydantic, and show its words."""
    from planner.formats.json.sentences import describe_error

    found = error.__cause__.errors()  # type: ignore[union-attr]
    error.message = describe_error(found[0])[2]  # type: ignore[attr-defined]


def refuse_usage(message: str, command_path: str, *, as_json: bool) -> None:
    """Report which argument is wrong, and where to find help."""
    message = " ".join(message.split())
    if as_json:
        from planner.model.errors import Code, Finding

        from .terminal.refusals import report

        report((Finding(Code.INVALID_OPTION, "", message),), 0, None, as_json=True)
        return
    say(f"error: {visible(message)}")
    say(f"try '{command_path} --help'")
