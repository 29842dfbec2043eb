"""`memplan share`: read a problem, find out which buffers use one storage object after the other, and deliver that."""

from __future__ import annotations

import planner
from planner.formats import write_sharing
from planner.model.problem import Problem
from planner.planning.options.options import Options
from planner.planning.sharing import Sharing

from ...exit_codes import ExitCode
from ...terminal.standard_output import print_document
from .plan import Input, Request, Work, carry_out, say_what_is_wrong


def run(request: Request, options: Options) -> ExitCode:
    """Share, deliver, and say by the exit code how it went."""
    return carry_out(request, options, Work(planner.share, lambda _: True, written, deliver))


def written(_request: Request, _given: Input, sharing: Sharing) -> bytes:
    return write_sharing(sharing)


def deliver(request: Request, problem: Problem, sharing: Sharing) -> None:
    """Print the sharing as JSON or as tables, or, where only its absence matters, as one line."""
    if request.prints_json:
        print_document(write_sharing(sharing))
    if request.prints_tables:
        from ...terminal.tables.sharing import print_sharing

        print_sharing(problem, sharing, written_to=request.target)
    elif not request.as_json:
        say_what_is_wrong(sharing, quiet=request.quiet)
