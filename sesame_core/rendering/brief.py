"""A search answer as an agent gets it: evidence, and what it needs to go on, in bounded size.

Every byte is a token that a model pays for.  So facts about a session are left to `get_session`, fields that say
nothing are left out, and each string has a limit, counted as it is sent: in bytes of UTF-8, as JSON writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any, cast

from ..text.readable import readable
from .answers import hints_of
from .budget import WINDOW, fitting, sent, within
from .text import iso, one_line, session_name, some_words

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit, Passage
    from ..types.evidence import WindowItem
    from ..types.index import Chunk, ChunkKind
    from ..types.report import IndexReport
    from .schemas.brief import BriefJson, BriefPassageJson, BriefResultJson

#: Bytes of a passage, the limit of one text [seed 003]; of the first two together, which share what one leaves, for the
#: results that are likely to be the wanted one and for the others; and of each further one.
PASSAGE, BOTH, BOTH_LATER, FURTHER = 1_024, 1_536, 1_024, 256
#: Results that are likely to be the wanted one: .97 of labelled queries are answered by one of the first three, .94 by
#: the first.
LIKELY = 2
#: Bytes of a title, a directory, and the name of a speaker.
TITLE, DIRECTORY, SPEAKER = 120, 160, 48
#: Bytes of a hint and of a word, and most of each.
HINT, HINTS, WORD, WORDS = 400, 6, 60, 12
#: Default number of results, of passages of each, of items on each side of the first one, and bytes of the answer.  All
#: limits together are below it, and it is below the 20,000 characters from which on the first client (pi) truncates.
RESULTS, PASSAGES, ITEMS, BYTES = 5, 2, 4, 18_000
#: Fields of `index` that are about this run and not about what an answer lacks.
_OF_THE_RUN = ("changed", "sources", "lastSync", "unreadable")


def brief_json(
    answer: Answer, refreshed: IndexReport | None = None, *, max_bytes: int = BYTES, current: Sequence[str] = ()
) -> BriefJson:
    """Return an answer as an agent gets it.

    :param max_bytes: UTF-8 bytes of the whole answer as compact JSON at most: windows shrink first, then passages go,
        then they get shorter, then results go.
    :param current: ids of the caller's own sessions, which were left out.
    """
    from .freshness import index_json

    found = [
        _result(hit, BOTH if place < LIKELY else BOTH_LATER, is_search=answer.mode == "search")
        for place, hit in enumerate(answer.hits, answer.offset)
    ]
    about = _said(
        {
            "totalIsLowerBound": answer.is_truncated,
            "weak": answer.is_weak,
            "wordsNotFound": [fitting(word, WORD) for word in some_words(answer.words_not_found)[:WORDS]],
            "corrections": _spellings(answer.corrections),
            "showing": _spellings(answer.showing),
            "after": iso(answer.filters.after) if answer.filters else None,
            "before": iso(answer.filters.before) if answer.filters else None,
            "hints": [fitting(hint, HINT) for hint in hints_of(answer, refreshed)[:HINTS]],
            "leftOut": answer.left_out,
            "widened": answer.is_widened,
            "index": _lacking(index_json(refreshed), is_thin=answer.is_weak or not answer.hits),
            "currentSessions": list(current),
        }
    )
    value: dict[str, Any] = {"total": answer.total, **about, "results": found}
    return cast("BriefJson", within(value, max_bytes, first=answer.offset))


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say something: neither null nor false nor zero nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "", [], {})}


def _spellings(spellings: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        fitting(word, WORD): [fitting(one, WORD) for one in found[:WORDS]]
        for word, found in list(spellings.items())[:WORDS]
    }


def _lacking(index: Mapping[str, Any], *, is_thin: bool) -> dict[str, Any]:
    """Return what an index lacks; nothing when it is up to date.

    :param is_thin: little was found, which files that no parser recognises may explain.
    """
    left_out = _OF_THE_RUN if is_thin else (*_OF_THE_RUN, "unrecognised")
    lacking = _said({name: value for name, value in index.items() if name not in left_out})
    if "notSearched" in lacking:
        lacking["notSearched"] = [
            {name: fitting(text, HINT) for name, text in file.items()} for file in lacking["notSearched"]
        ]
    return {} if lacking == {"refreshed": True} else {**lacking, "refreshed": bool(index["refreshed"])}


def _result(hit: Hit, both: int, *, is_search: bool) -> BriefResultJson:
    """Return a result.

    :param both: bytes of its first two passages at most.
    """
    session = hit.session
    moment = (hit.chunk.timestamp if hit.chunk else None) or session.modified
    passages = list(_passages(hit.passages, both))
    fields = {
        "session": session.id,
        "title": fitting(session_name(hit.stored), TITLE),
        "cwd": fitting(one_line(session.cwd or ""), DIRECTORY),
        "agent": fitting(one_line(session.agent), SPEAKER),
        "day": f"{moment.astimezone(UTC):%Y-%m-%d}" if moment else None,
        "score": round(hit.score, 2) if is_search else None,
        "kind": session.kind if session.kind != "interactive" else None,
        "abandoned": hit.is_abandoned,
        "copies": len(hit.copies),
        "passages": passages,
        "around": list(_around(hit)),
    }
    return cast("BriefResultJson", _said(fields))


def _passages(found: Sequence[Passage], both: int) -> Iterator[BriefPassageJson]:
    left = both
    for passage in found:
        value = _passage(passage, max(FURTHER, min(PASSAGE, left)))
        left -= len(sent(value["text"]))
        yield value


def _passage(passage: Passage, size: int) -> BriefPassageJson:
    value: BriefPassageJson = {
        "at": passage.chunk.seq,
        "by": _speaker(passage.chunk),
        "text": fitting(one_line(passage.snippet.text), size),
    }
    if passage.subagent_id:
        value["subagent"] = passage.subagent_id
    return value


def _speaker(chunk: Chunk) -> str:
    if chunk.kind == "tool_result":
        return _named(chunk.tool_name or "tool") + (" error" if chunk.is_error else " result")
    return _named(chunk.tool_name if chunk.kind == "tool_call" and chunk.tool_name else chunk.role or chunk.kind)


def _named(name: str) -> str:
    return fitting(one_line(name), SPEAKER)


def _around(hit: Hit) -> Iterator[str]:
    """Yield the items of a hit's window as lines, without those that are passages."""
    if hit.window is None:
        return
    first = hit.passages[0] if hit.passages else None
    shown = {passage.chunk.seq for passage in hit.passages if first and passage.number == first.number}
    for item in (*hit.window.before, *hit.window.after):
        if item.position not in shown:
            yield fitting(f"{item.position} {_speaker_of(item)}: {_line(item)}", WINDOW)


def _speaker_of(item: WindowItem) -> str:
    if item.role == "tool":
        return _named(item.tool or "tool") + " result"
    return _named(item.tool or item.role or "metadata")


def _line(item: WindowItem) -> str:
    """Return the text of an item on one line."""
    kind: ChunkKind = "tool_result" if item.role == "tool" else "tool_call" if item.tool else "message"
    text = " ".join(one_line(readable(item.snippet, kind)).split())
    return f"{text}…" if item.is_truncated else text
