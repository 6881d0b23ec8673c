"""Reads and writes config.jsonc: JSON with comments and trailing commas (JSON5).

Whatever cannot be understood is an error that names the file, the place and the nearest name that would be
right; nothing is skipped silently.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from . import paths
from .config import LEVELS, Config, Describing, ModelChoice, Redaction, Selection, Source
from .errors import ConfigError
from .exclusion import can_match
from .options import hint

#: The keys of config.jsonc, of one entry of its "sources", of a plugin that is given options, of a model, and of
#: "redact" and "describe".
KEYS = ("sources", "backend", "redact", "share", "refreshSeconds", "models", "describe")
SOURCE_KEYS = ("parser", "path", "formatter", "exclude", "options")
SELECTION_KEYS = ("name", "options")
REDACTION_KEYS = ("enabled", "patterns", "keep")
MODEL_KEYS = ("name", "command", "seconds", "inputPrice", "outputPrice")
DESCRIBE_KEYS = ("automatic", "minNewUserMessages", "directory")

_SYNTAX_ERROR = re.compile(r"<string>:(\d+) (.*) at column (\d+)", re.DOTALL)
_ONLY_COMMENTS = re.compile(r"(?>\s|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_KIND = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_TYPES = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}

_TEMPLATE = """\
// Sesame's configuration.  Everything in it is optional.  A setting that is commented out shows its
// default or an example; delete the slashes to use it.  Comments and trailing commas are allowed.
{
  // What to index.  Without "sources", Sesame indexes every agent whose sessions it finds.
  // "sources": [
  //   // "path" is a directory or a file, or a list of them.  Leave it out for the agent's own place.
  //   {"parser": "pi", "path": "~/.pi/agent/sessions"},
  //   // "exclude" leaves out sessions by project directory or file.
  //   {"parser": "claude-code", "exclude": ["~/private", "scratch-*"]},
  //   // "formatter" cuts messages into chunks; "options" are the parser's own settings.
  //   {"parser": "pi", "path": ["~/backup/pi"], "formatter": "default", "options": {}},
  // ],

  // Where the index is kept: a backend's name, or {"name": "…", "options": {…}}.
  // "backend": "sqlite",

  // Whether passwords, tokens and keys are masked in the index.  Default: where others can read it.
  // "redact": {"enabled": true, "patterns": {"ticket": "ACME-[0-9]{8}"}, "keep": ["AKIA[A-Z]*EXAMPLE"]},

  // What others see of a session in an index that they can read: "shared", "metadata" or "private".
  // `sesame share` says it for single projects.
  // "share": "shared",

  // How long a search may take to index what has changed, in seconds.  0: not at all.
  // "refreshSeconds": 0.3,

  // Language models that `sesame ask` and `sesame describe` may send text to, in the order they are tried: names of
  // the llm library, programs, or "agent" for the model that the agent itself talks to, in pi.
  // "models": ["gpt-4o-mini", "agent", {"name": "claude", "command": ["claude", "-p"]}],

  // Names, summaries and tags that a model writes about sessions.  "automatic" lets `sesame describe --due` do so when
  // a session has that many new prompts.
  // "describe": {"automatic": false, "minNewUserMessages": 5},
}
"""


def read(file: Path) -> Config:
    """Return what a file says, with defaults for what it does not.

    :raises ConfigError: it cannot be read, is not JSON5, or holds something that means nothing.
    """
    value = _parse(file, _text(file))
    reader = _Reader(file)
    settings = reader.settings(value, "", KEYS)
    origins = dict.fromkeys(settings, file.name)
    config: dict[str, Any] = {}
    if "sources" in settings:
        config["sources"] = tuple(reader.sources(settings["sources"]))
    if "backend" in settings:
        config["backend"] = reader.selection(settings["backend"], "backend")
    if "redact" in settings:
        config["redaction"] = reader.redaction(settings["redact"], "redact")
    if "share" in settings:
        config["share"] = reader.level(settings["share"], "share")
    if "refreshSeconds" in settings:
        config["refresh_seconds"] = reader.seconds(settings["refreshSeconds"], "refreshSeconds")
    if "models" in settings:
        config["models"] = tuple(reader.models(settings["models"]))
    if "describe" in settings:
        config["describe"] = reader.describing(settings["describe"])
    return Config(file=file, origins=origins, **config)


def template() -> str:
    """Return the commented file that `sesame config --init` writes; it changes nothing until edited."""
    return _TEMPLATE


def initialise(file: Path | None = None) -> Path:
    """Write the commented file, readable by the user alone (a DSN may follow), and return its path.

    :param file: where to; None for the user's config.jsonc.
    :raises ConfigError: there is one already, or it cannot be written.
    """
    file = file or paths.config_file()
    if os.path.lexists(file):
        raise ConfigError(f"{file}: exists already and is left as it is")
    try:
        paths.write_private(file, template())
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written: {error.strerror or error}") from error
    return file


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8: {error.reason} at byte {error.start}") from error


def _parse(file: Path, text: str) -> Any:
    if _ONLY_COMMENTS.fullmatch(text):
        return {}
    # Plain JSON is JSON5 too, and its decoder is loaded in a tenth of the time.
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    import json5

    try:
        return json5.loads(text, allow_duplicate_keys=False)
    except RecursionError as error:
        raise ConfigError(f"{file}: is nested too deeply") from error
    except ValueError as error:
        message = str(error)
        if found := _SYNTAX_ERROR.fullmatch(message):
            line, message, column = found.groups()
            raise ConfigError(f"{file}:{line}:{column}: {_lower(message)}") from error
        raise ConfigError(f"{file}: {_lower(message)}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is left to JSON5")


class _Reader:
    """Turns the decoded values of one file into configuration, or says what is wrong with which key."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def sources(self, value: Any) -> Iterator[Source]:
        entries = self._typed(value, "sources", list, "a list of sources")
        if not entries:
            self._fail("sources", "names no source; leave it out to index every agent that is found")
        for number, entry in enumerate(entries):
            yield from self._source(entry, f"sources[{number}]")

    def _source(self, value: Any, key: str) -> Iterator[Source]:
        settings = self.settings(value, key, SOURCE_KEYS)
        if "parser" not in settings:
            self._fail(key, 'lacks "parser", the name of the plugin that reads it')
        parser = self.selection(settings["parser"], f"{key}.parser")
        if "options" in settings:
            if isinstance(settings["parser"], dict) and "options" in settings["parser"]:
                self._fail(f"{key}.options", 'the options are given twice, here and in "parser"')
            options = self._typed(settings["options"], f"{key}.options", dict, "an object")
            parser = Selection(name=parser.name, options=options)
        chosen: dict[str, Any] = {}
        if "formatter" in settings:
            chosen["formatter"] = self.selection(settings["formatter"], f"{key}.formatter")
        if "exclude" in settings:
            chosen["exclude"] = tuple(self._patterns(settings["exclude"], f"{key}.exclude"))
        for path in self._paths(settings["path"], f"{key}.path") if "path" in settings else [None]:
            yield Source(parser=parser, path=path, origin=f"{self._file.name}: {key}", **chosen)

    def selection(self, value: Any, key: str) -> Selection:
        """Read a plugin's name, or an object of a name and options."""
        if isinstance(value, str):
            return Selection(name=self._string(value, key))
        if not isinstance(value, dict):
            self._fail(key, f'must be a name or {{"name": …, "options": …}}, not {_kind(value)}')
        settings = self.settings(value, key, SELECTION_KEYS)
        if "name" not in settings:
            self._fail(key, 'lacks "name"')
        options = self._typed(settings.get("options", {}), f"{key}.options", dict, "an object")
        return Selection(name=self._string(settings["name"], f"{key}.name"), options=options)

    def models(self, value: Any) -> Iterator[ModelChoice]:
        """Read the models: each a name, or an object with it."""
        for number, entry in enumerate(self._typed(value, "models", list, "a list of models")):
            key = f"models[{number}]"
            if isinstance(entry, str):
                yield ModelChoice(name=self._string(entry, key))
                continue
            settings = self.settings(entry, key, MODEL_KEYS)
            if "name" not in settings:
                self._fail(key, 'lacks "name", what the model is called')
            chosen: dict[str, Any] = {"name": self._string(settings["name"], f"{key}.name")}
            if "command" in settings:
                chosen["command"] = self._command(settings["command"], f"{key}.command")
            if "seconds" in settings:
                chosen["seconds"] = self.seconds(settings["seconds"], f"{key}.seconds")
            for name, field in (("inputPrice", "input_price"), ("outputPrice", "output_price")):
                if name in settings:
                    chosen[field] = self._number(settings[name], f"{key}.{name}", "dollars")
            yield ModelChoice(**chosen)

    def _command(self, value: Any, key: str) -> tuple[str, ...]:
        """Read a program and its arguments, which may be empty."""
        words = self._typed(value, key, list, "a list: a program and its arguments")
        if not words or not words[0]:
            self._fail(key, "names no program")
        return tuple(self._typed(word, f"{key}[{number}]", str, "a string") for number, word in enumerate(words))

    def redaction(self, value: Any, key: str) -> Redaction:
        """Read `true`, `false`, or an object."""
        if isinstance(value, bool):
            return Redaction(enabled=value)
        if not isinstance(value, dict):
            self._fail(key, f"must be true, false or an object, not {_kind(value)}")
        settings = self.settings(value, key, REDACTION_KEYS)
        enabled = settings.get("enabled")
        if "enabled" in settings:
            self._typed(enabled, f"{key}.enabled", bool, "true or false")
        patterns = self._typed(settings.get("patterns", {}), f"{key}.patterns", dict, "an object of names and patterns")
        for name in patterns:
            if not _KIND.fullmatch(name):
                self._fail(f"{key}.patterns", f"{name!r} is no name: small letters, digits and dashes, please")
        keep = self._typed(settings.get("keep", []), f"{key}.keep", list, "a list of patterns")
        return Redaction(
            enabled=enabled,
            patterns=tuple((name, self._regex(text, f"{key}.patterns.{name}")) for name, text in patterns.items()),
            keep=tuple(self._regex(text, f"{key}.keep[{number}]") for number, text in enumerate(keep)),
        )

    def level(self, value: Any, key: str) -> str:
        """Read what others may see of a session."""
        level = self._string(value, key)
        if level not in LEVELS:
            self._fail(key, f"must be one of {', '.join(LEVELS)}, not {level!r}")
        return level

    def _regex(self, value: Any, key: str) -> str:
        text = self._string(value, key)
        try:
            re.compile(text)
        except re.error as error:
            self._fail(key, f"is no regular expression: {error}")
        return text

    def describing(self, value: Any) -> Describing:
        """Read how sessions get metadata."""
        settings = self.settings(value, "describe", DESCRIBE_KEYS)
        chosen: dict[str, Any] = {}
        if "automatic" in settings:
            chosen["is_automatic"] = self._typed(settings["automatic"], "describe.automatic", bool, "true or false")
        if "minNewUserMessages" in settings:
            key, least = "describe.minNewUserMessages", settings["minNewUserMessages"]
            if isinstance(least, bool) or not isinstance(least, int) or least < 1:
                self._fail(key, f"must be a whole number, 1 or more, not {least!r}")
            chosen["min_new_user_messages"] = least
        if "directory" in settings:
            text = self._string(settings["directory"], "describe.directory")
            chosen["directory"] = paths.expand(text, self._file.parent)
        return Describing(**chosen)

    def seconds(self, value: Any, key: str) -> float:
        """Read a duration: a finite number of seconds, not negative."""
        return self._number(value, key, "seconds")

    def _number(self, value: Any, key: str, unit: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._fail(key, f"must be a number of {unit}, not {_kind(value)}")
        if not 0 <= value < math.inf:
            self._fail(key, f"must be 0 or more {unit}, not {value}")
        return float(value)

    def settings(self, value: Any, key: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        """Return an object all of whose keys are known."""
        settings: dict[str, Any] = self._typed(value, key, dict, "an object")
        for name in settings:
            if name not in known:
                meant = hint(name, known) or f"there are {', '.join(known)}"
                self._fail(f"{key}.{name}" if key else name, f"unknown key; {meant}")
        return settings

    def _paths(self, value: Any, key: str) -> list[Path]:
        """Read one path or several; relative ones begin at the file's directory."""
        if not isinstance(value, str | list):
            self._fail(key, f"must be a path or a list of paths, not {_kind(value)}")
        if value == []:
            self._fail(key, "names no path; leave it out for the agent's own directory")
        texts = [self._string(value, key)] if isinstance(value, str) else self._strings(value, key)
        return [paths.expand(text, self._file.parent) for text in texts]

    def _patterns(self, value: Any, key: str) -> list[str]:
        patterns = self._strings(self._typed(value, key, list, "a list of patterns"), key)
        for number, pattern in enumerate(patterns):
            if not can_match(pattern):
                self._fail(f"{key}[{number}]", f"{pattern!r} fits nothing: begin it with '~/', '/' or '*/'")
        return patterns

    def _strings(self, values: list[Any], key: str) -> list[str]:
        return [self._string(value, f"{key}[{number}]") for number, value in enumerate(values)]

    def _string(self, value: Any, key: str) -> str:
        text: str = self._typed(value, key, str, "a string")
        if not text or "\0" in text:
            self._fail(key, "is empty" if not text else "holds a NUL character")
        return text

    def _typed(self, value: Any, key: str, kind: type, wanted: str) -> Any:
        if not isinstance(value, kind):
            self._fail(key, f"must be {wanted}, not {_kind(value)}")
        return value

    def _fail(self, key: str, message: str) -> NoReturn:
        raise ConfigError(": ".join(part for part in (str(self._file), key, message) if part))


def _kind(value: Any) -> str:
    return _TYPES.get(type(value), "a number")


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
