"""What terminals send, as events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.picker.bindings import BINDINGS
from sesame_core.picker.keys import Decoder, Event

SEQUENCES = [
    (b"a", "text"),
    (b"\r", "enter"),
    (b"\n", "enter"),
    (b"\t", "tab"),
    (b"\x1b[Z", "shift-tab"),
    (b"\x7f", "backspace"),
    (b"\x08", "backspace"),
    (b"\x00", "ctrl-space"),
    (b"\x01", "ctrl-a"),
    (b"\x1a", "ctrl-z"),
    (b"\x1b[A", "up"),
    (b"\x1bOA", "up"),
    (b"\x1b[1;2A", "shift-up"),
    (b"\x1b[1;3B", "alt-down"),
    (b"\x1b[1;5C", "ctrl-right"),
    (b"\x1b[1;6D", "ctrl-shift-left"),
    (b"\x1b[H", "home"),
    (b"\x1bOF", "end"),
    (b"\x1b[1~", "home"),
    (b"\x1b[8~", "end"),
    (b"\x1b[3~", "delete"),
    (b"\x1b[5~", "page-up"),
    (b"\x1b[6;5~", "ctrl-page-down"),
    (b"\x1bOP", "f1"),
    (b"\x1b[11~", "f1"),
    (b"\x1bb", "alt-b"),
    (b"\x1b\x7f", "alt-backspace"),
    ("\x1bß".encode(), "alt-ß"),
]


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


@pytest.mark.parametrize(("sequence", "name"), SEQUENCES, ids=[name for _, name in SEQUENCES])
def test_a_key_has_its_name_also_when_its_bytes_come_one_by_one(sequence: bytes, name: str) -> None:
    assert names(Decoder().feed(sequence)) == [name]
    decoder = Decoder()
    found = [event for byte in sequence for event in decoder.feed(bytes([byte]))]
    # A letter of two bytes after Esc needs both.
    assert names([*found, *decoder.flush()]) == [name] or name == "alt-ß"


def test_an_escape_alone_is_a_key_once_nothing_has_followed_it() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.is_waiting
    assert names(decoder.flush()) == ["esc"]
    assert not decoder.is_waiting
    assert names(Decoder().feed(b"\x1b\x1b[A")) == ["esc", "up"]


def test_a_character_that_comes_in_pieces_is_one() -> None:
    decoder = Decoder()
    data = "日🎉".encode()
    found = [event.text for byte in data for event in decoder.feed(bytes([byte]))]
    assert "".join(found) == "日🎉"


def test_a_paste_is_one_text_with_its_line_feeds_and_escapes() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b[200~one\ntwo\x1b[Athr") == []
    assert not decoder.is_waiting  # however long it takes to come
    events = decoder.feed(b"ee\x1b[201~x")
    assert [event.text for event in events] == ["one\ntwo\x1b[Athree", "x"]


def test_clicks_and_the_wheel_have_their_place_and_movements_are_nothing() -> None:
    events = Decoder().feed(b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<64;1;1M\x1b[<65;1;1M\x1b[<35;7;7M\x1b[<2;1;1M")
    assert names(events) == ["click", "wheel-up", "wheel-down"]
    assert (events[0].row, events[0].column) == (2, 4)


@pytest.mark.parametrize(
    "noise",
    [
        b"\x1b[?62;c",
        b"\x1b]11;rgb:0000/0000/0000\x07",
        b"\x1b]52;c;YQ==\x1b\\",
        b"\x1bP>|xterm\x1b\\",
        b"\x1b[I",
        b"\x1b[999~",
        b"\x1bOz",
    ],
)
def test_answers_of_the_terminal_and_unknown_keys_are_nothing(noise: bytes) -> None:
    assert names(Decoder().feed(noise + b"\r")) == ["enter"]


@pytest.mark.parametrize("noise", [b"\xff", b"\xc3(", b"\x1b[" + b"1" * 100, b"\x1b]" + b"x" * 100, b"\xe6\x97"])
def test_bytes_that_are_nothing_do_not_stop_what_follows(noise: bytes) -> None:
    decoder = Decoder()
    events = [*decoder.feed(noise), *decoder.flush(), *decoder.feed(b"\r")]
    assert names(events)[-1] == "enter"


def test_no_key_has_two_actions() -> None:
    keys = [key for binding in BINDINGS for key in binding.keys]
    assert len(keys) == len(set(keys))
    assert len({binding.action for binding in BINDINGS}) == len(BINDINGS)


PIECES = st.lists(
    st.sampled_from([*(sequence for sequence, _ in SEQUENCES), b"\x1b[", b"\x1b[<", b"\x1b]", b"\x9b"]) | st.binary()
)


@given(PIECES)
def test_any_bytes_become_events_and_nothing_waits_for_ever(pieces: list[bytes]) -> None:
    decoder = Decoder()
    for piece in pieces:
        assert all(event.name for event in decoder.feed(piece))
    decoder.flush()
    assert not decoder.is_waiting or decoder.flush() == []
    assert names(decoder.feed(b"\x1b[201~\r"))[-1] == "enter"
