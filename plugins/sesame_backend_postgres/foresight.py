"""Answers of a snapshot that came in the round trip of an earlier question, since a search asks for them next.

A snapshot shows one state of the index, so that they are true until it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sesame_core.types.index import Freshness, StoredSession
from sesame_core.types.query import Word

from .words import any_of

#: A session's number, and a position in it.
Place = tuple[int, int]


class Foresight:
    """What one snapshot knows before it is asked."""

    def __init__(self) -> None:
        #: The words of the last search, as tsqueries; None where a word can match nothing.
        self.words: tuple[str | None, ...] = ()
        #: Whether the sessions of the last search have been loaded, so that their best chunks come next.
        self.is_ranked = False
        self.freshness: Freshness | None = None
        #: Numbers of chunks with each phrase, a tsquery, that was counted.
        self.counts: dict[str, float] = {}
        self._above: dict[str, list[StoredSession]] = {}
        self._matching: dict[Place, set[str]] = {}

    @property
    def is_search(self) -> bool:
        """Whether the snapshot has searched for words: the questions after that are known."""
        return bool(self.words)

    def searched(self, words: Iterable[Word]) -> None:
        """Note the words of a search; what is known of other words is forgotten."""
        asked = tuple(any_of([word]) for word in words)
        self.is_ranked = False
        if asked != self.words:
            self.words = asked
            self._matching.clear()

    def keep_above(self, called: Iterable[StoredSession], above: Iterable[StoredSession]) -> None:
        """Note all sessions that have the id of a parent of some others.

        :param called: sessions, of which each subagent's parent was looked up.
        """
        sessions = [one.session for one in called if one.session.kind == "subagent"]
        self._above.update({session.parent_id: [] for session in sessions if session.parent_id})
        for one in above:
            self._above[one.session.id].append(one)

    def by_id(self, ids: Sequence[str]) -> list[StoredSession] | None:
        """Return the sessions with these ids; None if they are not all known."""
        if not all(id in self._above for id in ids):
            return None
        return [stored for id in ids for stored in self._above[id]]

    def keep_matching(self, places: Iterable[Place], found: Iterable[tuple[int, int, int]]) -> None:
        """Note which words of the search each chunk contains.

        :param found: number of a session, position of a chunk, and position of a word.
        """
        for place in places:
            self._matching[place] = set()
        for number, seq, position in found:
            if (word := self.words[position]) is not None:
                self._matching[number, seq].add(word)

    def matching(self, words: Sequence[str | None], places: Sequence[Place]) -> list[frozenset[int]] | None:
        """Return the positions of the words that each chunk contains; None if they are not all known."""
        if not set(words) <= set(self.words) or not all(place in self._matching for place in places):
            return None
        return [
            frozenset(n for n, word in enumerate(words) if word is not None and word in self._matching[place])
            for place in places
        ]
