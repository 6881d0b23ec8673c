"""Answers for people and for programs."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.plugin.manager import PluginInfo
from sesame_core.query.parser import parse
from sesame_core.rendering.answers import answer_json, answer_text
from sesame_core.rendering.reports import report_json, report_text
from sesame_core.rendering.sessions import session_lines
from sesame_core.rendering.status import plugins_text, status_json, status_text
from sesame_core.rendering.text import SCHEMA_VERSION, as_json, printable, size
from sesame_core.rendering.text import home as shortened_home
from sesame_core.rendering.transcripts import transcript_text
from sesame_core.types.answer import Answer, Hit, Snippet
from sesame_core.types.index import AgentStatistics, Chunk, Freshness, Statistics, StoredSession
from sesame_core.types.report import FileProblem, IndexReport, SourceReport
from sesame_core.types.transcript import Session

pytestmark = pytest.mark.usefixtures("utc")

NOON = datetime(2026, 5, 8, 12, 0, 0, 123000, tzinfo=UTC)
EVIL = "a\x1b[31mb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x9b1mf\x00g\rh\x08i\u202ej\x7fk\x1bPq\x1b\\l\x1bcm"


# -- what is safe to print -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext\nhere", "plain\ttext\nhere"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[?25l\x1b[2J\x1b[10;20Hx", "x"),
        ("\x1b[38:2:1:2:3mx", "x"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPsixel\x1b\\x", "x"),
        ("\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x", "x"),
        ("\x1b(B\x1b=\x1b7\x1bcx", "x"),
        ("\x1b", ""),
        ("x\x1b[", "x"),
        ("\x1b\x1b[31mx", "x"),
        ("\x9b31mx", "31mx"),
        ("a\rb\x08c\x07d\x00e\x7ff", "abcdef"),
        ("\u202eevil\u2066x\u2069", "evilx"),
        ("\ud800x", "x"),
        ("日本 é 🦊", "日本 é 🦊"),
    ],
)
def test_characters_that_control_a_terminal_are_removed(text: str, expected: str) -> None:
    assert printable(text) == expected


@given(
    st.text(st.characters(codec=None))
    | st.lists(st.sampled_from("\x1b [ ] P \\ \x07 m 0 ; x \x9b \n".split(" "))).map("".join)
)
def test_no_control_character_survives(text: str) -> None:
    safe = printable(text)
    assert not [c for c in safe if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"]
    assert not set(safe) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert printable(safe) == safe


# -- building blocks -------------------------------------------------------------------------------------------


def stored(id: str = "abc12345-6789", **fields: Any) -> StoredSession:
    values: dict[str, Any] = {
        "agent": "pi",
        "kind": "interactive",
        "title": "Simplify Nix flake setup",
        "cwd": "/Users/ann/code/infra",
        "created": NOON,
        "modified": NOON,
        "message_count": 7,
        "exchange_count": 3,
        "tool_counts": {"bash": 2},
        "prompts": ("Let's restructure",),
        "key": "ws:proj:abc",
        **fields,
    }
    missing = values.pop("missing_since", None)
    return StoredSession(
        number=1, session=Session(id=id, **values), path=f"/s/{id}.jsonl", missing_since=missing, chunk_count=9
    )


def hit(made: StoredSession | None = None, **fields: Any) -> Hit:
    chunk = Chunk(kind="message", role="user", text="restructure the nix flakes", seq=4, timestamp=NOON, entry_id="e1")
    values: dict[str, Any] = {
        "stored": made or stored(),
        "score": 0.8234,
        "snippet": Snippet("restructure the nix flakes", ((16, 19),)),
        "chunk": chunk,
        **fields,
    }
    return Hit(**values)


def answer(*hits: Hit, text: str = "nix infrastructure", **fields: Any) -> Answer:
    return Answer(query=parse(text), hits=list(hits), **{"total": len(hits), "confidence": 0.87654, **fields})


def text_of(made: Answer, **options: Any) -> str:
    return answer_text(made, abbreviate=lambda session_id: session_id[:8], **options)


# -- JSON ------------------------------------------------------------------------------------------------------


@pytest.mark.seed("000")
def test_the_fields_of_a_search_are_there_with_their_types() -> None:
    value = json.loads(as_json(answer_json(answer(hit()))))
    assert value["query"] == "nix infrastructure"
    assert value["resultCount"] == 1
    (result,) = value["results"]
    assert {name: result[name] for name in SEED_000} == {
        "sessionId": "abc12345-6789",
        "source": "pi",
        "path": "/s/abc12345-6789.jsonl",
        "cwd": "/Users/ann/code/infra",
        "name": "Simplify Nix flake setup",
        "score": 0.823,
        "created": "2026-05-08T12:00:00.123Z",
        "matchedSnippet": "restructure the nix flakes",
    }


SEED_000 = ("sessionId", "source", "path", "cwd", "name", "score", "created", "matchedSnippet")


def test_fields_that_are_not_known_are_null_not_left_out() -> None:
    bare = stored(title=None, cwd=None, created=None, modified=None, prompts=())
    (result,) = answer_json(answer(hit(bare, chunk=None)))["results"]
    for name in ("cwd", "name", "created", "firstPrompt", "matchedType", "matchedAt", "matchedPosition"):
        assert result[name] is None
    assert set(result) >= set(SEED_000)


def test_additions_tell_how_far_an_answer_can_be_trusted() -> None:
    made = answer(hit(), is_weak=True, words_not_found=["infra"], left_out={"headless": 2}, is_truncated=True)
    source = SourceReport(path="/s", parser="pi", changed=1, pending=2)
    report = IndexReport(added=1, pending=2, errors=[FileProblem(path="/x", message="odd")], sources=[source])
    value = answer_json(made, report)
    assert value["schemaVersion"] == SCHEMA_VERSION
    assert (value["weak"], value["confidence"], value["wordsNotFound"]) == (True, 0.877, ["infra"])
    assert (value["leftOut"], value["totalIsLowerBound"]) == ({"headless": 2}, True)
    assert value["index"] == {
        "refreshed": True,
        "reason": None,
        "changed": 1,
        "pending": 2,
        "errors": 1,
        "notSearched": [{"path": "/x", "message": "odd"}],
        "unrecognised": 0,
        "notScanned": 0,
        "scannedAt": None,
        "sources": [{"path": "/s", "parser": "pi", "changed": 1, "pending": 2}],
    }
    assert answer_json(made)["index"] == {"refreshed": False}
    made.freshness = Freshness(last_sync=NOON, unreadable=3)
    assert answer_json(made)["index"] == {"refreshed": False, "lastSync": "2026-05-08T12:00:00.123Z", "unreadable": 3}


def test_an_empty_query_is_written_as_a_star_and_empty_answers_are_json_too() -> None:
    value = answer_json(answer(text="", mode="browse", confidence=None))
    assert (value["query"], value["mode"], value["results"], value["confidence"]) == ("*", "browse", [], None)


def test_json_escapes_the_characters_of_a_transcript() -> None:
    written = as_json(answer_json(answer(hit(snippet=Snippet(EVIL)))))
    assert "\x1b" not in written
    assert json.loads(written)["results"][0]["matchedSnippet"] == EVIL
    assert "日本" in as_json({"text": "日本"})


# -- text for people -------------------------------------------------------------------------------------------


@pytest.mark.seed("000")
def test_the_layout_for_people() -> None:
    lines = text_of(answer(hit(), text="nix infrastructure simplify")).splitlines()
    assert lines[0] == 'Found 1 session matching "nix infrastructure simplify"'
    assert lines[1] == ""
    assert lines[2] == "  [0.82] abc12345:4 (Simplify Nix flake setup) - 2026-05-08"
    assert lines[3] == "         /Users/ann/code/infra · pi"
    assert lines[4] == '         "restructure the nix flakes"'
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("made", "headline"),
    [
        (answer(), 'No sessions found matching "nix infrastructure"'),
        (answer(hit(), hit()), 'Found 2 sessions matching "nix infrastructure"'),
        (answer(hit(), total=12), '1 best of 12 sessions with any word of "nix infrastructure"'),
        (answer(hit(), total=12, text="nix flake -hosts"), '1 best of 12 sessions matching "nix flake -hosts"'),
        (answer(hit(), total=12, text="nix flake agent:pi"), '1 best of 12 sessions matching "nix flake agent:pi"'),
        (answer(hit(), total=12, text="nix OR wheel"), '1 best of 12 sessions with any word of "nix OR wheel"'),
        (answer(hit(), total=12, text="nix"), '1 best of 12 sessions matching "nix"'),
        (answer(hit(), total=12, text="+nix flake"), '1 best of 12 sessions matching "+nix flake"'),
        (answer(hit(), total=12, text='"nix flake"'), "1 best of 12 sessions matching '\"nix flake\"'"),
        (answer(hit(), total=12, is_truncated=True, text="nix"), '1 best of at least 12 sessions matching "nix"'),
        (answer(hit(), hit(), total=12, offset=4, text="nix"), 'Results 5 to 6 of 12 sessions matching "nix"'),
        (answer(hit(), total=12, offset=11, text="nix"), 'Result 12 of 12 sessions matching "nix"'),
        (answer(total=12, offset=20, text="nix"), 'No more results: 12 sessions matching "nix"'),
        (answer(hit(), text="nix\nflake"), 'Found 1 session matching "nix flake"'),
        (answer(mode="browse", text=""), "No sessions found"),
        (answer(hit(), mode="browse", text=""), "1 session"),
        (answer(hit(), hit(), mode="browse", text="*"), "2 sessions, latest first"),
        (answer(hit(), mode="browse", text="", total=9), "Latest 1 of 9 sessions"),
        (answer(hit(), mode="browse", text="agent:pi", total=9), 'Latest 1 of 9 sessions matching "agent:pi"'),
        (answer(hit(), hit(), mode="browse", text="is:error"), '2 sessions matching "is:error", latest first'),
        (answer(hit(), hit(), mode="browse", text="", total=9, offset=4), "Results 5 to 6 of 9 sessions"),
    ],
)
def test_the_first_line_counts(made: Answer, headline: str) -> None:
    assert text_of(made).splitlines()[0] == headline


def test_what_is_special_about_a_hit_stands_under_its_name() -> None:
    call = Chunk(kind="tool_call", role="assistant", tool_name="bash", text="x", session_id="abc12345-6789/sub")
    special = hit(
        stored(kind="headless", cwd=None, missing_since=NOON),
        chunk=call,
        subagent_id="abc12345-6789/sub",
        copies=[("other", "/s/other.jsonl")],
    )
    (line,) = [line for line in text_of(answer(special)).splitlines() if "pi" in line]
    assert line.strip() == (
        "(no directory) · pi · found in a subagent · bash · headless · also in 1 copy · file is gone"
    )


@pytest.mark.parametrize(
    ("made", "note"),
    [
        (answer(hit(), is_weak=True), "Weak match"),
        (answer(hit(), words_not_found=["foo", "bar"]), "Not found as a word: foo, bar"),
        (answer(hit(), left_out={"headless": 3}), "Left out: 3 headless runs (show them with --all-kinds)"),
        (answer(hit(), left_out={"headless": 3}, is_widened=True), "Nothing else matched"),
    ],
)
def test_notes_stand_below(made: Answer, note: str) -> None:
    assert text_of(made).splitlines()[-1].startswith(note)


def test_a_refresh_is_mentioned_only_when_something_is_open() -> None:
    made = answer(hit())
    assert text_of(made, refreshed=IndexReport(added=3)) == text_of(made)
    assert "2 files are not indexed yet" in text_of(made, refreshed=IndexReport(pending=2))
    assert "Not searched: /x: odd" in text_of(
        made, refreshed=IndexReport(errors=[FileProblem(path="/x", message="odd")])
    )
    assert "another process" in text_of(made, refreshed=IndexReport(reason="another process is at it"))


def test_words_that_matched_are_marked_on_a_terminal_only() -> None:
    made = answer(hit())
    assert "\x1b" not in text_of(made)
    assert "the \x1b[1;33mnix\x1b[0m flakes" in text_of(made, has_color=True)


def test_nothing_in_a_transcript_steers_the_terminal() -> None:
    evil = stored(id=f"id{EVIL}", title=EVIL, cwd=f"/w{EVIL}", agent=EVIL, kind=EVIL, prompts=(EVIL,))
    tool = Chunk(kind="tool_call", role="assistant", tool_name=EVIL, text=EVIL, source_type=EVIL)
    made = answer(hit(evil, snippet=Snippet(EVIL), chunk=tool), text=EVIL, words_not_found=[EVIL])
    report = IndexReport(
        absent_roots=[EVIL],
        losses=[FileProblem(path=EVIL, message=EVIL, line=1)],
        errors=[FileProblem(path=EVIL, message=EVIL)],
    )
    evil.path = f"/s/{EVIL}"
    counted = (AgentStatistics(agent=EVIL, kind=EVIL, sessions=1, messages=1, newest_message=NOON),)
    status = status_text(Statistics(sessions=1, location="here", agents=counted), {}, [])
    listed = "\n".join(session_lines(evil, EVIL))
    for text in (text_of(made), report_text(report), transcript_text(evil, [tool]), listed, status):
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"], text


def test_a_session_without_a_title_is_named_by_its_first_prompt_or_not_at_all() -> None:
    assert "(Let's restructure)" in text_of(answer(hit(stored(title=None))))
    assert "(Unnamed)" in text_of(answer(hit(stored(title=None, prompts=()))))
    assert "(two lines)" in text_of(answer(hit(stored(title="two\nlines"))))


# -- transcripts, reports, status ------------------------------------------------------------------------------


def test_a_transcript_shows_who_spoke_when() -> None:
    chunks = [
        Chunk(kind="message", role="user", text="why?", seq=0, timestamp=NOON),
        Chunk(kind="tool_call", role="assistant", tool_name="bash", text="ls", seq=1, segment=2),
        Chunk(kind="tool_result", role="tool", tool_name="bash", text="no", seq=2, is_error=True),
        Chunk(kind="metadata", role="metadata", text="Fix it", seq=3, source_type="title"),
    ]
    lines = transcript_text(stored(abandoned=(2,)), chunks, marked=1).splitlines()
    assert lines[0] == "abc12345-6789 (Simplify Nix flake setup)"
    heads = [line for line in lines if line[:1] in "#→" and line[1:2].isdigit()]
    assert heads == ["#0 user 2026-05-08 12:00", "→1 bash call abandoned", "#2 bash result error", "#3 title"]
    assert lines[lines.index("#0 user 2026-05-08 12:00") + 1] == "why?"


def test_a_report_counts_what_happened_and_names_what_went_wrong() -> None:
    report = IndexReport(
        added=2,
        missing=1,
        chunks=10,
        bytes=2_500_000,
        seconds=1.26,
        skipped={"oversized": 1, "damaged": 2},
        losses=[FileProblem(path="/s/a", message="damaged", line=3)],
        errors=[FileProblem(path="/s/b", message="no header")],
    )
    assert report_text(report).splitlines() == [
        "2 added, 1 missing (kept); 10 chunks from 2.5 MB in 1.3 s",
        "skipped records: 2 damaged, 1 oversized",
        "  /s/a:3: damaged",
        "error: /s/b: no header",
    ]
    assert report_text(IndexReport()).startswith("no session files found")
    value = json.loads(as_json(report_json(report)))
    assert value["losses"] == [{"path": "/s/a", "line": 3, "message": "damaged"}]
    assert (value["added"], value["missing"], value["bytes"], value["seconds"]) == (2, 1, 2_500_000, 1.26)


def test_the_status_reports_counts_and_errors() -> None:
    statistics = Statistics(
        sessions=3,
        chunks=40,
        messages=20,
        files=4,
        size=8192,
        location="/d/index.sqlite",
        schema_version=1,
        agents=(AgentStatistics(agent="pi", kind="headless", sessions=3, messages=20, newest_message=NOON),),
        missing=1,
        failed=(("/s/b", "no header"),),
        skipped={"damaged": 2},
        last_sync=NOON,
        newest_message=NOON,
        forgotten=2,
    )
    text = status_text(statistics, {"claude-code": 5}, [])
    for part in ("4 (1 gone, kept)", "8.2 kB", "2026-05-08 12:00", "pi (headless)",
                 "claude-code will delete 5 session files", "2 damaged", "/s/b: no header"):  # fmt: skip
        assert part in text
    value = json.loads(as_json(status_json(statistics, {"claude-code": 5}, [])))
    assert (value["sessions"], value["lastSync"]) == (3, "2026-05-08T12:00:00.123Z")
    assert value["failedFiles"] == [{"path": "/s/b", "message": "no header"}]
    empty = status_text(Statistics(), {}, [])
    assert "never" in empty


def test_a_long_name_of_a_plugin_does_not_run_into_its_summary() -> None:
    plugin = PluginInfo(
        name="a-very-long-name",
        kind="formatter",
        distribution="sesame-formatter-a-very-long-name",
        version="10.0",
        summary="Something",
    )
    words = "formatter a-very-long-name sesame-formatter-a-very-long-name 10.0 Something".split()
    assert plugins_text([plugin]).split() == words


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_500_000, "1.5 MB"), (10**9, "1.0 GB"), (10**13, "10000.0 GB")],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_the_home_directory_is_a_tilde(home: Path) -> None:
    assert shortened_home(str(home)) == "~"
    assert shortened_home(f"{home}/code") == "~/code"
    assert shortened_home(f"{home}less/code") == f"{home}less/code"
