"""`sesame import`: whole files of the native format, or none of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "native-format.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]
ID = "b3f0c1de-7a52-4c0e-9d6b-2f1f3a5c7e11"

Cli = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The example of the page, in a file of another name."""
    path = tmp_path / "converted.txt"
    path.write_text(EXAMPLE, encoding="utf-8")
    return path


@pytest.fixture
def directory(home: Path) -> Path:
    """Where sessions end up."""
    return home / ".local/share/sesame/sessions"


def test_a_session_is_copied_indexed_and_found(file: Path, directory: Path, cli: Cli) -> None:
    ran = cli("import", file)
    assert (ran.code, ran.out, ran.err) == (0, f"imported: {ID}, 6 chunks\n", "")
    assert (directory / f"{ID}.jsonl").read_bytes() == file.read_bytes()
    assert [entry.name for entry in directory.iterdir()] == [f"{ID}.jsonl"]
    file.unlink()
    (result,) = cli("search", "linker", "--json").json["results"]
    assert (result["sessionId"], result["source"]) == (ID, "researcher")
    assert result["name"] == "Slow linking in the orders build"


def test_importing_again_changes_nothing(file: Path, directory: Path, cli: Cli) -> None:
    cli("import", file)
    before = (directory / f"{ID}.jsonl").stat()
    assert (ran := cli("import", file, directory / f"{ID}.jsonl")).code == 0
    assert ran.out == f"already there: {ID}\n" * 2
    assert (directory / f"{ID}.jsonl").stat() == before
    assert cli("index", "--json").json["unchanged"] == 1


def test_another_content_under_the_same_id_is_refused(file: Path, directory: Path, cli: Cli) -> None:
    cli("import", file)
    changed = file.with_name("changed.jsonl")
    changed.write_text(EXAMPLE.replace("ten minutes", "an hour"), encoding="utf-8")
    ran = cli("import", changed)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {changed}: {directory / ID}.jsonl is another session with the same id\n"
    assert (directory / f"{ID}.jsonl").read_bytes() == file.read_bytes()
    assert len(list(directory.iterdir())) == 1


def test_an_imported_session_can_be_written_on(file: Path, cli: Cli) -> None:
    from sesame_core import Runtime, Sesame

    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    cli("import", file)
    with Sesame() as sesame:
        assert Runtime(sesame).append_message(ID, "user", "and the badger?").position == 6


def record(**values: object) -> str:
    return json.dumps({"type": "message", "role": "user", "text": "hi", **values})


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        ([record(role="narrator")], 2, "unknown role"),
        ([record(), "{broken"], 3, "damaged"),
        ([record(), "[]"], 3, "not an object"),
        ([record(timestamp="noon")], 2, "invalid timestamp"),
        ([record(), '{"type": "title"}'], 3, "no title"),
    ],
)
def test_a_record_that_would_be_left_out_is_an_error_with_its_line(
    lines: list[str], line: int, message: str, file: Path, directory: Path, cli: Cli
) -> None:
    file.write_text("\n".join([EXAMPLE.splitlines()[0], *lines, record()]) + "\n")
    ran = cli("import", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {file}:{line}: the record cannot be imported: {message}\n"
    assert list(directory.iterdir()) == []


def test_a_record_over_the_limit_is_copied_whole_and_found_by_its_end(file: Path, directory: Path, cli: Cli) -> None:
    file.write_text("\n".join([EXAMPLE.splitlines()[0], record(text="long words " * 110_000 + "narwhal")]) + "\n")
    assert cli("import", file).code == 0
    assert (directory / f"{ID}.jsonl").read_bytes() == file.read_bytes()
    assert cli("search", "narwhal", "--json").json["resultCount"] == 1


def test_a_file_that_is_cut_short_is_an_error(file: Path, cli: Cli) -> None:
    file.write_text(EXAMPLE.rstrip()[:-9])
    ran = cli("import", file)
    assert (ran.code, ran.err) == (1, f"sesame: {file}:6: the record cannot be imported: incomplete\n")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", 'the first record must be {"type": "sesame-session", …}'),
        ('\n{"type": "sesame-session"}', 'the first record must be {"type": "sesame-session", …}'),
        ('{"type": "session", "version": 3, "id": "x"}', 'the first record must be {"type": "sesame-session", …}'),
        ('{"type": "sesame-session", "version": 1, "agent": "owl"}', "the header has no id"),
        ('{"type": "sesame-session", "version": 9, "id": "x", "agent": "owl"}', "version 9 of the format is newer"),
        (
            '{"type": "sesame-session", "version": 1, "id": "../x", "agent": "owl"}',
            "the id must be at most 200 letters",
        ),
    ],
)
def test_a_file_without_a_header_that_can_be_used_is_an_error(
    header: str, message: str, file: Path, directory: Path, cli: Cli
) -> None:
    file.write_text(header)
    ran = cli("import", file)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"sesame: {file}:1: {message}")
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_name_without_a_file_is_an_error(name: str, tmp_path: Path, cli: Cli) -> None:
    ran = cli("import", tmp_path / name)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"sesame: {tmp_path / name}: ")


def test_a_file_that_fails_stops_no_other(file: Path, tmp_path: Path, cli: Cli) -> None:
    ran = cli("import", tmp_path / "missing", file)
    assert ran.code == 1
    assert ran.out == f"imported: {ID}, 6 chunks\n"
    assert "No such file" in ran.err


def test_while_another_process_indexes_the_file_is_copied_and_the_answer_says_so(
    file: Path, directory: Path, cli: Cli
) -> None:
    from sesame_core import Sesame

    with Sesame() as sesame, sesame.writer():
        ran = cli("import", file)
    assert ran.code == 0
    assert ran.out.startswith(f"imported: {ID}; not indexed yet: the index is being written by")
    assert (directory / f"{ID}.jsonl").exists()
    assert cli("index", "--json").json["added"] == 1


def test_without_a_file_it_is_wrong_usage(cli: Cli) -> None:
    assert cli("import").code == 2


def test_an_import_is_private(file: Path, directory: Path, cli: Cli) -> None:
    os.chmod(file, 0o644)
    cli("import", file)
    assert (directory / f"{ID}.jsonl").stat().st_mode & 0o077 == 0
