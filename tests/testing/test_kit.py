"""The conformance kit notices what it is there to notice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sesame_core import (
    Checkpoint,
    Chunk,
    Container,
    Event,
    Message,
    Provider,
    Session,
    ToolCall,
    ToolResult,
    Unit,
    hookimpl,
)
from sesame_core.dataclass import replace
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing import FormatterConformance, ParserConformance, a_query, a_session
from sesame_core.testing.builders import a_word
from sesame_core.types.query import AllOf, Not

from ..support.chats import Chats, ChatsParser


class LineParser:
    """A good parser: one user message per line; `events` may spoil what it yields."""

    version = 1

    def default_roots(self) -> Sequence[Path]:
        return ()

    def __init__(self, spoil: Callable[[list[Event]], list[Event]] = lambda events: events) -> None:
        self.spoil = spoil

    def matches(self, path: Path) -> bool:
        return path.suffix == ".jsonl"

    def parse(self, path: Path) -> Iterator[Event]:
        yield from self.spoil(self._events(path, 0))

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        yield from self.spoil(self._events(path, checkpoint.offset))

    def _events(self, path: Path, offset: int) -> list[Event]:
        data = path.read_bytes()
        lines = [line for line in data[offset:].decode(errors="replace").splitlines() if line.startswith("say ")]
        said: list[Event] = [Message(session_id="s", role="user", text=line) for line in lines]
        return [Session(id="s", agent="test"), *said, Checkpoint(offset=len(data), line=0)]


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_text("say one\nsay two\nsay three\nsay four\n", encoding="utf-8")
    return path


def check(parser: Any, session_file: Path, tmp_path: Path) -> None:
    """Run the parser tests that take nothing but these."""
    kit = ParserConformance()
    kit.test_finds_messages(parser, session_file)
    kit.test_introduces_a_session_before_its_first_message(parser, session_file)
    kit.test_timestamps_know_their_timezone(parser, session_file)
    kit.test_parsing_twice_gives_the_same(parser, session_file)
    kit.test_a_checkpoint_comes_last_and_inside_the_file(parser, session_file)
    kit.test_head_and_tail_equal_the_whole(parser, session_file, tmp_path)
    kit.test_a_damaged_line_loses_no_neighbour(parser, session_file, tmp_path, b"null")


def test_a_good_parser_passes(session_file: Path, tmp_path: Path) -> None:
    check(LineParser(), session_file, tmp_path)


class RepeatingChats(ChatsParser):
    """Lists each chat twice."""

    def units(self, container: Container) -> Iterator[Unit]:
        return (unit for one in super().units(container) for unit in (one, one))


class UnrelatedChats(ChatsParser):
    """Lists chats under paths that are not below their container."""

    def containers(self, place: Path) -> Iterator[Container]:
        return (replace(container, path="/elsewhere") for container in super().containers(place))

    def units(self, container: Container) -> Iterator[Unit]:
        (own,) = super().containers(Path(container.files[0]))
        return super().units(own)


class VagueChats(ChatsParser):
    """Says another time of a chat when it is asked for alone."""

    def unit(self, path: Path) -> Unit:
        return replace(super().unit(path), mtime_ns=1)


class LastingChats(ChatsParser):
    """Has every chat that it is asked for."""

    def unit(self, path: Path) -> Unit:
        return Unit(path=str(path), mtime_ns=1, size=1)


def check_listing(parser: Any, tmp_path: Path) -> None:
    """Run the tests of a parser that lists its sessions."""
    (tmp_path / "chats").mkdir(exist_ok=True)
    chats = Chats(tmp_path / "chats" / "one.chats")
    path = chats.say("a", "one", "two", "three", at=1.0)
    chats.say("b", "one", at=2.0)
    kit = ParserConformance()
    try:
        kit.test_lists_its_sample(parser, path)
        kit.test_a_missing_unit_is_an_error_the_indexer_knows(parser, path)
        kit.test_lists_nothing_in_a_foreign_directory(parser, tmp_path / "foreign")
        kit.test_parsing_twice_gives_the_same(parser, path)
    finally:
        chats.close()


def test_a_good_parser_of_a_database_passes(tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    check_listing(ChatsParser(), tmp_path)


@pytest.mark.parametrize("parser", [RepeatingChats, UnrelatedChats, VagueChats, LastingChats])
def test_the_kit_notices_what_is_wrong_with_a_listing(parser: type[ChatsParser], tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check_listing(parser(), tmp_path)


class OfLines(ParserConformance):
    name = "lines"


@pytest.mark.parametrize("roots", [(), (Path("/elsewhere"),)])
def test_the_kit_notices_a_provider_that_says_other_roots_than_its_parser(roots: tuple[Path, ...]) -> None:
    provider = Provider[Any](name="lines", summary="made up", create=lambda _: LineParser(), roots=lambda: roots)
    plugin = ModuleType("lines")
    vars(plugin)["sesame_register_parsers"] = hookimpl(lambda: [provider])
    plugins = PluginManager()
    plugins.register(plugin, "lines")
    said = OfLines().test_its_provider_says_the_same_default_roots
    with pytest.raises(AssertionError, match=r"Provider\.roots") if roots else contextlib.nullcontext():
        said(plugins, {})


calls = iter(range(10**6))

SPOILED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "session too late": lambda events: [events[1], events[0], *events[2:]],
    "no session": lambda events: events[1:],
    "too little": lambda events: events[:2],
    "naive time": lambda events: [
        events[0],
        Message(session_id="s", role="user", text="x", timestamp=datetime(2026, 1, 1)),
        *events[1:],
    ],
    "another session's message": lambda events: [
        *events[:-1],
        Message(session_id="t", role="user", text="x"),
        events[-1],
    ],
    "checkpoint first": lambda events: [events[-1], *events[:-1]],
    "no checkpoint": lambda events: events[:-1],
    "checkpoint too far": lambda events: [*events[:-1], Checkpoint(offset=10**6, line=1)],
    "checkpoint too early": lambda events: [*events[:-1], Checkpoint(offset=0, line=0)],
    "different each time": lambda events: [
        *events[:-1],
        Message(session_id="s", role="user", text=str(next(calls))),
        events[-1],
    ],
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_bad_parser_fails(spoil: Callable[[list[Event]], list[Event]], session_file: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        check(LineParser(spoil), session_file, tmp_path)


class Calling(LineParser):
    """A parser of a format without ids of calls: each line is a call, with the line before it as a result."""

    def _events(self, path: Path, offset: int) -> list[Event]:
        data = path.read_bytes()
        lines = [(n, line) for n, line in enumerate(data.splitlines()) if line.startswith(b"say ")]
        said: list[Event] = []
        last = None
        for number, line in lines:
            call = ToolCall(id=self.id_of(number), name="say", arguments={"text": line.decode()})
            results = () if last is None else (ToolResult(call_id=self.id_of(last), name="say", text=line.decode()),)
            if data.index(line) >= offset:
                said.append(Message(session_id="s", role="assistant", tool_calls=(call,), tool_results=results))
            last = number
        return [Session(id="s", agent="test"), *said, Checkpoint(offset=len(data), line=0)]

    def id_of(self, number: int) -> str:
        return str(number)


def test_a_parser_whose_ids_of_calls_are_numbers_of_lines_passes(session_file: Path, tmp_path: Path) -> None:
    check(Calling(), session_file, tmp_path)


def test_a_parser_that_ties_results_to_no_call_fails(session_file: Path, tmp_path: Path) -> None:
    class Careless(Calling):
        ids = count()

        def id_of(self, number: int) -> str:
            return str(next(self.ids) % 5)

    with pytest.raises(AssertionError):
        check(Careless(), session_file, tmp_path)


def test_a_failed_assertion_names_its_rule(session_file: Path, tmp_path: Path) -> None:
    class Kit(ParserConformance):
        def test_of_its_own(self) -> None:
            """It has a rule, too."""
            raise AssertionError

    with pytest.raises(AssertionError) as failed:
        Kit().test_of_its_own()
    assert failed.value.__notes__ == ["The rule: of its own.  It has a rule, too."]
    with pytest.raises(AssertionError) as failed:
        check(LineParser(lambda events: events[:2]), session_file, tmp_path)
    assert failed.value.__notes__ == [
        "The rule: finds messages.  " + str(ParserConformance.test_finds_messages.__doc__)
    ]


def test_a_parser_that_gives_up_at_a_damaged_line_fails(session_file: Path, tmp_path: Path) -> None:
    class Impatient(LineParser):
        def _events(self, path: Path, offset: int) -> list[Event]:
            whole = path.read_bytes()
            if b"null" in whole:
                return [Session(id="s", agent="test"), Checkpoint(offset=len(whole), line=0)]
            return super()._events(path, offset)

    with pytest.raises(AssertionError):
        check(Impatient(), session_file, tmp_path)


class Formatter:
    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = chunks

    def format(self, message: Message) -> list[Chunk]:
        return list(self.chunks)


def test_a_formatter_that_makes_something_of_nothing_fails() -> None:
    with pytest.raises(AssertionError):
        FormatterConformance().test_an_empty_message_makes_no_chunk(
            Formatter(Chunk(kind="message", text="")), "user", ""
        )


def test_a_formatter_without_bounds_fails() -> None:
    with pytest.raises(AssertionError):
        FormatterConformance().test_a_huge_result_is_bounded_and_the_cut_is_counted(
            Formatter(Chunk(kind="tool_result", text="line 0 of " * 10**6, role="tool"))
        )


def test_a_formatter_that_loses_text_fails() -> None:
    with pytest.raises(AssertionError):
        FormatterConformance().test_carries_the_text_over(
            Formatter(Chunk(kind="message", text="why", role="user")), "user"
        )


def test_an_author_who_gives_no_fixture_is_told_which() -> None:
    with pytest.raises(NotImplementedError, match="sample session file"):
        ParserConformance.session_file.__wrapped__(ParserConformance())  # type: ignore[attr-defined]


def test_made_up_queries_ask_as_the_core_does() -> None:
    query = a_query("reconnectBackoff 日本 abc* ... ", required=["a phrase"], excluded=["no"])
    asked = [word.alternatives for word in query.words]
    assert asked == [
        ("reconnectBackoff", "reconnect Backoff"),
        ("日本",),
        ("abc*",),
        ("a phrase",),
    ]
    assert query.condition == AllOf((a_word("a phrase"), Not(a_word("no"))))


def test_a_made_up_session_begins_with_itself_and_names_itself_in_its_chunks() -> None:
    session, *chunks = a_session("one", Chunk(kind="metadata", text="two"), id="x")
    assert isinstance(session, Session)
    assert [chunk.session_id for chunk in chunks if isinstance(chunk, Chunk)] == ["x", "x"]
