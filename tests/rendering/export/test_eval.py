"""The export of sessions of the labelled corpus, where it is present."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sesame_core import Selection, Sesame, Source
from sesame_core.rendering.export.handoff import handoff_text
from sesame_core.rendering.export.markdown import markdown
from sesame_core.rendering.export.page import page
from sesame_core.types.export import Part

from ...support.harmless import element, parsed, text_of

pytestmark = pytest.mark.once

#: Directories of the corpus, each with its parser.
AGENTS = {"claude": "claude-code", "pi": "pi", "codex": "codex", "copilot": "copilot"}
#: One session of so many is exported, besides the longest, and one of those is also read by a parser of HTML: all of
#: them would take minutes.  `STEP = 1` takes all.
STEP, PARSED = 12, 6


def _messages(part: Part) -> list[int]:
    return [c.seq for c in part.chunks if c.kind == "message" and c.role in ("user", "assistant")]


@pytest.mark.parametrize("directory", AGENTS)
def test_a_session_of_the_corpus_is_exported_with_every_message_once(
    directory: str, shared: Path, tmp_path: Path
) -> None:
    corpus = shared / "eval" / "corpus" / directory
    if not corpus.is_dir():
        pytest.skip("the labelled corpus is not here")
    source = Source(parser=Selection(name=AGENTS[directory]), path=corpus)
    with Sesame(sources=[source], data_dir=tmp_path) as sesame:
        sesame.index()
        found, total = sesame.list_sessions(limit=10_000)
        assert total
        found.sort(key=lambda stored: -stored.chunk_count)
        for number, stored in enumerate([*found[:3], *found[3::STEP]]):
            made = sesame.export(stored)
            text, below = "".join(page(made)), "".join(markdown(made))
            positions = [
                f"{f's{n}-' if n else ''}p{seq}" for n, part in enumerate(made.parts) for seq in _messages(part)
            ]
            assert re.findall(r'<article id="([^"]+)"', text) == positions
            assert len(re.findall(r"(?m)^### #\d+ ", below)) >= len(positions)
            assert not re.search(r"(?i)<(?:script|img|iframe|svg|link|object)", text)
            assert len(handoff_text(sesame.handoff(stored), "01234567").encode()) <= 6_000
            if number % PARSED == 0:
                tree = parsed(text)
                for chunk in made.parts[0].chunks[:40]:
                    if chunk.kind == "message" and chunk.role in ("user", "assistant"):
                        _has_all(chunk.text, text_of(element(tree, f"p{chunk.seq}")))


def _has_all(text: str, shown: str) -> None:
    """Check that the words of a text are shown, in order, but for where links lead and numbers of lists."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    words = re.findall(r"[^\W\d_]{4,}", re.sub(r"\]\([^)]*\)|https?://\S+", "", text))
    position = 0
    for word in words:
        position = shown.find(word, position)
        assert position >= 0, word
