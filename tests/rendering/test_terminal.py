"""What a transcript holds cannot steer the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ..support.transcripts import Pi, write

ESCAPES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("colour", lambda word: f"\x1b[31m{word}\x1b[0m"),
    ("title", lambda word: f"\x1b]0;owned\x07{word}"),
    ("clear", lambda word: f"\x1b[2J{word}\x1bc"),
    ("C1", lambda word: f"\x9b31m{word}"),
    ("bidi", lambda word: f"\u202e{word}\u202c"),
    ("bell", lambda word: f"\x07{word}\x08\x08"),
)


@pytest.mark.upstream(39)
@pytest.mark.parametrize("dress", [dress for _, dress in ESCAPES], ids=[name for name, _ in ESCAPES])
def test_a_transcript_cannot_control_the_terminal(dress: Callable[[str], str], cli: Callable[..., Any]) -> None:
    pi = Pi("escapes", cwd=f"/w/{dress('dir')}")
    write(
        pi.root / "a.jsonl",
        pi.header(),
        pi.user(f"{dress('treecreeper')} climbs"),
        pi.entry("session_info", name=dress("title")),
        pi.call(dress("bash"), command=dress("treecreeper")),
        pi.result(f"{dress('treecreeper')} output"),
    )
    assert cli("index").code == 0
    for arguments in (("search", "treecreeper"), ("search",), ("show", "escapes"), ("search", dress("treecreeper"))):
        done = cli(*arguments)
        assert done.code == 0
        assert "treecreeper" in done.out or "title" in done.out
        assert not [c for c in done.out + done.err if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]
        assert not set(done.out) & set("\u202a\u202b\u202c\u202d\u202e")
