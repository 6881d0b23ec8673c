"""Sessions in which nobody has said anything: in no list and no answer, on every backend, until somebody does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Message, Sesame, Session, ToolCall, ToolResult
from sesame_core.errors import UnknownSessionError
from sesame_core.indexing.silence import is_said
from sesame_core.types.index import SILENT

from ..support.both_backends import Index, Run, found, sessions
from ..support.transcripts import CLAUDE_ID, Claude, Pi, append, write
from .bench import Bench


def _command(name: str, arguments: str = "") -> str:
    return (
        f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
        f"<command-args>{arguments}</command-args>"
    )


def _local(c: Claude, name: str, arguments: str = "", out: str = "Bye!") -> list[Any]:
    return [
        c.user("<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
        c.user(_command(name, arguments)),
        c.user(f"<local-command-stdout>{out}</local-command-stdout>"),
    ]


def _warmup(c: Claude) -> list[Any]:
    records = [c.user("Warmup"), c.answer("I am ready to help with the fox."), c.call("Bash", command="ls fox")]
    return [{**record, "isSidechain": True, "agentId": "a1"} for record in records]


SILENT_FILES: dict[str, Callable[[Claude], list[Any]]] = {
    "an empty file": lambda c: [],
    "an AI's title": lambda c: [c.note("ai-title", aiTitle="Count the fox")],
    "a person's title": lambda c: [c.note("custom-title", customTitle="fox")],
    "a snapshot": lambda c: [{"type": "file-history-snapshot", "messageId": "m", "snapshot": {"fox": 1}}],
    "/exit": lambda c: _local(c, "exit"),
    "/clear": lambda c: _local(c, "clear", out=""),
    "/model with an argument": lambda c: _local(c, "model", "fox", out="Set model to fox"),
    "/rename": lambda c: _local(c, "rename", "fox", out="Session renamed to: fox"),
    "/exit as a system record": lambda c: [c.record("system", subtype="local_command", content=_command("exit"))],
    "a command before its answer": lambda c: [c.user(_command("fox"))],
    "a summary of another session": lambda c: [{"type": "summary", "summary": "The fox", "leafUuid": "elsewhere"}],
    "a compaction": lambda c: [c.user("The fox", isCompactSummary=True)],
    "an interruption": lambda c: [c.user("[Request interrupted by user]")],
    "a queue operation": lambda c: [c.note("queue-operation", operation="dequeue")],
    "injected text": lambda c: [c.user("<system-reminder>fox</system-reminder>"), c.user("fox", isMeta=True)],
    "a hook": lambda c: [c.user("<session-start-hook>fox</session-start-hook>")],
    "spaces": lambda c: [c.user(" \n\u200b\ufeff ")],
    "a warm-up": _warmup,
    "an API error": lambda c: [c.answer("fox", isApiErrorMessage=True)],
}


@pytest.mark.parametrize("content", SILENT_FILES.values(), ids=SILENT_FILES)
def test_a_silent_session_is_nowhere_until_somebody_says_something(
    content: Callable[[Claude], list[Any]], home: Path
) -> None:
    c = Claude()
    path = write(c.path, *content(c))
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.added, report.silent, report.chunks, report.skipped) == (1, 1, 0, {})
        assert sesame.list_sessions(Filters(all_kinds=True)) == ([], 0)
        assert sesame.search("fox").hits == sesame.search("").hits == []
        (latest,) = sesame.resolve([""])
        assert latest.candidates == ()
        status = sesame.status()
        assert (status.sessions, status.messages, status.silent, status.files) == (0, 0, 1, 1)
        assert sesame.index().unchanged == 1
        append(path, c.user("where is the owl in the barn?"), c.answer("in the hay"))
        assert sesame.index().silent == 0
        (stored,), total = sesame.list_sessions()
        assert (stored.session.id.split("/")[0], total) == (CLAUDE_ID, 1)
        assert [hit.session.id for hit in sesame.search("owl").hits] == [stored.session.id]
        assert sesame.status().silent == 0
        append(path, c.answer("under the roof"))
        assert sesame.index().appended == 1


SPOKEN_FILES: dict[str, Callable[[Claude], list[Any]]] = {
    "a prompt": lambda c: [c.user("fox")],
    "an emoji": lambda c: [c.user("🦊"), c.note("custom-title", customTitle="fox")],
    "an answer": lambda c: [c.answer("fox")],
    "a call": lambda c: [c.call("Bash", command="fox")],
    "a command with arguments": lambda c: [c.user(_command("release", "the fox"))],
    "a command with an answer": lambda c: [c.user(_command("review")), c.answer("fox")],
    "a shell command": lambda c: [c.user("<bash-input>ls fox</bash-input>"), c.user("<bash-stdout>a</bash-stdout>")],
    "a prompt between local commands": lambda c: [*_local(c, "clear"), c.user("fox"), *_local(c, "exit")],
    "a subagent's task": lambda c: [c.user("fox", isSidechain=True)],
    "a subagent's work": lambda c: [c.user("task", isSidechain=True), c.answer("fox", isSidechain=True)],
}


@pytest.mark.parametrize("content", SPOKEN_FILES.values(), ids=SPOKEN_FILES)
def test_a_session_in_which_somebody_said_something_is_listed(
    content: Callable[[Claude], list[Any]], home: Path
) -> None:
    c = Claude()
    write(c.path, *content(c))
    with Sesame() as sesame:
        assert sesame.index().silent == 0
        assert [hit.session.id for hit in sesame.search("fox").hits] == [CLAUDE_ID]


def test_the_command_line_leaves_silent_sessions_out_on_both_backends(index: Index, cli: Run) -> None:
    said, silent, header = Claude(), Claude("22222222-2222-4222-8222-222222222222"), Pi("019b0000-owl")
    write(said.path, said.user("the quick fox"), said.answer("jumps"))
    write(silent.path, *_local(silent, "exit"), silent.note("ai-title", aiTitle="The fox"))
    write(header.root / "--w--" / "2026-01-01T00-00-00-000Z_019b0000-owl.jsonl", header.header())
    done = cli("index")
    assert "left out: 2 sessions in which nobody has said anything yet" in done.out
    assert cli("index", "--json", "--full").json["silent"] == 2
    assert [session["sessionId"] for session in sessions(cli)] == [CLAUDE_ID]
    assert found(cli, "fox") == found(cli) == [CLAUDE_ID]
    status = cli("status", "--json").json
    assert (status["sessions"], status["silentSessions"], status["skipped"]) == (1, 2, {})
    assert "2 sessions in which nobody has said anything yet" in cli("status").out
    for command in ("show", "resume"):
        shown = cli(command, silent.session)
        assert shown.code == 1
        assert f"nobody has said anything in session {silent.session} yet" in shown.err
        assert "only: /exit; Bye!; The fox" in shown.err
    assert "it has no messages" in cli("show", "019b0000-owl").err
    append(silent.path, silent.user("the lazy owl"))
    assert cli("index").code == 0
    assert found(cli, "owl") == [silent.session]


def test_the_index_in_memory_leaves_silent_sessions_out(bench: Bench) -> None:
    path = bench.path("blank.note")
    path.write_bytes(b'{"session": "a", "title": "fox"}\n')
    report = bench.sesame.index()
    assert report.silent == 1
    assert bench.sesame.list_sessions() == ([], 0)
    assert bench.sesame.status().skipped == {SILENT: 1}


def test_an_unknown_id_is_still_unknown(home: Path) -> None:
    c = Claude()
    write(c.path, c.user("fox"))
    with Sesame() as sesame:
        sesame.index()
        with pytest.raises(UnknownSessionError, match="no session has the id or name '3333333333'"):
            sesame.get_session("3333333333")


def test_what_is_held_back_keeps_its_order_and_its_positions(home: Path) -> None:
    c = Claude()
    write(c.path, *_local(c, "model", "fox", out="Set model to fox"), c.user("the owl"), c.answer("hoots"))
    with Sesame() as sesame:
        sesame.index()
        chunks = sesame.list_messages(CLAUDE_ID)
    assert [(chunk.seq, chunk.text) for chunk in chunks] == [
        (0, "/model fox"),
        (1, "Set model to fox"),
        (2, "the owl"),
        (3, "hoots"),
    ]


CALL, RESULT = ToolCall(id="c", name="bash"), ToolResult(call_id="c", text="x")


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (Message(session_id="s", role="user", text="?"), True),
        (Message(session_id="s", role="user", text=" \u200b"), False),
        (Message(session_id="s", role="user", text="/x", source_type="command"), False),
        (Message(session_id="s", role="user", text="/x y", source_type="command"), True),
        (Message(session_id="s", role="assistant", tool_calls=(CALL,)), True),
        (Message(session_id="s", role="assistant"), False),
        (Message(session_id="s", role="tool", tool_results=(RESULT,)), True),
        (Message(session_id="s", role="system", text="instructions"), False),
        (Message(session_id="s", role="system", tool_calls=(CALL,)), True),
        (Message(session_id="s", role="summary", text="so far"), False),
        (Message(session_id="s", role="metadata", text="a title"), False),
    ],
)
def test_what_counts_as_said_depends_on_the_message_alone(message: Message, answer: bool) -> None:
    assert is_said(message) is answer
    assert Session(id="s", agent="a").message_count == 0
