"""The benchmarks measure what they say: the generator is repeatable and its sessions are real in shape."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from sesame_core import Selection, Sesame, Source

from ..support.transcripts import START, Claude, Pi, as_lines, write

pytestmark = pytest.mark.once

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(script: str, *arguments: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)


def generate(out: Path, *arguments: object) -> Path:
    done = run("generate.py", out, *arguments)
    assert done.returncode == 0, done.stderr
    return out


def digests(out: Path) -> dict[str, str]:
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*.json*"))
    }


def records(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("corpus"), "--chunks", 2000, "--seed", 5)


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(corpus: Path, tmp_path: Path) -> None:
    again = generate(tmp_path / "again", "--chunks", 2000, "--seed", 5)
    other = generate(tmp_path / "other", "--chunks", 2000, "--seed", 6)
    assert digests(corpus) == digests(again)
    assert not set(digests(corpus).values()) & set(digests(other).values())


def test_half_the_sessions_are_pis_and_the_chunks_are_as_many_as_asked(corpus: Path) -> None:
    summary = json.loads((corpus / "queries.json").read_text("utf-8"))
    pi = list((corpus / "pi").glob("*/*.jsonl"))
    claude = list((corpus / "claude-code").glob("*/*.jsonl"))
    assert len(pi) == len(claude) == summary["files"] / 2
    assert 1800 <= summary["chunks"] <= 2300


def test_a_pi_session_is_a_header_and_a_chain_of_entries(corpus: Path) -> None:
    path = max((corpus / "pi").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    header, *entries = records(path)
    assert header["version"] == 3
    assert path.name.endswith(f"_{header['id']}.jsonl")
    assert path.parent.name == "--" + header["cwd"][1:].replace("/", "-") + "--"
    assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    roles = Counter(entry["message"]["role"] for entry in entries if entry["type"] == "message")
    assert roles.keys() == {"system", "user", "assistant", "toolResult"}


def test_a_claude_code_session_has_a_line_per_block_and_results_twice(corpus: Path) -> None:
    path = max((corpus / "claude-code").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    lines = records(path)
    chain = [line for line in lines if "uuid" in line]
    assert [line["parentUuid"] for line in chain] == [None, *(line["uuid"] for line in chain[:-1])]
    assert {line["sessionId"] for line in chain} == {path.stem}
    answers = [line["message"] for line in lines if line["type"] == "assistant"]
    assert all(len(answer["content"]) == 1 for answer in answers)
    assert max(Counter(answer["id"] for answer in answers).values()) > 1
    results = [line for line in lines if "toolUseResult" in line]
    printed = [
        line for line in results if isinstance(line["toolUseResult"], dict) and "stdout" in line["toolUseResult"]
    ]
    assert printed
    assert all(line["toolUseResult"]["stdout"] == line["message"]["content"][0]["content"] for line in printed)


def test_queries_are_drawn_by_how_common_their_words_are(corpus: Path) -> None:
    summary = json.loads((corpus / "queries.json").read_text("utf-8"))
    texts = [line.lower() for path in corpus.rglob("*.jsonl") for line in path.read_text("utf-8").splitlines()]

    def share(word: str) -> float:
        return sum(word in text for text in texts) / len(texts)

    rare, common = (summary["classes"][name][0] for name in ("rare", "common"))
    assert 0 < share(rare) < share(common)
    assert all(len(queries) == 50 for queries in summary["classes"].values())
    assert 0.25 < summary["head"][0][1] < 0.6


def test_files_are_as_many_as_asked(tmp_path: Path) -> None:
    generate(tmp_path, "--chunks", 400, "--files", 100, "--agents", "pi")
    assert len(list(tmp_path.rglob("*.jsonl"))) == 100
    assert not (tmp_path / "claude-code").exists()


@pytest.mark.parametrize("agent", ["claude-code", "pi"])
def test_one_session_has_the_size_that_was_asked_for(tmp_path: Path, agent: str) -> None:
    generate(tmp_path, "--one-session", 1.5, "--agents", agent)
    (path,) = tmp_path.rglob("*.jsonl")
    assert 1_500_000 <= path.stat().st_size < 1_900_000


def test_an_unknown_agent_is_a_usage_error(tmp_path: Path) -> None:
    done = run("generate.py", tmp_path, "--agents", "pie")
    assert done.returncode == 2
    assert "unknown agent pie" in done.stderr


def test_the_floor_inserts_into_the_table_that_the_backend_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import floor

    from sesame_backend_sqlite import backend, schema

    assert floor.SETTINGS == {"hashsize": backend.HASHSIZE, "automerge": backend.AUTOMERGE}
    statements = [" ".join(s.split()) for migration in schema.MIGRATIONS for s in schema.statements(migration.sql)]
    assert " ".join(floor.FTS_TABLE.split()) in [statement.rstrip(" ;") for statement in statements]


def test_the_floor_measures_every_line_and_every_chunk(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import floor

    files = sorted((corpus / "pi").rglob("*.jsonl"))
    rows = [(f"word{number}", "") for number in range(12_000)]
    result = floor.measure(files, rows, tmp_path / "floor.sqlite")
    assert result.bytes == sum(path.stat().st_size for path in files)
    assert result.lines == sum(len(records(path)) for path in files)
    assert result.chunks == 12_000
    assert 0 < result.cpu == result.read + result.decode + result.insert


def test_a_runtime_append_is_measured_and_its_last_message_found(tmp_path: Path) -> None:
    done = run("append_runtime.py", "--size", "10k", "--appends", 5, "--dir", tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "added by indexing: CPU" in done.stdout


def test_a_small_run_finds_every_answer_right(tmp_path: Path) -> None:
    done = run("run.py", "--small", "--dir", tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "× floor" in done.stdout
    assert "WRONG" not in done.stdout


def labelled(home: Path) -> None:
    """Write five sessions of pi, and queries of which one has no answer."""
    animals = ("fox", "owl", "newt", "stoat", "vole")
    manifest, queries = [], [{"category": "none", "query": "blockchain tokenomics whitepaper", "relevant": []}]
    for animal in animals:
        file = f"pi/zoo/{animal}.jsonl"
        session = Pi(animal)
        write(
            home / "corpus" / file, session.header(), session.user(f"the {animal} sleeps"), session.answer("so it does")
        )
        manifest.append({"id": f"pi/{animal}", "agent": "pi", "file": file})
        queries.append({"category": "keyword", "query": f"sleeping {animal}", "relevant": [f"pi/{animal}"]})
    queries.append({"category": "keyword", "query": "sleeping cat", "relevant": ["codex/cat"]})
    manifest.append({"id": "codex/cat", "agent": "codex", "file": "codex/cat.jsonl"})
    for name, entries in (("MANIFEST.jsonl", manifest), ("queries-dev.jsonl", queries)):
        (home / name).write_bytes(as_lines(entries))


def test_the_quality_of_answers_is_measured_and_each_constant_is_left_out(tmp_path: Path) -> None:
    labelled(tmp_path / "eval")
    options = ("--eval", tmp_path / "eval", "--dir", tmp_path, "--folds", 2)
    done = run("quality.py", *options, "--leave-out", "--misses", timeout=300)
    assert done.returncode == 0, done.stderr
    perfect = "1.000 [1.00, 1.00]"
    assert f"| keyword | 5 | {' | '.join([perfect] * 4)} |" in done.stdout, "what no parser reads is not asked for"
    assert "weak: 1 of 1 without an answer, 0 of 5 with one" in done.stdout
    assert (
        "| ranking: DECAY, HEAD_SHARE, CONVERSATION_SHARE | MRR | 1.000 | 1.000 | 1.000 | +0.000 | 2× 0.6/0.2/0.3 |"
        in (done.stdout)
    )
    assert "- keyword" not in done.stdout, "no misses"


def test_the_quality_of_wrong_labels_is_bad_and_they_are_told(tmp_path: Path) -> None:
    labelled(tmp_path / "eval")
    wrong = {"category": "keyword", "query": "fox", "relevant": ["pi/owl"]}
    (tmp_path / "eval" / "queries-dev.jsonl").write_bytes(as_lines([wrong]))
    done = run("quality.py", "--eval", tmp_path / "eval", "--dir", tmp_path, "--misses")
    assert "| all | 1 | 0.000" in done.stdout
    assert "- keyword: 'fox', rank None" in done.stdout


def test_the_answers_to_labelled_questions_are_measured(indexed_sessions: Path, tmp_path: Path) -> None:
    right = {"id": "f1", "about": "error: attribute 'isLaptop' missing", "answers": [["01a0b03d", 12, 16]]}
    wrong = {"id": "f2", "about": "SqliteError: FOREIGN KEY constraint failed", "answers": [["01a0b03d", 12, 16]]}
    (tmp_path / "fix.jsonl").write_bytes(as_lines([right, wrong]))
    (tmp_path / "how.jsonl").write_bytes(as_lines([{"id": "h1", "about": "run the tests", "command": "npm test"}]))
    done = run("questions.py", tmp_path, "--misses")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fix +all +2  0\.500  0\.500 ", done.stdout, re.MULTILINE)
    assert re.search(r"^how +all +1  1\.000  1\.000 ", done.stdout, re.MULTILINE)
    assert "f2 'SqliteError" in done.stdout


def test_without_labelled_queries_there_is_no_quality_to_measure(tmp_path: Path) -> None:
    done = run("quality.py", "--eval", tmp_path, "--dir", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nothing to measure: there are no labelled queries at ")


def test_a_small_history_is_indexed_by_searches_and_calls_alone(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    done = run("first_index.py", "--small", "--dir", tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "### many files: search and call each second" in done.stdout
    assert "### slow disk: search and call each second" in done.stdout


def test_a_run_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    done = run(
        "killed.py", "--kills", "5", "--chunks", "500", "--files", "30", "--dir", tmp_path / "killed", timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("5 kills, ")
    assert ": 0 sessions wrong, 0 left processes behind" in done.stdout


def test_the_picker_is_measured_from_its_start_and_for_each_key(indexed_sessions: Path, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"query": "nix"}\n')
    done = run("picker.py", "--queries", queries, "--rounds", 1)
    assert done.returncode == 0, done.stderr
    assert "3 keys, 1 starts" in done.stdout
    assert "| sesame | " in done.stdout


def test_the_page_is_measured_at_a_passage_of_a_long_session(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra web is not installed")
    out = tmp_path / "web.json"
    done = run("web.py", "--long", 900, "--pages", 12, "--times", 1, "--out", out)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert {"list", "session of 900: at 450", "the same: latest", "the same: find"} <= set(found["pages"])
    assert all(page["first"] > 0 < page["bytes"] for page in found["pages"].values())
    assert found["memoryAfter"] >= found["memoryBefore"] / 2 > 0
    assert found["asked"] == 12


def test_lines_of_replayed_files_are_blamed_on_the_sessions_that_wrote_them(tmp_path: Path, home: Path) -> None:
    from sesame_core import Sesame

    first, second = Claude("first", "/w/fox"), Claude("second", "/w/fox", START + timedelta(hours=1))
    text = "one_value = 1\ntwo_values = 2\nthree_values = 3"
    path = "/w/fox/src/a.py"
    new = {"old_string": "two_values = 2", "new_string": "two_values = 22"}
    write(first.path, first.user("write"), first.call("Write", file_path=path, content=text), first.result("ok"))
    write(second.path, second.user("go"), second.call("Edit", file_path=path, **new), second.result("ok"))
    with Sesame() as sesame:
        sesame.index()
    (tmp_path / "blame.jsonl").write_text('{"file": "_w_fox/fox/src/a.py", "line": 2, "session": "second"}\n')
    done = run("questions.py", tmp_path, "--replay")
    assert done.returncode == 0, done.stderr
    assert "blame  all                1  1.000  1.000" in done.stdout
    assert "blame: 1 replayed files, 3 lines" in done.stdout
    assert "blame: precision 1.000, recall 1.000, one session 1.000" in done.stdout


def test_boilerplate_of_one_agent_stands_out_among_its_terms(tmp_path: Path, home: Path) -> None:
    from sesame_core import Sesame

    claude, pi = Claude("a", "/w"), Pi("b", "/w")
    write(claude.path, *(claude.user(f"the kettle leaks {n} <env_frame>") for n in range(9)))
    write(pi.path, pi.header(), *(pi.user(f"the kettle leaks {n}") for n in range(9)))
    with Sesame() as sesame:
        sesame.index()
    rows = [line.split(" | ") for line in run("terms.py", "--top", "2").stdout.splitlines()]
    assert rows[2][-1] == "env_frame, kettle |"
    assert {row[0]: row[1:5] for row in rows[2:]} == {
        "| claude-code": ["1", "9", "0.0%", "env_frame 95%, kettle 95%"],
        "| pi": ["1", "9", "0.0%", "kettle 95%, leaks 95%"],
    }


def test_the_same_conversation_is_found_and_scores_the_same_in_the_format_of_each_agent() -> None:
    done = run("agents.py", "--small", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    agents = ("claude-code", "pi", "codex", "copilot", "gemini", "opencode")
    for agent in agents:
        assert done.stdout.count(f"| {agent} | ") == 2, "a row of its speed, and one of its score"


def test_labelled_questions_about_people_are_scored(home: Path, tmp_path: Path) -> None:
    for name, tool in (("edits", "Edit"), ("reads", "Read")):
        s = Claude(name)
        write(s.path, s.user("the aardvark"), s.call(tool, file_path="/w/src/a.py", old_string="a", new_string="b"))
    labels = [
        {"kind": "one", "about": "src/a.py", "sessions": ["edits"]},
        {"kind": "wrong", "about": "src/a.py", "sessions": ["reads"]},
        {"kind": "nobody", "about": "src/none.py", "sessions": []},
    ]
    (tmp_path / "who.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    source = Source(parser=Selection(name="claude-code"), path=home / ".claude" / "projects")
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
    done = run("questions.py", tmp_path, "--data-dir", tmp_path / "data", "--digest", 1)
    assert done.returncode == 0, done.stderr
    assert "who    one                1  1.000  1.000" in done.stdout
    assert "who    wrong              1  0.000  1.000" in done.stdout
    assert "who    nobody             1  1.000  1.000" in done.stdout
    assert "who: of sessions that changed it precision 0.500, recall 0.500" in done.stdout
    assert "digest of 1 days: 2 of 2 sessions" in done.stdout
