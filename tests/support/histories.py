"""A git repository, and the sessions that wrote it: each change is made on disk, committed, and recorded as a call."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 8, 1, 10, 0, tzinfo=UTC)

#: The forms in which tools of agents say that a text was replaced by another: name of the tool, and its arguments.
FORMS = ("Edit", "MultiEdit", "edits", "replace", "str_replace_based_edit_tool", "apply_patch", "patchText")


def edit_call(form: str, path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    """Return a call that replaces a text, as a tool of an agent has it."""
    if form == "MultiEdit":
        return form, {"file_path": path, "edits": [{"old_string": old, "new_string": new}]}
    if form == "edits":
        return "edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}
    if form == "replace":
        return form, {"file_path": path, "instruction": "change it", "old_string": old, "new_string": new}
    if form == "str_replace_based_edit_tool":
        return form, {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    if form in ("apply_patch", "patchText"):
        hunk = [f"-{line}" for line in old.split("\n") if old] + [f"+{line}" for line in new.split("\n") if new]
        body = "\n".join(["@@", *hunk])
        if form == "apply_patch":
            return form, {"path": path, "patch": body}
        text = f"*** Begin Patch\n*** Update File: {path}\n{body}\n*** End Patch"
        return "apply_patch", {"patchText": text, "edits": [{"path": path}]}
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}


class Recorded:
    """One session: what it does is done to the repository, too."""

    def __init__(self, history: History, name: str, fields: dict[str, Any]) -> None:
        self._history = history
        self.name = name
        header = {"type": "sesame-session", "version": 1, "id": name, "agent": "owl", "cwd": str(history.root)}
        self.records: list[dict[str, Any]] = [{**header, "createdAt": history.now(), **fields}]

    def asks(self, text: str) -> None:
        """Record a prompt."""
        self._say("user", text=text)

    def calls(self, tool: str, *, is_error: bool = False, output: str = "ok", **arguments: Any) -> int:
        """Record a call with its result; return the position of the call."""
        number = len(self.records)
        self._say("assistant", toolCalls=[{"id": f"c{number}", "name": tool, "arguments": arguments}])
        result = {"callId": f"c{number}", "name": tool, "text": output, "isError": is_error}
        self._say("tool", toolResults=[result])
        return number - 1

    def writes(self, path: str, text: str, *, tool: str = "Write") -> int:
        """Write a whole file, and commit it."""
        self._history.put(path, text)
        position = self.calls(tool, file_path=str(self._history.root / path), content=text)
        self._history.commit(self.name)
        return position

    def edits(self, path: str, old: str, new: str, *, form: str = "Edit", where: str | None = None) -> int:
        """Replace a text in a file, and commit it.

        :param where: the path as the call has it; absolute when None.
        """
        self._history.replace(path, old, new)
        tool, arguments = edit_call(form, where or str(self._history.root / path), old, new)
        position = self.calls(tool, **arguments)
        self._history.commit(self.name)
        return position

    def runs(self, command: str, *, is_done: bool = True) -> int:
        """Run a command of a shell in the repository, and commit what it changed."""
        if is_done:
            subprocess.run(["sh", "-c", command], cwd=self._history.root, check=True, capture_output=True)
        position = self.calls("bash", command=command)
        self._history.commit(self.name)
        return position

    def _say(self, role: str, **fields: Any) -> None:
        record = {"type": "message", "id": f"m{len(self.records)}", "role": role, "timestamp": self._history.now()}
        self.records.append({**record, **fields})


class History:
    """A repository and its sessions.

    :param place: an empty directory; the repository is in `code/fox`, the sessions are in `in`.
    """

    def __init__(self, place: Path) -> None:
        self.root = place / "code" / "fox"
        self.source = place / "in"
        self._seconds = 0
        self._sessions: list[Recorded] = []
        self.root.mkdir(parents=True)
        self.source.mkdir()
        self.git("init", "-q", "-b", "main")

    def now(self) -> str:
        """Return the next second."""
        self._seconds += 1
        return f"{START + timedelta(seconds=self._seconds):%Y-%m-%dT%H:%M:%SZ}"

    def session(self, name: str, **fields: Any) -> Recorded:
        """Return a new session."""
        made = Recorded(self, name, fields)
        self._sessions.append(made)
        return made

    def save(self) -> None:
        """Write the files of all sessions, and set the times of the repository's files to the present of the story."""
        for one in self._sessions:
            lines = "".join(json.dumps(record) + "\n" for record in one.records)
            (self.source / f"{one.name}.jsonl").write_text(lines, encoding="utf-8")
        seconds = (START + timedelta(seconds=self._seconds)).timestamp()
        for file in self.root.rglob("*"):
            if file.is_file() and ".git" not in file.parts:
                os.utime(file, (seconds, seconds))

    def put(self, path: str, text: str) -> None:
        """Write a file, without a session."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a text that is in a file once, without a session."""
        text = self.read(path)
        assert text.count(old) == 1 if old else not text, (path, old)
        self.put(path, text.replace(old, new, 1))

    def commit(self, author: str) -> str:
        """Commit everything in the name of a session or a person; return the commit."""
        self.git("add", "-A")
        who = f"{author} <{author}@example.org>"
        self.git("commit", "-q", "--allow-empty", "-m", f"by {author}", f"--author={who}", f"--date={self.now()}")
        return self.git("rev-parse", "HEAD").strip()

    def authors(self, path: str, ignored: Sequence[str] = ()) -> list[str]:
        """Return who wrote each line of a file according to git.

        :param ignored: commits that only changed the form.
        """
        revs = [f"--ignore-rev={commit}" for commit in ignored]
        output = self.git("blame", "-w", "-M", "--line-porcelain", *revs, "--", path)
        return [line.removeprefix("author ") for line in output.split("\n") if line.startswith("author ")]

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        me = {f"GIT_{who}_{of}": "fox" for who in ("AUTHOR", "COMMITTER") for of in ("NAME", "EMAIL")}
        me["GIT_CONFIG_GLOBAL"] = os.devnull
        environment = {**os.environ, **me, "GIT_COMMITTER_DATE": f"{START.timestamp() + self._seconds:.0f} +0000"}
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout
