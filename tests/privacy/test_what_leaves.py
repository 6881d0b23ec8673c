"""What leaves for agents and language models has no secrets, whatever the index has: every kind, by every way."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Redaction
from sesame_core.integration.environment import FOR_AGENT, VARIABLES
from sesame_core.plugin.backend import Counting, Phrases, TracksFiles, Values, Vocabulary
from sesame_core.privacy.redacting_reader import redacting_reader
from sesame_core.privacy.redactor import Redactor
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.transcript import PROMPT_CHARS

from ..support.model_server import Answers, configured, serving
from ..support.planted import claude_records, plain, secrets, traces
from ..support.transcripts import Claude, write

pytestmark = pytest.mark.once

PLANTED = secrets()
SHORT = {kind: PLANTED[kind] for kind in ("github-token", "aws-access-key", "password", "url-password", "npm-token")}
NOT_FOUND = json.dumps({"answer": "I cannot tell", "found": False, "citations": []})
NOTES = json.dumps({"name": "A name", "description": "What it is", "summary": "## All", "tags": ["one"]})

Call = Callable[..., dict[str, Any]]


def leaks(text: str) -> list[str]:
    """Return the kinds of the secrets of which a trace is in a text."""
    lower = text.lower()
    return [kind for kind, planted in PLANTED.items() if any(trace in lower for trace in traces(planted))]


@pytest.fixture
def session(home: Path) -> str:
    """A session with secrets of every kind in every field, and for each kind one that begins with it."""
    claude = Claude()
    write(claude.path, *claude_records([plain(text) for text in PLANTED.values()], claude))
    for number, text in enumerate(PLANTED.values()):
        other = Claude(session=f"{number:08}-aaaa-4000-8000-000000000000", cwd=f"/home/bo/{number}")
        write(other.path, other.user(f"please use {plain(text)} here"), other.answer("done"))
    with Sesame() as sesame:
        sesame.index()
        assert leaks(json.dumps([chunk.text for chunk in sesame.list_messages(claude.session)])) == list(PLANTED)
    return claude.session


@pytest.fixture
def call() -> Iterator[Call]:
    """Calls of the tools, as text that is sent: errors, too."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from sesame_core.mcp.calls import answered
    from sesame_core.mcp.tools import Tools

    with Sesame() as sesame:
        tools = Tools(sesame)
        yield lambda name, **arguments: answered(lambda: tools, name, arguments)


# -- language models -------------------------------------------------------------------------------------------


def test_no_model_gets_a_secret_by_ask_and_describe(session: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_USER_PATH", str(home / "llm"))
    configured(home, "fake")
    texts = [plain(text) for text in PLANTED.values()]
    questions = [
        "prompt end",
        "answer",
        "wrote",
        "title",
        "summary",
        *("\n".join(texts[n : n + 20]) for n in range(0, len(texts), 20)),
    ]
    with serving(home / "llm", "fake") as models, Sesame() as sesame:
        models.script = [Answers(NOT_FOUND)]
        for question in questions:
            asked = sesame.ask(session, question, max_bytes=100_000)
            assert leaks(repr(asked.found.passages)) == []
        models.script = [Answers("fox"), Answers("fox"), Answers(NOTES)]
        assert sesame.describe(session).state == "described"
        assert sesame.describe("00000003").state == "described"
    assert len(models.asked) == len(questions) + 4
    told = json.dumps(models.asked, ensure_ascii=False).replace("\\n", "\n")
    assert leaks(told) == []
    assert told.count("[redacted:") > len(PLANTED)


def test_query_session_gives_no_secret_to_its_model_nor_to_its_caller(session: str, home: Path, call: Call) -> None:
    with serving(home / "llm", "fake") as models, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_USER_PATH", str(home / "llm"))
        configured(home, "fake")
        from sesame_core.mcp.calls import answered
        from sesame_core.mcp.tools import Tools

        models.script = [
            Answers(json.dumps({"answer": plain(PLANTED["github-token"]), "found": False, "citations": []}))
        ]
        with Sesame() as sesame:
            tools = Tools(sesame)
            given = {"session": session, "question": plain(PLANTED["npm-token"]), "max_bytes": 100_000}
            result = answered(lambda: tools, "query_session", given)
    assert result["isError"] is False
    assert models.asked
    assert leaks(json.dumps([models.asked, result])) == []


def test_with_the_configuration_that_says_so_models_and_agents_get_what_the_files_say(
    session: str, home: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_USER_PATH", str(home / "llm"))
    configured(home, "fake", redact={"answers": False})
    with serving(home / "llm", "fake") as models, Sesame() as sesame:
        models.script = [Answers(NOT_FOUND)]
        sesame.ask("00000013", "please")
        assert sesame.without_secrets() is sesame
    assert leaks(json.dumps(models.asked)) == [[*PLANTED][13]]


def value_of(result: dict[str, Any]) -> dict[str, Any]:
    """Return the answer in what is sent."""
    value: dict[str, Any] = json.loads(result["content"][0]["text"])
    return value


# -- agents ----------------------------------------------------------------------------------------------------


def test_no_answer_of_any_tool_has_a_secret(session: str, call: Call) -> None:
    said: list[Any] = [call("list_sessions", limit=100), call("list_sessions", limit=100, offset=100)]
    for query in ("", "prompt", "please use", "output", "title", "wrote run", "summary end", "bash"):
        for hits in (1, 5):
            given = {"query": query, "limit": 20, "hits": hits, "context_before": 8, "context_after": 8}
            said.append(call("search_sessions", max_bytes=1_000_000, **given))
    for one in (session, *(f"{number:08}" for number in range(len(PLANTED)))):
        said.append(call("get_session", session=one))
    for question in ("prompt", "answer", "output", "title"):
        said.append(call("query_session", session=session, question=question, max_bytes=1_000_000))
    for result in said:
        assert result["isError"] is False
    assert leaks(json.dumps(said, ensure_ascii=False).replace("\\n", "\n")) == []
    assert json.dumps(said).count("[redacted:") > 1000


def test_no_page_of_a_session_has_a_part_of_a_secret_wherever_it_begins_and_ends(session: str, call: Call) -> None:
    said: list[str] = []
    for text_offset in range(0, 60, 7):
        offset = 0
        while offset is not None:
            given = {"offset": offset, "text_offset": text_offset, "max_bytes": 150_000, "limit": 200}
            page = value_of(call("list_messages", session=session, **given))
            said += [chunk["text"] for chunk in page["chunks"]]
            offset = page["nextOffset"] if page["nextOffset"] != offset else None
    for number in range(len(PLANTED)):
        for size in (2_000, 2_020, 2_500):
            page = value_of(call("list_messages", session=f"{number:08}", max_bytes=size))
            said += [chunk["text"] for chunk in page["chunks"]]
    assert leaks("\n".join(said)) == []


def test_what_the_caller_says_comes_back_without_its_secrets(session: str, call: Call) -> None:
    said: list[Any] = []
    for text in SHORT.values():
        secret = plain(text)
        said.append(call("search_sessions", query=secret))
        said.append(call("search_sessions", query=f'"{secret}"'))
        said.append(call("search_sessions", query="please", cwd=f"/home/{secret}"))
        said.append(call("search_sessions", query="please", branch=secret, agent=["claude"]))
        said.append(call("list_sessions", repo=secret))
        said.append(call("get_session", session=secret))
        said.append(call("query_session", session=session, question=secret))
        said.append(call("search_sessions", query="please", after=secret))
        said.append(call(secret))
    for result in said:
        assert leaks(json.dumps(result, ensure_ascii=False)) == [], result["content"]


def test_no_spelling_that_is_suggested_is_a_secret(session: str, call: Call) -> None:
    for kind, text in PLANTED.items():
        for trace in traces(text):
            for guess in (trace[:-2] + "qq", trace[:8], trace[2:12]):
                result = value_of(call("search_sessions", query=guess))
                assert leaks(json.dumps([result.get(name) for name in ("corrections", "showing", "hints")])) == [], kind


def test_what_was_cut_when_it_was_indexed_shows_no_part_of_a_secret(home: Path, call: Call) -> None:
    kinds = list(SHORT.values())
    for number, text in enumerate(kinds):
        claude = Claude(session=f"{number:08}-bbbb-4000-8000-000000000000")
        secret = plain(text)
        lead = "the fox ran " * 1000
        half = len(secret) // 2
        write(
            claude.path,
            claude.user(lead[: PROMPT_CHARS - half] + " " + secret + " and more"),
            claude.call("Bash", "one", command="ls"),
            claude.result(lead[: 12288 - half - 1] + " " + secret + " " + lead + lead, "one"),
            claude.call("Bash", "two", command="ls"),
            claude.result(lead + lead + lead + " " + secret + " " + lead[: 4096 - half], "two"),
        )
    said = [call("list_sessions", limit=50)]
    for number in range(len(kinds)):
        said.append(call("get_session", session=f"{number:08}"))
        said.append(call("list_messages", session=f"{number:08}", max_bytes=1_000_000))
    told = json.dumps(said)
    for text in kinds:
        (secret,) = [plain(text)[-10:]] if "://" not in text else [text.partition("<<")[2][:6]]
        assert secret not in told
        for trace in traces(text):
            assert trace[:8] not in told.lower()


@pytest.mark.parametrize("variable", [FOR_AGENT, *VARIABLES])
def test_the_command_line_prints_no_secrets_when_an_agent_has_started_it(
    session: str, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    lines = (
        ("search", "please", "-n", 20, "--json"),
        ("search", "please", "-C", 4),
        ("sessions", "-n", 1000),
        ("show", session),
        ("show", session, "--json"),
        ("ask", session, "prompt", "--max-bytes", 100_000, "--json"),
        ("resolve", session, "00000007"),
    )
    for line in lines:
        assert leaks(cli(*line).out) != []
    monkeypatch.setenv(variable, "1")
    for line in lines:
        done = cli(*line)
        assert done.code == 0
        assert leaks(done.out.replace("\\n", "\n")) == [], line


# -- the reader ------------------------------------------------------------------------------------------------


def test_a_reader_without_secrets_has_the_abilities_of_the_one_that_it_is_around(home: Path) -> None:
    redactor = Redactor(b"key", Redaction())
    for reader in (MemoryBackend().reader(), Sesame()._index.reader()):
        shown = redacting_reader(reader, redactor)
        for ability in (Counting, Phrases, TracksFiles, Values, Vocabulary):
            assert isinstance(shown, ability) == isinstance(reader, ability)


def test_what_is_stored_stays_as_it_is(session: str, call: Call) -> None:
    call("get_session", session=session)
    call("list_messages", session=session)
    with Sesame() as sesame:
        assert leaks(json.dumps([chunk.text for chunk in sesame.list_messages(session)])) == list(PLANTED)


def test_without_the_extra_the_same_secrets_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [plain(text) for text in PLANTED.values()]
    expected = [Redactor(b"key", Redaction()).text(text) for text in texts]
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    redactor = Redactor(b"key", Redaction(), is_for_answers=True)
    assert [redactor.text(text) for text in texts] == expected


def test_sessions_keep_their_ids_and_positions(session: str, call: Call) -> None:
    with Sesame() as sesame:
        for shown, stored in zip(
            sesame.without_secrets().list_sessions(limit=1000)[0], sesame.list_sessions(limit=1000)[0], strict=True
        ):
            assert (shown.number, shown.session.id, shown.session.key) == (
                stored.number,
                stored.session.id,
                stored.session.key,
            )
