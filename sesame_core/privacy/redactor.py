"""Takes secrets out of whatever is stored, and leaves a mark by which the same secret is known again.

A mark is `[redacted:github-token:3f9a1c2b]`: the kind, and the beginning of an HMAC of the secret under a key that
stays on this machine.  So one secret has one mark in all its sessions, while nobody who reads the index can try out
which secret it was.
"""

from __future__ import annotations

import functools
import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from ..config import identity
from ..config.model import MARK
from ..dataclass import dataclass
from ..errors import ConfigError
from .detectors import DETECTORS

if TYPE_CHECKING:
    from ..config.model import Redaction

#: Hexadecimal digits of a fingerprint: two of a thousand secrets have the same one once in ten thousand indexes.
_FINGERPRINT = 8
#: Strings shorter than this hold no secret; most fields of a chunk are.
_SHORTEST = 8
#: Strings shorter than this are remembered when they hold none: ids, names and directories come with every chunk.
_REMEMBERED = 100
#: Types of fields and values that hold no text.
_TEXTLESS = frozenset(
    ("int", "bool", "int | None", "datetime | None", "bytes", "tuple[int, ...]", "Role", "Role | None", "ChunkKind")
)
_PLAIN = frozenset((int, bool, float, bytes, type(None), datetime))
_MARK = re.compile(re.escape(MARK) + r"[a-z0-9-]+:[0-9a-f]{8}\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret in a text."""

    kind: str
    fingerprint: str
    #: Where it stands, in characters.
    start: int
    end: int

    @property
    def mark(self) -> str:
        """What stands in its place."""
        return f"{MARK}{self.kind}:{self.fingerprint}]"


class Redactor:
    """Finds secrets, and takes them out.

    :param key: what fingerprints are made with; `machine_key` has this machine's.
    :param settings: the user's own patterns, and what is no secret.
    :raises ConfigError: the extra is not installed.
    """

    def __init__(self, key: bytes, settings: Redaction) -> None:
        try:
            from ahocorasick_rs import BytesAhoCorasick, Implementation
        except ImportError as error:
            raise ConfigError("finding secrets needs ahocorasick_rs: pip install 'sesame-search[redact]'") from error

        self._key = key
        self._own = [(name, re.compile(pattern)) for name, pattern in settings.patterns]
        self._keep = re.compile("|".join(f"(?:{pattern})" for pattern in settings.keep)) if settings.keep else None
        #: Of each trigger, its kind's number.
        self._ranks = [rank for rank, kind in enumerate(DETECTORS) for _ in kind.triggers]
        triggers = [trigger.encode() for kind in DETECTORS for trigger in kind.triggers]
        # The other implementations take twice the time.
        self._find = BytesAhoCorasick(triggers, implementation=Implementation.DFA).find_matches_as_indexes
        #: Names of a dataclass's fields, and what gets all of them.
        self._fields: dict[type, tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = {}
        self._harmless: set[str] = set()

    # -- texts --------------------------------------------------------------------------------------------

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in a text, in order; those that overlap count as one, and marks are none."""
        return self._findings(text, self._places(text))

    def _places(self, text: str) -> list[tuple[int, int, int]]:
        """Return where triggers stand: number, start, end."""
        # They are ASCII, and so each character of the text may become one byte.
        return self._find(text.encode("ascii", "replace"), overlapping=True)

    def _findings(self, text: str, places: list[tuple[int, int, int]]) -> list[Finding]:
        found = sorted([*self._triggered(text, places), *self._searched(text)])
        marks = [match.span() for match in _MARK.finditer(text)] if found else []
        united: list[tuple[int, int, int, str]] = []
        for start, rank, end, kind in found:
            if any(a < end and start < b for a, b in marks) or self._is_kept(text[start:end]):
                continue
            if united and start < united[-1][2]:
                start, other_rank, reached, other_kind = united.pop()
                rank, kind = min((rank, kind), (other_rank, other_kind))
                end = max(end, reached)
            united.append((start, rank, end, kind))
        return [Finding(kind, self._fingerprint(text[start:end]), start, end) for start, _, end, kind in united]

    def _is_kept(self, secret: str) -> bool:
        return self._keep is not None and self._keep.fullmatch(secret) is not None

    def text(self, text: str) -> str:
        """Return a text with marks in place of its secrets; the same object when it has none."""
        places = self._places(text)
        if not places and not self._own:
            return text
        findings = self._findings(text, places)
        if not findings:
            return text
        parts, position = [], 0
        for finding in findings:
            parts += [text[position : finding.start], finding.mark]
            position = finding.end
        return "".join([*parts, text[position:]])

    def _triggered(self, text: str, places: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, str]]:
        """Yield what matches where a trigger stands: start, rank of its kind, end, kind."""
        for trigger, at, _ in places:
            rank = self._ranks[trigger]
            kind = DETECTORS[rank]
            match = _compiled(kind.pattern).match(text, at)
            if match and (kind.is_secret is None or kind.is_secret(match["secret"])):
                yield match.start("secret"), rank, match.end("secret"), kind.name

    def _searched(self, text: str) -> Iterator[tuple[int, int, int, str]]:
        """Yield what the user's own patterns match, in the same form."""
        for rank, (name, pattern) in enumerate(self._own, len(DETECTORS)):
            for match in pattern.finditer(text):
                if match.end() > match.start():
                    yield match.start(), rank, match.end(), name

    def _fingerprint(self, secret: str) -> str:
        return hmac.digest(self._key, secret.encode("utf-8", "replace"), "sha256").hex()[:_FINGERPRINT]

    # -- everything else ----------------------------------------------------------------------------------

    def take_out(self, thing: Any) -> None:
        """Take the secrets out of every field of a dataclass, whatever is inside of it."""
        kind = type(thing)
        known = self._fields.get(kind)
        if known is None:
            fields = kind.__dataclass_fields__.values()
            names = tuple(field.name for field in fields if field.type not in _TEXTLESS)
            known = self._fields[kind] = names, _getter(names)
        names, values = known
        for name, value in zip(names, values(thing), strict=True):
            if value:
                redacted = self._string(value) if type(value) is str else self.value(value)
                if redacted is not value:
                    setattr(thing, name, redacted)

    def value(self, value: Any) -> Any:
        """Return a value without the secrets in it; the same object when it has none, or is a dataclass."""
        kind = type(value)
        if kind is str:
            return self._string(value)
        if kind in _PLAIN or not value:
            return value
        if kind is tuple or kind is list:
            items = [self.value(inner) for inner in value]
            return value if all(map(is_, items, value)) else kind(items)
        if hasattr(kind, "__dataclass_fields__"):
            self.take_out(value)
        elif isinstance(value, Mapping):
            pairs = [(self.value(name), self._named(name, inner)) for name, inner in value.items()]
            if any(a is not c or b is not d for (a, b), (c, d) in zip(pairs, value.items(), strict=True)):
                return dict(pairs)
        return value

    def _string(self, text: str) -> str:
        if len(text) >= _REMEMBERED:
            return self.text(text)
        if len(text) < _SHORTEST or text in self._harmless:
            return text
        redacted = self.text(text)
        if redacted is text:
            if len(self._harmless) >= 10_000:
                self._harmless.clear()
            self._harmless.add(text)
        return redacted

    def _named(self, name: Any, value: Any) -> Any:
        """Return a value of a mapping without its secrets: that it is a password, its name may tell."""
        if type(value) is not str or type(name) is not str or len(value) < _SHORTEST:
            return self.value(value)
        before, together = name + "=", name + "=" + value
        redacted = self.text(together)
        if redacted is together:
            return value
        return redacted[len(before) :] if redacted.startswith(before) else self.text(value)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gets the values of these attributes; of a single one, `attrgetter` makes no tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda thing: tuple(getattr(thing, name) for name in names)


def machine_key() -> bytes:
    """Return this machine's key for fingerprints, made at first use.

    :raises BackendError: the data directory cannot be used.
    """
    return bytes.fromhex(identity.kept_random("redaction.key"))


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a kind's pattern when it is first needed: all of them take 200 ms."""
    return re.compile(pattern)
