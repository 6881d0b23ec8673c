"""The passage by which a session passes a filter: the command, the call, the error.

A list of sessions has no words to find passages with; `--cmd`, `--path`, `--error`, `--tool` and `--role` are about
chunks all the same, and the first chunk that passes says more than the session's first prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..sdk.filtering import chunk_matches, narrows_chunks
from ..text.readable import is_shell, readable
from ..text.snippets import occurrences, snippet
from ..text.tokens import light_stem
from ..text.words import word_of
from ..types.answer import Passage
from ..types.query import AllOf, AnyOf, Condition, Filters, Is, Query

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk

#: Chunks of each session that are read in turn; most sessions with an error or a tool have it in the first 256.
STEPS = (64, 192, 768)
#: Most chunks that are read for one list: about 30 ms.
MOST_READ = 4_000
#: Most matches of a command or path that are checked in each session.
MOST_CHECKED = 8
#: The line of a result that says what failed.
_FAILURE = r"(?im)^.*\b(?:\w*error|\w*exception|fatal|fail(?:ed|ures?|s)?|panic|denied|cannot|not found|no such)\b"


def deciding_passages(
    reader: IndexReader, filters: Filters, condition: Condition | None, numbers: Sequence[int]
) -> dict[int, Passage]:
    """Return for each listed session the first passage that passes the filters, by the session's number.

    A session is absent if none was found within `MOST_READ`, and all are if nothing in the query is about chunks.

    :param condition: the query's condition, for fields that are alternatives.
    """
    passages: dict[int, Passage] = {}
    for wanted in filter(_is_about_chunks, [filters, *_fields(condition)]):
        named = wanted.cmd or wanted.path
        query = Query(text=named or "", words=(word_of(named),) if named else ())
        missing = [number for number in numbers if number not in passages]
        # A common command is found at the beginning in less time than among all its matches, a rare one is not.
        found = _by_reading(reader, query, wanted, missing, STEPS[:1])
        if named and (missing := [number for number in missing if number not in found]):
            found |= _by_words(reader, query, wanted, filters, missing)
        missing = [number for number in missing if number not in found]
        found |= _by_reading(reader, query, wanted, missing, STEPS[1:], STEPS[0])
        passages |= {number: _passage(number, chunk, query, wanted) for number, chunk in found.items()}
    return passages


def _is_about_chunks(filters: Filters) -> bool:
    return bool(filters.cmd or filters.path or filters.is_error) or narrows_chunks(filters)


def _fields(condition: Condition | None) -> Iterator[Filters]:
    """Yield the fields of a condition that are not negated."""
    if isinstance(condition, Is):
        yield condition.filters
    elif isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from _fields(part)


def _decides(wanted: Filters, chunk: Chunk) -> bool:
    """Return whether a chunk may be the one by which its session passes; words are not compared."""
    if wanted.cmd:
        return chunk.kind == "tool_call" and is_shell(chunk.tool_name)
    if wanted.path:
        return chunk.kind == "tool_call" and not is_shell(chunk.tool_name) and _names(chunk.text, wanted.path)
    if wanted.is_error and not chunk.is_error:
        return False
    return chunk_matches(replace(wanted, tools_only=False) if wanted.is_error else wanted, chunk)


def _by_words(
    reader: IndexReader, query: Query, wanted: Filters, filters: Filters, numbers: Sequence[int]
) -> dict[int, Chunk]:
    """Return the first of the best matches of a command or path in each session, from the full-text index."""
    narrowed = replace(filters, tools_only=True, tool=None, role=None, all_kinds=True)
    places: dict[int, list[int]] = {number: [] for number in numbers}
    for scored in reader.candidates(query, narrowed).chunks:
        if scored.weight_class == 2 and scored.session in places:
            places[scored.session].append(scored.seq)
    ranges = [(number, seq, 1) for number, seqs in places.items() for seq in sorted(seqs)[:MOST_CHECKED]]
    found: dict[int, Chunk] = {}
    inside: dict[int, Chunk] = {}
    for (number, _, _), chunks in zip(ranges, reader.chunks(ranges), strict=True):
        if number not in found and chunks and _decides(wanted, chunks[0]):
            # A word of its own is better than a part of a name, which only the index has.
            (found if _says(chunks[0].text, query) else inside).setdefault(number, chunks[0])
    return inside | found


def _says(text: str, query: Query) -> bool:
    """Return whether a text has the words of a query's only phrase next to each other, in order."""
    stems = [light_stem(token) for token in re.findall(r"[^\W_]+", query.text)]
    found = occurrences(text, query)
    for start in range(len(found) - len(stems) + 1):
        run = found[start : start + len(stems)]
        between = (text[one[1] : other[0]] for one, other in pairwise(run))
        is_in_order = all(stem.startswith(asked) for (_, _, stem), asked in zip(run, stems, strict=True))
        if is_in_order and not any(map(str.isalnum, "".join(between))):
            return True
    return False


def _names(text: str, path: str) -> bool:
    """Return whether a call has an argument that is a path, or ends with its components."""
    named = re.escape(path.replace("\\", "/").removeprefix("/"))
    end = "" if path.endswith(("/", "\\")) else r"\s*$"
    return re.search(rf"(?im)^[\s-]*[\w ]+: (?:.*/)?{named}{end}", text.replace("\\", "/")) is not None


def _by_reading(
    reader: IndexReader,
    query: Query,
    wanted: Filters,
    numbers: Sequence[int],
    steps: Sequence[int],
    first: int = 0,
) -> dict[int, Chunk]:
    """Return the first match of each session, read in steps from a position on as far as the limits allow."""
    found: dict[int, Chunk] = {}
    left, missing = MOST_READ, list(numbers)
    for step in steps:
        missing = [number for number in missing if number not in found][: left // step]
        if not missing:
            break
        read = reader.chunks([(number, first, step) for number in missing])
        left -= sum(map(len, read))
        chosen = [
            (number, chunk)
            for number, chunks in zip(missing, read, strict=True)
            for chunk in chunks
            if _decides(wanted, chunk)
        ]
        if wanted.cmd:
            # Asking the index for each call takes five times as long as reading it.
            chosen = [(number, chunk) for number, chunk in chosen if _says(chunk.text, query)]
        for number, chunk in chosen:
            found.setdefault(number, chunk)
        # A session that has ended need not be read on.
        missing = [number for number, chunks in zip(missing, read, strict=True) if len(chunks) == step]
        first += step
    return found


def _passage(number: int, chunk: Chunk, query: Query, wanted: Filters) -> Passage:
    text = readable(chunk.text, chunk.kind)
    if wanted.is_error and not query.words and (failure := re.search(_FAILURE, text)):
        text = text[failure.start() :].lstrip()
    return Passage(number=number, chunk=chunk, snippet=snippet(text, query))
