"""How far an answer can be trusted: what its first hit has of the query.

    share      = Σ credit · idf over the words in the best chunk / Σ idf over all words
    confidence = share, or 1 - (1 - share)² where the best chunks together have more than two of the words
    weak       = confidence < WEAK_BELOW

The words of a question are often not those of its answer, and a missing verb has a high idf like a missing name: the
share alone calls 40 % of the answerable questions weak.  How many words are there tells more: by chance a session
has one or two of them, seldom three.  Scores do not count, since they say which session is best and not whether it is
good.

Measured on both backends, weak of all, with the share alone (weak below 0.44) and so: 760 questions about long chats
that have an answer 302 and 61, 112 labelled queries 5 and 1, 240 lines copied from sessions 21 and 10; without an
answer 120 made-up queries 117 and 106, 127 of the questions put to sessions about other things 124 and 100.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..query.boolean import positive_words
from ..text.snippets import occurrences
from ..types.query import Query
from . import ranking

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Answer, Hit
    from ..types.index import Candidates, ScoredChunk
    from ..types.query import Word
    from ..types.transcript import Session

#: Confidence below which an answer is called weak.  From 0.34 to 0.37 at most 10 % of the answerable questions, 3 of
#: the labelled queries and 14 of the made-up ones are on the wrong side.  Chosen on four of five chats it is 0.36
#: or 0.37, and flags 67 of the 760 questions about the fifth.
WEAK_BELOW = 0.36
#: More words than this are hardly together by chance: of 70 made-up queries without an answer 3 had three of their
#: words in the best chunks, of the 760 questions with one 85 % had.
CHANCE = 2
#: What a word counts of which only another spelling is there: `sensor` is no `senior`, but `recieving` is `receiving`.
#: Between 0.7 and 1 the labelled queries are the same; below, two misspelled words in two passages are weak.
RESPELLED = 0.75

#: Words that say when: a day is stored beside a text and hardly ever in it, so that a missing one tells nothing.
_NAMES = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_ORDINALS = ("st", "nd", "rd", "th")
_CENTURIES = ("19", "20")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an answer's first hit has of the query; words are their positions in it."""

    share: float
    confidence: float
    #: Words in the notes and the best chunk, or the best ones if it has few, each with its credit: 1, or `RESPELLED`.
    found: Mapping[int, float]
    #: Words that do not count.
    ignored: Collection[int] = ()


def judge(
    reader: IndexReader,
    candidates: Candidates,
    hit: Hit,
    best: ranking.Ranked,
    answer: Answer,
    *,
    is_verbatim: bool = False,
) -> Judgement:
    """Set how far an answer can be trusted, by its first hit.

    :param is_verbatim: the hit contains the query's text as it stands; it is trusted fully.
    """
    query = answer.query
    noted = dict.fromkeys(_noted(query, hit.session), 1.0)
    required = set(positive_words(query.condition))
    # The session contains what the condition requires, in whichever chunk.
    settled = {
        place: RESPELLED if word.text in answer.corrections else 1.0
        for place, word in enumerate(query.words)
        if word in required
    }
    present = _credits(reader, best.chunks[:1], answer)
    if sum(sum(credits.values()) for credits in present) <= CHANCE:
        present += _credits(reader, best.chunks[1 : ranking.BEST_CHUNKS], answer)
    chunks = [_more(settled, _more(noted, credits)) for credits in present]
    places_of = {word.text: place for place, word in enumerate(query.words)}
    choices = [[{places_of[text] for text in side if text in places_of} for side in c] for c in query.choices]
    when = {place for place, word in enumerate(query.words) if says_when(word.text)}
    weights = [ranking.idf(df, candidates.chunk_total) for df in candidates.document_frequencies]
    judged = weigh(weights, chunks or [noted and _more(settled, noted)], choices, when)
    if is_verbatim:
        judged = replace(judged, confidence=1.0)
    if noted:
        texts = {query.words[place].text for place in noted}
        answer.words_not_found = [word for word in answer.words_not_found if word not in texts]
    answer.confidence = judged.confidence
    answer.is_weak = judged.confidence < WEAK_BELOW
    return judged


def weigh(
    weights: Sequence[float],
    chunks: Sequence[Mapping[int, float]],
    choices: Iterable[Sequence[set[int]]] = (),
    when: Collection[int] = (),
) -> Judgement:
    """Weigh the words that chunks contain.

    :param weights: the words' inverse document frequencies.
    :param chunks: each chunk's words with their credits, the best chunk first.
    :param choices: sets of words of which one is enough; of each choice the set that is contained best counts.
    :param when: words that do not count unless they are there.
    """
    found: Mapping[int, float] = {}
    for credits in chunks:
        found = _more(found, credits)
    ignored = {place for place in when if place not in found}
    counted = set(range(len(weights))) - ignored
    if not counted:
        counted, ignored = ignored, set()
    first = chunks[0] if chunks else {}

    def share(places: Collection[int]) -> float:
        total = sum(weights[place] for place in places)
        return sum(weights[place] * first.get(place, 0.0) for place in places) / total if total else 0.0

    for sets in choices:
        best = max((one & counted for one in sets), key=share)
        counted = counted.difference(*sets) | best
    of_all = share(counted)
    is_chance = sum(found.get(place, 0.0) for place in counted) <= CHANCE
    return Judgement(
        share=of_all,
        confidence=of_all if is_chance else 1 - (1 - of_all) ** 2,
        found=found,
        ignored=ignored,
    )


def says_when(word: str) -> bool:
    """Return whether a word names a day, a month or a year, or is a number of at most two digits, as days have."""
    word = word.strip(".,;:!?()'\"").casefold()
    number = word[:-2] if word.endswith(_ORDINALS) else word
    parts = number.split("-")
    is_number = all(map(str.isdecimal, parts))
    return word in _NAMES or (is_number and (len(number) <= 2 or (len(parts[0]) == 4 and number[:2] in _CENTURIES)))


def _credits(reader: IndexReader, chunks: Iterable[ScoredChunk], answer: Answer) -> list[dict[int, float]]:
    """Return the words of each chunk with their credits."""
    words = answer.query.words
    places = [(chunk.session, chunk.seq) for chunk in chunks]
    # After the query's words those that were respelled, as they were typed.
    typed = {place: _as_typed(word, answer) for place, word in enumerate(words) if word.text in answer.corrections}
    if len(words) == 1 and not typed:
        # A chunk that was found by a single word contains it.
        return [{0: 1.0} for _ in places]
    asked = replace(answer.query, words=(*words, *filter(None, typed.values())))
    second = {place: len(words) + n for n, place in enumerate(place for place, word in typed.items() if word)}
    return [
        {
            place: 1.0 if place not in typed or second.get(place) in present else RESPELLED
            for place in present
            if place < len(words)
        }
        for present in reader.matching(asked, places)
    ]


def _as_typed(word: Word, answer: Answer) -> Word | None:
    """Return a word without its other spellings; one that continues it is none.  None if nothing is left."""
    others, beginning = set(answer.corrections[word.text]), word.text.rstrip("*").casefold()
    kept = tuple(a for a in word.alternatives if a not in others or a.casefold().startswith(beginning))
    return replace(word, alternatives=kept) if kept else None


def _noted(query: Query, session: Session) -> frozenset[int]:
    """Return the positions of the query's words that occur in a session's notes."""
    if session.notes is None:
        return frozenset()
    text = session.notes.text
    words = enumerate(query.words)
    return frozenset(place for place, word in words if occurrences(text, Query(text=word.text, words=(word,))))


def _more(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Return the words of both, each with its greater credit."""
    return {place: max(one.get(place, 0.0), other.get(place, 0.0)) for place in (*one, *other)}
