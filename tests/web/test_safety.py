"""Who gets in, and what a request may do: real servers, foreign names, other pages, strangers, and slow clients."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sesame_core import Sesame
from sesame_core.demo import sessions_dir
from sesame_core.web.guard import HEADERS

from ..support.transcripts import pi_session
from ..support.web_client import Served, harmless, served

pytestmark = pytest.mark.once

#: Whatever a stranger asks.
PATHS = ("/", "/?q=nix", "/s/d6bc", "/export/d6bc", "/api/search?q=nix", "/api/status", "/api/openapi.json")
#: Of a session in the demo: nobody outside gets to see it.
SECRET = "websocket"


#: Lets any number of browsers into the server that most tests share.
PASSWORD = "a-password-of-thirty-characters"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("shared")
    shutil.copytree(sessions_dir() / "claude-code", home / "sessions")
    sources = [{"parser": "claude-code", "path": str(home / "sessions")}]
    (home / "config.jsonc").write_text(json.dumps({"sources": sources}))
    own = {"SESAME_DATA_DIR": str(home), "SESAME_CONFIG_DIR": str(home), "SESAME_WEB_PASSWORD": PASSWORD}
    subprocess.run([sys.executable, "-m", "sesame_core", "index"], env={**os.environ, **own}, check=True)
    with served(**own) as running:
        running.token = PASSWORD
        yield running


def raw(server: Served, request: bytes, *, timeout: float = 30) -> bytes:
    """Send bytes, and return all that comes until the server closes the connection, which may be before it read all."""
    found = b""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout)) as connection:
        try:
            connection.sendall(request)
            while part := connection.recv(65536):
                found += part
        except ConnectionError:
            pass  # it has refused the rest
    return found


def asked(path: str, *headers: str, method: str = "GET") -> bytes:
    """Return a request whose answer ends the connection."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", *headers, "Connection: close", "", ""]).encode("latin-1")


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def cookie_of(visitor: httpx2.Client) -> str:
    return "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())


# -- names ------------------------------------------------------------------------------------------------


def test_a_request_under_a_foreign_name_is_refused_with_the_cookie_too(server: Served) -> None:
    port = server.port
    foreign = [
        "evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.1@evil.example",
        f"evil.example#127.0.0.1:{port}", "127.0.0.2", "0.0.0.0", f"0.0.0.0:{port}", "2130706433", "127.1",
        "0x7f.1", "",
        "[::1].evil.example", "[::ffff:127.0.0.1]", "localhost.", "xlocalhost", "localhost:80:80", "127.0.0.1:x", " ",
        "127.0.0.1,evil.example", "127.0.0.1 evil.example",
    ]  # fmt: skip
    with server.visitor() as visitor:
        cookie = f"Cookie: {cookie_of(visitor)}"
        for path in ("/", "/static/sesame.css", "/api/status", "/enter"):
            for host in foreign:
                answer = raw(server, asked(path, f"Host: {host}", cookie))
                assert status_of(answer) in (400, 421), (path, host, answer[:100])
                assert SECRET not in answer.decode("latin-1")
            for several in ((f"Host: 127.0.0.1:{port}", "Host: evil.example"), ()):
                assert status_of(raw(server, asked(path, *several, cookie))) in (400, 421)
        old = raw(server, f"GET / HTTP/1.0\r\n{cookie}\r\n\r\n".encode())
        assert status_of(old) in (400, 421)
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", "localhost:9", f"[::1]:{port}"):
            assert status_of(raw(server, asked("/", f"Host: {host}", cookie))) == 200, host
        # The name in the request line is not asked: the one that a browser sends is.
        absolute = raw(server, asked(f"http://127.0.0.1:{port}/", "Host: evil.example", cookie))
        assert status_of(absolute) in (400, 421)


def test_further_names_are_those_that_were_named(indexed_sessions: Path) -> None:
    with served("--allow-host", "box.local") as server:
        assert status_of(raw(server, asked("/", "Host: box.local"))) == 401
        assert status_of(raw(server, asked("/", "Host: box.local:8765"))) == 401
        assert status_of(raw(server, asked("/", "Host: other.local"))) == 421


# -- other pages ------------------------------------------------------------------------------------------


def test_other_pages_of_the_same_browser_read_and_change_nothing(server: Served) -> None:
    own = server.url
    with server.visitor() as visitor:
        for origin in (
            "https://evil.example", "null", "", "file://", "http://127.0.0.1", "http://127.0.0.1:1",
            "http://localhost:9",
            f"{own}.evil.example", f"{own}/", f"http://x@127.0.0.1:{server.port}", f"ftp://127.0.0.1:{server.port}",
        ):  # fmt: skip
            for method, path in (("POST", "/mark/d6bc"), ("POST", "/api/marks/d6bc"), ("POST", "/leave"), ("GET", "/")):
                answer = visitor.request(method, path, headers={"Origin": origin})
                assert answer.status_code == 403, (origin, path)
        for site in ("cross-site", "same-site", "other"):
            fetched = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
            assert visitor.get("/", headers=fetched).status_code == 403
            posted = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            assert visitor.post("/mark/d6bc", data={"starred": "1"}, headers=posted).status_code == 403
            framed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
            assert visitor.get("/", headers=framed).status_code == 403
            # A link there leads here: the browser does not send the cookie, which is the door's page.
            assert visitor.get("/", headers=posted).status_code == 200
        session = visitor.get("/api/marks/d6bc").json()["sessions"][0]
        assert (session["starred"], session["tags"], session["note"]) == (False, [], None)
        fine = {"Origin": own, "Sec-Fetch-Site": "same-origin"}
        assert visitor.post("/mark/d6bc", data={"starred": "1"}, headers=fine).status_code == 303


def test_every_answer_has_the_headers_that_keep_other_pages_out(server: Served) -> None:
    with server.visitor() as visitor, server.stranger() as stranger:
        answers = [
            visitor.get("/"), visitor.get("/s/d6bc"), visitor.get("/s/nobody"), visitor.get("/nowhere"),
            visitor.get("/api/status"), visitor.put("/"), visitor.get("/static/sesame.js"),
            visitor.get("/static/none"),
            visitor.get("/export/d6bc?as=json"), visitor.post("/enter", data={}), visitor.post("/enter",
            content="x" * 99_999),
            visitor.head("/"), stranger.get("/"), stranger.get("/api/status"), stranger.get("/",
            headers={"Host": "evil"}),
            stranger.post("/mark/d6bc", headers={"Origin": "https://evil.example"}),
        ]  # fmt: skip
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers.get(name) == value, (answer.request.url, answer.status_code, name)
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]


# -- strangers --------------------------------------------------------------------------------------------


def test_without_the_cookie_nothing_is_said(indexed_sessions: Path) -> None:
    with served() as server, server.visitor() as visitor, server.stranger() as stranger:
        cookie = visitor.cookies[f"sesame-{server.port}"]
        for headers in (
            {},
            {"Cookie": f"sesame-{server.port}={server.token}"},
            {"Cookie": f"sesame-{server.port}={cookie[:-1]}"},
            {"Cookie": f"sesame-{server.port}={cookie}x"},
            {"Cookie": f"sesame-{server.port}="},
            {"Cookie": f"sesame-1={cookie}"},
            {"Cookie": "; ".join(["=", ";", "a=b" * 1000])},
            {"Cookie": f"sesame-{server.port}=\xff"},
            {"Authorization": f"Bearer {server.token}"},
            {"Authorization": f"Bearer {cookie}"},
            {"Authorization": "Bearer"},
            {"Authorization": "Basic Og=="},
        ):
            sent = {name: value.encode("latin-1") for name, value in headers.items()}
            for path in PATHS:
                answer = stranger.get(path, headers=sent)
                assert answer.status_code == 401, (path, headers)
                assert SECRET not in answer.text
            assert stranger.post("/mark/d6bc", data={"starred": "1"}, headers=sent).status_code == 401
        for path in (f"/?token={cookie}", f"/?secret={cookie}", f"/enter?secret={server.token}"):
            assert stranger.get(path).status_code in (401, 405)
        assert visitor.get("/").status_code == 200


def test_a_token_opens_one_browser_and_a_wrong_one_none(indexed_sessions: Path) -> None:
    with served() as server, server.stranger() as stranger:
        for wrong in (
            "",
            "x" * 43,
            server.token[:-1],
            server.token + "x",
            server.token.swapcase(),
            "é" * 43,
            "a" * 60_000,
        ):
            assert stranger.post("/enter", data={"secret": wrong}).status_code == 401
        with server.visitor() as visitor:
            assert stranger.post("/enter", data={"secret": server.token}).status_code == 401
            assert stranger.get("/").status_code == 401
            header = visitor.post("/leave").headers["set-cookie"]
            assert "Max-Age=0" in header
            assert visitor.get("/").status_code == 401


def test_the_cookie_is_for_this_server_alone(indexed_sessions: Path) -> None:
    with served() as one, served() as other, one.visitor() as visitor:
        answer = httpx2.get(f"{other.url}/", headers={"Cookie": cookie_of(visitor)})
        assert answer.status_code == 401
        with one.stranger() as stranger:
            made = stranger.post("/enter", data={"secret": other.token})
            assert made.status_code == 401


def test_the_cookie_cannot_be_read_by_scripts_and_is_not_sent_from_other_pages(indexed_sessions: Path) -> None:
    with served() as server, server.stranger() as stranger:
        header = stranger.post("/enter", data={"secret": server.token}).headers["set-cookie"]
        assert header.startswith(f"sesame-{server.port}=")
        assert {"HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in header.split(";")}
        assert "Domain" not in header


def test_who_is_let_in_is_led_to_a_page_of_this_server_only(indexed_sessions: Path) -> None:
    with served(SESAME_WEB_PASSWORD=PASSWORD) as server, server.stranger() as stranger:
        for to in (
            "//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/s/x\r\nX-Evil: 1",
            "\\\\evil",
            "/%0d%0aX-Evil:1", "", "/../..", "http:evil.example", "/s/\x00", "?q=1", "/\t/evil.example", "/mark/x",
            "/enter",
        ):  # fmt: skip
            answer = stranger.post("/enter", data={"secret": PASSWORD, "to": to})
            assert (answer.status_code, answer.headers["location"]) == (303, "/"), to
            assert "x-evil" not in answer.headers
        for to in ("/", "/?q=nix+flake&page=2", "/s/d6bc?at=2&q=a%20b", "/s/a/b"):
            assert stranger.post("/enter", data={"secret": PASSWORD, "to": to}).headers["location"] == to


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_other_user_finds_the_token_in_a_process_or_a_file(indexed_sessions: Path, tmp_path: Path) -> None:
    arguments = tmp_path / "arguments"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {arguments}.new\nmv {arguments}.new {arguments}\n')
    browser.chmod(0o755)
    with served(opens=True, BROWSER=str(browser)) as server:
        until = time.monotonic() + 30
        while not arguments.exists() and time.monotonic() < until:
            time.sleep(0.02)
        shown = arguments.read_text()
        assert server.token not in shown
        page = Path(shown.strip().removeprefix("file://"))
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert f'content="0;url={server.url}/#{server.token}"' in page.read_text()
        assert server.token not in Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert server.token not in Path(f"/proc/{server.process.pid}/environ").read_text()
        for file in (one for one in indexed_sessions.rglob("*") if one.is_file() and one != page):
            assert server.token.encode() not in file.read_bytes(), file
        with server.visitor():
            assert not page.exists()
    assert not page.exists()


def test_a_server_that_others_reach_needs_a_password_or_a_proxy(
    indexed_sessions: Path, cli: Callable[..., Any]
) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "box.local", "[::]"):
        ran = cli("web", "--host", host, "--no-open")
        assert (ran.code, ran.out) == (2, "")
        assert "--password-file FILE" in ran.err
        assert "--behind NAME" in ran.err


def test_behind_a_proxy_only_its_name_is_known_and_secrets_are_left_out(indexed_sessions: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    pi_session("key", f"the key is {secret}")
    with Sesame() as sesame:
        sesame.index()
    with served() as server, server.visitor() as owner:
        assert secret in owner.get("/s/key").text
    with served("--behind", "sessions.example.org") as server, server.stranger() as visitor:
        own = {"Host": "sessions.example.org"}
        for path in ("/", "/s/key", "/?q=key", "/api/messages/key", "/export/key?as=md", f"/?q={secret[:20]}"):
            answer = visitor.get(path, headers=own)
            assert answer.status_code == 200
            assert secret not in answer.text
        assert visitor.get("/", headers={"Host": "evil.example"}).status_code == 421
        for origin, status in (("https://sessions.example.org", 303), ("https://evil.example", 403)):
            marked = visitor.post("/mark/key", data={"starred": "1"}, headers={**own, "Origin": origin})
            assert marked.status_code == status
    with served("--behind", "x.example", SESAME_WEB_PASSWORD=PASSWORD) as server:
        assert httpx2.get(f"{server.url}/").status_code == 401


# -- what is asked ----------------------------------------------------------------------------------------


def test_no_path_leads_out_of_the_pages(server: Served, home: Path) -> None:
    (home / "secret.txt").write_text("the fox is at home")
    ways = [
        "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/....//app.py", "/static/..\\app.py", "/static/%5c..%5capp.py", "/static/sesame.js/../../app.py",
        "/static/%00", "/static/sesame.js%00.css", "/../../../etc/passwd", "//etc/passwd", "/s/../../../etc/passwd",
        "/s/..%2f..%2f..%2fetc%2fpasswd", "/s/%2e%2e", "/s/.", "/s/%00", "/s/", "/export/..%2fsecret.txt",
        "/s/%ff%fe",
        f"/s/{home}/secret.txt", f"/export/{home}/secret.txt",
        f"/export/file:{home}/secret.txt",
        "/api/sessions/..%2f..%2fetc%2fpasswd", "/api/messages/%00", "/api/../static/sesame.js",
        "/templates/base.html",
        "/s/" + "a" * 5000, "/s/" + "%25" * 500, "/s/" + "../" * 500, "/s/*", "/s/%", "/s/'%20OR%201=1--", "/api/",
        "/api",
    ]  # fmt: skip
    with server.visitor() as visitor:
        cookie = f"Cookie: {cookie_of(visitor)}"
        for path in ways:
            answer = raw(server, asked(path, f"Host: 127.0.0.1:{server.port}", cookie))
            assert status_of(answer) in (200, 307, 400, 404, 405), (path, answer[:200])
            for leak in (b"root:", b"the fox is at home", b"from __future__", b"{% block"):
                assert leak not in answer, path
            if status_of(answer) == 200:
                assert b"Found" in answer or b"nowhere" not in answer
            if status_of(answer) == 307:
                location = re.search(rb"\r\nlocation: ([^\r]*)", answer)
                assert location
                assert re.match(rb"(?:http://127\.0\.0\.1:\d+)?/(?![/\\])", location[1]), location[1]


def test_huge_negative_and_rubbish_parameters_are_refused_in_a_line(server: Served) -> None:
    numbers = ["-1", "9" * 30, "1e9", "0x10", "1.5", "NaN", "inf", "", " 1", "１", "١", "1\x00", "--", "null", "[]"]
    values = itertools.cycle([*numbers, "2147483649"])
    with server.visitor() as visitor:
        for path, name in (
            ("/", "page"), ("/s/d6bc", "at"), ("/s/d6bc", "from"), ("/api/search", "limit"), ("/api/search",
            "offset"),
            ("/api/search", "hits"), ("/api/messages/d6bc", "offset"), ("/api/messages/d6bc", "limit"),
        ):  # fmt: skip
            # Each value somewhere, and four of them for each parameter.
            for value in [next(values) for _ in range(4)]:
                answer = visitor.get(path, params={name: value})
                assert answer.status_code in ((200,) if value == "" else (400, 404)), (path, name, value)
                assert "Traceback" not in answer.text
        for params in (
            {"q": "x" * 10_000}, {"q": "\x00\ud7ff"}, {"q": '"' * 999}, {"q": "(" * 3000}, {"q": "a " * 4000},
            {"q": "NOT " * 900},
            {"q": "🎉" * 900}, {"agent": ["x"] * 200}, {"after": "x" * 4000}, {"cwd": "../" * 900}, {"tag": "," * 900},
            {"role": "'; DROP TABLE chunks;--"}, {"here": "1"}, {"tool": "\x00"}, {"find": "(" * 900},
            {"path": "%"}, {"cmd": "*"},
        ):  # fmt: skip
            for path in ("/s/d6bc",) if "find" in params else ("/", "/api/search"):
                answer = visitor.get(path, params=params)
                assert answer.status_code in (200, 400), (path, params)
                if path != "/api/search":
                    harmless(answer.text)
        assert visitor.get("/").status_code == 200


def test_other_methods_change_nothing_and_head_has_no_body(server: Served) -> None:
    with server.visitor() as visitor:
        cookie, host = f"Cookie: {cookie_of(visitor)}", f"Host: 127.0.0.1:{server.port}"
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "FOO"):
            for path in ("/", "/s/d6bc", "/mark/d6bc", "/enter", "/api/status", "/static/sesame.js"):
                answer = raw(server, asked(path, host, cookie, method=method))
                assert status_of(answer) in (400, 405), (method, path, answer[:80])
                assert b"access-control" not in answer.lower()
        for path in ("/mark/d6bc", "/enter", "/leave"):
            assert visitor.get(path).status_code == 405
        for path in ("/", "/s/d6bc", "/api/status"):
            answer = raw(server, asked(path, host, cookie, method="HEAD"))
            head, _, body = answer.partition(b"\r\n\r\n")
            assert (status_of(answer), body) == (200, b"")
            assert re.search(rb"content-length: [1-9]", head)


def test_a_socket_of_another_protocol_is_not_opened(server: Served) -> None:
    with server.visitor() as visitor:
        upgrade = ("Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13")
        host = (f"Host: 127.0.0.1:{server.port}", f"Cookie: {cookie_of(visitor)}")
        answer = raw(server, asked("/", *host, *upgrade).replace(b"close", b"Upgrade, close"))
        assert status_of(answer) != 101
        assert status_of(raw(server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n")) in (0, 400)
        assert visitor.get("/").status_code == 200


# -- slow and large requests ------------------------------------------------------------------------------


@pytest.fixture
def hurried(indexed_sessions: Path) -> Iterator[Served]:
    """A server that waits for a fifth of a second."""
    before = (
        "import sesame_core.runtime.serving as s, sesame_core.web.server as w\n"
        "s.HEAD_SECONDS = s.TAKE_SECONDS = s.KEEP_SECONDS = s.BODY_SECONDS = 0.2; w.CONNECTIONS = 20"
    )
    with served(before=before) as server:
        yield server


def test_a_client_that_never_ends_its_request_is_left(hurried: Served) -> None:
    host = f"Host: 127.0.0.1:{hurried.port}\r\n"
    body = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nsecret="
    assert raw(hurried, b"") == b""
    assert raw(hurried, b"GET / HTTP/1.1\r\n") == b""
    assert raw(hurried, f"GET / HTTP/1.1\r\n{host}X: ".encode()) == b""
    # A first request that is answered, and a second one that never ends.
    assert raw(hurried, f"GET / HTTP/1.1\r\n{host}\r\nGET / HT".encode()).count(b"HTTP/1.1 ") == 1
    assert status_of(raw(hurried, f"POST /enter HTTP/1.1\r\n{host}{body}".encode())) == 408
    # The body of a request that is answered before it has come.
    assert status_of(raw(hurried, f"POST /mark/x HTTP/1.1\r\n{host}{body}".encode())) == 401
    with hurried.visitor() as visitor:
        assert visitor.get("/").status_code == 200


def test_a_client_that_goes_away_leaves_no_trace(indexed_sessions: Path) -> None:
    with served() as server:
        kind = "Content-Type: application/x-www-form-urlencoded"
        head = f"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{kind}\r\n"
        for sent in (b"", b"GET / HT", head.encode(), f"{head}Content-Length: 1000\r\n\r\nsecret=".encode()):
            with closing(socket.create_connection(("127.0.0.1", server.port), 30)) as connection:
                connection.sendall(sent)
        with server.visitor() as visitor:
            assert visitor.get("/").status_code == 200
        server.process.terminate()
        assert server.process.stderr is not None
        assert len(server.process.stderr.read().splitlines()) == 1  # how to use the link


def sends(connection: socket.socket, parts: Iterable[bytes], *, pause: float = 0) -> bool:
    """Return whether all parts can be sent before the server ends the connection."""
    try:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
    except ConnectionError:
        return False
    return True


def test_a_client_that_sends_a_byte_now_and_then_is_left(hurried: Served) -> None:
    with closing(socket.create_connection(("127.0.0.1", hurried.port), 30)) as connection:
        assert not sends(connection, (bytes([one]) for one in b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000), pause=0.02)
    with hurried.visitor() as visitor:
        assert visitor.get("/").status_code == 200


def test_a_body_or_a_head_that_is_too_large_is_refused(server: Served) -> None:
    host = f"Host: 127.0.0.1:{server.port}"
    with server.visitor() as visitor:
        for path in ("/enter", "/mark/d6bc", "/api/marks/d6bc"):
            headers = {"Content-Type": "application/json" if "api" in path else "application/x-www-form-urlencoded"}
            assert visitor.post(path, content=b"a" * 200_000, headers=headers).status_code == 413
            assert visitor.post(path, content=(b"a" * 1000 for _ in range(200)), headers=headers).status_code == 413
        many = "&".join(f"a{n}=1" for n in range(5_000))
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert visitor.post("/mark/d6bc", content=many, headers=form).status_code == 400
        assert visitor.post("/mark/d6bc", files={"name": b"x"}).status_code == 400
        assert (
            visitor.post("/mark/d6bc", content="x", headers={"Content-Type": "multipart/form-data"}).status_code == 400
        )
        deep = "[" * 60_000
        json = {"Content-Type": "application/json"}
        assert visitor.post("/api/marks/d6bc", content=deep, headers=json).status_code == 400
        assert status_of(raw(server, asked("/", host, f"X: {'x' * 1_000_000}"))) in (0, 400, 431)
        assert status_of(raw(server, asked("/" + "x" * 1_000_000, host))) in (0, 400, 414, 431)
        assert visitor.get("/").status_code == 200


def test_many_idle_connections_do_not_keep_the_owner_out(hurried: Served) -> None:
    idle = [socket.create_connection(("127.0.0.1", hurried.port), 30) for _ in range(60)]
    try:
        for connection in idle:
            assert connection.recv(1) == b""  # the server has closed it
        with hurried.visitor() as visitor:
            assert visitor.get("/").status_code == 200
    finally:
        for connection in idle:
            connection.close()


def test_a_client_that_takes_nothing_is_left(hurried: Served) -> None:
    with hurried.visitor() as visitor:
        head = asked("/s/d6bc", f"Host: 127.0.0.1:{hurried.port}", f"Cookie: {cookie_of(visitor)}").replace(
            b"close", b"x"
        )
        with closing(socket.socket()) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.settimeout(30)
            connection.connect(("127.0.0.1", hurried.port))
            assert not sends(connection, itertools.repeat(head))  # until all buffers are full
        assert visitor.get("/").status_code == 200
