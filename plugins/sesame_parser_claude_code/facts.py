"""Collects the properties of the session from its records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sesame_core.types.transcript import DIRECTORIES, Session, SessionKind

from .files import SessionFile
from .records import mapping, string

AGENT = "claude-code"
#: Longest title, in characters; a longer one is cut, and indexed in full as a message.
TITLE_CHARS = 500
#: Precedence of titles: a person's over the agent's over an old-style summary over a subagent's description.
TITLE_RANKS = {"custom-title": 4, "ai-title": 3, "summary": 2, "description": 1}
#: Not a branch, but a detached head.
_NO_BRANCH = frozenset({"", "HEAD"})


class SessionFacts:
    """The properties of one session, collected record by record."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self._id = ""
        self._session_id = ""
        self._agent_id = file.agent_id or ""
        self._is_subagent = file.agent_id is not None
        self._forked_from = ""
        self._cwd = ""
        #: The last directory, and those after the first; each is the shell's, so it changes often.
        self._present = ""
        self._directories: list[str] = []
        self._branch = ""
        self._repository = ""
        self._model = ""
        self._entrypoint = ""
        self._title = ""
        self._title_rank = 0

    @property
    def id(self) -> str:
        """The session's id; fixed at first access, so that all messages have the same id."""
        if not self._id:
            self._id = self._session_id or self._file.path.stem
            if self._is_subagent:
                agent = self._agent_id or self._file.path.stem
                self._id = f"{self._parent}/{agent}" if self._parent else self._file.path.stem
        return self._id

    @property
    def is_subagent(self) -> bool:
        """Whether the session is a subagent's."""
        return self._is_subagent

    @property
    def has_cwd(self) -> bool:
        """Whether the session's directory is known."""
        return bool(self._cwd)

    @property
    def _parent(self) -> str:
        if self._is_subagent:
            return self._session_id or self._file.parent_id or ""
        return self._forked_from if self._forked_from != self._session_id else ""

    def learn(self, record: Mapping[str, Any]) -> None:
        """Read the properties that any record may have."""
        if not self._session_id:
            self._session_id = string(record, "sessionId")
            if self._session_id and record.get("isSidechain") is True and string(record, "agentId"):
                self._is_subagent = True
                self._agent_id = self._agent_id or string(record, "agentId")
        cwd = record.get("cwd")
        if cwd != self._present and cwd:
            self._present = string(record, "cwd")
            self._visit(self._present)
        branch = record.get("gitBranch")
        if branch != self._branch and branch not in (None, *_NO_BRANCH):
            self._branch = string(record, "gitBranch") or self._branch
        entrypoint = record.get("entrypoint")
        if entrypoint and entrypoint != self._entrypoint and not self._is_by_hand():
            self._entrypoint = string(record, "entrypoint")
        if not self._forked_from and "forkedFrom" in record:
            self._forked_from = string(mapping(record, "forkedFrom"), "sessionId")

    def learn_move(self, record: Mapping[str, Any]) -> None:
        """Read that the session moved to another directory, or to a worktree of the one it was in."""
        worktree = mapping(record, "worktreeSession")
        self._visit(string(record, "relocatedCwd"))
        self._visit(string(worktree, "originalCwd"))
        self._visit(string(worktree, "worktreePath"))

    def _visit(self, directory: str) -> None:
        if not self._cwd:
            self._cwd = directory
        elif directory not in ("", self._cwd, *self._directories) and len(self._directories) < DIRECTORIES:
            self._directories.append(directory)

    def learn_parent(self, record: Mapping[str, Any]) -> None:
        """Read the pointer to the parent at the head of a forked subagent's transcript."""
        if self._is_subagent:
            self._session_id = self._session_id or string(record, "parentSessionId")

    def learn_model(self, model: str) -> None:
        """Set the model of an answer; names in angle brackets stand for Claude Code itself, not for a model."""
        if model and not model.startswith("<"):
            self._model = model

    def learn_pull_request(self, record: Mapping[str, Any]) -> None:
        """Set the repository in which a pull request was opened."""
        name = string(record, "prRepository")
        if not name:
            return
        try:
            host = urlsplit(string(record, "prUrl")).hostname
        except ValueError:
            host = None
        self._repository = f"{host or 'github.com'}/{name}"

    def learn_title(self, kind: str, title: str) -> None:
        """Set a title; the last one of the highest rank wins."""
        if TITLE_RANKS[kind] >= self._title_rank:
            self._title, self._title_rank = title[:TITLE_CHARS], TITLE_RANKS[kind]

    def session(self) -> Session:
        """Return the properties known so far."""
        return Session(
            id=self.id,
            agent=AGENT,
            kind=self._kind(),
            parent_id=self._parent or None,
            cwd=self._cwd or None,
            directories=tuple(self._directories),
            title=self._title or None,
            git_branch=self._branch or None,
            repository=self._repository or None,
            model=self._model or None,
        )

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        return {name[1:]: value for name, value in vars(self).items() if name != "_file"}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        for name, value in state.items():
            setattr(self, f"_{name}", value)

    def _is_by_hand(self) -> bool:
        return bool(self._entrypoint) and not self._entrypoint.startswith("sdk-")

    def _kind(self) -> SessionKind:
        if self._is_subagent:
            return "subagent"
        return "headless" if self._entrypoint and not self._is_by_hand() else "interactive"
