"""Reads records about a session: titles, tags, names, links."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from sesame_core.types.transcript import Message

from .facts import TITLE_CHARS, SessionFacts
from .records import digest, origin, string, timestamp

#: Most notes that are recognised when they are repeated, as titles are all the time.
REMEMBERED = 64
#: Most old-style titles that wait for the record that they belong to.
WAITING = 64

#: The fields with a note's text, by record type.
_FIELDS = {
    "custom-title": ("customTitle",),
    "ai-title": ("aiTitle",),
    "tag": ("tag",),
    "agent-name": ("agentName",),
    "frame-link": ("title", "frameUrl"),
}
_TITLES = frozenset({"custom-title", "ai-title"})


class Notes:
    """Converts records about the session into properties and, once each, into searchable messages."""

    def __init__(self, facts: SessionFacts, state: Mapping[str, Any] | None = None) -> None:
        self._facts = facts
        self._reported: deque[str] = deque(state["told"] if state else (), maxlen=REMEMBERED)
        #: Titles by the record they belong to, which may be in another file.
        self._waiting: OrderedDict[str, str] = OrderedDict(state["waiting"] if state else ())

    def take(self, kind: str, record: Mapping[str, Any]) -> list[Message]:
        """Return the messages of a record about the session, unless it repeats an earlier one."""
        if kind in _FIELDS:
            text = " ".join(filter(None, (string(record, field).strip() for field in _FIELDS[kind])))
            if kind in _TITLES and text:
                return self.title(kind, text, record)
            return self._report(kind, text, record)
        if kind == "pr-link":
            self._facts.learn_pull_request(record)
            number = record.get("prNumber")
            name = string(record, "prRepository") + (f"#{number}" if isinstance(number, int) else "")
            return self._report(kind, f"{name} {string(record, 'prUrl')}".strip(), record)
        if kind == "summary":
            return self._summary(record)
        return []

    def title(self, kind: str, text: str, record: Mapping[str, Any] | None = None) -> list[Message]:
        """Return the message for a title of this kind (see `facts.TITLE_RANKS`), unless it repeats an earlier one."""
        self._facts.learn_title(kind, text)
        return self._report("title", text, record or {})

    def resolve(self, entry_id: str) -> list[Message]:
        """Return the title that waited for this record, which shows that it belongs to this session."""
        text = self._waiting.pop(entry_id, "")
        return self.title("summary", text) if text else []

    def state(self) -> dict[str, Any]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return {"told": list(self._reported), "waiting": list(self._waiting.items())}

    def _summary(self, record: Mapping[str, Any]) -> list[Message]:
        text, leaf = string(record, "summary").strip(), string(record, "leafUuid")
        if not text:
            return []
        if not leaf:
            return self.title("summary", text, record)
        self._waiting[leaf] = text[:TITLE_CHARS]
        if len(self._waiting) > WAITING:
            self._waiting.popitem(last=False)
        return []

    def _report(self, source_type: str, text: str, record: Mapping[str, Any]) -> list[Message]:
        name = digest(f"{source_type} {text}")
        if not text or name in self._reported:
            return []
        self._reported.append(name)
        entry_id = string(record, "uuid")
        message = Message(
            session_id=self._facts.id,
            role="metadata",
            text=text,
            timestamp=timestamp(record),
            entry_id=entry_id or None,
            origin_id=origin(record, entry_id),
            source_type=source_type,
        )
        return [message]
