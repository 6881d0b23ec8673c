"""Conformance tests of a parser whose sessions are not files (`Listing`)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from sesame_core.errors import ParseError
from sesame_core.plugin.parser import Listing, Parser

from .base import FOREIGN_FILES, ParserBase


class ListingConformance(ParserBase):
    """Tests which sessions are found where, and what happens to those that do not exist."""

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


def _is_below(path: str, place: str) -> bool:
    """Return whether a path is a place or below it."""
    return path == place or path.startswith(f"{place}{os.sep}")
