"""Fixtures and helpers that the parts of the parser's conformance suite share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.plugin.parser import Parser
from sesame_core.types.transcript import Event, Message

from ..plugins import PluginConformance

#: Files that are not of this agent: name and content.
FOREIGN_FILES = {
    "notes.md": b"# hello\n\nsome notes\n",
    "empty": b"",
    "data.json": b'{"some": "object"}\n',
    "noise.bin": bytes(range(256)) * 16,
}


class ParserBase(PluginConformance):
    """Fixtures: override `session_file`; `parser` is the parser under test."""

    kind = "parser"

    @pytest.fixture
    def session_file(self) -> Path:
        """A session file of this agent; override it."""
        raise NotImplementedError("return the path of a sample session file")

    @pytest.fixture
    def parser(self, create: Callable[..., Any]) -> Parser:
        """The parser under test, without options."""
        made: Parser = create()
        return made


def messages(events: Iterable[Event]) -> list[Message]:
    """Return the messages among events."""
    return [event for event in events if isinstance(event, Message)]
