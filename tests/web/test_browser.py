"""The page in a real browser: what its script adds, how it reads, and that nothing in a session runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from sesame_core.demo import sessions_dir
from sesame_core.web.reading import SHOWN

from ..support.browser import MISSING, Browser, browsing, can_install, programs
from ..support.web_client import Served, served

pytestmark = pytest.mark.once

PASSWORD = "correct-horse-battery-staple"
#: Messages of the long session; every tenth is a prompt, in the middle of each ten a tool is called.
LONG = 620
#: What would run where a text is not escaped, or a link is not checked.
PAYLOADS = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg onload=window.hacked=1><animate onbegin=window.hacked=1 attributeName=x></svg>",
    "</textarea></title></style></script><script>window.hacked=1</script>",
    "\"><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "' onmouseover='window.hacked=1' autofocus onfocus='window.hacked=1",
    '[a link](javascript:window.hacked=1) ![image](x" onerror="window.hacked=1)',
    "<a href='javascript:window.hacked=1' id=q name=main>click</a><form id=search action=//evil.example>",
    "<details open ontoggle=window.hacked=1><summary>x</summary></details>",
    "<meta http-equiv=refresh content='0;url=javascript:window.hacked=1'><base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css><style>*{display:none}</style>",
    "{{ 7 * 7 }} ${window.hacked = 1} <%= 1 %> <!--><img src=x onerror=window.hacked=1>-->",
)


@dataclass
class Site:
    """Sessions, and a server of their pages that takes a password."""

    home: Path
    server: Served
    environment: dict[str, str]

    @property
    def long(self) -> Path:
        return self.file("1000000a-0000-4000-8000-000000000001")

    @property
    def hostile(self) -> Path:
        return self.file("2000000b-0000-4000-8000-000000000002")

    def file(self, session: str) -> Path:
        return self.home / "claude" / "-w-app" / f"{session}.jsonl"

    def write(self, session: str, records: list[dict[str, Any]]) -> Path:
        self.file(session).parent.mkdir(parents=True, exist_ok=True)
        self.file(session).unlink(missing_ok=True)
        self.append(session, records)
        return self.file(session)

    def append(self, session: str, records: list[dict[str, Any]]) -> None:
        common = {"sessionId": session, "cwd": "/w/app", "version": "2.1.0", "isSidechain": False}
        lines = "".join(json.dumps({**common, **one}) + "\n" for one in records)
        with self.file(session).open("ab", buffering=0) as out:  # at once: pages grow with each part that is seen
            out.write(lines.encode())

    def url(self, path: str) -> str:
        return self.server.url + path

    def index(self) -> None:
        command = [sys.executable, "-m", "sesame_core", "index"]
        subprocess.run(command, env={**os.environ, **self.environment}, check=True, capture_output=True)


def record(number: int, text: str, *, is_prompt: bool = False, **more: Any) -> dict[str, Any]:
    """Return one record of Claude Code."""
    role = "user" if is_prompt else "assistant"
    content: Any = text if is_prompt else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "timestamp": f"2026-11-20T{8 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": {"role": role, "content": more.pop("content", content)},
        **more,
    }


def long_session() -> list[dict[str, Any]]:
    made = []
    for number in range(LONG):
        rest = number % 10
        if rest == 4:
            use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"ls part-{number}"}}
            made.append(record(number, "", content=[use]))
        elif rest == 5:
            text = f"listing of part {number - 1}\n" + ("a zebra hides here" if number == 305 else "nothing")
            result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text}
            made.append(record(number, "", is_prompt=True, content=[result]))
        else:
            word = " with a quokka" if number % 100 == 50 else ""
            text = f"Message {number}{word}.\n\n" + "It goes on about the harbour for a while. " * 8
            made.append(record(number, text, is_prompt=not rest))
    return made


def hostile_session() -> list[dict[str, Any]]:
    made = []
    for number, payload in enumerate(PAYLOADS):
        use = {
            "type": "tool_use",
            "id": f"h{number}",
            "name": payload[:60],
            "input": {"command": payload, payload: payload},
        }
        result = {"type": "tool_result", "tool_use_id": f"h{number}", "content": payload, "is_error": True}
        made += [
            record(4 * number, f"hostile {payload}", is_prompt=True, gitBranch=payload),
            record(
                4 * number + 1,
                f"# {payload}\n\n```html\n{payload}\n```\n\n| a | {payload} |\n|---|---|\n| b | {payload} |",
            ),
            record(4 * number + 2, "", content=[use]),
            record(4 * number + 3, "", is_prompt=True, content=[result]),
        ]
    # An edit, and a branch that was left for another.
    edit = {"file_path": "/w/app/a.py", "old_string": "one\ntwo", "new_string": "one\n2"}
    made.append(record(990, "", content=[{"type": "tool_use", "id": "e", "name": "Edit", "input": edit}]))
    made.append({**record(991, "This was left.", is_prompt=True), "parentUuid": "u990"})
    made.append({**record(992, "This went on, with a `code`, and\n\n> a quote.", is_prompt=True), "parentUuid": "u990"})
    wide = "| " + " | ".join(f"column {n}" for n in range(20)) + " |\n|" + "---|" * 20 + "\n| " + "x | " * 20
    made.append(record(993, f"{'w' * 3000}\n\n{wide}\n\n```\n{'code ' * 200}\n```"))
    return made


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("site")
    sources = [
        {"parser": "claude-code", "path": str(home / "claude")},
        {"parser": "pi", "path": str(sessions_dir() / "pi")},
    ]
    (home / "config.jsonc").write_text(json.dumps({"sources": sources, "refreshSeconds": 5}))
    environment = {
        **{name: str(home) for name in ("HOME", "USERPROFILE", "SESAME_CONFIG_DIR")},
        "SESAME_DATA_DIR": str(home / "data"),
        "SESAME_WEB_PASSWORD": PASSWORD,
        "TZ": "UTC",
    }
    made = Site(home, Served("", "", None), environment)  # type: ignore[arg-type]
    made.write(made.long.stem, long_session())
    made.write(made.hostile.stem, hostile_session())
    made.index()
    with served(**environment) as made.server:
        yield made


@pytest.fixture(scope="module")
def installed() -> None:
    if programs() is None:
        (pytest.fail if can_install() else pytest.skip)(MISSING)


@pytest.fixture(scope="module")
def window(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def reader(window: Browser, site: Site) -> Iterator[Browser]:
    """A browser that is in, on the first page; at the end nothing was refused, and nothing has failed."""
    window.emulate()
    window.visit(site.url("/"))
    if window.all("#secret"):
        window.one("#secret").send_keys(PASSWORD, Keys.ENTER)
        window.until(lambda: window.all("article.hit"))
    window.complaints()
    yield window
    complaints = window.complaints()
    window.visit("about:blank")
    assert complaints == []


def session(site: Site, file: Path, more: str = "") -> str:
    return site.url(f"/s/{file.stem}{more}")


def type_slowly(browser: Browser, text: str) -> None:
    for character in text:
        browser.press(character)


def wait_for_results(browser: Browser, q: str) -> None:
    browser.until(lambda: f"q={q}" in browser.path and not browser.all("main[aria-busy]"))


def focused(browser: Browser) -> str:
    return str(browser.run("return document.activeElement.id"))


def step(browser: Browser, *keys: str, to: int) -> None:
    """Press keys that lead to the message at a position."""
    browser.press(*keys)
    browser.until(lambda: focused(browser) == f"m{to}")


def test_a_link_with_a_token_lets_in_and_its_token_stays_nowhere(window: Browser, server: Served) -> None:
    window.visit(f"{server.url}/#{server.token}")
    window.until(lambda: window.all("article.hit"))
    assert window.path == "/"
    window.visit("about:blank")
    window.visit(f"{server.url}/s/latest#{server.token}")
    window.until(lambda: window.path == "/s/latest")
    window.driver.delete_all_cookies()
    window.visit(f"{server.url}/#{server.token}")
    window.until(lambda: "not valid" in window.text("#problem"))
    assert window.path == "/"
    assert all("401" in complaint for complaint in window.complaints())


def test_results_appear_as_one_types(reader: Browser) -> None:
    listed = reader.text("#results h1")
    reader.press("/")
    assert focused(reader) == "q"
    type_slowly(reader, "nix flake")
    wait_for_results(reader, "nix+flake")
    assert focused(reader) == "q"
    reader.until(lambda: 'matching "nix flake"' in reader.text("#results h1"))
    assert reader.text("#said") == reader.text("#results h1")
    assert reader.all("article.hit mark")
    assert reader.driver.title.startswith("nix flake")
    reader.driver.back()
    reader.until(lambda: reader.text("#results h1") == listed)
    assert (reader.path, reader.run("return document.querySelector('#q').value")) == ("/", "")


def test_what_cannot_be_searched_is_said_and_the_results_stay(reader: Browser) -> None:
    before = reader.text("#results h1")
    reader.visit(reader.driver.current_url + "?agent=pi")
    reader.run("document.querySelector('#search [name=agent]').value = 'nonesuch'")
    reader.press("/", "n", "i", "x")
    reader.until(lambda: "nonesuch" in reader.text("#said"))
    assert reader.all("article.hit")
    assert before
    refused: list[str] = []

    def is_over() -> bool:
        refused.extend(reader.complaints())
        return any("q=nix&" in one for one in refused)

    reader.until(is_over)  # each key may have asked, and been refused
    assert [one for one in refused if "400" not in one] == []


def test_facets_narrow_what_one_types_further(reader: Browser, site: Site) -> None:
    reader.press("/")
    type_slowly(reader, "harbour")
    wait_for_results(reader, "harbour")
    reader.until(lambda: reader.all("#facets a[href*='agent=claude-code']"))[0].click()
    reader.until(lambda: reader.all("#filters li"))
    reader.press("/", Keys.END, " ", "q", "u", "o", "k", "k", "a")
    wait_for_results(reader, "harbour+quokka")
    assert "agent=claude-code" in reader.path
    assert len(reader.all("#filters li")) == 1
    reader.one("#filters a").click()
    reader.until(lambda: not reader.all("#filters li"))
    assert "agent" not in reader.path


def test_a_hit_in_a_folded_output_opens_unfolded_and_in_view(reader: Browser) -> None:
    reader.press("/")
    type_slowly(reader, "zebra hides")
    wait_for_results(reader, "zebra+hides")
    reader.press(Keys.ENTER)
    reader.until(lambda: reader.run("return document.activeElement.matches('article.hit h2 a')"))
    reader.press(Keys.ENTER)
    mark = reader.one("article.is-at details[open] mark")
    assert mark.is_displayed()
    assert 0 < reader.run("return arguments[0].getBoundingClientRect().top", mark) < 900
    assert re.search(r"[?&]at=305\b.*#m305$", reader.path)
    reader.press(Keys.ESCAPE)
    reader.until(lambda: reader.path == "/?q=zebra+hides")


def test_a_keyboard_is_enough(reader: Browser, site: Site) -> None:
    reader.press("/")
    type_slowly(reader, "quokka")
    wait_for_results(reader, "quokka")
    # Keys are letters inside a box.
    reader.press("j", "k", "?")
    assert reader.run("return document.querySelector('#q').value") == "quokkajk?"
    assert not reader.all("dialog")
    reader.press(Keys.BACKSPACE, Keys.BACKSPACE, Keys.BACKSPACE, Keys.ESCAPE)
    assert reader.run("return document.querySelector('#q').value") == "quokka"
    wait_for_results(reader, "quokka")
    reader.until(lambda: reader.text("#results h1").endswith('"quokka"'))
    reader.press("j", Keys.ENTER)
    reader.until(lambda: reader.all("article.is-at"))
    at = int(re.search(r"#m(\d+)$", reader.path)[1])  # type: ignore[index]
    step(reader, "j", to=at + 1)
    assert reader.path.endswith(f"at={at + 1}#m{at + 1}")
    step(reader, "k", "k", to=at - 1)
    reader.press("J")
    reader.until(lambda: reader.run("return document.activeElement.matches('.is-prompt')"))
    prompt = int(focused(reader)[1:])
    step(reader, "J", to=prompt + 10)
    step(reader, "K", "K", to=prompt - 10)
    reader.press("]")
    reader.until(lambda: reader.all("mark.is-now"))
    hit = int(focused(reader)[1:])
    reader.press("]")
    reader.until(lambda: int(focused(reader)[1:]) > hit)
    step(reader, "[", to=hit)
    # A tool's output, unfolded and folded again.
    while not reader.run("return document.activeElement.querySelector('details')"):
        before = focused(reader)
        reader.press("j")
        reader.until(lambda before=before: focused(reader) != before)  # type: ignore[misc]
    for is_open in (True, False):
        reader.press(Keys.ENTER)
        assert reader.run("return document.activeElement.querySelector('details').open") is is_open
    reader.press("?")
    assert "Search" in reader.until(lambda: reader.text("dialog[open]"))
    reader.press("j", Keys.ESCAPE)
    reader.until(lambda: not reader.all("dialog"))
    # Of the browser's own keys, none is taken.
    place = focused(reader)
    ActionChains(reader.driver).key_down(Keys.CONTROL).send_keys("j").key_up(Keys.CONTROL).perform()
    ActionChains(reader.driver).key_down(Keys.ALT).send_keys("j").key_up(Keys.ALT).perform()
    assert focused(reader) == place


def test_more_of_a_session_is_loaded_on_both_sides_without_losing_the_place(reader: Browser, site: Site) -> None:
    reader.visit(session(site, site.long, "?at=310#m310"))
    assert reader.text(".range") == f"#250 to #{250 + SHOWN - 1} of {LONG}"
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    reader.run("document.querySelector('#m252').scrollIntoView()")
    reader.run("requestAnimationFrame(() => scrollBy(0, -1))")
    reader.until(lambda: reader.all("#m50"))
    assert 0 < reader.run(top, "#m252") < 200
    assert reader.text(".range") == f"#50 to #449 of {LONG}"
    reader.run("document.querySelector('#m448').scrollIntoView(false)")
    reader.until(lambda: reader.all(f"#m{LONG - 1}"))
    assert 300 < reader.run(top, "#m448") < 950
    assert reader.text(".range") == f"#50 to #{LONG - 1} of {LONG}"
    assert not reader.all("a[rel=next]")
    # The links stay, and lead where what is shown ends.
    assert {link.get_attribute("href") for link in reader.all("a[rel=prev]")} == {session(site, site.long, "?from=0")}
    assert reader.run("return [...document.querySelectorAll('article.message')].map((one) => +one.dataset.seq)") == [
        *range(50, LONG)
    ]


def test_keys_lead_past_the_messages_that_are_shown(reader: Browser, site: Site) -> None:
    reader.visit(session(site, site.long, "?from=100"))
    reader.run("document.querySelector('#m100').focus()")
    reader.run("document.querySelector('#m298').scrollIntoView()")
    step(reader, "J", to=300)
    reader.visit(session(site, site.long, "?from=100"))
    reader.until(lambda: reader.all("#m100"))
    step(reader, "K", to=90)


def test_find_within_a_session(reader: Browser, site: Site) -> None:
    reader.visit(session(site, site.long))
    reader.press("f")
    assert focused(reader) == "find-text"
    reader.press("quokka", Keys.ENTER)
    reader.until(lambda: reader.all("#found"))
    assert "6 messages with" in reader.text("#found")
    assert reader.one("article.is-at").get_attribute("id") == "m50"
    step(reader, "]", to=150)
    # The next is on another page.
    reader.press("]")
    reader.until(lambda: reader.path.endswith("#m250") and reader.text("mark.is-now") == "quokka")
    reader.press("[")
    reader.until(lambda: focused(reader) == "m150" or reader.path.endswith("#m150"))
    reader.one("#found .found-prev").send_keys(Keys.ENTER)
    reader.until(lambda: reader.path.endswith("at=50#m50"))


def test_a_message_its_link_and_its_command_are_copied(reader: Browser, site: Site) -> None:
    reader.allow_clipboard()
    reader.visit(session(site, site.long, "?at=310#m310"))
    reader.press("j")
    reader.until(lambda: reader.all("#m311 #tools"))
    copied = {}
    for button in reader.all("#tools button"):
        button.click()
        reader.until(lambda: reader.text("#said").startswith("Copied"))
        copied[button.text] = reader.clipboard()
    text, link, command = copied.values()
    assert text.startswith("Message 311.\n\nIt goes on")
    assert link == session(site, site.long, "?at=311#m311")
    assert command == f"sesame show {reader.one('#m311').get_attribute('data-place')}"
    # Of what is folded, too, and where a page has no clipboard.
    reader.run("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    reader.run("document.querySelector('#m314 a.at').focus()")
    reader.until(lambda: reader.all("#m314 #tools"))
    reader.one("#tools button").click()
    reader.until(lambda: reader.text("#said").startswith("Copied"))
    reader.run("delete navigator.clipboard")
    assert "ls part-314" in reader.clipboard()


def test_a_session_is_marked_without_loading_it_anew(reader: Browser, site: Site) -> None:
    reader.visit(session(site, site.long, "?at=310#m310"))
    reader.run("window.same = true; document.querySelector('details.marks').open = true")
    reader.one(".marks [name=tag]").send_keys("harbour, <b>bold</b>", Keys.ENTER)
    reader.until(lambda: len(reader.all(".known .tag")) == 2)
    assert reader.run("return document.activeElement.name") == "tag"
    reader.one(".marks [name=name]").send_keys("A long walk", Keys.ENTER)
    reader.until(lambda: "A long walk" in reader.text("h1"))
    note = reader.one(".marks [name=note]")
    note.send_keys("read it again")
    note.find_element("xpath", "ancestor::form//button").click()
    reader.until(lambda: reader.text(".known .note") == "read it again")
    reader.one(".marks form button").click()
    reader.until(lambda: reader.text("h1").startswith("★"))
    assert reader.run("return window.same && document.querySelector('details.marks').open")
    assert reader.all("#m310.is-at")
    for kind in ("md", "html", "json"):
        link = reader.one(f".exports a[href$='as={kind}']")
        script = "const done = arguments[1]; fetch(arguments[0]).then((a) => a.text()).then((t) => done(t.length))"
        assert reader.driver.execute_async_script(script, link.get_attribute("href")) > 10_000


def test_a_running_session_grows_where_it_is_read(reader: Browser, site: Site) -> None:
    file = site.write("3000000c-0000-4000-8000-000000000003", long_session()[:90])
    site.index()
    reader.visit(session(site, file))
    reader.run("document.querySelector('#m80').scrollIntoView()")
    reader.run("getSelection().selectAllChildren(document.querySelector('#m80 .text p'))")
    reader.run("document.querySelector('#m81 a.at').focus({ preventScroll: true })")
    where = "return [scrollY, String(getSelection()), document.activeElement.getAttribute('href')]"
    before = reader.run(where)
    known = reader.text("#known")
    site.append(file.stem, long_session()[90:93])
    reader.until(lambda: reader.all("#m92"))
    assert reader.run(where) == before
    assert reader.text(".range") == "#0 to #92 of 93"
    assert reader.text("#said") == "3 new messages"
    assert re.match(r"\d+ sessions · index changed 20", known)
    # At the end, the page follows.
    reader.run(
        "getSelection().removeAllRanges(); document.activeElement.blur(); scrollTo(0, document.body.scrollHeight)"
    )
    site.append(file.stem, long_session()[93:99])
    reader.until(lambda: reader.all("#m98"))
    reader.until(lambda: reader.run("return innerHeight + scrollY >= document.documentElement.scrollHeight - 4"))
    # A page that is not at the end only says how far the session goes.
    reader.visit(session(site, file, "?from=0"))
    site.append(file.stem, long_session()[99:320])
    reader.until(lambda: reader.text(".range").endswith("of 320"))
    reader.until(lambda: reader.all("a[rel=next]"))


def test_a_list_of_the_latest_sessions_grows(reader: Browser, site: Site) -> None:
    before = len(reader.all("article.hit"))
    site.write(
        "4000000d-0000-4000-8000-000000000004", [record(0, "A brand new question", is_prompt=True), record(1, "Yes")]
    )
    reader.until(lambda: len(reader.all("article.hit")) == before + 1)
    assert "A brand new question" in reader.text("#results")


def test_all_of_it_but_comfort_works_without_script(site: Site, installed: None, tmp_path: Path) -> None:
    with browsing(tmp_path, has_script=False) as plain:
        plain.visit(site.url("/"))
        plain.one("#secret").send_keys(PASSWORD, Keys.ENTER)
        plain.until(lambda: plain.all("article.hit"))
        plain.one("#q").send_keys("zebra hides", Keys.ENTER)
        plain.until(lambda: plain.all("article.hit mark"))
        plain.one("article.hit h2 a").click()
        plain.until(lambda: plain.all("article.is-at details[open] mark"))
        plain.one("a[rel=prev]").send_keys(Keys.ENTER)
        plain.until(lambda: plain.all("#m100"))
        plain.one("a[rel=next]").send_keys(Keys.ENTER)
        plain.until(lambda: plain.all("#m400"))
        plain.one("#find-text").send_keys("quokka", Keys.ENTER)
        plain.until(lambda: plain.all("#found"))
        assert not plain.all("#tools, .copy, #keys")
        plain.one("details.marks summary").click()
        plain.one(".marks [name=tag]").send_keys("plain", Keys.ENTER)
        plain.until(lambda: any(tag.text == "plain" for tag in plain.all(".known .tag")))


def pages(site: Site) -> list[str]:
    """Return the addresses of a page of each kind."""
    return [
        site.url("/"),
        site.url("/?q=harbour&agent=claude-code"),
        site.url("/?q=nothing+has+these+xylophones"),
        session(site, site.long, "?at=305&q=zebra#m305"),
        session(site, site.long, "?find=quokka"),
        session(site, site.hostile),
        site.url("/s/nothing-like-it"),
    ]


def test_a_phone_has_a_link_to_the_facets_which_keeps_the_results(reader: Browser, site: Site) -> None:
    reader.emulate(width=400)
    reader.visit(site.url("/?q=harbour"))
    reader.run("document.querySelector('article.hit').dataset.kept = 'yes'")
    reader.one(".narrow a").click()
    top = "return document.querySelector('#facets').getBoundingClientRect().top"
    reader.until(lambda: reader.run(top) < 800)
    time.sleep(0.2)
    assert reader.run("return document.querySelector('article.hit').dataset.kept") == "yes"
    reader.emulate()
    reader.visit(site.url("/?q=harbour"))
    assert not reader.one(".narrow a").is_displayed()


def test_a_phone_scrolls_in_one_direction(reader: Browser, site: Site) -> None:
    reader.emulate(width=360)
    for url in pages(site):
        reader.visit(url)
        reader.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert reader.run("return [innerWidth, document.documentElement.scrollWidth]") == [360, 360], url
    reader.emulate()
    assert [one for one in reader.complaints() if "404" not in one] == []


CONTRAST = """
const parse = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
const over = ([r, g, b, a], under) => [r, g, b].map((value, n) => value * a + under[n] * (1 - a));
const light = (colour) => {
  const [r, g, b] = colour.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = [];
for (const one of document.querySelectorAll("details")) one.open = true;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  if (element.closest(".hidden, .skip, #said")) continue;
  const chain = [];
  for (let one = element; one; one = one.parentElement) chain.unshift(getComputedStyle(one));
  let ground = parse(getComputedStyle(document.body).backgroundColor), opacity = 1;
  for (const style of chain) { ground = over(parse(style.backgroundColor), ground); opacity *= Number(style.opacity); }
  const style = chain.at(-1), [r, g, b, a] = parse(style.color);
  const text = over([r, g, b, a * opacity], ground);
  const [low, high] = [light(text), light(ground)].sort((x, y) => x - y);
  const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (isLarge ? 3 : 4.5)) found.push([element.outerHTML.slice(0, 90), ratio.toFixed(2)]);
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(reader: Browser, site: Site, scheme: str) -> None:
    reader.emulate(scheme=scheme)
    for url in pages(site):
        reader.visit(url)
        assert reader.run(CONTRAST) == [], url
    reader.visit(session(site, site.hostile))
    for kind in (".abandoned", "ins", "del", "blockquote", "td", ".failed", ".call code"):
        assert reader.all(kind), kind
    reader.run("document.querySelector('.who').style.color = '#888'")
    assert len(reader.run(CONTRAST)) >= 1  # what is too faint is found
    reader.emulate()
    reader.complaints()


def test_the_focus_is_always_visible(reader: Browser, site: Site) -> None:
    outline = "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
    for url in pages(site)[1:5]:
        reader.visit(url)
        seen = []
        for _ in range(25):
            seen.append(reader.tab())
            style, width = reader.run(outline)
            assert (style != "none" and width >= 2) or seen[-1] == "BODY", seen[-1]
        assert seen[0] == "#main" or "#" in url or "find=" in url  # past the head, or from the passage
        assert len(set(seen)) > 8


def test_a_screen_reader_finds_its_way(reader: Browser, site: Site) -> None:
    for url in pages(site)[:6]:
        reader.visit(url)
        nodes = reader.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        shown = [node for node in nodes if not node.get("ignored")]
        roles = [node["role"]["value"] for node in shown]
        for role in ("main", "banner", "contentinfo", "status"):
            assert roles.count(role) == 1, (role, url)
        assert "search" in roles
        named = {"button", "link", "searchbox", "textbox", "navigation", "region", "complementary"}
        nameless = [
            node["role"]["value"] for node in shown if node["role"]["value"] in named and not node["name"]["value"]
        ]
        assert not nameless, url
        levels = reader.run(
            "return [...document.querySelectorAll('h1, h2:not(.text *)')].map((one) => Number(one.tagName[1]))"
        )
        assert levels.count(1) >= 1
        assert levels[0] == 1
        assert reader.run("return document.documentElement.lang") == "en"


def test_nothing_in_a_hostile_session_runs(reader: Browser, site: Site) -> None:
    for path in ("", "?find=hostile", "?at=3&q=script#m3", "?from=0"):
        reader.visit(session(site, site.hostile, path))
        reader.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert reader.all("main :is(script, img, svg, iframe, style, link, base, meta), [onerror], [onload]") == []
        for link in reader.run("return [...document.querySelectorAll('a')].map((one) => one.href)"):
            assert link.startswith((site.server.url, "https://", "http://")), link
        # What the script shows comes from the same page.
        reader.press("j", "J", "]")
        time.sleep(0.1)
    reader.visit(site.url("/?q=hostile"))
    reader.press("/", Keys.END, " ", "w")
    wait_for_results(reader, "hostile+w")
    reader.visit(site.url("/?q=" + "%3Cimg+src%3Dx+onerror%3D%27window.hacked%3D1%27%3E"))
    assert reader.run("return window.hacked") is None
