"""The page about searching, held against the program: every example, every reading, every field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame, Source
from sesame_core.cli import searching
from sesame_core.config.model import Selection
from sesame_core.demo import sessions_dir
from sesame_core.query.fields import KEYS
from sesame_core.query.parser import parse
from sesame_core.rendering.answers import answer_text

from ..support.in_memory import in_memory, plugins_with_memory
from ..support.pages import assert_printed, steps
from ..support.transcripts import Pi, found, write

pytestmark = pytest.mark.once

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "search.md").read_text("utf-8")


def rows(heading: str) -> list[tuple[str, ...]]:
    """Return the rows of the table with this heading."""
    (table,) = re.findall(rf"^\| {re.escape(heading)} \|\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [tuple(cell.strip().strip("`") for cell in row.strip("|").split(" | ")) for row in table.splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    sources = [Source(parser=Selection(name=folder.name), path=folder) for folder in sessions_dir().iterdir()]
    with Sesame(sources=sources, data_dir=tmp_path_factory.mktemp("demo")) as sesame:
        sesame.index()
        yield sesame


@pytest.mark.parametrize(("query", "expected"), rows("query | finds"))
def test_an_example_finds_what_the_page_says(query: str, expected: str, demo: Sesame, utc: None) -> None:
    answer = demo.search(query)
    assert {session[:8] for session in found(answer)} == set(re.findall(r"\b[0-9a-f]{8}\b", expected))
    assert not [hint for hint in answer.hints if "read as" in hint]
    assert any("left out by" in hint for hint in answer.hints) == ("operators" in answer.left_out)


@pytest.mark.parametrize(("query", "expected"), rows("query | is read as"))
def test_a_query_is_read_as_the_page_says(query: str, expected: str) -> None:
    assert str(parse(query)) == expected
    assert parse(query) == parse(expected)


@pytest.mark.parametrize(("query", "_"), rows("in a pasted text | is a word"))
def test_pasted_text_is_words_as_the_page_says(query: str, _: str) -> None:
    for text in re.findall("`([^`]*)`", f"`{query}`") or [query]:
        read = parse(text)
        if not text.startswith(("a text", ", ")):
            assert (read.condition, read.filters) == (None, Filters()), text
            assert read.words, text


@pytest.mark.parametrize(("text", "options"), rows("in a question | the filter"))
def test_a_time_has_the_filter_that_the_page_says(text: str, options: str, demo: Sesame) -> None:
    (hint,) = demo.search(text).hints
    assert hint.endswith(f": {options}")


@pytest.mark.parametrize("text", re.findall(r"`([^`]+)`", PAGE.partition("\nLikewise ")[2].partition(". Weeks")[0]))
def test_a_time_that_the_page_names_has_a_filter(text: str, demo: Sesame) -> None:
    assert demo.search(text).hints


@pytest.mark.parametrize("text", re.findall(r"`([^`]+)`", PAGE.partition("is no time: ")[2].partition("\n\n")[0]))
def test_what_the_page_says_is_no_time_has_none(text: str, demo: Sesame) -> None:
    assert [hint for hint in demo.search(text).hints if not hint.startswith("looked in ")] == []


def test_a_misspelled_word_is_answered_as_the_page_says(demo: Sesame) -> None:
    assert 'Showing "carousel" for "carosel"' in PAGE
    assert answer_text(demo.search("carosel"), abbreviate=str).endswith('Showing "carousel" for "carosel"')


def test_every_field_is_on_the_page_with_its_option() -> None:
    table = rows("field | option | a session …")
    fields = {field.partition(":")[0] for field, *_ in table}
    assert fields == set(KEYS) - {"path"}
    assert "`path:` is the same" in PAGE
    options = {option.flag for option in searching.COMMANDS[0].options}
    assert {option for _, option, _ in table} <= options
    assert all(parse(field).words == () and not parse(field).hints for field, *_ in table)


@pytest.mark.parametrize(("query", "weak"), rows("query | weak"))
def test_a_query_is_as_weak_as_the_page_says(query: str, weak: str, demo: Sesame) -> None:
    answer = demo.search(query)
    assert answer.hits
    assert answer.is_weak is {"yes": True, "no": False}[weak]


@pytest.mark.parametrize(("query", "_"), rows("query | a session …"))
def test_the_queries_about_words_have_an_answer(query: str, _: str, demo: Sesame) -> None:
    assert demo.search(query).hits


_CODES = r"`[^`]+`(?:(?:,| and|, and)\s`[^`]+`(?!\sfind))*"
#: Each "`dryrun` finds `dry-run` and `dry_run`" of the section about words, as pairs.
PROMISED = [
    (query, text)
    for queries, texts in re.findall(
        rf"(`[^`]+`)\sfinds\s({_CODES})", PAGE[PAGE.index("## Words") : PAGE.index("## Operators")]
    )
    for query in re.findall("`([^`]+)`", queries)
    for text in re.findall("`([^`]+)`", texts)
]


@pytest.mark.parametrize(("query", "text"), PROMISED)
def test_a_word_finds_what_the_page_says(query: str, text: str, tmp_path: Path) -> None:
    for number, said in enumerate((f"seen here: {text}", "nothing of it", "at all")):
        write(tmp_path / "in" / f"{number}.jsonl", (pi := Pi(f"s{number}")).header(), pi.user(said))
    with in_memory([Source(parser=Selection(name="pi"), path=tmp_path / "in")], tmp_path, plugins_with_memory()) as one:
        one.index()
        assert found(one.search(query)) == ["s0"]


def test_the_page_promises_many_words() -> None:
    assert len(PROMISED) > 30


@pytest.mark.parametrize("block", re.findall(r"^```console\n(\$ sesame .*?)^```", PAGE, re.DOTALL | re.MULTILINE))
def test_an_example_prints_what_is_shown(block: str, indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    for words, expected in steps(block):
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        assert_printed(ran.out.splitlines(), expected)
