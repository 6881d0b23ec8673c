"""From a question to an answer, over an index in memory; where it is about a budget, over SQLite."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import sesame_backend_sqlite.matching as matching
from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.search.confidence import WEAK_BELOW
from sesame_core.search.engine import search
from sesame_core.testing import a_call, a_chunk, a_file, a_session
from sesame_core.testing.builders import NOON, Content
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.answer import Answer, Page
from sesame_core.types.index import Chunk
from sesame_core.types.query import Filters
from sesame_core.types.transcript import Session

HOUR = timedelta(hours=1)


class Shelf:
    """Sessions in an index; each `put` is a file of its own."""

    def __init__(self, backend: StorageBackend) -> None:
        self.backend = backend
        self.files = 0

    def put(self, *content: Content) -> None:
        self.put_all([content])

    def put_all(self, files: Iterable[Iterable[Content]]) -> None:
        with self.backend.writer() as writer:
            for content in files:
                self.files += 1
                writer.replace(a_file(f"/s/{self.files}.jsonl"), [item for session in content for item in session])

    def ask(self, text: str = "", *, limit: int = 10, offset: int = 0, **filters: Any) -> Answer:
        return search(self.backend.reader(), text, Filters(**filters), Page(limit=limit, offset=offset))

    def ids(self, text: str = "", **options: Any) -> list[str]:
        return [hit.session.id for hit in self.ask(text, **options).hits]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf(MemoryBackend())


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Shelf]:
    backend = PluginManager().backend("sqlite", {"directory": str(tmp_path / "index")})
    yield Shelf(backend)
    backend.close()


def said(text: str, **fields: Any) -> Chunk:
    return a_chunk(text, **fields)


def subagent(*chunks: str | Chunk, id: str, parent: str, **fields: Any) -> Content:
    return a_session(*chunks, id=id, kind="subagent", parent_id=parent, **fields)


# -- what a hit is ---------------------------------------------------------------------------------------------


def test_the_session_that_is_about_it_comes_first(shelf: Shelf) -> None:
    shelf.put(a_session("something with infrastructure in passing " * 10, id="passing"))
    shelf.put(a_session("simplify the nix infrastructure", "yes, nix", id="about", title="Simplify Nix"))
    shelf.put(a_session("nothing of the kind", id="other"))
    answer = shelf.ask("nix infrastructure simplify")
    assert [hit.session.id for hit in answer.hits] == ["about", "passing"]
    assert answer.hits[0].score == 1.0
    assert 0 < answer.hits[1].score < 1
    assert answer.total == 2
    assert answer.mode == "search"


def test_a_hit_shows_the_passage_that_matched(shelf: Shelf) -> None:
    shelf.put(a_session("nothing", said("the quick fox", entry_id="e7", timestamp=NOON), "more"))
    (hit,) = shelf.ask("fox").hits
    assert hit.chunk is not None
    assert (hit.chunk.seq, hit.chunk.entry_id, hit.chunk.timestamp) == (1, "e7", NOON)
    assert hit.snippet.text == "the quick fox"
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["fox"]


def test_a_title_that_matches_is_an_answer_too(shelf: Shelf) -> None:
    shelf.put(a_session("nothing of the kind", title="Kettle repair"))
    answer = shelf.ask("kettle")
    (hit,) = answer.hits
    assert hit.chunk is None
    assert "Kettle" in hit.snippet.text
    assert answer.total == 1
    assert answer.is_weak


def test_nothing_found_is_an_answer(shelf: Shelf) -> None:
    assert shelf.ask("unicorn").hits == []
    shelf.put(a_session("fox"))
    answer = shelf.ask("unicorn")
    assert (answer.hits, answer.total, answer.confidence, answer.is_weak) == ([], 0, None, False)
    assert answer.words_not_found == ["unicorn"]


def test_evidence_on_an_abandoned_branch_is_marked(shelf: Shelf) -> None:
    shelf.put(a_session(said("the fox", segment=1), said("the dog", segment=0), abandoned=(1,)))
    assert [hit.is_abandoned for hit in shelf.ask("fox").hits] == [True]
    assert [hit.is_abandoned for hit in shelf.ask("dog").hits] == [False]


def test_segments_of_a_subagent_are_its_own(shelf: Shelf) -> None:
    """The parent's first segment is abandoned, the subagent's is not; and the other way round."""
    shelf.put(a_session(said("nothing", segment=0), id="p", abandoned=(0,)))
    shelf.put(subagent(said("fox", segment=0), said("elk", segment=3), id="p/a", parent="p", abandoned=(3,)))
    assert [hit.is_abandoned for hit in shelf.ask("fox").hits] == [False]
    assert [hit.is_abandoned for hit in shelf.ask("elk").hits] == [True]


# -- what counts as one ----------------------------------------------------------------------------------------


def test_one_session_in_two_files_is_one_hit_by_its_longer_file(shelf: Shelf) -> None:
    shelf.put(a_session("fox"))
    shelf.put(a_session("fox", "and more"))
    answer = shelf.ask("fox")
    (hit,) = answer.hits
    assert hit.stored.path == "/s/2.jsonl"
    assert answer.total == 1


def test_sessions_of_two_workstations_are_two(shelf: Shelf) -> None:
    shelf.put(a_session("fox", key="one:project:s1"))
    shelf.put(a_session("fox", key="two:project:s1"))
    assert shelf.ids("fox") == ["s1", "s1"]


def test_a_fork_with_the_same_evidence_is_a_copy(shelf: Shelf) -> None:
    shelf.put(a_session(said("the fox", origin=7), id="original", modified=NOON + HOUR))
    shelf.put(a_session(said("the fox", origin=7), "something new", id="fork", modified=NOON))
    answer = shelf.ask("fox")
    (hit,) = answer.hits
    assert hit.session.id == "original"
    assert hit.copies == [("fork", "/s/2.jsonl")]
    assert answer.total == 1
    assert shelf.ids("something") == ["fork"]


def test_a_fork_that_says_more_speaks_for_both(shelf: Shelf) -> None:
    shelf.put(a_session(said("the fox", origin=7), id="original"))
    shelf.put(a_session(said("the fox", origin=7), said("fox fox", origin=8), id="fork"))
    (hit,) = shelf.ask("fox").hits
    assert hit.session.id == "fork"
    assert hit.copies == [("original", "/s/1.jsonl")]


def test_equal_texts_without_an_origin_are_no_copies(shelf: Shelf) -> None:
    shelf.put(a_session("the fox", id="one"))
    shelf.put(a_session("the fox", id="two"))
    assert sorted(shelf.ids("fox")) == ["one", "two"]


def test_what_a_subagent_found_counts_for_its_parent(shelf: Shelf) -> None:
    shelf.put(a_session("look for it", id="p"))
    shelf.put(subagent("the fox", id="p/a", parent="p"))
    shelf.put(subagent("another fox", id="p/a/b", parent="p/a"))
    answer = shelf.ask("fox")
    (hit,) = answer.hits
    assert hit.session.id == "p"
    assert hit.chunk is not None
    assert hit.subagent_id == hit.chunk.session_id
    assert hit.subagent_id in ("p/a", "p/a/b")
    assert answer.total == 1


def test_a_hit_in_the_session_itself_names_no_subagent(shelf: Shelf) -> None:
    shelf.put(a_session("fox fox fox", id="p"))
    shelf.put(subagent("nothing much, a fox in a long sentence about other things", id="p/a", parent="p"))
    (hit,) = shelf.ask("fox").hits
    assert (hit.session.id, hit.subagent_id) == ("p", None)


def test_a_subagent_without_an_indexed_parent_stands_for_itself(shelf: Shelf) -> None:
    shelf.put(subagent("fox", id="lost/a", parent="lost"))
    assert shelf.ids("fox") == ["lost/a"]


def test_subagents_that_name_each_other_as_parents_end(shelf: Shelf) -> None:
    shelf.put(subagent("fox", id="a", parent="b"))
    shelf.put(subagent("fox", id="b", parent="a"))
    shelf.put(subagent("fox", id="c", parent="c"))
    assert shelf.ids("fox")


# -- headless runs ---------------------------------------------------------------------------------------------


def test_headless_runs_are_left_out_and_counted(shelf: Shelf) -> None:
    shelf.put(a_session("fox", id="person"))
    shelf.put(a_session("fox", id="script", kind="headless"))
    answer = shelf.ask("fox")
    assert [hit.session.id for hit in answer.hits] == ["person"]
    assert (answer.left_out, answer.is_widened) == ({"headless": 1}, False)
    assert sorted(shelf.ids("fox", all_kinds=True)) == ["person", "script"]


def test_headless_runs_are_shown_when_nothing_else_matches(shelf: Shelf) -> None:
    shelf.put(a_session("elk", id="person"))
    shelf.put(*[a_session("fox", id=f"script{n}", kind="headless") for n in range(5)])
    answer = shelf.ask("fox", limit=3)
    assert len(answer.hits) == 3
    assert (answer.left_out, answer.is_widened) == ({"headless": 5}, True)
    second = shelf.ask("fox", limit=3, offset=3)
    assert len(second.hits) == 2
    assert second.is_widened


def test_a_page_beyond_the_last_one_is_empty_and_not_widened(shelf: Shelf) -> None:
    shelf.put(a_session("fox", id="person"))
    shelf.put(a_session("fox", id="script", kind="headless"))
    answer = shelf.ask("fox", offset=1)
    assert (answer.hits, answer.is_widened) == ([], False)


def test_browsing_shows_headless_runs_only_when_there_is_nothing_else(shelf: Shelf) -> None:
    shelf.put(a_session("fox", id="script", kind="headless"))
    assert shelf.ids() == ["script"]
    shelf.put(a_session("fox", id="person"))
    assert shelf.ids() == ["person"]


# -- how far it can be trusted ---------------------------------------------------------------------------------


def test_an_answer_whose_best_passage_has_few_of_the_words_is_weak(shelf: Shelf) -> None:
    for number in range(20):
        shelf.put(a_session(f"common words number{number}", id=f"s{number}"))
    shelf.put(a_session("a carousel", id="c"), a_session("a company", id="d"), a_session("a website", id="e"))
    weak = shelf.ask("carousel company website")
    assert weak.hits
    assert weak.is_weak
    assert weak.confidence is not None
    assert weak.confidence < WEAK_BELOW
    shelf.put(a_session("the company website has a carousel", id="f"))
    strong = shelf.ask("carousel company website")
    assert strong.hits[0].session.id == "f"
    assert not strong.is_weak
    assert strong.confidence == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "confidence"),
    [
        ("carousel OR pangolin", 1.0),
        ("pangolin OR carousel OR armadillo", 1.0),
        ("(pangolin armadillo zebu) OR carousel", 1.0),
        ("(carousel OR pangolin) AND site", 1.0),
        ("site (pangolin OR (armadillo OR carousel))", 1.0),
        ("CAROUSEL OR Carousel", 1.0),
        ("carousel OR agent:claude-code", 1.0),
        ("carousel pangolin OR armadillo", 0.42),
        ("carousel pangolin -(zebu OR carousel2)", 0.42),
    ],
)
def test_one_side_of_an_or_is_enough_for_confidence(query: str, confidence: float, shelf: Shelf) -> None:
    shelf.put(a_session("carousel of the site", id="s"))
    shelf.put(*(a_session(f"nothing {n}", id=f"o{n}") for n in range(20)))
    answer = shelf.ask(query)
    assert answer.confidence == pytest.approx(confidence, abs=0.01)
    assert answer.is_weak is (confidence < WEAK_BELOW)


def test_words_beside_each_other_are_no_choice(shelf: Shelf) -> None:
    shelf.put(a_session("carousel of the site", id="s"), a_session("nothing else", id="t"))
    answer = shelf.ask("carousel pangolin armadillo zebu")
    assert answer.is_weak
    assert not shelf.ask("carousel OR pangolin OR armadillo OR zebu").is_weak


def test_words_that_occur_nowhere_are_told(shelf: Shelf) -> None:
    shelf.put(a_session("the quick fox"))
    assert shelf.ask("fox unicorn basilisk").words_not_found == ["unicorn", "basilisk"]


# -- filters, pages, browsing ----------------------------------------------------------------------------------


def test_filters_come_before_the_limit(shelf: Shelf) -> None:
    shelf.put(*[a_session("fox fox", id=f"better{n}", cwd="/elsewhere") for n in range(80)])
    shelf.put(a_session("a fox among many other words that make it worse", id="here", cwd="/w/here"))
    assert shelf.ids("fox", limit=1, cwd="/w/here") == ["here"]


def test_tools_only_finds_what_tools_did(shelf: Shelf) -> None:
    shelf.put(a_session("run npm test please", id="talk"), a_session(a_call("command: npm test"), id="tool"))
    assert shelf.ids("npm test", tools_only=True) == ["tool"]
    assert shelf.ids("npm test", tool="write") == []


def test_required_and_excluded_words_decide(shelf: Shelf) -> None:
    shelf.put(a_session("quick fox", "lazy dog", id="both"), a_session("quick fox", id="fox"))
    assert shelf.ids("quick +dog") == ["both"]
    assert shelf.ids("quick -dog") == ["fox"]
    assert shelf.ids('"quick fox" -lazy') == ["fox"]


def test_pages_follow_each_other_without_gap_or_repetition(shelf: Shelf) -> None:
    chance = random.Random(7)
    shelf.put_all(
        [a_session(*["fox " * chance.randint(1, 4) + "word " * chance.randint(1, 30) for _ in range(3)], id=f"s{n}")]
        for n in range(45)
    )
    everything = shelf.ids("fox", limit=100)
    assert len(everything) == len(set(everything)) == 45
    pages = [shelf.ids("fox", limit=7, offset=offset) for offset in range(0, 49, 7)]
    assert [id for page in pages for id in page] == everything
    assert shelf.ids("fox", offset=100) == []
    assert shelf.ids("fox", limit=100) == everything


def test_scores_do_not_depend_on_the_page(shelf: Shelf) -> None:
    shelf.put(*[a_session("fox " * (n + 1), id=f"s{n}") for n in range(9)])
    whole = [(hit.session.id, hit.score) for hit in shelf.ask("fox").hits]
    assert [(hit.session.id, hit.score) for hit in shelf.ask("fox", limit=3, offset=3).hits] == whole[3:6]


@pytest.mark.parametrize("text", ["", "*", "   ", "...", "-elk"])
def test_without_words_the_newest_are_listed(shelf: Shelf, text: str) -> None:
    shelf.put(*[a_session("fox", id=f"s{n}", modified=NOON + n * HOUR, title=f"Title {n}") for n in (2, 1, 3)])
    shelf.put(a_session("", id="empty", modified=NOON))
    answer = shelf.ask(text)
    assert answer.mode == "browse"
    assert [hit.session.id for hit in answer.hits] == ["s3", "s2", "s1", "empty"]
    assert [hit.snippet.text for hit in answer.hits][::3] == ["Title 3", "(no text)"]
    assert answer.total == 4
    assert shelf.ids(text, limit=2, offset=1) == ["s2", "s1"]


def test_browsing_leaves_excluded_words_out(shelf: Shelf) -> None:
    shelf.put(a_session("fox", id="fox"), a_session("fox and elk", id="both"))
    assert shelf.ids("-elk") == ["fox"]


def test_any_text_gets_an_answer(shelf: Shelf) -> None:
    shelf.put(a_session("fox"))
    for text in ('"', "fox*", "NEAR(a b)", "a:b", "*" * 50, "\0", "\ud800", "fox " * 500, "'; --", "{}()[]^$", "日"):
        shelf.ask(text)
    for value in ("a\0b", "%", "_", "'"):
        shelf.ask("fox", cwd=value, path=value, tool=value, agents=(value,), exclude=(value,))


# -- the budget ------------------------------------------------------------------------------------------------


@pytest.fixture
def library(on_sqlite: Shelf) -> Shelf:
    """400 sessions: "the" word everywhere, some in half of them, and a few that are rare."""
    chance = random.Random(3)

    def session(number: int) -> Content:
        texts = []
        for _ in range(4):
            words = ["everywhere"] * chance.randint(1, 2) + ["half"] * (number % 2) + ["filler"] * chance.randint(0, 8)
            if number % 40 == 0:
                words += ["rare"] * chance.randint(1, 3)
            if number % 100 == 0:
                words += ["scarce"]
            chance.shuffle(words)
            texts.append(" ".join(words))
        time = NOON + number * HOUR
        return a_session(*texts, id=f"s{number}", created=time, modified=time)

    on_sqlite.put_all([session(number)] for number in range(400))
    return on_sqlite


def squeeze(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "BUDGET", 60)
    monkeypatch.setattr(matching, "NEWEST", 40)
    monkeypatch.setattr(matching, "RESCORED", 50)


@pytest.mark.parametrize(
    "text", ["rare", "rare everywhere", "rare scarce half everywhere", "scarce half", "rare unheard"]
)
def test_a_budget_changes_nothing_at_the_top_for_a_rare_word_among_common_ones(
    library: Shelf, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = library.ask(text)
    assert not exact.is_truncated
    squeeze(monkeypatch)
    bounded = library.ask(text)
    rare_ones = 4 if text == "scarce half" else 10
    assert [h.session.id for h in bounded.hits[:rare_ones]] == [h.session.id for h in exact.hits[:rare_ones]]
    assert [h.score for h in bounded.hits[:rare_ones]] == pytest.approx([h.score for h in exact.hits[:rare_ones]])
    assert bounded.is_truncated == ("everywhere" in text or "half" in text)
    assert bounded.confidence == pytest.approx(exact.confidence, abs=0.05)


def test_common_words_alone_are_followed_to_the_newest(library: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    squeeze(monkeypatch)
    answer = library.ask("everywhere half")
    assert answer.is_truncated
    assert len(answer.hits) == 10
    assert answer.scanned <= 3 * matching.BUDGET
    assert all(int(hit.session.id[1:]) > 350 for hit in answer.hits)
    assert all(int(hit.session.id[1:]) % 2 for hit in answer.hits), "both words in one passage come first"


@pytest.mark.parametrize("every", [3, 50], ids=["many", "few"])
@pytest.mark.parametrize("text", ["everywhere", "rare", "rare everywhere", "everywhere cwd:/w/app"])
def test_headless_runs_take_no_place_in_the_budget(
    on_sqlite: Shelf, text: str, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    squeeze(monkeypatch)

    def kind(number: int) -> str:
        return "headless" if number % every == every - 1 else "interactive"

    words = ["rare everywhere" if number % 5 == 4 else "everywhere" for number in range(200)]
    on_sqlite.put_all([a_session(word, id=f"s{number}", kind=kind(number))] for number, word in enumerate(words))
    answer = on_sqlite.ask(text, limit=200)
    matching_ones = range(4, 200, 5) if "rare" in text else range(200)
    hidden = [number for number in matching_ones if kind(number) == "headless"]
    assert {hit.session.kind for hit in answer.hits} == {"interactive"}
    assert len(answer.hits) >= min(matching.NEWEST, len(matching_ones) - len(hidden)) - matching.NEWEST // matching.FEW
    assert answer.is_truncated == (text != "rare")
    if answer.is_truncated:
        assert 1 <= answer.left_out["headless"] <= len(hidden)
    else:
        assert answer.left_out["headless"] == len(hidden)


@pytest.mark.parametrize(("begun", "is_common"), [("fill*", True), ("scar*", False)])
def test_a_beginning_is_not_followed_to_its_end_when_it_is_common(
    library: Shelf, begun: str, is_common: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = library.ask(begun)
    squeeze(monkeypatch)
    bounded = library.ask(begun)
    assert (exact.is_truncated, bounded.is_truncated) == (False, is_common)
    assert bounded.hits
    assert bounded.confidence == 1


def test_a_filter_that_lets_little_through_of_a_common_word_is_not_called_truncated(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put(a_session(a_chunk("everywhere", role="system"), id="s400"))
    monkeypatch.setattr(matching, "BUDGET", 60)
    answer = library.ask("everywhere role:system")
    assert (answer.total, answer.is_truncated) == (1, False)


def test_a_filter_that_leaves_little_is_searched_exactly(library: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = library.ask("everywhere half", after=NOON + 390 * HOUR)
    squeeze(monkeypatch)
    bounded = library.ask("everywhere half", after=NOON + 390 * HOUR)
    assert not bounded.is_truncated
    assert [(h.session.id, h.score) for h in bounded.hits] == [(h.session.id, h.score) for h in exact.hits]


def test_a_filter_on_old_sessions_finds_common_words_there(library: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest matches are the newest of those the filter lets through."""
    squeeze(monkeypatch)
    found = library.ids("everywhere", before=NOON + 100 * HOUR)
    assert len(found) == 10
    assert all(int(id[1:]) <= 100 for id in found)


def test_an_answer_is_of_one_state_of_the_index(shelf: Shelf) -> None:
    """What is written between two questions of one search is not seen by the second."""
    shelf.put(a_session("fox"))
    reader = shelf.backend.reader()
    with reader.snapshot():
        before = search(reader, "fox", Filters())
        shelf.put(a_session("fox", id="s2"))
        assert dataclasses.asdict(search(reader, "fox", Filters())) == dataclasses.asdict(before)
    assert len(search(reader, "fox", Filters()).hits) == 2


def test_a_session_row_is_what_was_stored(shelf: Shelf) -> None:
    content = a_session("fox", title="T", tool_counts={"bash": 2}, prompts=("p",), abandoned=(1,))
    shelf.put(content)
    (hit,) = shelf.ask("fox").hits
    stored = content[0]
    assert isinstance(stored, Session)
    assert hit.session == stored


def test_a_session_in_two_files_is_listed_once(shelf: Shelf) -> None:
    for texts in (("the heron waits",), ("the heron waits", "the heron dives")):
        shelf.put(a_session(*texts, id="one", key="w:p:one"))
    answer = shelf.ask()
    assert (shelf.ids(), answer.total, answer.hits[0].stored.path) == (["one"], 1, "/s/2.jsonl")


def test_the_id_of_a_session_finds_it_first(shelf: Shelf) -> None:
    shelf.put(a_session("a quiet one", id="7e57ab1e-0000-4000-8000-000000000001"))
    shelf.put(a_session("see 7e57ab1e-0000-4000-8000-000000000001", id="mention"))
    shelf.put(a_session("nothing", id="7e57ab1f-0000-4000-8000-000000000001"))
    shelf.put(a_session("nothing", id="7e57ab1f-0000-4000-8000-000000000002"))
    for query in ("7e57ab1e-0000-4000-8000-000000000001", "7e57ab1e"):
        answer = shelf.ask(query)
        assert [hit.session.id[:8] for hit in answer.hits] == ["7e57ab1e", "mention"]
        assert (answer.total, answer.hits[0].score, answer.is_weak, answer.words_not_found) == (2, 1.0, False, [])
        assert [hit.session.id for hit in shelf.ask(query, offset=1).hits] == ["mention"]
    assert shelf.ids("7e57ab1f") == [], "two sessions have this beginning"
    assert shelf.ids("7e57ab1") == ["mention"], "too short to be an id"
    assert shelf.ids("7e57ab1e quiet")[0] == "7e57ab1e-0000-4000-8000-000000000001"
    assert shelf.ids("7e57ab1e", agents=("nobody",)) == [], "filters hold"
    assert shelf.ids("7e57ab1e", exclude=("7e57ab1e-0000-4000-8000-000000000001",)) == ["mention"]
    assert shelf.ids('"7e57ab1e" nothing -quiet') == ["mention"], "not alone"
