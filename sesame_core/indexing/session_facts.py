"""Collects the facts of a session while its file is read: those of the parser, and those of its messages."""

from __future__ import annotations

from ..text.tokens import clean
from ..types.transcript import Message, Session

#: Most characters of each of the first two prompts, and of a summary, in a session's row.
PROMPT_CHARS = 2_000
SUMMARY_CHARS = 8_000

#: Most directories of a session besides its first: in the labelled corpus of the benchmarks none has half as many.
DIRECTORIES = 100

#: Facts that a parser may find late; a later value that is not None replaces an earlier one.
_FACTS = (
    "kind",
    "parent_id",
    "cwd",
    "title",
    "summary",
    "git_branch",
    "repository",
    "model",
    "created",
    "abandoned",
)


def learn(session: Session, facts: Session) -> None:
    """Merge facts that a parser found into a session."""
    former = session.places
    for fact in _FACTS:
        value = getattr(facts, fact)
        if value is not None:
            setattr(session, fact, clean(value) if isinstance(value, str) else value)
    session.summary = session.summary and session.summary[:SUMMARY_CHARS]
    if facts.directories or former[:1] != session.places[:1]:
        known = dict.fromkeys((*former, *map(clean, facts.directories)))
        session.directories = tuple(place for place in known if place and place != session.cwd)[:DIRECTORIES]


def count(session: Session, message: Message, origin: int | None) -> None:
    """Count a message of a session.

    :param origin: the hash of its origin id.
    """
    for call in message.tool_calls:
        name = clean(call.name)
        session.tool_counts[name] = session.tool_counts.get(name, 0) + 1
    if message.role not in ("user", "assistant"):
        return
    if message.timestamp is not None:
        session.created = session.created or message.timestamp
        if session.modified is None or message.timestamp > session.modified:
            session.modified = message.timestamp
    if origin is not None and session.first_origin is None:
        session.first_origin = origin
    if not message.is_new:
        return
    session.message_count += 1
    if message.role == "user":
        session.exchange_count += 1
        if len(session.prompts) < 2 and message.source_type != "command" and message.text.strip():
            session.prompts += (clean(message.text)[:PROMPT_CHARS],)
