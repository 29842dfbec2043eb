"""Bad input, reported to people on stderr, one line per finding, or to programs as JSON on stdout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from planner.model.deadline import OutOfTime, time_limit
from planner.model.errors import MAX_FINDINGS, BadAnswer, Code, Finding, NoPlan, PlannerError, PlanWithheld

from ..exit_codes import ExitCode
from .standard_output import print_json
from .text import say, visible

NOT_ABOUT_THE_FILE = (Code.INVALID_OPTION, Code.UNWRITABLE, Code.UNKNOWN_SOLVER, Code.UNSUPPORTED, Code.UNAVAILABLE)
"""Findings about options and outputs; unless they name a place in the file, its name would mislead."""

ARGUMENTS = ("kind",)
"""Options of the library that are arguments on the command line."""


class BadFile(PlannerError):
    """Why a file could not be read that an option names, beside those that the command is about."""

    def __init__(self, option: str, file: str, error: PlannerError) -> None:
        super().__init__(*error.findings, more=error.more)
        self.option, self.file, self.error = option, file, error


@contextmanager
def refusing(source: str | None, *, as_json: bool, answer: str | None = None) -> Iterator[None]:
    """Report a PlannerError from the block as being about `source`, and exit with 2; with another code if the input is not at fault.

    `answer`: the file of the plan that the block holds against the problem in `source`.
    """
    try:
        yield
    except PlannerError as error:
        if isinstance(error, BadFile):
            source = error.file if as_json else f"{error.option}: {error.file}"
        elif answer is not None and isinstance(error, BadAnswer):
            source = answer
        report(error.findings, error.more, source, as_json=as_json)
        raise typer.Exit(_exit_code(error)) from None


def _exit_code(error: PlannerError) -> ExitCode:
    """Return 3 if it is proven that nothing fits, 4 if there is no answer, 2 otherwise."""
    if isinstance(error, BadFile):
        return _exit_code(error.error)
    if isinstance(error, NoPlan) and error.findings[0].code is Code.INFEASIBLE:
        return ExitCode.INFEASIBLE
    return ExitCode.UNKNOWN if isinstance(error, OutOfTime | NoPlan | PlanWithheld) else ExitCode.BAD_INPUT


@contextmanager
def given_up_after(seconds: float | None, *, as_json: bool) -> Iterator[None]:
    """End the block soon after this many seconds, with exit code 4; None: there is no limit."""
    with refusing(None, as_json=as_json), time_limit(seconds):
        yield


def report(findings: tuple[Finding, ...], more: int, source: str | None, *, as_json: bool) -> None:
    """Report what is wrong, at most MAX_FINDINGS findings in full."""
    listed, more = findings[:MAX_FINDINGS], more + len(findings[MAX_FINDINGS:])
    if as_json:
        errors = [
            {
                "code": f.code.value,
                "file": source if _is_about_the_file(f) else None,
                "pointer": f.pointer,
                "message": f.message,
            }
            for f in listed
        ]
        print_json({"errors": errors, "more": more})
        return
    for finding in listed:
        say(f"error: {line(finding, source)}")
    if more:
        say(f"error: and {more} more")


def line(finding: Finding, source: str | None) -> str:
    """`problem.json: /buffers/0/size: must be at least 0 [out_of_range]`"""
    places: tuple[str | None, ...] = (source, finding.pointer)
    if not _is_about_the_file(finding) or (source is None and not _is_in_a_file(finding)):
        places = (option(finding.pointer),)
    shown = [visible(part) for part in (*places, finding.message) if part]
    return f"{': '.join(shown)} [{finding.code.value}]"


def _is_about_the_file(finding: Finding) -> bool:
    """True unless it is about an option, an output or the installation."""
    of_an_option = finding.code in NOT_ABOUT_THE_FILE or (finding.pointer and finding.code is Code.UNREADABLE)
    return _is_in_a_file(finding) or not of_an_option


def _is_in_a_file(finding: Finding) -> bool:
    return bool(finding.pointer) and not finding.pointer.startswith("/options/")


def option(pointer: str) -> str:
    """Return `/options/time_limit` as the command line spells it."""
    name = pointer.removeprefix("/options/").removesuffix("_bytes")
    if name in ARGUMENTS:
        return name.upper()
    return pointer if name == pointer else f"--{name.replace('_', '-')}"
