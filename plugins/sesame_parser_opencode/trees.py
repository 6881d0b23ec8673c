"""Reads sessions from trees of JSON files: OpenCode up to 0.5 (one tree a project), and 0.6 to 1.1 (one tree).

A session has a file of its own, which is the unit, one for each message, and one for each part of a message.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sesame_core.sdk.databases import is_database
from sesame_core.types.listing import Unit
from sesame_core.types.transcript import LINE_LIMIT, Skipped

from .database import CHECKED, MESSAGE, PART
from .records import Record
from .values import mapping, number, string

#: Longest file in bytes that is read: one with a file as base64 may have any length.
FILE_LIMIT = 16 * LINE_LIMIT
#: Name of the directory of session files in the trees up to 0.5.
INFO = "info"


class Tree:
    """A directory `storage` with sessions."""

    def __init__(self, storage: str) -> None:
        self.storage = storage
        self.sessions = os.path.join(storage, "session")
        self.is_oldest = os.path.isdir(os.path.join(self.sessions, INFO))
        base = self.sessions if self.is_oldest else storage
        self._messages = os.path.join(base, "message")
        self._parts = os.path.join(base, "part")

    @classmethod
    def of(cls, file: str) -> Tree | None:
        """Return the tree of a session's file, of a message's, or of a part's; None when the path is in no tree."""
        above = os.path.dirname(file)
        while (up := os.path.dirname(above)) != above:
            if os.path.basename(above) == "session" or os.path.basename(above) in ("message", "part"):
                storage = os.path.dirname(up) if os.path.basename(up) == "session" else up
                if is_storage(storage):
                    return cls(storage)
            above = up
        return None

    def directories(self) -> list[str]:
        """Return the directories of session files."""
        if self.is_oldest:
            return [os.path.join(self.sessions, INFO)]
        return sorted(entry.path for entry in os.scandir(self.sessions) if entry.is_dir())

    def message_directories(self) -> Iterator[os.DirEntry[str]]:
        """Yield the directories with the messages of one session each."""
        if os.path.isdir(self._messages):
            yield from (entry for entry in os.scandir(self._messages) if entry.is_dir())

    def files(self) -> Iterator[str]:
        """Yield the session files.

        :raises OSError: a directory cannot be read.
        """
        for directory in self.directories():
            yield from (entry.path for entry in os.scandir(directory) if is_session_name(entry.name))

    def unit(self, file: str) -> Unit:
        """Return the unit of a session file: with the newest of what belongs to it.

        A message's file is written once more after its parts, so only the newest messages are checked.

        :raises OSError: it cannot be checked.
        """
        stat = os.stat(file)
        newest, size = stat.st_mtime_ns, stat.st_size
        # The name of a session's file is its id with `ses_`, which few lack.
        name = os.path.basename(file).removesuffix(".json")
        for id in dict.fromkeys((name, name.removeprefix("ses_"))):
            try:
                messages = sorted(os.listdir(os.path.join(self._messages, id)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            size += MESSAGE * len(messages)
            checked = [os.path.join(self._messages, id)]
            for message in messages[-CHECKED:]:
                checked.append(os.path.join(self._messages, id, message))
                parts = self._part_directory(id, message.removesuffix(".json"))
                checked.append(parts)
                try:
                    size += PART * len(os.listdir(parts))
                except (FileNotFoundError, NotADirectoryError):
                    continue
            newest = max(newest, *map(_mtime_ns, checked))
        return Unit(path=file, mtime_ns=newest, size=size)

    def session(self, file: str) -> Files:
        """Return the session of a file.

        :raises OSError: it cannot be read.
        :raises ValueError: it is empty, half-written, or no session.
        """
        facts = _object(file)
        if not string(facts, "id"):
            raise ValueError("it has no id")
        return Files(self, file, facts)

    def messages_of(self, session_id: str) -> list[str]:
        """Return the files of a session's messages."""
        return _json_files(os.path.join(self._messages, session_id))

    def parts_of(self, session_id: str, message_id: str) -> list[str]:
        """Return the files of a message's parts."""
        return _json_files(self._part_directory(session_id, message_id))

    def _part_directory(self, session_id: str, message_id: str) -> str:
        return os.path.join(self._parts, *([session_id] if self.is_oldest else []), message_id)

    def loose_parts(self) -> list[str]:
        """Return the files of parts that are in no directory of a message."""
        return _json_files(self._parts)


class Files:
    """The files of one session."""

    is_new = False

    def __init__(self, tree: Tree, file: str, session: Mapping[str, Any]) -> None:
        time = mapping(session, "time")
        self.facts: Mapping[str, Any] = {
            **session,
            "parent_id": session.get("parentID"),
            "time_created": time.get("created"),
            "time_updated": time.get("updated"),
        }
        self._tree = tree
        self._file = file
        self._number = 0
        self._loose: dict[str, list[Record]] | None = None

    def parent_of(self, session_id: str) -> str:
        """Return the id of the session that started another one; "" when none did."""
        if session_id == self.facts["id"]:
            return string(self.facts, "parent_id")
        file = os.path.join(os.path.dirname(self._file), f"{session_id}.json")
        try:
            return string(_object(file), "parentID") if _is_name(session_id) else ""
        except (OSError, ValueError):
            return ""

    def messages(self) -> Iterator[Record | Skipped]:
        """Yield the messages in order."""
        id = self.facts["id"]
        found = list(self._read(self._tree.messages_of(id) if _is_name(id) else []))
        yield from (one for one in found if isinstance(one, Skipped))
        records = [one for one in found if isinstance(one, Record)]
        yield from sorted(records, key=lambda one: (number(mapping(one.data, "time").get("created")) or 0, one.id))

    def parts(self, message: Record) -> Iterable[Record | Skipped]:
        """Return the parts of a message in order."""
        if self._loose is None:
            self._loose = {}
            for one in self._read(self._tree.loose_parts()):
                if isinstance(one, Record):
                    self._loose.setdefault(string(one.data, "messageID"), []).append(one)
        id = self.facts["id"]
        is_safe = _is_name(id) and _is_name(message.id)
        found = list(self._read(self._tree.parts_of(id, message.id) if is_safe else []))
        return found + self._loose.get(message.id, [])

    def _read(self, files: Iterable[str]) -> Iterator[Record | Skipped]:
        for file in files:
            self._number += 1
            try:
                record = _object(file)
            except FileNotFoundError:
                continue  # deleted since it was listed
            except ValueError as error:
                yield Skipped(reason=str(error), line=self._number)
                continue
            yield Record(string(record, "id") or os.path.basename(file).removesuffix(".json"), record)


def is_storage(place: str) -> bool:
    """Return whether a directory is a tree of sessions: one of sessions and one of messages are in it."""
    sessions = os.path.join(place, "session")
    return os.path.isdir(sessions) and any(os.path.isdir(os.path.join(base, "message")) for base in (place, sessions))


def is_session_name(name: str) -> bool:
    """Return whether a file's name is that of a session."""
    return name.startswith("ses") and name.endswith(".json")


def databases_of(storage: str) -> list[str]:
    """Return the databases next to a tree, into which its sessions may have been copied.

    :raises OSError: the directory cannot be read.
    """
    place = os.path.dirname(storage)
    names = sorted(name for name in os.listdir(place) if name.startswith("opencode") and name.endswith(".db"))
    return [path for name in names if is_database(path := os.path.join(place, name))]


def _is_name(id: str) -> bool:
    return os.sep not in id and id not in (".", "..")


def _json_files(directory: str) -> list[str]:
    try:
        names = sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(directory, name) for name in names if name.endswith(".json")]


def _object(file: str) -> dict[str, Any]:
    """Return the object in a file.

    :raises OSError: it cannot be read.
    :raises ValueError: it is empty, too long, or not an object; the message is a reason.
    """
    if os.path.getsize(file) > FILE_LIMIT:
        raise ValueError("oversized")
    with open(file, "rb") as opened:
        content = opened.read()
    if not content.strip(b"\0 \t\r\n"):
        raise ValueError("empty")
    try:
        value = json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise ValueError("damaged") from None
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
