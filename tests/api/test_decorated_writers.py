"""The writers that the core puts around a backend's have the abilities of that one, no more and no fewer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite.backend import SqliteBackend
from sesame_core import Config, Redaction, Selection, Sesame, Source
from sesame_core.config.model import Describing
from sesame_core.plugin import backend
from sesame_core.plugin.backend import Annotating, IndexWriter
from sesame_core.privacy.redacting_writer import redacting_writer
from sesame_core.privacy.redactor import Redactor
from sesame_core.sharing.inheritance import VisibilityResolver
from sesame_core.sharing.policy import Rehearsal
from sesame_core.sharing.private_files import PrivateFiles
from sesame_core.sharing.rules import Sharing
from sesame_core.sharing.visibility_writer import visibility_writer
from sesame_core.testing import a_chunk, a_file, a_session
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Session

ABILITIES = [protocol for protocol in vars(backend).values() if getattr(protocol, "_is_runtime_protocol", False)]
TOKEN = "ghp_" + "0A1b2C3d4E5f6G7h8I9j" + "0K1l2M3n4O5p6Q7r"


class Plain:
    """A writer with the required methods alone, whatever the one behind it can do."""

    def __init__(self, writer: IndexWriter) -> None:
        for name in vars(IndexWriter):
            if not name.startswith("_"):
                setattr(self, name, getattr(writer, name))


def redacting(writer: IndexWriter) -> IndexWriter:
    return redacting_writer(writer, Redactor(b"key", Redaction()))


def sharing(writer: IndexWriter) -> IndexWriter:
    kin = VisibilityResolver(Sharing((), "shared"), lambda _: (), lambda: ())
    return visibility_writer(writer, kin, PrivateFiles(None))


def both(writer: IndexWriter) -> IndexWriter:
    return redacting(sharing(writer))


@pytest.mark.parametrize("wrap", [redacting, sharing, both])
@pytest.mark.parametrize("writer", [Rehearsal(), Plain(Rehearsal())], ids=lambda writer: type(writer).__name__)
def test_a_decorated_writer_has_exactly_the_abilities_of_what_it_decorates(
    wrap: Callable[[IndexWriter], IndexWriter], writer: Any
) -> None:
    assert ABILITIES
    assert isinstance(writer, Annotating) == (type(writer) is Rehearsal)
    decorated = wrap(writer)
    for ability in ABILITIES:
        assert isinstance(decorated, ability) == isinstance(writer, ability), ability.__name__


def test_positions_are_returned_by_the_id_that_was_given_though_another_one_is_stored() -> None:
    class Counting(Rehearsal):
        def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> backend.Positions:
            chunks = [item for item in content if isinstance(item, Chunk)]
            return {chunk.session_id: range(len(chunks)) for chunk in chunks}

    content = a_session(a_chunk("fox"), a_chunk("elk"), id=f"of {TOKEN}")
    assert redacting(Counting()).replace(a_file(), content) == {f"of {TOKEN}": range(2)}
    assert TOKEN not in str(content)


def test_notes_wait_for_a_backend_that_stores_them_when_secrets_are_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteBackend.writer

    @contextmanager
    def plain(self: SqliteBackend) -> Iterator[Plain]:
        with writer(self) as opened:
            yield Plain(opened)

    root, metadata = tmp_path / "sessions", tmp_path / "metadata"
    root.mkdir()
    metadata.mkdir()
    header = {"type": "session", "version": 3, "id": "0f3c", "timestamp": "2026-05-08T12:00:00.000Z", "cwd": "/w"}
    message = {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": "a fox"}}
    (root / "s.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(message) + "\n")
    config = Config(
        sources=(Source(parser=Selection(name="pi"), path=root),),
        backend=Selection(name="sqlite", options={"directory": str(tmp_path / "index")}),
        redaction=Redaction(enabled=True),
        describe=Describing(directory=metadata),
    )
    with Sesame(config) as sesame:
        sesame.index()
        texts = ("sessionFile", "name", "description", "summary", "cwd", "createdAt", "updatedAt", "model")
        notes = {"sessionId": "0f3c", "tags": [], "lastIndexedLeafId": "m1", **dict.fromkeys(texts, "zucchini")}
        (metadata / "0f3c.meta.json").write_text(json.dumps(notes))
        with monkeypatch.context() as patch:
            patch.setattr(SqliteBackend, "writer", plain)
            assert sesame.index().described == 0
        assert sesame.index().described == 1
        assert [hit.session.id for hit in sesame.search("zucchini").hits] == ["0f3c"]
