"""Files of metadata: what is one, and how a changed one gets into the index without its session being read."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.errors import LockedError, ParseError, SesameError
from sesame_core.indexing.changes import detect_notes
from sesame_core.metadata.directory import id_of, scan
from sesame_core.metadata.files import Metadata, MetadataFiles
from sesame_core.metadata.storage import LARGEST
from sesame_core.types.index import NOTES, UNREAD, KnownFile
from sesame_core.types.transcript import Notes

BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
#: As another program might have written it.
VALUE = {
    "sessionId": BACKOFF,
    "sessionFile": "/home/ann/.pi/agent/sessions/a.jsonl",
    "name": "A name",
    "description": "A zucchini, and aubergines.",
    "summary": "## Goal\nRadishes, 日本語.",
    "tags": ["garden"],
    "cwd": "/w",
    "createdAt": "2026-11-01T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:00:00.000Z",
    "model": "a-model",
    "lastIndexedLeafId": "e7",
    "more": {"of": "another program's"},
}


@pytest.fixture
def files(home: Path) -> MetadataFiles:
    return MetadataFiles(home / ".local" / "share" / "sesame" / "sessions-meta")


@pytest.fixture
def indexed(demo_sessions: Path, cli: Callable[..., Any]) -> Path:
    assert cli("index").code == 0
    return demo_sessions


def put(files: MetadataFiles, text: str | None = None, session: str = BACKOFF, **changes: Any) -> Path:
    """Write a file as another program would, at a time of its own."""
    files.directory.mkdir(parents=True, exist_ok=True)
    path = files.path(session)
    last = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(json.dumps({**VALUE, "sessionId": session, **changes}) if text is None else text)
    if path.stat().st_mtime_ns == last:
        os.utime(path, ns=(last + 10**6, last + 10**6))
    return path


# -- one file -------------------------------------------------------------------------------------------------


def test_a_file_comes_back_as_it_was_written(files: MetadataFiles) -> None:
    metadata = Metadata(
        session_id="a/b",
        session_file="/x.jsonl",
        parent_session_file="/w.jsonl",
        name="fox \N{TEAPOT}",
        description="d\n日本",
        summary="s",
        tags=("a", "b"),
        cwd="/w",
        created_at="2026-11-01T10:00:00.000Z",
        updated_at="2026-11-02T10:00:00.000Z",
        model="m",
        last_indexed_leaf_id="e1",
    )
    with files.lock("a/b"):
        path = files.write(metadata)
    assert path.name == "a%2Fb.meta.json"
    assert id_of(str(path)) == "a/b"
    assert files.read("a/b") == metadata
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(files.directory.stat().st_mode) == 0o700
    assert set(json.loads(path.read_text())) == VALUE.keys() - {"more"} | {"parentSessionFile"}


def test_a_file_of_another_program_is_read_and_what_is_too_long_is_cut(files: MetadataFiles) -> None:
    put(files, name="n" * 500, description="d" * 5000, summary="s" * 20_000, tags=[*["t" * 100] * 40])
    found = files.read(BACKOFF)
    assert found is not None
    assert (len(found.name), len(found.description), len(found.summary)) == (120, 1200, 8000)
    assert (len(found.tags), len(found.tags[0])) == (12, 60)
    assert found.parent_session_file is None
    put(files, parentSessionFile=None)
    assert files.notes(BACKOFF) == Notes(
        name="A name", description="A zucchini, and aubergines.", summary="## Goal\nRadishes, 日本語.", tags=("garden",)
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("null", "it is not an object"),
        ("[" * 100_000, "it is nested too deeply"),
        (json.dumps({**VALUE, "tags": "garden"}), '"tags" must be a list of strings'),
        (json.dumps({**VALUE, "tags": [1]}), '"tags" must be a list of strings'),
        (json.dumps({**VALUE, "name": None}), '"name" must be a string'),
        (json.dumps({**VALUE, "parentSessionFile": 1}), '"parentSessionFile" must be a string'),
        (json.dumps({key: value for key, value in VALUE.items() if key != "model"}), '"model" must be a string'),
        (json.dumps({**VALUE, "sessionId": "other"}), "it is about session 'other'"),
        (json.dumps({**VALUE, "summary": "s" * LARGEST}), f"it is larger than {LARGEST} bytes"),
    ],
)
def test_a_file_that_is_none_says_why(text: str, problem: str, files: MetadataFiles) -> None:
    path = put(files, text)
    with pytest.raises(ParseError) as caught:
        files.read(BACKOFF)
    assert str(caught.value).startswith(f"{path}: is not valid metadata of its session, and counts as missing: ")
    assert problem in str(caught.value)
    assert files.notes(BACKOFF) is None


def test_bytes_that_are_not_text_are_not_metadata(files: MetadataFiles) -> None:
    put(files).write_bytes(b'{"name": "\xff"}')
    with pytest.raises(ParseError, match="can't decode"):
        files.read(BACKOFF)


def test_what_no_database_takes_is_left_out(files: MetadataFiles) -> None:
    put(files, name="a\0b \ud800")
    found = files.read(BACKOFF)
    assert found is not None
    assert found.name == "ab \N{REPLACEMENT CHARACTER}"


def test_a_directory_that_cannot_be_written_to_is_named(files: MetadataFiles) -> None:
    files.directory.parent.mkdir(parents=True)
    files.directory.write_text("a file")
    with pytest.raises(SesameError, match=f"cannot write to {files.directory}"), files.lock("a"):
        pass
    assert scan(files.directory) is None
    metadata = Metadata(
        **{name: "x" for name in Metadata.__slots__ if name not in ("tags", "parent_session_file")}, tags=()
    )
    with pytest.raises(SesameError, match="cannot be written"):
        files.write(metadata)


def test_two_never_hold_the_lock_of_one_session(files: MetadataFiles) -> None:
    with files.lock("a"):
        with pytest.raises(LockedError, match="session a is being described"), files.lock("a"):
            pass
        with files.lock("b"):
            pass
    with files.lock("a"):
        pass


def test_only_files_of_metadata_are_scanned(files: MetadataFiles) -> None:
    assert scan(files.directory) is None
    path = put(files)
    (files.directory / "notes.txt").write_text("x")
    (files.directory / f".{path.name}.new").write_text("x")
    (files.directory / f".{path.name}").write_text("x")
    assert scan(files.directory) == {str(path): path.stat().st_mtime_ns}


def is_unchanged(directory: Path, known: dict[str, KnownFile]) -> bool:
    """Tell whether a search would find that the index has the files as they are."""
    changes = detect_notes(directory, scan(directory), known)
    return changes.is_growth and not changes.read


def test_nothing_has_changed_when_the_index_knows_all_files_as_they_are(files: MetadataFiles) -> None:
    assert is_unchanged(files.directory, {})
    path = put(files)
    mtime = path.stat().st_mtime_ns
    known = (mtime, NOTES, 1, False)
    assert is_unchanged(files.directory, {str(path): known, "/s.jsonl": (1, "pi", 1, False)})
    for other in ({}, {str(path): (mtime, NOTES, 1, True)}, {str(path): (UNREAD, NOTES, 1, False)}):
        assert not is_unchanged(files.directory, other)
    assert not is_unchanged(files.directory, {str(path): known, "/gone.meta.json": known})
    path.unlink()
    assert not is_unchanged(files.directory, {str(path): known})
    files.directory.rmdir()
    assert is_unchanged(files.directory, {str(path): known}), "a directory that is gone is no mass deletion"


# -- in the index ---------------------------------------------------------------------------------------------


def names(sesame: Sesame, query: str) -> set[str]:
    return {hit.session.id for hit in sesame.search(query).hits}


def test_a_new_changed_or_deleted_file_changes_what_is_found_and_no_session_is_read(
    indexed: Path, files: MetadataFiles
) -> None:
    with Sesame() as sesame:
        assert sesame.index().described == 0
        path = put(files)
        report = sesame.refresh(60)
        assert (report.described, report.changed, report.bytes, report.errors) == (1, 0, 0, [])
        assert names(sesame, "zucchini") == names(sesame, "aubergine radish") == names(sesame, "日本") == {BACKOFF}
        assert sesame.get_session(BACKOFF).session.notes == files.notes(BACKOFF)
        again = sesame.index()
        assert (again.described, again.changed) == (0, 0)
        put(files, summary="of cress")
        assert sesame.refresh(60).described == 1
        assert (names(sesame, "cress"), names(sesame, "radish")) == ({BACKOFF}, set())
        path.unlink()
        assert sesame.refresh(60).described == 1
        assert names(sesame, "cress zucchini") == set()
        assert sesame.status().missing == 0
        put(files)
        assert sesame.refresh(60).described == 1
        assert names(sesame, "zucchini") == {BACKOFF}


def is_done(sesame: Sesame) -> bool:
    """Return whether a search would not write."""
    scanned = sesame._refreshing()._scan(60)
    assert scanned is not None
    found, _ = scanned
    return found.is_done


def test_a_search_that_finds_no_file_of_metadata_changed_does_not_write(indexed: Path, files: MetadataFiles) -> None:
    put(files)
    put(files, session="nobody")
    with Sesame() as sesame:
        assert sesame.index().described == 1
        assert is_done(sesame)
        put(files, model="another")
        assert not is_done(sesame)


def test_metadata_that_was_there_before_its_session_is_taken_in_with_it(
    demo_sessions: Path, files: MetadataFiles
) -> None:
    put(files)
    kept = {path: path.read_bytes() for path in (demo_sessions / ".claude").rglob("*.jsonl")}
    for path in kept:
        path.unlink()
    with Sesame() as sesame:
        assert sesame.index().described == 0
        for path, data in kept.items():
            path.write_bytes(data)
        sesame.index()
        assert names(sesame, "zucchini") == {BACKOFF}
        assert sesame.index(full=True).described == 0
        assert names(sesame, "zucchini") == {BACKOFF}
        assert is_done(sesame)


def test_a_session_that_is_read_again_keeps_its_notes(indexed: Path, files: MetadataFiles) -> None:
    put(files)
    with Sesame() as sesame:
        sesame.index()
        (path,) = {stored.path for stored in sesame._index.reader().find_sessions(BACKOFF)}
        text = Path(path).read_text()
        Path(path).write_text("\n" + text)
        assert sesame.index().updated == 1
        assert names(sesame, "zucchini") == {BACKOFF}


def test_an_invalid_file_is_reported_and_the_rest_continues(
    indexed: Path, files: MetadataFiles, cli: Callable[..., Any]
) -> None:
    put(files)
    cli("index")
    path = put(files, "{")
    ran = cli("index")
    assert ran.code == 1
    assert f"error: {path}: is not valid metadata of its session, and counts as missing: " in ran.out
    status = cli("status", "--json").json
    assert [failed["path"] for failed in status["failedFiles"]] == [str(path)]
    assert cli("search", "zucchini", "--json").json["resultCount"] == 0
    assert cli("search", "nix infrastructure", "--json").json["resultCount"] > 0
    put(files)
    assert cli("index").code == 0
    assert cli("status", "--json").json["failedFiles"] == []
    assert cli("search", "zucchini", "--json").json["resultCount"] == 1


def test_a_file_whose_name_is_not_utf_8_is_reported_and_the_rest_goes_on(
    indexed: Path, files: MetadataFiles, cli: Callable[..., Any]
) -> None:
    path = put(files)
    try:
        Path(f"{files.directory}/\udce9.meta.json").write_text("{}")
    except OSError:
        pytest.skip("the file system takes only names that are UTF-8")
    report = cli("index", "--json").json
    assert report["described"] == 1
    assert [(error["path"], error["message"]) for error in report["errors"]] == [
        (f"{path.parent}/\\xe9.meta.json", "its path is not UTF-8")
    ]


def test_a_directory_that_cannot_be_read_is_an_error_and_hinders_no_search(
    indexed: Path, files: MetadataFiles, cli: Callable[..., Any]
) -> None:
    shutil.rmtree(files.directory, ignore_errors=True)
    files.directory.symlink_to(files.directory.name)
    assert "matching" in cli("search", "nix").out
    ran = cli("index")
    assert ran.code == 1
    assert f"{files.directory}: Too many levels of symbolic links" in ran.out + ran.err


def test_files_of_metadata_count_as_no_sessions(indexed: Path, files: MetadataFiles, cli: Callable[..., Any]) -> None:
    before = cli("status", "--json").json
    put(files)
    put(files, session="nobody")
    assert cli("index").out.startswith("10 unchanged, 1 described; 0 chunks")
    after = cli("status", "--json").json
    assert {key: after[key] for key in ("sessions", "files", "messages", "chunks")} == {
        key: before[key] for key in ("sessions", "files", "messages", "chunks")
    }


def test_files_without_time_left_are_left_to_the_next_run(indexed: Path, files: MetadataFiles) -> None:
    put(files)
    with Sesame() as sesame:
        assert (sesame.index(seconds=0).pending, sesame.search("zucchini").hits) == (1, [])
        assert sesame.index().described == 1


def test_the_directory_is_where_the_configuration_says(indexed: Path, home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"describe": {"directory": "~/.pi/agent/sessions-meta"}}')
    put(MetadataFiles(home / ".pi" / "agent" / "sessions-meta"))
    assert cli("search", "zucchini", "--json").json["resultCount"] == 1


def test_a_word_that_is_only_in_the_notes_counts_as_found(
    indexed: Path, files: MetadataFiles, cli: Callable[..., Any]
) -> None:
    put(files)
    found = cli("search", "reconnectBackoff zucchini wombat", "--json").json
    assert found["results"][0]["sessionId"] == BACKOFF
    assert found["wordsNotFound"] == ["wombat"]
    only = cli("search", "zucchini", "--json").json
    assert (only["confidence"], only["weak"], only["wordsNotFound"]) == (1.0, False, [])
    assert only["results"][0]["matchedType"] is None
    assert "zucchini" in only["results"][0]["matchedSnippet"]


def test_a_reference_means_the_session_with_the_name_and_prints_its_summary(
    demo_sessions: Path, files: MetadataFiles, cli: Callable[..., Any]
) -> None:
    path = demo_sessions / ".pi" / "agent" / "sessions" / "untitled.jsonl"
    header = {"type": "session", "version": 3, "id": "untitled", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/w"}
    said = {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "hello"}}
    path.write_text(json.dumps(header) + "\n" + json.dumps(said) + "\n")
    put(files, session="untitled", name="Mending the fence", summary="The gate is crooked.")
    (reference,) = cli("resolve", "mending-the-fence", "--json").json["references"]
    assert (reference["status"], reference["by"], reference["session"]["sessionId"]) == ("found", "name", "untitled")
    assert "\nSummary: The gate is crooked.\n" in reference["text"]
    (listed,) = (one for one in cli("resolve", "--json").json["references"][0]["candidates"] if one["cwd"] == "/w")
    assert listed["reference"] == "mending-the-fence"
