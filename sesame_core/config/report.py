"""Explains the configuration to the user: effective values, their origins, and problems.

It never shows a secret: see `masked`.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import SesameError
from ..plugin.shared import SharedBackend
from . import identity, paths
from .model import DEFAULT, Config, Selection, Source
from .sources import located, resolve_sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..plugin.manager import PluginManager

MASK = "***"

_SECRET_KEY = re.compile(r"dsn|pass|pwd|token|secret|key|credential|auth", re.IGNORECASE)
# Greedy up to the last @, because people forget to escape one in a password.
_URL_PASSWORD = re.compile(r"(://[^\s:/@]*:)\S*(?=@)")
_ASSIGNED_SECRET = re.compile(
    r"""((?:pass(?:word|wd|phrase)?|pwd|token|secret|key)\s*=\s*)('[^']*'|"[^"]*"|[^\s&;,'")]+)""",
    re.IGNORECASE,
)


class ValueJson(TypedDict):
    """A setting, and where its value comes from."""

    value: Any
    origin: str


class ConfigFileJson(TypedDict):
    """The configuration file."""

    value: str
    origin: str
    exists: bool


class SelectionJson(TypedDict):
    """A plugin and its options, without their secrets."""

    name: str
    options: dict[str, Any]


class BackendJson(SelectionJson):
    """The backend."""

    origin: str


class ConfigSourceJson(TypedDict):
    """A source of sessions."""

    parser: SelectionJson
    path: str | None
    exists: bool
    formatter: SelectionJson
    exclude: list[str]
    origin: str


class RedactionJson(TypedDict):
    """What is masked in the index."""

    #: None when the backend cannot be used, on which the default depends.
    value: bool | None
    answers: bool
    patterns: dict[str, str]
    keep: list[str]


class RedactJson(RedactionJson):
    """What is masked, and where that is written."""

    origin: str


class DescribeJson(TypedDict):
    """When a model describes sessions."""

    automatic: bool
    minNewUserMessages: int
    shareMarks: bool
    directory: str
    origin: str


class ConfigJson(TypedDict):
    """The effective configuration: `sesame config`."""

    dataDir: ValueJson
    configFile: ConfigFileJson
    workstation: ValueJson
    sources: list[ConfigSourceJson]
    backend: BackendJson
    redact: RedactJson
    share: ValueJson
    refreshSeconds: ValueJson
    lockSeconds: ValueJson
    indexWorkers: ValueJson
    models: ValueJson
    describe: DescribeJson
    problems: list[str]


def describe(config: Config, plugins: PluginManager) -> ConfigJson:
    """Return the effective configuration, JSON-serialisable, each value with its origin, and the problems.

    Keys are those of config.jsonc if it has one; secrets are masked.  An invalid setting is shown as written.
    """
    try:
        sources = resolve_sources(config, plugins)
    except SesameError:
        sources = config.sources  # `check` reports why
    file = config.file or paths.config_file()
    return {
        "dataDir": {"value": str(paths.data_dir()), "origin": paths.origin("data")},
        "configFile": {
            "value": str(file),
            "origin": paths.origin("config") if file == paths.config_file() else "given",
            "exists": config.file is not None,
        },
        "workstation": _describe_workstation(),
        "sources": [_describe_source(source) for source in sources],
        "backend": {**_describe_selection(config.backend), "origin": _origin(config, "backend")},
        "redact": {**_describe_redaction(config, plugins), "origin": _origin(config, "redact")},
        "share": {"value": config.share, "origin": _origin(config, "share")},
        "refreshSeconds": {"value": config.refresh_seconds, "origin": _origin(config, "refreshSeconds")},
        "lockSeconds": {"value": config.lock_seconds, "origin": _origin(config, "lockSeconds")},
        "indexWorkers": {"value": config.index_workers, "origin": _origin(config, "indexWorkers")},
        "models": {"value": [model.name for model in config.models], "origin": _origin(config, "models")},
        "describe": {
            "automatic": config.describe.is_automatic,
            "minNewUserMessages": config.describe.min_new_user_messages,
            "shareMarks": config.describe.shares_marks,
            "directory": str(config.describe.directory),
            "origin": _origin(config, "describe"),
        },
        "problems": check(config, plugins),
    }


def check(config: Config, plugins: PluginManager) -> list[str]:
    """Return the problems of the configuration, one line each: plugins, their options, missing paths."""
    return [masked(problem) for problem in dict.fromkeys(_problems(config, plugins))]


def masked(value: Any) -> Any:
    """Return a copy of a value without its secrets.

    It masks the value of a key that sounds secret, and passwords in URLs and after `password=`.
    """
    if isinstance(value, Mapping):
        return {
            key: MASK if _SECRET_KEY.search(str(key)) and _can_be_secret(inner) else masked(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    if isinstance(value, str):
        return _ASSIGNED_SECRET.sub(rf"\g<1>{MASK}", _URL_PASSWORD.sub(rf"\g<1>{MASK}", value))
    return value


def _problems(config: Config, plugins: PluginManager) -> Iterator[str]:
    for source in config.sources:
        parser, formatter = source.parser, source.formatter
        yield from _failure(source.origin, plugins.parser, parser.name, parser.options)
        yield from _failure(source.origin, located, source, plugins)
        yield from _failure(source.origin, plugins.formatter, formatter.name, formatter.options)
        if source.path is not None and not os.path.exists(source.path):
            yield f"{source.origin}: {source.path} does not exist"
    place = f"{_origin(config, 'backend')}: backend"
    yield from _failure(place, plugins.backend, config.backend.name, config.backend.options)
    if config.describe.is_automatic and not config.models:
        yield f'{_origin(config, "describe")}: describe.automatic: needs a model in "models"'
    yield from _failure("environment", identity.workstation_id)


def _failure(place: str, act: Callable[..., object], *arguments: object) -> Iterator[str]:
    try:
        act(*arguments)
    except SesameError as error:
        yield f"{place}: {error}"


def _describe_source(source: Source) -> ConfigSourceJson:
    return {
        "parser": _describe_selection(source.parser),
        "path": None if source.path is None else str(source.path),
        "exists": os.path.exists(source.path or ""),
        "formatter": _describe_selection(source.formatter),
        "exclude": list(source.exclude),
        "origin": source.origin,
    }


def _describe_selection(selection: Selection) -> SelectionJson:
    return {"name": selection.name, "options": masked(selection.options)}


def _describe_redaction(config: Config, plugins: PluginManager) -> RedactionJson:
    redaction, is_on = config.redaction, config.redaction.enabled
    if is_on is None:
        with contextlib.suppress(SesameError):  # `check` says why
            is_on = isinstance(plugins.backend(config.backend.name, config.backend.options), SharedBackend)
    return {
        "value": is_on,
        "answers": redaction.answers,
        "patterns": dict(redaction.patterns),
        "keep": list(redaction.keep),
    }


def _describe_workstation() -> ValueJson:
    try:
        value = identity.workstation_id()
    except SesameError:
        value = None  # `check` reports why
    return {"value": value, "origin": identity.origin()}


def _origin(config: Config, key: str) -> str:
    return config.origins.get(key, DEFAULT)


def _can_be_secret(value: Any) -> bool:
    return value is not None and not isinstance(value, bool) and value != ""
