"""The examples in docs/library.md run, one after the other, and the names on the page exist."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import sesame_core

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_every_example_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(BLOCKS) >= 7
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/library.md", "exec"), names)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "2 tool tool_result src/socket.ts:41:" in printed.out
    assert "no session has the id or name '01a06653'" in printed.out


def test_the_table_of_filters_has_every_field() -> None:
    table = PAGE.partition("| field of `Filters`")[2].partition("\n\n")[0]
    documented = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert documented == {field.name for field in dataclasses.fields(sesame_core.Filters)}


def test_what_the_examples_import_from_the_top_is_public() -> None:
    imported = {
        name
        for names in re.findall(r"^from sesame_core import (.+)$", PAGE, re.MULTILINE)
        for name in names.split(", ")
    }
    assert imported >= {"Sesame", "Filters", "Source"}
    assert imported <= set(sesame_core.__all__)
