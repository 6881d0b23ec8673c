"""The documentation of the command line, held against the program: commands, options, JSON fields, examples."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args, get_type_hints

import pytest

from sesame_core.api import resuming
from sesame_core.config.report import (
    BackendJson,
    ConfigFileJson,
    ConfigJson,
    ConfigSourceJson,
    DescribeJson,
    RedactJson,
)
from sesame_core.demo import sessions_dir
from sesame_core.generation.describe import CONVERSATION_BYTES, State
from sesame_core.metadata import files
from sesame_core.rendering.schemas import traces
from sesame_core.rendering.schemas.answers import AnswerJson, CopyJson, RequestedJson, ResultJson
from sesame_core.rendering.schemas.audits import AuditJson, SecretJson, SecretKindJson
from sesame_core.rendering.schemas.blames import BlamedRunJson, BlamedSessionJson, BlameJson, WriterJson
from sesame_core.rendering.schemas.brief import BriefJson, BriefPassageJson, BriefResultJson
from sesame_core.rendering.schemas.evidence import (
    ConfidenceJson,
    EvidenceJson,
    ExplanationJson,
    PassageJson,
    ScoredChunkJson,
    ScoreJson,
    WindowItemJson,
    WordJson,
)
from sesame_core.rendering.schemas.exports import ExportJson, HandoffJson, PartJson, PointJson
from sesame_core.rendering.schemas.fixes import (
    DirectoryCountJson,
    FailedRunJson,
    FixesJson,
    FixJson,
    KnownJson,
    SeenJson,
    SeenSessionJson,
    StepJson,
    VariantJson,
    WayJson,
    WaysJson,
)
from sesame_core.rendering.schemas.freshness import IndexJson, SourceJson
from sesame_core.rendering.schemas.generation import (
    AttemptJson,
    CitationJson,
    DescriptionJson,
    DescriptionsJson,
    ExcerptJson,
    SessionAnswerJson,
)
from sesame_core.rendering.schemas.knowing import (
    DigestEntryJson,
    DigestGroupJson,
    DigestJson,
    InvolvedJson,
    PersonJson,
    WhoJson,
)
from sesame_core.rendering.schemas.references import CandidateJson, ReferenceJson, ReferencesJson
from sesame_core.rendering.schemas.reports import (
    FailureEventJson,
    FileEventJson,
    FileProblemJson,
    ReportJson,
    RootJson,
    UnreadRootJson,
)
from sesame_core.rendering.schemas.sessions import (
    ChunkJson,
    MarkedJson,
    ResumeJson,
    ResumptionJson,
    SessionJson,
    SessionsJson,
    TranscriptJson,
)
from sesame_core.rendering.schemas.sharing import ChangeJson, ChangesJson, RuleJson, SharingJson, VisibilityJson
from sesame_core.rendering.schemas.status import (
    AgentJson,
    PluginJson,
    ServerJson,
    StatusJson,
    TransactionJson,
    UnreadableFileJson,
    WorkstationJson,
    WorkstationsJson,
)
from sesame_core.rendering.schemas.tallies import TalliesJson, TallyJson

from ..support.pages import assert_printed, steps

pytestmark = pytest.mark.once

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
    return set(
        re.findall(r"^  (\w+) ", text.partition("Options:\n")[0].partition("\n\n")[2].partition("\n\n")[2], re.M)
    )


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
    if command == "COMMAND" or words[:1] == ["help"]:
        return
    if not command:
        assert set(words) <= options_in_help(cli("--help").out)
        return
    assert command in SECTIONS
    given = words[words.index(command) + 1 :]
    given = given[: given.index("--")] if "--" in given else given
    options = {word.partition("=")[0] for word in given if word.startswith("-") and word != "-" and " " not in word}
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


def fields_of(*declared: Any) -> set[str]:
    """The fields of declared JSON objects but for the version, which the page tells once."""
    return set().union(*(get_type_hints(one) for one in declared)) - {"schemaVersion"}


def names_in_row(field: str, text: str) -> set[str]:
    """The names that the row of a field mentions, but for values."""
    (row,) = re.findall(rf"^\| `{field}` \| (.*) \|$", text, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row)) - {"null"}


def part(heading: str) -> str:
    """The text under one heading in the section of search."""
    return SECTIONS["search"].partition(f"### {heading}")[2].partition("\n### ")[0]


def table(head: str, text: str) -> set[str]:
    """The names in the first column of the first table with this head."""
    rows, *_ = re.findall(rf"^\| {re.escape(head)} \| \|\n\|---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    return {name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}


SESSION = fields_of(SessionJson)

#: The tables of fields, each with what declares the fields: section of the page, head of the table.
TABLES: list[tuple[str, str, set[str]]] = [
    ("index", "field", fields_of(ReportJson)),
    ("search", "field", fields_of(AnswerJson) - fields_of(RequestedJson)),
    ("search", "field of a result", fields_of(ResultJson) - fields_of(EvidenceJson) - SESSION),
    ("search", "with `--context`", {"contextBefore", "contextAfter"}),
    ("search", "with `--hits`", {"passages"}),
    ("search", "with `--max-bytes`", {"cutToBudget"}),
    ("search", "field with `--brief`", fields_of(BriefJson)),
    ("search", "field of a result with `--brief`", fields_of(BriefResultJson)),
    ("search", "field of a passage with `--brief`", fields_of(BriefPassageJson)),
    ("search", "`explain` of an answer", fields_of(ExplanationJson)),
    ("search", "`explain.confidence`", fields_of(ConfidenceJson)),
    ("search", "`explain` of a result", fields_of(ScoreJson)),
    ("sessions", "field", fields_of(SessionsJson)),
    ("who", "field", fields_of(WhoJson) | {"sessions"}),
    ("digest", "field", fields_of(DigestJson) | {"sessions"}),
    ("blame", "field", fields_of(BlameJson) | {"writers"}),
    ("stats", "field", fields_of(TalliesJson)),
    ("star", "field", fields_of(MarkedJson)),
    ("show", "field of a chunk", fields_of(ChunkJson)),
    ("ask", "field", fields_of(SessionAnswerJson)),
    ("fix", "field", fields_of(FixesJson)),
    ("fix", "field of a fix", fields_of(FixJson) | fields_of(SeenSessionJson)),
    ("how", "field of its own", fields_of(WaysJson) - fields_of(KnownJson)),
    ("how", "field of a command", fields_of(WayJson)),
    ("describe", "field", fields_of(DescriptionsJson)),
    ("resolve", "field", fields_of(ReferencesJson)),
    ("resume", "field", fields_of(ResumptionJson) | fields_of(ResumeJson)),
    ("handoff", "field", fields_of(HandoffJson)),
    ("export", "field", fields_of(ExportJson)),
    ("export", "field of a session", fields_of(PartJson) - SESSION),
    ("resolve", "field of a candidate", fields_of(CandidateJson)),
    ("status", "field", fields_of(StatusJson)),
    ("status", "field of a transaction", fields_of(TransactionJson)),
    ("workstations", "field", fields_of(WorkstationsJson)),
    ("audit", "field", fields_of(AuditJson)),
    ("watch", "field", fields_of(FileEventJson, FailureEventJson)),
    ("plugins", "field", fields_of(PluginJson)),
    ("config", "field", fields_of(ConfigJson)),
]
#: The rows that name the fields of what a field holds.
ROWS: list[tuple[str, str, set[str]]] = [
    ("index", "losses", fields_of(FileProblemJson)),
    ("index", "errors", fields_of(FileProblemJson)),
    ("index", "lookedIn", fields_of(RootJson)),
    ("index", "unreadAgents", fields_of(UnreadRootJson)),
    ("search", "index", fields_of(IndexJson) | fields_of(SourceJson)),
    ("search", "copies", fields_of(CopyJson)),
    ("search", "passages", fields_of(PassageJson)),
    ("search", "words", fields_of(WordJson)),
    ("search", "chunks", fields_of(ScoredChunkJson)),
    ("who", "people", fields_of(PersonJson)),
    ("who", "sessions", fields_of(InvolvedJson)),
    ("digest", "groups", fields_of(DigestGroupJson)),
    ("digest", "sessions", fields_of(DigestEntryJson)),
    ("blame", "runs", fields_of(BlamedRunJson)),
    ("blame", "writers", fields_of(WriterJson)),
    ("blame", "sessions", fields_of(BlamedSessionJson) - SESSION),
    ("stats", "total", fields_of(TallyJson)),
    ("ask", "citations", fields_of(CitationJson)),
    ("ask", "attempts", fields_of(AttemptJson)),
    ("ask", "passages", fields_of(ExcerptJson)),
    ("fix", "steps", fields_of(StepJson) | {"edit", "command"}),
    ("fix", "ended", fields_of(SeenJson)),
    ("how", "variants", fields_of(VariantJson)),
    ("how", "directories", fields_of(DirectoryCountJson)),
    ("how", "failures", fields_of(FailedRunJson)),
    ("describe", "sessions", fields_of(DescriptionJson)),
    ("handoff", "asked", fields_of(PointJson)),
    ("status", "failedFiles", fields_of(UnreadableFileJson)),
    ("status", "agents", fields_of(AgentJson)),
    ("status", "lookedIn", fields_of(RootJson)),
    ("status", "unreadAgents", fields_of(UnreadRootJson)),
    ("status", "server", fields_of(ServerJson)),
    ("workstations", "workstations", fields_of(WorkstationJson)),
    ("share", "rules", fields_of(RuleJson)),
    ("share", "default", fields_of(VisibilityJson)),
    ("share", "changes", fields_of(ChangeJson)),
    ("audit", "secrets", fields_of(SecretJson)),
    ("audit", "lookedFor", fields_of(SecretKindJson)),
    ("config", "describe", fields_of(DescribeJson)),
    ("config", "configFile", fields_of(ConfigFileJson)),
    ("config", "sources", fields_of(ConfigSourceJson)),
    ("config", "backend", fields_of(BackendJson)),
    ("config", "redact", fields_of(RedactJson)),
]


def named(value: object) -> str:
    """The words of a case in its name; a set has no order."""
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("command", "head", "declared"), TABLES, ids=named)
def test_a_table_of_fields_has_the_declared_ones_and_no_other(command: str, head: str, declared: set[str]) -> None:
    assert table(head, SECTIONS[command]) == declared


@pytest.mark.parametrize(("command", "field", "declared"), ROWS, ids=named)
def test_a_row_names_the_declared_fields_of_what_its_field_holds(command: str, field: str, declared: set[str]) -> None:
    assert names_in_row(field, SECTIONS[command]) == declared


def test_the_fields_of_a_session_and_of_the_rules_for_sharing_are_the_declared_ones() -> None:
    assert fields(part("Fields of a session")) == SESSION
    assert fields(SECTIONS["share"]) == fields_of(SharingJson, ChangesJson)
    assert fields_of(TranscriptJson) == SESSION | {"summary", "index", "chunks"}
    assert "`summary`" in SECTIONS["show"]
    assert "`chunks`" in SECTIONS["show"]
    (row,) = re.findall(r"^\| `contextBefore`, `contextAfter` \| (.*) \|$", SECTIONS["search"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == fields_of(WindowItemJson)
    (row,) = re.findall(r"^\| `references` \| (.*) \|$", SECTIONS["resolve"], re.MULTILINE)
    hints = get_type_hints(ReferenceJson)
    values = {value for name in ("status", "by") for value in re.findall(r"'(\w+)'", str(hints[name]))}
    assert set(re.findall(r"`(\w+)`", row)) == hints.keys() | values


def test_every_declared_object_is_on_the_page() -> None:
    """A new declaration needs a table or a row."""
    import sesame_core.rendering.schemas as package

    here = {name for name in globals() if name.endswith("Json")}
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    declared = {name for module in modules for name in vars(module) if name.endswith("Json")}
    parts = {"FreshnessJson", "RefreshJson", "ExcerptItemJson", "VersionedJson", "BriefBlamedJson", "BlameAnswerJson"}
    # The fields of a trace are those of its specification.
    declared -= {name for name in declared if vars(traces).get(name)} - {"VersionedJson"}
    assert declared - here == {*parts, "SessionPageJson", "ListedSessionJson", "ReadChunkJson"}  # parts of others


def test_the_states_of_a_description_are_documented() -> None:
    states = re.findall(r"^A `state` is (.*?)\.", SECTIONS["describe"], re.DOTALL | re.MULTILINE)[0]
    assert set(re.findall(r"`([\w ]+)`", states)) == {*get_args(State), "reason"}
    assert set(get_args(get_type_hints(DescriptionJson)["state"])) == set(get_args(State))


def test_the_fields_of_a_file_of_metadata_are_documented() -> None:
    page = (REPOSITORY / "docs" / "memory.md").read_text(encoding="utf-8")
    example = json.loads(re.findall(r"^```json\n(\{\n  \"sessionId.*?)^```", page, re.DOTALL | re.MULTILINE)[0])
    assert fields(page) == {*example, "parentSessionFile"} == set(files._FIELDS.values())
    for number in (files.NAME_CHARS, files.DESCRIPTION_CHARS, files.SUMMARY_CHARS, CONVERSATION_BYTES):
        assert f"{number:,} " in page


def test_the_example_of_an_event_has_its_fields() -> None:
    (example,) = re.findall(r"^```json\n(.*)\n```$", SECTIONS["watch"], re.MULTILINE)
    assert json.loads(example).keys() == fields_of(FileEventJson)


# -- examples ---------------------------------------------------------------------------------------------


def examples() -> Iterator[Any]:
    """Each block of commands and their output, of the README and the page about commands."""
    for document in (REPOSITORY / "README.md", REPOSITORY / "docs" / "cli.md"):
        blocks = re.findall(r"^```console\n(\$ sesame .*?)^```", document.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for number, block in enumerate(blocks):
            yield pytest.param(block, id=f"{document.name}-{number}: {block.splitlines()[0]}")


@pytest.mark.parametrize("block", list(examples()))
def test_an_example_prints_what_is_shown(
    block: str, home: Path, utc: None, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resuming, "isdir", lambda _: True)  # the directories of the sample sessions
    commands = steps(block)
    if commands[0][0] != ["demo"]:
        shutil.copytree(sessions_dir() / "claude-code", home / ".claude" / "projects")
        shutil.copytree(sessions_dir() / "pi", home / ".pi" / "agent" / "sessions")
        if commands[0][0] != ["index"]:
            cli("index")
    for words, expected in commands:
        ran = cli(*words)
        # The agents of the sample sessions are not on this machine.
        told = [line for line in ran.err.splitlines() if not line.startswith("note: ")]
        assert (ran.code, told) == (0, [])
        out = re.sub(r"in \d+\.\d s", "in 0.0 s", ran.out).replace(str(home), "/home/ann").splitlines()
        # A long line may be shown by its beginning.
        out = [
            line if not shown.endswith(", …") else line[: len(shown) - 1] + "…"
            for line, shown in zip_longest(out, expected, fillvalue="")
        ]
        if expected:
            assert_printed(out, expected)
        else:
            assert out
