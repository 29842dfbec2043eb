"""A group of commands of which one need not be named: `memplan bench FILE` is `memplan bench run FILE`."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

DEFAULT = "run"


class DefaultCommand(TyperGroup):
    """Takes what is neither a command nor a request for help as arguments of `run`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)
