"""Which words of a text find it, through files, an index and a search; the table of what a word is.

One session per text, so that a query shows at once what else it finds.
"""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing

import pytest

from sesame_core import Sesame
from sesame_core.text.folding import folded
from sesame_core.text.spellings import alternatives
from sesame_core.text.tokens import pieces, subwords

from ..support.transcripts import found, library

#: Name, text, queries that find it, and queries that do not (separated by spaces).
TABLE: tuple[tuple[str, str, str, str], ...] = (
    # -- names in code
    ("camelCase", "call fetchQuotaBudget now", "fetchQuotaBudget fetchquotabudget quota QUOTA quotaBudget", "uota"),
    ("PascalCase", "class HTTPGatewayError raised", "HTTPGatewayError gateway gatewayError", "httpgate atewayError"),
    ("snake_case", "the lease_renewal_ms setting", "lease_renewal_ms renewal LEASE_RENEWAL_MS renewal_ms", "renewal_s"),
    ("kebab-case", "the canary-rollout-gate job", "canary-rollout-gate rollout canary-rollout", "gate-rollout-canary"),
    ("SCREAMING", "raise MAX_SHARD_SIZE first", "MAX_SHARD_SIZE max_shard_size shard", "max_size_shard"),
    ("dotted", "import lantern.nn.functional please", "lantern.nn.functional nn.functional functional", "nn.lantern"),
    ("several humps", "parseTOML_v2Walker fails", "parseTOML_v2Walker toml walker parseTOML", "tomlparse"),
    (
        "call",
        "obj.dispatchAll(arg1, arg2)",
        "obj.dispatchAll dispatchAll() dispatch obj.dispatchAll(arg1",
        "objdispatch",
    ),
    ("generic", "std::vector<Widget> w", "std::vector<Widget> std::vector vector<Widget>", "widget::vector"),
    # -- files
    (
        "Unix path",
        "edit /home/ann/lib/app/prefs.ts there",
        "/home/ann/lib/app/prefs.ts app/prefs.ts prefs",
        "prefs/app",
    ),
    (
        "Windows path",
        r"open C:\Users\bo\gizmo\Start.rs",
        r"C:\Users\bo\gizmo\Start.rs gizmo\Start.rs gizmo",
        r"rs\gizmo",
    ),
    (
        "file name",
        "see yearly-report.final.xlsx",
        "yearly-report.final.xlsx xlsx final.xlsx yearly-report",
        "report.xlsx",
    ),
    # -- versions, places, numbers
    ("version", "upgrade to v7.2.3-rc.1 today", "v7.2.3-rc.1 7.2.3 v7.2.3 7.2.3-rc.1", "v7.3.2 7.2.4"),
    ("bare version", "upgrade to 4.17.21 today", "4.17.21 4.17 v4.17.21", "4.21 v4.17.22"),
    (
        "URL",
        "GET https://api.example.com/v2/parcels?state=open&page=3#top",
        "https://api.example.com/v2/parcels?state=open&page=3#top api.example.com state=open parcels page=3",
        "page=4 example.org",
    ),
    ("email", "mail ann.smith+ci@example.net now", "ann.smith+ci@example.net ann.smith @example.net", "smith.ann"),
    (
        "UUID",
        "id 5f0c3a7e-9b1d-4e2f-8a6b-c7d8e9f0a1b2 lost",
        "5f0c3a7e-9b1d-4e2f-8a6b-c7d8e9f0a1b2 5f0c3a7e 5F0C3A7E-9B1D 5f0c3* 5f0c3a7 c7d8e9f0a1b2",
        "5f0c3a7f 9b1d-5f0c3a7e 0c3a7e",
    ),
    (
        "commit",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
        "9fceb02d0ae598e95dc970b74767f19372d61af8 9fceb02 9fceb02d0ae 9fce*",
        "9fceb03 fceb02d0 9fceb02d1",
    ),
    ("error code", "error[E0502]: cannot borrow", "E0502 error[E0502] e0502", "E0503 0502"),
    ("error name", "ERR_WIDGET_NOT_FOUND thrown", "ERR_WIDGET_NOT_FOUND err_widget widget_not_found", "err_not_found"),
    ("error with number", "got error-401 back", "error-401 401", "error-402 4011"),
    ("hexadecimal", "segfault at 0xDEADBEEF", "0xDEADBEEF 0xdeadbeef", "deadbee1"),
    ("port", "listening on localhost:8080", ":8080 8080 localhost:8080", ":8081 808"),
    ("flag", "run with --no-retouch please", "--no-retouch no-retouch retouch", "--retouch-no"),
    ("variable", "set $LEDGER_URL=postgres://db", "$LEDGER_URL LEDGER_URL ledger ${LEDGER_URL}", "URL_LEDGER"),
    ("IP address", "ping 192.168.7.10 fails", "192.168.7.10 192.168.7", "192.168.10"),
    ("ticket", "fixes #1234 and LANT-567", "#1234 1234 LANT-567 567", "#123 LANT-568"),
    # -- names with signs
    ("C", "written in C mostly", "C c", "C++ C# cplusplus csharp"),
    ("C++", "written in C++ mostly", "C++ c++", "C#"),
    ("C#", "written in C# mostly", "C# c#", "C++"),
    (".NET", "targets .NET 8", ".NET net .NET-8", "8-.NET"),
    ("scoped package", "npm i @acme/pkg-name", "@acme/pkg-name pkg-name acme @acme", "pkg-acme"),
    # -- scripts without spaces
    ("Chinese", "数据库迁移失败", "数 数据 数据库 数据库迁 迁移失败 数据库迁移失败 败", "库数 数库 失迁"),
    ("Chinese and Latin", "使用Valkey缓存", "Valkey valkey 缓存 使用 使用Valkey Valkey缓存 缓", "存缓"),
    ("Japanese", "検索エンジンを作る", "検索 エンジン 検索エンジン 作る 索", "索検 ンエ"),
    ("kana", "ひらがなとカタカナ", "ひらがな カタカナ がな", "かな ナカ"),
    ("half-width kana", "ﾌｧｲﾙ不明", "ﾌｧｲﾙ ファイル 不明", "ルイ"),
    ("decomposed kana", unicodedata.normalize("NFD", "ベランダ"), "ベランダ ランダ", "ヘランタ"),
    ("Korean", "데이터베이스 연결", "데이터베이스 데이터 연결 베이스", "스데"),
    ("decomposed Korean", unicodedata.normalize("NFD", "설정파일"), "설정파일 파일", "일파"),
    ("Thai", "ฐานข้อมูลล้มเหลว", "ฐานข้อมูลล้มเหลว ฐานข้อมูล ข้อมูล ล้มเหลว", "เหลวล้ม"),
    # -- letters
    ("Cyrillic", "Ошибка подключения", "ошибка ОШИБКА подключения", "ошибко"),
    ("Cyrillic with a mark", "ёлка зелёная", "ёлка елка ЁЛКА Елка", "илка"),
    ("Cyrillic letters that look marked", "мой край", "мой МОЙ", "мои"),
    ("Greek", "Σφάλμα στην οδός", "σφάλμα ΣΦΑΛΜΑ σφαλμα οδός ΟΔΟΣ οδοσ", "σφαλμο"),
    ("composed accents", "une soufflé brûlée", "soufflé souffle SOUFFLÉ souffle\u0301 brulee", "souffla"),
    ("decomposed accents", "une piqu\u0301re le\u0301ge\u0300re", "légère legere LÉGÈRE le\u0301ge\u0300re", "legera"),
    ("sharp s", "die Straße gesperrt", "Straße straße STRASSE strasse STRAẞE", "strase"),
    ("umlaut", "ein größerer Überlauf", "größerer GRÖSSERER grosserer Überlauf uberlauf", "groserer"),
    ("Turkish", "ışıklı İskele", "ışıklı IŞIKLI isikli İskele iskele ISKELE", "osikli"),
    ("Polish", "Łódź żółć", "Łódź łódź lodz zolc żółć", "zodz"),
    ("Danish", "smørrebrød æble", "smørrebrød smorrebrod SMØRREBRØD æble aeble", "smerrebred"),
    ("Vietnamese", "cơ sở dữ liệu", "dữ liệu lieu LIỆU", "lieo"),
    ("Arabic", "قاعدة البيانات", "قاعدة البيانات", "البيان"),
    ("Hindi", "डेटाबेस त्रुटि", "डेटाबेस त्रुटि", "डेटाबेर"),
    ("full width", "ＷＩＤＥＮＥＤ ９８７", "widened ＷＩＤＥＮＥＤ 987 ９８７", "widenet"),
    ("ligature", "the ﬂuﬀy one", "ﬂuﬀy fluffy", "fluffe"),
    ("mathematical letters", "𝐛𝐨𝐥𝐝𝐟𝐚𝐜𝐞", "𝐛𝐨𝐥𝐝𝐟𝐚𝐜𝐞 boldface", "boldfax"),
    ("subscript", "pure H₂O here", "H₂O H2O", "H3O"),
    ("typographic apostrophe", "the keeper’s log", "keeper’s keeper's keeper", "eeper"),
    # -- what is not seen
    ("soft hyphen", "un\u00adthink\u00adable", "unthinkable un\u00adthinkable", "unthankable"),
    ("no width", "zero\u200bbreadth join\u200ders non\u200cbinder", "zerobreadth joinders nonbinder", "zeroboard"),
    ("byte order mark", "\ufeffstartword here", "startword", "tartword"),
    ("no-break space", "salt\u00a0pepper", "salt pepper saltpepper", "peppersalt"),
    # -- pictures
    ("emoji", "deploy failed 🔥 badly", "🔥", "🧯"),
    ("skin tone", "thumbs 👍🏽 yes", "👍🏽 👍 👍🏿", "👎"),
    ("joined emoji", "family 👨‍👩‍👧 here", "👨‍👩‍👧 👩 👨‍👩", "👩‍👨 👶"),
    ("presentation", "love ❤️ this", "❤️ ❤", "💔"),
    ("flag of a country", "flag 🇩🇪 here", "🇩🇪", "🇪🇩 🇫🇷"),
    ("glued emoji", "done🚀liftoff", "🚀 liftoff done🚀liftoff doneliftoff", "liftoffdone"),
    ("check marks", "passed ✅ or ✓", "✅ ✓", "❎ ✗"),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    place = tmp_path_factory.mktemp("words")
    (place / "in").mkdir()
    for number, (_, text, _, _) in enumerate(TABLE):
        header = {"type": "sesame-session", "version": 1, "id": f"s{number}", "agent": "owl"}
        message = {"type": "message", "id": "m1", "role": "user", "text": text}
        lines = "".join(json.dumps(record) + "\n" for record in (header, message))
        (place / "in" / f"s{number}.jsonl").write_text(lines, encoding="utf-8")
    with library(place / "in", place / "data", parser="sesame") as sesame:
        assert sesame.index().added == len(TABLE)
        yield sesame


def names(sesame: Sesame, query: str) -> list[str]:
    """Return the names of the texts that a query finds."""
    answer = sesame.search(query, limit=len(TABLE))
    assert answer.mode == "search", "there is something to look for"
    return [TABLE[int(s[1:])][0] for s in found(answer)]


def cases(column: int) -> list[tuple[str, str]]:
    return [(row[0], query) for row in TABLE for query in row[column].split(" ")]


@pytest.mark.parametrize(("name", "query"), cases(2))
def test_a_text_is_found_by(name: str, query: str, table: Sesame) -> None:
    answer = table.search(query, limit=len(TABLE))
    assert answer.mode == "search"
    assert name in [TABLE[int(session[1:])][0] for session in found(answer)]


@pytest.mark.parametrize(("name", "query"), cases(3))
def test_a_text_is_not_found_by(name: str, query: str, table: Sesame) -> None:
    answer = table.search(f'"{query}"', limit=len(TABLE))
    assert answer.mode == "search", "there is something to look for"
    # In another spelling, and the answer says in which, it may be found.
    assert answer.corrections or name not in names(table, f'"{query}"')


@pytest.mark.parametrize(
    "query", ["🔥", "👍🏽", "strasse", "straße", "елка", "smorrebrod", "C++", "🇩🇪", "❤", "widened"]
)
def test_only_one_text_is_found_by(query: str, table: Sesame) -> None:
    assert len(names(table, query)) == 1


@pytest.mark.parametrize(
    ("query", "shown"),
    [("🔥", "🔥"), ("👍🏽", "👍🏽"), ("❤️", "❤️"), ("елка", "ёлка"), ("lodz", "Łódź"), ("σφαλμα", "Σφάλμα")],
)
def test_what_was_found_is_marked(query: str, shown: str, table: Sesame) -> None:
    snippet = table.search(query).hits[0].snippet
    assert shown in [snippet.text[start:end] for start, end in snippet.marks]


def test_every_letter_finds_itself_and_is_found_by_its_plain_spelling() -> None:
    """In every form it has, in the middle of a word; of Chinese and what lies beyond, one in 61."""
    letters = [chr(code) for code in (*range(0x80, 0x3400), *range(0x3400, 0x30000, 61)) if chr(code).isalnum()]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (content, subwords, tokenize = 'porter unicode61')")
        rows = ((ord(letter), f"q{letter}q", subwords(f"q{letter}q")) for letter in letters)
        db.executemany("INSERT INTO words (rowid, content, subwords) VALUES (?, ?, ?)", rows)

        def is_found(letter: str, query: str) -> bool:
            for piece in pieces(query):
                texts = [(f'"{a[:-1]}"*' if a.endswith("*") else f'"{a}"') for a in alternatives(piece)]
                sql = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?"
                if db.execute(sql, (" OR ".join(texts), ord(letter))).fetchone() is None:
                    return False
            return True

        lost = {
            letter
            for letter in letters
            for form in {
                letter,
                folded(letter),
                letter.upper(),
                *(unicodedata.normalize(n, letter) for n in ("NFC", "NFD")),
            }
            if not is_found(letter, f"q{form}q")
        }
    scripts = {unicodedata.name(letter).split()[0] for letter in lost}
    assert not scripts & {"ARABIC", "HEBREW", "THAI", "HANGUL", "CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "FULLWIDTH"}
    # Letters that came into Unicode after 2012, when the tokenizer's tables were made.
    assert len(lost) < len(letters) / 50
    assert not [letter for letter in lost if ord(letter) < 0x250]
