"""What of a session others may see: its owner's rules, by project.

They stand in `sharing.json` in the configuration directory and hold for backends that others can read
(`plugin.backend.SharedBackend`); `sesame_core.sharing.visibility_writer` applies them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..config import paths
from ..config.model import LEVELS
from ..config.patterns import fits
from ..dataclass import dataclass
from ..errors import ConfigError
from ..types.transcript import Session


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for the sessions of some projects."""

    #: Compared with a session's directory and repository, as `exclude` compares it.
    pattern: str
    #: One of `config.LEVELS`.
    level: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """All rules: the last one that fits a session holds, and the default where none does."""

    rules: tuple[Rule, ...]
    default: str

    @property
    def is_open(self) -> bool:
        """Whether every session is shared, whatever it is."""
        return {self.default, *(rule.level for rule in self.rules)} == {"shared"}

    def rule_of(self, session: Session) -> Rule | None:
        """Return the rule that holds for a session; None when the default does."""
        places = (session.cwd, session.repository)
        return next((rule for rule in reversed(self.rules) if fits((rule.pattern,), places)), None)

    def level(self, session: Session) -> str:
        """Return what others may see of a session, one of `config.LEVELS`."""
        rule = self.rule_of(session)
        return rule.level if rule else self.default

    def changed(self, pattern: str, level: str | None) -> Sharing:
        """Return these rules with one more, which holds before all others; a rule of the same pattern goes.

        :param level: None only takes the rule away.
        :raises ConfigError: there is no such level, or no such rule.
        """
        if level is not None and level not in LEVELS:
            raise ConfigError(f"there is no visibility {level!r}: it is one of {', '.join(LEVELS)}, or default")
        pattern = _absolute(pattern)
        others = tuple(rule for rule in self.rules if rule.pattern != pattern)
        if level is None and len(others) == len(self.rules):
            raise ConfigError(f"there is no rule for {pattern!r}; see: sesame share")
        return Sharing((*others, *([Rule(pattern, level)] if level else [])), self.default)

    def digest(self, audience: str) -> str:
        """Return what changes with the rules, and with who can read the index."""
        told = [[rule.pattern, rule.level] for rule in self.rules]
        return hashlib.sha256(json.dumps([told, self.default, audience]).encode()).hexdigest()


def strictest(levels: Iterable[str]) -> str:
    """Return the level that shows the least."""
    return max(levels, key=LEVELS.index)


def file() -> Path:
    """Return the path of the rules, whether it exists or not."""
    return paths.config_dir() / "sharing.json"


def load(default: str) -> Sharing:
    """Return the rules.

    :param default: what holds where no rule does.
    :raises ConfigError: they cannot be read; then nothing may be shared.
    """
    path = file()
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Sharing((), default)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    try:
        rules = tuple(Rule(rule["pattern"], rule["visibility"]) for rule in value["rules"])
    except (KeyError, TypeError):
        rules = (Rule("", ""),)
    if not all(isinstance(rule.pattern, str) and rule.level in LEVELS for rule in rules):
        raise ConfigError(f"{path}: is not what `sesame share` writes; delete it and state the rules again")
    return Sharing(rules, default)


def save(rules: Sequence[Rule]) -> None:
    """Write the rules.

    :raises ConfigError: they cannot be written.
    """
    path = file()
    told = {"rules": [{"pattern": rule.pattern, "visibility": rule.level} for rule in rules]}
    try:
        paths.write_private(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def _absolute(pattern: str) -> str:
    """Return a pattern as it holds anywhere: `.` is the directory it was written in."""
    if pattern in (".", "..") or pattern.startswith(("./", "../")):
        return os.path.abspath(pattern)
    return pattern.rstrip("/") or pattern
