"""The parts of a search statement: the words of the query, and the parts of its WITH clause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core.dataclass import dataclass
from sesame_core.types.query import Word

from . import words
from .filters import Where


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a query: each alternative once, and the alternatives of each word."""

    phrases: list[str]
    #: By word: positions of its phrases, and a tsquery of any of them; "" if it has none.
    words: list[list[int]]
    any_of: list[str]

    @classmethod
    def of(cls, wanted: Sequence[Word]) -> Asked:
        """Return the phrases of some words; a word without a letter or digit has none."""
        phrases = words.phrases(wanted)
        place = {phrase: number for number, phrase in enumerate(phrases)}
        used = [[place[phrase] for phrase in words.phrases([word])] for word in wanted]
        return cls(phrases, used, [words.any_of([word]) or "" for word in wanted])

    @property
    def pairs(self) -> tuple[list[int], list[int]]:
        """Two columns: the position of a word, and the number of one of its phrases, from 1."""
        pairs = [(w, n + 1) for w, used in enumerate(self.words) for n in used]
        return [w for w, _ in pairs], [n for _, n in pairs]


class Parts:
    """The parts of a WITH clause and their values, in order."""

    def __init__(self) -> None:
        self.sql: list[str] = []
        self.values: list[Any] = []

    def use(self, condition: Where, keyword: str = "AND") -> str:
        """Return a condition as SQL for the part that is added next."""
        self.values.extend(condition.values)
        return condition.where(keyword)

    def add(self, name: str, select: str) -> None:
        """Add a part, which is evaluated once."""
        self.sql.append(f"{name} AS MATERIALIZED (\n{select}\n)")
