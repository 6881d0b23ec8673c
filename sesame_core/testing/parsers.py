"""Conformance tests of a parser."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sesame_core.errors import ParseError, ResumeError
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Integrable, Listing, Naming, Parser, Resumer, Resuming, TailParser
from sesame_core.types.integration import OwnFile
from sesame_core.types.transcript import Checkpoint, Event, Message, Session, Skipped

from .plugins import PluginConformance

#: Files that are not of this agent: name and content.
FOREIGN_FILES = {
    "notes.md": b"# hello\n\nsome notes\n",
    "empty": b"",
    "data.json": b'{"some": "object"}\n',
    "noise.bin": bytes(range(256)) * 16,
}


class ParserConformance(PluginConformance):
    """Subclass it, set `name`, override the fixture `session_file`: a valid file with at least three messages.

    In addition to the docstrings of `sesame_core.plugin.parser`, it tests these rules.  A `Session` comes before the
    first `Message` that names it.  Times have a time zone.  A damaged line does not affect its neighbours.  A
    `Checkpoint` is the last event, and a `TailParser` yields one for each prefix of a file.  A result has the id of its
    call; the parser chooses the ids: if the format has none, line numbers suffice.

    Of a parser with `Listing` the fixture is the path of a unit; `session_file.parent` is its container, or above it.
    """

    kind = "parser"
    #: Whether the damage test applies; None: if the file's name ends with `.jsonl`.
    is_line_based: ClassVar[bool | None] = None

    @pytest.fixture
    def session_file(self) -> Path:
        """A session file of this agent; override it."""
        raise NotImplementedError("return the path of a sample session file")

    @pytest.fixture
    def parser(self, create: Callable[..., Any]) -> Parser:
        """The parser under test, without options."""
        made: Parser = create()
        return made

    # -- matching -----------------------------------------------------------------------------------------

    def test_has_a_version_and_default_roots(self, parser: Parser) -> None:
        """The indexer needs both before it opens a file."""
        assert isinstance(parser.version, int), "`version` is an integer"
        assert all(isinstance(root, Path) for root in parser.default_roots()), "`default_roots()` returns `Path`s"

    def test_its_provider_says_the_same_default_roots(self, plugins: PluginManager, options: dict[str, Any]) -> None:
        """A search asks the provider (`Provider.roots`, optional), and creates a parser only if a root exists."""
        roots = [*plugins.parser(self.name, options).default_roots()]
        assert plugins.default_roots(self.name, options) == roots, "`Provider.roots` returns what `default_roots` does"

    def test_matches_its_own_file(self, parser: Parser, session_file: Path) -> None:
        """The sample matches."""
        assert parser.matches(session_file), "`matches` is true for a session of this agent"

    def test_its_own_file_may_match_by_its_name(self, parser: Parser, session_file: Path) -> None:
        """A file whose name cannot be a session's is never opened (`Naming`, optional)."""
        if not isinstance(parser, Naming):
            pytest.skip("the parser tells nothing by a name (Naming is optional)")
        assert parser.may_match(session_file.name), "`may_match` is true for the name of each file that matches"

    @pytest.mark.parametrize("name", FOREIGN_FILES)
    def test_does_not_match_a_foreign_file(self, parser: Parser, tmp_path: Path, name: str) -> None:
        """Other files in the root do not match."""
        other = tmp_path / "foreign" / name
        other.parent.mkdir()
        other.write_bytes(FOREIGN_FILES[name])
        assert not parser.matches(other), "`matches` is false for a file that this agent has not written"

    def test_does_not_match_a_foreign_file_of_the_same_name(
        self, parser: Parser, session_file: Path, tmp_path: Path
    ) -> None:
        """A name alone proves nothing: the content is that of another program, or random."""
        other = tmp_path / "foreign" / session_file.name
        other.parent.mkdir()
        other.write_bytes(b'{"level": "info", "msg": "started"}\n')
        if parser.matches(other):
            with contextlib.suppress(ParseError):
                assert not _messages(parser.parse(other)), (
                    "`parse` raises ParseError, or yields no message, for a file that only has the name of a session"
                )

    # -- parsing ------------------------------------------------------------------------------------------

    def test_finds_messages(self, parser: Parser, session_file: Path) -> None:
        """At least three, so that the tests about the middle of a file have one."""
        assert len(_messages(parser.parse(session_file))) >= 3, "the fixture `session_file` has three messages or more"

    def test_introduces_a_session_before_its_first_message(self, parser: Parser, session_file: Path) -> None:
        """Every message names a session that was yielded before it."""
        known = set()
        for event in parser.parse(session_file):
            if isinstance(event, Session):
                assert event.id, "a Session has an id"
                assert event.agent, "a Session has an agent, the name by which people filter"
                known.add(event.id)
            elif isinstance(event, Message):
                assert event.session_id in known, f"no Session with the id {event.session_id!r} came before its Message"
        assert known, "a file has a Session"

    def test_yields_nothing_but_events(self, parser: Parser, session_file: Path) -> None:
        """`Session`, `Message`, `Skipped`, `Checkpoint`; no record of a valid file is skipped as lost."""
        events = list(parser.parse(session_file))
        assert all(isinstance(event, Session | Message | Skipped | Checkpoint) for event in events)
        lost = [event for event in events if isinstance(event, Skipped) and event.is_loss]
        assert not lost, "nothing is lost of a valid file: `Skipped.is_loss` is for records that had content"

    def test_timestamps_know_their_timezone(self, parser: Parser, session_file: Path) -> None:
        """A time without a zone would be read differently on every machine."""
        for event in parser.parse(session_file):
            if isinstance(event, Message) and event.timestamp is not None:
                assert event.timestamp.utcoffset() is not None, f"{event.timestamp} has no time zone"
            if isinstance(event, Session) and event.created is not None:
                assert event.created.utcoffset() is not None, f"{event.created} has no time zone"

    def test_parsing_twice_gives_the_same(self, parser: Parser, session_file: Path) -> None:
        """A parser has no state from one file to the next."""
        assert list(parser.parse(session_file)) == list(parser.parse(session_file)), "`parse` has no state"

    def test_a_missing_file_is_an_error_the_indexer_knows(self, parser: Parser, tmp_path: Path) -> None:
        """A file may be deleted between discovery and reading."""
        with pytest.raises((OSError, ParseError)):
            list(parser.parse(tmp_path / "not-there.jsonl"))

    def test_says_how_a_session_is_resumed(self, parser: Parser, session_file: Path) -> None:
        """With a command, or with a reason why there is none."""
        if not isinstance(parser, Resumer | Resuming):
            pytest.skip("the parser cannot resume sessions")
        session = next(event for event in parser.parse(session_file) if isinstance(event, Session))
        if isinstance(parser, Resumer):
            command = parser.resume_command(session, session_file)
            assert command, "`resume_command` returns a program and its arguments"
            assert all(isinstance(word, str) for word in command), "a command is a sequence of strings"
        if not isinstance(parser, Resuming):
            return
        try:
            found = parser.resumption(session, session_file)
        except ResumeError:
            return  # it says why
        assert found.command, "a Resumption has a program and its arguments"
        assert all(isinstance(word, str) for word in found.command), "a command is a sequence of strings"
        assert found.nearest is None, "Sesame sets `nearest`"
        assert all(isinstance(v, str | None) for v in found.environment.values()), "variables are strings, or None"

    def test_says_what_makes_sesame_known_to_its_agent(self, parser: Parser) -> None:
        """With files that can be recognised as Sesame's, and values that a file of settings can have (`Integrable`)."""
        if not isinstance(parser, Integrable):
            pytest.skip("the parser integrates Sesame nowhere (Integrable is optional)")
        command, skill = ["/my bin/sesame"], "a skill, written by sesame integrate\n"
        found = parser.integration(command, skill)
        assert found.parts, "an Integration has parts"
        assert found == parser.integration(command, skill), "`integration` returns the same for the same"
        for part in found.parts:
            assert part.path.is_absolute(), "a file is named by its whole path"
            if isinstance(part, OwnFile):
                assert "sesame integrate" in part.text, "a file of Sesame's has the words by which it is recognised"
            else:
                assert part.keys, "a Setting has a path of keys"
                assert json.loads(json.dumps(part.value)) == part.value, "the value of a Setting can be written as JSON"

    # -- sessions that are not files ----------------------------------------------------------------------

    def test_lists_its_sample(self, parser: Parser, session_file: Path) -> None:
        """A unit is found from the directory, or the file, above it, and is the same when it is asked for alone."""
        if not isinstance(parser, Listing):
            pytest.skip("the sessions of the parser are files (Listing is optional)")
        place = session_file.parent.resolve()
        containers = list(parser.containers(place))
        found = {unit.path: unit for container in containers for unit in parser.units(container)}
        sample = str(place / session_file.name)
        assert sample in found, "`containers` of the directory above the sample, and `units` of them, have the sample"
        assert parser.unit(Path(sample)) == found[sample], "`unit` returns what `units` yields"
        for container in containers:
            own = [unit.path for unit in parser.units(container)]
            assert len(own) == len(set(own)), "`units` yields each unit once"
            assert all(_is_below(path, container.path) for path in own), "a unit's path is below that of its container"
            assert container.files, "`files` tells when anything in the container may have changed"
            again = [unit for one in parser.containers(Path(container.path)) for unit in parser.units(one)]
            assert [unit.path for unit in again] == own, "`containers` of a container is that container"

    def test_a_missing_unit_is_an_error_the_indexer_knows(self, parser: Parser, session_file: Path) -> None:
        """A row may be deleted between the listing and reading."""
        if not isinstance(parser, Listing):
            pytest.skip("the sessions of the parser are files (Listing is optional)")
        missing = session_file.with_name(f"{session_file.stem}-never{session_file.suffix}")
        with pytest.raises(FileNotFoundError):
            parser.unit(missing)
        with pytest.raises((OSError, ParseError)):
            list(parser.parse(missing))
        assert not parser.matches(missing), "`matches` is false for a unit that does not exist"

    def test_lists_nothing_in_a_foreign_directory(self, parser: Parser, tmp_path: Path) -> None:
        """Other files, an empty directory and a missing one contain no units."""
        if not isinstance(parser, Listing):
            pytest.skip("the sessions of the parser are files (Listing is optional)")
        for name, content in FOREIGN_FILES.items():
            (tmp_path / name).write_bytes(content)
            assert list(parser.containers((tmp_path / name).resolve())) == [], f"{name} is not a container"
        assert list(parser.containers(tmp_path.resolve())) == [], "foreign files are not containers"
        with contextlib.suppress(FileNotFoundError):
            assert list(parser.containers(tmp_path.resolve() / "never")) == [], "a missing directory contains nothing"

    # -- growing files ------------------------------------------------------------------------------------

    def test_a_checkpoint_comes_last_and_inside_the_file(self, parser: Parser, session_file: Path) -> None:
        """The position to resume from is known only at the end."""
        events = list(parser.parse(session_file))
        checkpoints = [event for event in events if isinstance(event, Checkpoint)]
        if isinstance(parser, TailParser):
            assert checkpoints, "a TailParser yields a Checkpoint"
        if checkpoints:
            assert events[-1:] == checkpoints, "there is one Checkpoint, and it is the last event"
            assert 0 <= checkpoints[0].offset <= session_file.stat().st_size, "`offset` is a byte position in the file"

    def test_head_and_tail_equal_the_whole(self, parser: Parser, session_file: Path, tmp_path: Path) -> None:
        """A file read while it grows yields the same as one read when it is complete."""
        if not isinstance(parser, TailParser):
            pytest.skip("the parser reads grown files from the start")
        lines = _lines(session_file)
        whole = _said(parser.parse(session_file))
        growing = tmp_path / "growing" / session_file.name
        growing.parent.mkdir()
        for cut in sorted({len(lines) // 3, len(lines) // 2, len(lines) - 1} - {0}):
            growing.write_bytes(b"".join(lines[:cut]))
            head = list(parser.parse(growing))
            checkpoint = head[-1]
            assert isinstance(checkpoint, Checkpoint), f"the first {cut} lines yield no checkpoint"
            growing.write_bytes(b"".join(lines))
            tail = parser.parse_tail(growing, checkpoint)
            if tail is not None:
                rest = list(tail)
                assert _said([*head, *rest]) == whole, (
                    f"`parse` of the first {cut} lines and `parse_tail` of the rest yield the same as `parse` of all, "
                    "except for the ids of calls; a result has the id of its call, also of one before the checkpoint"
                )
                assert isinstance(rest[-1], Checkpoint), "`parse_tail` yields a Checkpoint last, as `parse` does"

    # -- damage -------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "damage",
        [
            b'{"type": "mess',
            b"\0\0\0\0\0\0\0\0",
            b"\xff\xfe\xfd",
            b"null",
            b"[]",
            b"42",
            b'{"type": 7}',
            b"{}",
        ],
    )
    def test_a_damaged_line_loses_no_neighbour(
        self, parser: Parser, session_file: Path, tmp_path: Path, damage: bytes
    ) -> None:
        """Every message of the undamaged lines is yielded, whatever is between them."""
        is_line_based = self.is_line_based
        if is_line_based is None:
            is_line_based = session_file.suffix == ".jsonl"
        if not is_line_based:
            pytest.skip("not a file of lines; set is_line_based to test it anyway")
        lines = _lines(session_file)
        damaged = tmp_path / "damaged" / session_file.name
        damaged.parent.mkdir()
        middle = len(lines) // 2
        damaged.write_bytes(b"".join([*lines[:middle], damage + b"\n", *lines[middle:]]))
        assert _said(parser.parse(damaged)) == _said(parser.parse(session_file)), (
            f"with the line {damage!r} in its middle, a file has the same messages, except for the ids of calls"
        )

    def test_a_record_over_the_limit_keeps_its_beginning_and_its_end(
        self, parser: Parser, session_file: Path, tmp_path: Path
    ) -> None:
        """Of a message of two megabytes both ends are yielded, and its neighbours whole.

        `sesame_core.JsonLines` does that; a parser that reads its files otherwise may keep the message whole.
        """
        is_line_based = session_file.suffix == ".jsonl" if self.is_line_based is None else self.is_line_based
        if not is_line_based:
            pytest.skip("not a file of lines; set is_line_based to test it anyway")
        text = next((m.text for m in _messages(parser.parse(session_file)) if len(m.text) > 3 and m.text.isascii()), "")
        written, lines = json.dumps(text)[1:-1].encode(), _lines(session_file)
        number = next((n for n, line in enumerate(lines) if text and line.count(written) == 1), None)
        if number is None:
            pytest.skip("no line contains the text of a message as JSON writes it")
        long = written + b" sesamehead" + b" word" * 400_000 + b" sesametail"
        lines[number] = lines[number].replace(written, long)
        grown = tmp_path / "grown" / session_file.name
        grown.parent.mkdir()
        grown.write_bytes(b"".join(lines))
        said, before = _messages(parser.parse(grown)), _messages(parser.parse(session_file))
        assert len(said) >= len(before), "a message of two megabytes is not lost"
        for word in ("sesamehead", "sesametail"):
            assert any(word in message.text for message in said), "both ends of a long text are yielded"


def _is_below(path: str, place: str) -> bool:
    """Return whether a path is a place or below it."""
    return path == place or path.startswith(f"{place}{os.sep}")


def _messages(events: Iterable[Event]) -> list[Message]:
    return [event for event in events if isinstance(event, Message)]


def _lines(path: Path) -> list[bytes]:
    return [line + b"\n" for line in path.read_bytes().removesuffix(b"\n").split(b"\n")]


def _said(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """Return the content of the messages among the events, without values that depend on the position in the file.

    Calls are compared by name and arguments.  Their ids may be line numbers: each is replaced with its rank among the
    ids so far, so that a result must still have the id of its call.
    """
    numbers: dict[str | None, int] = {}

    def number(call_id: str | None) -> int:
        return numbers.setdefault(call_id, len(numbers))

    return [
        (
            message.session_id,
            message.role,
            message.text,
            tuple((number(call.id), call.name, call.arguments) for call in message.tool_calls),
            tuple((number(result.call_id), result.text, result.is_error) for result in message.tool_results),
        )
        for message in _messages(events)
    ]
