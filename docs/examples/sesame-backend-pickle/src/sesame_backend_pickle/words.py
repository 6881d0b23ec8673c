"""Splits text into words, and scores documents for a query."""

import functools
import math
import re

import snowballstemmer

from sesame_core.text.folding import folded

K1, B = 1.2, 0.75


@functools.lru_cache(100_000)
def _stem(word):
    return snowballstemmer.stemmer("porter").stemWord(word)  # a new one, since a stemmer serves one thread


def stems(text):
    return tuple(map(_stem, re.findall(r"[^\W_]+", folded(text))))


@functools.lru_cache(1_000)  # a condition is evaluated for each chunk
def _phrases(word):
    phrases = [(stems(text), text.endswith("*")) for text in word.alternatives]
    return [(phrase[:-1], phrase[-1], is_prefix) for phrase, is_prefix in phrases if phrase]


def count(word, document):
    """Return how often a document, a tuple of stems, has a word of a query."""
    found = 0
    for before, last, is_prefix in _phrases(word):
        if is_prefix or last in document:
            ends = (n for n, stem in enumerate(document) if stem == last or (is_prefix and stem.startswith(last)))
            found += sum(n >= len(before) and document[n - len(before) : n] == before for n in ends)
    return found


def score(words, documents):
    """Return the BM25 of the documents that match, by key, and the number of documents with each word."""
    counts = {key: [count(word, document) for word in words] for key, document in documents.items()}
    counts = {key: found for key, found in counts.items() if any(found)}
    frequencies = [sum(found[n] > 0 for found in counts.values()) for n in range(len(words))]
    # As in FTS5, a word that most documents have does not count against a document.
    weights = [max(math.log((len(documents) - n + 0.5) / (n + 0.5)), 1e-6) for n in frequencies]
    average = sum(map(len, documents.values())) / max(len(documents), 1)
    scores = {}
    for key, found in counts.items():
        length = K1 * (1 - B + B * len(documents[key]) / average)
        scores[key] = sum(w * n * (K1 + 1) / (n + length) for w, n in zip(weights, found, strict=True))
    return scores, frequencies
