"""Copies and forks of a session are one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sesame_core import Sesame

from ..support.transcripts import Pi, found, pi_session, write


@pytest.mark.upstream(5)
def test_one_session_in_two_files_is_stable_and_one_hit() -> None:
    path = pi_session("twice", "the bilby sleeps")
    write(path.parent / "copy.jsonl", path.read_bytes())
    with Sesame() as sesame:
        assert sesame.index().added == 2
        again = sesame.index()
        assert (again.unchanged, again.changed) == (2, 0)
        answer = sesame.search("bilby")
        assert (found(answer), answer.total) == (["twice"], 1)


@pytest.mark.upstream(19)
@pytest.mark.usefixtures("filler")
def test_forks_are_one_hit_with_copies(cli: Callable[..., Any]) -> None:
    original = Pi("original")
    copied = [original.user("teach the corella to dance"), original.answer("It dances now.")]
    write(original.path, original.header(), *copied)
    for number in range(3):
        fork = Pi(f"fork{number}")
        own = fork.user(f"variation {number}")
        write(fork.path, fork.header(parentSession=str(original.path)), *copied, own)
    with Sesame() as sesame:
        sesame.index()
        answer = sesame.search("corella dance")
        (hit,) = answer.hits
        assert answer.total == 1
        ids = {hit.session.id, *(session_id for session_id, _ in hit.copies)}
        assert ids == {"original", "fork0", "fork1", "fork2"}
        assert found(sesame.search("variation 2"))[0] == "fork2"
    assert "also in 3 copies" in cli("search", "corella", "dance").out
