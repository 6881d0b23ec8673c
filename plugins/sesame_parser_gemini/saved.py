"""Saved chats (`/chat save`): copies of a session's history, which count only if no session has their text."""

from __future__ import annotations

from pathlib import Path

import orjson

from .places import CHATS
from .records import Step, steps_of_document
from .speakers import pieces
from .values import string

#: Bytes of a prompt that are searched for.
SEARCHED = 400
#: Most bytes of a message of a saved chat, as `LINE_LIMIT`, and of session files that are searched.
MESSAGE, SESSIONS = 1 << 20, 256 << 20


def is_in_a_session(path: Path) -> bool:
    """Return whether a session of the same project has the last prompt of a saved chat.

    Versions before 0.9 write no sessions, and Gemini CLI deletes old sessions: then the saved chat is the only copy.
    """
    prompt = ""
    for step in steps_of_document(path, MESSAGE):
        if isinstance(step, Step) and step.kind == "message" and string(step.value, "type") == "user":
            prompt = next((piece.text for piece in pieces(step.value) if piece.role == "user"), prompt)
    if not prompt:
        return True  # nobody has said anything in it
    # As JSON writes it: without the quotes, and cut between characters.
    written = orjson.dumps(prompt[:SEARCHED])[1:-1]
    left = SESSIONS
    for file in sorted((path.parent / CHATS).glob("session-*.json*"), reverse=True):
        try:
            left -= file.stat().st_size
            if left < 0:
                break
            if written in file.read_bytes():
                return True
        except OSError:
            continue  # deleted meanwhile
    return False
