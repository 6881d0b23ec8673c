"""Conformance tests of a storage backend's reader: words, conditions and phrases."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core.plugin.backend import Bounding, Phrases, StorageBackend
from sesame_core.query.parser import MAX_DEPTH
from sesame_core.types.query import AllOf, AnyOf, Condition, Filters, Has, Is, Not, Query, Word

from ..builders import NOON, a_call, a_file, a_query, a_session, a_word
from .base import EVERYTHING, BackendBase, found, store, the

#: Each of them is syntax in some search engine.
HOSTILE_TEXTS = [
    *(
        "",
        " ",
        '"',
        '""',
        '"a',
        "'",
        "*",
        "**",
        "a*b",
        "^a",
        "a:b",
        "text:fox",
        "-fox",
        "+fox",
        "%",
        "_",
        "\\",
    ),
    *("\\", "a OR", "AND", "NOT fox", "NEAR(", "NEAR(a b, 2)", "(", ")", "{a b}: c", "a & b | !c", "a <-> b"),
    *("foo-bar", "c++", "C#", "'; DROP TABLE chunks; --", "$1", ":name", "?", "@@", "..", "/"),
    *(
        "a\0b",
        "\ud800",
        "\N{SLIGHTLY SMILING FACE}",
        "\u202e",
        "日本",
        "é" * 300,
        "x" * 20_000,
        "word " * 500,
    ),
]

#: Words in a text, queried in the same form.
WORDS = [
    "foo-bar",
    "foo_bar",
    "src/main.py",
    "C++",
    "ÜBER",
    "日本語",
    "v1.2.3",
    "don't",
    "the",
    "running",
    "error-401",
]

#: Words in a text, queried by a part or another form.
PARTS = [
    ("foo-bar", "bar"),
    ("foo_bar", "bar"),
    ("src/main.py", "main"),
    ("running", "run"),
    ("run", "running"),
    ("ÜBER", "über"),
    ("reconnectBackoff", "reconnect"),
    ("reconnectBackoff", "backoff"),
    ("reconnectBackoff", "reconnectbackoff"),
    ("HTTPServerError", "server"),
    ("reconnect backoff", "reconnectBackoff"),
    ("日本語", "日本"),
    ("日本語", "本語"),
    ("全文検索", "検索"),
    ("全文検索", "索"),
    ("reconnecting", "reconn*"),
]


#: Words in a text, and a phrase with a prefix that finds them by the stem of the prefix.
BEGUN = [
    ("den pull", "den pus*"),
    ("den push", "den pus*"),
    ("a den puddle", "a den pus*"),
    ("den monkeys", "den monkey*"),
    ("den running", "den runs*"),
    ("git category", "git categories*"),
    ("den pushing", "den pushed*"),
]


class SearchingConformance(BackendBase):
    """Tests which words and phrases find which chunks, and which conditions select which sessions."""

    @pytest.mark.parametrize("word", WORDS)
    def test_finds_a_word_as_it_was_written(self, backend: StorageBackend, word: str) -> None:
        """Including stop words, other scripts and punctuation."""
        store(backend, a_file(), a_session(f"before {word} after"), a_session("something else", id="s2"))
        assert found(backend, word) == {"s1"}, "there are no stop words, and a word with punctuation is a phrase"

    @pytest.mark.parametrize(("written", "asked"), PARTS)
    def test_finds_a_part_or_form_of_a_word(self, backend: StorageBackend, written: str, asked: str) -> None:
        """Parts of identifiers, stems, prefixes, two and one characters of a script without spaces."""
        store(backend, a_file(), a_session(f"before {written} after"), a_session("something else", id="s2"))
        assert found(backend, asked) == {"s1"}, (
            "words are compared by their Porter stems, as SQLite's and PostgreSQL's stemmers and snowballstemmer's "
            "`porter` make them, in any case; `Chunk.subwords` is searched like the text; a final * marks a prefix"
        )

    @pytest.mark.parametrize(("written", "asked"), BEGUN)
    def test_the_word_before_a_star_is_stemmed_in_a_phrase_too(
        self, backend: StorageBackend, written: str, asked: str
    ) -> None:
        """Porter's stem of `pus` is `pu`, so that `den pus*` finds `den pull`."""
        store(backend, a_file(), a_session(f"before {written} after"), a_session("den of pearls", id="s2"))
        word = Word(text=asked, alternatives=(asked,))
        assert found(backend, Query(text=asked, words=(word,))) == {"s1"}, "it is stemmed as without a phrase"
        alone = asked.split()[-1]
        assert "s1" in found(backend, Query(text=alone, words=(Word(text=alone, alternatives=(alone,)),)))

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    def test_punctuation_is_never_syntax(self, backend: StorageBackend, text: str) -> None:
        """A backend never raises for a query, whatever its words contain."""
        store(backend, a_file(), a_session("a quick fox"))
        reader = backend.reader()
        word = Word(text=text, alternatives=(text,))
        for query in (
            Query(text=text, words=(word,)),
            Query(text=text, words=(Word(text=text, alternatives=(text, "fox")),), condition=Has(word)),
            Query(text=text, words=(Word(text="fox", alternatives=("fox",)),), condition=Not(Has(word))),
        ):
            reader.candidates(query, EVERYTHING)
            reader.matching(query, [(the(backend, "s1").number, 0)])
        assert "s1" in found(backend, Query(text=text, words=(word, *a_query("fox").words)))

    def test_no_words_find_nothing(self, backend: StorageBackend) -> None:
        """A query of punctuation only has no words."""
        store(backend, a_file(), a_session("fox"))
        assert found(backend, "") == set()

    def test_words_are_alternatives(self, backend: StorageBackend) -> None:
        """One of them suffices, in any chunk or head."""
        store(backend, a_file(), a_session("fox", id="s1"), a_session("dog", id="s2"), a_session("cow", id="s3"))
        assert found(backend, "fox dog unicorn") == {"s1", "s2"}

    def test_a_required_word_may_stand_anywhere_in_the_session(self, backend: StorageBackend) -> None:
        """The session must have it, not the chunk."""
        store(backend, a_file(), a_session("fox", "dog", id="s1"), a_session("fox", id="s2"))
        assert found(backend, a_query("fox", required=["dog"])) == {"s1"}
        assert found(backend, a_query(required=["fox", "dog"])) == {"s1"}
        assert found(backend, a_query("fox", required=["unicorn"])) == set()

    def test_an_excluded_word_rules_the_session_out(self, backend: StorageBackend) -> None:
        """Wherever it occurs."""
        store(backend, a_file(), a_session("fox", "dog", id="s1"), a_session("fox", id="s2"))
        assert found(backend, a_query("fox", excluded=["dog"])) == {"s2"}
        assert found(backend, a_query("fox", excluded=["unicorn"])) == {"s1", "s2"}

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (AllOf((a_word("fox"), a_word("dog"))), {"fox dog", "all"}),
            (AnyOf((a_word("cow"), AllOf((a_word("fox"), a_word("dog"))))), {"fox dog", "cow", "all"}),
            (AllOf((AnyOf((a_word("fox"), a_word("cow"))), Not(a_word("dog")))), {"fox", "cow"}),
            (Not(AnyOf((a_word("fox"), a_word("dog")))), {"cow", "none"}),
            (Not(AllOf((a_word("fox"), a_word("dog")))), {"fox", "dog", "cow", "none"}),
            (Not(Not(a_word("cow"))), {"cow", "all"}),
            (AnyOf((a_word("cow"), Not(a_word("fox")))), {"dog", "cow", "all", "none"}),
            (AnyOf((Is(Filters(agents=("other",))), a_word("dog"))), {"fox dog", "dog", "all", "none"}),
            (AllOf((Is(Filters(agents=("other",))), Is(Filters(tool="bash")))), {"none"}),
            (Not(Is(Filters(tool="bash"))), {"fox", "dog", "cow", "fox dog", "all"}),
            (AnyOf((a_word("unicorn"), a_word("griffin"))), set()),
            (AllOf(()), {"fox", "dog", "cow", "fox dog", "all", "none"}),
            (AnyOf(()), set()),
        ],
    )
    def test_a_condition_is_about_the_whole_session(
        self, backend: StorageBackend, condition: Condition, expected: set[str]
    ) -> None:
        """Its words may be in different chunks; searches and lists use it alike."""
        texts = {"fox": ["fox"], "dog": ["dog"], "cow": ["cow"], "fox dog": ["fox", "dog"], "all": ["cow dog", "fox"]}
        sessions = [a_session("den", *chunks, id=id) for id, chunks in texts.items()]
        sessions.append(a_session("den", a_call("ls"), id="none", agent="other", tool_counts={"bash": 1}))
        store(backend, a_file(), *sessions)
        assert found(backend, a_query("den", condition=condition)) == expected
        listed, total = backend.reader().list_sessions(EVERYTHING, limit=10, condition=condition)
        assert ({stored.session.id for stored in listed}, total) == (expected, len(expected))

    def test_a_deep_condition_is_no_error(self, backend: StorageBackend) -> None:
        """As deep as the query language allows."""
        store(backend, a_file(), a_session("fox dog"))
        condition: Condition = a_word("fox")
        for _ in range(MAX_DEPTH // 2):
            condition = AnyOf((a_word("unicorn"), AllOf((a_word("dog"), condition))))
        assert found(backend, a_query("fox", condition=condition)) == {"s1"}
        assert found(backend, a_query("fox", condition=Not(condition))) == set()

    def test_a_phrase_keeps_its_order(self, backend: StorageBackend) -> None:
        """Its words follow each other."""
        texts = {"s1": "a quick brown fox", "s2": "brown quick fox", "s3": "quick and brown"}
        store(backend, a_file(), *(a_session(text, id=id) for id, text in texts.items()))
        assert found(backend, a_query(required=["quick brown"])) == {"s1"}
        assert found(backend, a_query("fox", excluded=["quick brown"])) == {"s2"}
        assert found(backend, a_query(required=["quick bro*"])) == {"s1"}

    def test_finds_a_phrase_without_scoring_it(self, backend: StorageBackend) -> None:
        """The newest sessions first, up to the limit; stemmed, with filters and a condition, without headless runs."""
        reader = backend.reader()
        if not isinstance(reader, Phrases):
            pytest.skip("the backend does not find phrases without scoring them")
        word = Word(text="quick fox", alternatives=("quick fox",))
        assert reader.phrase(word, EVERYTHING, None, 9) == []
        with backend.writer() as writer:
            for n, texts in enumerate((("a quick fox", "fox quick"), ("quick foxes", "elk"), ("quick", "fox"))):
                writer.replace(a_file(f"/{n}"), a_session(*texts, id=f"s{n}"))
            writer.replace(a_file("/9"), a_session("the quick fox", id="headless", kind="headless"))
            writer.finish(synced_at=NOON)
        reader = backend.reader()
        assert isinstance(reader, Phrases)
        numbers = [the(backend, f"s{n}").number for n in range(2)]
        shown = Filters()

        def found(filters: Filters = shown, condition: Condition | None = None, limit: int = 9) -> list[Any]:
            assert isinstance(reader, Phrases)
            return [(c.session, c.seq, c.score) for c in reader.phrase(word, filters, condition, limit)]

        assert found() == [(numbers[1], 0, 0.0), (numbers[0], 0, 0.0)], "chunks with the phrase, the newest first"
        assert found(limit=1) == [(numbers[1], 0, 0.0)], "`limit` is the most chunks"
        assert len(found(Filters(all_kinds=True))) == 3
        assert found(Filters(role="assistant")) == []
        assert found(Filters(exclude=("s1",))) == [(numbers[0], 0, 0.0)]
        elk = Has(Word(text="elk", alternatives=("elk",)))
        assert found(condition=elk) == [(numbers[1], 0, 0.0)]
        for others, sessions in ((("elk", "a"), [numbers[0]]), (("unicorn",), []), (("fox",), numbers[::-1])):
            beside = [Word(text=text, alternatives=(text,)) for text in others]
            chunks = reader.phrase(word, shown, None, 9, beside=beside)
            assert [chunk.session for chunk in chunks] == sessions, f"one of {others} in the same chunk"
        alone = found()
        with reader.snapshot():
            for filters in (shown, EVERYTHING):
                reader.candidates(Query(text="", words=(word,)), filters)
            assert (found(), len(found(EVERYTHING))) == (alone, 3), "the same after a search for the phrase"
            assert found(limit=1) == alone[:1]
        for text in HOSTILE_TEXTS:
            hostile = Word(text=text, alternatives=(text,))
            reader.phrase(hostile, EVERYTHING, None, 9)
            assert reader.phrase(word, EVERYTHING, None, 9, beside=[hostile]) is not None

    def test_says_whether_it_looked_at_all_chunks_for_a_phrase(self, backend: StorageBackend) -> None:
        """It finds what `phrase` does; of few chunks it looks at all, also if none has the phrase."""
        reader = backend.reader()
        if not isinstance(reader, Bounding):
            pytest.skip("the backend looks at all chunks, or cannot say whether it does")
        assert isinstance(reader, Phrases), "`bounded_phrase` is for readers with `phrase`"
        store(backend, a_file(), a_session("a quick fox", "fox quick", id="s1"), a_session("the quick fox", id="s2"))
        for text, number in (("quick fox", 2), ("fox", 3), ("fox the", 0), ("elk", 0), ("!", 0)):
            word = Word(text=text, alternatives=(text,))
            for filters in (EVERYTHING, Filters(cwd="/w/app"), Filters(role="assistant")):
                chunks, is_bounded = reader.bounded_phrase(word, filters, None, 9)
                assert chunks == reader.phrase(word, filters, None, 9)
                assert len(chunks) == (0 if filters.role else number)
                assert not is_bounded
