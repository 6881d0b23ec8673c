"""A word is found as people write it: in a name, in one word or two, with a sign, a number, or in another form.

One session per text, on each backend, and two that have the words of all queries as they are asked, so that nothing is
found only because a word is nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Config, Selection, Source

from ..support.in_memory import in_memory, plugins_with_memory
from ..support.postgres_server import a_database
from ..support.transcripts import found

#: A text, and queries that find it, separated by commas.
TABLE: tuple[tuple[str, str], ...] = (
    # -- parts of names that are one word
    ("createWebSocketServer throws on close", 'websocket, WebSocket, websock*, "websocket", createwebsocketserver'),
    ("buildGraphQLSchema too", "graphql, GraphQL"),
    ("myGitHubToken as well", "github"),
    ("newOAuthClient and OAuth2TokenStore", "oauth, oauth2"),
    ("useJavaScriptRuntime", "javascript"),
    ("PostgreSQLAdapterFactory", "postgresql"),
    ("getFileNameOf(path)", "filename"),
    ("status ImagePullBackOff since noon", "backoff, imagepull"),
    ("TypeScriptCompilerHost", "typescript"),
    ("isLocalHostName", "localhost, hostname"),
    ("parse IPv6AddressRange", "ipv6, ipv6address"),
    ("macOSVersionInfo", "macos"),
    ("iOSAppDelegate", "ios"),
    ("NodeJSProcessRunner", "nodejs"),
    ("newK8sClientSet", "k8s"),
    ("useI18nKeyOf", "i18n"),
    ("myYouTubePlayerView", "youtube"),
    ("newLaTeXParser", "latex"),
    ("openVSCodeWindow", "vscode"),
    ("useMongoDBConnection", "mongodb"),
    ("gRPCServerBuilder", "grpc"),
    ("create_web_hook_handler", "webhook"),
    # -- signs
    ("structured bindings of C++17", "C++, c++17"),
    ("assemblies in C++/CLI", "C++"),
    ("records in C#12 compile", "C#, c#12"),
    ("units of measure in F#", "F#, f#"),
    ("an app for .NET 8", ".NET, .net, dotnet"),
    ("hosted in ASP.NET core", ".NET, ASP.NET, aspnet"),
    ("a server on Node.js here", "node.js, nodejs"),
    ("charts by D3.js now", "d3.js"),
    # -- numbers
    ("compare its sha256sum", "sha256, sha256sum"),
    ("collation utf8mb4 here", "utf8"),
    ("written as UTF-8 text", "utf8, UTF-8"),
    ("encoded by base64url", "base64"),
    ("limit of 1_000_000 rows", '1000000, "1,000,000"'),
    ("a total of 2,500,000 rows", "2500000, 2_500_000"),
    ("exactly 3000000 rows", '3_000_000, "3,000,000"'),
    # -- one word or two
    ("a dry-run first", "dryrun, dry-run, dry_run, dryRun, dry run, --dry-run"),
    ("a sand_box second", "sandbox, sand-box, sandBox"),
    ("pass --hot-reload third", "hotreload, hot-reload"),
    ("the codeReview fourth", "codereview, code-review"),
    ("one coldstart fifth", "cold-start, coldStart, cold start, cold_start"),
    ("pipelines of CI/CD", "cicd, CI/CD"),
    ("a book by O'Reilly", "oreilly, O'Reilly"),
    ("send an e-mail", "email, e-mail"),
    ("their email arrived", "e-mail"),
    ("how to set up a mast", "setup, set-up"),
    ("the setup of a sail", "set up, set-up"),
    ("users log in here", "login"),
    ("a login there", "log in, log-in"),
    ("please sign out soon", "signout"),
    ("a web socket of brass", "websocket"),
    ("새 결제 모듈을 시험", "결제모듈"),
    ("데이터베이스연결 끊김", "데이터베이스 연결"),
    # -- irregular forms
    ("all indices dropped", "index, indexes"),
    ("the matrices multiply", "matrix"),
    ("a single vertex", "vertices"),
    ("we ran the gauntlet", "run, running"),
    ("they wrote ashore", "write, written, writing"),
    ("it broke loose", "break, broken"),
    ("built of oak", "build, builds"),
    ("found a pearl", "find"),
    ("thrown overboard", "throw, threw"),
    ("frozen solid", "freeze, froze"),
    ("it hung there", "hang"),
    ("sent by sea", "send, sends"),
    ("lost at sea", "lose"),
    ("caught a cod", "catch"),
    ("bound for port", "bind, binding"),
    ("chosen by lot", "choose, chose"),
    ("schemata of ships", "schema"),
    ("the criteria of a crew", "criterion"),
    ("a child aboard", "children"),
    ("the people ashore", "person"),
    # -- forms in other languages
    ("Исправь ошибки подключения", "ошибка, ошибку, подключение"),
    ("к базам данных", "база, данные"),
    ("сервер недоступен", "серверами, недоступна"),
    ("помилки з'єднання", "помилка"),
    ("σφάλματα συστήματος", "σφάλμα, σύστημα"),
)
#: The same, of words that are nowhere else: two words as one, forms in languages with Latin letters.
NOWHERE = (
    ("the fishhook of steel", "fish hook"),
    ("they went aloft", "go, going"),
    ("a knot kept fast", "keep"),
    ("who stood watch", "stand"),
    ("a lighthouse on javascript", "light house"),
    ("zwei Fehlermeldungen erschienen", "fehlermeldung"),
    ("eine Datenbank fehlt", "datenbanken"),
    ("mehrere Häuser gebaut", "haus"),
    ("die Schlüssel fehlten", "schlüssels"),
    ("los servidores caídos", "servidor"),
    ("una función rota", "funciones"),
    ("les journaux complets", "journal"),
    ("trzy pliki usunięte", "plików"),
    ("zapytanie do bazy", "baza"),
)
#: What is a word in no text, and the text that has it inside another word.
INSIDE = (
    ("the fetchQuotaBudget call", "uotabud"),
    ("mydatabasename is set", "databasen"),
    ("xwaylandserver crashed", "wayland"),
)
#: A query that finds something, and a text that it does not find.
NOT = (
    ("-websocket throws on close of brass", "createWebSocketServer throws on close"),
    ("-github as well here book", "myGitHubToken as well"),
    ("lost -sea server", "lost at sea"),
)


def _cases(table: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [(text, query) for text, queries in table for query in queries.split(", ")]


def _texts() -> list[str]:
    """Return all texts; the last two have the queries of the table, so that these are words that occur."""
    asked = " ; ".join(query.strip('"') for _, query in _cases(TABLE) if query.isascii() or query.isalpha())
    return [text for text, _ in (*TABLE, *NOWHERE, *INSIDE)] + [f"first {asked}", f"second {asked}"]


def _write(place: Path) -> None:
    place.mkdir(parents=True)
    for number, text in enumerate(_texts()):
        header = {"type": "sesame-session", "version": 1, "id": f"s{number}", "agent": "owl"}
        message = {"type": "message", "id": "m1", "role": "user", "text": text}
        lines = "".join(json.dumps(record) + "\n" for record in (header, message))
        (place / f"s{number}.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    place = tmp_path_factory.mktemp("spellings")
    _write(place / "in")
    source = Source(parser=Selection(name="sesame"), path=place / "in")
    with ExitStack() as stack:
        if request.param == "memory":
            sesame = in_memory([source], place / "data", plugins_with_memory())
        elif request.param == "sqlite":
            sesame = Sesame(sources=[source], data_dir=place / "data")
        else:
            dsn = stack.enter_context(a_database(request.getfixturevalue("postgres")))
            sesame = Sesame(Config(sources=(source,), backend=Selection(name="postgres", options={"dsn": dsn})))
        with sesame:
            assert sesame.index().added == len(_texts())
            yield sesame


def _found(sesame: Sesame, query: str) -> list[str]:
    """Return the texts that a query finds, best first."""
    texts = _texts()
    return [texts[int(session[1:])] for session in found(sesame.search(query, limit=len(texts)))]


@pytest.mark.parametrize(("text", "query"), [*_cases(TABLE), *_cases(NOWHERE)])
def test_a_text_is_found_by(text: str, query: str, table: Sesame) -> None:
    assert text in _found(table, query)


@pytest.mark.parametrize(("text", "query"), _cases(INSIDE))
def test_a_text_is_found_by_a_part_of_a_word_that_is_no_word_anywhere(text: str, query: str, table: Sesame) -> None:
    answer = table.search(query)
    assert text in _found(table, query)
    assert answer.words_not_found == []


@pytest.mark.parametrize(("query", "excluded"), NOT)
def test_an_excluded_word_is_excluded_inside_names(query: str, excluded: str, table: Sesame) -> None:
    texts = _found(table, query)
    assert texts
    assert excluded not in texts
