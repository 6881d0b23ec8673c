"""Collects the properties of the session from its events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sesame_core.types.transcript import DIRECTORIES, Session

from .files import SessionFile
from .values import mapping, moment, string

AGENT = "copilot"
#: Longest title, in characters.
TITLE_CHARS = 500
#: Characters of the first prompt that are compared with a name.
PROMPT_CHARS = 500
#: The only place where a fork's event log names its origin: an English sentence.
_FORKED = re.compile(r'Forked from "(?s:.*)" \(([0-9a-fA-F-]{36})\) as "(?s:.*)" \(([0-9a-fA-F-]{36})\)')
#: How the first versions tell the directory.
_TRUSTED = re.compile(r"Folder (.+) has been added to trusted folders")


class SessionFacts:
    """The properties of one session, collected event by event."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self._id = ""
        self._cwd = ""
        self._trusted = ""
        self._directories: list[str] = []
        self._branch = ""
        self._repository = ""
        self._model = ""
        self._parent = ""
        self._created = ""
        self._prompt = ""
        self._title = ""
        self._summary = ""

    @property
    def id(self) -> str:
        """The session's id; fixed at first access, so that all messages have the same id."""
        if not self._id:
            path = self._file.path
            self._id = self._file.id or (path.parent.name if path.name == "events.jsonl" else path.stem)
        return self._id

    @property
    def cwd(self) -> str | None:
        """The first directory."""
        return self._cwd or None

    def start(self, data: Mapping[str, Any]) -> None:
        """Read the event that starts the session."""
        self._id = self._id or self._file.id or string(data, "sessionId")
        self._created = self._created or string(data, "startTime")
        self._parent = self._parent or string(data, "detachedFromSpawningParentSessionId")
        self.resume(data)

    def resume(self, data: Mapping[str, Any]) -> None:
        """Read the event that continues it."""
        self._model = string(data, "selectedModel") or self._model
        self.move(mapping(data, "context"))

    def move(self, context: Mapping[str, Any]) -> None:
        """Read where the session is."""
        directory = string(context, "cwd") or string(context, "gitRoot")
        if not self._cwd:
            self._cwd = directory
        elif directory not in ("", self._cwd, *self._directories) and len(self._directories) < DIRECTORIES:
            self._directories.append(directory)
        self._branch = string(context, "branch") or self._branch
        self._repository = remote(context) or self._repository

    def inform(self, data: Mapping[str, Any]) -> None:
        """Read what the program told its user: where a fork comes from, or that the directory is trusted."""
        kind, text = string(data, "infoType"), string(data, "message")
        if kind == "fork" and (fork := _FORKED.search(text)):
            # A fork of a fork repeats the sentence of the first one.
            if fork[2].lower() == self.id.lower() or not self._parent:
                self._parent = fork[1]
        elif kind == "folder_trust" and not self._trusted and (folder := _TRUSTED.search(text)):
            self._trusted = folder[1]

    def answered_by(self, model: str) -> None:
        """Set the model."""
        self._model = model or self._model

    def prompted(self, text: str) -> None:
        """Store the first prompt."""
        self._prompt = self._prompt or " ".join(text.split())[:PROMPT_CHARS]

    def summarize(self, text: str) -> None:
        """Set the latest summary."""
        self._summary = text

    def new_title(self) -> str:
        """Return the title in the file next to the log if it is new; "" if it is not.

        A name that nobody gave is often the first prompt, which is no title; so it counts only after the prompt.
        """
        workspace = self._file.workspace
        name = workspace.name[:TITLE_CHARS]
        if not name or name == self._title or not (workspace.is_named_by_user or self._prompt):
            return ""
        if not workspace.is_named_by_user and self._is_from_prompt(name):
            return ""
        self._title = name
        return name

    def _is_from_prompt(self, name: str) -> bool:
        name = name.removesuffix(" (fork)").rstrip(".… ")
        name, prompt = name.casefold(), self._prompt.casefold()
        return prompt.startswith(name) or (len(prompt) >= PROMPT_CHARS and name.startswith(prompt))

    def session(self) -> Session:
        """Return the properties known so far; those that the events do not have are from the file next to the log."""
        workspace = self._file.workspace
        context = {key: workspace[key] for key in ("cwd", "branch", "repository", "host_type")}
        return Session(
            id=self.id,
            agent=AGENT,
            kind="interactive",
            parent_id=self._parent if self._parent and self._parent != self.id else None,
            cwd=self._cwd or context["cwd"] or self._trusted or None,
            directories=tuple(self._directories),
            title=self._title or None,
            summary=self._summary or None,
            git_branch=self._branch or context["branch"] or None,
            repository=self._repository or remote({**context, "hostType": context["host_type"]}) or None,
            model=self._model or None,
            created=self.created,
        )

    @property
    def created(self) -> datetime | None:
        """When the session started."""
        return moment(self._created)

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        return {name[1:]: value for name, value in vars(self).items() if name not in ("_file", "_summary")}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        for name, value in state.items():
            setattr(self, f"_{name}", value)


def remote(context: Mapping[str, Any]) -> str:
    """Return a repository as `host/owner/name`; "" when the context has none."""
    name = string(context, "repository").strip("/")
    host = string(context, "repositoryHost")
    if not host:
        host = "dev.azure.com" if string(context, "hostType") == "ado" else "github.com"
    return f"{host}/{name}" if name else ""
