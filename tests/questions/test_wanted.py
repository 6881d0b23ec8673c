"""Lines that are left out before they are compared are those that would not be found."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from sesame_core.questions import wanted
from sesame_core.questions.errors import asked_lines, error_line
from sesame_core.questions.wanted import Level, Wanted

#: Errors of one to six words, of which some tell more than others.
ERRORS = (
    "ENOSPC",
    "undefined: t",
    "error: no space",
    "fatal: invalid flux reference",
    "error: cannot find module vitest",
    "error: cannot open file: permission denied",
)
RARITY = {"t": 0.5, "error": 1.0, "no": 0.6, "cannot": 2.0, "file": 0.9, "vitest": 9.0, "flux": 7.5, "permission": 3.0}


@pytest.mark.parametrize("error", ERRORS)
def test_no_line_that_is_like_an_error_is_left_out(error: str) -> None:
    found = Wanted(asked_lines(error), RARITY)
    sought = found._sought[0]
    words = error_line(error).words
    chosen = [part for size in range(1, len(words) + 1) for part in combinations(words, size)]
    lines = [" ".join(order) for part in chosen for order in permutations(part)]
    lines += [f"error: {line}" for line in lines] + [f"{line} went wrong: failed" for line in lines]
    accepted = 0
    for line in lines:
        level, _ = sought.compared(error_line(line))
        match = found.find(f"before\n{line}\nafter")
        assert (match[0] if match else Level.NONE) == level, line
        accepted += level is not Level.NONE
    assert accepted > 0


def test_a_common_word_of_an_error_does_not_have_every_line_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(wanted, "error_line", lambda text: compared.append(text) or error_line(text))
    text = "\n".join([*("that is not what it is about" for _ in range(1_000)), "main.go:3:5: undefined: t"])
    match = Wanted(asked_lines("undefined: t")).find(text)
    assert match is not None
    assert match[0] is Level.SAME
    assert compared == ["main.go:3:5: undefined: t"]


def test_a_text_that_is_asked_about_twice_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(wanted, "error_line", lambda text: compared.append(text) or error_line(text))
    error = Wanted(asked_lines("fatal: invalid flux reference"))
    assert error.find("fatal: invalid flux reference") == error.find("fatal: invalid flux reference")
    assert len(compared) == 1
