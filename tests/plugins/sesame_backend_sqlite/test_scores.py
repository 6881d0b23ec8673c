"""Scores that are kept phrase by phrase, compared with those of the whole expression."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence

import pytest

from sesame_backend_sqlite import fts, scores
from sesame_backend_sqlite.filters import TRUE, Where
from sesame_backend_sqlite.scores import Scores, bm25

WORDS = "heron kestrel kestrels osprey running ran curlew".split()
ODD = Where("f.rowid % 2 = ?", (1,))
PHRASES = (
    ['"heron"'],
    ['"heron"', '"kestrel"'],
    ['"osprey"', '"heron"', '"kestrel"', '"curlew"'],
    ['"kest"*', '"heron osprey"', '"running"', '"nowhere"'],
)


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """Eight hundred texts of a few words, some of which are the same."""
    draw = random.Random(7)
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE VIRTUAL TABLE chunks_fts USING fts5 (content, subwords, tokenize = 'porter unicode61')")
    texts = [" ".join(draw.choices(WORDS, k=draw.randrange(1, 9))) for _ in range(400)]
    db.executemany("INSERT INTO chunks_fts VALUES (?, '')", [(text,) for text in texts * 2])
    yield db
    db.close()


@pytest.mark.parametrize("condition", [TRUE, ODD], ids=["all", "some"])
@pytest.mark.parametrize("limit", [5, 100, 10_000])
@pytest.mark.parametrize("phrases", PHRASES, ids=" ".join)
def test_what_phrases_score_alone_adds_up_to_the_last_bit_and_in_the_same_order(
    db: sqlite3.Connection, phrases: Sequence[str], limit: int, condition: Where
) -> None:
    whole = list(bm25(db, fts.either(phrases), condition, limit).items())
    kept = Scores(db)
    for _ in range(3):
        assert list(kept.newest(phrases, condition, limit).items()) == whole


def test_a_phrase_is_scored_alone_when_it_is_asked_for_again_and_then_not_any_more(db: sqlite3.Connection) -> None:
    statements: list[str] = []
    db.set_trace_callback(statements.append)

    def scored(*phrases: str, limit: int = 1_000, condition: Where = TRUE) -> int:
        statements.clear()
        kept.newest(phrases, condition, limit)
        return len([statement for statement in statements if statement.startswith("SELECT f.rowid")])

    kept = Scores(db)
    assert scored('"heron"', '"osprey"') == 1  # together
    assert scored('"heron"', '"osprey"', '"c"') == 3
    assert scored('"heron"', '"osprey"', '"cu"') == 1
    assert scored('"heron"', '"osprey"') == 0
    assert scored('"heron"', limit=5) == 0
    assert scored('"heron"', condition=ODD) == 1
    # All matches are known, so more of them need not be asked for.
    assert scored('"heron"', limit=2_000) == 0
    assert scored('"curlew"', limit=5) == 1
    assert scored('"curlew"', limit=50) == 1


def test_with_room_for_few_scores_those_that_were_used_last_are_kept(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "KEPT", 600)
    monkeypatch.setattr(scores, "ASKED", 3)
    kept = Scores(db)
    for phrases in PHRASES * 2:
        assert kept.newest(phrases, TRUE, 500) == bm25(db, fts.either(phrases), TRUE, 500)
        assert sum(len(found) for _, found in kept._kept.values()) <= 600


def test_many_phrases_are_scored_together(db: sqlite3.Connection) -> None:
    many = [f'"{word}"' for word in (*WORDS, *map(str, range(scores.SINGLE)))]
    kept = Scores(db)
    for _ in range(2):
        assert list(kept.newest(many, TRUE, 900).items()) == list(bm25(db, fts.either(many), TRUE, 900).items())
    assert not kept._kept
