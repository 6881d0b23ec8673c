"""Answers in bounded size, with the position to continue from.

What a session's records say may be of any length: a title of ten kilobytes, a message of a megabyte, 400 tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..rendering.budget import size
from ..rendering.freshness import index_json
from ..rendering.schemas.sessions import ListedSessionJson, ReadChunkJson
from ..rendering.sessions import session_json, sessions_json
from ..rendering.text import HINT, SCHEMA_VERSION, shortened
from ..rendering.transcripts import chunk_json
from .bounds import cut, first, fitted

if TYPE_CHECKING:
    from ..types.answer import KeptOut
    from ..types.index import Chunk, StoredSession
    from ..types.report import IndexReport
    from .outputs import HistoryJson, MessagesJson, QueryAnswerJson, SessionFactsJson, SessionListJson

#: Bytes for what a page says in addition to its content, at least; a usual session needs a thousand.
HEAD = 1_500
#: What of an index's freshness helps no agent to go on.
UNTOLD = ("changed", "errors", "sources")
#: Bytes for positions and names of fields that are not known yet.
RESERVED = 200


def sessions_page(
    found: Sequence[StoredSession],
    total: int,
    offset: int,
    kept_out: KeptOut,
    refreshed: IndexReport,
    current: Sequence[str],
    most: int,
) -> SessionListJson:
    """Return as many of the sessions as fit.

    :param most: bytes of the answer.
    """
    value = sessions_json(found, total, offset, kept_out, refreshed)
    facts, names = _each([_fields(ListedSessionJson, session) for session in value["sessions"]], most // 8)
    head, more = fitted(
        {
            **value,
            "hints": [shortened(hint, HINT) for hint in value["hints"]],
            "index": _freshness(value["index"]),
            "currentSessions": list(current),
            "nextOffset": None,
            "sessions": [],
        },
        most // 4,
    )
    page = first(facts, most - size(head) - RESERVED)
    after = offset + len(page)
    more_fields = {
        "sessionCount": len(page),
        "nextOffset": after if page and after < total else None,
        "sessions": page,
        "shortened": sorted({*names, *more}),
    }
    return cast("SessionListJson", _without_empty({**head, **more_fields}))


def messages_page(
    stored: StoredSession,
    chunks: Sequence[Chunk],
    refreshed: IndexReport,
    most: int,
    *,
    offset: int,
    text_offset: int,
) -> MessagesJson:
    """Return as many of the messages as fit: the first one at least, cut if need be.

    :param most: bytes of the answer.
    :param text_offset: characters of the first message to skip.
    """
    head, names = fitted(
        {
            "schemaVersion": SCHEMA_VERSION,
            **_fields(ListedSessionJson, session_json(stored)),
            "offset": offset,
            "nextOffset": None,
            "nextTextOffset": 0,
            "index": _freshness(index_json(refreshed)),
            "chunks": [],
        },
        max(most // 4, HEAD),
    )
    left = most - size(head) - RESERVED
    page: list[Mapping[str, Any]] = []
    following, following_text = None, 0
    for chunk in chunks:
        start = 0 if page else text_offset
        text = chunk.text[start:]
        facts, _ = fitted({**_fields(ReadChunkJson, chunk_json(chunk)), "text": ""}, most // 8)
        room = left - size(facts) - 1
        part = cut(text, max(room, 0))
        if page and (room < 0 or len(part) < len(text)):
            following = chunk.seq
            break
        part = part or text[:1]
        page.append({**facts, "text": part})
        left = room - size(part) + 2
        if len(part) < len(text):
            following, following_text = chunk.seq, start + len(part)
            break
    if following is None and chunks and chunks[-1].seq + 1 < stored.chunk_count:
        following = chunks[-1].seq + 1
    more_fields = {"nextOffset": following, "nextTextOffset": following_text, "chunks": page, "shortened": names}
    return cast("MessagesJson", _without_empty({**head, **more_fields}))


def facts_page(value: Mapping[str, Any], most: int) -> SessionFactsJson:
    """Return the facts about a session; a command that does not fit is left out, since a part of it is useless."""
    resume = value["resumeCommand"]
    if resume is not None and size(resume) > most // 4:
        told = f"the command has {size(resume)} bytes: ask with a larger max_bytes"
        value = {**value, "resumeCommand": None, "resumeProblem": told}
    counts = sorted(value["toolCounts"].items(), key=lambda each: -each[1])
    sorted_value = {**value, "toolCounts": dict(counts), "index": _freshness(value["index"])}
    head, names = fitted(sorted_value, most - RESERVED)
    return cast("SessionFactsJson", _without_empty({**head, "shortened": names}))


def answer_page(value: Mapping[str, Any], most: int) -> QueryAnswerJson:
    """Return an answer about a session: the neighbours of its worst passages go first, then these passages."""
    session, names = fitted(value["session"], max(most // 4, HEAD))
    index = _freshness(value["index"])
    head, more = fitted({**value, "session": session, "index": index, "passages": []}, most // 2)
    left = most - size(head) - RESERVED
    passages = [dict(passage) for passage in value["passages"]]
    for passage in reversed(passages):
        if size(passages) > left:
            passage["contextBefore"], passage["contextAfter"] = [], []
    kept = passages if size(passages) <= left else first(_each(passages, left)[0], left)
    more_fields = {
        "cutToBudget": kept != list(value["passages"]),
        "passages": kept,
        "shortened": sorted({*names, *(name for name in more if name != "session")}),
    }
    return cast("QueryAnswerJson", _without_empty({**head, **more_fields}))


def history_page(value: Mapping[str, Any], results: str, offset: int, most: int) -> HistoryJson:
    """Return as many answers from a history as fit; what says nothing is left out.

    :param results: the field with the answers.
    :param most: bytes of the answer.
    """
    facts, names = _each([_said(one) for one in value[results]], most // 2)
    untold = (results, "schemaVersion", "resultCount")
    told = {name: one for name, one in _said(value).items() if name not in untold and one not in (0, False)}
    total = value.get("total", offset + len(value[results]))
    head, more = fitted({**told, "index": _freshness(value["index"]), "total": total}, most // 4)
    page = first(facts, most - size(head) - RESERVED)
    after = offset + len(page)
    following = after if page and after < total else None
    fields = {**head, "nextOffset": following, results: page, "shortened": sorted({*names, *more})}
    return cast("HistoryJson", _without_empty(fields))


def _said(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an object that say something, in objects in it, too: neither null nor empty."""
    kept = {
        name: [_said(one) if isinstance(one, Mapping) else one for one in field] if isinstance(field, list) else field
        for name, field in value.items()
    }
    return {name: field for name, field in kept.items() if field not in (None, "", [], {})}


def _fields(kind: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a value that its type has: `get_session` has the others, and every answer costs tokens."""
    return {name: value[name] for name in kind.__annotations__}


def _freshness(index: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in index.items() if name not in UNTOLD}


def _each(values: Sequence[Mapping[str, Any]], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return each object in at most `most` bytes, and the names of all fields that are shortened."""
    found = [fitted(value, most) for value in values]
    return [value for value, _ in found], [name for _, names in found for name in names]


def _without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without the list of shortened fields, if none is."""
    return {name: one for name, one in value.items() if name != "shortened" or one}
