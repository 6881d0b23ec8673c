"""Claude Code's damaged, odd and large files, run through the product."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ...support.corpus import PITFALLS, Case, name, only
from ...support.transcripts import (
    CLAUDE_ID,
    OTHER_CLAUDE_ID,
    Claude,
    append,
    as_lines,
    everything,
    library,
    said,
    write,
)

# -- Claude Code: damage ----------------------------------------------------------------------------------


@pytest.mark.corpus("01-truncated-splice")
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


@pytest.mark.corpus("02-missing-newline")
def test_02_missing_newline(case: Case) -> None:
    def own(root: Path) -> None:
        c = Claude()
        first, second, third = c.user("alphaneedle one"), c.answer("betaneedle two"), c.user("gammaneedle")
        write(root / name(), as_lines([first]).rstrip(b"\n"), second, third)

    with case.indexed("02-missing-newline", own) as sesame:
        assert sesame.get_session(CLAUDE_ID).session.message_count == 3
        assert len(said(sesame)) == 3
        assert case.report.skipped == {}


@pytest.mark.corpus("04-bad-line-mid-file")
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


@pytest.mark.corpus("05-unicode-line-separators")
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


@pytest.mark.corpus("06-lone-surrogate-and-nul-escape")
def test_06_lone_surrogate_and_nul_escape(case: Case) -> None:
    def own(root: Path) -> None:
        write(root / name(), Claude().user("cut \ud83d here needle \0 tail"))

    with case.indexed("06-lone-surrogate-and-nul-escape", own) as sesame:
        (text,) = said(sesame)
        assert text == "cut \ufffd here needle  tail"
        assert only(sesame, "needle") == CLAUDE_ID


# -- Claude Code: odd shapes and sizes --------------------------------------------------------------------


@pytest.mark.corpus("27-odd-shapes")
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


@pytest.mark.corpus("29-huge-lines")
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
        assert peak < 40_000_000, "a few times the longest line, whatever the file's size"
        assert [only(sesame, word) for word in ("imgneedle", "tailneedle", "endneedle")] == [CLAUDE_ID] * 3
        if not case.is_shared:
            # More than a megabyte without payloads: shortened, and said so.
            assert only(sesame, "toolongneedle") == CLAUDE_ID
            assert sesame.status().skipped == {"shortened": 1}
        texts = said(sesame)
        assert sum(len(text) for text in texts) < 1 << 20
        assert not [text for text in texts if "iVBOR" in text or "AAAAAAAA" in text or "NNNNNN" in text]
        for text in texts:
            assert "\ufffd" not in text, "cut between characters"


@pytest.mark.corpus("30-crlf-bom-no-final-newline")
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


@pytest.mark.corpus("32-old-1x-shape")
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
