"""What readers and writers can be told besides the bytes: settings, said behind a format's name or as options of the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...checks.report import bad_input, quoted
from ...model.errors import Code

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Setting(NamedTuple):
    """What a reader can be told besides the bytes: NAME:like=tflm for the format NAME, --like tflm for the command."""

    name: str
    help: str
    words: tuple[str, ...] = ()
    """Those it may be."""
    metavar: str | None = None
    """What stands for any other text; then it may be said several times. Without this and without words it is there or not."""

    def read(self, values: Sequence[str]) -> Any:
        """What the reader is handed. Raises BadInput."""
        if self.metavar is not None:
            return tuple(values)
        for value in values:
            if value not in (self.words or ("",)):
                known = f"be one of {', '.join(self.words)}" if self.words else "have no value"
                raise bad_input(Code.INVALID_OPTION, (), f"{self.name} must {known}, not {quoted(value)}")
        if len(values) > 1:
            raise bad_input(Code.INVALID_OPTION, (), f"{self.name} is given {len(values)} times")
        return values[0] if self.words else True


def with_told(name: str, settings: Sequence[Setting], said: str) -> Mapping[str, Any]:
    """What is said behind a format's name: SETTING,SETTING=VALUE. Raises BadInput if there is no such setting."""
    given: dict[str, list[str]] = {}
    for each in filter(None, said.split(",")):
        key, _, value = each.partition("=")
        given.setdefault(key, []).append(value)
    known = {setting.name: setting for setting in settings}
    for key in given:
        if key not in known:
            has = f"; its settings are {', '.join(known)}" if known else ", nor any other"
            raise bad_input(Code.INVALID_OPTION, (), f"the format {name} has no setting {quoted(key)}{has}")
    return {key: known[key].read(values) for key, values in given.items()}


def with_settings(name: str | None, said: Mapping[str, Sequence[str]]) -> str | None:
    """The name of a format with these settings behind it; without a name, of the one that will be recognised."""
    settings = ",".join(f"{key}={value}" if value else key for key, values in said.items() for value in values)
    return f"{name or ''}{',' if ':' in (name or '') else ':'}{settings}" if said else name
