"""The schema of config.jsonc: converts each value into configuration, or raises an error that names its key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..errors import ConfigError
from ..text.suggest import hint
from . import paths
from .model import LEVELS, Config, Describing, ModelChoice, Redaction, Selection, Source
from .patterns import can_match

#: The keys of config.jsonc, of an entry of "sources", of a plugin with options, of a model, and of "redact" and
#: "describe".
KEYS = (
    *("sources", "backend", "redact", "share", "refreshSeconds", "lockSeconds", "indexWorkers", "models", "describe"),
)
SOURCE_KEYS = ("parser", "path", "formatter", "exclude", "options")
SELECTION_KEYS = ("name", "options")
REDACTION_KEYS = ("enabled", "answers", "patterns", "keep")
MODEL_KEYS = ("name", "command", "seconds", "inputPrice", "outputPrice")
DESCRIBE_KEYS = ("automatic", "minNewUserMessages", "shareMarks", "directory")

#: Most processes that may be configured.
MOST_WORKERS = 64
#: Valid name of a pattern of "redact".
_KIND = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_TYPES = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


class Values:
    """Converts the decoded values of one file into configuration, or raises an error that names the key."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def config(self, value: Any) -> Config:
        """Convert the whole file, with defaults for absent keys.

        :raises ConfigError: a key or a value is invalid.
        """
        settings = self._settings(value, "", KEYS)
        origins = dict.fromkeys(settings, self._file.name)
        chosen: dict[str, Any] = {}
        if "sources" in settings:
            chosen["sources"] = tuple(self._sources(settings["sources"]))
            chosen["finds_sources"] = bool(chosen["sources"])
        if "backend" in settings:
            chosen["backend"] = self._selection(settings["backend"], "backend")
        if "redact" in settings:
            chosen["redaction"] = self._redaction(settings["redact"], "redact")
        if "share" in settings:
            chosen["share"] = self._level(settings["share"], "share")
        if "refreshSeconds" in settings:
            chosen["refresh_seconds"] = self._seconds(settings["refreshSeconds"], "refreshSeconds")
        if "lockSeconds" in settings:
            chosen["lock_seconds"] = self._seconds(settings["lockSeconds"], "lockSeconds")
        if "indexWorkers" in settings:
            chosen["index_workers"] = self._workers(settings["indexWorkers"], "indexWorkers")
        if "models" in settings:
            chosen["models"] = tuple(self._models(settings["models"]))
        if "describe" in settings:
            chosen["describe"] = self._describing(settings["describe"])
        return Config(file=self._file, origins=origins, **chosen)

    def _sources(self, value: Any) -> Iterator[Source]:
        """Convert "sources": a source for each path."""
        for number, entry in enumerate(self._typed(value, "sources", list, "a list of sources")):
            yield from self._source(entry, f"sources[{number}]")

    def _source(self, value: Any, key: str) -> Iterator[Source]:
        settings = self._settings(value, key, SOURCE_KEYS)
        if "parser" not in settings:
            self._fail(key, 'lacks "parser", the name of the plugin that reads it')
        parser = self._selection(settings["parser"], f"{key}.parser")
        if "options" in settings:
            if isinstance(settings["parser"], dict) and "options" in settings["parser"]:
                self._fail(f"{key}.options", 'the options are given twice, here and in "parser"')
            options = self._typed(settings["options"], f"{key}.options", dict, "an object")
            parser = Selection(name=parser.name, options=options)
        chosen: dict[str, Any] = {}
        if "formatter" in settings:
            chosen["formatter"] = self._selection(settings["formatter"], f"{key}.formatter")
        if "exclude" in settings:
            chosen["exclude"] = tuple(self._patterns(settings["exclude"], f"{key}.exclude"))
        for path in self._paths(settings["path"], f"{key}.path") if "path" in settings else [None]:
            yield Source(parser=parser, path=path, origin=f"{self._file.name}: {key}", **chosen)

    def _selection(self, value: Any, key: str) -> Selection:
        """Convert a plugin's name, or an object of a name and options."""
        if isinstance(value, str):
            return Selection(name=self._string(value, key))
        if not isinstance(value, dict):
            self._fail(key, f'must be a name or {{"name": …, "options": …}}, not {_kind(value)}')
        settings = self._settings(value, key, SELECTION_KEYS)
        if "name" not in settings:
            self._fail(key, 'lacks "name"')
        options = self._typed(settings.get("options", {}), f"{key}.options", dict, "an object")
        return Selection(name=self._string(settings["name"], f"{key}.name"), options=options)

    def _models(self, value: Any) -> Iterator[ModelChoice]:
        """Convert the models: each is a name, or an object with a name."""
        for number, entry in enumerate(self._typed(value, "models", list, "a list of models")):
            key = f"models[{number}]"
            if isinstance(entry, str):
                yield ModelChoice(name=self._string(entry, key))
                continue
            settings = self._settings(entry, key, MODEL_KEYS)
            if "name" not in settings:
                self._fail(key, 'lacks "name", the name of the model')
            chosen: dict[str, Any] = {"name": self._string(settings["name"], f"{key}.name")}
            if "command" in settings:
                chosen["command"] = self._command(settings["command"], f"{key}.command")
            if "seconds" in settings:
                chosen["seconds"] = self._seconds(settings["seconds"], f"{key}.seconds")
            for name, field in (("inputPrice", "input_price"), ("outputPrice", "output_price")):
                if name in settings:
                    chosen[field] = self._number(settings[name], f"{key}.{name}", "dollars")
            yield ModelChoice(**chosen)

    def _command(self, value: Any, key: str) -> tuple[str, ...]:
        """Convert a program and its arguments, which may be empty strings."""
        words = self._typed(value, key, list, "a list: a program and its arguments")
        if not words or not words[0]:
            self._fail(key, "must name a program")
        return tuple(self._typed(word, f"{key}[{number}]", str, "a string") for number, word in enumerate(words))

    def _redaction(self, value: Any, key: str) -> Redaction:
        """Convert `true`, `false`, or an object."""
        if isinstance(value, bool):
            return Redaction(enabled=value)
        if not isinstance(value, dict):
            self._fail(key, f"must be true, false or an object, not {_kind(value)}")
        settings = self._settings(value, key, REDACTION_KEYS)
        enabled = settings.get("enabled")
        if "enabled" in settings:
            self._typed(enabled, f"{key}.enabled", bool, "true or false")
        answers = self._typed(settings.get("answers", True), f"{key}.answers", bool, "true or false")
        patterns = self._typed(settings.get("patterns", {}), f"{key}.patterns", dict, "an object of names and patterns")
        for name in patterns:
            if not _KIND.fullmatch(name):
                self._fail(f"{key}.patterns", f"{name!r} is not a valid name: use lower case, digits and dashes")
        keep = self._typed(settings.get("keep", []), f"{key}.keep", list, "a list of patterns")
        return Redaction(
            enabled=enabled,
            answers=answers,
            patterns=tuple((name, self._regex(text, f"{key}.patterns.{name}")) for name, text in patterns.items()),
            keep=tuple(self._regex(text, f"{key}.keep[{number}]") for number, text in enumerate(keep)),
        )

    def _level(self, value: Any, key: str) -> str:
        """Convert the visibility of a session."""
        level = self._string(value, key)
        if level not in LEVELS:
            self._fail(key, f"must be one of {', '.join(LEVELS)}, not {level!r}")
        return level

    def _regex(self, value: Any, key: str) -> str:
        text = self._string(value, key)
        try:
            re.compile(text)
        except re.error as error:
            self._fail(key, f"is not a regular expression: {error}")
        return text

    def _describing(self, value: Any) -> Describing:
        """Convert "describe"."""
        settings = self._settings(value, "describe", DESCRIBE_KEYS)
        chosen: dict[str, Any] = {}
        if "automatic" in settings:
            chosen["is_automatic"] = self._typed(settings["automatic"], "describe.automatic", bool, "true or false")
        if "minNewUserMessages" in settings:
            key, least = "describe.minNewUserMessages", settings["minNewUserMessages"]
            if isinstance(least, bool) or not isinstance(least, int) or least < 1:
                self._fail(key, f"must be a whole number, 1 or more, not {least!r}")
            chosen["min_new_user_messages"] = least
        if "shareMarks" in settings:
            chosen["shares_marks"] = self._typed(settings["shareMarks"], "describe.shareMarks", bool, "true or false")
        if "directory" in settings:
            text = self._string(settings["directory"], "describe.directory")
            chosen["directory"] = paths.expand(text, self._file.parent)
        return Describing(**chosen)

    def _seconds(self, value: Any, key: str) -> float:
        """Convert a duration: a finite number of seconds, not negative."""
        return self._number(value, key, "seconds")

    def _workers(self, value: Any, key: str) -> int:
        """Convert a number of processes."""
        if isinstance(value, bool) or not isinstance(value, int):
            self._fail(key, f"must be a whole number of processes, not {_kind(value)}")
        if not 0 <= value <= MOST_WORKERS:
            self._fail(key, f"must be 0 to {MOST_WORKERS} processes, not {value}")
        return value

    def _number(self, value: Any, key: str, unit: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._fail(key, f"must be a number of {unit}, not {_kind(value)}")
        if not 0 <= value < math.inf:
            self._fail(key, f"must be 0 or more {unit}, not {value}")
        return float(value)

    def _settings(self, value: Any, key: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        """Return an object with known keys only."""
        settings: dict[str, Any] = self._typed(value, key, dict, "an object")
        for name in settings:
            if name not in known:
                meant = hint(name, known) or f"there are {', '.join(known)}"
                self._fail(f"{key}.{name}" if key else name, f"unknown key; {meant}")
        return settings

    def _paths(self, value: Any, key: str) -> list[Path]:
        """Convert one path or several; relative ones start from the file's directory."""
        if not isinstance(value, str | list):
            self._fail(key, f"must be a path or a list of paths, not {_kind(value)}")
        if value == []:
            self._fail(key, "is empty; leave it out for the agent's own directory")
        texts = [self._string(value, key)] if isinstance(value, str) else self._strings(value, key)
        return [paths.expand(text, self._file.parent) for text in texts]

    def _patterns(self, value: Any, key: str) -> list[str]:
        patterns = self._strings(self._typed(value, key, list, "a list of patterns"), key)
        for number, pattern in enumerate(patterns):
            if not can_match(pattern):
                self._fail(f"{key}[{number}]", f"{pattern!r} cannot match: start it with '~/', '/' or '*/'")
        return patterns

    def _strings(self, values: list[Any], key: str) -> list[str]:
        return [self._string(value, f"{key}[{number}]") for number, value in enumerate(values)]

    def _string(self, value: Any, key: str) -> str:
        text: str = self._typed(value, key, str, "a string")
        if not text or "\0" in text:
            self._fail(key, "is empty" if not text else "contains a NUL character")
        return text

    def _typed(self, value: Any, key: str, kind: type, wanted: str) -> Any:
        if not isinstance(value, kind):
            self._fail(key, f"must be {wanted}, not {_kind(value)}")
        return value

    def _fail(self, key: str, message: str) -> NoReturn:
        raise ConfigError(": ".join(part for part in (str(self._file), key, message) if part))


def _kind(value: Any) -> str:
    return _TYPES.get(type(value), "a number")
