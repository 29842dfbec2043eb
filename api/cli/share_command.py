"""`memplan share`: read a problem, find out which buffers use one storage object after the other, and deliver that."""

from __future__ import annotations

from dataclasses import replace

import planner
from planner.formats import write_sharing
from planner.options import Options
from planner.problem import Problem
from planner.sharing import Sharing
from solvers.errors import StopReason

from .exit_codes import ExitCode
from .interrupt import Interrupt
from .json_output import print_document
from .plan_command import EXIT_CODES, Request, checked_output, log, progress, read_input, say_what_is_wrong
from .reading import shown_name
from .refusals import refusing


def run(request: Request, options: Options) -> ExitCode:
    """Share, deliver, and say by the exit code how it went."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        output = checked_output(request)
        problem, warnings, begun = read_input(request)
        # From here to the last byte written, Ctrl-C must not cost the best sharing.
        with Interrupt() as interrupt:
            with progress(request, options, interrupt, in_bytes=True) as show:
                sharing = planner.share(
                    problem,
                    options,
                    on_progress=show,
                    cancelled=interrupt.requested,
                    on_log=log if request.verbose else None,
                    begun=begun,
                )
            sharing = replace(sharing, warnings=(*warnings, *sharing.warnings))
            if output is not None:
                output.write(write_sharing(sharing))
            deliver(request, problem, sharing)
    return ExitCode.INTERRUPTED if sharing.stop is StopReason.CANCELLED else EXIT_CODES[sharing.status]


def deliver(request: Request, problem: Problem, sharing: Sharing) -> None:
    """Print the sharing as JSON or as tables, or, where only its absence matters, as one line."""
    if request.prints_json:
        print_document(write_sharing(sharing))
    if request.prints_tables:
        from .share_report import print_sharing

        print_sharing(problem, sharing, written_to=request.target)
    elif not request.as_json:
        say_what_is_wrong(sharing, quiet=request.quiet)
