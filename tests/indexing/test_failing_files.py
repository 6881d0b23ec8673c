"""One file that fails is named, and harms no other."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.config.model import Selection
from sesame_core.errors import BackendError, ParseError, SesameError
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.provider import Provider
from sesame_core.types.transcript import Message

from .bench import Bench, counts


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ParseError("x", "no header", line=3), "no header"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ZeroDivisionError("by zero"), "the parser 'notes' failed: ZeroDivisionError('by zero')"),
        (sqlite3.DatabaseError("odd"), "the parser 'notes' failed: DatabaseError('odd')"),
        (RecursionError("too deep"), "the parser 'notes' failed: RecursionError('too deep')"),
        (SesameError("no such thing"), "no such thing"),
    ],
)
def test_one_file_that_fails_is_named_and_the_run_continues(bench: Bench, error: Exception, message: str) -> None:
    """Whatever a third-party parser raises, in the middle of a file."""
    bench.write("a.note", "fox")
    path = bench.write("b.note", "elk")
    bench.write("c.note", "dog")
    bench.notes.failures["b.note"] = error
    report = bench.index()
    assert counts(report) == {"added": 2}
    (problem,) = report.errors
    assert (problem.path, problem.message) == (str(path), message)
    assert problem.line == getattr(error, "line", None)
    assert bench.found("fox dog") == {"a", "c"}
    assert bench.found("elk") == set()
    assert bench.sesame.status().failed == ((str(path), message),)


def test_a_file_that_fails_keeps_its_earlier_content_and_is_tried_again(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", "elk")
    bench.notes.failures["a.note"] = ValueError("not today")
    for _ in range(2):
        report = bench.index()
        assert len(report.errors) == 1
        assert counts(report) == {}
        assert bench.texts("a") == ["fox"]
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.sesame.status().failed == ()


def test_a_file_that_failed_at_first_is_added_when_it_can_be_read(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = OSError(5, "Input/output error")
    assert counts(bench.index()) == {}
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"added": 1}
    assert bench.found("fox") == {"a"}


def test_a_file_that_failed_vanished_and_came_back_is_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = OSError(5, "Input/output error")
    bench.index()
    aside = path.rename(path.with_suffix(".aside"))
    bench.index()
    aside.rename(path)
    bench.notes.failures.clear()
    bench.index()
    assert bench.found("fox") == {"a"}


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), KeyError("type")])
def test_a_file_that_cannot_be_checked_is_an_error_not_silence(bench: Bench, error: Exception) -> None:
    path = bench.write("a.note", "fox")
    bench.write("b.note", "fox")
    bench.notes.riddles["a.note"] = error
    report = bench.index()
    assert counts(report) == {"added": 1}
    (problem,) = report.errors
    assert problem.path == str(path)
    assert problem.message in ("Permission denied", "the parser 'notes' failed: KeyError('type')")
    bench.notes.riddles.clear()
    assert counts(bench.index()) == {"added": 1, "unchanged": 1}


def test_a_file_that_no_source_can_check_is_reported_once(bench: Bench) -> None:
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    for parser in (bench.notes, bench.others):
        parser.riddles["a.note"] = PermissionError(13, "Permission denied")
    assert len(bench.index().errors) == 1


def test_a_name_that_is_not_unicode_is_an_error_of_that_file(bench: Bench) -> None:
    bench.write("good.note", "fox")
    odd = os.fsencode(bench.root) + b"/caf\xe9.note"
    try:
        with open(odd, "wb") as file:
            file.write(bench.lines({"session": "odd"}, "fox"))
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    report = bench.index()
    assert counts(report) == {"added": 1}
    (problem,) = report.errors
    assert problem.path.endswith("caf\\xe9.note")
    assert "UTF-8" in problem.message
    problem.path.encode()
    assert bench.found("fox") == {"good"}


def test_a_formatter_that_fails_is_not_taken_for_the_parser(bench: Bench) -> None:
    class Clumsy:
        def format(self, message: Message) -> list[Any]:
            raise KeyError("text")

    clumsy = Provider(name="clumsy", summary="test", create=lambda _: Clumsy())
    bench.plugins.register(SimpleNamespace(sesame_register_formatters=hookimpl(lambda: [clumsy])), "clumsy")
    source = dataclasses.replace(bench.source(), formatter=Selection(name="clumsy"))
    bench.use(source)
    bench.write("a.note", "fox")
    (problem,) = bench.index().errors
    assert problem.message == "the chunk formatter failed: KeyError('text')"


def test_a_message_of_a_session_without_a_session_event_is_the_parsers_fault(bench: Bench) -> None:
    bench.write("a.note", {"say": "fox", "in": "stranger"})
    (problem,) = bench.index().errors
    assert problem.message == "the parser 'notes' did not introduce session 'stranger'"


def test_an_irregular_file_is_not_opened(bench: Bench) -> None:
    """Opening a named pipe would wait for a writer for ever."""
    os.mkfifo(bench.path("pipe.note"))
    bench.path("directory.note").mkdir()
    (bench.root / "link.note").symlink_to(bench.root / "pipe.note")
    report = bench.index()
    assert counts(report) == {}
    assert report.errors == []


def test_a_failing_index_ends_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no fault of the file that was being read."""
    bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = BackendError("the disk is full")
    with pytest.raises(BackendError, match="the disk is full"):
        bench.index()
