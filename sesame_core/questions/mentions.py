"""The calls that name a file: found by its name as a phrase, and read for whether they change it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..plugin.backend import IndexReader, Phrases
from ..text.calls import files_of
from ..text.readable import is_shell
from ..types.query import Filters, Query, Word
from .named_file import NamedFile, last_parts

if TYPE_CHECKING:
    from ..types.index import Chunk, ScoredChunk

#: Most chunks with a name that are looked at, the newest: as many as a server reads for a phrase.
MOST = 1_000
#: Chunks after a call in which its result is looked for: calls that run at once have their results after all of them.
AFTER = 8
_CALL = 2


@dataclass(frozen=True, slots=True)
class Mention:
    """A call that names a file."""

    #: Number of the session.
    number: int
    chunk: Chunk
    paths: tuple[str, ...]
    is_change: bool


def mentions(
    reader: IndexReader, file: NamedFile, filters: Filters, directories: dict[int, str | None]
) -> tuple[list[Mention], bool]:
    """Return the calls that name a file, and whether these are all.

    Calls that failed are left out, and so are names in commands that only look like the file's.

    :param directories: filled with the directory of each session by number, below which relative paths are.
    """
    found: dict[tuple[int, int], ScoredChunk] = {}
    is_whole = False
    for questions in _questions(file, filters):
        if not is_whole:
            answers = [_with(reader, Word(text=name, alternatives=(name,)), narrowed) for name, narrowed in questions]
            is_whole = all(len(chunks) < MOST for chunks in answers)
            found |= {(c.session, c.seq): c for chunks in answers for c in chunks if c.weight_class == _CALL}
    places = sorted(found, reverse=True)
    texts = reader.chunks([(*place, 1) for place in places]) if places else []
    by_place = {place: chunks[0] for place, chunks in zip(places, texts, strict=True) if chunks}
    for stored in reader.sessions({number for number, _ in by_place}) if by_place else ():
        directories[stored.number] = stored.session.cwd
    made = [
        Mention(number, chunk, paths, any(changed))
        for (number, _), chunk in by_place.items()
        if (named := _meant(file, chunk, directories.get(number)))
        for paths, changed in [tuple(zip(*named, strict=True))]
    ]
    return _without_failed(reader, made), is_whole


def _questions(file: NamedFile, filters: Filters) -> Iterator[list[tuple[str, Filters]]]:
    """Yield phrases with filters, to be asked for until all calls with some of them are known.

    A command may name a file by its last component, after it changed to a directory.  Of a common name, sessions with
    the path are asked for it, and those in its repository, and all for two components.
    """
    calls = replace(filters, tools_only=True, role="assistant", all_kinds=True)
    last = last_parts(file.names, 1)
    yield [(name, calls) for name in last]
    end = "/" if file.is_directory else ""
    narrow = [(name, calls) for name in last_parts(file.names, 2)]
    if filters.path is None:
        narrow += [(last_parts([name], 1)[0], replace(calls, path=name + end)) for name in file.names]
    if file.checkouts and not filters.places and not file.is_directory:
        narrow += [(name, replace(calls, places=file.checkouts)) for name in last]
    yield narrow


def _with(reader: IndexReader, word: Word, filters: Filters) -> list[ScoredChunk]:
    if isinstance(reader, Phrases):
        return reader.phrase(word, filters, None, MOST)
    return reader.candidates(Query(text=word.text, words=(word,)), filters).chunks[:MOST]


def _meant(file: NamedFile, chunk: Chunk, directory: str | None) -> list[tuple[str, bool]]:
    named = [one for one in files_of(chunk.text, directory) if file.is_meant(one.path)]
    if file.is_word and is_shell(chunk.tool_name):
        named = [one for one in named if one.is_changed]  # `npm test` names no file
    return [(one.path, one.is_changed) for one in named]


def _without_failed(reader: IndexReader, found: list[Mention]) -> list[Mention]:
    """Leave out the changes whose result is an error."""
    changes = [one for one in found if one.is_change and one.chunk.call_id]
    after = reader.chunks([(one.number, one.chunk.seq + 1, AFTER) for one in changes]) if changes else []
    failed = {
        (change.number, change.chunk.seq)
        for change, chunks in zip(changes, after, strict=True)
        for chunk in chunks
        if chunk.kind == "tool_result" and chunk.is_error and chunk.call_id == change.chunk.call_id
    }
    return [one for one in found if (one.number, one.chunk.seq) not in failed]
