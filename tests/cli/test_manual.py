"""The manual page is what the declarations say, and man can read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sesame_core.cli.commands import commands
from sesame_core.cli.manual import manual

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sesame.1"


def test_the_page_is_that_of_the_declarations() -> None:
    assert PAGE.read_text(encoding="utf-8") == manual(), "renew it: python -m sesame_core.cli.manual > docs/sesame.1"


def test_every_command_and_option_is_on_the_page() -> None:
    text = manual().replace(r"\-", "-")
    for one in commands():
        section = re.split(r"^\.S[SH] ", text.partition(f'.SS "sesame {one.name} ')[2], flags=re.MULTILINE)[0]
        assert section, one.name
        for option in one.options:
            assert option.flag in section, (one.name, option.flag)


def test_no_line_of_a_text_is_a_request() -> None:
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi"}
    requests = {line.split(" ")[0] for line in manual().splitlines() if line.startswith((".", "'"))}
    assert requests <= known


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff, which formats manual pages, is not installed")
def test_it_is_formatted_without_a_warning() -> None:
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(PAGE)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "sesame search" in re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
