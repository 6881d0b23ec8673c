"""The parser of Gemini CLI as a plugin: which files are sessions, whose they are, where it looks, how they go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sesame_core import ConfigError, Message, ResumeError, Session
from sesame_core.integration.install import carry_out, plan
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing import ParserConformance
from sesame_parser_gemini.parser import GeminiParser

from .writing import (
    CONTEXT,
    DOCUMENT,
    HEADER,
    LOG,
    SESSION,
    as_lines,
    call,
    checkpoint,
    gemini,
    kept,
    listed,
    messages,
    results,
    said,
    session,
    user,
)

Write = Callable[..., Path]
SUBAGENT = "77d1c0de-0000-4000-8000-000000000001"


class TestConformance(ParserConformance):
    name = "gemini"

    @pytest.fixture
    def session_file(self) -> Path:
        return LOG


class TestConformanceOfJson(ParserConformance):
    name = "gemini"

    @pytest.fixture
    def session_file(self) -> Path:
        return DOCUMENT


# -- recognising files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("logs.json", '[{"sessionId": "x", "messageId": 0, "type": "user", "message": "kelp"}]'),
        ("projects.json", '{"projects": {"/home/ann": "ann"}}'),
        ("settings.json", '{"sessionId": "x", "projectHash": "y"}'),
        (
            "checkpoints/2026-lamp.py-replace.json",
            '{"history": [{"role": "user", "parts": [{"text": "x"}]}], "toolCall": {}}',
        ),
        (
            "lamp-write_file.json",
            '{"history": [{"role": "user", "parts": []}], "clientHistory": [], "commitHash": "1"}',
        ),
        ("chat.json", '{"version": 3, "sessionId": "x", "requests": []}'),
        ("openai.json", '{"sessionId": "x", "messages": [{"role": "user", "content": "x"}]}'),
        ("other.json", '{"history": [{"message": {"role": "user"}}]}'),
        ("x.jsonl", '{"type": "session", "id": "x", "sessionId": "y", "projectHash": "z"}'),
        ("x.jsonl", '{"id": "x", "timestamp": "2026", "type": "user", "content": "x"}'),
        ("x.jsonl", '{"parentUuid": null, "sessionId": "x", "type": "user", "message": {}}'),
        ("session-2026-03-02T10-00-3f0c1d7e.jsonl.unreadable-1772445600000", json.dumps(HEADER)),
        ("session-2026-03-02T10-00-3f0c1d7e.jsonl.tmp-4711", json.dumps(HEADER)),
        ("session-2026-03-02T10-00-3f0c1d7e.jsonl", ""),
        ("session-2026-03-02T10-00-3f0c1d7e.json", ""),
        ("session-2026-03-02T10-00-3f0c1d7e.json", '{"sessionId": "x"'),
    ],
)
def test_other_files_are_not_taken_for_sessions_and_need_no_reason(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    assert not GeminiParser().matches(path)
    reason = GeminiParser().why_not(path)
    if content and path.suffix == ".json" and name.startswith("session-"):
        assert reason == "it has no session id, or is damaged"
    elif path.suffix != ".jsonl" or not content:
        assert reason is None


@pytest.mark.parametrize(
    "place", [".qwen/tmp/slug/chats", ".gemini/antigravity/chats", ".gemini/antigravity-cli/x/chats"]
)
def test_programs_that_write_the_same_records_are_not_gemini(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    for own in (LOG, DOCUMENT):
        path = tmp_path / place / own.name
        path.write_bytes(own.read_bytes())
        assert not GeminiParser().matches(path)


@pytest.mark.parametrize(
    "content",
    [
        b"\n\0\0\n" + as_lines(HEADER),
        b"\xef\xbb\xbf" + as_lines(HEADER),
        as_lines(b'{"sessionId":"3f', user("u", 1, "x")),
        as_lines({"$rewindTo": "x"}),
        as_lines({**HEADER, "directories": ["/" + "x" * 70_000]}),
    ],
)
def test_a_log_is_recognised_by_its_header_or_by_its_name_and_a_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / LOG.name
    path.write_bytes(content)
    assert GeminiParser().matches(path)


def test_a_json_session_whose_header_comes_last_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / DOCUMENT.name
    messages = [user(f"u{n}", n, "kelp " * 100) for n in range(500)]
    path.write_text(json.dumps({"messages": messages, **HEADER}, indent=1))
    assert GeminiParser().matches(path)
    assert (session(path).id, len(said(path))) == (SESSION, 500)


def test_directories_and_dangling_links_are_not_sessions(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    (tmp_path / "b.json").symlink_to(tmp_path / "gone")
    assert not any(GeminiParser().matches(tmp_path / name) for name in ("a.jsonl", "b.json", "c.jsonl"))


# -- saved chats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_bare", [False, True])
def test_a_saved_chat_is_read_only_if_no_session_has_its_text(write: Write, is_bare: bool) -> None:
    turns = [
        {"role": "user", "parts": [{"text": CONTEXT}, {"text": 'moor the "wörld"'}]},
        {"role": "model", "parts": [{"text": "Moored."}, {"functionCall": {"name": "glob", "args": {"pattern": "*"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "glob", "response": {"output": "kelp"}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "glob", "args": {"pattern": name}}} for name in "ab"]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "glob", "response": {"output": name}}} for name in ("squid", "eel")
            ],
        },
        {"role": "model", "parts": [{"text": "Done."}]},
    ]
    other = write(user("u", 1, "another prompt"))
    saved = other.parent.parent / "checkpoint-heron-tag.json"
    saved.write_text(json.dumps(turns if is_bare else {"history": turns, "authType": "key"}, indent=2))
    assert GeminiParser().matches(saved)
    assert said(saved) == [("user", 'moor the "wörld"'), ("assistant", "Moored."), ("assistant", "Done.")]
    assert [text for _, text, _ in results(saved)] == ["kelp", "squid", "eel"]
    made = [call.id for message in messages(saved) for call in message.tool_calls]
    assert made == [result.call_id for message in messages(saved) for result in message.tool_results]
    found = session(saved)
    assert (found.id, found.title, found.cwd) == (
        "lighthouse-checkpoint-heron-tag",
        "heron-tag",
        "/home/ann/lighthouse",
    )
    with pytest.raises(ResumeError, match="/chat resume heron-tag"):
        GeminiParser().resumption(found, saved)
    other.write_text(
        json.dumps(HEADER) + "\n" + json.dumps(user("u", 1, 'moor the "wörld"'), ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    assert not GeminiParser().matches(saved)


def test_a_saved_chat_in_which_nobody_said_anything_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-empty.json"
    path.write_text(json.dumps({"history": [{"role": "user", "parts": [{"text": CONTEXT}]}]}))
    assert not GeminiParser().matches(path)


# -- whose session it is ----------------------------------------------------------------------------------


def test_the_project_is_what_its_own_file_says_and_not_its_directorys_name(write: Write) -> None:
    path = write(user("c", 0, CONTEXT), user("u", 1, "x"))
    assert (session(path).cwd, session(path).directories) == ("/home/ann/lighthouse", ("/home/ann/reef",))
    (path.parent.parent / ".project_root").write_text("/home/ann/light house!\n")
    assert session(path).cwd == "/home/ann/light house!"


def test_the_registry_of_projects_names_the_directory(write: Write) -> None:
    path = write(user("u", 1, "x"))
    registry = path.parents[3] / "projects.json"
    for text in ("{", "[]", '{"projects": []}', '{"projects": {"/a": "other"}}'):
        registry.write_text(text)
        assert session(path).cwd is None
    registry.write_text(json.dumps({"projects": {"/a": "other", "/srv/lighthouse": "lighthouse"}}))
    assert session(path).cwd == "/srv/lighthouse"


def test_a_hash_is_checked_against_known_projects_and_the_files_that_calls_name(write: Write) -> None:
    digest = sha256(b"/srv/reef").hexdigest()
    made = call("c", "write_file", {"file_path": "/srv/reef/src/kelp.py", "content": "x"}, "ok")
    path = write(user("u", 1, "x"), gemini("g", 2, toolCalls=[made]), header={**HEADER, "projectHash": digest})
    assert session(path).cwd == "/srv/reef"
    path = write(user("u", 1, "x"), header={**HEADER, "projectHash": digest})
    assert session(path).cwd is None
    (path.parents[3] / "projects.json").write_text(json.dumps({"projects": {"/srv/reef": "reef-1"}}))
    assert session(path).cwd == "/srv/reef"


@pytest.mark.parametrize(
    "line",
    [
        "I'm currently working in the directory: /srv/reef",
        "My current working directory is: /srv/reef",
        "  I'm currently working in the following directories:\n    - /srv/reef\n    - /srv/x",
    ],
)
def test_old_contexts_name_the_directory_in_a_sentence(write: Write, line: str) -> None:
    text = f"This is the Gemini CLI. We are setting up the context for our chat.\n{line}\nHere is the folder structure:"
    assert session(write({"id": "c", "type": "user", "content": text}, user("u", 1, "x"))).cwd == "/srv/reef"


def test_a_subagent_belongs_to_the_session_in_whose_directory_it_is(write: Write) -> None:
    header = {**HEADER, "sessionId": SUBAGENT, "kind": "subagent", "directories": ["/srv/reef"]}
    path = write(
        user("u", 1, "\n<loaded_context>\n</loaded_context>", "survey"),
        gemini("g", 2, "Shallow."),
        header=header,
        name=f"{SESSION}/{SUBAGENT}.jsonl",
    )
    found = session(path)
    assert (found.id, found.parent_id, found.kind, found.cwd) == (
        f"{SESSION}/{SUBAGENT}",
        SESSION,
        "subagent",
        "/srv/reef",
    )
    assert said(path) == [("system", "survey"), ("assistant", "Shallow.")]
    with pytest.raises(ResumeError, match="with its parent"):
        GeminiParser().resumption(found, path)
    write(user("u", 1, "x"))
    assert GeminiParser().resumption(found, path).command == ("gemini", "--resume", SESSION)


def test_a_subagent_next_to_its_parent_is_one_too(write: Write) -> None:
    assert session(write(user("u", 1, "x"), header={**HEADER, "kind": "subagent"})).kind == "subagent"


# -- where sessions are, how they go on -------------------------------------------------------------------


def test_the_default_root_follows_the_agents_own_variable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    assert list(GeminiParser().default_roots()) == [home / ".gemini" / "tmp"]
    monkeypatch.setenv("GEMINI_CLI_HOME", "/elsewhere")
    assert list(GeminiParser().default_roots()) == [Path("/elsewhere/.gemini/tmp")]
    monkeypatch.setenv("GEMINI_CLI_HOME", "")
    assert list(GeminiParser().default_roots()) == [home / ".gemini" / "tmp"]


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("{", 30),
        ("[]", 30),
        ('{"general": {"sessionRetention": {"maxAge": "7d"}}}', 7),
        ('{"general": {"sessionRetention": {"maxAge": "48h"}}}', 2),
        ('{"general": {"sessionRetention": {"maxAge": "2w", "enabled": true}}}', 14),
        ('{"general": {"sessionRetention": {"maxAge": "1m"}}}', 30),
        ('{"general": {"sessionRetention": {"enabled": false}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": "soon"}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": "0d"}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": 7}}}', None),
    ],
)
def test_sessions_expire_as_the_settings_say(
    home: Path, settings: str | None, days: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    (home / ".gemini").mkdir()
    if settings is not None:
        (home / ".gemini" / "settings.json").write_text(settings)
    assert GeminiParser().expires_after_days() == days


def test_a_session_is_resumed_by_its_id_from_its_project_in_the_home_that_has_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    path = home / ".gemini" / "tmp" / "lighthouse" / "chats" / LOG.name
    path.parent.mkdir(parents=True)
    path.write_bytes(LOG.read_bytes())
    found = GeminiParser().resumption(session(path), path)
    assert (found.command, found.directory) == (("gemini", "--resume", SESSION), "/home/ann/lighthouse")
    assert (found.environment, found.is_bound, found.problem) == ({}, True, None)
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "other"))
    assert GeminiParser().resumption(session(path), path).environment == {"GEMINI_CLI_HOME": None}
    other = tmp_path / "third" / ".gemini" / "tmp" / "x" / "chats" / LOG.name
    other.parent.mkdir(parents=True)
    other.write_bytes(LOG.read_bytes())
    assert GeminiParser().resumption(session(other), other).environment == {"GEMINI_CLI_HOME": str(tmp_path / "third")}
    elsewhere = tmp_path / LOG.name
    elsewhere.write_bytes(LOG.read_bytes())
    problem = GeminiParser().resumption(session(elsewhere), elsewhere).problem
    assert problem
    assert f"copy {LOG.name}" in problem
    path.unlink()
    with pytest.raises(ResumeError, match="its file is gone"):
        GeminiParser().resumption(Session(id=SESSION, agent="gemini"), path)


def test_the_integration_keeps_the_settings_and_can_be_undone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    before: dict[str, Any] = {"general": {"vimMode": True}, "mcpServers": {"demo": {"command": "demo"}}}
    settings.write_text(json.dumps(before, indent=2))
    made = GeminiParser().integration(["/usr/bin/sesame"], "skill\n<!-- sesame integrate -->")
    carry_out(plan(made))
    written = json.loads(settings.read_bytes())
    assert written["mcpServers"]["sesame"] == {"command": "/usr/bin/sesame", "args": ["mcp"]}
    assert written["general"] == before["general"]
    assert (home / ".gemini" / "skills" / "sesame" / "SKILL.md").is_file()
    assert plan(made) == []
    carry_out(plan(made, remove=True))
    assert json.loads(settings.read_bytes()) == before
    assert not (home / ".gemini" / "skills" / "sesame").exists()


def test_options_are_checked() -> None:
    manager = PluginManager()
    assert manager.parser("gemini", {"thinking": True, "line_limit": 4096})
    for options in ({"thinkin": True}, {"thinking": 1}, {"line_limit": 0}):
        with pytest.raises(ConfigError):
            manager.parser("gemini", options)


# -- the session that a program was started from ----------------------------------------------------------


def test_a_program_that_gemini_has_started_knows_its_session(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "Light house"
    (project / "src").mkdir(parents=True)
    chats = home / ".gemini" / "tmp" / "light-house" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(project))
    running, ended = (
        chats / "session-2026-03-02T10-00-aaaaaaaa.jsonl",
        chats / "session-2026-03-02T10-00-bbbbbbbb.jsonl",
    )
    made = call("c", "glob", {}, "kelp")
    running.write_bytes(as_lines({**HEADER, "sessionId": "aaaaaaaa-1"}, user("u", 1, "x"), gemini("g", 2, "I look.")))
    ended.write_bytes(
        as_lines({**HEADER, "sessionId": "bbbbbbbb-1"}, user("u", 1, "x"), gemini("g", 2, toolCalls=[made]))
    )
    (chats / "session-2026-03-02T10-00-cccccccc.jsonl").write_bytes(b"\xff")
    parser, inside = GeminiParser(), {"GEMINI_CLI": "1"}
    for place in (project, project / "src"):
        assert parser.current_session(inside, str(place)) == "aaaaaaaa-1"
    assert parser.current_session(inside, str(tmp_path)) is None
    assert parser.current_session({}, str(project)) is None
    running.unlink()
    assert parser.current_session(inside, str(project)) is None


# -- growing files ----------------------------------------------------------------------------------------


def grown(path: Path, *records: object) -> list[tuple[str, str]] | None:
    """What the tail says after records were appended; None if the whole file is to be read."""
    at = checkpoint(path)
    assert len(json.dumps(at.state)) < 60_000
    with path.open("ab") as file:
        file.write(as_lines(*records))
    tail = GeminiParser().parse_tail(path, at)
    if tail is None:
        return None
    return [
        (message.role, message.text or message.tool_results[0].text)
        for message in tail
        if isinstance(message, Message) and (message.text or message.tool_results)
    ]


MANY = [gemini(f"g{n}", n, f"answer {n}") for n in range(200)]


def test_new_turns_are_read_from_the_end_however_long_the_file(write: Write) -> None:
    for records in ([], MANY):
        path = write(user("u", 0, "x"), *records)
        assert grown(path, {"$set": {"lastUpdated": "x"}}, user("v", 500, "y"), gemini("h", 501, "z")) == [
            ("user", "y"),
            ("assistant", "z"),
        ]


def test_calls_that_arrive_later_are_read_from_the_end(write: Write) -> None:
    run = call("c", "glob", {"pattern": "*"}, "kelp")
    path = write(user("u", 0, "x"), *MANY, gemini("h", 300, "Looking."))
    assert grown(path, gemini("h", 300, "Looking.", toolCalls=[run]), user("r", 301, *run["result"])) == [
        ("tool", "kelp")
    ]


def test_a_resume_of_a_short_session_is_read_from_the_end_and_of_a_long_one_as_a_whole(write: Write) -> None:
    first = user("u", 0, "x")
    assert grown(write(first, *MANY[:9]), listed(first, *MANY[:9]), user("v", 500, "y")) == [("user", "y")]
    assert grown(write(first, *MANY), listed(first, *MANY)) is None


@pytest.mark.parametrize(
    "record",
    [
        gemini("g3", 3, "another answer"),
        gemini("g199", 199, "another answer"),
        gemini("g5", 5, "answer 5", toolCalls=[call("c", "glob", {}, "kelp")]),
        user("r", 500, *call("old", "glob", {}, "kelp")["result"]),
        {"$rewindTo": "g3"},
    ],
)
def test_a_record_that_changes_what_was_read_needs_the_whole_file(write: Write, record: object) -> None:
    assert grown(write(user("u", 0, "x"), *MANY), record) is None


def test_a_rewind_of_the_last_turns_is_read_from_the_end(write: Write) -> None:
    path = write(user("u", 0, "x"), *MANY)
    assert grown(path, {"$rewindTo": "g198"}, user("v", 500, "y")) == [("user", "y")]
    assert "answer 197" in kept(path)
    assert "answer 198" not in kept(path)


def test_a_json_session_is_always_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / DOCUMENT.name
    path.write_bytes(DOCUMENT.read_bytes())
    assert GeminiParser().parse_tail(path, checkpoint(path)) is None
