"""Session files as they are found in the wild, each kind named as in the shared corpus and run through the product.

Every test runs on an input of its own, and on the shared folder of the same name where there is one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ..support.transcripts import (
    CLAUDE_ID,
    OTHER_CLAUDE_ID,
    Claude,
    Pi,
    append,
    as_lines,
    everything,
    found,
    library,
    said,
    write,
)

PITFALLS = "claude-code-synthetic/pitfalls"

#: Writes a test's own input into a directory.
Own = Callable[[Path], object]


class Case:
    """One kind of input: the test's own, or the shared folder's."""

    def __init__(self, kind: str, place: Path, shared: Path | None) -> None:
        self.is_shared = shared is not None
        self._shared = shared
        self._place = place
        self._kind = kind

    def input(self, name: str, own: Own) -> Path:
        """Return a directory that holds the input; its files may be changed."""
        target = self._place / "in"
        if self._shared is None:
            target.mkdir()
            own(target)
            return target
        source = self._shared / "corpus" / name
        if not source.exists():
            pytest.skip(f"the shared corpus has no {name}")
        if source.is_file():
            target.mkdir()
            shutil.copyfile(source, target / source.name)
        else:
            shutil.copytree(source, target, copy_function=shutil.copyfile)
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return target

    @contextmanager
    def indexed(self, name: str, own: Own, *, parser: str = "claude-code") -> Iterator[Sesame]:
        """Index the input without an error; its report is `case.report`."""
        root = self.input(name if "/" in name else f"{PITFALLS}/{name}", own)
        with library(root, self._place / "data", parser=parser) as sesame:
            self.report = sesame.index()
            assert self.report.errors == []
            yield sesame
            assert sesame.index().changed == 0


@pytest.fixture(params=["own", "shared"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path, request.getfixturevalue("shared") if request.param == "shared" else None)


def only(sesame: Sesame, word: str) -> str:
    """Return the id of the only session that has a word."""
    (session,) = found(sesame.search(word))
    return session


def roles(sesame: Sesame, word: str) -> list[str | None]:
    """Return who said a word."""
    return [chunk.role for chunk in everything(sesame) if word in chunk.text]


def name(session: str = CLAUDE_ID) -> str:
    return f"{session}.jsonl"


# -- Claude Code: damage ----------------------------------------------------------------------------------


def test_01_truncated_splice(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        first, second, third = c.user("alphaneedle one"), c.answer("betaneedle two"), c.user("gammaneedle")
        torn = b'{"type":"pr-link","sessionId":"1111'
        write(root / name(), first, torn, second, third)

    with case.indexed("01-truncated-splice", own) as sesame:
        assert [only(sesame, f"{word}needle") for word in ("alpha", "beta", "gamma")] == [CLAUDE_ID] * 3
        assert case.report.skipped == {"damaged": 1}
        (loss,) = case.report.losses
        assert loss.line == 2
        assert sesame.status().skipped == {"damaged": 1}


def test_02_missing_newline(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        first, second, third = c.user("alphaneedle one"), c.answer("betaneedle two"), c.user("gammaneedle")
        write(root / name(), as_lines([first]).rstrip(b"\n"), second, third)

    with case.indexed("02-missing-newline", own) as sesame:
        assert sesame.get_session(CLAUDE_ID).session.message_count == 3
        assert len(said(sesame)) == 3
        assert case.report.skipped == {}


def test_04_bad_line_mid_file(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        write(root / name(), c.user("alphaneedle one"), b'{"type":"attachment","atta\n', c.answer("betaneedle two"))

    with case.indexed("04-bad-line-mid-file", own) as sesame:
        session = sesame.get_session(CLAUDE_ID).session
        assert session.message_count == 2
        assert session.modified == datetime(2026, 8, 1, 10, 0, 2, tzinfo=UTC)
        assert session.created == datetime(2026, 8, 1, 10, 0, 1, tzinfo=UTC)
        assert case.report.skipped == {"damaged": 1}


def test_05_unicode_line_separators(case: Case) -> None:
    def own(root: Path) -> None:
        record = Claude().user("left\u2028right \u2029 nel\x85 vt\x0b end needle")
        write(root / name(), json.dumps(record, ensure_ascii=False).encode() + b"\n")

    with case.indexed("05-unicode-line-separators", own) as sesame:
        (text,) = said(sesame)
        assert text.startswith("left\u2028right")
        assert text.endswith("end needle")
        (hit,) = sesame.search("needle").hits
        assert len(hit.snippet.text.splitlines()) == 1


def test_06_lone_surrogate_and_nul_escape(case: Case) -> None:
    def own(root: Path) -> None:
        write(root / name(), Claude().user("cut \ud83d here needle \0 tail"))

    with case.indexed("06-lone-surrogate-and-nul-escape", own) as sesame:
        (text,) = said(sesame)
        assert text == "cut \ufffd here needle  tail"
        assert only(sesame, "needle") == CLAUDE_ID


# -- Claude Code: one message in several records ----------------------------------------------------------


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


def test_27_odd_shapes(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        write(
            root / name(),
            c.user([{"type": "text", "text": "ok"}, "rawstring", {"type": "future_block", "x": 1}, {"text": "x"}]),
            c.call("Grep", "t", glob=7, file_path=["a"], command=None),
            c.user([{"tool_use_id": "t", "type": "tool_result"}]),
            c.user([{"tool_use_id": "t", "type": "tool_result", "content": None}]),
            c.record("attachment", attachment={"type": "diagnostics", "files": "notalist"}),
            c.record("attachment", attachment=None),
            c.record("user", message=None),
            c.user("nots needle", timestamp="not-a-date"),
            {"type": "user"},
            b'[1,2]\n"str"\n7\nnull\n',
        )

    with case.indexed("27-odd-shapes", own) as sesame:
        assert only(sesame, "ok") == CLAUDE_ID
        assert only(sesame, '"nots needle"') == CLAUDE_ID
        assert case.report.skipped == {"not an object": 4}
        (undated,) = [chunk for chunk in everything(sesame) if "nots" in chunk.text]
        assert undated.timestamp is None


def test_29_huge_lines(case: Case, tmp_path: Path) -> None:
    def own(root: Path) -> None:
        c = Claude()
        picture = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo" * 200_000}}
        progress = {"type": "agent_progress", "normalizedMessages": [{"m": "N" * 2_000_000}]}
        write(
            root / name(),
            c.user([{"type": "text", "text": "imgneedle"}, picture]),
            c.record("progress", data=progress),
            c.result("tailneedle " + "z\u00e9z " * 100_000 + " endneedle", "t"),
            c.user("toolongneedle " + "word " * 300_000),
        )

    root = case.input(f"{PITFALLS}/29-huge-lines", own)
    size = (root / name()).stat().st_size
    with library(root, tmp_path / "data", parser="claude-code") as sesame:
        sesame.search("loaded")
        tracemalloc.start()
        try:
            assert sesame.index().errors == []
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert size > 4_000_000
        assert peak < 30_000_000, "a few times the longest line, whatever the file's size"
        assert [only(sesame, word) for word in ("imgneedle", "tailneedle", "endneedle")] == [CLAUDE_ID] * 3
        if not case.is_shared:
            # More than a megabyte without payloads: left out, and said so.
            assert not sesame.search("toolongneedle").hits
            assert sesame.status().skipped == {"oversized": 1}
        texts = said(sesame)
        assert sum(len(text) for text in texts) < 20_000
        assert not [text for text in texts if "iVBOR" in text or "AAAAAAAA" in text or "NNNNNN" in text]
        for text in texts:
            assert "\ufffd" not in text, "cut between characters"


def test_30_crlf_bom_no_final_newline(case: Case, tmp_path: Path) -> None:
    def own(root: Path) -> None:
        c = Claude()
        text = as_lines([c.user("alphaneedle one"), c.answer("betaneedle two")])
        write(root / name(), b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))

    with case.indexed("30-crlf-bom-no-final-newline", own) as sesame:
        assert said(sesame) == ["alphaneedle one", "betaneedle two"]
        assert sesame.get_session(CLAUDE_ID).session.message_count == 2
        path = Path(sesame.get_session(CLAUDE_ID).path)
        # What comes next is read once; half a record waits for its other half.
        more = as_lines([Claude(OTHER_CLAUDE_ID).user("deltaneedle"), Claude("x").user("epsilonneedle")])
        more = more.replace(OTHER_CLAUDE_ID.encode(), CLAUDE_ID.encode())
        append(path, b"\r\n" + more[:-20])
        assert sesame.index().errors == []
        assert said(sesame) == ["alphaneedle one", "betaneedle two", "deltaneedle"]
        append(path, more[-20:])
        assert sesame.index().errors == []
        assert said(sesame) == ["alphaneedle one", "betaneedle two", "deltaneedle", "epsilonneedle"]


def test_32_old_1x_shape(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        records = [c.user("oldneedle"), c.answer("inline sidechain", isSidechain=True)]
        for record in records:
            del record["gitBranch"]
            record.pop("requestId", None)
        write(root / name(), *({**record, "costUSD": 0.01, "version": "1.0.24"} for record in records))

    with case.indexed("32-old-1x-shape", own) as sesame:
        assert only(sesame, "oldneedle") == only(sesame, '"inline sidechain"') == CLAUDE_ID
        assert len(sesame.list_sessions()[0]) == 1
        marks = {chunk.text: chunk.source_type for chunk in everything(sesame)}
        assert marks == {"oldneedle": "message", "inline sidechain": "sidechain"}


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


# -- pi ---------------------------------------------------------------------------------------------------


def test_pi_all_entry_types_v3(case: Case) -> None:
    def own(root: Path) -> None:
        pi = Pi("019b0000-0000-7000-8000-000000000001", cwd="/work/acme")
        secret = {"role": "bashExecution", "command": "cat ~/.secret", "output": "hunter2", "excludeFromContext": True}
        write(
            root / "a.jsonl",
            pi.header(parentSession="/x/2026-01-01T00-00-00-000Z_019afff0-0000-7000-8000-000000000000.jsonl"),
            pi.entry("model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
            pi.message("system", "", sections={"preamble": "You are a coding assistant"}),
            pi.user("plain string content"),
            pi.call("edit", path="a.py", edits=[{"oldText": "x", "newText": "y"}]),
            pi.result("Successfully replaced 1 block(s) in a.py.", name="edit"),
            pi.message("assistant", [], errorMessage="529 overloaded", stopReason="error"),
            pi.entry("message", message={"role": "bashExecution", "command": "ls -la", "output": "total 0\n"}),
            pi.entry("message", message=secret),
            pi.message("custom", "v2-era hook message", customType="old-hook"),
            pi.entry("custom", customType="my-extension", data={"count": 42}),
            pi.entry("custom_message", customType="hook", content=[{"type": "text", "text": "Injected context"}]),
            pi.entry("usage", note="idle"),
            pi.entry("context_edit", targetId="x", replacement=None),
        )

    with case.indexed("pi-synthetic/all-entry-types-v3.jsonl", own, parser="pi") as sesame:
        (stored,) = sesame.list_sessions()[0]
        assert stored.session.parent_id == "019afff0-0000-7000-8000-000000000000"
        assert (stored.session.cwd, stored.session.model) == ("/work/acme", "claude-sonnet-4-5")
        assert case.report.skipped == {}
        for words in ('"plain string content"', '"Injected context"', '"v2-era hook message"', "overloaded", "+ls"):
            assert only(sesame, words) == stored.session.id
        assert found(sesame.search("", Filters(path="a.py"))) == [stored.session.id]
        # What a person kept from the model is kept from the index, and so are thoughts.
        for word in ("hunter2", "pondering"):
            assert not sesame.search(word).hits


def test_pi_legacy_v1(case: Case) -> None:
    def own(root: Path) -> None:
        pi = Pi("6b17e3d2-c898-46ba-9c94-0c5a4332bea5", cwd="/work/acme")
        entries = [pi.user("v1 user"), pi.answer("v1 assistant"), pi.entry("compaction", summary="v1 summary")]
        for entry in entries:
            del entry["id"], entry["parentId"]
        header = pi.header(branchedFrom="/x/2025-11-30T10-00-00-000Z_d97339c6-6c10-4827-846b-9ff1d9c3dc37.jsonl")
        del header["version"]
        write(root / "a.jsonl", header, *entries)

    with case.indexed("pi-synthetic/legacy-v1.jsonl", own, parser="pi") as sesame:
        (stored,) = sesame.list_sessions()[0]
        assert stored.session.parent_id == "d97339c6-6c10-4827-846b-9ff1d9c3dc37"
        assert stored.session.summary == "v1 summary"
        assert [(c.role, c.text) for c in everything(sesame)] == [
            ("user", "v1 user"),
            ("assistant", "v1 assistant"),
            ("summary", "v1 summary"),
        ]


def test_pi_legacy_v2(case: Case) -> None:
    def own(root: Path) -> None:
        pi = Pi("019b0000-0000-7000-8000-000000000002")
        hook = pi.message("hookMessage", "v2 hook message", customType="listener")
        write(root / "a.jsonl", pi.header(version=2), hook, pi.user("v2 user"))

    with case.indexed("pi-synthetic/legacy-v2.jsonl", own, parser="pi") as sesame:
        chunks = [(c.role, c.source_type, c.text) for c in everything(sesame)]
        assert chunks == [("system", "listener", "v2 hook message"), ("user", "message", "v2 user")]


def test_pi_torn_and_unicode(case: Case) -> None:
    def own(root: Path) -> None:
        pi = Pi("019b0000-0000-7000-8000-000000000003")
        separators = json.dumps(pi.user("line\u2028sep \u2029 para \x85 nel \0 nul lone"), ensure_ascii=False).encode()
        torn = b'{"type":"message","id":"0000000b","message":{"role":"assis'
        write(
            root / "a.jsonl",
            pi.header(),
            separators + b"\n",
            torn,
            pi.user("fused after torn write"),
            pi.user("lone surrogate \ud83d end"),
            b"\n",
            pi.user(None),
            as_lines([pi.user("no trailing newline")]).rstrip(b"\n"),
        )

    with case.indexed("pi-synthetic/torn-and-unicode.jsonl", own, parser="pi") as sesame:
        texts = said(sesame)
        assert len(texts) == 4
        assert texts[0].startswith("line")
        assert "\0" not in texts[0]
        assert texts[1:] == ["fused after torn write", "lone surrogate \ufffd end", "no trailing newline"]
        assert case.report.skipped == {"damaged": 1}


# -- completeness -----------------------------------------------------------------------------------------


def test_every_shared_input_has_a_test(shared: Path) -> None:
    corpus = shared / "corpus"
    inputs = [path.name for path in (corpus / PITFALLS).iterdir()]
    inputs += [f"pi-{path.stem}" for path in (corpus / "pi-synthetic").iterdir()]
    inputs += [path.stem for path in (corpus / "claude-code-synthetic").glob("*.jsonl")]
    wanted = {f"test_{re.sub('[^a-z0-9]+', '_', re.sub('(?<=[a-z])(?=[A-Z])', '_', i).lower())}" for i in inputs}
    assert wanted <= {test for test in globals() if test.startswith("test_")}
