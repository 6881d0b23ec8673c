"""What counts as a word."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.text.compounds import REMEMBERED, camel_parts
from sesame_core.text.spellings import alternatives
from sesame_core.text.tokens import clean, pieces, subwords


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("reconnectBackoff", "reconnect Backoff"),
        ("ReconnectBackoff", "Reconnect Backoff"),
        ("HTTPServerError", "HTTP Server Error"),
        ("getHTTP", "get HTTP"),
        ("HTTP", "HTTP"),
        ("lower", "lower"),
        ("utf8Decoder", "utf 8 Decoder"),
        ("base64", "base 64"),
        ("aB", "a B"),
        ("IDs", "I Ds"),
    ],
)
def test_parts_of_a_camel_case_word(word: str, parts: str) -> None:
    assert camel_parts(word) == parts
    assert camel_parts(word) == parts, "remembered the same"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain words only", ""),
        ("Capital HTTP words", ""),
        ("const reconnectBackoff = 1", "reconnect Backoff"),
        ("getHTTP(fooBar).fooBar", "get HTTP foo Bar"),
        ("snake_caseAndCamel", "case And Camel caseAnd AndCamel"),
        ("createWebSocketServer", "create Web Socket Server createWeb WebSocket SocketServer"),
        ("buildGraphQLSchema", "build Graph QL Schema buildGraph GraphQL QLSchema"),
        ("IPv6AddressRange", "I Pv 6 Address Range IPv Pv6 AddressRange IPv6 IPv6Address"),
        ("OAuth2Token", "O Auth 2 Token OAuth Auth2 OAuth2"),
        ("k8sClient", "k 8 s Client k8 sClient k8s"),
        ("LaTeXParser", "La Te X Parser LaTe TeX XParser LaTeX TeXParser"),
        ("at 2026-11-29T10:00:00.000Z", "29 T 10 000 Z"),
        ("a" * 19 + "Bb" * 2, "a" * 19 + " Bb Bb BbBb"),
        ("src/HTTPServer.ts", "HTTP Server"),
        ("x" * 90 + "Yz", "x" * 90 + " Yz"),
        ("x" * 100 + "Yz", ""),
        ("日本語", "日本 本語 語"),
        ("東京 東京", "東京 京"),
        ("用git提交", "用 提交 交 git"),
        ("ひらがなkatakanaカタカナ", "ひら らが がな な カタ タカ カナ ナ katakana"),
        ("한국어", "한국 국어 어"),
        ("größerAls", "er Als grosserals"),
        ("Straße und Straße", "strasse"),
        ("ﾃｽﾄ", "テスト テス スト ト"),
        ("soft\u00adware", "software"),
        ("¨¯¹", "1"),
        ("🔥🔥 👍🏽 👍", "u1f525 u1f525 u1f44d"),
        ("👨‍👩‍👧", "u1f468 u1f469 u1f467"),
        ("C++ and C#, c++", "cplusplus csharp"),
        ("C++17 c#4 VC++", "cplusplus csharp"),
        ("C++/CLI, F#, C++0x, C#12", "cplusplus fsharp csharp"),
        ("dec++x VC++17 #c#abc c#fff", ""),
        (".NET 8, ASP.NET, .Net", "dotnet"),
        ("System.Net.Http, example.net, .NETWORK, .Netlify", ""),
        ("┌──┐ “quoted” → x ≠ y…", ""),
        ("naïve café", ""),
    ],
)
def test_words_inside_words(text: str, expected: str) -> None:
    assert subwords(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("fox", ["fox"]),
        ("...", []),
        ("_", []),
        ("", []),
        ("a-b", ["a-b"]),
        ("用git提交", ["用", "git", "提交"]),
        ("日本語、東京", ["日本語", "東京"]),
        ("café", ["café"]),
        ("done🚀launch", ["done", "🚀", "launch"]),
        ("👨‍👩‍👧", ["👨‍👩‍👧"]),
        ("→", []),
        ("\U0001f3fd", []),
    ],
)
def test_a_word_of_a_query_is_split_where_its_script_changes(word: str, expected: list[str]) -> None:
    assert pieces(word) == expected


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("fox", ("fox",)),
        ("reconnectBackoff", ("reconnectBackoff", "reconnect Backoff")),
        ("snake_case", ("snake_case", "snakecase")),
        ("--dry-run", ("--dry-run", "dryrun")),
        ("three-part-name", ("three-part-name",)),
        ("renewal_s", ("renewal_s",)),
        ("don't", ("don't",)),
        ("I'll", ("I'll",)),
        ("O\u2019Reilly", ("O\u2019Reilly", "OReilly")),
        ("CI/CD", ("CI/CD", "CICD")),
        ("src/main", ("src/main",)),
        ("node.js", ("node.js", "nodejs")),
        ("nodejs", ("nodejs", "node js")),
        ("UTF-8", ("UTF-8", "UTF8")),
        ("1_000_000", ("1_000_000", "1000000")),
        ("1,000", ("1,000", "1000")),
        ("1000000", ("1000000", "1 000 000")),
        ("0800", ("0800",)),
        ("setup", ("setup", "set up")),
        ("workaround", ("workaround", "work around")),
        ("indices", ("indices", "index")),
        ("writing", ("writing", "wrote", "written")),
        ("Wrote", ("Wrote", "write", "written")),
        (".NET", ("dotnet",)),
        ("F#", ("fsharp",)),
        ("결제모듈", ("결제 제모 모듈", "결제 모듈*")),
        ("package.json", ("package.json",)),
        ("日", ("日*",)),
        ("日本", ("日本",)),
        ("日本語", ("日本 本語",)),
        ("café", ("café",)),
        ("42", ("42",)),
        ("1.2.3", ("1.2.3", "v1.2.3")),
        ("v1.2.3-rc.1", ("v1.2.3-rc.1", "1.2.3-rc.1")),
        ("c#", ("csharp",)),
        ("C++17", ("C++17",)),
        ("Straße", ("Straße", "strasse")),
        ("ﾃｽﾄ", ("テス スト",)),
        ("ｶ", ("カ*",)),
        ("👍🏽", ("u1f44d",)),
    ],
)
def test_what_is_looked_for(piece: str, expected: tuple[str, ...]) -> None:
    assert alternatives(piece) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fox", "fox"),
        ("f\0o\0x", "fox"),
        ("\ud83e\udd8a", "\N{FOX FACE}"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("日本", "日本"),
    ],
)
def test_clean_text(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(alphabet=st.characters(codec=None)))
def test_clean_text_can_be_stored(text: str) -> None:
    assert "\0" not in clean(text)
    clean(text).encode()
    assert clean(clean(text)) == clean(text)


@given(st.text())
def test_no_text_breaks_the_words(text: str) -> None:
    found = subwords(text)
    assert "  " not in found
    for word in text.split():
        for piece in pieces(word):
            assert all(alternative.strip() for alternative in alternatives(piece))


@given(st.from_regex(r"[a-z]{2,8}([A-Z][a-z]{1,8}){1,3}", fullmatch=True))
def test_what_is_asked_for_was_written_out(word: str) -> None:
    """The parts of a camelCase word follow each other in the subwords of a text with it."""
    assert f" {camel_parts(word)} " in f" {subwords(f'call {word}() twice')} "


@given(st.text(alphabet="日本語東京検索", min_size=2, max_size=10))
def test_what_is_asked_for_was_written_out_in_cjk(word: str) -> None:
    (phrase,) = alternatives(word)
    assert f" {phrase} " in f" {subwords(f'x {word} y')} "


def test_remembered_parts_take_bounded_memory() -> None:
    for number in range(REMEMBERED + 10):
        camel_parts(f"word{number}Camel")
    assert camel_parts.cache_info().currsize == REMEMBERED


@pytest.mark.parametrize(
    "text", ["aB" * 500_000, "x" * 1_000_000, "日" * 300_000, "aB " * 300_000], ids=["hump", "run", "cjk", "words"]
)
def test_a_long_text_takes_linear_time(text: str) -> None:
    started = time.perf_counter()
    subwords(text)
    assert time.perf_counter() - started < 5


@pytest.mark.once
@pytest.mark.parametrize(
    "text", ["e\N{COMBINING ACUTE ACCENT}", "\N{MATHEMATICAL FRAKTUR CAPITAL U}", "\u1100", "ab\u0301"]
)
def test_a_word_of_thousands_of_letters_takes_no_time_that_grows_with_its_square(text: str) -> None:
    began = time.process_time()
    subwords(text * (20_000 // len(text)))
    assert time.process_time() - began < 1.5  # the square takes 4 to 7 s
