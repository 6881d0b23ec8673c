"""Marks, what is taken out of which values, and the user's own rules."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from sesame_core.config import paths
from sesame_core.config.model import Redaction
from sesame_core.errors import ConfigError
from sesame_core.installation import adding
from sesame_core.privacy.redactor import Redactor, machine_key
from sesame_core.types.index import Chunk
from sesame_core.types.transcript import Checkpoint, Message, Notes, Session, Skipped, ToolCall, ToolResult

from ..support.planted import made, plain, secrets

PLANTED = secrets()
TOKEN = plain(PLANTED["github-token"])


def redactor(*, key: bytes = b"key", **settings: object) -> Redactor:
    return Redactor(key, Redaction(**settings))  # type: ignore[arg-type]


def test_one_secret_has_one_mark_and_another_has_another() -> None:
    other = plain(secrets()["github-token"])
    marks = redactor().text(f"{TOKEN} {TOKEN} {other}").split()
    assert marks[0] == marks[1] != marks[2]
    assert marks[0].startswith("[redacted:github-token:")


def test_a_mark_depends_on_the_key_so_that_no_reader_can_try_secrets() -> None:
    assert redactor(key=b"one").text(TOKEN) != redactor(key=b"two").text(TOKEN)


def test_the_key_is_made_once_and_is_its_owners_alone() -> None:
    first = machine_key()
    assert len(first) == 32
    assert machine_key() == first
    file = paths.data_dir() / "redaction.key"
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.unlink()
    assert machine_key() != first
    assert [path.name for path in file.parent.iterdir()] == ["redaction.key"]


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    with pytest.raises(ConfigError, match=re.escape(adding("redact"))):
        redactor()


def test_every_field_of_a_message_is_scanned() -> None:
    deep = {"a": [{"b": (f"x {TOKEN}", 1, None, True)}], TOKEN: "c"}
    message = Message(
        session_id=f"s-{TOKEN}",
        role="user",
        text=TOKEN,
        tool_calls=(ToolCall(id="1", name=f"run {TOKEN}", arguments=deep, via=TOKEN),),
        tool_results=(ToolResult(call_id="1", text=TOKEN, command=f"echo {TOKEN}"),),
        entry_id=TOKEN,
    )
    redactor().redact(message)
    assert TOKEN not in repr(message)
    assert repr(message).count("[redacted:github-token:") == 9


def test_facts_of_a_session_and_of_a_chunk_are_scanned() -> None:
    session = Session(id="s", agent="a", cwd=f"/{TOKEN}", prompts=("hello", TOKEN), tool_counts={TOKEN: 3})
    chunk = Chunk(kind="message", text="a", paths=(f"/x/{TOKEN}",), subwords=TOKEN)
    for thing in (session, chunk):
        redactor().redact(thing)
        assert TOKEN not in repr(thing)
    assert list(session.tool_counts.values()) == [3]


def test_a_dataclass_with_one_string_or_none_is_scanned() -> None:
    skipped, checkpoint = Skipped(reason=f"odd {TOKEN}", line=1), Checkpoint(offset=1, line=1)
    for thing in (skipped, checkpoint):
        redactor().redact(thing)
    assert skipped.reason.startswith("odd [redacted:github-token:")
    assert checkpoint == Checkpoint(offset=1, line=1)


def test_notes_lose_their_secrets_too() -> None:
    notes = Notes(name="deploy", description=f"with {TOKEN}", summary="", tags=("x", TOKEN))
    redactor().redact(notes)
    assert TOKEN not in notes.text
    assert notes.text.count("[redacted:github-token:") == 2


def test_a_value_without_a_secret_stays_the_same_object() -> None:
    value = {"a": ["b" * 20, ("c" * 20, {"d": 1.5})], "token": "no secret at all"}
    assert redactor().value(value) is value


def test_the_name_of_a_value_shows_that_it_is_a_password() -> None:
    password = made(16)
    value = redactor().value({"env": {"DB_PASSWORD": password, "DB_NAME": password}})
    assert password not in value["env"]["DB_PASSWORD"]
    assert value["env"]["DB_NAME"] == password


def test_a_text_with_half_a_character_is_redacted_too() -> None:
    masked = redactor().text(f"\ud800 {TOKEN} \0")
    assert TOKEN not in masked
    assert "[redacted:github-token:" in masked


def test_what_is_kept_stays_as_it_is() -> None:
    example = "AK" + "IAIOSFODNN7EXAMPLE"
    assert redactor().text(example) != example
    keeping = redactor(keep=("AKIA[A-Z0-9]*EXAMPLE",))
    assert keeping.text(f"{example} {TOKEN}").startswith(example)
    assert TOKEN not in keeping.text(f"{example} {TOKEN}")
    other = example.replace("EXAMPLE", "ELPMAXE")
    assert keeping.text(other) != other


def test_patterns_of_the_user_are_kinds_of_their_own() -> None:
    mine = redactor(patterns=(("ticket", r"ACME-\d{8}"), ("nothing", "x*")))
    masked = mine.text("see ACME-12345678 and ACME-1")
    assert masked.startswith("see [redacted:ticket:")
    assert masked.endswith("] and ACME-1")
    assert mine.text(masked) is masked


@pytest.mark.parametrize("name", ["data", "redaction.key"])
def test_a_key_that_cannot_be_read_is_reported(name: str) -> None:
    from sesame_core.errors import BackendError

    directory = paths.data_dir()
    if name == "data":
        directory.parent.mkdir(parents=True)
        directory.write_text("a file")
    else:
        Path(directory / name).mkdir(parents=True)
    with pytest.raises(BackendError, match=r"redaction\.key: cannot be used"):
        machine_key()
