"""How a query is read, and written again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_core.query.boolean import positive_words
from sesame_core.query.filters import asked
from sesame_core.query.parser import MAX_KNOWN, STOP_WORDS, parse
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


def told(query: Query, *, alternatives: bool = True) -> str:
    """Write a query's words compactly: each in brackets, with its alternatives."""
    return " ".join(f"[{'|'.join(word.alternatives if alternatives else [word.text])}]" for word in query.words)


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
    assert (told(query, alternatives=False), shown(query.condition)) == expected


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


def test_a_long_text_keeps_its_words_up_to_a_bound() -> None:
    assert len(parse(" ".join(f"word{n}" for n in range(100))).words) == 100
    query = parse(" ".join(f"word{n}" for n in range(1_000)))
    assert len(query.words) == MAX_KNOWN
    assert query.hints == ("only the first 400 different words of the query were read",)


def test_a_long_text_has_no_operators_but_fields_at_its_ends_and_a_hint_says_so() -> None:
    text = " ".join(f"word{n} -no{n}" for n in range(20))
    query = parse(f'agent:pi {text} "in quotes" path:/x NOT this AND (that) after:2026-05-01', now=NOW)
    assert (query.condition, query.filters.agents, query.filters.path) == (None, ("pi",), None)
    assert query.filters.after is not None
    assert {"word3", "no3", "quotes", "path:/x"} <= {word.text for word in query.words}
    assert "plain words" in query.hints[0]
    assert parse(" ".join(f"word{n}" for n in range(100))).hints == ()


PASTED = {
    # text
    "git rebase -i autosquash": ("[git] [rebase] [-i] [autosquash]", ""),
    "docker run -it ubuntu": ("[docker] [run] [-it] [ubuntu]", ""),
    "exit code -1073741819": ("[exit] [code] [-1073741819]", ""),
    "gcc -lpthread": ("[gcc] [-lpthread]", ""),
    "tar -xzf a.tgz": ("[tar] [-xzf] [a.tgz]", ""),
    "JVM -Xmx4g -XX:+UseG1GC": ("[JVM] [-Xmx4g] [-XX:+UseG1GC]", ""),
    "sudo netstat -tulpn": ("[sudo] [netstat] [-tulpn]", ""),
    "find . -name fox": ("[find] [-name] [fox]", ""),
    "run --rm -detach": ("[run] [--rm] [-detach]", ""),
    "chmod +x it": ("[chmod] [+x]", ""),
    "vote +1": ("[vote] [+1]", ""),
    "the lock is NOT released": ("[lock] [released]", ""),
    "column IS NOT NULL": ("[column] [NULL]", ""),
    "NOT gate": ("[gate]", ""),
    "WIDGET FOO AND BAR NOT BAZ": ("[WIDGET] [FOO] [BAR] [BAZ]", ""),
    'fox "lazy dog': ("[fox] [lazy] [dog]", ""),
    'fox -"lazy dog': ("[fox] [lazy] [dog]", ""),
    'fox 5" wide "dog" cat': ("[fox] [5] [wide] [cat] [dog]", "dog"),
    "Error: path:/x lost": ("[Error:] [path:/x] [lost]", ""),
    "a, host:b c": ("[a,] [host:b] [c]", ""),
    "open file:///etc/fox": ("[open] [file:///etc/fox]", ""),
    "fox host:8080": ("[fox] [host:8080]", ""),
    "open x: cannot find -lssl": ("[open] [x:] [cannot] [find] [-lssl]", ""),
    "return -EINVAL;": ("[return] [-EINVAL;]", ""),
    "x = -foo(bar)": ("[x] [-foo(bar)]", ""),
    "go test -run TestFox": ("[go] [test] [-run] [TestFox]", ""),
    "-Wall -Werror -O2": ("[-Wall] [-Werror] [-O2]", ""),
    'CONSTRAINT "fk" FOREIGN KEY AND INDEX': ("[CONSTRAINT] [FOREIGN] [KEY] [INDEX] [fk]", "fk"),
    # operators
    "go -gin": ("[go]", "!gin"),
    "python -django": ("[python]", "!django"),
    "fox -iOS": ("[fox]", "!iOS"),
    "find fox -dog": ("[find] [fox]", "!dog"),
    "sort -quick": ("[sort]", "!quick"),
    "ssh keys -aws": ("[ssh] [keys]", "!aws"),
    "docker -swarm": ("[docker]", "!swarm"),
    "JSON AND YAML": ("[JSON] [YAML]", "JSON & YAML"),
    "AWS NOT GCP": ("[AWS]", "!GCP"),
    'fox -"i"': ("[fox]", "!i"),
    "fox NOT js": ("[fox]", "!js"),
    "+go fox": ("[fox] [go]", "go"),
}


@pytest.mark.parametrize(("text", "expected"), PASTED.items(), ids=[repr(text) for text in PASTED])
def test_pasted_text_is_text_and_operators_stay_operators(text: str, expected: tuple[str, str]) -> None:
    query = parse(text)
    assert (told(query, alternatives=False), shown(query.condition)) == expected
    assert query.filters == Filters()
    assert parse(unparse(query)) == query


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("fox -js", "-js was read as a word; to exclude it: NOT js"),
        ("tar -xzf fox", "-xzf was read as a word; to exclude it: NOT xzf"),
        ("NOT gate", "NOT was read as a word; to list the sessions without gate: -gate"),
        ("Error: path:/x", "path:/x was read as a word; to filter by it, begin the query with it"),
    ],
)
def test_a_word_that_may_have_been_an_operator_is_told(text: str, hint: str) -> None:
    assert parse(text).hints == (hint,)


def test_stop_words_are_left_out_whatever_their_case() -> None:
    assert told(parse("The FOX")) == "[FOX]"
    assert "fox" not in STOP_WORDS


def test_words_below_a_not_are_not_ranked() -> None:
    assert told(parse("fox -(dog -cat)")) == "[fox]"


@pytest.mark.once
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
    query = parse(text)
    assert parse(unparse(query)) == query


def test_a_query_that_is_too_deep_is_read_as_words_and_a_hint_says_so() -> None:
    query = parse("".join(f"(a{n} OR b{n} AND " for n in range(20)) + "fox")
    assert query.condition is None
    assert len(query.words) == 41
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
    *(
        "-i",
        "-x",
        "NOT -i",
        "-lpthread",
        "gcc",
        "tar",
        "-xzf",
        "--all",
        "+1",
        "+x",
        "-5",
        "-Xmx4g",
        "-a=b",
        "NULL",
        "is",
    ),
    *("LOUD", "Error:", "one,", "host:80", "file:///x", "path:/x)", "-naming", "NOT naming", '-"i"', '+"x"', "find"),
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
