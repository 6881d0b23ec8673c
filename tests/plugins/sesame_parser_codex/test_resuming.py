"""Where Codex finds a session: by its id, in its home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import ResumeError, Resumption, Session

from ...support.transcripts import library
from .records import CHILD, PARSER, SEGMENT, THREAD, answer, lines, meta, name, parse, prompt, session


@pytest.fixture
def put(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a session file to a home of Codex, the default one unless another is named."""

    def put(*, codex: str = ".codex", place: str = "sessions/2026/03/01", file: str = name(), **fields: object) -> Path:
        path = home / codex / place / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines(meta(**fields), prompt("ask"), answer("reply")))
        return path

    return put


def resumption(path: Path) -> Resumption:
    return PARSER.resumption(session(parse(path)), path)


def test_a_session_is_resumed_by_its_id_in_its_directory(put: Callable[..., Path]) -> None:
    found = resumption(put())
    assert (list(found.command), found.directory, dict(found.environment), found.problem) == (
        ["codex", "resume", THREAD],
        "/home/bo/fox",
        {},
        None,
    )
    assert not found.is_bound


@pytest.mark.parametrize("file", [name(THREAD, SEGMENT), name()])
def test_a_segment_is_resumed_as_its_thread(file: str, put: Callable[..., Path]) -> None:
    assert resumption(put(file=file)).command == ("codex", "resume", THREAD)


def test_a_subagent_is_resumed_as_the_session_that_started_it(put: Callable[..., Path]) -> None:
    path = put(file=name(CHILD), thread=CHILD, session_id=THREAD, parent_thread_id=THREAD, thread_source="subagent")
    assert resumption(path).command == ("codex", "resume", THREAD)


def test_a_session_of_another_home_is_resumed_there(
    put: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, own = put(codex="work"), put()
    assert resumption(work).environment == {"CODEX_HOME": str(home / "work")}
    monkeypatch.setenv("CODEX_HOME", str(home / "work"))
    assert resumption(work).environment == {}
    assert resumption(own).environment == {"CODEX_HOME": None}


def test_an_archived_session_says_what_to_do_first(put: Callable[..., Path]) -> None:
    assert resumption(put(place="archived_sessions")).problem == (
        f"the session is archived: run `codex unarchive {THREAD}` first"
    )


def test_a_file_where_codex_does_not_look_says_where_it_does(put: Callable[..., Path], home: Path) -> None:
    path = put(codex="backup", place="x")
    assert resumption(path).problem == (
        f"Codex does not look for sessions in {path.parent}: copy {path.name} to {home / '.codex' / 'sessions'}"
    )
    renamed = put(file="notes.jsonl")
    assert "Codex does not look for sessions" in str(resumption(renamed).problem)


def test_a_file_that_is_gone_cannot_be_resumed(put: Callable[..., Path]) -> None:
    path = put()
    path.unlink()
    with pytest.raises(ResumeError, match="its file is gone, so Codex cannot resume it"):
        PARSER.resumption(Session(id=THREAD, agent="codex"), path)


def test_a_session_that_was_archived_is_resumed_from_where_it_is_now(put: Callable[..., Path], home: Path) -> None:
    path = put()
    with library(home / ".codex", home / "data", parser="codex") as sesame:
        sesame.index()
        archived = home / ".codex" / "archived_sessions" / path.name
        archived.parent.mkdir()
        path.rename(archived)
        sesame.index()
        assert sesame.get_session(THREAD).path == str(archived)
        assert "archived" in str(sesame.resumption(THREAD).problem)
