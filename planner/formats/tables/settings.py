"""Settings of readers and writers, given behind a format's name or as options of the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...checks.report import bad_input, quoted
from ...model.errors import BadInput, Code
from ...model.problem import MAX_ADDRESS

NOTHING: Mapping[str, Any] = MappingProxyType({})
AS = ("options", "as")
"""The place of findings about the format in which a plan is to be written, and its settings."""


class Setting(NamedTuple):
    """A setting of a reader: NAME:like=tflm for the format NAME, --like tflm for the command."""

    name: str
    help: str
    words: tuple[str, ...] = ()
    """The allowed words."""
    metavar: str | None = None
    """Stands for any other text. Without this and without words, the setting is present or absent."""
    most: int | None = None
    """The text is one whole number from 1 to this."""
    repeats: bool = False
    """True if any number of texts may be given; the reader is given all of them."""

    def read(self, values: Sequence[str]) -> Any:
        """Return the reader's argument. Raises BadInput, whose sentence goes on after the setting's name."""
        if self.repeats:
            return tuple(values)
        for value in values:
            if self.most is not None:
                self._require_number(value)
            elif self.metavar is None and value not in (self.words or ("",)):
                known = f"be one of {', '.join(self.words)}" if self.words else "have no value"
                raise bad_input(Code.INVALID_OPTION, (), f"must {known}, not {quoted(value)}")
        if len(values) > 1:
            raise bad_input(Code.INVALID_OPTION, (), f"is given {len(values)} times; give it once")
        if self.most is not None:
            return int(values[0])
        return values[0] if self.words or self.metavar else True

    def _require_number(self, text: str) -> None:
        is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(self.most))
        if not is_number or not 1 <= int(text) <= (self.most or 0):
            message = f"must be a whole number from 1 to {self.most}, not {quoted(text)}"
            raise bad_input(Code.INVALID_OPTION, (), message)


ALIGNMENT = Setting(
    "alignment",
    "Of models and dumps of other tools: every address is a multiple of this.",
    metavar="BYTES",
    most=MAX_ADDRESS,
)
"""Read by the format, for all readers."""


def parsed_settings(name: str, settings: Sequence[Setting], text: str) -> Mapping[str, Any]:
    """Return the settings behind a format's name: SETTING,SETTING=VALUE. Raises BadInput if there is no such setting."""
    given: dict[str, list[str]] = {}
    for each in filter(None, text.split(",")):
        key, _, value = each.partition("=")
        given.setdefault(key, []).append(value)
    known = {setting.name: setting for setting in settings}
    for key in given:
        if key not in known:
            has = f"; its settings are {', '.join(known)}" if known else ", nor any other"
            raise bad_input(Code.INVALID_OPTION, (), f"the format {name} has no setting {quoted(key)}{has}")
    read = {}
    for key, values in given.items():
        try:
            read[key] = known[key].read(values)
        except BadInput as error:
            raise bad_input(Code.INVALID_OPTION, (), f"{key} {error.findings[0].message}") from None
    return read


def with_settings(name: str | None, given: Mapping[str, Sequence[str]]) -> str | None:
    """Return the name of a format followed by these settings; without a name, they apply to the recognised format."""
    settings = ",".join(f"{key}={value}" if value else key for key, values in given.items() for value in values)
    return f"{name or ''}{',' if ':' in (name or '') else ':'}{settings}" if given else name
