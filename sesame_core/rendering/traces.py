"""Which sessions wrote the lines of a file, as a record of Agent Trace 0.1.0."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types.questions import Blame, BlamedSession
    from .schemas.traces import ConversationJson, TraceJson

#: Version of the specification.
VERSION = "0.1.0"
#: Most characters of a model's name [Agent Trace 0.1.0].
MODEL = 250


def trace_json(found: Blame, version: str) -> TraceJson:
    """Return the record of an answer; lines that no session is known for are in no conversation.

    :param version: of Sesame.
    """
    record: TraceJson = {
        "version": VERSION,
        "id": str(uuid.uuid4()),
        "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "tool": {"name": "sesame", "version": version},
        "files": [{"path": found.name, "conversations": [_conversation(found, one) for one in found.sessions]}],
        "metadata": {"unknown_lines": found.unknown},
    }
    if found.revision:
        record["vcs"] = {"type": "git", "revision": found.revision}
    return record


def _conversation(found: Blame, session: BlamedSession) -> ConversationJson:
    from hashlib import sha256
    from urllib.parse import quote

    own = session.stored.session
    at = "" if session.writer.position is None else f":{session.writer.position}"
    ranges = []
    for run in found.runs:
        if run.writers and run.writers[0].stored.number == session.stored.number:
            text = "\n".join(found.text[run.first - found.first : run.last - found.first + 1])
            digest = sha256(text.encode("utf-8", "replace")).hexdigest()
            ranges.append({"start_line": run.first, "end_line": run.last, "content_hash": f"sha256:{digest}"})
    contributor = {"type": "ai"}
    if own.model:
        contributor["model_id"] = own.model[:MODEL]
    return {"url": f"sesame:{quote(own.id)}{at}", "contributor": contributor, "ranges": ranges}  # type: ignore[typeddict-item]
