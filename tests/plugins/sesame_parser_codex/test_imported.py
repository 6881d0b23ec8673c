"""Threads that Codex has imported from another agent: copies of the session there, and what followed them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Checkpoint, Event, Filters, Message, Sesame, Session
from sesame_core.config.model import Selection, Source

from ...support.every_backend import BACKENDS, opened
from ...support.transcripts import Claude, found, said
from ...support.transcripts import write as write_records
from .records import (
    CHILD,
    CHILD_TURN,
    PARSER,
    THREAD,
    TURN,
    Record,
    answer,
    event,
    lines,
    meta,
    name,
    new_answer,
    new_prompt,
    prompt,
    roundtrip,
    started,
)

FORMER = "0b3e6c1a-5d6f-4a3e-9a51-3f1f0c1d2e01"
#: When the first turn of the other agent began, in Unix seconds.
BEGAN = 1_760_000_000


def turn(number: int) -> Record:
    return event("task_started", 1, turn_id=f"external-import-turn-{number}", started_at=BEGAN + 60 * number)


def end(number: int) -> Record:
    return event("task_complete", 1, turn_id=f"external-import-turn-{number}", last_agent_message=None)


CALL = "[external_agent_tool_call: Bash]\ndescription: Show\ncommand: cat den.py |\n  sort\n[/external_agent_tool_call]"
IMPORTED = [
    meta(),
    turn(1),
    *prompt("why is the ocelot slow", 1),
    *answer(f"I look at the den.\n\n{CALL}", 1),
    *answer("[external_agent_tool_result]\nserval = 1\n\n[/external_agent_tool_result]", 1),
    *answer("[external_agent_tool_call: Read]\nfile: /home/bo/fox/den.txt\n[/external_agent_tool_call]", 1),
    *answer("[external_agent_tool_result: error]\nno such den\n[/external_agent_tool_result]", 1),
    *answer("The caracal is cold.", 1),
    end(1),
    turn(2),
    *prompt("warm it then", 1),
    *answer("[external unsupported block: image]\n\nThe caracal is warm.", 1),
    *answer("<EXTERNAL SESSION IMPORTED>", 1),
    end(2),
]
CONTINUED = [started(TURN, 90), *prompt("and the margay", 91), *answer("The margay is fine.", 92)]


def listed(source: str = f"/home/bo/.claude/projects/-home-bo-fox/{FORMER}.jsonl", **more: Any) -> str:
    record = {"source_path": source, "content_sha256": "0", "imported_thread_id": THREAD, "imported_at": 1, **more}
    return json.dumps({"records": [record]})


@pytest.fixture
def put(write: Callable[..., Path]) -> Callable[..., Path]:
    """Write a session file, and the list of imports of its home."""

    def put(*records: Any, imports: str | None = None) -> Path:
        path = write(*records)
        if imports is not None:
            (path.parents[4] / "external_agent_session_imports.json").write_text(imports)
        return path

    return put


def by_session(events: list[Event]) -> dict[str, list[tuple[str, str]]]:
    """The texts of each session: of messages, of outputs, and the commands and files of calls."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for message in events:
        if isinstance(message, Message):
            of_session = texts.setdefault(message.session_id, [])
            of_session += [(message.role, message.text)] if message.text else []
            of_session += [(call.name, str(dict(call.arguments))) for call in message.tool_calls]
            of_session += [(f"{r.name} {r.is_error}", r.text) for r in message.tool_results]
    return texts


def facts(events: list[Event], id: str) -> Session:
    return [one for one in events if isinstance(one, Session) and one.id == id and one.agent][-1]


def test_an_imported_thread_is_the_session_that_it_came_from(put: Callable[..., Path]) -> None:
    events = list(PARSER.parse(put(IMPORTED, imports=listed(title="Slow  ocelot"))))
    assert by_session(events) == {
        FORMER: [
            ("user", "why is the ocelot slow"),
            ("assistant", "I look at the den."),
            ("Bash", "{'description': 'Show', 'command': 'cat den.py |\\n  sort'}"),
            ("Bash False", "serval = 1\n"),
            ("Read", "{'file_path': '/home/bo/fox/den.txt'}"),
            ("Read True", "no such den"),
            ("assistant", "The caracal is cold."),
            ("user", "warm it then"),
            ("assistant", "The caracal is warm."),
        ]
    }
    former = facts(events, FORMER)
    assert (former.title, former.cwd, former.agent) == ("Slow ocelot", "/home/bo/fox", "codex")
    assert former.is_imported
    times = [one.timestamp for one in events if isinstance(one, Message)]
    assert (times[0], times[-1]) == tuple(datetime.fromtimestamp(BEGAN + 60 * n, UTC) for n in (1, 2))
    assert former.created == times[0]


def test_what_follows_an_import_is_a_session_below_it(put: Callable[..., Path]) -> None:
    events = list(PARSER.parse(put(IMPORTED, CONTINUED, imports=listed())))
    texts = by_session(events)
    assert texts[THREAD] == [("user", "and the margay"), ("assistant", "The margay is fine.")]
    assert len(texts[FORMER]) == 9
    assert (facts(events, THREAD).parent_id, facts(events, THREAD).title) == (FORMER, None)


def test_an_imported_thread_that_codex_has_migrated_says_the_same(put: Callable[..., Path]) -> None:
    migrated = [
        meta(history_mode="paginated"),
        turn(1),
        *new_prompt("why is the ocelot slow", 1),
        *new_answer(f"I look at the den.\n\n{CALL}", 1),
        *new_answer("[external_agent_tool_result]\nserval = 1\n\n[/external_agent_tool_result]", 1),
        end(1),
        started(TURN, 90),
        *new_prompt("and the margay", 91),
    ]
    assert by_session(list(PARSER.parse(put(migrated, imports=listed())))) == {
        FORMER: [
            ("user", "why is the ocelot slow"),
            ("assistant", "I look at the den."),
            ("Bash", "{'description': 'Show', 'command': 'cat den.py |\\n  sort'}"),
            ("Bash False", "serval = 1\n"),
        ],
        THREAD: [("user", "and the margay")],
    }


def test_a_fork_of_an_imported_thread_has_its_own_turns_only(
    put: Callable[..., Path], write: Callable[..., Path]
) -> None:
    put(IMPORTED, imports=listed())
    copied = [{**record, "timestamp": "2026-03-01T10:00:00.000Z"} for record in IMPORTED]
    own = [started(CHILD_TURN, 3600), *prompt("in the fork", 3601)]
    fork = write(meta(CHILD, 3600, forked_from_id=THREAD), copied, own, name=name(CHILD))
    assert by_session(list(PARSER.parse(fork))) == {CHILD: [("user", "in the fork")]}


@pytest.mark.parametrize("cut", [1, 2, 4, 7, 12, len(IMPORTED), len(IMPORTED) + 1, len(IMPORTED) + 3])
def test_an_imported_thread_that_grows_yields_what_the_whole_does(cut: int, put: Callable[..., Path]) -> None:
    records = [*IMPORTED, *CONTINUED]
    path = put(records, imports=listed())
    whole = by_session(list(PARSER.parse(path)))
    path.write_bytes(lines(records[:cut]))
    head = list(PARSER.parse(path))
    path.write_bytes(lines(records))
    assert isinstance(head[-1], Checkpoint)
    tail = PARSER.parse_tail(path, roundtrip(head[-1]))
    assert tail is not None
    assert by_session([*head, *tail]) == whole


def test_a_thread_that_was_read_before_it_was_listed_is_read_again(put: Callable[..., Path]) -> None:
    path = put(IMPORTED)
    events = list(PARSER.parse(path))
    assert set(by_session(events)) == {THREAD}
    put(IMPORTED, CONTINUED, imports=listed())
    assert isinstance(events[-1], Checkpoint)
    assert PARSER.parse_tail(path, roundtrip(events[-1])) is None


@pytest.mark.parametrize(
    "imports",
    ["", "[]", '{"records": 3}', '{"records": [null, {}]}', listed(""), listed().replace(THREAD, FORMER), "\0", "{"],
)
def test_a_list_of_imports_that_says_nothing_of_a_thread_changes_nothing(
    imports: str, put: Callable[..., Path]
) -> None:
    texts = by_session(list(PARSER.parse(put(IMPORTED, imports=imports))))
    assert set(texts) == {THREAD}


@pytest.mark.parametrize(
    "source",
    [rf"C:\Users\bo\.claude\projects\C--fox\{FORMER}.jsonl", f"/home/bo/.cursor/projects/fox/x/{FORMER}.jsonl"],
)
def test_the_session_is_known_by_the_name_of_its_file_on_every_system(source: str, put: Callable[..., Path]) -> None:
    assert set(by_session(list(PARSER.parse(put(IMPORTED, imports=listed(source)))))) == {FORMER}


def test_what_the_other_agent_put_into_prompts_is_not_a_prompt(put: Callable[..., Path]) -> None:
    injected = [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<system-reminder>be good</system-reminder>",
        "Caveat: The messages below were generated by the user",
        "<ide_opened_file>den.py</ide_opened_file>",
        "<task-notification>done</task-notification>",
    ]
    turns = [[turn(n), *prompt(text, n)] for n, text in enumerate([*injected, "<b>bold</b> ocelot"])]
    summary = "This session is being continued from a previous conversation that ran out of context: the serval"
    path = put(meta(), *turns, turn(9), prompt(summary, 9), answer("On with it.", 9), imports=listed())
    assert by_session(list(PARSER.parse(path))) == {
        FORMER: [("user", "<b>bold</b> ocelot"), ("summary", summary), ("assistant", "On with it.")]
    }


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('input: {"pattern":"fox"}', {"pattern": "fox"}),
        ('input: {"todos":[{"content":"fo', {"arguments": '{"todos":[{"content":"fo'}),
        ("command: a\nfile: b", {"command": "a", "file_path": "b"}),
        ("", {}),
    ],
)
def test_the_arguments_of_an_imported_call_are_read(
    given: str, arguments: dict[str, Any], put: Callable[..., Path]
) -> None:
    note = f"[external_agent_tool_call: Grep]\n{given}\n[/external_agent_tool_call]"
    events = list(PARSER.parse(put(meta(), turn(1), prompt("x"), answer(note), imports=listed())))
    (call,) = (call for one in events if isinstance(one, Message) for call in one.tool_calls)
    assert (call.name, dict(call.arguments)) == ("Grep", arguments)


# -- with the session that it came from -----------------------------------------------------------------------


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, home: Path) -> Iterator[Sesame]:
    claude = Source(parser=Selection(name="claude-code"), path=home / ".claude" / "projects")
    codex = Source(parser=Selection(name="codex"), path=home / ".codex" / "sessions")
    with opened(request, home / "index", claude, codex) as sesame:
        yield sesame


@pytest.fixture
def original(home: Path) -> Path:
    """The session in Claude Code, next to the thread that Codex has made of it and gone on with."""
    claude = Claude(FORMER)
    bash = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat den.py"}}
    write_records(
        claude.path,
        claude.user("why is the ocelot slow"),
        claude.answer("I look at the den.", bash),
        claude.result("serval = 1\n"),
        claude.answer("The caracal is cold."),
        claude.user("warm it then"),
        claude.answer("The caracal is warm."),
        claude.note("custom-title", customTitle="Slow ocelot"),
    )
    rollout = home / ".codex" / "sessions" / "2026" / "03" / "01" / name()
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(lines(IMPORTED, CONTINUED))
    (home / ".codex" / "external_agent_session_imports.json").write_text(listed(str(claude.path), title="Slow ocelot"))
    return claude.path


def test_a_conversation_that_codex_imported_is_found_once(sesame: Sesame, original: Path) -> None:
    sesame.index()
    for words in ("ocelot slow", "caracal cold", "serval", "warm it then"):
        (hit,) = sesame.search(words).hits
        assert (hit.session.id, hit.session.agent, hit.copies) == (FORMER, "claude-code", []), words
    assert found(sesame.search("margay fine")) == [THREAD]
    listed_sessions, total = sesame.list_sessions()
    assert (total, {one.session.id for one in listed_sessions}) == (2, {FORMER, THREAD})
    assert sesame.get_session(FORMER).path == str(original)


def test_an_imported_conversation_stays_when_the_agent_deletes_its_own(
    sesame: Sesame, original: Path, home: Path
) -> None:
    sesame.index()
    original.unlink()
    sesame.index()
    (hit,) = sesame.search("caracal cold").hits
    assert (hit.session.id, hit.session.agent) == (FORMER, "codex")
    resumed = sesame.resumption(FORMER)
    assert tuple(resumed.command) == ("codex", "resume", THREAD)
    sesame.index(full=True)
    assert found(sesame.search("caracal cold")) == [FORMER]
    assert found(sesame.search("serval", Filters(cmd="cat den.py"))) == [FORMER]


def test_a_conversation_is_forgotten_with_what_was_imported_of_it(sesame: Sesame, original: Path) -> None:
    sesame.index()
    sesame.forget(FORMER)
    sesame.index()
    assert found(sesame.search("caracal serval ocelot")) == []
    assert "The margay is fine." in said(sesame)
