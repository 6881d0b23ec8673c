"""What a run reads, keeps, reports and leaves alone, over a real SQLite index."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sesame_core.errors import ParseError
from sesame_core.types.report import Progress
from sesame_core.types.transcript import Event

from .bench import Bench, counts

# -- which files are read, and how much of them ----------------------------------------------------------------


def test_a_new_file_is_added(bench: Bench) -> None:
    path = bench.write("a.note", "quick fox", "lazy dog")
    report = bench.index()
    assert counts(report) == {"added": 1}
    assert (report.chunks, report.bytes) == (2, path.stat().st_size)
    assert bench.found("fox") == {"a"}
    assert bench.texts("a") == ["quick fox", "lazy dog"]


@pytest.mark.seed("004", "INV-004")
def test_a_file_with_the_same_modification_time_and_size_is_not_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    time_before = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"fox", b"elk"))
    os.utime(path, ns=(time_before, time_before))
    report = bench.index()
    assert counts(report) == {"unchanged": 1}
    assert bench.notes.read == []
    assert bench.found("elk") == set()


def test_a_grown_file_is_read_from_where_it_grew(bench: Bench) -> None:
    before = bench.write("a.note", "fox").stat().st_size
    bench.index()
    after = bench.grow("a.note", "elk").stat().st_size
    report = bench.index()
    assert counts(report) == {"appended": 1}
    assert (report.chunks, report.bytes) == (1, after - before)
    assert bench.notes.read == ["a.note+"]
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.stored("a").session.message_count == 2


def test_a_touched_file_is_read_and_stays_as_it_was(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    bench.touch(path)
    report = bench.index()
    assert report.chunks == report.bytes == 0
    assert bench.texts("a") == ["fox"]
    assert counts(bench.index()) == {"unchanged": 1}


@pytest.mark.parametrize("text", ["elk", "elk " * 2000], ids=["shorter", "longer"])
def test_a_file_rewritten_in_place_is_replaced(bench: Bench, text: str) -> None:
    bench.write("a.note", "fox " * 10, "dog")
    bench.index()
    bench.write("a.note", text)
    report = bench.index()
    assert counts(report) == {"updated": 1}
    assert bench.notes.read == ["a.note"]
    assert bench.found("fox") == bench.found("dog") == set()
    assert bench.found("elk") == {"a"}


def test_a_file_rewritten_before_the_checkpoint_and_grown_is_replaced(bench: Bench) -> None:
    """Same beginning, another middle: the bytes before the checkpoint tell."""
    bench.write("a.note", "x" * 10_000, "fox")
    bench.index()
    bench.write("a.note", "x" * 10_000, "elk", "dog")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a")[1:] == ["elk", "dog"]


def test_an_unfinished_last_line_is_read_when_it_is_finished(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    whole = bench.lines("elk")
    path.write_bytes(path.read_bytes() + whole[:8])
    bench.index()
    path.write_bytes(path.read_bytes() + whole[8:])
    bench.touch(path)
    report = bench.index()
    assert counts(report) == {"appended": 1}
    assert report.skipped == {}
    assert bench.texts("a") == ["fox", "elk"]


def test_a_grown_file_that_turns_out_to_be_excluded_adds_nothing_more(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", {"session": "a", "cwd": "/w/private"}, "elk")
    assert bench.index().errors == []
    assert bench.found("fox") == bench.found("elk") == set()
    assert bench.sesame.status().sessions == 0


def test_a_session_with_a_late_directory_is_excluded_too(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    late = [{"session": name, "cwd": "/w/private"} for name in ("a", "b")]
    bench.write("a.note", "fox", {"session": "b"}, "fox", {"session": "c"}, "fox", *late, session="a")
    report = bench.index()
    assert (report.errors, report.chunks) == ([], 1)
    assert bench.found("fox") == {"c"}


def test_what_was_excluded_by_its_directory_is_read_whole_when_its_file_grows(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox", {"session": "c", "cwd": "/w/public"}, "elk", cwd="/w/private/app")
    bench.index()
    bench.grow("a.note", {"session": "a"}, "fox")
    bench.index()
    assert bench.found("fox") == set()
    assert bench.found("elk") == {"c"}


def test_a_newer_parser_reads_everything_again(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.write("b.note", "elk")
    bench.index()
    bench.notes.version = 2
    assert counts(bench.index()) == {"updated": 2}
    assert sorted(bench.notes.read) == ["a.note", "b.note"]
    assert counts(bench.index()) == {"unchanged": 2}


def test_a_parser_that_cannot_go_on_reads_the_whole_file(bench: Bench) -> None:
    bench.notes.parse_tail = lambda path, checkpoint: None  # type: ignore[assignment, method-assign]
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", "elk")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a") == ["fox", "elk"]


def test_an_empty_file_and_one_without_sessions_are_known_and_not_read_again(bench: Bench) -> None:
    bench.path("empty.note").write_bytes(b"")
    bench.path("blank.note").write_bytes(b"\n\n")
    report = bench.index()
    assert counts(report) == {"added": 2}
    assert counts(bench.index()) == {"unchanged": 2}
    assert bench.notes.read == []


def test_a_file_no_parser_knows_is_left_alone(bench: Bench) -> None:
    bench.path("readme.txt").write_text("fox")
    report = bench.index()
    assert counts(report) == {}
    assert report.errors == []


def test_an_empty_root_is_not_an_error(bench: Bench) -> None:
    report = bench.index()
    assert counts(report) == {}
    assert (report.errors, report.absent_roots) == ([], [])


# -- files that vanish -----------------------------------------------------------------------------------------


def test_the_sessions_of_a_vanished_file_are_kept_and_marked_until_it_is_back(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    aside = path.rename(path.with_suffix(".aside"))
    report = bench.index()
    assert counts(report) == {"missing": 1}
    assert bench.found("fox") == {"a"}
    gone_since = bench.stored("a").missing_since
    assert gone_since is not None
    assert bench.sesame.status().missing == 1

    assert counts(bench.index()) == {"missing": 1}
    assert bench.stored("a").missing_since == gone_since

    aside.rename(path)
    assert counts(bench.index()) == {"unchanged": 1}
    assert bench.notes.read == []
    assert bench.stored("a").missing_since is None


def test_a_vanished_file_that_comes_back_changed_is_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    path.unlink()
    bench.index()
    bench.write("a.note", "elk")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.stored("a").missing_since is None
    assert bench.found("fox") == set()


def test_a_missing_root_is_not_a_mass_deletion(bench: Bench) -> None:
    for name in "abc":
        bench.write(f"{name}.note", "fox")
    bench.index()
    bench.root.rename(bench.root.with_name("unmounted"))
    report = bench.index()
    assert counts(report) == {}
    assert report.absent_roots == [str(bench.root)]
    assert report.errors == []
    assert bench.found("fox") == {"a", "b", "c"}
    assert bench.sesame.status().missing == 0


def test_what_was_vanished_with_an_error_is_only_missing(bench: Bench) -> None:
    bench.write("never.note", "fox")
    bench.notes.failures["never.note"] = ParseError("never.note", "it is odd")
    bench.index()
    assert len(bench.sesame.status().failed) == 1
    bench.path("never.note").unlink()
    assert counts(bench.index()) == {"missing": 1}
    assert bench.sesame.status().failed == ()


# -- what is left out ------------------------------------------------------------------------------------------


def test_a_file_is_excluded_by_a_part_of_its_path(bench: Bench) -> None:
    bench.write("private/a.note", "fox")
    bench.write("public/b.note", "fox")
    bench.use(bench.source(exclude=["private"]))
    assert counts(bench.index()) == {"added": 1}
    assert bench.notes.read == ["b.note"]
    assert bench.found("fox") == {"b"}


def test_a_session_is_excluded_by_its_directory(bench: Bench) -> None:
    bench.write("a.note", "fox", {"session": "c", "cwd": "/w/public"}, "fox", cwd="/w/private/app")
    bench.use(bench.source(exclude=["/w/private"]))
    bench.index()
    assert bench.found("fox") == {"c"}


def test_the_excluded_session_stays_out_when_its_file_grows(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox", cwd="/w/private/app")
    bench.index()
    bench.grow("a.note", "elk")
    report = bench.index()
    assert report.errors == []
    assert bench.found("fox") == bench.found("elk") == set()


def test_what_a_newly_excluded_file_said_leaves_the_index(bench: Bench) -> None:
    bench.write("private/a.note", "fox")
    bench.write("public/b.note", "fox")
    bench.index()
    bench.use(bench.source(exclude=["private"]))
    bench.index()
    assert bench.found("fox") == {"b"}
    assert bench.sesame.status().chunks == 1

    bench.use(bench.source())
    bench.index()
    assert bench.found("fox") == {"a", "b"}


def test_what_a_newly_excluded_directory_said_leaves_the_index(bench: Bench) -> None:
    bench.write("a.note", "fox", cwd="/w/private/app")
    bench.write("b.note", "fox", cwd="/w/public")
    bench.index()
    bench.use(bench.source(exclude=["/w/private"]))
    bench.index()
    assert bench.found("fox") == {"b"}
    assert bench.sesame.status().chunks == 1
    assert counts(bench.index()) == {"unchanged": 2}

    bench.use(bench.source())
    assert counts(bench.index()) == {"updated": 2}
    assert bench.found("fox") == {"a", "b"}


@pytest.mark.parametrize("where", ["parser", "formatter"])
def test_changed_options_read_a_sources_files_again_and_no_others(where: str, bench: Bench) -> None:
    bench.write("one/a.note", "fox " * 50)
    bench.write("two/b.note", "fox " * 50)
    one, two = bench.source(path=bench.root / "one"), bench.source(path=bench.root / "two")
    bench.use(one, two)
    bench.index()
    options = {"parser": {"shout": True}, "formatter": {"call_limit": 100}}[where]
    changed = dataclasses.replace(two, **{where: dataclasses.replace(getattr(two, where), options=options)})
    bench.use(one, changed)
    assert counts(bench.index()) == {"unchanged": 1, "updated": 1}
    assert counts(bench.index()) == {"unchanged": 2}


# -- order and time --------------------------------------------------------------------------------------------


def test_older_files_are_read_first(bench: Bench) -> None:
    for name in ("b", "a", "c"):
        bench.write(f"{name}.note", "fox")
    bench.index()
    assert bench.notes.read == ["b.note", "a.note", "c.note"]


def test_newer_files_are_read_first_when_the_time_is_short(bench: Bench) -> None:
    for name in ("b", "a", "c"):
        bench.write(f"{name}.note", "fox")
    bench.index(seconds=60)
    assert bench.notes.read == ["c.note", "a.note", "b.note"]


def test_no_file_is_begun_after_the_deadline_and_the_rest_is_pending(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        bench.write(f"{name}.note", "fox")
    parse, now = bench.notes.parse, time.monotonic()
    clock = [now]

    def slow(path: Path) -> Iterator[Event]:
        clock[0] += 6
        return parse(path)

    monkeypatch.setattr(bench.notes, "parse", slow)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    report = bench.index(seconds=10)
    assert counts(report) == {"added": 2, "pending": 1}
    assert bench.found("fox") == {"b", "c"}
    assert counts(bench.index(seconds=10)) == {"added": 1, "unchanged": 2}


def test_progress_is_reported_after_each_file(bench: Bench) -> None:
    sizes = [bench.write(f"{name}.note", "fox").stat().st_size for name in "ab"]
    told: list[Progress] = []
    bench.index(on_progress=told.append)
    assert [(p.files_done, p.files_total, p.chunks) for p in told] == [(1, 2, 1), (2, 2, 2)]
    assert [(p.bytes_done, p.bytes_total) for p in told] == [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))]
    assert told[0].path == str(bench.path("a.note"))


# -- the report ------------------------------------------------------------------------------------------------


def test_a_record_that_was_lost_is_reported_with_its_line(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    path.write_bytes(path.read_bytes() + b'{"say": broken\n[1]\n' + bench.lines("elk"))
    report = bench.index()
    assert report.skipped == {"damaged": 1, "not an object": 1}
    assert [(p.path, p.line, p.message) for p in report.losses] == [
        (str(path), 3, "damaged"),
        (str(path), 4, "not an object"),
    ]
    assert report.errors == []
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.sesame.status().skipped == {"damaged": 1, "not an object": 1}

    with path.open("ab") as file:
        file.write(b"{]\n")
    bench.touch(path)
    report = bench.index()
    assert report.skipped == {"damaged": 1}
    assert [p.line for p in report.losses] == [6]
    assert bench.sesame.status().skipped == {"damaged": 2, "not an object": 1}


def test_many_losses_are_counted_and_some_are_listed(bench: Bench) -> None:
    for name in "ab":
        path = bench.write(f"{name}.note", "fox")
        path.write_bytes(path.read_bytes() + b"1\n" * 80)
    report = bench.index()
    assert report.skipped == {"not an object": 160}
    assert len(report.losses) == 100


@pytest.mark.seed("001")
def test_the_time_of_the_sync_is_kept_only_for_runs_that_changed_something_without_errors(
    bench: Bench,
) -> None:
    bench.index()
    assert bench.sesame.status().last_sync is None

    bench.write("a.note", "fox")
    bench.write("bad.note", "elk")
    bench.notes.failures["bad.note"] = ValueError("odd")
    bench.index()
    assert bench.sesame.status().last_sync is None

    bench.notes.failures.clear()
    bench.index()
    first = bench.sesame.status().last_sync
    assert first is not None

    bench.index()
    assert bench.sesame.status().last_sync == first


# -- rebuilding and forgetting ---------------------------------------------------------------------------------


def test_a_rebuild_reads_everything_and_keeps_what_cannot_be_read_any_more(bench: Bench) -> None:
    bench.write("a.note", "fox")
    gone = bench.write("gone.note", "fox", title="kettle")
    bad = bench.write("bad.note", "fox")
    bench.index()
    gone.unlink()
    bench.touch(bad)
    bench.notes.failures["bad.note"] = ValueError("odd")
    report = bench.index(full=True)
    assert counts(report) == {"added": 1}
    assert len(report.errors) == 1
    assert bench.found("fox") == {"a", "gone", "bad"}
    assert bench.found("kettle") == {"gone"}
    assert bench.stored("gone").missing_since is not None
    assert bench.sesame.status().chunks == 3
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"updated": 1, "unchanged": 1, "missing": 1}


def test_a_forgotten_session_stays_forgotten(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.write("b.note", "fox")
    bench.index()
    assert [stored.session.id for stored in bench.sesame.forget("a")] == ["a"]
    assert bench.found("fox") == {"b"}
    bench.touch(path)
    assert bench.index().errors == []
    bench.grow("a.note", "fox again")
    assert bench.index().errors == []
    bench.index(full=True)
    assert bench.found("fox") == {"b"}
    assert path.exists()


def test_copies_and_subagents_of_a_forgotten_session_stay_forgotten(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.write("copy.note", "fox", session="a")
    bench.write("helper.note", "fox", session="a/helper", kind="subagent", parent_id="a")
    bench.write("other.note", "fox", session="ab")
    bench.index()
    assert len(bench.sesame.forget("a")) >= 2
    assert bench.found("fox") == {"ab"}
    bench.write("late-copy.note", "fox", session="a")
    bench.write("late-helper.note", "fox", session="a/late", kind="subagent", parent_id="a")
    bench.index()
    assert bench.found("fox") == {"ab"}
    bench.index(full=True)
    assert bench.found("fox") == {"ab"}


def test_after_every_kind_of_run_the_full_text_agrees_with_the_rows(on_sqlite: Bench) -> None:
    bench = on_sqlite
    steps: list[Callable[[], object]] = [
        lambda: bench.write("a.note", "fox", "elk"),
        lambda: bench.grow("a.note", "dog"),
        lambda: bench.write("a.note", "cat"),
        lambda: bench.write("b.note", "fox", title="kettle"),
        lambda: bench.path("a.note").unlink(),
        lambda: bench.sesame.forget("b"),
    ]
    for step in steps:
        step()
        bench.index()
        (name,) = [p for p in bench.data.iterdir() if p.suffix == ".sqlite"]
        db = sqlite3.connect(name, isolation_level=None)
        try:
            for table in ("chunks_fts", "heads_fts"):
                db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
        finally:
            db.close()
