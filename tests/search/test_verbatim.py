"""What stands in a session word for word comes first, on every backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sesame_core import Filters, Sesame
from sesame_core.rendering.answers import answer_json

from ..support.every_backend import BACKENDS, indexed
from ..support.transcripts import found

#: What is pasted, what the wanted session says, and what others say that BM25 prefers.
TABLE: dict[str, tuple[str, str, str]] = {
    "wire": (
        "loose wire",
        "the rattle was " + "a sound in the dark " * 9 + "of a loose wire",
        "loose loose screw loose",
    ),
    "packages": (
        "cannot write multiple packages",
        "go: " + "downloading a module " * 9 + "cannot write multiple packages to a file",
        "packages: cannot. multiple packages? write packages",
    ),
    "create": (
        "gh pr create",
        "ran " + "it again and then " * 9 + "gh pr create",
        "gh pr view createdAt gh pr created_at",
    ),
    "listing": (
        "drwxr-xr-x@  4 ann  staff   128 Feb 26",
        "total 8 " + "-rw-r--r-- 1 root wheel 12 Jan " * 9 + "\ndrwxr-xr-x@  4 ann  staff   128 Feb 26 15:36 .",
        "drwxr-xr-x  4 ann  staff  128 Feb 26 15:36 ..",
    ),
    "cut": (
        "ds needed for provenance onc",
        "the fields needed " + "for it " * 9 + "are the fields needed for provenance once set",
        "needed: provenance, needed for provenance",
    ),
    "stop": ("was it not so before", "well, " + "I think that " * 9 + "was it not so before?", "before, not so"),
    "quoted": (
        'File "x.py", line 3',
        "in " + "a frame of " * 9 + 'File "x.py", line 3, in run',
        "line 3 of the file x.py",
    ),
    "chinese": (
        "修复搜索功能的错误信息",
        "我们" + "讨论了很多事情。" * 9 + "修复搜索功能的错误信息。",
        "搜索 功能 错误 信息 修复 搜索 功能",
    ),
}


@pytest.fixture(scope="module", params=BACKENDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    sessions: dict[str, tuple[str, ...]] = {}
    for name, (_, wanted, other) in TABLE.items():
        sessions[name] = ("hello", wanted, "thanks")
        sessions |= {f"{name}-{n}": (other, other) for n in range(3)}
    sessions |= {f"filler{n}": (f"something else about topic {n}",) for n in range(30)}
    sessions["long"] = ("the log", "INFO worker handled request " * 4_000 + "narwhal sleeps beneath quiet ice floes")
    sessions |= {f"narwhal{n}": ("narwhal ice", "a narwhal sleeps") for n in range(3)}
    with indexed(request, tmp_path_factory.mktemp("verbatim"), sessions) as sesame:
        yield sesame


@pytest.mark.parametrize("name", TABLE)
def test_a_pasted_line_comes_first_wherever_it_stands(name: str, library: Sesame) -> None:
    query, wanted, _ = TABLE[name]
    answer = library.search(query)
    assert found(answer)[0] == name
    assert not answer.is_weak
    hit = answer.hits[0]
    assert hit.chunk is not None
    assert hit.chunk.text == wanted, "the passage that has it is shown"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ('"loose wire"', "wire"),
        ('"Cannot write MULTIPLE packages"', "packages"),
        ("gh-pr-create", "create"),
        ('"narwhal sleeps beneath quiet ice floes"', "long"),
        ('"was it not so before"', "stop"),
    ],
)
def test_a_query_that_is_one_phrase_has_the_explanation_of_its_words(query: str, name: str, library: Sesame) -> None:
    """Its candidates are the chunks with the phrase, which is not looked up again."""
    found, *_ = answer_json(library.search(query, limit=1, explain=True))["results"]
    plain, *_ = answer_json(library.search(query.replace("-", " ").strip('"'), limit=1, explain=True))["results"]
    assert found["sessionId"] == plain["sessionId"] == name
    assert found["explain"]["verbatim"] in {"characters", "words"}


def test_a_line_at_the_end_of_a_long_output_comes_first(library: Sesame) -> None:
    assert found(library.search("narwhal sleeps beneath quiet ice floes"))[0] == "long"


def test_the_explanation_says_what_a_text_has_of_the_query(library: Sesame) -> None:
    first, second = answer_json(library.search("loose wire", limit=2, explain=True))["results"]
    assert (first["explain"]["verbatim"], second["explain"]["verbatim"]) == ("characters", None)
    assert first["explain"]["verbatimPart"] > first["score"] / 2
    assert second["score"] < 0.5


def test_pages_have_one_order_when_a_pasted_line_is_first(library: Sesame) -> None:
    whole = found(library.search("gh pr create", limit=4))
    assert [found(library.search("gh pr create", limit=1, offset=n))[0] for n in range(4)] == whole


def test_filters_hold_for_what_stands_word_for_word(library: Sesame) -> None:
    assert "create" not in found(library.search("gh pr create", Filters(role="assistant")))
    assert "create" not in found(library.search("gh pr create", Filters(exclude=("create",))))
    assert found(library.search("gh pr create role:user"))[0] == "create"
    assert "create" not in found(library.search("gh pr create -again"))


def test_a_session_without_the_words_as_typed_is_behind_one_with_them(library: Sesame) -> None:
    assert found(library.search("something else about topic 7"))[0] == "filler7"
