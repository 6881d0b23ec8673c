"""The candidates of a query, whose words are first spelled as the index has them."""

from __future__ import annotations

from collections.abc import Sequence

from ..dataclass import dataclass
from ..plugin.backend import Counting, IndexReader, Vocabulary
from ..query import spelling
from ..types.index import Candidates
from ..types.query import Filters, Query, Word


@dataclass(slots=True)
class Found:
    """What a backend found for a query."""

    #: With more alternatives for its words.
    query: Query
    candidates: Candidates
    #: The words that are nowhere in the index.
    not_found: list[str]
    #: Other spellings that were searched, by word.
    corrections: dict[str, list[str]]


def find(reader: IndexReader, query: Query, filters: Filters) -> Found:
    """Search for the words of a query, and for other spellings of those that are rare."""
    candidates = None
    counted = _Counted(reader) if isinstance(reader, Counting) else None
    if counted and len(query.text.split()) > 1:
        from ..query.compounds import with_joined

        query = with_joined(query, counted)
    if counted and len(query.words) > 1:
        # Counting takes a fraction of a search, which would have to be repeated with the other spellings; of one word
        # only a search that finds little is repeated.
        counts = counted.frequencies(query.words)
    else:
        candidates = reader.candidates(query, filters)
        counts = candidates.document_frequencies
    words, added = query.words, dict[str, list[str]]()
    if isinstance(reader, Vocabulary) and spelling.is_needed(query, counts):
        query, added = spelling.expand(query, counts, reader)
    if candidates is None or added:
        candidates = reader.candidates(query, filters)
    # A count may be an estimate.
    both = zip(words, counts, candidates.document_frequencies, strict=True)
    not_found = [word.text for word, count, df in both if not (count and df)]
    if added:
        not_found = [word for word in not_found if not spelling.is_met(word, added)]
    return Found(query, candidates, not_found, spelling.corrections(added))


class _Counted:
    """A reader's frequencies, each asked for once: of the words of a query together with those that they make."""

    def __init__(self, reader: Counting) -> None:
        self._reader = reader
        self._counts: dict[Word, int] = {}

    def frequencies(self, words: Sequence[Word]) -> list[int]:
        """Return the number of chunks with each word."""
        if missing := [word for word in dict.fromkeys(words) if word not in self._counts]:
            self._counts.update(zip(missing, self._reader.frequencies(missing), strict=True))
        return [self._counts[word] for word in words]
