"""pi's files of every version, as they are found in the wild, run through the product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sesame_core import Filters

from ...support.corpus import Case, only
from ...support.transcripts import (
    Pi,
    as_lines,
    everything,
    found,
    said,
    write,
)


@pytest.mark.corpus("pi-synthetic/all-entry-types-v3.jsonl")
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


@pytest.mark.corpus("pi-synthetic/legacy-v1.jsonl")
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


@pytest.mark.corpus("pi-synthetic/legacy-v2.jsonl")
def test_pi_legacy_v2(case: Case) -> None:
    def own(root: Path) -> None:
        pi = Pi("019b0000-0000-7000-8000-000000000002")
        hook = pi.message("hookMessage", "v2 hook message", customType="listener")
        write(root / "a.jsonl", pi.header(version=2), hook, pi.user("v2 user"))

    with case.indexed("pi-synthetic/legacy-v2.jsonl", own, parser="pi") as sesame:
        chunks = [(c.role, c.source_type, c.text) for c in everything(sesame)]
        assert chunks == [("system", "listener", "v2 hook message"), ("user", "message", "v2 user")]


@pytest.mark.corpus("pi-synthetic/torn-and-unicode.jsonl")
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
