"""Reads a session as events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from sesame_core import ParseError
from sesame_core.dataclass import replace
from sesame_core.types.transcript import Event, Skipped

from .conversation import Conversation
from .conversation2 import Conversation2
from .database import opened
from .facts import SessionFacts
from .records import Stored
from .trees import Tree


def events(path: Path, *, thinking: bool) -> Iterator[Event]:
    """Yield the session, its messages in order, and the session again with all properties.

    :raises ParseError: it is no session.
    :raises OSError: it cannot be read.
    """
    with ExitStack() as stack:
        container, name = os.path.split(path)
        if os.path.isfile(container):
            stored: Stored | None = stack.enter_context(opened(container)).session(name)
            if stored is None:
                raise FileNotFoundError(2, "the database has no such session", str(path))
        else:
            stored = _in_tree(path)
        yield from _told(stored, thinking)


def _in_tree(path: Path) -> Stored:
    tree = Tree.of(str(path))
    if tree is None:
        os.stat(path)
        raise ParseError(path, "it is not in a tree of OpenCode's sessions")
    try:
        return tree.session(str(path))
    except ValueError as error:
        raise ParseError(path, f"the session's file cannot be read: {error}") from error


def _told(stored: Stored, thinking: bool) -> Iterator[Event]:
    facts = SessionFacts(stored)
    conversation = (Conversation2 if stored.is_new else Conversation)(facts, thinking=thinking)
    yield facts.session()
    line = 0
    for record in stored.messages():
        line += 1
        if isinstance(record, Skipped):
            yield record
            continue
        parts = []
        for part in stored.parts(record):
            if isinstance(part, Skipped):
                yield part
            else:
                parts.append(part)
        for event in conversation.events(record, parts):
            yield replace(event, line=line) if isinstance(event, Skipped) else event
    yield facts.session()
