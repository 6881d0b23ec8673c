"""Notes of git-ai decide who wrote a line, where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.questions.notes_ai import Noted, attested

from ..support.every_backend import BACKENDS, opened
from ..support.histories import History


def note(entries: str, **tables: Any) -> str:
    """Return a note with these entries."""
    about = {"schema_version": "authorship/3.0.0", "base_commit_sha": "0" * 40, "prompts": {}, **tables}
    return f"{entries}\n---\n{json.dumps(about)}"


AGENT = {"agent_id": {"tool": "owl", "id": "s-first", "model": "m-1"}, "human_author": "bo@example.org"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            note("a.py\n  s_0123456789abcd::t_0123456789abcd 1-2,5", sessions={"s_0123456789abcd": AGENT}),
            {"a.py": dict.fromkeys((1, 2, 5), Noted("owl", "s-first", "bo@example.org"))},
        ),
        (
            note('"my file.py"\n  0123456789abcdef 3', prompts={"0123456789abcdef": AGENT}),
            {"my file.py": {3: Noted("owl", "s-first", "bo@example.org")}},
        ),
        (
            note("a.py\n  h_0123456789abcd 7", humans={"h_0123456789abcd": {"author": "Bo <bo@example.org>"}}),
            {"a.py": {7: Noted("", "", "Bo <bo@example.org>")}},
        ),
        (note("a.py\n  s_unknown::t_1 1-9\n  0123456789abcdef x-y,3-"), {}),
        ("a.py\n  0123456789abcdef 1\n---\n{half", {}),
        ("no divider", {}),
        ("a.py\n---\n[]", {}),
        ("", {}),
    ],
)
def test_a_note_is_read_as_the_standard_says(text: str, found: dict[str, Any]) -> None:
    assert attested(text) == found


@pytest.fixture(params=[name for name in BACKENDS if name != "postgres"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Sesame, History]]:
    history = History(tmp_path)
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=history.source)) as sesame:
        yield sesame, history


def test_a_note_decides_which_session_wrote_a_line(library: tuple[Sesame, History]) -> None:
    sesame, history = library
    history.session("s-first").asks("write it by a way that no call tells")
    history.session("s-second").writes("a.py", "one_value = 1\ntwo_values = 2\nthree_values = 3\nfour_values = 4\n")
    commit = history.git("rev-parse", "HEAD").strip()
    tables = {
        "sessions": {"s_1::": AGENT, "s_1": AGENT, "s_2": {"agent_id": {"tool": "fox", "id": "s-gone", "model": ""}}},
        "humans": {"h_1": {"author": "Bo <bo@example.org>"}},
    }
    entries = "a.py\n  s_1::t_1 1\n  s_2::t_2 2\n  h_1 3"
    history.git("notes", "--ref=ai", "add", "-m", note(entries, **tables), commit)
    history.git("mv", "a.py", "b.py")
    history.commit("person")
    history.save()
    sesame.index()
    found = sesame.blame(str(history.root / "b.py"))
    first, second, third, fourth = found.runs
    assert [(one.stored.session.id, one.evidence) for one in first.writers] == [
        ("s-first", "note"),
        ("s-second", "edit"),
    ]
    assert first.writers[0].position is None
    assert (second.writers, second.noted) == ((), "fox s-gone")
    assert (third.writers, third.noted) == ((), "Bo <bo@example.org>")
    assert fourth.writers[0].stored.session.id == "s-second"
    assert (found.noted, found.unknown) == (2, 0)


def test_a_broken_note_is_as_none(library: tuple[Sesame, History]) -> None:
    sesame, history = library
    history.session("s-first").writes("a.py", "one_value = 1\n")
    history.git("notes", "--ref=ai", "add", "-m", "a.py\n  s_1::t_1 1\n---\n{half", "HEAD")
    history.save()
    sesame.index()
    assert sesame.blame(str(history.root / "a.py")).runs[0].writers[0].evidence == "edit"
