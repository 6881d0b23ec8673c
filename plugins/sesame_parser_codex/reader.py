"""Converts the records of one session file into messages and properties of the session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sesame_core import Event, Message, Session, Skipped
from sesame_core.dataclass import replace

from .conversation import Conversation
from .copies import COPIED, Copies, is_of_other
from .files import has_file, is_bare_header, named, thread_name
from .former import FormerSession
from .headers import AGENT, belongs, describe, visit
from .values import mapping, moment, string

#: Longest title, in characters; a longer one is cut, and indexed in full as a message.
TITLE_CHARS = 500
#: Properties of a session in a checkpoint.
_KEPT = ("id", "kind", "parent_id", "cwd", "title", "git_branch", "repository", "model")


class RolloutReader:
    """Reads records in file order; `state` is everything that it needs to resume.

    :param path: the session's file.
    :param thinking: yield the summaries of the agent's reasoning.
    """

    def __init__(self, path: Path, *, thinking: bool = False) -> None:
        self._path = path
        self._name = named(path)
        #: The session as far as it is known; a header changes it.
        self._session = describe({}, path)
        self._thread = self._name.thread
        #: Whether a header was read, or content that made one needless.
        self.is_introduced = False
        self._is_first = True
        #: Whether something was said: copies come before that.
        self._has_content = False
        self._copies = Copies(self._thread)
        #: Whether copied records are all that is left of their thread.
        self._keeps_copies = False
        self._talk = Conversation(self._session, thinking=thinking)
        #: The session that the thread was imported from; until something follows that, there is no other one.
        self._former: FormerSession | None = None
        self._is_continued = True
        self._previous: dict[str, Any] = {}

    def skip(self) -> None:
        """Record that something could not be read."""
        self._is_first = False

    def introduce(self) -> Iterator[Event]:
        """Yield the session as far as it is known, and its name if it is new; before it the one that it continues."""
        self.is_introduced = True
        if self._former:
            yield from self._former.introduce()
        if self._is_continued:
            yield from self._introduce_own()

    def _introduce_own(self) -> Iterator[Event]:
        name = thread_name(self._path, self._thread)
        before = self._session.title
        self._session.title = name[:TITLE_CHARS] or before
        yield replace(self._session)
        if self._session.title != before:
            yield self._talk.title(name)

    def read(self, record: dict[str, Any], line: int) -> Iterator[Event]:
        """Yield the events of a record.

        :param line: its line number.
        """
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            # Versions up to 0.31 have no envelope.
            kind, payload = ("session_meta" if is_bare_header(record) else "response_item"), record
        if not isinstance(kind, str) or record == self._previous:
            return  # written again after a crash
        self._previous = record
        if kind == "session_meta":
            yield from self._header(payload)
        elif self._copies.has(record, payload) or (not self._keeps_copies and is_of_other(payload, self._thread)):
            yield Skipped(reason=COPIED, line=line, is_loss=False)
        else:
            yield from self._content(record, kind, payload, line)
        self._is_first = False

    def finish(self) -> Iterator[Event]:
        """Yield what waited for records that did not come, and all properties of the session."""
        if self._former:
            yield from self._former.finish()
        if not self._is_continued:
            return
        yield from self._said(self._talk.flush())
        yield replace(self._session, abandoned=self._talk.turns.abandoned())

    def _header(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        if self.is_introduced:
            thread = string(payload, "id")
            # Without the other thread's file, the copies are all that is left of it.
            if thread in ("", self._thread) or self._has_content:
                return
            if has_file(thread, self._path):
                self._copies.start()
            else:
                self._keeps_copies = True
            return
        if not belongs(payload, self._name, is_first=self._is_first):
            self._copies.start()
            return  # its own header is lost
        described = describe(payload, self._path)
        self._thread = string(payload, "id") or self._thread
        self._copies = Copies(self._thread)
        for name in (*_KEPT, "created", "directories"):
            setattr(self._session, name, getattr(described, name))
        self._former = FormerSession.of(self._path, self._thread, self._session)
        if self._former:
            self._is_continued, self._session.parent_id = False, self._former.id
        yield from self.introduce()

    def _content(self, record: Mapping[str, Any], kind: str, payload: Mapping[str, Any], line: int) -> Iterator[Event]:
        if not self.is_introduced:
            if not self._session.id:
                yield Skipped(reason="before the header", line=line)
                return
            yield from self.introduce()
        if self._former and self._former.takes(kind, payload):
            yield from self._former.read(kind, payload)
            return
        if not self._is_continued:
            self._is_continued = True
            yield from self._introduce_own()
        if kind == "turn_context":
            self._place(payload)
        elif kind == "event_msg" and payload.get("type") == "thread_settings_applied":
            self._place(mapping(payload, "thread_settings"))
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            yield from self._rename(" ".join(string(payload, "thread_name").split()), record)
        else:
            self._has_content = True
            yield from self._said(self._talk.read(kind, payload, moment(record.get("timestamp"))))

    def _said(self, messages: list[Message]) -> Iterator[Event]:
        for message in messages:
            if message.role == "summary":
                yield Session(id=self._session.id, agent=AGENT, summary=message.text)
            yield message

    def _place(self, settings: Mapping[str, Any]) -> None:
        """Read the directory and the model of a turn; each turn may have another one."""
        session = self._session
        session.model = string(settings, "model") or session.model
        visit(session, string(settings, "cwd"))

    def _rename(self, name: str, record: Mapping[str, Any]) -> Iterator[Event]:
        if name and name[:TITLE_CHARS] != self._session.title:
            self._session.title = name[:TITLE_CHARS]
            yield self._talk.title(name, moment(record.get("timestamp")))

    # -- resuming -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values: some kilobytes, whatever the session's length."""
        return {
            "session": {name: getattr(self._session, name) for name in _KEPT},
            "directories": list(self._session.directories),
            "thread": self._thread,
            "has_content": self._has_content,
            "copies": self._copies.state(),
            "keeps_copies": self._keeps_copies,
            "talk": self._talk.state(),
            "former": self._former.state() if self._former else None,
            "is_continued": self._is_continued,
        }

    @classmethod
    def restore(cls, path: Path, state: Mapping[str, Any], *, thinking: bool = False) -> RolloutReader:
        """Return a reader that continues from a saved state."""
        self = cls(path, thinking=thinking)
        for name, value in state["session"].items():
            setattr(self._session, name, value)
        self._session.directories = tuple(state["directories"])
        self._thread = state["thread"]
        self._copies = Copies(self._thread)
        self._copies.restore(state["copies"])
        self._keeps_copies = state["keeps_copies"]
        self._talk = Conversation(self._session, thinking=thinking, state=state["talk"])
        if state["former"]:
            self._former = FormerSession.restore(state["former"], self._session)
        self._is_continued = state["is_continued"]
        self._is_first, self.is_introduced = False, True
        self._has_content = state["has_content"]
        return self
