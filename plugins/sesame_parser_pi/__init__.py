"""The parser of pi's session files, and the directories of pi."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl
from sesame_core.config.paths import expand

if TYPE_CHECKING:
    from sesame_core import Options, Parser

#: Pi's own directory if no variable names another.
DEFAULT_DIR = "~/.pi/agent"


def agent_dir() -> Path:
    """Return pi's own directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    return expand(os.environ.get("PI_CODING_AGENT_DIR") or DEFAULT_DIR)


def default_roots() -> list[Path]:
    """Return pi's session directories, by its environment variables and settings, most specific first.

    A custom directory has new sessions, but older ones stay in the agent's own.
    """
    agent = agent_dir()
    chosen = os.environ.get("PI_CODING_AGENT_SESSION_DIR") or _configured(agent / "settings.json")
    roots = [expand(chosen)] if chosen else []
    return list(dict.fromkeys([*roots, agent / "sessions"]))


def _configured(settings: Path) -> str:
    """Return the absolute `sessionDir` in pi's settings, else ""."""
    try:
        values = json.loads(settings.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        # pi itself starts with its defaults when its settings are missing or invalid.
        return ""
    chosen = values.get("sessionDir") if isinstance(values, dict) else None
    if not isinstance(chosen, str) or "\0" in chosen:
        return ""
    # pi resolves a relative one against the directory it is started in, which differs each time.
    return chosen if os.path.isabs(os.path.expanduser(chosen)) else ""


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import PiParser

    return PiParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [Provider(name="pi", summary="pi sessions, JSONL of versions 1 to 3", create=create, roots=default_roots)]
