"""Filters and conditions in plain Python: for backends that are not SQL, and the reference for tests of `sdk.sql`.

Names, paths, branches and models are compared in any case; ids, keys and directories exactly.  An unknown fact of a
session matches nothing, so that its negation matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from ..text.readable import is_shell
from ..text.words import word_of
from ..types.index import Chunk, StoredSession
from ..types.query import AllOf, AnyOf, Condition, Filters, Has, Is, Not, Word, is_within, marked, names_of
from ..types.transcript import Session

#: Returns whether a chunk of a session contains a word, by the backend's rules.
Contains: TypeAlias = Callable[[StoredSession, Chunk, Word], bool]


class SessionFilter:
    """Evaluates filters and conditions on sessions.

    :param contains: how the backend finds words.
    """

    def __init__(self, contains: Contains) -> None:
        self._contains = contains

    def matches(self, filters: Filters, stored: StoredSession, chunks: Sequence[Chunk]) -> bool:
        """Return whether a session matches filters.

        It ignores `all_kinds` (see `is_hidden`) and the fields that narrow chunks (see `chunk_matches`, `has_chunk`).

        :param chunks: all chunks of the session, with `paths`.
        """
        return (
            _facts_match(filters, stored.session)
            and _is_during(filters, stored.session, chunks)
            and self._chunks_match(filters, stored, chunks)
        )

    def meets(self, condition: Condition | None, stored: StoredSession, chunks: Sequence[Chunk]) -> bool:
        """Return whether a session meets a condition; None is always met."""
        match condition:
            case None:
                return True
            case Has(word):
                return any(self._contains(stored, chunk, word) for chunk in chunks)
            case Is(filters):
                return self.matches(filters, stored, chunks) and has_chunk(filters, stored, chunks)
            case Not(part):
                return not self.meets(part, stored, chunks)
            case AllOf(parts):
                return all(self.meets(part, stored, chunks) for part in parts)
            case AnyOf(parts):
                return any(self.meets(part, stored, chunks) for part in parts)

    def _chunks_match(self, filters: Filters, stored: StoredSession, chunks: Sequence[Chunk]) -> bool:
        if filters.path:
            path = filters.path.replace("\\", "/")
            if not any(_ends_with(named.replace("\\", "/"), path) for chunk in chunks for named in chunk.paths):
                return False
        if filters.is_error and not any(c.is_error and _is_named(c.tool_name, filters.tool) for c in chunks):
            return False
        if not filters.cmd:
            return True
        command = word_of(filters.cmd)
        return any(_is_shell_call(chunk) and self._contains(stored, chunk, command) for chunk in chunks)


def chunk_matches(filters: Filters, chunk: Chunk) -> bool:
    """Return whether a chunk matches `tools_only`, `tool` and `role`, and was said between `after` and `before`.

    A chunk without a time matches the interval.
    """
    return _is_of_kind(filters, chunk) and (chunk.timestamp is None or _is_within(filters, chunk.timestamp))


def _is_of_kind(filters: Filters, chunk: Chunk) -> bool:
    weight_class = chunk.weight_class
    if (filters.tools_only or filters.tool) and weight_class < 2:
        return False
    if filters.tool and not _is_named(chunk.tool_name, filters.tool):
        return False
    if filters.role == "user":
        return weight_class == 0
    if filters.role == "tool":
        return weight_class == 3
    return filters.role is None or (weight_class in (1, 2) and chunk.role == filters.role)


def has_chunk(filters: Filters, stored: StoredSession, chunks: Iterable[Chunk]) -> bool:
    """Return whether a session counts as having a chunk that matches `tools_only`, `tool` and `role`.

    Without `role`, its `tool_counts` decide.
    """
    if filters.role:
        return any(_is_of_kind(filters, chunk) for chunk in chunks)
    tools = stored.session.tool_counts
    return any(_is_named(tool, filters.tool) for tool in tools) if filters.tool or filters.tools_only else True


def values_of(field: str, session: Session) -> list[str]:
    """Return what a session has for a field of filters, in the sense of `plugin.backend.Values`."""
    if field == "tool":
        return list(session.tool_counts)
    if field == "cwd":
        return list(session.places)
    if field == "tags":
        return list(session.notes.tags) if session.notes else []
    found = {
        "agents": session.agent,
        "branch": session.git_branch,
        "host": session.host,
        "model": session.model,
        "owner": session.owner,
        "repo": session.repository,
        "workstation": session.key.partition(":")[0],
    }[field]
    return [found] if found else []


def is_hidden(filters: Filters, session: Session) -> bool:
    """Return whether a session is left out by default: headless ones are, unless `all_kinds`."""
    return session.kind == "headless" and not filters.all_kinds


def standing(sessions: Iterable[StoredSession]) -> set[int]:
    """Return the numbers of the sessions that represent their keys: one of the copies of each session.

    That is the copy whose file exists, then one that was not imported, then the longest, then the latest
    (`sesame_core.search.grouping.copy_rank`).
    """
    ranked = sorted(
        sessions, key=lambda s: (s.missing_since is None, not s.session.is_imported, s.chunk_count, s.number)
    )
    return set({stored.session.key: stored.number for stored in ranked}.values())


def narrows_chunks(filters: Filters, session: Session | None = None) -> bool:
    """Return whether filters narrow chunks, so that heads and conversations do not count.

    :param session: then also whether it lasted beyond the interval of the filters, so that its head does not count.
    """
    if filters.tools_only or filters.tool or filters.role:
        return True
    return session is not None and not _is_whole(filters, session)


def _is_within(filters: Filters, time: datetime) -> bool:
    """Return whether a time is between `after` and `before`."""
    return (not filters.after or time >= filters.after) and (not filters.before or time <= filters.before)


def _is_whole(filters: Filters, session: Session) -> bool:
    """Return whether all of a session is between `after` and `before`."""
    if not (filters.after or filters.before):
        return True
    times = (session.created or session.modified, session.modified)
    return all(time is not None and _is_within(filters, time) for time in times)


def _is_during(filters: Filters, session: Session, chunks: Sequence[Chunk]) -> bool:
    """Return whether something was said in a session between `after` and `before`."""
    if not (filters.after or filters.before):
        return True
    first, last = session.created or session.modified, session.modified
    if first is None or last is None:
        return False
    if (filters.after and last < filters.after) or (filters.before and first > filters.before):
        return False
    if _is_within(filters, first) or _is_within(filters, last):
        return True
    times = [chunk.timestamp for chunk in chunks if chunk.timestamp]
    return not times or any(_is_within(filters, time) for time in times)


def _facts_match(filters: Filters, session: Session) -> bool:
    """Return whether a session's own fields match filters."""
    return (
        (not filters.workstation or session.key.startswith(filters.workstation + ":"))
        and _is_named(session.owner, filters.owner)
        and _is_named(session.host, filters.host)
        and (not filters.cwd or _is_below(session, filters.cwd))
        and (not filters.places or _is_below(session, *filters.places))
        and (not filters.agents or session.agent in filters.agents)
        and not any(session.id == id or session.id.startswith(f"{id}/") for id in filters.exclude)
        and (not filters.repo or any(_holds(name, filters.repo) for name in (session.repository, _last(session.cwd))))
        and (not filters.branch or (session.git_branch is not None and _ends_with(session.git_branch, filters.branch)))
        and (not filters.model or _holds(session.model, filters.model))
        and (not filters.starred or session.id in marked(filters.starred)[0])
        and all(_has_tag(session, tag) for tag in filters.tags)
    )


def _has_tag(session: Session, tag: str) -> bool:
    """Return whether a session has a tag, in its notes or by its reader's mark."""
    given, without = marked(tag)
    noted = session.notes.tags if session.notes and session.id not in without else ()
    return session.id in given or any(_is_named(one, tag) for one in noted)


def _is_named(name: str | None, asked: str | None) -> bool:
    return not asked or (name is not None and name.lower() == asked.lower())


def _holds(text: str | None, part: str) -> bool:
    return text is not None and part.lower() in text.lower()


def _last(cwd: str | None) -> str | None:
    """Return the last part of a directory, whatever separates its parts."""
    return None if cwd is None else cwd.replace("\\", "/").rpartition("/")[2]


def _is_below(session: Session, *asked: str) -> bool:
    """Return whether a session was in one of several directories or below one; slashes at their ends are ignored."""
    names = [name for each in asked for name in names_of(each)]
    return any(is_within(place, names) for place in session.places)


def _ends_with(path: str, asked: str) -> bool:
    """Return whether a path ends with the wanted parts; if they end with `/`, whether it contains them."""
    path, asked = f"/{path}".lower(), f"/{asked.removeprefix('/')}".lower()
    return asked in path if asked.endswith("/") else path.endswith(asked)


def _is_shell_call(chunk: Chunk) -> bool:
    return chunk.weight_class == 2 and is_shell(chunk.tool_name)
