"""Conformance tests of a parser."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from sesame_core.errors import ParseError, ResumeError
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Integrable, Naming, Parser, Resumer, Resuming
from sesame_core.types.integration import OwnFile
from sesame_core.types.transcript import Checkpoint, Message, Session, Skipped

from .base import FOREIGN_FILES, messages
from .lines import LinesConformance
from .listing import ListingConformance


class ParserConformance(ListingConformance, LinesConformance):
    """Subclass it, set `name`, override the fixture `session_file`: a valid file with at least three messages.

    In addition to the docstrings of `sesame_core.plugin.parser`, it tests these rules.  A `Session` comes before the
    first `Message` that names it.  Times have a time zone.  A damaged line does not affect its neighbours.  A
    `Checkpoint` is the last event, and a `TailParser` yields one for each prefix of a file.  A result has the id of its
    call; the parser chooses the ids: if the format has none, line numbers suffice.

    Of a parser with `Listing` the fixture is the path of a unit; `session_file.parent` is its container, or above it.
    """

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
                assert not messages(parser.parse(other)), (
                    "`parse` raises ParseError, or yields no message, for a file that only has the name of a session"
                )

    # -- parsing ------------------------------------------------------------------------------------------

    def test_finds_messages(self, parser: Parser, session_file: Path) -> None:
        """At least three, so that the tests about the middle of a file have one."""
        assert len(messages(parser.parse(session_file))) >= 3, "the fixture `session_file` has three messages or more"

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
