"""Who worked on a file, a directory or a topic: people, and the sessions in which they did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..query.filters import asked
from ..search.grouping import copy_rank
from ..text.folding import shortened
from ..text.readable import readable
from ..types.knowing import Involved, Person, Who
from ..types.query import Filters
from .calls_read import CallsRead
from .finding import LONG_AGO
from .mentions import Mention, mentions
from .named_file import NamedFile, named_file
from .people import by_person
from .reach import withheld
from .same_file import Level, SameFile

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Answer
    from ..types.index import StoredSession

#: Sessions on a topic that are looked at, and the share of the best one's score below which one is about other things:
#: of the labelled sessions of 121 queries 93 % are above it, and 6 sessions a query.
LOOKED, SHARE = 50, 0.6
#: Most characters of what is at a place.
TEXT = 160


def who(
    reader: IndexReader,
    about: str,
    filters: Filters,
    searched: Callable[[str, Filters, int], Answer],
    *,
    is_topic: bool = False,
) -> Who:
    """Return who worked on something.

    :param about: a file or directory that is here or that sessions name, by its path or the end of it; or else words,
        which are searched for.
    :param searched: searches words, with filters and a limit.
    :param is_topic: it is words, even if there is a file of this name.
    """
    file = None if is_topic else named_file(about)
    with reader.snapshot():
        hidden = withheld(reader, filters)
        found = _named(reader, about, file, filters) if file else None
        if found is None:
            found = _of_topic(about, searched(about, filters, LOOKED))
            if found.is_weak and file and not file.is_word:
                found = Who(about=about, name=file.name, subject="directory" if file.is_directory else "file")
    found.withheld = hidden
    return found


def _named(reader: IndexReader, about: str, file: NamedFile, filters: Filters) -> Who | None:
    """Return who worked on a file; None if no session names it, and there is no such file."""
    read = CallsRead(reader)
    found = _of_file(reader, read, about, file, filters)
    if not file.exists and not file.is_directory and not _changes(found) and "." not in file.name.rpartition("/")[2]:
        as_directory = replace(file, is_directory=True)
        below = _of_file(reader, read, about, as_directory, filters) if "/" in file.name else None
        found = below if below and _changes(below) else found
    if file.is_word:  # it is more often a word than a file that was only read
        return found if _changes(found) else None
    return found if file.exists or found.people or found.left_out or found.uncounted else None


def _changes(found: Who) -> int:
    return sum(person.changes for person in found.people)


def _of_file(reader: IndexReader, read: CallsRead, about: str, file: NamedFile, filters: Filters) -> Who:
    mentioned = mentions(reader, read, file, filters)
    made = mentioned.calls
    stored = read.sessions(one.number for one in made)
    same = file.same_file() if file.checkouts else None
    here = [one for one in made if same is None or _is_same(same, file, one, stored[one.number])]
    families = _families(reader, stored.values())
    involved = list(_involved(here or made, stored, families))
    shown = [one for one in involved if filters.all_kinds or one.stored.session.kind != "headless"]
    found = Who(
        about=about,
        name=file.name,
        subject="directory" if file.is_directory else "file",
        other_names=file.other_names,
        is_elsewhere=bool(file.checkouts and made and not here),
        is_truncated=not mentioned.is_whole,
        uncounted=mentioned.uncounted,
        left_out={"headless": len(involved) - len(shown)} if len(shown) < len(involved) else {},
    )
    shown.sort(key=lambda one: (bool(one.changes), one.last or LONG_AGO), reverse=True)
    people = by_person(shown)
    people.sort(key=lambda one: (one.changes, one.last or LONG_AGO), reverse=True)
    found.people = people
    return found


def _is_same(same: SameFile, file: NamedFile, mention: Mention, stored: StoredSession) -> bool:
    """Return whether a call that names a file of this name means the one in its repository."""
    session, at = stored.session, mention.chunk.timestamp
    return any(same.level(end, session, at) is Level.SAME for path in mention.paths for end in file.ends(path))


def _families(reader: IndexReader, stored: Iterable[StoredSession]) -> dict[int, StoredSession]:
    """Return the session that stands for each, by number: the best copy of its own, or of a subagent's parent."""
    sessions = list(stored)
    tops = {one.session.id.partition("/")[0] for one in sessions if one.session.kind == "subagent"}
    best: dict[tuple[str, str], StoredSession] = {}
    for one in sorted([*sessions, *(reader.find_by_id(tops) if tops else ())], key=copy_rank):
        best[one.session.workstation, one.session.id] = one
    found = {}
    for one in sessions:
        own = best[one.session.workstation, one.session.id]
        above = best.get((one.session.workstation, one.session.id.partition("/")[0]))
        found[one.number] = above if above and one.session.kind == "subagent" else own
    return found


def _involved(
    made: Iterable[Mention], stored: dict[int, StoredSession], families: dict[int, StoredSession]
) -> Iterator[Involved]:
    """Yield the sessions that have some calls; what a fork repeats belongs to the session that was first."""
    seen: set[int | tuple[int, int]] = set()
    groups: dict[int, list[Mention]] = {}
    order = sorted(made, key=lambda one: (_begun(stored[one.number]), one.number, one.chunk.seq))
    for one in order:
        identity = one.chunk.origin if one.chunk.origin is not None else (one.number, one.chunk.seq)
        if identity not in seen:
            seen.add(identity)
            groups.setdefault(families[one.number].number, []).append(one)
    tops = {top.number: top for top in families.values()}
    for number, calls in groups.items():
        calls.sort(key=lambda one: (one.is_change, one.chunk.timestamp or LONG_AGO, one.number, one.chunk.seq))
        last = calls[-1]
        times = [one.chunk.timestamp for one in calls if one.is_change == last.is_change and one.chunk.timestamp]
        top, own = tops[number].session, stored[last.number].session
        changes = sum(one.is_change for one in calls)
        yield Involved(
            stored=tops[number],
            changes=changes,
            reads=len(calls) - changes,
            first=min(times, default=top.created),
            last=max(times, default=top.modified),
            position=last.chunk.seq,
            subagent_id=own.id if own.id != top.id else None,
            text=shortened(" ".join(readable(last.chunk.text, last.chunk.kind).split()), TEXT),
        )


def _begun(stored: StoredSession) -> datetime:
    return stored.session.created or stored.session.modified or LONG_AGO


def _of_topic(about: str, answer: Answer) -> Who:
    query = answer.query
    if not (query.words or query.condition or asked(query.filters)):
        hint = "the question has no words to look for: name a file, or a topic"
        return Who(about=about, name=about, subject="topic", hints=(hint,))
    best = answer.hits[0].score if answer.hits else 0.0
    involved = [
        Involved(
            stored=hit.stored,
            first=hit.session.created,
            last=hit.session.modified,
            position=hit.chunk.seq if hit.chunk else None,
            subagent_id=hit.subagent_id,
            text=hit.snippet.text,
        )
        for hit in answer.hits
        if hit.score >= SHARE * best and not answer.is_weak
    ]
    people: list[Person] = by_person(involved)
    return Who(
        about=about,
        name=about,
        subject="topic",
        people=people,
        is_weak=answer.is_weak or not answer.hits,
        left_out={reason: number for reason, number in answer.left_out.items() if reason == "headless"},
        hints=answer.hints,
    )
