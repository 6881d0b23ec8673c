"""Requests that no browser sends by itself: smuggled ones, forged headers, cookies and marks that break things."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sesame_core.query.fields import FIELDS

from ..support.web_client import Served, served
from .test_safety import asked, cookie_of, raw, status_of

pytestmark = pytest.mark.once

#: Values that a filter does not have.
RUBBISH = (
    "\x00", "a\x00b", "\ud7ff\ufffe", "9" * 400, "-1", "1e400", "9" * 12 + "d", "0001-01-01", "9999-12-31",
    "9" * 5 + "-01-01",
    "last " + "9" * 30 + " days", "%", "_", "\\", "'", '"', "*", "[", "(", "a:b", ":", "/", "..", "~", "~nobody",
    "//", "$HOME",
    "🎉" * 50, "İ", "ß", "\u202e", " ", ",", "-", "!", "NOT", "true", "None", "a" * 3000,
)  # fmt: skip


def test_a_second_request_is_not_hidden_in_a_first_one(server: Served) -> None:
    with server.visitor() as visitor:
        own = f"Host: 127.0.0.1:{server.port}\r\nCookie: {cookie_of(visitor)}\r\n"
        hidden = f"POST /mark/d6bc HTTP/1.1\r\n{own}Content-Length: 9\r\n\r\nstarred=1"
        form = "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
        chunked = "Transfer-Encoding: chunked\r\n"
        for head, body in (
            (f"Content-Length: 0\r\nContent-Length: {len(hidden)}\r\n", hidden),
            (f"Content-Length: 0, {len(hidden)}\r\n", hidden),
            (f"Content-Length: +{len(hidden)}\r\n", hidden),
            ("Content-Length: -1\r\n", hidden),
            (f"Content-Length: {len(hidden)}\r\n{chunked}", f"0\r\n\r\n{hidden}"),
            ("Transfer-Encoding: identity\r\nContent-Length: 0\r\n", hidden),
            ("Transfer-Encoding: xchunked\r\n", hidden),
            ("Transfer-Encoding: chunked, identity\r\n", hidden),
            ("Transfer-Encoding : chunked\r\n", f"0\r\n\r\n{hidden}"),
            ("Transfer-Encoding:\x0bchunked\r\n", f"0\r\n\r\n{hidden}"),
            ("X: y\r\n Transfer-Encoding: chunked\r\n", hidden),
            (chunked, f"0x0\r\n\r\n{hidden}"),
            (chunked, f"-1\r\n\r\n{hidden}"),
            (chunked, f"2\r\nabXX0\r\n\r\n{hidden}"),
            (chunked, f"0\r\nX: y\r\n\r\n{hidden}"),
            ("", hidden),
            ("Connection: close\r\nConnection: keep-alive\r\n", hidden),
        ):
            for path in ("/enter", "/mark/nobody", "/"):
                method = "GET" if path == "/" else "POST"
                answer = raw(server, f"{method} {path} HTTP/1.1\r\n{own}{form}{head}\r\n{body}".encode())
                assert answer.count(b"HTTP/1.1 ") <= 1, (head, path, answer)
        assert not visitor.get("/api/marks/d6bc").json()["sessions"][0]["starred"]


def test_what_a_proxy_would_say_is_believed_of_nobody(server: Served) -> None:
    evil = {
        "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1",
        "Forwarded": "for=127.0.0.1;host=evil.example", "X-Original-URL": "/api/status", "X-Rewrite-URL": "/api/status",
        "X-HTTP-Method-Override": "POST", "X-Forwarded-Prefix": "/evil", "X-Real-IP": "127.0.0.1",
        "X-Forwarded-User": "root", "X-Remote-User": "root",
    }  # fmt: skip
    with server.stranger() as stranger, server.visitor() as visitor:
        for path in ("/", "/api/status", "/s/d6bc", "/static", "/enter/"):
            assert stranger.get(path, headers=evil).status_code in (401, 404)
            answer = visitor.get(path, headers=evil)
            assert "evil" not in answer.text + answer.headers.get("location", "")
        assert visitor.get("/mark/d6bc?starred=1", headers=evil).status_code == 405
        assert stranger.get("/enterprise", headers=evil).status_code == 401


def test_a_cookie_costs_time_by_its_length_alone_and_of_several_one_counts(server: Served) -> None:
    with server.visitor() as visitor:
        host, own = f"Host: 127.0.0.1:{server.port}", cookie_of(visitor)
        name = own.partition("=")[0]
        for strange in ('"' + "\\" * 60_000, '"' + "\\0" * 30_000 + '"', "a=" * 30_000, ";" * 60_000, '\\"' * 30_000):
            begun = time.monotonic()
            status = status_of(raw(server, asked("/", host, f"Cookie: {name}={strange}")))
            assert status in (0, 400, 401, 431)
            assert time.monotonic() - begun < 5
        # Another server of this machine has set one of this name for a path of its own.
        for several in (f"{name}=stolen; {own}", f"{own}; {name}=stolen", f'$Version="1"; {own}', f"a=b;{own};c"):
            assert status_of(raw(server, asked("/", host, f"Cookie: {several}"))) == 200, several
        for wrong in (f"{name}=", f"{name}", f"x{own}", own.upper(), own.replace("=", '="') + '"'):
            assert status_of(raw(server, asked("/", host, f"Cookie: {wrong}"))) == 401, wrong


def test_a_filter_with_rubbish_is_refused_in_a_line_or_finds_what_it_says(server: Served) -> None:
    with server.visitor() as visitor:
        for field in FIELDS:
            for value in RUBBISH:
                answer = visitor.get("/api/search", params={field.name: value, "q": "nix"})
                assert answer.status_code in (200, 400), (field.name, value, answer.text)
                if answer.status_code == 400:
                    assert "\n" not in answer.json()["error"]
        for value in RUBBISH:
            for path, name in (("/", "q"), ("/s/d6bc", "find"), ("/s/d6bc", "q"), ("/api/search", "q")):
                answer = visitor.get(path, params={name: value})
                assert answer.status_code in (200, 400), (path, name, value)
        assert visitor.get("/").status_code == 200


def test_marks_with_characters_that_no_file_has_are_refused_or_kept(server: Served) -> None:
    json = {"Content-Type": "application/json"}
    with server.visitor() as visitor:
        for text in (
            '"\\ud800"',
            '"a\\u0000b"',
            '"\\udc00\\ud800"',
            '"\\u001b[31m"',
            '"' + "x" * 50_000 + '"',
            '"\\n\\r"',
        ):
            for body in (f'{{"name": {text}}}', f'{{"note": {text}}}', f'{{"tag": [{text}]}}', f'{{"untag": {text}}}',
                         f'{{"starred": {text}}}', f'{{{text}: 1}}'):  # fmt: skip
                answer = visitor.post("/api/marks/d6bc", content=body, headers=json)
                assert answer.status_code in (200, 400), (body[:40], answer.status_code)
                assert visitor.get("/s/d6bc").status_code == 200
                assert visitor.get("/api/marks/d6bc").status_code == 200
        for body in (
            "1" * 60_000,
            '{"starred": ' + "1" * 10_000 + "}",
            "{" * 3_000,
            '{"a":' * 3_000,
            "NaN",
            '"',
            "\x00",
            "",
        ):
            assert visitor.post("/api/marks/d6bc", content=body, headers=json).status_code == 400, body[:20]
        for body in (b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b"\xff"):
            assert visitor.post("/api/marks/d6bc", content=body, headers=json).status_code == 400
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for sent in (
            "name=%ff%fe",
            "name=%00",
            "note=%ed%a0%80",
            "tag=%00",
            "starred=%ff",
            "name=a&name=b",
            "at=%00&name=x",
        ):
            answer = visitor.post("/mark/d6bc", content=sent, headers=form)
            assert answer.status_code in (303, 400), sent
            assert visitor.get("/").status_code == visitor.get("/s/d6bc").status_code == 200


def test_a_cookie_of_a_page_behind_encryption_is_sent_to_it_alone(indexed_sessions: Path) -> None:
    password = "a-password-of-thirty-characters"
    with served("--behind", "box.example", SESAME_WEB_PASSWORD=password) as server, server.stranger() as stranger:
        for scheme, is_secure in (("https", True), ("http", False)):
            headers = {"Host": "box.example", "Origin": f"{scheme}://box.example"}
            made = stranger.post("/enter", data={"secret": password}, headers=headers).headers["set-cookie"]
            assert ("Secure" in made) == is_secure
