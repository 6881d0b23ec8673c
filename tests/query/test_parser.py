"""How a query is read, and written again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_core.query.boolean import positive_words
from sesame_core.query.filters import asked
from sesame_core.query.parser import MAX_WORDS, STOP_WORDS, parse
from sesame_core.query.serializer import unparse
from sesame_core.types.query import AllOf, AnyOf, Condition, Filters, Has, Is, Not, Query

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)

WORDS = {
    # nothing
    "": "",
    "   ": "",
    "*": "",
    "...": "",
    '""': "",
    '"': "",
    "+ - * ++ --": "",
    "(": "",
    "()": "",
    "fox AND": "[fox]",
    "OR fox": "[fox]",
    "fox OR OR dog": "[fox] [dog]",
    "NOT": "[NOT]",
    "AND OR": "[AND] [OR]",
    # words
    "fox": "[fox]",
    "quick brown fox": "[quick] [brown] [fox]",
    "fox FOX Fox": "[fox]",
    "the quick fox and the dog": "[quick] [fox] [dog]",
    "the": "[the]",
    "to be or not to be": "[to] [be] [or] [not]",
    "reconnectBackoff": "[reconnectBackoff|reconnect Backoff]",
    "package.json": "[package.json]",
    "src/main.rs": "[src/main.rs]",
    "snake_case": "[snake_case|snakecase]",
    "C++": "[cplusplus]",
    "a\0b": "[ab]",
    "日本語": "[日本 本語]",
    "用git": "[用*] [git]",
    "--limit": "[--limit]",
    "-": "",
    "-- x": "[x]",
    "well-known": "[well-known|wellknown]",
    "1+1": "[1+1]",
    'say"cheese': "[say] [cheese]",
    "main()": "[main()]",
    # prefixes
    "pre*": "[pre*]",
    "pre**": "[pre*]",
    "p*": "[p]",
    "a*b": "[a*b]",
    "日本*": "[日本*]",
    # alternatives are what words are anyway
    "fox OR dog": "[fox] [dog]",
    "(fox OR dog)": "[fox] [dog]",
    "(fox dog)": "[fox] [dog]",
    '"quick fox" OR dog': "[quick fox] [dog]",
    "+fox": "[fox]",
    "+fox fox": "[fox]",
    '"quick fox"': "[quick fox]",
    '+"quick fox"': "[quick fox]",
    '"unfinished phrase': "[unfinished phrase]",
    '"..." fox': "[fox]",
    "-(-fox)": "[fox]",
    # what other query languages mean by it
    "NEAR(fox dog)": "[NEAR(fox] [dog)]",
    "content:fox": "[content:fox]",
    "fox^2": "[fox^2]",
    "'; DROP TABLE chunks; --": "[DROP] [TABLE] [chunks;]",
}

#: What a session must meet, beside having one of the words.
CONDITIONS = {
    "+fox dog": ("[dog] [fox]", "fox"),
    "fox dog +fox": ("[dog] [fox]", "fox"),
    "+fox +dog": ("[fox] [dog]", "fox & dog"),
    "fox AND dog": ("[fox] [dog]", "fox & dog"),
    "fox AND the dog": ("[fox] [dog]", "fox & dog"),
    "+the fox": ("[fox] [the]", "the"),
    "the AND fox": ("[the] [fox]", "the & fox"),
    "fox AND quick dog": ("[fox] [quick] [dog]", "fox & (quick | dog)"),
    "(fox OR dog) AND cat": ("[fox] [dog] [cat]", "(fox | dog) & cat"),
    "fox OR dog AND cat": ("[fox] [dog] [cat]", "fox | (dog & cat)"),
    "((fox AND (dog)) OR cat)": ("[fox] [dog] [cat]", "(fox & dog) | cat"),
    "+(fox dog) cat": ("[cat] [fox] [dog]", "fox | dog"),
    '"quick fox" dog': ("[dog] [quick fox]", "quick fox"),
    '"quick fox" "lazy dog"': ("[quick fox] [lazy dog]", "quick fox & lazy dog"),
    "fox -dog": ("[fox]", "!dog"),
    "fox NOT dog": ("[fox]", "!dog"),
    "fox AND NOT dog": ("[fox]", "!dog"),
    "NOT NOT dog fox": ("[dog] [fox]", ""),
    "NOT -dog fox": ("[dog] [fox]", ""),
    "-dog": ("", "!dog"),
    "-pre*": ("", "!pre*"),
    '-"quick fox" dog': ("[dog]", "!quick fox"),
    "fox -(dog cat)": ("[fox]", "!(dog | cat)"),
    "fox -(dog AND cat)": ("[fox]", "!(dog & cat)"),
    "fox OR dog -cat": ("[fox] [dog]", "!cat"),
    "(fox -cat) OR dog": ("[fox] [dog]", "(fox & !cat) | dog"),
    "fox OR -dog": ("[fox]", "fox | !dog"),
    "fox -fox": ("[fox]", "!fox"),
    "fox AND (dog": ("[fox] [dog]", "fox & dog"),
    "fox AND dog)": ("[fox] [dog)]", "fox & dog)"),
    "(main() AND fox)": ("[main()] [fox]", "main() & fox"),
    "fox -agent:pi": ("[fox]", "!{agents=('pi',)}"),
    "agent:pi OR tool:bash": ("", "{agents=('pi',)} | {tool='bash'}"),
    "file:a.py file:b.py": ("", "{path='b.py'}"),
    "agent:pi fox OR agent:xyz": ("[fox]", "({agents=('pi',)} & fox) | {agents=('xyz',)}"),
}

FIELDS = {
    "cwd:/w/app": Filters(cwd="/w/app"),
    'cwd:"/w/my app/"': Filters(cwd="/w/my app"),
    "CWD:/w/app/../lib": Filters(cwd="/w/lib"),
    "repo:fox branch:main": Filters(repo="fox", branch="main"),
    "agent:pi": Filters(agents=("pi",)),
    "agent:pi agent:claude-code": Filters(agents=("pi", "claude-code")),
    "tool:Bash": Filters(tool="Bash"),
    "file:src/config.ts": Filters(path="src/config.ts"),
    "path:src/config.ts": Filters(path="src/config.ts"),
    'cmd:"git push"': Filters(cmd="git push"),
    "role:User": Filters(role="user"),
    "model:opus": Filters(model="opus"),
    "is:error": Filters(is_error=True),
    "after:7d": Filters(after=datetime(2026, 5, 1, 12, 0, tzinfo=UTC)),
    "before:2026-05-01": Filters(before=datetime(2026, 5, 1, 23, 59, 59, 999999, tzinfo=UTC)),
    "+agent:pi": Filters(agents=("pi",)),
    "NOT -agent:pi": Filters(agents=("pi",)),
    "(agent:pi (is:error))": Filters(agents=("pi",), is_error=True),
    "agent:pi AND is:error": Filters(agents=("pi",), is_error=True),
    "agent:": Filters(),
}


def told(query: Query) -> str:
    """Write a query's words compactly: each in brackets, with its alternatives."""
    return " ".join(f"[{'|'.join(word.alternatives)}]" for word in query.words)


def shown(condition: Condition | None, *, inside: bool = False) -> str:
    """Write a condition compactly."""
    match condition:
        case None:
            return ""
        case Has(word):
            return word.text
        case Is(filters):
            return "{" + ", ".join(f"{name}={value!r}" for name, value in asked(filters).items()) + "}"
        case Not(part):
            return "!" + shown(part, inside=True)
        case AllOf(parts) | AnyOf(parts):
            text = (" & " if isinstance(condition, AllOf) else " | ").join(shown(part, inside=True) for part in parts)
            return f"({text})" if inside else text


@pytest.mark.parametrize(("text", "words"), WORDS.items(), ids=[repr(text) for text in WORDS])
def test_words_are_read_as_a_person_meant_them(text: str, words: str) -> None:
    query = parse(text)
    assert (told(query), query.condition, query.filters, query.hints) == (words, None, Filters(), ())
    assert query.text == text


@pytest.mark.parametrize(("text", "expected"), CONDITIONS.items(), ids=[repr(text) for text in CONDITIONS])
def test_operators_mean_what_they_say(text: str, expected: tuple[str, str]) -> None:
    query = parse(text)
    assert (told(query), shown(query.condition)) == expected


@pytest.mark.parametrize(("text", "expected"), FIELDS.items(), ids=[repr(text) for text in FIELDS])
def test_fields_become_filters(text: str, expected: Filters, utc: None) -> None:
    query = parse(f"fox {text}", now=NOW)
    assert query.filters == expected
    assert query.condition is None
    assert query.words[0].text == "fox"


def test_a_directory_may_be_the_present_one_or_in_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert parse("cwd:.").filters == Filters(cwd=str(home))
    assert parse("cwd:~/fox").filters == Filters(cwd=str(home / "fox"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("agnt:pi", "did you mean agent:pi?"),
        ("tools:bash", "did you mean tool:bash?"),
        ("after:soon", "'soon' is not a date"),
        ("before:2026-13-01", "'2026-13-01' is not a date"),
        ("is:fine", "use is:error"),
        ("role:king", "'king' is not a role"),
        ("cmd:...", "'...' does not contain a word"),
        ("-after:soon", "'soon' is not a date"),
    ],
)
def test_a_field_that_means_nothing_is_a_word_and_a_hint_says_so(text: str, hint: str) -> None:
    query = parse(f"fox {text}")
    (told_hint,) = query.hints
    assert hint in told_hint
    assert told_hint.startswith(text.removeprefix("-"))
    assert query.filters == Filters()
    assert text.removeprefix("-") in unparse(query)


@pytest.mark.parametrize("text", ["https://example.org/a", "std::vector", "10:30", "line:42", r"C:\Users\bo", "note:x"])
def test_other_words_with_a_colon_are_words(text: str) -> None:
    query = parse(text)
    assert [word.text for word in query.words] == [text]
    assert query.hints == ()


def test_only_the_first_words_are_searched_for() -> None:
    query = parse(" ".join(f"word{n}" for n in range(100)))
    assert len(query.words) == MAX_WORDS
    query = parse(" ".join(f"word{n} -no{n}" for n in range(100)))
    assert len(query.words) == MAX_WORDS
    assert isinstance(query.condition, AllOf)
    assert len(query.condition.parts) == MAX_WORDS


def test_stop_words_are_left_out_whatever_their_case() -> None:
    assert told(parse("The FOX")) == "[FOX]"
    assert "fox" not in STOP_WORDS


def test_words_below_a_not_are_not_ranked() -> None:
    assert told(parse("fox -(dog -cat)")) == "[fox]"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "(" * 30 + "fox" + " OR dog) AND cat)" * 30,
        "(fox AND " * 200 + "dog",
        "NOT " * 9_999 + "fox",
        "-(" * 500 + "fox",
        " OR ".join(f"(a{n % 9} AND b{n})" for n in range(3_000)),
        " ".join(f"file:{n}.py" for n in range(3_000)),
        "x" * 1_000_000,
        "fox AND " * 10_000,
    ],
    ids=lambda text: text[:20],
)
def test_a_huge_query_is_read_too(text: str) -> None:
    assert parse(unparse(parse(text))) == parse(text)


def test_a_query_that_is_too_deep_is_read_as_words_and_a_hint_says_so() -> None:
    query = parse("".join(f"(a{n} OR b{n} AND " for n in range(20)) + "fox")
    assert query.condition is None
    assert len(query.words) == MAX_WORDS
    assert "plain words" in query.hints[0]


WRITTEN = {
    "fox dog": "fox dog",
    "fox OR dog": "fox dog",
    "fox AND dog": "+fox +dog",
    "fox NOT dog": "fox -dog",
    '"quick fox" dog': 'dog +"quick fox"',
    '"quick fox" OR dog -cat': '("quick fox" OR dog) -cat',
    "(fox AND dog) OR cat": "+((+fox +dog) OR cat)",
    "fox -(dog AND cat)": "fox -(+dog +cat)",
    "fox file:config.ts is:error": "fox file:config.ts is:error",
    'cwd:"/my dir" -agent:pi': 'cwd:"/my dir" -agent:pi',
    "agent:pi OR tool:bash": "+(agent:pi OR tool:bash)",
    "the AND": '"the"',
}


@pytest.mark.parametrize(("text", "expected"), WRITTEN.items(), ids=[repr(text) for text in WRITTEN])
def test_a_query_is_written_plainly(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


PIECES = [
    *("fox", "dog", "cat", "the", "pre*", "p*", "用git", "main()", "a.b", '"a phrase"', '"the', "AND", "OR", "NOT"),
    *("(", ")", "-", "+", "-(", "+(", '"', "agent:pi", "-branch:x", "is:error", "file:a", "file:b", 'cwd:"/a b"'),
    *("agnt:x", "after:7d", "after:soon", "role:user", "cmd:go*", ":", " ", "\0", "\ud800", "*", "[]{}^~"),
]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES), max_size=30).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda space: space.join(pieces))
)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_is_a_query_and_writing_it_keeps_its_meaning(text: str) -> None:
    query = parse(text, now=NOW)
    for word in (*query.words, *positive_words(query.condition)):
        assert word.alternatives
        for alternative in word.alternatives:
            assert any(character.isalnum() for character in alternative), word
            alternative.encode()
    written = unparse(query)
    assert parse(written, now=NOW) == query
    assert unparse(parse(written, now=NOW)) == written
