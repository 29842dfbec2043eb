"""Every setting of the service, in one place: a MEMPLAN_* variable, a line of the settings file, or an option of `memplan serve`."""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from planner.checks.report import ALIKE, nearest
from planner.formats.json.sentences import describe_error
from planner.formats.tables.problems import FORMATS
from solvers.model.registry import names
from solvers.sharing.solver import SHARERS

PREFIX = "MEMPLAN_"
FILE_VARIABLE = f"{PREFIX}SETTINGS"
"""Names the settings file; `memplan serve --settings` sets it."""
OTHER_VARIABLES = ("settings", "kernels", "solvers", "cbc", "traceback")
"""Other environment variables of memplan, after PREFIX."""
MISSPELT = 0.8
"""The similarity of names (by difflib) from which a misspelling is certain."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
HASH = re.compile(r"[0-9a-f]{64}")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
MIB = 1 << 20

Names = Annotated[tuple[str, ...], NoDecode]
"""In a variable: separated by commas."""
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class WrongSettings(Exception):
    """The service cannot start like this; tells which setting is wrong, and why."""


class Settings(BaseSettings):
    """What the service may do, and how much of it."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, validate_default=True)

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on; 0: any that is free.")
    data_dir: Path = Field(
        default=Path("memplan-data"), description="Folder of the embedded store and of the lock file."
    )
    store_url: str | None = Field(
        default=None,
        description="Where jobs and plans are kept, as an SQLAlchemy URL; by default an SQLite file in `data_dir`. "
        "With `postgresql://…` several services share it, and `memplan worker` processes carry the jobs out.",
    )
    workers: Count | None = Field(
        default=None,
        description="Solver processes; by default one for each core that the machine or container allows, but two at least: one is left to what is short. "
        "With `1` the second one is started once something short would wait for something long.",
    )
    cluster: str | None = Field(
        default=None,
        description="A Dask cluster that carries out batches: its scheduler's address (`tcp://…:8786`) or scheduler file. All else stays with the solver processes.",
    )
    readers: Count = Field(
        default=2,
        description="Processes that read, check and verify what was sent. With `1` a second one is started likewise.",
    )

    tokens: Annotated[dict[str, str], NoDecode] = Field(
        default={},
        description="Who may use the service: `name=hash` pairs, the hash being the SHA-256 of the token in hexadecimal. "
        "`memplan serve --new-token NAME` makes one. Empty: anybody, but only from this machine.",
    )
    metrics_tokens: Names = Field(
        default=(),
        description="Names of the tokens that may see `/metrics`, whose figures are of everybody's jobs together. Empty: the one token that there is, and with several none.",
    )
    anonymous: bool = Field(
        default=False, description="Serve anybody, without tokens, on other addresses than loopback too."
    )
    allowed_hosts: Names = Field(
        default=(),
        description="Host names that requests may be addressed to, besides loopback's and `host`; `*` allows all.",
    )
    allowed_origins: Names = Field(
        default=(), description="Origins of web pages, besides our own, that may send requests and read the answers."
    )

    sync_seconds: Seconds = Field(
        default=10.0, description="How long a request waits for its plan before it becomes a job."
    )
    default_time_limit: Seconds = Field(
        default=10.0, description="Time limit of a plan that asks for none, in seconds."
    )
    max_time_limit: Seconds = Field(default=3600.0, description="Longer time limits are clipped to this.")
    max_work_limit: Count = Field(default=10**12, description="Greater work limits are clipped to this.")
    memory: Count | None = Field(
        default=None,
        description="Bytes of memory for the service and all its processes together; by default seven eighths of what the machine or the container has.",
    )
    service_memory: Count = Field(
        default=1024 * MIB,
        description="Of these, for the service's own process at most; before it has so much, requests are refused for a while.",
    )
    worker_memory: Count = Field(
        default=8192 * MIB, description="For each process that reads or solves, at most; less where there is less."
    )
    max_solver_memory: Count = Field(
        default=2048 * MIB,
        description="For each of a worker's solvers, at most; less where there is less. What a request asks for is clipped to this.",
    )
    max_workers_per_job: Count = Field(
        default=1, description="Processor threads for one plan; more is clipped to this."
    )
    max_explain_seconds: Seconds = Field(default=60.0, description="Time limit of plans that are to be explained.")
    max_body_bytes: Count = Field(
        default=64 * MIB, description="Greater request bodies are refused before they are read."
    )
    max_bodies_bytes: Count = Field(
        default=256 * MIB,
        description="Bytes of all request bodies and large answers that are in memory at a time; beyond that, requests are refused.",
    )
    body_seconds: Seconds = Field(
        default=30.0, description="A request whose head or body takes longer to arrive is given up."
    )
    send_seconds: Seconds = Field(
        default=30.0, description="A client that takes nearly nothing of its answer for so long is cut off."
    )
    max_connections: Count = Field(
        default=1000,
        description="Lines that are open at a time; a new one then takes the place of one on which nothing happens. "
        "Fewer where there are too few descriptors.",
    )
    max_buffers: Count = Field(default=1_000_000, description="Problems with more buffers are refused.")
    max_queue: Count = Field(default=10_000, description="With so many jobs waiting, new ones are refused for a while.")
    max_jobs_per_token: Count = Field(
        default=10_000,
        description="With so many unfinished jobs of one token, its new ones are refused for a while. "
        "A plan that is being made already becomes a job even then. With several tokens, at most half of `max_queue`.",
    )
    max_batch: Count = Field(default=20_000, description="Problems in one batch.")
    max_streams: Count = Field(
        default=100, description="Event streams that are open at a time; answers to batches are such, too."
    )
    max_streams_per_token: Count = Field(
        default=50, description="The same, of one token. With several, at most half of `max_streams`."
    )
    formats: Names = Field(default=tuple(FORMATS), description="Input formats that are read.")
    allowed_solvers: Names = Field(
        default=(), description="Solvers that may be asked for by name, besides `auto`. Empty: all there are."
    )

    retention_days: Seconds = Field(default=7.0, description="How long finished jobs and stored plans are kept.")
    max_store_bytes: Count = Field(
        default=4096 * MIB,
        description="Above this, the oldest stored plans and finished jobs are removed before their time. "
        "What is noted of jobs counts, too.",
    )
    stalled_seconds: Seconds = Field(
        default=30.0, description="A worker of which nothing was heard for so long is taken for dead: others take over."
    )
    metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port for `/metrics` alone, without tokens, on `host`; by default the service answers it on `port`, and a worker not at all.",
    )
    ready_seconds: Seconds = Field(default=5.0, description="How long an answer of `/readyz` is used again.")
    shutdown_seconds: Seconds = Field(
        default=5.0,
        description="How long open requests may take to end when the service stops, and jobs to be put back when a worker does.",
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="How the log is written, on stderr: JSON for programs, text for people, or as stderr is a terminal or not.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that is logged."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the order of sources: options of the command, then variables, then the file."""
        file = os.environ.get(FILE_VARIABLE)
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings)
        return sources if not file else (*sources, TomlConfigSettingsSource(settings_cls, Path(file)))

    @field_validator("data_dir", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if value == "":
            raise ValueError("is empty, and would be the current folder; leave it out, or say .")
        return value

    @field_validator("metrics_tokens", "allowed_hosts", "allowed_origins", "formats", "allowed_solvers", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("tokens", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
        if len({name for name, _, _ in pairs}) < len(pairs):
            raise ValueError("a name is given twice")
        return {name: digest for name, _, digest in pairs}

    @field_validator("tokens")
    @classmethod
    def _hashes(cls, value: dict[str, str]) -> dict[str, str]:
        for name, digest in value.items():
            if not name or not HASH.fullmatch(digest):
                which = repr(name[:40]) if digest else "each"  # alone it may be a token, which no log should show
                raise ValueError(f"{which} needs a name and 64 hexadecimal digits, as in name=0123…")
        return value

    @field_validator("formats")
    @classmethod
    def _readable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known_names(value, tuple(FORMATS), "format")

    @field_validator("allowed_solvers")
    @classmethod
    def _registered(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known_names(value, tuple(dict.fromkeys((*names(), *SHARERS))), "solver")

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [origin for origin in value if not ORIGIN.fullmatch(origin)]
        if wrong:
            raise ValueError(f"{wrong[0][:40]!r} is no origin, as https://pages.example.org is")
        return value

    @model_validator(mode="after")
    def _limits_agree(self) -> Settings:
        if self.default_time_limit > self.max_time_limit:
            raise ValueError("default_time_limit is greater than max_time_limit")
        unknown = [name for name in self.metrics_tokens if name not in self.tokens]
        if unknown:
            raise ValueError(f"metrics_tokens: there is no token {unknown[0][:40]!r}")
        return self

    @property
    def jobs_per_token(self) -> int:
        """How many unfinished jobs one token may have."""
        return self._of_one_token(self.max_jobs_per_token, self.max_queue)

    @property
    def streams_per_token(self) -> int:
        """How many event streams of one token may be open."""
        return self._of_one_token(self.max_streams_per_token, self.max_streams)

    def _of_one_token(self, most: int, of_all: int) -> int:
        """Return the limit of one of several tokens, which leaves others something of the limit of all."""
        return min(most, max(of_all // 2, 1)) if self.has_several_tokens else most

    @property
    def has_several_tokens(self) -> bool:
        return len(self.tokens) > 1

    def may_see_metrics(self, owner: str) -> bool:
        """True if this owner may see figures of everybody's jobs."""
        if not self.tokens:
            return True
        return owner in (self.metrics_tokens or (self.tokens if len(self.tokens) == 1 else ()))

    @property
    def is_open(self) -> bool:
        """True if requests may come from other addresses than loopback's."""
        return bool(self.tokens) or self.anonymous

    def require_safe_host(self) -> None:
        """Raise WrongSettings if anybody on the network could use the service without having been admitted on purpose."""
        if not self.is_open and not is_loopback(self.host):
            raise WrongSettings(
                f"host {self.host!r} can be reached from other machines, and no tokens are set: set {PREFIX}TOKENS, "
                f"or {PREFIX}ANONYMOUS=1 to serve anybody"
            )


def _known_names(value: tuple[str, ...], known: tuple[str, ...], what: str) -> tuple[str, ...]:
    unknown = [name for name in value if name not in known]
    if unknown:
        raise ValueError(f"there is no {what} {unknown[0][:40]!r}; known are {', '.join(known)}")
    return value


def is_loopback(host: str) -> bool:
    """True if the name or address means only this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_settings(**given: Any) -> Settings:
    """Return the settings from all sources; those given here have precedence. Raises WrongSettings."""
    file = os.environ.get(FILE_VARIABLE)
    if file and not os.path.isfile(file):  # noqa: PTH113 - of a name that is too long, Path says so with an error
        raise WrongSettings(f"there is no settings file {file[:200]!r}")
    for name in _unknown_variables():
        if _nearest(name, MISSPELT):
            raise WrongSettings(_unknown(name, of_environment=True))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise WrongSettings("; ".join(_sentence(each) for each in error.errors(include_url=False))) from None
    except (ValueError, OSError, RecursionError) as error:  # the file is not TOML, or not readable
        raise WrongSettings(f"the settings file {file!r} cannot be read: {error}") from None


def unknown_variables() -> list[str]:
    """Return messages about environment variables that look like settings but are none."""
    return [_unknown(name, of_environment=True) for name in _unknown_variables()]


def _unknown_variables() -> list[str]:
    known = {*OTHER_VARIABLES, *Settings.model_fields}
    ours = [name.lower().removeprefix(PREFIX.lower()) for name in sorted(os.environ) if name.upper().startswith(PREFIX)]
    return [name for name in ours if name not in known]


def _unknown(name: str, *, of_environment: bool = False) -> str:
    """`there is no setting MEMPLAN_WORKER; is it MEMPLAN_WORKERS?`"""
    nearest = _nearest(name, ALIKE)
    shown, meant = (
        PREFIX + each.upper() if of_environment and each is not None else each for each in (name[:80], nearest)
    )
    return f"there is no setting {shown}" + (f"; is it {meant}?" if meant else "")


def _nearest(name: str, alike: float) -> str | None:
    return nearest(name, [*Settings.model_fields, "settings"], alike)


def _sentence(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"])).removeprefix(PREFIX).lower() or "settings"
    if error["type"] == "extra_forbidden":
        return _unknown(place)
    return f"{place}: {describe_error(error)[2]}"
