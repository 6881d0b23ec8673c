"""Where a run finds files, and runs over some paths only."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.errors import ConfigError, SesameError
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.provider import Options, Provider

from .bench import Bench, Notes, counts

# -- where files are found -------------------------------------------------------------------------------------


def test_a_file_in_two_sources_belongs_to_the_first_that_knows_it(bench: Bench) -> None:
    bench.others.suffix = ".note"
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    assert counts(bench.index()) == {"added": 1}
    assert (bench.notes.read, bench.others.read) == (["a.note"], [])
    bench.use(bench.source("others"), bench.source("notes"))
    assert counts(bench.index()) == {"unchanged": 1}


def test_two_sources_share_a_root(bench: Bench) -> None:
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    bench.write("b.other", "fox")
    assert counts(bench.index()) == {"added": 2}
    assert (bench.notes.read, bench.others.read) == (["a.note"], ["b.other"])
    bench.path("a.note").unlink()
    assert counts(bench.index()) == {"unchanged": 1, "missing": 1}


def test_a_root_inside_another_is_read_once(bench: Bench) -> None:
    bench.write("deep/a.note", "fox")
    bench.use(bench.source(), bench.source(path=bench.root / "deep"))
    assert counts(bench.index()) == {"added": 1}
    assert counts(bench.index()) == {"unchanged": 1}


def test_links_are_followed_once_and_loops_end(bench: Bench) -> None:
    bench.write("real/a.note", "fox")
    (bench.root / "again").symlink_to(bench.root / "real", target_is_directory=True)
    (bench.root / "real" / "loop").symlink_to(bench.root, target_is_directory=True)
    (bench.root / "link.note").symlink_to(bench.root / "real" / "a.note")
    (bench.root / "broken.note").symlink_to(bench.root / "nowhere.note")
    assert counts(bench.index()) == {"added": 1}
    assert bench.stored("a").path == str(bench.root / "real" / "a.note")
    assert counts(bench.index()) == {"unchanged": 1}


def test_a_link_to_a_file_elsewhere_is_read_under_its_real_name(bench: Bench, tmp_path: Path) -> None:
    elsewhere = bench.write("a.note", "fox").rename(tmp_path / "a.note")
    (bench.root / "link.note").symlink_to(elsewhere)
    assert counts(bench.index()) == {"added": 1}
    assert bench.stored("a").path == str(elsewhere)
    assert counts(bench.index()) == {"unchanged": 1}


def test_a_root_that_is_a_file_or_a_link_is_read(bench: Bench, tmp_path: Path) -> None:
    path = bench.write("a.note", "fox")
    (tmp_path / "link").symlink_to(bench.root, target_is_directory=True)
    bench.use(bench.source(path=path), bench.source(path=tmp_path / "link"))
    assert counts(bench.index()) == {"added": 1}


# -- only some paths -------------------------------------------------------------------------------------------


def test_only_the_named_paths_are_scanned(bench: Bench) -> None:
    bench.write("one/a.note", "fox")
    second = bench.write("two/b.note", "fox")
    bench.write("two/c.note", "fox")
    assert counts(bench.index(second)) == {"added": 1}
    assert counts(bench.index(bench.root / "two")) == {"added": 1, "unchanged": 1}
    assert bench.found("fox") == {"b", "c"}
    second.unlink()
    assert counts(bench.index(bench.root / "one")) == {"added": 1}
    assert counts(bench.index(bench.root / "two")) == {"unchanged": 1, "missing": 1}


def test_a_path_above_a_root_reaches_into_it(bench: Bench) -> None:
    bench.write("deep/a.note", "fox")
    bench.write("deep/secret/b.note", "fox")
    bench.use(bench.source(path=bench.root / "deep", exclude=["secret"]))
    assert counts(bench.index(bench.root)) == {"added": 1}
    assert bench.found("fox") == {"a"}


def test_a_path_outside_all_sources_finds_its_parser(bench: Bench, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    copied.mkdir()
    header = {"type": "session", "version": 3, "id": "0f3c", "timestamp": "2026-05-08T12:00:00.000Z", "cwd": "/w"}
    message = {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": "pi fox"}}
    (copied / "p.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(message) + "\n")
    note = copied / "n.note"
    note.write_bytes(bench.lines({"session": "n"}, "note fox"))
    assert counts(bench.index(copied)) == {"added": 2}
    assert bench.found("fox") == {"0f3c", "n"}
    assert counts(bench.index(note)) == {"unchanged": 1}


def test_a_path_outside_all_sources_is_shown_to_a_third_partys_parser(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def create(options: Options) -> Notes:
        raise ConfigError("it needs an option")

    def broken() -> list[Provider[Any]]:
        return [Provider(name="broken", summary="test", create=create)]

    bench.plugins.register(SimpleNamespace(sesame_register_parsers=hookimpl(broken)), "broken")
    copied = tmp_path / "copied" / "c.other"
    copied.parent.mkdir()
    copied.write_bytes(bench.lines({"session": "c"}, "chat fox"))
    assert counts(bench.index(copied)) == {"added": 1}
    assert bench.others.read == ["c.other"]
    assert bench.found("fox") == {"c"}
    warned = f"{copied} is not shown to the parser 'broken': it needs an option"
    assert [record.message for record in caplog.records] == [warned]


def test_a_path_that_does_not_exist_is_reported(bench: Bench) -> None:
    with pytest.raises(SesameError, match="no such file"):
        bench.index(bench.root / "nowhere")
