"""The owner's rules for what others may see of sessions, by project.

They are stored in `sharing.json` in the configuration directory and apply to backends that others can read
(`plugin.shared.SharedBackend`); `sesame_core.sharing.visibility_writer` applies them.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..config import identity, paths
from ..config.model import LEVELS, MARK
from ..config.patterns import fits
from ..dataclass import dataclass, field
from ..errors import ConfigError, QueryError
from ..types.transcript import DIRECTORIES, Session
from .private_files import this_machines

_PLACEHOLDER = re.compile(re.escape(MARK) + r"[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Rule:
    """The visibility of the sessions of some projects."""

    #: Matched against a session's directory and repository, like `exclude`.
    pattern: str
    #: One of `config.LEVELS`.
    level: str
    #: What the pattern meant when the rule was made, if it was the name of a symbolic link or of a directory below one.
    was: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sharing:
    """All rules: the last one that matches a session applies, and the default if none does."""

    rules: tuple[Rule, ...]
    default: str
    #: Redacts a pattern, as a session's directories are before they are compared with it.
    mask: Callable[[str], str] = field(default=str, compare=False)
    #: The names of each rule's pattern, as they were when it was first compared; with those of before, if True.
    _known: dict[tuple[Rule, bool], tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether every session is shared."""
        return {self.default, *(rule.level for rule in self.rules)} == {"shared"}

    def rule_of(self, session: Session) -> Rule | None:
        """Return the rule that applies to a session; None when the default does.

        For each of its directories that is the last rule that matches it or the repository, and of these the strictest:
        a session that went to a private directory may tell of it.  Symbolic links in a directory or a pattern are
        followed, too, since agents record either name.  What a link of a pattern led to counts where it is stricter: a
        link that is gone shares nothing.
        """
        places = session.places or (None,)
        found = [self._rule_at(place, session.repository) for place in places]
        if any(rule.was for rule in self.rules):
            found += [self._rule_at(place, session.repository, with_former=True) for place in places]
        if len(session.directories) >= DIRECTORIES:
            found += self.rules  # it may have been anywhere
        elif any(MARK in place for place in session.places):
            found += [rule for rule in self.rules if glob.has_magic(rule.pattern)]  # it may match what is redacted
        return max(found, key=lambda rule: LEVELS.index(self._level_of(rule)))

    def level(self, session: Session) -> str:
        """Return the visibility of a session by the rules, one of `config.LEVELS`."""
        return self._level_of(self.rule_of(session))

    def _rule_at(self, place: str | None, repository: str | None, *, with_former: bool = False) -> Rule | None:
        if not self.rules:
            return None
        places = (place, place and os.path.realpath(place), repository)
        return next((rule for rule in reversed(self.rules) if fits(self._names(rule, with_former), places)), None)

    def _names(self, rule: Rule, with_former: bool) -> tuple[str, ...]:
        if (rule, with_former) not in self._known:
            names = (*_names(rule.pattern), *(rule.was if with_former else ()))
            masked = (self.mask(os.path.expanduser(name)) for name in names)
            escaped = (_PLACEHOLDER.sub(lambda mark: glob.escape(mark[0]), name) for name in masked)
            self._known[rule, with_former] = tuple(dict.fromkeys((*names, *escaped)))
        return self._known[rule, with_former]

    def _level_of(self, rule: Rule | None) -> str:
        return rule.level if rule else self.default

    def changed(self, pattern: str, level: str | None) -> Sharing:
        """Return these rules with one more, which takes precedence; it replaces a rule with the same pattern.

        :param level: None only removes the rule.
        :raises QueryError: the level does not exist, or the pattern is empty.
        :raises ConfigError: there is no such rule to remove.
        """
        if level is not None and not pattern.strip():
            raise QueryError("a pattern of sessions cannot be empty: use * for all")
        if level is not None and level not in LEVELS:
            raise QueryError(f"{level!r} is not a visibility: use {', '.join(LEVELS)} or default")
        pattern = _absolute(pattern.strip())
        others = tuple(rule for rule in self.rules if rule.pattern != pattern)
        if level is None and len(others) == len(self.rules):
            raise ConfigError(f"there is no rule for {pattern!r}; see: sesame share")
        was = tuple(name for name in _names(pattern) if name != os.path.expanduser(pattern))
        return Sharing((*others, *([Rule(pattern, level, was)] if level else [])), self.default, self.mask)

    def digest(self, audience: str) -> str:
        """Return a hash of the rules, the audience of the index, and the workstation whose sessions they are for."""
        values = [[rule.pattern, rule.level, *_names(rule.pattern), *rule.was] for rule in self.rules]
        content = [values, self.default, audience, identity.workstation_id()]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def strictest(levels: Iterable[str]) -> str:
    """Return the level that shows the least."""
    return max(levels, key=LEVELS.index)


def file() -> Path:
    """Return the path of the rules, whether it exists or not."""
    return paths.config_dir() / "sharing.json"


def written() -> tuple[int, int] | None:
    """Return values that change when the rules are written; None while there are none."""
    try:
        stat = file().stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def load(default: str, *, is_to_begin: bool = False) -> Sharing:
    """Return the rules.

    :param default: visibility of sessions that no rule matches.
    :param is_to_begin: there are none if their file is gone; that is not an error.
    :raises ConfigError: they cannot be read, or there were some and their file is gone; then nothing may be shared.
    """
    path = file()
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if path.is_symlink():
            raise ConfigError(f"{path}: cannot be read: the link leads to nothing") from error
        if not is_to_begin and this_machines().has_rules:
            raise ConfigError(
                f"{path}: is gone, with the rules for what others see, so nothing is sent: bring it back, or make them "
                "anew with: sesame share PATTERN VISIBILITY"
            ) from error
        return Sharing((), default)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    try:
        rules = tuple(Rule(rule["pattern"], rule["visibility"], tuple(rule.get("was", ()))) for rule in value["rules"])
    except (KeyError, TypeError, AttributeError):
        rules = (Rule("", ""),)
    if not all(
        all(isinstance(name, str) for name in (rule.pattern, *rule.was)) and rule.level in LEVELS for rule in rules
    ):
        raise ConfigError(f"{path}: was not written by `sesame share`; delete it and set the rules again")
    return Sharing(rules, default)


def save(rules: Sequence[Rule]) -> None:
    """Write the rules.

    :raises ConfigError: they cannot be written.
    """
    path = file()
    value = {
        "rules": [
            {"pattern": rule.pattern, "visibility": rule.level, **({"was": rule.was} if rule.was else {})}
            for rule in rules
        ]
    }
    try:
        paths.write_private(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def _names(pattern: str) -> tuple[str, ...]:
    """Return a pattern, and what it means when its directory is a symbolic link, or below one."""
    path = os.path.expanduser(pattern)
    if not os.path.isabs(path):
        return (pattern,)
    parts = path.split("/")
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    real = os.path.realpath("/".join(parts[:fixed]) or "/")
    return pattern, "/".join([glob.escape(real.rstrip("/")), *parts[fixed:]])


def _absolute(pattern: str) -> str:
    """Return a pattern as an absolute one: `.` is the current directory."""
    if pattern in (".", "..") or pattern.startswith(("./", "../")):
        return os.path.abspath(pattern)
    return pattern.rstrip("/") or pattern
