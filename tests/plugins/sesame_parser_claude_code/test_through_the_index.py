"""Claude Code's files as they are found in the wild, run through the product."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ...support.corpus import PITFALLS, Case, name, only, roles
from ...support.transcripts import (
    CLAUDE_ID,
    OTHER_CLAUDE_ID,
    Claude,
    append,
    everything,
    found,
    library,
    said,
    write,
)

# -- Claude Code: one message in several records ----------------------------------------------------------


@pytest.mark.corpus("07-one-message-many-lines-interleaved")
def test_07_one_message_many_lines_interleaved(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        write(
            root / name(),
            c.user("go"),
            c.answer("first text", id="msg_A"),
            c.call("Bash", "toolu_1", id="msg_A", command="grep zetaneedle"),
            c.result("etaneedle out", "toolu_1"),
            c.call("Bash", "toolu_2", id="msg_A", command="thetaneedle"),
            c.result("ok", "toolu_2"),
        )

    with case.indexed("07-one-message-many-lines-interleaved", own) as sesame:
        session = sesame.get_session(CLAUDE_ID).session
        assert (session.message_count, session.exchange_count, session.tool_counts) == (2, 1, {"Bash": 2})
        assert [only(sesame, f"{word}needle") for word in ("zeta", "eta", "theta")] == [CLAUDE_ID] * 3
        (answer,) = [chunk.entry_id for chunk in everything(sesame) if chunk.text == "first text"]
        calls = [chunk for chunk in everything(sesame) if chunk.kind == "tool_call"]
        assert {chunk.entry_id for chunk in calls} == {answer}
        results = {chunk.call_id: chunk.tool_name for chunk in everything(sesame) if chunk.kind == "tool_result"}
        assert results == {"toolu_1": "Bash", "toolu_2": "Bash"}


@pytest.mark.corpus("09-no-requestId")
def test_09_no_request_id(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        twice = [c.answer("dupneedle", id="msg_A", requestId=None) for _ in range(2)]
        for record in twice:
            del record["requestId"]
        write(root / name(), c.user("go"), *twice)

    with case.indexed("09-no-requestId", own) as sesame:
        answer = sesame.search("dupneedle")
        assert (len(answer.hits), answer.total) == (1, 1)
        assert said(sesame, "assistant") == ["dupneedle"]
        assert sesame.get_session(CLAUDE_ID).session.message_count == 2


@pytest.mark.corpus("10-stream-json-history-replayed")
def test_10_stream_json_history_replayed(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        history = [c.user("alphaneedle one"), c.answer("betaneedle two")]
        write(root / name(), *history, *history, c.user("third"))

    with case.indexed("10-stream-json-history-replayed", own) as sesame:
        assert said(sesame) == ["alphaneedle one", "betaneedle two", "third"]
        assert sesame.get_session(CLAUDE_ID).session.message_count == 3
        assert set(case.report.skipped) <= {"repeated"}
        assert case.report.losses == []


@pytest.mark.corpus("12-background-fork-copy")
def test_12_background_fork_copy(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        copied = [c.user("alphaneedle one"), c.answer("betaneedle two")]
        new = c.user("onlyinforkneedle")
        write(root / name(), *copied)
        fork = [{**record, "sessionId": OTHER_CLAUDE_ID, "sessionKind": "bg"} for record in (*copied, new)]
        write(root / name(OTHER_CLAUDE_ID), *fork)

    with case.indexed("12-background-fork-copy", own) as sesame:
        answer = sesame.search("alphaneedle")
        (hit,) = answer.hits
        assert answer.total == 1
        assert {hit.session.id, *(session for session, _ in hit.copies)} == {CLAUDE_ID, OTHER_CLAUDE_ID}
        assert only(sesame, "onlyinforkneedle") == OTHER_CLAUDE_ID
        first, second = (sesame.get_session(session).session for session in (CLAUDE_ID, OTHER_CLAUDE_ID))
        assert first.first_origin == second.first_origin is not None


# -- Claude Code: where files and projects are ------------------------------------------------------------


@pytest.mark.corpus("14-subagents-layout")
def test_14_subagents_layout(case: Case) -> None:
    def own(root: Path) -> None:
        project = root / "-home-bo-fox"
        c = Claude()
        stub = f"<persisted-output>\nOutput too large. Full output saved to: /x/{CLAUDE_ID}/tool-results/toolu_4.txt"
        write(
            project / name(),
            c.user("alphaneedle one"),
            c.call("Agent", "toolu_T", description="d", prompt="explore needlesub"),
            c.result("subanswer", "toolu_T"),
            c.call("Bash", "toolu_4", command="cat it"),
            c.result(stub, "toolu_4"),
        )
        side = project / CLAUDE_ID
        write(side / "tool-results" / "toolu_4.txt", b"spilledneedle\n" * 100)
        places = (
            ("a881341", side / "subagents"),
            ("b1", side / "subagents" / "workflows" / "wf_1"),
            ("old12345", project),
        )
        for agent, directory in places:
            sub = Claude()
            sub.last, sub._count = None, 1000 * len(agent)
            spoken = [sub.user("explore needlesub"), sub.answer("found it subanswer")]
            spoken = [{**record, "isSidechain": True, "agentId": agent} for record in spoken]
            write(directory / f"agent-{agent}.jsonl", *spoken)
        write(side / "subagents" / "agent-a881341.meta.json", b'{"agentType":"Explore","description":"d"}')
        write(places[1][1] / "journal.jsonl", b'{"type":"result","key":"k","agentId":"b1","result":"journalneedle"}\n')

    with case.indexed("14-subagents-layout", own) as sesame:
        kinds = Counter(stored.session.kind for stored in sesame.list_sessions()[0])
        assert kinds == {"interactive": 1, "subagent": 3}
        subagents = [stored.session for stored in sesame.list_sessions()[0] if stored.session.kind == "subagent"]
        assert {session.parent_id for session in subagents} == {CLAUDE_ID}
        assert {session.id for session in subagents} == {f"{CLAUDE_ID}/{n}" for n in ("a881341", "b1", "old12345")}
        # What a subagent found counts for the session it worked for.
        answer = sesame.search("found it subanswer")
        (hit,) = answer.hits
        assert (hit.session.id, answer.total) == (CLAUDE_ID, 1)
        assert (hit.subagent_id or "").startswith(f"{CLAUDE_ID}/")
        assert not sesame.search("journalneedle").hits
        if not case.is_shared:
            # The shared transcript names no spilled file, so that only the file itself could be found there.
            assert only(sesame, "spilledneedle") == CLAUDE_ID


@pytest.mark.corpus("15-path-encoding")
def test_15_path_encoding(case: Case) -> None:
    def own(root: Path) -> None:
        places = ((CLAUDE_ID, "/home/ann/my_project"), (OTHER_CLAUDE_ID, "/home/ann/my/project"))
        for session, cwd in places:
            write(root / "-home-ann-my-project" / name(session), Claude(session, cwd).user("alphaneedle one"))

    with case.indexed("15-path-encoding", own) as sesame:
        assert found(sesame.search("alphaneedle", Filters(cwd="/home/ann/my_project"))) == [CLAUDE_ID]
        assert found(sesame.search("alphaneedle", Filters(cwd="/home/ann/my/project"))) == [OTHER_CLAUDE_ID]
        assert found(sesame.search("alphaneedle", Filters(cwd="/home/ann/my-project"))) == []
        assert len({stored.session.key.split(":")[1] for stored in sesame.list_sessions()[0]}) == 2


@pytest.mark.corpus("17-append-then-delete")
def test_17_append_then_delete(case: Case, tmp_path: Path) -> None:
    def own(root: Path) -> None:
        c = Claude()
        records = [c.user("alphaneedle one"), c.call("Bash", command="x"), c.result("lateresultneedle")]
        for step in (1, 2, 3):
            write(root / f"step{step}" / name(), *records[:step])

    steps = case.input(f"{PITFALLS}/17-append-then-delete", own)
    live = write(tmp_path / "live" / name())
    with library(live.parent, tmp_path / "data", parser="claude-code") as sesame:
        for step, kind in ((1, "added"), (2, "appended"), (3, "appended")):
            grown = (steps / f"step{step}" / name()).read_bytes()
            append(live, grown[live.stat().st_size :])
            report = sesame.index()
            assert (getattr(report, kind), report.changed, report.errors) == (1, 1, [])
        chunks = everything(sesame)
        assert [(chunk.kind, chunk.tool_name, chunk.call_id) for chunk in chunks[1:]] == [
            ("tool_call", "Bash", "toolu_1"),
            ("tool_result", "Bash", "toolu_1"),
        ]
        live.unlink()
        assert sesame.index().missing == 1
        for rebuilt in (False, True):
            if rebuilt:
                sesame.index(full=True)
            for word in ("alphaneedle", "lateresultneedle"):
                (hit,) = sesame.search(word).hits
                assert hit.stored.missing_since is not None, (word, rebuilt)
        assert len(everything(sesame)) == 3


# -- Claude Code: who said it -----------------------------------------------------------------------------


@pytest.mark.corpus("19-queued-command")
def test_19_queued_command(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        first = c.user("alphaneedle one")
        queued = [
            c.record("attachment", attachment={"type": "queued_command", **fields})
            for fields in (
                {"prompt": "midturnneedle", "commandMode": "prompt", "origin": {"kind": "human"}},
                {"prompt": [{"type": "text", "text": "blockneedle"}]},
                {"prompt": "<task-notification>bgneedle</task-notification>", "commandMode": "task-notification"},
                {"prompt": "nouuidneedle"},
            )
        ]
        del queued[-1]["uuid"], queued[-1]["parentUuid"]
        echo = c.note(
            "queue-operation", operation="enqueue", content="midturnneedle", timestamp="2026-08-01T10:00:02.000Z"
        )
        write(root / name(), first, *queued, echo)

    with case.indexed("19-queued-command", own) as sesame:
        for word in ("midturnneedle", "blockneedle", "nouuidneedle"):
            assert roles(sesame, word) == ["user"], word
        assert roles(sesame, "bgneedle") == ["system"]
        assert sesame.get_session(CLAUDE_ID).session.exchange_count == 4


@pytest.mark.corpus("20-rewind-dead-branch")
def test_20_rewind_dead_branch(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        start = [c.user("alphaneedle one"), c.answer("betaneedle two")]
        fork = c.last
        dead = [c.user("deadneedle"), c.answer("dead answer")]
        c.last = fork
        live = [c.user("liveneedle"), c.answer("live answer")]
        write(root / name(), *start, *dead, *live, c.note("last-prompt", lastPrompt="liveneedle", leafUuid=c.last))

    with case.indexed("20-rewind-dead-branch", own) as sesame:
        marks = {}
        for word in ("alphaneedle", "deadneedle", "liveneedle"):
            (hit,) = sesame.search(word).hits
            marks[word] = hit.is_abandoned
        assert marks == {"alphaneedle": False, "deadneedle": True, "liveneedle": False}


@pytest.mark.corpus("23-compaction")
def test_23_compaction(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        before = [c.user("alphaneedle one"), c.answer("betaneedle two"), c.user("before")]
        c.last, c._count = None, 60
        boundary = c.record("system", subtype="compact_boundary", content="Conversation compacted")
        begin = "This session is being continued from a previous conversation that ran out of context."
        summary = c.user(f"{begin} sumneedle", isCompactSummary=True)
        preserved = c.answer("preserved, earlier timestamp")
        preserved["timestamp"] = "2026-08-01T10:00:02.000Z"
        write(root / name(), *before, boundary, summary, preserved, c.user("afterneedle"))

    with case.indexed("23-compaction", own) as sesame:
        assert len(sesame.list_sessions()[0]) == 1
        session = sesame.get_session(CLAUDE_ID).session
        assert roles(sesame, "sumneedle") == ["summary"]
        assert "sumneedle" in (session.summary or "")
        assert session.title is None
        assert session.prompts[0] == "alphaneedle one"
        assert session.exchange_count == 3
        texts = [re.sub(r".*sumneedle", "sumneedle", text) for text in said(sesame)]
        preserved = "preserved, earlier timestamp"
        assert texts == ["alphaneedle one", "betaneedle two", "before", "sumneedle", preserved, "afterneedle"]


@pytest.mark.corpus("24-titles")
def test_24_titles(case: Case, tmp_path: Path) -> None:
    def own(root: Path) -> None:
        c = Claude()
        caveat = "Caveat: The messages below were generated by the user while running local commands."
        write(
            root / name(),
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False},
            c.user(f"<local-command-caveat>{caveat}</local-command-caveat>", isMeta=True),
            c.user("<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
            c.user("<local-command-stdout></local-command-stdout>"),
            c.user("<ide_opened_file>The user opened x</ide_opened_file>\nreal first prompt"),
            c.note("ai-title", aiTitle="AI one"),
            c.note("custom-title", customTitle="Mine"),
            c.note("ai-title", aiTitle="AI two"),
        )

    root = case.input(f"{PITFALLS}/24-titles", own)
    lines = (root / name()).read_bytes().splitlines(keepends=True)
    for left_out, title in ((b"no such thing", "Mine"), (b'"custom-title"', "AI two"), (b'-title"', None)):
        write(root / name(), b"".join(line for line in lines if left_out not in line))
        with library(root, tmp_path / f"data{title}", parser="claude-code") as sesame:
            assert sesame.index().errors == []
            session = sesame.get_session(CLAUDE_ID).session
            assert session.title == title
            assert session.prompts == ("real first prompt",)
            for word in ("prompt", title or "real"):
                assert only(sesame, word) == CLAUDE_ID


# -- Claude Code: odd shapes and sizes --------------------------------------------------------------------


@pytest.mark.corpus("claude-code-synthetic/all_types.jsonl")
def test_all_types(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        kinds = ("mode", "permission-mode", "agent-name", "file-history-snapshot", "from-the-future")
        notes = [c.note(kind, value=1) for kind in kinds]
        write(root / name(), *notes, c.user("allneedle"), c.record("system", subtype="turn_duration", durationMs=1))

    with case.indexed("claude-code-synthetic/all_types.jsonl", own) as sesame:
        assert case.report.added == 1
        assert case.report.losses == []
        (stored,) = sesame.list_sessions()[0]
        assert stored.session.message_count > 0


# -- Claude Code: growing files ---------------------------------------------------------------------------


@pytest.mark.corpus("claude-code-growing")
def test_growing(case: Case, tmp_path: Path) -> None:
    def own(root: Path) -> None:
        c = Claude()
        records: list[Any] = [c.user("the first prompt")]
        event = "<task-notification><summary>the build is done</summary></task-notification>"
        for number in range(6):
            if number == 3:
                # Announced before this step, delivered in it.
                records.append(c.user(event))
            records += [c.call("Bash", f"toolu_{number}", command=f"step {number}")]
            records += [c.result(f"output {number}", f"toolu_{number}"), c.answer(f"did {number}")]
            if number % 2:
                records.append(c.note("ai-title", aiTitle=f"Title {number}"))
            if number == 2:
                announced = "2026-08-01T10:00:30.000Z"
                records.append(c.note("queue-operation", operation="enqueue", content=event, timestamp=announced))
            write(root / "a" / f"{number:02d}.jsonl", *records)

    root = case.input("claude-code-growing", own)
    for line in sorted(path for path in root.iterdir() if path.is_dir()):
        snapshots = sorted(line.iterdir())
        live = write(tmp_path / line.name / "live" / name())
        with library(live.parent, tmp_path / line.name / "data", parser="claude-code") as sesame:
            kinds: Counter[str] = Counter()
            for number, snapshot in enumerate(snapshots, start=1):
                shutil.copyfile(snapshot, live)
                os.utime(live, (number * 1000, number * 1000))
                report = sesame.index()
                assert report.errors == []
                kinds.update({"added": report.added, "appended": report.appended, "updated": report.updated})
            grown, (stored,) = _chunks(sesame), sesame.list_sessions()[0]
            sesame.index(full=True)
            whole, (again,) = _chunks(sesame), sesame.list_sessions()[0]
            # The same in all; what waits for the end of an answer may stand before or after it.
            assert grown == whole
            assert _facts(stored.session) == _facts(again.session)
            assert case.is_shared or len(said(sesame)) == len(set(said(sesame)))
            assert kinds["added"] == 1
            assert kinds["appended"] > 0


def _chunks(sesame: Sesame) -> Counter[Any]:
    fields = ("kind", "role", "text", "tool_name", "source_type", "segment")
    return Counter(tuple(getattr(chunk, field) for field in fields) for chunk in everything(sesame))


def _facts(session: Any) -> dict[str, Any]:
    names = ("id", "kind", "title", "summary", "message_count", "exchange_count", "tool_counts", "prompts")
    return {fact: getattr(session, fact) for fact in (*names, "created", "modified", "git_branch", "abandoned")}
