"""Silent sessions: nobody has said anything in them, so the index does not contain them.

An agent writes a file before anyone speaks: it is empty, or has a title, a snapshot, a summary of another session, the
command that ended the program.  Such a file is known to the index, with the number of its silent sessions; it is read
whole when it grows, and its session is stored with everything in it as soon as something is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SesameError
from ..text.titles import cut
from ..types.index import Chunk, KnownFile
from ..types.transcript import Event, Message, Session

if TYPE_CHECKING:
    from ..plugin.parser import Parser

#: Characters of chunks that wait for the first word of a session; with more it is stored without one, so that memory
#: stays bounded.
MOST = 16 << 20
#: Most texts of a silent session that are quoted, and most characters of each.
QUOTED, QUOTED_CHARS = 3, 60
#: Shortest prefix of an id whose file is looked for; a shorter id must be whole.
LEAST_ID = 8
#: A character that a person can read, in contrast to spaces and those that have no width.
_VISIBLE = re.compile(r"[^\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\x00-\x1f\x7f]")


def is_said(message: Message) -> bool:
    """Return whether a message makes its session a conversation: a person or an agent said or did something in it.

    A command without arguments (source type "command") does not, because it may be one that only the program answers;
    the reply that follows does.  A shell command of a person, a system message with a call, does, and so does the task
    of a subagent (source type "sidechain"): another agent said it.
    """
    if message.role == "user":
        text = message.text.strip()
        if message.source_type == "command" and len(text.split(maxsplit=1)) < 2:
            return False
        return bool(_VISIBLE.search(text)) or bool(message.tool_calls or message.tool_results)
    if message.role == "assistant":
        return bool(_VISIBLE.search(message.text) or message.tool_calls or message.tool_results)
    if message.role == "system" and message.source_type == "sidechain" and _VISIBLE.search(message.text):
        return True
    return bool(message.tool_calls or message.tool_results) and message.role in ("tool", "system")


class Silence:
    """Holds back what a file says of its silent sessions.

    :param spoken: ids of the sessions that are stored already.
    """

    def __init__(self, spoken: Iterable[str] = ()) -> None:
        self._spoken = set(spoken)
        self._held: dict[str, list[Chunk]] = {}
        self._size = 0

    def is_silent(self, session_id: str) -> bool:
        """Return whether nothing was said in a session so far."""
        return session_id not in self._spoken

    def passed(self, session: Session, message: Message, chunks: Sequence[Chunk]) -> Sequence[Session | Chunk]:
        """Return what can be stored of a message: nothing before the first word, then everything that was held."""
        if session.id in self._spoken:
            return chunks
        held = self._held.setdefault(session.id, [])
        held += chunks
        self._size += sum(len(chunk.text) for chunk in chunks)
        if not is_said(message) and self._size < MOST:
            return ()
        self._spoken.add(session.id)
        self._size -= sum(len(chunk.text) for chunk in held)
        return [session, *self._held.pop(session.id)]


def explanation(session_id: str, known: Mapping[str, KnownFile], parsers: Mapping[str, Parser]) -> str | None:
    """Return why a session is not in the index although its file is; None if it is not a silent one.

    Agents name files after sessions, so only files with this name are read.

    :param session_id: its id, or a prefix of it.
    :param known: the known files by path.
    :param parsers: by name.
    """
    name = session_id.rpartition("/")[2]
    for path, (_, parser, _, is_missing, *_) in known.items():
        stem = Path(path).stem
        is_named = name in stem if len(name) >= LEAST_ID else name and f"_{stem}".endswith(f"_{name}")
        if is_named and not is_missing and parser in parsers:
            try:
                if content := _content(parsers[parser].parse(Path(path)), name):
                    return f"nobody has said anything in session {content} ({path})"
            except (SesameError, OSError):
                continue  # the index reports files that cannot be read
    return None


def _content(events: Iterable[Event], session_id: str) -> str | None:
    """Return the id and the content of a silent session with this id; None if there is none."""
    texts: list[str] = []
    found = None
    for event in events:
        if isinstance(event, Session) and event.id.rpartition("/")[2].startswith(session_id):
            found = event.id
        elif isinstance(event, Message) and event.session_id == found:
            if is_said(event):
                return None
            texts += filter(None, [cut(" ".join(event.text.split()), QUOTED_CHARS)])
    if found is None:
        return None
    content = "; ".join(texts[:QUOTED]) + ("; …" if len(texts) > QUOTED else "")
    return f"{found} yet, so it is not in the index: it has {f'only: {content}' if content else 'no messages'}"
