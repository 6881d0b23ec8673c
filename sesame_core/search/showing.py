"""Which other spellings the hits of an answer show, in words as they are written there.

The vocabulary of an index has stems only, and most corrections are of words that no shown hit contains: people are
told of those that they see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..query.spelling import distance
from ..text.compounds import camel_parts
from ..text.snippets import occurrences, plain
from ..text.tokens import light_stem, subwords
from ..types.query import Query, Word

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit


def describe_spellings(answer: Answer) -> None:
    """Set `Answer.showing`, and drop from `words_not_found` each word that is the beginning of one that was found."""
    begun = {word for word, others in answer.corrections.items() if any(other.endswith("*") for other in others)}
    answer.words_not_found = [word for word in answer.words_not_found if word not in begun]
    texts: list[str] = []
    for word, others in answer.corrections.items():
        # A prefix asks for the words that complete it.
        corrections = [other for other in others if "*" not in other]
        if word.endswith("*") or not corrections:
            continue
        texts = texts or [text for hit in answer.hits for text in _texts(hit)]
        # Of a word inside of a name, only the index has the parts.
        if shown := _written(word, corrections, texts) or _written(word, corrections, map(subwords, texts)):
            answer.showing[word] = shown


def _written(word: str, corrections: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Return the words of the texts that are corrections of a word: of each its nearest form, the nearest first."""
    whole = "\n".join(texts)
    # Folded once: of a long text that is half of the time, and each correction would do it again.
    folded = plain(whole)
    lowered = folded.lower()

    def rank(form: str) -> tuple[int, int, str]:
        return distance(word.lower(), form.lower(), len(word)), -counts[form], form

    counts: Counter[str] = Counter()
    nearest: set[str] = set()
    for correction in corrections:
        # The same stem has two spellings: those of `telemetry` and `wifi` end alike.
        spellings = (correction, correction[:-1] + "i") if correction.endswith("y") else (correction,)
        query = Query(text=correction, words=(Word(text=correction, alternatives=spellings),))
        if not any(_may_occur(spelling, lowered) for spelling in spellings):
            continue
        places = occurrences(folded, query, is_plain=True)
        forms: Counter[str] = Counter()
        for form, count in Counter(whole[start:end] for start, end, _ in places).items():
            for part in map(_plain, _parts(form, query)):
                forms[part] += count
        forms.pop(word.lower(), None)
        counts.update(forms)
        nearest.update(sorted(forms, key=rank)[:1])
    return sorted(nearest, key=rank)


def _may_occur(spelling: str, lowered: str) -> bool:
    """Return whether a text in lower case has the stem of a word, which is quicker to find than a pattern."""
    return not (spelling.isascii() and spelling.isalnum()) or light_stem(spelling).lower() in lowered


def _parts(form: str, query: Query) -> list[str]:
    """Return the parts of a name that the query finds; of any other word the word."""
    parts = camel_parts(form).split()
    return [part for part in parts if len(parts) > 1 and occurrences(part, query)] or [form]


def _plain(form: str) -> str:
    """Return a word in lower case, unless it has capitals inside: `Gradient` begins a sentence, `macOS` does not."""
    return form.lower() if form[1:].islower() or form.isupper() else form


def _texts(hit: Hit) -> list[str]:
    """Return what an answer shows of a hit."""
    passages = [passage.chunk.text for passage in hit.passages] or ([hit.chunk.text] if hit.chunk else [])
    return [*passages, hit.session.name or "", *hit.session.prompts]
