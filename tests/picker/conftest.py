"""The picker on a terminal of its own."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .terminal import SESAME, Terminal


@pytest.fixture
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which a `claude` on the PATH writes its directory and its arguments."""
    told = home / "told"
    program = home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n{{ pwd; echo "$@"; }} > {told}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return told


@pytest.fixture
def start() -> Iterator[Callable[..., Terminal]]:
    """Start the picker on a terminal, with these arguments; it ends with the test."""
    with ExitStack() as stack:
        yield lambda *arguments, **more: stack.enter_context(Terminal([*SESAME, *arguments], **more))
