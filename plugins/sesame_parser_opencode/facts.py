"""The properties of one session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sesame_core.types.transcript import DIRECTORIES, Session

from .records import Stored, lineage
from .values import decoded, mapping, moment, string

AGENT = "opencode"
#: A title until a model has written one.
_PLACEHOLDER = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
#: What the program adds to the description of a task.
_OF_SUBAGENT = re.compile(r"\s*\(@[^()\s]+ subagent\)\Z")
#: Longest title, in characters.
TITLE_CHARS = 500


class SessionFacts:
    """The properties of one session: those of its row, and those of its messages so far."""

    def __init__(self, stored: Stored) -> None:
        row = stored.facts
        id = string(row, "id")
        above = lineage(stored, id)
        #: The session's id, after those of the sessions that started it.
        self.id = "/".join([*reversed(above), id])
        self.is_subagent = bool(above)
        self._parent = "/".join(reversed(above)) or string(row, "fork_session_id")
        self.summary = ""
        title = string(row, "title").strip()
        if self.is_subagent:
            title = _OF_SUBAGENT.sub("", title)
        self._title = "" if _PLACEHOLDER.fullmatch(title) else title[:TITLE_CHARS]
        self._cwd = string(row, "directory")
        self._directories: dict[str, None] = {}
        self._created = moment(row.get("time_created"))
        model = _object(row, "model")
        self._model = string(model, "id") or string(model, "modelID")
        revert = _object(row, "revert")
        #: The message, and the part of it, from which on all is undone; "" when nothing, or all of the message, is.
        self.undone = string(revert, "messageID"), string(revert, "partID")

    def learn_answer(self, data: Mapping[str, Any]) -> None:
        """Read the properties that an answer has."""
        self.visit(string(mapping(data, "path"), "cwd"))
        model = mapping(data, "model")
        self._model = string(data, "modelID") or string(model, "modelID") or string(model, "id") or self._model

    def visit(self, directory: str) -> None:
        """Note that the session was in a directory."""
        if not self._cwd:
            self._cwd = directory
        elif directory not in ("", self._cwd) and len(self._directories) < DIRECTORIES:
            self._directories[directory] = None

    def session(self) -> Session:
        """Return the properties known so far."""
        return Session(
            id=self.id,
            agent=AGENT,
            kind="subagent" if self.is_subagent else "interactive",
            parent_id=self._parent or None,
            cwd=self._cwd or None,
            directories=tuple(self._directories),
            title=self._title or None,
            summary=self.summary or None,
            model=self._model or None,
            created=self._created,
            abandoned=(1,) if self.undone[0] else (),
        )


def _object(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object, which is a JSON text in a database."""
    return decoded(row.get(key)) or mapping(row, key)
