"""Text in the colours of a terminal is found, and finds, as what a person sees of it; on every backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sesame_core import Sesame

from ..support.every_backend import BACKENDS, indexed
from ..support.transcripts import found

#: Output as a program prints it, and what a terminal shows.
PRINTED = {
    "colour": ("\x1b[31mfailure\x1b[0m: the kestrel is \x1b[38;5;196mgone\x1b[39m", "failure: the kestrel is gone"),
    "colon": ("\x1b[38:2::255:0:0mmarmot\x1b[0m asleep in its burrow", "marmot asleep in its burrow"),
    "inside": ("the web\x1b[1msocket\x1b[22m closed early", "the websocket closed early"),
    "link": ("see \x1b]8;;https://example.org/a\x1b\\wombat\x1b]8;;\x1b\\ for more", "see wombat for more"),
    "title": ("\x1b]0;make all\x07otter build done", "otter build done"),
    "moved": ("\x1b[2K\x1b[1Glinnet 12 of 12 tests", "linnet 12 of 12 tests"),
    "charset": ("\x1b(B\x1b[mplover passed\x1b(B", "plover passed"),
}


@pytest.fixture(scope="module", params=BACKENDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    sessions = {name: [printed] for name, (printed, _) in PRINTED.items()}
    with indexed(request, tmp_path_factory.mktemp("coloured"), sessions) as sesame:
        yield sesame


@pytest.mark.parametrize("name", PRINTED)
def test_every_word_of_a_coloured_output_is_found(library: Sesame, name: str) -> None:
    for word in PRINTED[name][1].replace(":", "").split():
        if len(word) > 3:
            answer = library.search(word)
            assert name in found(answer), word
            assert not answer.words_not_found


@pytest.mark.parametrize("name", PRINTED)
def test_an_output_pasted_with_its_colours_finds_the_session_as_one_without(library: Sesame, name: str) -> None:
    printed, seen = PRINTED[name]
    for query in (printed, seen, f'"{printed}"'):
        answer = library.search(query)
        assert found(answer)[:1] == [name], (found(answer), str(answer.query))
        assert answer.query.text.strip('"') == seen


def test_what_a_link_hides_is_no_text(library: Sesame) -> None:
    assert found(library.search('"example.org"')) == []
