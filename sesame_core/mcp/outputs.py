"""What each tool answers: the JSON of `sesame_core.rendering`, as schemas.

Fields that are not named here may come at any time, as in the command line's JSON.
"""

from __future__ import annotations

from typing import Any


def _object(**fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these fields, and others perhaps."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list(items: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": items, **_about(description)}


def _value(kind: str, description: str = "", *, is_known: bool = True) -> dict[str, Any]:
    # One type each: clients that know a part of JSON Schema only stumble over lists of types.
    kinds = {"type": kind} if is_known else {"anyOf": [{"type": kind}, {"type": "null"}]}
    return {**kinds, **_about(description)}


def _about(description: str) -> dict[str, Any]:
    return {"description": description} if description else {}


_TEXT, _NUMBER, _WHOLE, _FLAG = (_value(kind) for kind in ("string", "number", "integer", "boolean"))
_MAYBE_TEXT, _MAYBE_NUMBER, _MAYBE_WHOLE = (_value(kind, is_known=False) for kind in ("string", "number", "integer"))

_SESSION_FIELDS = {
    "sessionId": _value("string", "What the other tools take as session."),
    "source": _value("string", "The agent."),
    "path": _TEXT,
    "cwd": _MAYBE_TEXT,
    "name": _value("string", "Its title, if it was given one.", is_known=False),
    "description": _value("string", "What it is about, if that was written down.", is_known=False),
    "tags": _list(_TEXT),
    "firstPrompt": _MAYBE_TEXT,
    "kind": _value("string", "interactive, subagent or headless.", is_known=False),
    "created": _MAYBE_TEXT,
    "modified": _MAYBE_TEXT,
    "messageCount": _WHOLE,
    "chunkCount": _value("integer", "Positions of list_messages are below it."),
    "gitBranch": _MAYBE_TEXT,
    "repository": _MAYBE_TEXT,
    "model": _MAYBE_TEXT,
    "parentId": _MAYBE_TEXT,
    "missingSince": _value("string", "Since when its file is gone.", is_known=False),
}
_INDEX = {
    "type": "object",
    "description": "How fresh the answer is.",
    "properties": {
        "refreshed": _value("boolean", "What changed was indexed first, as far as the time allowed."),
        "reason": _value("string", "Why not.", is_known=False),
        "pending": _value("integer", "Changed files that are not indexed yet."),
        "notScanned": _value("integer", "Old session files that were last looked at a while ago, …"),
        "scannedAt": _value("string", "… and when that was.", is_known=False),
        "lastSync": _MAYBE_TEXT,
        "unreadable": _WHOLE,
    },
    "required": ["refreshed"],
}
_CURRENT = _list(_TEXT, "Ids of the sessions you are in, left out of this answer.")
_WINDOW = _list(
    _object(role=_MAYBE_TEXT, position=_WHOLE, snippet=_TEXT, truncated=_FLAG, tool=_MAYBE_TEXT),
)

_RESULT = _object(
    **_SESSION_FIELDS,
    score=_value("number", "0 to 1, relative to the best possible."),
    matchedSnippet=_value("string", "The passage."),
    matchedType=_MAYBE_TEXT,
    matchedRole=_MAYBE_TEXT,
    matchedTool=_MAYBE_TEXT,
    matchedAt=_MAYBE_TEXT,
    matchedEntryId=_MAYBE_TEXT,
    matchedPosition=_value("integer", "Its position: read on with list_messages.", is_known=False),
    matchedSubagent=_value("string", "Id of the subagent session it stands in.", is_known=False),
    onAbandonedBranch=_FLAG,
    copies=_list(_object(sessionId=_TEXT, path=_TEXT)),
)
_RESULT["properties"] |= {"contextBefore": _WINDOW, "contextAfter": _WINDOW}

SEARCH_SESSIONS = _object(
    schemaVersion=_WHOLE,
    query=_TEXT,
    mode=_value("string", "search, or browse when the newest are listed."),
    resultCount=_WHOLE,
    total=_value("integer", "Sessions that match."),
    totalIsLowerBound=_FLAG,
    weak=_value("boolean", "No passage of the best session has most of the words."),
    confidence=_MAYBE_NUMBER,
    wordsNotFound=_list(_TEXT, "Words that are nowhere in the index."),
    corrections=_value("object", "Other spellings that were looked for."),
    hints=_list(_TEXT, "What of the query was read otherwise than meant, perhaps."),
    leftOut={
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "description": "Matching sessions, by why.",
    },
    widened=_value("boolean", "Headless runs are shown because nothing else matched."),
    truncated=_value("boolean", "Broad words were not followed to the end."),
    index=_INDEX,
    currentSessions=_CURRENT,
    cutToBudget=_value("boolean", "max_bytes left something out."),
    results=_list(_RESULT),
)

LIST_SESSIONS = _object(
    schemaVersion=_WHOLE,
    sessionCount=_WHOLE,
    offset=_WHOLE,
    total=_WHOLE,
    index=_INDEX,
    currentSessions=_CURRENT,
    sessions=_list(_object(**_SESSION_FIELDS)),
)

_CHUNK = _object(
    position=_WHOLE,
    type=_value("string", "message, tool_call, tool_result or metadata."),
    role=_MAYBE_TEXT,
    tool=_MAYBE_TEXT,
    isError=_FLAG,
    at=_MAYBE_TEXT,
    entryId=_MAYBE_TEXT,
    cut=_value("integer", "Characters that are not in the index."),
    text=_TEXT,
)

LIST_MESSAGES = _object(
    schemaVersion=_WHOLE,
    **_SESSION_FIELDS,
    offset=_WHOLE,
    nextOffset=_value("integer", "Where to go on; null at the end.", is_known=False),
    nextTextOffset=_value("integer", "text_offset to go on with; 0 where the next message begins."),
    index=_INDEX,
    chunks=_list(_CHUNK),
)

GET_SESSION = _object(
    schemaVersion=_WHOLE,
    **_SESSION_FIELDS,
    summary=_MAYBE_TEXT,
    prompts=_list(_TEXT, "The first prompts."),
    toolCounts=_value("object", "Calls by tool."),
    resumeCommand={
        "anyOf": [_object(command=_list(_TEXT), cwd=_MAYBE_TEXT), {"type": "null"}],
        "description": "What resumes it in its agent, where that can be told.",
    },
    index=_INDEX,
)

_ITEM_FIELDS = {
    "position": _WHOLE,
    "entryId": _MAYBE_TEXT,
    "type": _TEXT,
    "role": _MAYBE_TEXT,
    "tool": _MAYBE_TEXT,
    "at": _MAYBE_TEXT,
    "text": _TEXT,
    "truncated": _FLAG,
}

QUERY_SESSION = _object(
    schemaVersion=_WHOLE,
    session=_object(**_SESSION_FIELDS),
    question=_TEXT,
    answer=_value("string", "A model's answer; null when none was asked: the passages are the answer.", is_known=False),
    answered=_value("boolean", "false: the model says that the passages do not hold it.", is_known=False),
    citations=_list(_object(position=_WHOLE, entryId=_MAYBE_TEXT), "Where it stands."),
    model=_MAYBE_TEXT,
    attempts=_list(_object(model=_TEXT, error=_MAYBE_TEXT, inputTokens=_MAYBE_WHOLE, outputTokens=_MAYBE_WHOLE)),
    cost=_value("number", "Dollars.", is_known=False),
    reason=_value("string", "Why there is no model's answer.", is_known=False),
    basis=_value("string", "question; or outline: no word of it was found, these are the beginning and the end."),
    wordsNotFound=_list(_TEXT, "Words that are not in this session."),
    matches=_WHOLE,
    chunksRead=_WHOLE,
    index=_INDEX,
    passages=_list(
        _object(
            **_ITEM_FIELDS,
            score=_NUMBER,
            contextBefore=_list(_object(**_ITEM_FIELDS)),
            contextAfter=_list(_object(**_ITEM_FIELDS)),
        ),
        "The best first.",
    ),
)
