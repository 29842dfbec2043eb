"""What a command refuses and takes: no empty names of files, and the planner's options, made from the library's own table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from planner.formats.tables.settings import Setting
    from planner.planning.options.options import Declared, Options

MEGABYTE = 1_000_000
INPUT_FORMAT = "input_format"
"""The parameter of every command that reads a problem."""
SETTINGS = "memplan.settings"
"""Where a context keeps the given settings."""
FILES = ("FILE", "PROBLEM", "PLAN", "OLD", "OUT", "PLOT", "C", "MODEL", "BEFORE", "AFTER", "PATH...", "PATTERN...")
FOLDERS = ("DIR", "DIR1", "DIR2", "FOLDER")
"""What help calls files and folders: values that must not be empty."""


class Command(TyperCommand):
    """A command that refuses empty names of files and folders: the system takes them for the current folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        left: list[str] = super().parse_args(ctx, args)
        for param in self.params:
            given = ctx.params.get(param.name)
            if param.metavar in (*FILES, *FOLDERS) and "" in (given if isinstance(given, list | tuple) else [given]):
                what = "folder" if param.metavar in FOLDERS else "file"
                instead = f"name a {what}" if param.required else f"name a {what}, or leave the option out"
                hint = param.opts[0] if param.opts[0].startswith("-") else param.metavar.rstrip(".")
                raise typer.BadParameter(f"the name of the {what} is empty; {instead}", param_hint=hint)
        return left


class PlannerCommand(Command):
    """A command whose help names entries of tables, and which may take options of the planner.

    Tables are loaded when such a command is parsed or explained: importing the planner takes longer than everything else.
    """

    takes: ClassVar[Sequence[str] | None] = ()
    """The library's names of the options; None: all of them."""

    def get_params(self, ctx: Any) -> Any:
        from planner.planning.options.options import DECLARED

        known = {param.name for param in self.params}
        rows = [row for name, row in DECLARED.items() if self.takes is None or name in self.takes]
        self.params += parameters([row for row in rows if row.public_name not in known])
        if INPUT_FORMAT in known and not known & settings().keys():
            self.params += setting_parameters()
        return super().get_params(ctx)

    def invoke(self, ctx: Any) -> Any:
        if SETTINGS in ctx.meta:
            from planner.formats.tables.settings import with_settings

            from .terminal.refusals import refusing

            with refusing(None, as_json=bool(ctx.params.get("as_json"))):
                ctx.params[INPUT_FORMAT] = with_settings(ctx.params[INPUT_FORMAT], ctx.meta[SETTINGS])
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from planner.formats.tables.plans import PLAN_FORMATS
        from planner.formats.tables.problems import converted_to, names
        from planner.generate import KINDS
        from solvers.sharing.solver import SHARERS

        tables = {
            "formats": names(),
            "written": ", ".join(converted_to()),
            "plan_formats": ", ".join(PLAN_FORMATS),
            "kinds": ", ".join(KINDS),
            "sharers": ", ".join(SHARERS),
        }
        self.help = (self.help or "").format(**tables)
        for param in self.params:
            if help_ := getattr(param, "help", None):
                param.help = help_.format(**tables)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


class TakesAll(PlannerCommand):
    """A command that plans."""

    takes = None


class TakesFigures(PlannerCommand):
    """A command that plans only for the figures."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "capacity")


class TakesSharing(PlannerCommand):
    """A command that lets buffers share objects."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "solver", "seed", "capacity", "verbose")


class TakesFrontier(PlannerCommand):
    """A command that chooses among variants."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "solver", "workers", "seed", "capacity", "max_cost")


class TakesLimits(PlannerCommand):
    """A command that plans many times."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "goal")


class TakesMany(PlannerCommand):
    """A command that plans many problems, each with one worker."""

    takes = (
        "time_limit",
        "work_limit",
        "memory_limit_bytes",
        "solver",
        "seed",
        "capacity",
        "goal",
        "prefer",
        "stability",
        "max_cost",
    )


class TakesShapes(PlannerCommand):
    """A command that plans for many shapes."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "solver", "workers", "seed", "capacity", "prefer")


class TakesSweep(PlannerCommand):
    """A command that plans for many capacities, which are its own option."""

    takes = ("time_limit", "work_limit", "memory_limit_bytes", "solver", "seed", "prefer")


class TakesReplacements(PlannerCommand):
    """A command for an existing plan, which may have other capacities or another objective."""

    takes = ("capacity", "prefer", "stability")


def settings() -> dict[str, Setting]:
    """Return the settings of readers, besides the format's name."""
    from planner.formats.tables.problems import FORMATS

    return {setting.name: setting for row in FORMATS.values() for setting in row.settings}


def setting_parameters() -> Any:
    """Return the options of a command that reads a problem, one for each setting of a format. Their values are kept with the context."""

    def keep(name: str, row: Setting) -> Callable[..., None]:
        def kept(context: typer.Context, value: Any) -> None:
            if value:
                given = ("",) if value is True else tuple(value)
                with blaming(f"--{name.replace('_', '-')}"):
                    row.read(given)
                context.meta.setdefault(SETTINGS, {})[name] = given

        return kept

    from .arguments import blaming

    type_: Any
    found = []
    for name, row in settings().items():
        is_flag = not (row.words or row.metavar)
        metavar = row.metavar or f"<{'|'.join(row.words)}>"
        says: dict[str, Any] = {} if is_flag else {"metavar": metavar}
        info = typer.Option(
            f"--{name.replace('_', '-')}", help=row.help, expose_value=False, callback=keep(name, row), **says
        )
        type_, default = (bool, False) if is_flag else (list[str] | None, None)
        kind = Parameter.KEYWORD_ONLY
        found.append(Parameter(name, kind, default=default, annotation=Annotated[type_, info]))
    return made(found)


def made(found: Sequence[Parameter]) -> Any:
    """Return the arguments of a command with these parameters."""

    def command() -> None: ...

    command.__signature__ = Signature(found)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in found}
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    holder.command(add_help_option=False)(command)
    return typer.main.get_command(holder).params


def option_values(context: typer.Context) -> dict[str, Any]:
    """Return the values of the planner's options, by their names in the library."""
    kept: dict[str, Any] = context.meta.setdefault("memplan.options", {})
    return kept


def options(context: typer.Context, **settled: Any) -> Options:
    """Return the given options for the library; `settled` is not an option for users."""
    from planner.planning.options.options import Options

    return Options(**option_values(context) | settled)


def parameters(rows: Iterable[Declared]) -> Any:
    """Return the parameters of a command for these options. Their values are kept with the context."""

    def keep(row: Declared, read: Callable[[Any], Any]) -> Callable[..., None]:
        def kept(context: typer.Context, value: Any) -> None:
            option_values(context)[row.name] = None if value is None else read(value)

        return kept

    found = []
    for row in rows:
        type_, default, read, extra = on_the_command_line(row)
        help_ = f"{row.help} {extra.pop('hint', '')}".rstrip()
        names = (flag_of(row), "-v") if row.name == "verbose" else (flag_of(row),)
        info = typer.Option(*names, help=help_, expose_value=False, callback=keep(row, read), **extra)
        found.append(
            Parameter(row.public_name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[type_, info])
        )
    return made(found)


def on_the_command_line(row: Declared) -> tuple[Any, Any, Callable[[Any], Any], dict[str, Any]]:
    """Return how an option of its kind is typed: type, default, conversion to the library's value, and additions to the help."""
    from planner.planning.options.options import OptionKind

    from .arguments import parse_capacities, parse_seconds

    def as_it_is(value: Any) -> Any:
        return value

    type_: Any
    says: dict[str, Any] = {}
    read: Callable[[Any], Any] = as_it_is
    default = row.default
    match row.kind:
        case OptionKind.SECONDS:
            type_, default = str, f"{row.default:g}"
            read = partial(parse_seconds, option=flag_of(row))
            says = {"metavar": "SECONDS", "hint": "'none': no limit."}
        case OptionKind.COUNT:
            type_, says = int, {"metavar": "N", "min": row.least}
        case OptionKind.BYTES:
            type_, read = int, partial(in_bytes, row)
            says = {"metavar": "MB", "min": 1, "hint": "In 10^6 bytes."}
        case OptionKind.NAME:
            type_, says = str, {"metavar": "NAME"}
        case OptionKind.CHOICE:
            assert row.choices is not None
            type_, read = str, partial(parse_choice, row)
            says = {"metavar": f"<{'|'.join(each.value for each in row.choices)}>"}
        case OptionKind.FLAG:
            type_ = bool
        case OptionKind.SIZES:
            type_, read = list[str], parse_capacities
            says = {"metavar": "[POOL=]BYTES", "hint": "Repeat it for several pools. 64KiB works too."}
    return (type_ if default is not None else type_ | None), default, read, says


def parse_choice(row: Declared, word: str) -> StrEnum:
    """Return the typed choice."""
    from planner.planning.options.options import chosen

    try:
        return chosen(row, word)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=flag_of(row)) from None


def in_bytes(row: Declared, megabytes: int) -> int:
    """Return megabytes as bytes; a refusal quotes what was typed."""
    from planner.planning.options.options import GREATEST

    if megabytes * MEGABYTE >= GREATEST:
        text = f"{megabytes} is too much: it must be {(GREATEST - 1) // MEGABYTE} or less"
        raise typer.BadParameter(text, param_hint=flag_of(row))
    return megabytes * MEGABYTE


def flag_of(row: Declared) -> str:
    """Return the option as typed."""
    return f"--{row.public_name.replace('_', '-')}"
