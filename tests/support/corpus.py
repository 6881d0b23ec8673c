"""Session files of real agents: a test's own, or those of the shared corpus with the same name."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sesame_core import Sesame

from .transcripts import (
    CLAUDE_ID,
    everything,
    found,
    library,
)

PITFALLS = "claude-code-synthetic/pitfalls"


#: Writes a test's own input into a directory.
Own = Callable[[Path], object]


class Case:
    """One kind of input: the test's own, or that of the shared corpus."""

    def __init__(self, kind: str, place: Path, shared: Path | None) -> None:
        self.is_shared = shared is not None
        self._shared = shared
        self._place = place
        self._kind = kind

    def input(self, name: str, own: Own) -> Path:
        """Return a directory with the input; its files may be changed."""
        target = self._place / "in"
        if self._shared is None:
            target.mkdir()
            own(target)
            return target
        source = self._shared / "corpus" / name
        if not source.exists():
            pytest.skip(f"the shared corpus has no {name}")
        if source.is_file():
            target.mkdir()
            shutil.copyfile(source, target / source.name)
        else:
            shutil.copytree(source, target, copy_function=shutil.copyfile)
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return target

    @contextmanager
    def indexed(self, name: str, own: Own, *, parser: str = "claude-code") -> Iterator[Sesame]:
        """Index the input without an error; its report is `case.report`."""
        root = self.input(name if "/" in name else f"{PITFALLS}/{name}", own)
        with library(root, self._place / "data", parser=parser) as sesame:
            self.report = sesame.index()
            assert self.report.errors == []
            yield sesame
            assert sesame.index().changed == 0


def only(sesame: Sesame, word: str) -> str:
    """Return the id of the only session that has a word."""
    (session,) = found(sesame.search(word))
    return session


def roles(sesame: Sesame, word: str) -> list[str | None]:
    """Return who said a word."""
    return [chunk.role for chunk in everything(sesame) if word in chunk.text]


def name(session: str = CLAUDE_ID) -> str:
    return f"{session}.jsonl"
