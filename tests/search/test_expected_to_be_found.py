"""What users expect to find, probed on small sessions of Claude Code; most peers miss some of it.

The list is §4c of the facts on peers, each line of it a test here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core import Selection, Sesame, Source

from ..support.transcripts import Claude, everything, found, library, write

pytestmark = pytest.mark.peer

SUBAGENT = "a77aa77"
#: Keys that open nothing.
SECRETS = ("ghp_" + "0aB1cD2eF3" * 3 + "gH4i", "AKIA" + "QWERTYUIOPAS1234")


def identifier(number: int) -> str:
    return f"{number:08d}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


#: What each session is about, and its id.
IDS = {
    about: identifier(number)
    for number, about in enumerate(
        (
            "one message",
            "two messages",
            "phrase",
            "reversed",
            "CJK",
            "tool input",
            "tool result",
            "Windows",
            "subagent",
            "custom title",
            "summary",
            "original",
            "copy",
            "webhook",
            "deleted",
            "long",
            "secret",
        ),
        start=1,
    )
}


def write_all(root: Path) -> None:
    """Write the sessions."""
    c = {about: Claude(session, cwd="/w/probe") for about, session in IDS.items()}

    def session(about: str, *records: object) -> None:
        write(root / "-w-probe" / f"{IDS[about]}.jsonl", *records)  # type: ignore[arg-type]

    one, two = c["one message"], c["two messages"]
    session("one message", one.user("the zebrafish likes a kumquat"), one.answer("Noted."))
    session("two messages", two.user("what about the axolotl"), two.answer("It prefers persimmon."))
    session("phrase", c["phrase"].user("implement reconnect backoff for the socket"))
    session("reversed", c["reversed"].user("make the backoff longer, then reconnect"))
    session("CJK", c["CJK"].user("数据库迁移脚本失败了"))
    call = c["tool input"].call("Bash", command="kubectl rollout restart deploy/frobnicator_service")
    session("tool input", c["tool input"].user("restart it"), call)
    output = "Traceback: QuuxOverflowError in ws_client.py:42"
    calls = [c["tool result"].call("Bash", command="pytest"), c["tool result"].result(output)]
    session("tool result", c["tool result"].user("run the tests"), *calls)
    session("Windows", c["Windows"].user(r"open C:\Users\bo\projects\gizmo\main.rs please"))
    main = [c["subagent"].user("delegate this"), c["subagent"].call("Agent", description="look", prompt="go")]
    session("subagent", *main)
    sub = [{**r, "isSidechain": True, "agentId": SUBAGENT} for r in (c["subagent"].user("go"),)]
    sub.append({**c["subagent"].answer("the marmoset lives in the attic"), "isSidechain": True, "agentId": SUBAGENT})
    write(root / "-w-probe" / IDS["subagent"] / "subagents" / f"agent-{SUBAGENT}.jsonl", *sub)
    titled = c["custom title"]
    session("custom title", titled.user("hello"), titled.note("custom-title", customTitle="Operation Periwinkle"))
    prompt = c["summary"].user("hello again")
    summary = {"type": "summary", "summary": "Untangling the Spaghettini", "leafUuid": c["summary"].last}
    session("summary", summary, prompt)
    copied = [c["original"].user("the ocelot hunts at night"), c["original"].answer("Indeed.")]
    session("original", *copied)
    session("copy", *({**r, "sessionId": IDS["copy"]} for r in copied), c["copy"].user("go on then"))
    session("webhook", c["webhook"].user("the webhook returns 500"), c["webhook"].answer("Fixed the webhooks."))
    session("deleted", c["deleted"].user("remember the thylacine"))
    session("long", c["long"].user("read this"), c["long"].user("lorem ipsum dolor " * 330_000 + "axlotitlan"))
    dumped = [c["secret"].call("Bash", command="env"), c["secret"].result(f"TOKEN={SECRETS[0]}\nKEY={SECRETS[1]}")]
    session("secret", c["secret"].user("what is set?"), *dumped)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="module")
def probed(place: Path) -> Iterator[Sesame]:
    write_all(place / "in")
    with library(place / "in", place / "data", parser="claude-code") as sesame:
        report = sesame.index()
        assert (report.added, report.errors, report.skipped) == (18, [], {"shortened": 1})
        yield sesame


def hits(sesame: Sesame, query: str) -> list[str]:
    """Return what the sessions found are about, best first."""
    names = {session: about for about, session in IDS.items()}
    return [names[session] for session in found(sesame.search(query))]


def test_two_words_in_one_message(probed: Sesame) -> None:
    assert hits(probed, "zebrafish kumquat") == ["one message"]


def test_two_words_in_different_messages(probed: Sesame) -> None:
    assert hits(probed, "axolotl persimmon") == ["two messages"]
    assert hits(probed, "+axolotl +persimmon") == ["two messages"]


def test_a_phrase_is_found_in_its_order_only(probed: Sesame) -> None:
    assert hits(probed, '"reconnect backoff"') == ["phrase"]
    assert hits(probed, '"backoff reconnect"') == []
    assert set(hits(probed, "reconnect backoff")) == {"phrase", "reversed"}


def test_an_excluded_term_excludes(probed: Sesame) -> None:
    assert hits(probed, "reconnect -socket") == ["reversed"]
    assert hits(probed, '"reconnect" -"then reconnect"') == ["phrase"]


@pytest.mark.parametrize("query", ["socket OR longer", "(socket OR longer)", "longer OR nosuchword OR socket"])
def test_either_of_two_words(query: str, probed: Sesame) -> None:
    assert set(hits(probed, query)) == {"phrase", "reversed"}


@pytest.mark.parametrize(
    "query", ["reconnect NOT socket", "reconnect AND NOT socket", "NOT socket reconnect", "reconnect NOT (socket fox)"]
)
def test_one_word_and_not_another(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["reversed"]
    assert hits(probed, "axolotl NOT persimmon") == []


@pytest.mark.parametrize(
    ("query", "about"),
    [
        ("axolotl AND persimmon", ["two messages"]),
        ("axolotl AND kumquat", []),
        ("(axolotl AND persimmon) OR (axolotl AND kumquat)", ["two messages"]),
        ("(zebrafish OR axolotl) AND persimmon", ["two messages"]),
    ],
)
def test_both_words_wherever_they_stand(query: str, about: list[str], probed: Sesame) -> None:
    assert hits(probed, query) == about


def test_a_session_is_found_by_its_words_and_its_facts(probed: Sesame) -> None:
    assert hits(probed, "cmd:kubectl") == ["tool input"]
    assert hits(probed, "restart tool:bash") == ["tool input"]
    assert hits(probed, "zebrafish role:user") == ["one message"]
    assert hits(probed, "zebrafish role:assistant") == []
    assert hits(probed, "zebrafish agent:pi") == []


@pytest.mark.parametrize("query", ["zebrafsh", "kumqaut"])
def test_a_misspelt_word(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["one message"]


@pytest.mark.parametrize("query", ["数据库迁", "数据库", "迁移", "脚本", "库"])
def test_words_of_four_to_one_chinese_characters(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["CJK"]


@pytest.mark.parametrize("query", ["frobnicator_service", "frobnicator", "deploy/frobnicator_service", "kubectl"])
def test_an_identifier_in_a_tools_input(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["tool input"]


@pytest.mark.parametrize("query", ["QuuxOverflowError", "quux", "ws_client.py:42", "ws_client"])
def test_an_identifier_in_a_tools_result(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["tool result"]


@pytest.mark.parametrize("query", [r"C:\Users\bo\projects\gizmo\main.rs", r"gizmo\main.rs", "gizmo", r'"gizmo\main"'])
def test_a_windows_path(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["Windows"]


def test_a_subagents_transcript_counts_for_its_session(probed: Sesame) -> None:
    (hit,) = probed.search("marmoset attic").hits
    assert (hit.session.id, hit.subagent_id) == (IDS["subagent"], f"{IDS['subagent']}/{SUBAGENT}")


@pytest.mark.parametrize(("query", "about"), [("periwinkle", "custom title"), ("spaghettini", "summary")])
def test_titles_and_summary_lines(query: str, about: str, probed: Sesame) -> None:
    (hit,) = probed.search(query).hits
    assert hit.session.id == IDS[about]
    assert query in (hit.session.title or "").lower()


def test_a_resumed_copy_is_not_shown_twice(probed: Sesame) -> None:
    answer = probed.search("ocelot night")
    (hit,) = answer.hits
    assert answer.total == 1
    assert {hit.session.id, *(session for session, _ in hit.copies)} == {IDS["original"], IDS["copy"]}


@pytest.mark.parametrize("about", IDS)
def test_a_sessions_id_finds_the_session(about: str, probed: Sesame) -> None:
    for query in (IDS[about], IDS[about].upper()[:8], IDS[about][:13]):
        answer = probed.search(query)
        first = answer.hits[0]
        assert IDS[about] in {first.session.id, *(session for session, _ in first.copies)}
        assert (first.score, answer.is_weak, answer.words_not_found) == (1.0, False, [])


def test_the_last_word_of_a_message_of_six_megabytes(probed: Sesame, tmp_path: Path, place: Path) -> None:
    assert hits(probed, "axlotitlan") == ["long"]
    parser = Selection(name="claude-code", options={"line_limit": 8 * 2**20})
    source = Source(parser=parser, path=place / "in" / "-w-probe" / f"{IDS['long']}.jsonl")
    with Sesame(sources=[source], data_dir=tmp_path) as sesame:
        assert sesame.index().skipped == {}
        assert hits(sesame, "axlotitlan") == ["long"]
        assert "axlotitlan" in sesame.search("axlotitlan").hits[0].snippet.text


@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_in_an_output_is_shown_to_its_owner_and_can_be_read_by_nobody_else(
    secret: str, probed: Sesame, place: Path
) -> None:
    (hit,) = probed.search(secret).hits
    assert secret in hit.snippet.text
    for path in place.joinpath("data").glob("index.sqlite*"):
        assert path.stat().st_mode & 0o077 == 0, f"{path.name} is the owner's alone"


@pytest.mark.parametrize("query", ["webh*", "webhook", "webhooks", "WEBHOOK"])
def test_prefixes_and_endings(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["webhook"]


@pytest.mark.parametrize("query", ['"webhook returns', 'webhook"', '"webhook', '"""webhook', "'webhook"])
def test_an_unbalanced_quote_is_no_error(query: str, probed: Sesame) -> None:
    assert hits(probed, query) == ["webhook"]


@pytest.mark.parametrize("query", ['"', '""', "(", "AND OR (", "*", "-", "+", "🦊", "\0", "a" * 10_000, '-"', "^:{}~"])
def test_no_query_is_an_error(query: str, probed: Sesame) -> None:
    probed.search(query)


def test_a_session_is_still_found_after_its_file_is_gone(tmp_path: Path) -> None:
    write_all(tmp_path / "in")
    with library(tmp_path / "in", tmp_path / "data", parser="claude-code") as sesame:
        sesame.index()
        (tmp_path / "in" / "-w-probe" / f"{IDS['deleted']}.jsonl").unlink()
        for full in (False, True):
            sesame.index(full=full)
            assert hits(sesame, "thylacine") == ["deleted"]
            assert "remember the thylacine" in [chunk.text for chunk in everything(sesame)]
