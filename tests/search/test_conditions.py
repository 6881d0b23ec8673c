"""An empty or thin answer says which condition emptied it, on the command line, in JSON and to the tools."""

from __future__ import annotations

import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.cli.searching import COMMANDS
from sesame_core.errors import QueryError
from sesame_core.mcp.tools import Tools
from sesame_core.search.agents import agent_named

from ..support.both_backends import Index, Run
from ..support.transcripts import OTHER_CLAUDE_ID, Claude, Pi, pi_session, write

DAY = timedelta(days=1)
FRIDAY = datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.fixture
def widgets(index: Index, cli: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> Run:
    """One session of Claude Code about a widget, one of two days about a cron."""
    monkeypatch.chdir(home)
    one = Claude(cwd="/home/ann/entire", start=FRIDAY)
    write(
        one.path,
        one.user("the widget is broken"),
        one.answer("I look at the widget"),
        one.call("Bash", command="make widget"),
        one.result("no rule to make it", is_error=True),
    )
    other = Claude(OTHER_CLAUDE_ID, cwd="/w/billing", start=FRIDAY + 6 * DAY)
    first = other.user("migrate the billing cron", gitBranch="fix/cron")
    thanks = {**other.user("thanks", gitBranch="fix/cron"), "timestamp": "2026-11-28T09:00:00.000Z"}
    write(other.path, first, thanks)
    assert cli("index").code == 0
    return cli


def hints(cli: Run, *words: str) -> list[str]:
    """Return the hints of an answer, which the text has too."""
    value = cli("search", *words, "--json").json
    out = cli("search", *words).out
    assert all(f"Note: {hint}" in out for hint in value["hints"])
    told: list[str] = value["hints"]
    return told


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--tool Bsh", "1 session matches without --tool Bsh; tools in it: Bash (did you mean Bash?)"),
        ("--tool bahs", "1 session matches without --tool bahs; tools in it: Bash (did you mean Bash?)"),
        ("tool:Bsh", "1 session matches without tool:Bsh; tools in it: Bash (did you mean Bash?)"),
        ("--tool Read", "1 session matches without --tool Read; tools in it: Bash"),
        ("--model opsu", "1 session matches without --model opsu; models in it: claude-fox-1"),
        ("--model fxo", "1 session matches without --model fxo; models in it: claude-fox-1 (did you mean fox?)"),
        ("--branch mian", "1 session matches without --branch mian; branches in it: main (did you mean main?)"),
        ("branch:corn", "1 session matches without branch:corn; branches in it: main (did you mean cron?)"),
        ("--branch cron", "1 session matches without --branch cron; branches in it: main"),
        ("--repo entrie", "1 session matches without --repo entrie; repositories in it: entire (did you mean entire?)"),
        (
            "in:git@example.org:ann/entire.git",
            "1 session matches without repo:example.org/ann/entire; repositories in it: entire (did you mean entire?)",
        ),
        ("--cmd nope", "1 session matches without --cmd nope"),
        ("--path x.py", "1 session matches without --path x.py"),
        ("file:x.py", "1 session matches without file:x.py"),
        ("--agent pi", "1 session matches without --agent pi; agents in it: claude-code"),
        (
            "agent:cluade-code",
            "1 session matches without agent:cluade-code; agents in it: claude-code (did you mean claude-code?)",
        ),
        ("-agent:claude", "1 session matches without -agent:claude-code"),
        ("-broken", '1 session left out by -broken; to find it as text: "-broken"'),
        ("+nowhere", "1 session matches without +nowhere"),
        ("--cwd /no/such", "1 session matches without --cwd /no/such; no session is in /no/such"),
        (
            "--cwd /home/ann/entire/internal",
            "1 session matches without --cwd /home/ann/entire/internal; "
            "no session is in /home/ann/entire/internal; nearest: /home/ann/entire (1 session)",
        ),
        (
            "--cwd /home/ann/entrie",
            "1 session matches without --cwd /home/ann/entrie; "
            "no session is in /home/ann/entrie; nearest: /home/ann/entire (1 session)",
        ),
        ("--cwd /w", "1 session matches without --cwd /w"),
        (
            "--after 2026-11-24 --before 2026-11-25",
            "1 session matches without --after 2026-11-24 --before 2026-11-25; nearest days with some: 2026-11-20",
        ),
        (
            "--after 2026-11-28 --before 2026-11-20",
            "1 session matches without --after 2026-11-28 --before 2026-11-20; the first is later than the second",
        ),
        ("after:2026-11-24", "1 session matches without after:2026-11-24; nearest days with some: 2026-11-20"),
        ("--before 2026-11", None),
        ("--before 2026-10", "1 session matches without --before 2026-10-31; nearest days with some: 2026-11-20"),
    ],
)
def test_an_empty_answer_says_which_filter_emptied_it(
    widgets: Run, utc: None, words: str, expected: str | None
) -> None:
    assert hints(widgets, "widget", *words.split()) == ([expected] if expected else [])


def test_a_name_given_as_a_directory_says_that_repo_finds_it(widgets: Run) -> None:
    (hint,) = hints(widgets, "widget", "--cwd", "entire")
    assert hint.endswith("nearest: /home/ann/entire (1 session), 1 session with --repo entire")


@pytest.mark.parametrize(
    ("name", "quoted"), [("it's here", "'it'\"'\"'s here'"), ("$HOME", "'$HOME'"), ("a b", "'a b'")]
)
def test_a_name_with_spaces_and_quotes_is_told_as_a_shell_takes_it(
    index: Index, cli: Run, home: Path, name: str, quoted: str
) -> None:
    one = Claude(cwd=f"/home/ann/{name}")
    write(one.path, one.user("the widget is broken"))
    assert cli("index").code == 0
    (hint,) = hints(cli, "widget", "--cwd", f"/nowhere/{name}")
    assert hint.endswith(f", 1 session with --repo {quoted}")


def test_what_no_single_filter_emptied_is_said_of_all_together(widgets: Run) -> None:
    assert hints(widgets, "widget", "--tool", "Bsh", "--branch", "mian") == [
        "no session has --branch mian (did you mean main?)",
        "no session has --tool Bsh (did you mean Bash?)",
        "1 session matches without all of these: --branch mian, --tool Bsh",
    ]


def test_a_value_that_is_nowhere_is_said_though_nothing_matches(widgets: Run) -> None:
    assert hints(widgets, "zzzz", "--tool", "Bsh") == ["no session has --tool Bsh (did you mean Bash?)"]


def test_a_thin_answer_says_how_many_more_there_are(widgets: Run) -> None:
    pi_session("p1", "another widget")
    pi_session("p2", "a third widget")
    assert hints(widgets, "widget", "--agent", "claude") == [
        "3 sessions match without --agent claude-code; agents in them: pi, claude-code"
    ]
    value = widgets("search", "widget", "--agent", "claude", "--json").json
    assert (value["total"], value["leftOut"]) == (1, {"agent": 2})
    assert hints(widgets, "widget") == []


@pytest.mark.parametrize("name", ["claude", "claude-code", "Claude", "claude-c", "CLAUDE-CODE"])
@pytest.mark.parametrize("form", ["--agent {}", "agent:{}"])
def test_the_beginning_of_an_agents_name_means_it(widgets: Run, name: str, form: str) -> None:
    value = widgets("search", "widget", *form.format(name).split(), "--json").json
    assert [result["source"] for result in value["results"]] == ["claude-code"]
    assert widgets("search", "widget", f"-agent:{name}", "--json").json["results"] == []


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("claude", ["claude-code", "pi"], "claude-code"),
        ("claude", ["claude-code", "claude-desktop"], "claude-code"),
        ("claude", ["claude", "claude-code"], "claude"),
        ("cod", ["codex", "pi"], "codex"),
        ("co", ["codex", "copilot"], None),
        ("open", ["opencode", "open-hands"], "open-hands"),
        ("PI", ["pi", "pixel"], "pi"),
        ("nobody", ["pi"], None),
    ],
)
def test_a_name_means_one_agent_or_none(name: str, known: list[str], meant: str | None) -> None:
    assert agent_named(name, known, ["claude-code", "pi"]) == meant


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cluade-code", "no agent 'cluade-code': did you mean claude-code?"),
        ("cluade", "no agent 'cluade': did you mean claude-code?"),
        ("xyz", "no agent 'xyz': there are"),
        ("p1", "no agent 'p1'"),
        ("gemmini", "no agent 'gemmini': did you mean gemini?"),
        ("cursor", "no agent 'cursor': no installed plugin reads the sessions of Cursor; see docs/tutorial-plugin.md"),
        ("Qwen", "no agent 'Qwen': no installed plugin reads the sessions of Qwen Code; see docs/tutorial-plugin.md"),
    ],
)
def test_an_agent_that_no_session_and_no_parser_has_is_an_error(widgets: Run, name: str, message: str) -> None:
    for command in (("search", "widget"), ("sessions",)):
        ran = widgets(*command, "--agent", name)
        assert ran.code == 2
        assert message in ran.err
    with Sesame() as sesame, pytest.raises(QueryError, match="no agent"):
        Tools(sesame).call("search_sessions", {"query": "widget", "agent": [name]})


@pytest.mark.parametrize("tool", ["search_sessions", "list_sessions"])
def test_a_list_argument_of_a_tool_takes_one_string(widgets: Run, tool: str) -> None:
    query = {"query": "widget"} if tool == "search_sessions" else {}
    with Sesame() as sesame:
        tools = Tools(sesame)
        one, listed = (tools.call(tool, {**query, "agent": agent}) for agent in ("claude", ["claude-code"]))
        assert one["total"] == listed["total"] > 0
        nothing = tools.call(tool, {**query, "agent": "pi"})
        assert nothing["total"] == 0
        assert nothing["hints"][0].endswith("agents in it: claude-code" if query else "agents in them: claude-code")  # type: ignore[index]
        assert nothing["leftOut"] == {"agent": 1 if query else 2}
        found = tools.call("list_sessions", {"exclude": OTHER_CLAUDE_ID})
        assert found["total"] == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--agent pi", "2 sessions match without --agent pi; agents in them: claude-code"),
        (
            "--after 2026-11-22 --before 2026-11-23",
            "2 sessions match without --after 2026-11-22 --before 2026-11-23; "
            "nearest days with some: 2026-11-20, 2026-11-26",
        ),
        ("--after 2027", "2 sessions match without --after 2027-01-01; nearest days with some: 2026-11-28"),
        ("--before 2025", "2 sessions match without --before 2025-12-31; nearest days with some: 2026-11-20"),
        ("--cwd /w/x", "2 sessions match without --cwd /w/x; no session is in /w/x; nearest: /w (1 session)"),
        (
            "--cwd /w/billing/deep/down",
            "2 sessions match without --cwd /w/billing/deep/down; no session is in /w/billing/deep/down; "
            "nearest: /w/billing (1 session)",
        ),
    ],
)
def test_an_empty_list_of_sessions_says_so_too(widgets: Run, utc: None, words: str, expected: str) -> None:
    value = widgets("sessions", *words.split(), "--json").json
    assert value["hints"] == [expected]
    assert f"Note: {expected}" in widgets("sessions", *words.split()).out
    assert expected in hints(widgets, "*", *words.split())


# -- days ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        ("billing --after 2026-11-26 --before 2026-11-26", True),
        ("billing --after 2026-11-27 --before 2026-11-27", False),
        ("billing --after 2026-11-28 --before 2026-11-28", False),
        ("thanks --after 2026-11-28 --before 2026-11-28", True),
        ("thanks --before 2026-11-27", False),
        ("billing --before 2026-11-26", True),
        ("billing --after 2026-11-27", False),
        ("billing after:2026-11-26 before:2026-11-26", True),
        ("billing --after 2026-W48 --before 2026-W48", True),
        ("billing --after november --before november", True),
        ("* --after 2026-11-26 --before 2026-11-26", True),
        ("* --after 2026-11-27 --before 2026-11-27", False),
        ("* --after 2026-11-28 --before 2026-11-28", True),
        ("billing -after:2026-11-29", True),
    ],
)
def test_a_day_finds_what_was_said_on_it(widgets: Run, utc: None, words: str, is_found: bool) -> None:
    found = {result["sessionId"] for result in widgets("search", *words.split(), "--json").json["results"]}
    assert (OTHER_CLAUDE_ID in found) == is_found


def test_the_passage_of_a_day_is_of_that_day(index: Index, cli: Run, utc: None) -> None:
    long = Claude(start=FRIDAY)
    said = [{**long.user(f"the cron of day {n}"), "timestamp": f"2026-11-{20 + n}T12:00:00.000Z"} for n in range(5)]
    write(long.path, *said)
    cli("index")
    for n in range(5):
        day = f"2026-11-{20 + n}"
        (result,) = cli("search", "cron", "--after", day, "--before", day, "--hits", 3, "--json").json["results"]
        assert result["matchedSnippet"] == f"the cron of day {n}"
        assert "passages" not in result or len(result["passages"]) == 1


@pytest.mark.parametrize(
    ("date", "since"),
    [("30mo", "2024-"), ("30min", "20"), ("2026-10", "2026-10-01 00:00"), ("2026-11-20", "2026-11-20 00:00")],
)
def test_the_answer_says_which_moment_was_meant(widgets: Run, utc: None, date: str, since: str) -> None:
    assert f"Only what was said since {since}" in widgets("search", "widget", "--after", date).out
    assert f"Only what was said since {since}" in widgets("sessions", "--after", date).out
    value = widgets("search", "widget", "--after", date, "--json").json
    assert value["after"].startswith(since[:10])
    assert value["before"] is None


@pytest.mark.parametrize("command", [("search", "widget"), ("digest",)])
def test_json_has_the_moments_in_utc_wherever_the_reader_is(
    widgets: Run, utc: None, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    since = "--after" if command[0] == "search" else "--since"
    value = widgets(*command, since, "2026-10-20", "--before", "2026-11-27T12:30+01:00", "--json").json
    assert value["after"] == "2026-10-19T22:00:00.000Z"
    assert value["before"].startswith("2026-11-27T11:30:")
    assert value["before"].endswith("Z")


# -- here ------------------------------------------------------------------------------------------------------


def test_here_means_the_repository_with_its_worktrees(
    index: Index, cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, tree, alone = tmp_path / "fox", tmp_path / "trees" / "login", tmp_path / "alone"
    root.mkdir()
    alone.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    git("worktree", "add", "-q", str(tree))
    (root / "src" / "deep").mkdir(parents=True)
    for id, cwd in {"root": root, "src": root / "src", "tree": tree, "alone": alone, "out": tmp_path}.items():
        pi_session(id, "a kettle", cwd=str(cwd))
    cli("index")

    def ids(*words: str) -> set[str]:
        return {result["sessionId"] for result in cli("search", "kettle", *words, "--json").json["results"]}

    for place in (root, root / "src" / "deep", tree):
        monkeypatch.chdir(place)
        assert ids("--here") == ids("is:here") == {"root", "src", "tree"}
        assert ids("-is:here") == {"alone", "out"}
        assert {s["sessionId"] for s in cli("sessions", "--here", "--json").json["sessions"]} == {"root", "src", "tree"}
        with Sesame() as sesame:
            assert Tools(sesame).call("list_sessions", {"here": True})["total"] == 3
    monkeypatch.chdir(alone)
    assert ids("--here") == {"alone"}


# -- an empty index --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x"),
        ("search",),
        ("search", "x", "--no-refresh"),
        ("search", "x", "--tool", "Bash"),
        ("sessions",),
        ("sessions", "--agent", "pi"),
    ],
)
def test_an_empty_index_says_so_and_where_it_looked(index: Index, cli: Run, words: tuple[str, ...]) -> None:
    index.prepare(cli)
    out = cli(*words).out
    place = "looked in directories that do not exist: ~/.claude/projects, ~/.codex/sessions, "
    assert f"Note: the index is empty: no session files found; {place}" in out
    assert "Not found anywhere" not in out
    value = cli(*words, "--json").json
    assert value["hints"][0].startswith("the index is empty")


def test_an_empty_index_says_what_is_not_indexed(index: Index, cli: Run) -> None:
    index.prepare(cli)
    pi_session("one", "a kettle")
    out = cli("search", "kettle", "--no-refresh").out
    assert "the index is empty: 1 session file in ~/.pi/agent/sessions not indexed; index with: sesame index" in out
    assert Pi("one").path.exists()
    assert "Found 1 session" in cli("search", "kettle").out


def test_a_word_that_is_nowhere_in_a_full_index_is_still_told(widgets: Run) -> None:
    out = widgets("search", "unicorn").out
    assert "Not found as a word: unicorn" in out
    assert "empty" not in out


def test_every_filter_of_the_command_line_can_be_blamed(widgets: Run) -> None:
    """No filter makes the explanation fail, whatever its value."""
    odd = ("", " ", "é", "a b", "%", "x" * 300, "-", "\\", "'", "日本")
    for option in COMMANDS[0].options:
        if option.kind is str and option.name not in ("after", "before", "role"):
            for value in odd:
                assert widgets("search", "widget", option.flag, value, "--no-refresh").code in (0, 2)
