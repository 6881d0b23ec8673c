"""The documentation of the command line, held against the program: commands, options, JSON fields, examples."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from sesame_core import Session
from sesame_core.demo import sessions_dir
from sesame_core.generation.describe import CONVERSATION_BYTES, State
from sesame_core.metadata import files
from sesame_core.rendering.sharing import changes_json
from sesame_core.runtime.watcher import watch
from sesame_core.sharing.visibility_writer import Change

from ..support.model_server import Answers, ModelServer

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
DOCUMENTS = [
    *(REPOSITORY / name for name in ("README.md", "AGENTS.md", "sesame_core/SKILL.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
]
#: Each command's part of the page.
SECTIONS = {
    part.splitlines()[0].removeprefix("sesame "): part
    for part in re.split(r"^## (?=sesame )", PAGE, flags=re.MULTILINE)[1:]
}
GENERAL = PAGE.partition("\n## ")[0]

_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
#: A word that a query leaves out.
_EXCLUDED_WORD = re.compile(r"-[^\W\d_]{2}")


def options_in_help(text: str) -> set[str]:
    listed = text.partition("Options:\n")[2].partition("\n\n")[0]
    heads = (re.split(r" {2,}", line.strip(), maxsplit=1)[0] for line in listed.splitlines())
    return {option for head in heads if head.startswith("-") for option in _OPTION.findall(head.partition(" <")[0])}


def commands_in_help(text: str) -> set[str]:
    return set(re.findall(r"^  (\w+) ", text.partition("Commands:\n")[2], re.MULTILINE))


def options_in_tables(text: str) -> set[str]:
    heads = re.findall(r"^\| (`-[^|]*) \|", text, re.MULTILINE)
    return {option for head in heads for option in _OPTION.findall(head)}


def fields(text: str) -> set[str]:
    """The names in the first column of the tables of fields in a text."""
    tables = re.findall(r"^\| field[^\n]*\n\|---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    return {
        name for table in tables for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


@pytest.fixture
def options_of(cli: Callable[..., Any]) -> Callable[[str], set[str]]:
    """The options of a command, as the program tells them."""
    return lambda command: options_in_help(cli(command, "--help").out)


def test_every_command_has_a_section_and_every_section_a_command(cli: Callable[..., Any]) -> None:
    commands = commands_in_help(cli("--help").out)
    assert len(commands) >= 10
    assert set(SECTIONS) == commands


def test_the_options_of_the_program_itself_are_documented(cli: Callable[..., Any]) -> None:
    assert options_in_tables(GENERAL) == options_in_help(cli("--help").out)


@pytest.mark.parametrize("command", SECTIONS)
def test_every_option_is_documented_and_every_documented_one_exists(
    command: str, options_of: Callable[[str], set[str]]
) -> None:
    assert options_in_tables(SECTIONS[command]) == options_of(command) - {"-h", "--help"}


@pytest.mark.parametrize("command", SECTIONS)
def test_the_synopsis_names_the_command(command: str) -> None:
    synopsis = re.findall(r"^```text\n(.*)\n```$", SECTIONS[command], re.MULTILINE)
    assert len(synopsis) == 1
    assert synopsis[0].split()[:2] == ["sesame", command]


# -- what is said anywhere --------------------------------------------------------------------------------


def calls() -> Iterator[Any]:
    """Each command line with a command of ours in any document."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8") if document.exists() else ""
        code = re.findall(r"`(sesame [^`\n]+)`", text)
        for block in re.findall(r"^```(?:console|sh|text)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            code += re.findall(r"^(?:\$ )?(sesame \w.*)$", block, re.MULTILINE)
        for line in dict.fromkeys(code):
            yield pytest.param(line, id=f"{document.name}: {line}")


@pytest.mark.parametrize("line", list(calls()))
def test_no_document_names_a_command_or_an_option_that_does_not_exist(
    line: str, cli: Callable[..., Any], options_of: Callable[[str], set[str]]
) -> None:
    words = shlex.split(re.sub(r"[\[\]]|\.\.\.", "", line), comments=True)[1:]
    command = next((word for word in words if not word.startswith("-")), "")
    if command == "COMMAND":
        return
    if not command:
        assert set(words) <= options_in_help(cli("--help").out)
        return
    assert command in SECTIONS
    given = words[words.index(command) + 1 :]
    given = given[: given.index("--")] if "--" in given else given
    options = {word.partition("=")[0] for word in given if word.startswith("-") and " " not in word}
    assert {option for option in options if not _EXCLUDED_WORD.match(option)} <= options_of(command)


def test_documents_mention_no_unknown_option_in_passing(cli: Callable[..., Any]) -> None:
    known = set.union(*(options_in_help(cli(*words, "--help").out) for words in [(), *((c,) for c in SECTIONS)]))
    for document in (
        REPOSITORY / "docs" / "cli.md",
        REPOSITORY / "docs" / "config.md",
        REPOSITORY / "docs" / "hooks.md",
    ):
        mentioned = set(re.findall(r"`(--[a-z][a-z-]+)[^`]*`", document.read_text(encoding="utf-8")))
        assert mentioned <= known, document.name


# -- the fields of JSON -----------------------------------------------------------------------------------


@pytest.fixture
def value(demo_sessions: Path, cli: Callable[..., Any]) -> Callable[..., Any]:
    """What a command prints with --json."""
    assert cli("index").code == 0
    return lambda *words: json.loads(cli(*words, "--json").out)


def part(heading: str) -> str:
    """The text under one heading in the section of search."""
    return SECTIONS["search"].partition(f"### {heading}")[2]


def test_the_fields_of_index_are_documented(value: Callable[..., Any]) -> None:
    assert fields(SECTIONS["index"]) == value("index").keys() - {"schemaVersion"}


def test_the_fields_of_search_are_documented(value: Callable[..., Any]) -> None:
    answer = value("search", "nix")
    of_answer, _, of_result = SECTIONS["search"].partition("### ")[0].partition("| field of a result")
    of_result = "| field of a result" + of_result
    of_session = fields(part("Fields of a session"))
    assert fields(of_answer) == answer.keys() - {"schemaVersion"}
    assert fields(of_result) | of_session == answer["results"][0].keys()
    assert not fields(of_result) & of_session


def test_the_fields_of_show_are_documented(value: Callable[..., Any]) -> None:
    shown = value("show", "d6bc")
    assert fields(SECTIONS["show"]) == shown["chunks"][0].keys()
    assert fields(part("Fields of a session")) == shown.keys() - {"schemaVersion", "summary", "chunks"}


def test_the_fields_of_sessions_are_documented(value: Callable[..., Any]) -> None:
    listed = value("sessions")
    assert fields(SECTIONS["sessions"]) == listed.keys() - {"schemaVersion"}
    assert fields(part("Fields of a session")) == listed["sessions"][0].keys()


def test_the_fields_of_ask_are_documented(value: Callable[..., Any]) -> None:
    asked = value("ask", "d6bc", "delay")
    assert fields(SECTIONS["ask"]) == asked.keys() - {"schemaVersion"}
    assert fields(part("Fields of a session")) == asked["session"].keys()
    row = re.findall(r"^\| `passages` \| (.*) \|$", SECTIONS["ask"], re.MULTILINE)[0]
    assert set(re.findall(r"`(\w+)`", row)) == asked["passages"][0].keys()


def test_the_fields_of_describe_are_documented(value: Callable[..., Any], models: ModelServer) -> None:
    models.script = [Answers("{}")]
    described = value("describe", "d6bc", "--model", "cheap")
    assert fields(SECTIONS["describe"]) == described.keys() - {"schemaVersion"}
    row = re.findall(r"^\| `sessions` \| (.*) \|$", SECTIONS["describe"], re.MULTILINE)[0]
    assert set(re.findall(r"`(\w+)`", row)) == described["sessions"][0].keys()
    states = re.findall(r"^A `state` is (.*?)\.", SECTIONS["describe"], re.DOTALL | re.MULTILINE)[0]
    assert set(re.findall(r"`([\w ]+)`", states)) == {*get_args(State), "reason"}


def test_the_fields_of_a_file_of_metadata_are_documented() -> None:
    page = (REPOSITORY / "docs" / "memory.md").read_text(encoding="utf-8")
    example = json.loads(re.findall(r"^```json\n(\{\n  \"sessionId.*?)^```", page, re.DOTALL | re.MULTILINE)[0])
    assert fields(page) == {*example, "parentSessionFile"} == set(files._FIELDS.values())
    for number in (files.NAME_CHARS, files.DESCRIPTION_CHARS, files.SUMMARY_CHARS, CONVERSATION_BYTES):
        assert f"{number:,} " in page


@pytest.mark.parametrize("command", ["status", "config"])
def test_the_fields_of_status_and_config_are_documented(command: str, value: Callable[..., Any]) -> None:
    assert fields(SECTIONS[command]) == value(command).keys() - {"schemaVersion"}


def test_the_fields_of_audit_are_documented(value: Callable[..., Any]) -> None:
    assert fields(SECTIONS["audit"]) == value("audit").keys() - {"schemaVersion"}


def test_the_fields_of_share_are_documented(value: Callable[..., Any]) -> None:
    rules, changes = value("share"), value("share", "--dry-run")
    assert fields(SECTIONS["share"]) == (rules.keys() | changes.keys()) - {"schemaVersion"}
    (row,) = re.findall(r"^\| `changes` \| (.*) \|$", SECTIONS["share"], re.MULTILINE)
    change = Change(session=Session(id="s", agent="a"), path="", before=None, after="shared")
    assert set(re.findall(r"`(\w+)`", row)) - {"null"} == changes_json([change])["changes"][0].keys()


def test_the_fields_of_plugins_are_documented(value: Callable[..., Any]) -> None:
    assert fields(SECTIONS["plugins"]) == value("plugins")[0].keys()


def test_the_fields_of_watch_are_documented() -> None:
    named = set(re.findall(r"\w+", re.findall(r"`\{(.*?)\}`", watch.__doc__ or "")[0])) | {"error"}
    assert fields(SECTIONS["watch"]) == named
    (example,) = re.findall(r"^```json\n(.*)\n```$", SECTIONS["watch"], re.MULTILINE)
    assert json.loads(example).keys() == named - {"error"}


# -- examples ---------------------------------------------------------------------------------------------


def examples() -> Iterator[Any]:
    """Each block of commands and their output, of the README and the page about commands."""
    for document in (REPOSITORY / "README.md", REPOSITORY / "docs" / "cli.md"):
        blocks = re.findall(r"^```console\n(\$ sesame .*?)^```", document.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for number, block in enumerate(blocks):
            yield pytest.param(block, id=f"{document.name}-{number}: {block.splitlines()[0]}")


def steps(block: str) -> list[tuple[list[str], list[str]]]:
    """The commands of a block, each with the lines it is said to print."""
    # The demo prints a command of its own.
    parts = [block] if block.startswith("$ sesame demo") else re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]
    found = []
    for text in parts:
        command, _, output = text.partition("\n")
        found.append((shlex.split(command, comments=True)[2:], output.splitlines()))
    return found


@pytest.mark.parametrize("block", list(examples()))
def test_an_example_prints_what_is_shown(block: str, home: Path, utc: None, cli: Callable[..., Any]) -> None:
    commands = steps(block)
    if commands[0][0] != ["demo"]:
        shutil.copytree(sessions_dir() / "claude-code", home / ".claude" / "projects")
        shutil.copytree(sessions_dir() / "pi", home / ".pi" / "agent" / "sessions")
        if commands[0][0] != ["index"]:
            cli("index")
    for words, expected in commands:
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        out = re.sub(r"in \d+\.\d s", "in 0.0 s", ran.out).replace(str(home), "/home/ann").splitlines()
        if not expected:
            assert out
        elif expected[-1] == "…":
            assert out[: len(expected) - 1] == expected[:-1]
        else:
            assert out == expected
