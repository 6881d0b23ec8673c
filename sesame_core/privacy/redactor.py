"""Replaces secrets with stable placeholders, so that equal secrets stay recognisable.

A placeholder is `[redacted:github-token:3f9a1c2b]`: the detector's name, and the first digits of an HMAC of the secret
with a key that stays on this machine.  So one secret has the same placeholder in all sessions, while a reader of the
index cannot test guesses of the secret.
"""

from __future__ import annotations

import bisect
import hmac
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, TypeVar

from ..config import identity
from ..config.model import MARK
from ..dataclass import dataclass, replace
from .detector import compiled
from .detectors import DETECTORS
from .triggers import finder
from .version import redaction_version

if TYPE_CHECKING:
    from ..config.model import Redaction

#: Hexadecimal digits of a fingerprint: among a thousand secrets, two collide in one of ten thousand indexes.
_FINGERPRINT = 8
#: Strings shorter than this contain no secret; most fields of a chunk are shorter.
_SHORTEST = 8
#: Strings shorter than this are cached when they contain none: ids, names and directories recur in every chunk.
_REMEMBERED = 100
#: Types of fields and values that contain no strings.
_TEXTLESS = frozenset(
    ("int", "bool", "int | None", "datetime | None", "bytes", "tuple[int, ...]", "Role", "Role | None", "ChunkKind")
)
_PLAIN = frozenset((int, bool, float, bytes, type(None), datetime))
T = TypeVar("T")
_MARK = re.compile(re.escape(MARK) + r"[a-z0-9-]+:[0-9a-f]{8}\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret found in a text."""

    kind: str
    fingerprint: str
    #: Its position, in characters.
    start: int
    end: int

    @property
    def mark(self) -> str:
        """The placeholder that replaces it."""
        return f"{MARK}{self.kind}:{self.fingerprint}]"


class Redactor:
    """Finds secrets and replaces them.

    :param key: the key of fingerprints; `machine_key` returns this machine's.
    :param settings: the user's own patterns, and values that are not secrets.
    :param is_for_answers: work without the extra, too: it takes ten times as long, which an answer of some kilobytes
        can afford, and an index cannot.
    :raises ConfigError: the extra is not installed.
    """

    def __init__(self, key: bytes, settings: Redaction, *, is_for_answers: bool = False) -> None:
        self._key = key
        self._settings = settings
        self._is_for_answers = is_for_answers
        #: Differs between redactors that do not replace the same.
        self.version = redaction_version(settings)
        self._own = [(name, re.compile(pattern)) for name, pattern in settings.patterns]
        self._keep = re.compile("|".join(f"(?:{pattern})" for pattern in settings.keep)) if settings.keep else None
        #: The number of the detector of each trigger.
        self._ranks = [rank for rank, kind in enumerate(DETECTORS) for _ in kind.triggers]
        triggers = [trigger.encode() for kind in DETECTORS for trigger in kind.triggers]
        self._find = finder(triggers, is_slow_enough=is_for_answers)
        #: Names of a dataclass's fields, and a getter of all their values.
        self._fields: dict[type, tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = {}
        self._harmless: set[str] = set()

    def __reduce__(self) -> tuple[Callable[..., Redactor], tuple[bytes, Redaction]]:
        return partial(Redactor, is_for_answers=self._is_for_answers), (self._key, self._settings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of secrets that are found, those of the user's own patterns at the end."""
        return tuple(dict.fromkeys([*(kind.name for kind in DETECTORS), *(name for name, _ in self._own)]))

    # -- strings ------------------------------------------------------------------------------------------

    def findings(self, text: str) -> list[Finding]:
        """Return the secrets in a text, in order; overlapping ones count as one, and placeholders are ignored."""
        return self._findings(text)

    def _places(self, text: str) -> list[tuple[int, int, int]]:
        """Return the position of each trigger: number, start, end."""
        # Triggers are ASCII, so each character of the text may be encoded as one byte.
        return self._find(text.encode("ascii", "replace"))

    def _findings(self, text: str) -> list[Finding]:
        places = self._places(text)
        found = list(self._triggered(text, places)) if places else []
        if self._own:
            found += self._searched(text)
        if "\\n" in text:
            # A text in a string of JSON or of a program: its lines are those of a text, at the same positions.
            lines = text.replace("\\r", "  ").replace("\\n", " \n").replace("\\t", " \t")
            found += self._triggered(lines, self._places(lines))
        if not found:
            return []
        found.sort()
        marks = [match.span() for match in _MARK.finditer(text)]
        united: list[tuple[int, int, int, str]] = []
        for start, rank, end, kind in found:
            if (marks and _overlaps(marks, start, end)) or self._is_kept(text[start:end]):
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
        """Return a text with placeholders for its secrets; the same object when it has none."""
        findings = self._findings(text)
        if not findings:
            return text
        parts, position = [], 0
        for finding in findings:
            parts += [text[position : finding.start], finding.mark]
            position = finding.end
        return "".join([*parts, text[position:]])

    def _triggered(self, text: str, places: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, str]]:
        """Yield the matches at triggers: start, rank of the detector, end, name of the detector."""
        passed: dict[int, int] = {}
        for trigger, at, _ in places:
            rank = self._ranks[trigger]
            if at < passed.get(rank, 0):
                continue  # what a detector has matched is not scanned again
            kind = DETECTORS[rank]
            match = compiled(kind.pattern).match(text, at)
            if match is None:
                continue
            if kind.secrets is not None:
                passed[rank] = match.end()
                for start, end in kind.secrets(match):
                    yield start, rank, end, kind.name
            elif kind.is_secret is None or kind.is_secret(match):
                start, end = match.span(match.lastgroup or 0)
                if kind.rest:
                    rest = compiled(kind.rest).match(text, end)
                    end = rest.end() if rest else end
                passed[rank] = end
                yield start, rank, end, kind.name

    def _searched(self, text: str) -> Iterator[tuple[int, int, int, str]]:
        """Yield the matches of the user's own patterns, in the same form."""
        for rank, (name, pattern) in enumerate(self._own, len(DETECTORS)):
            for match in pattern.finditer(text):
                if match.end() > match.start():
                    yield match.start(), rank, match.end(), name

    def _fingerprint(self, secret: str) -> str:
        return hmac.digest(self._key, secret.encode("utf-8", "replace"), "sha256").hex()[:_FINGERPRINT]

    # -- everything else ----------------------------------------------------------------------------------

    def redact(self, thing: Any) -> None:
        """Redact every field of a dataclass, in place, including nested values."""
        names, values = self._fields_of(type(thing))
        for name, value in zip(names, values(thing), strict=True):
            if value:
                redacted = self._string(value) if type(value) is str else self.value(value)
                if redacted is not value:
                    setattr(thing, name, redacted)

    def redacted(self, thing: T) -> T:
        """Return a dataclass without secrets, and with such fields: itself if it has none, otherwise a copy."""
        names, values = self._fields_of(type(thing))
        changes: dict[str, Any] = {}
        for name, value in zip(names, values(thing), strict=True):
            if value:
                if type(value) is str:
                    redacted = self._string(value)
                else:
                    redacted = self.redacted(value) if hasattr(value, "__dataclass_fields__") else self.value(value)
                if redacted is not value:
                    changes[name] = redacted
        return replace(thing, **changes) if changes else thing  # type: ignore[type-var]

    def _fields_of(self, kind: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
        known = self._fields.get(kind)
        if known is None:
            fields = kind.__dataclass_fields__.values()  # type: ignore[attr-defined]
            names = tuple(field.name for field in fields if field.type not in _TEXTLESS)
            known = self._fields[kind] = names, _getter(names)
        return known

    def value(self, value: Any) -> Any:
        """Return a redacted value; the same object when it has no secrets, or is a dataclass."""
        kind = type(value)
        if kind is str:
            return self._string(value)
        if kind in _PLAIN or not value:
            return value
        if kind is tuple or kind is list:
            items = [self.value(inner) for inner in value]
            return value if all(map(is_, items, value)) else kind(items)
        if hasattr(kind, "__dataclass_fields__"):
            self.redact(value)
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
        """Return a redacted value of a mapping; its name may show that it is a password."""
        if type(value) is not str or type(name) is not str or len(value) < _SHORTEST:
            return self.value(value)
        before, together = name + "=", name + "=" + value
        redacted = self.text(together)
        if redacted is together:
            return value
        return redacted[len(before) :] if redacted.startswith(before) else self.text(value)


def _overlaps(marks: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a part of a text overlaps one of the sorted parts."""
    place = bisect.bisect_left(marks, (start, 0))
    return (place < len(marks) and marks[place][0] < end) or (place > 0 and marks[place - 1][1] > start)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a getter of these attributes as a tuple; for a single one, `attrgetter` returns no tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda thing: tuple(getattr(thing, name) for name in names)


def machine_key() -> bytes:
    """Return this machine's key for fingerprints, made at first use.

    :raises BackendError: the data directory cannot be used.
    """
    return bytes.fromhex(identity.kept_random("redaction.key"))
