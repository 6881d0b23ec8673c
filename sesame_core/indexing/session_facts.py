"""Collects the facts of a session while its file is read: those of the parser, and those of its messages."""

from __future__ import annotations

from ..text.titles import given, is_telling, spoken
from ..text.tokens import as_seen, clean
from ..types.transcript import DIRECTORIES, PROMPT_CHARS, SUMMARY_CHARS, Message, Session

#: Prompts in a session's row.
KEPT_PROMPTS = 2

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
#: Those that are read and searched.
_TEXTS = frozenset(("title", "summary"))


def learn(session: Session, facts: Session) -> None:
    """Merge facts that a parser found into a session."""
    former = session.places
    known = session.title
    for fact in _FACTS:
        value = getattr(facts, fact)
        if isinstance(value, str):
            value = as_seen(value) if fact in _TEXTS else clean(value)
        if value is not None:
            setattr(session, fact, value)
    if facts.title:
        # A placeholder does not replace a name, and an empty title removes one.
        session.title = given(session.title or "") or known
    session.summary = session.summary and session.summary[:SUMMARY_CHARS]
    if facts.directories or former[:1] != session.places[:1]:
        places = dict.fromkeys((*former, *map(clean, facts.directories)))
        session.directories = tuple(place for place in places if place and place != session.cwd)[:DIRECTORIES]


def count(session: Session, message: Message, origin: int | None) -> None:
    """Count a message of a session.

    :param origin: the hash of its origin id.
    """
    for call in message.tool_calls:
        name = clean(call.name)
        session.tool_counts[name] = session.tool_counts.get(name, 0) + 1
    if message.role == "system":
        for call in message.tool_calls:
            if isinstance(command := call.arguments.get("command"), str):
                _keep_prompt(session, f"!{command}")
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
        _keep_prompt(session, message.text)


def _keep_prompt(session: Session, text: str) -> None:
    """Keep the first prompt that tells what the session is about and the next one; until then the longest ones."""
    kept = session.prompts
    is_found = bool(kept) and is_telling(kept[0])
    if is_found and len(kept) == KEPT_PROMPTS:
        return
    text = spoken(as_seen(text))[:PROMPT_CHARS]
    if not text.strip():
        return
    if not is_found and is_telling(text):
        kept = ()
    kept = (*kept, text)
    if len(kept) > KEPT_PROMPTS:
        shortest = min(range(len(kept)), key=lambda n: (len(kept[n]), -n))
        kept = kept[:shortest] + kept[shortest + 1 :]
    session.prompts = kept
