"""Why an error occurred, in the words of the agent that met it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..text.folding import shortened

if TYPE_CHECKING:
    from ..types.index import Chunk

#: Most characters of what the agent said.
SAID = 300
#: Characters of a message that are read, and sentences in which a cause is looked for.
READ, SENTENCES = 4_000, 6
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"'(\d])|\n{2,}|\n(?=[-*#\d])")
#: What a sentence has that says why.
_CAUSE = re.compile(
    r"(?i)\b(?:because|cause|due to|the (?:issue|problem|error|reason)|since|so that|missing|need(?:s|ed)?|instead|"
    r"incompatible|can't|cannot|wrong)\b"
)


def reason(said: Sequence[Chunk], first: int | None) -> tuple[Chunk | None, str]:
    """Return the message that says best why something was done, and its sentences; None and "" without one.

    :param said: what the agent said after the error.
    :param first: position of its first step: what was said before says why.
    """
    if not said:
        return None, ""
    before = [chunk for chunk in said if first is None or chunk.seq < first]
    chosen = before[-1] if before else said[0]
    if len(before) > 1 and not _CAUSE.search(chosen.text[:SAID]):
        chosen = next((chunk for chunk in reversed(before) if _CAUSE.search(chunk.text[:SAID])), chosen)
    return chosen, _sentences(chosen.text)


def _sentences(text: str) -> str:
    """Return the sentences of a message that name a cause, else its first ones."""
    sentences = [one.strip() for one in _SENTENCE.split(text[:READ].strip()) if one.strip()]
    start = next((n for n, one in enumerate(sentences[:SENTENCES]) if _CAUSE.search(one)), 0)
    return shortened(" ".join(" ".join(sentences[start : start + 2]).split()), SAID)
