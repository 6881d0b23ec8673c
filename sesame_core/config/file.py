"""Reads and writes config.jsonc: JSON with comments and trailing commas (JSON5).

An invalid value is an error that names the file, the position and the nearest valid name; nothing is skipped
silently.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any, NoReturn

from ..errors import ConfigError
from . import paths
from .model import Config

# Not compiled here: most people have no configuration.
_SYNTAX_ERROR = r"(?s)<string>:(\d+) (.*) at column (\d+)"
_ONLY_COMMENTS = r"(?s)(?>\s|//[^\n]*+|/\*.*?\*/)*+"

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

  // Where the index is stored: a backend's name, or {"name": "…", "options": {…}}.
  // "backend": "sqlite",

  // Whether passwords, tokens and keys are masked in the index.  Default: if others can read it.
  // "redact": {"enabled": true, "patterns": {"ticket": "ACME-[0-9]{8}"}, "keep": ["AKIA[A-Z]*EXAMPLE"]},

  // What others see of a session in an index that they can read: "shared", "metadata" or "private".
  // `sesame share` sets it for single projects.
  // "share": "shared",

  // How long a search may take to index what has changed, in seconds.  0: not at all.
  // "refreshSeconds": 0.3,

  // How long a command waits for another process that is writing to the index, in seconds.
  // "lockSeconds": 5,

  // How many processes read session files for `sesame index`.  0: none but its own.  Default: as many as pay.
  // "indexWorkers": 0,

  // Language models that `sesame ask` and `sesame describe` may send text to, in the order they are tried: names of
  // the llm library, programs, or "agent" for the model that the agent itself talks to, in pi.
  // "models": ["gpt-4o-mini", "agent", {"name": "claude", "command": ["claude", "-p"]}],

  // Names, summaries and tags that a model writes about sessions.  "automatic" lets `sesame describe --due` do so when
  // a session has "minNewUserMessages" new prompts.
  // "describe": {"automatic": false, "minNewUserMessages": 5},
}
"""


def load(path: Path | None = None) -> Config:
    """Return the configuration; imports no plugin.

    :param path: the file to read, which must exist; None for the user's own, which may be absent.
    :raises ConfigError: the file cannot be read or has an invalid value.
    """
    file = path or paths.config_file()
    if path is None and _is_absent(file):
        return Config()
    return read(file)


def read(file: Path) -> Config:
    """Return the configuration in a file, with defaults for absent keys.

    :raises ConfigError: it cannot be read, is not JSON5, or has an invalid value.
    """
    from .schema import Values

    return Values(file).config(_parse(file, _text(file)))


def template() -> str:
    """Return the commented file that `sesame config --init` writes; it changes no setting until edited."""
    return _TEMPLATE


def initialise(file: Path | None = None) -> Path:
    """Write the commented file, readable by the user alone (it may get a DSN), and return its path.

    :param file: the path to write; None for the user's config.jsonc.
    :raises ConfigError: the file exists already, or it cannot be written.
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
    if re.fullmatch(_ONLY_COMMENTS, text):
        return {}
    # Plain JSON is JSON5 too, and its decoder loads in a tenth of the time.
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    import json5

    try:
        return json5.loads(text, allow_duplicate_keys=False)
    except RecursionError as error:
        raise ConfigError(f"{file}: is nested too deeply") from error
    except ValueError as error:
        message = str(error)
        if found := re.fullmatch(_SYNTAX_ERROR, message):
            line, message, column = found.groups()
            raise ConfigError(f"{file}:{line}:{column}: {_lower(message)}") from error
        raise ConfigError(f"{file}: {_lower(message)}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object has a key twice")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is only valid in JSON5")


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _is_absent(file: Path) -> bool:
    try:
        file.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # it may exist; reading it reports what is wrong
    return False
