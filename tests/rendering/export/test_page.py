"""A session as a page: valid, harmless whatever the session says, and complete."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.rendering.export.page import page

from ...support.harmless import element, parsed, text_of
from ...support.transcripts import CLAUDE_ID, Claude, write

#: Texts that would run or load something, or change the page, if they were not escaped.
PAYLOADS = (
    "<script>alert(1)</script>",
    "</pre><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</code></summary></details><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<!-- open comment",
    "]]><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><style>*{background:url(//evil.example)}</style></svg>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=//evil.example></object>",
    "<embed src=//evil.example>",
    "<base href=//evil.example/>",
    '<meta http-equiv=refresh content="0;url=//evil.example">',
    "<link rel=stylesheet href=//evil.example>",
    "<form action=//evil.example><input autofocus onfocus=alert(1)></form>",
    "<video src=//evil.example onerror=alert(1)>",
    "<math><mtext></mtext><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea><script>alert(1)</script>",
    "<plaintext>",
    "<template><script>alert(1)</script></template>",
    "<a href=javascript:alert(1)>a</a>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '"><script>alert(1)</script>',
    "`onmouseover=alert(1)`",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:msgbox)",
    "[a](file:///etc/passwd)",
    '[a](https://x.example "onmouseover=alert(1)")',
    '[a](https://x.example/"onmouseover=alert(1))',
    "[a](//evil.example)",
    "![a](https://evil.example/pixel.png)",
    "![a](javascript:alert(1))",
    "[![a](https://evil.example/a.png)](https://x.example)",
    "[a]: javascript:alert(1)\n\n[a]",
    "<javascript:alert(1)>",
    "<https://x.example/onmouseover=>",
    '```"><script>alert(1)</script>\ncode\n```',
    "~~~ js onload=alert(1)\n</pre><script>alert(1)</script>",
    "|<b>|b|\n|-|-|\n|<script>alert(1)</script>|<img src=x onerror=alert(1)>|",
    "# <script>alert(1)</script>",
    "> <iframe>",
    "- <svg/onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07",
    "\x1b[31m<script>\x1b[0m",
    "\u202egnp.exe\u202c \u0000 \u0008 \ufffe \ufdd0 \ud800",
    "style=background:url(//evil.example)",
    "@import url(//evil.example);",
    "{{constructor.constructor('alert(1)')()}}",
)


def exported(*records: Any) -> str:
    write(Claude().path, *records)
    with Sesame() as sesame:
        sesame.index()
        return "".join(page(sesame.export(CLAUDE_ID, redact=False)))


def everywhere(payload: str) -> list[Any]:
    """Records with a text in every field that a page shows."""
    session = Claude(cwd="/home/bo/fox")
    session.cwd = f"/home/bo/{payload}"
    return [
        session.user(payload, gitBranch=payload, version=payload),
        session.answer(payload, {"type": "thinking", "thinking": payload}),
        session.call("Bash", "c1", command=payload, description=payload),
        session.result(payload, "c1"),
        session.call("Edit", "c2", file_path=payload, old_string=payload, new_string=f"{payload}\n+{payload}"),
        session.result(payload, "c2", is_error=True),
        session.call(payload, "c3", **{payload: payload, "deep": [{payload: payload}]}),
        session.result([{"type": "text", "text": payload}], "c3"),
        session.call("Write", "c4", file_path=payload, content=payload),
        session.answer(payload, id=payload),
        session.note("custom-title", customTitle=payload),
        session.note("summary", summary=payload, leafUuid=session.last),
    ]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_text_in_every_field_runs_and_loads_nothing(payload: str) -> None:
    records = everywhere(payload)
    records[1]["message"]["model"] = payload
    made = exported(*records)
    tree = parsed(made)
    assert made.count("<script") == made.count("<img") == made.count("<!--") == 0
    assert len(list(tree.iter("article"))) >= 2


def test_all_hostile_texts_together_leave_the_page_whole() -> None:
    session = Claude()
    records = [turn for text in PAYLOADS for turn in (session.user(text), session.answer(text))]
    tree = parsed(exported(*records))
    assert len(list(tree.iter("article"))) == 2 * len(PAYLOADS)


#: Texts of which a renderer of Markdown would show less than is in them.
ODD = (
    "[note]: https://x.example/definition\n\nno link to it",
    "|a|b|\n|-|-|\n|1|2|cell that is too many|",
    "> " * 40 + "deeply quoted",
    "- " * 40 + "deep list",
    r"C:\_users\#fox &amp; JSON {\"a\": 1}",
    "```rust,ignore title=fox.rs\nfn main() {}\n```",
    "```\nfence that is never closed",
    "\n\n\n    indented\n\ttab",
    "7. seven\n8. eight",
    "日本語 **太字** 🎉 `code`",
    "a\r\nb\rc",
    "line one\nline two",
    "===\nfoo\n===\nbar\n---",
    "<div>shown</div> & <fox@example.org>",
    "***bold italic*** ~~struck~~ __init__",
    "x" * 60_000,
)


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_every_letter_of_a_message_is_on_the_page(text: str) -> None:
    session = Claude()
    tree = parsed(exported(session.user(text), session.answer("ok")))
    article = element(tree, "p0")
    shown = text_of(article) + "".join(a.get("href", "") for a in article.iter("a"))
    shown += "".join(str(o.get("start", 1) if not n else n + 1) for o in article.iter("ol") for n in range(len(o)))
    wanted = [c for c in text if c.isalnum()]
    assert not [c for c in set(wanted) if shown.count(c) < wanted.count(c)]


def test_calls_are_folded_with_a_readable_line_and_diffs_have_sides() -> None:
    session = Claude()
    tree = parsed(
        exported(
            session.user("go"),
            session.call("Bash", "c1", command="npm test", description="Run the tests"),
            session.result("1 failed\nat fox.js:7", "c1", is_error=True),
            session.call("Edit", "c2", file_path="/a/fox.py", old_string="a = 1\nb = 2", new_string="a = 1\nb = 3"),
        )
    )
    call, output, edit = (element(tree, f"p{n}") for n in (1, 2, 3))
    assert text_of(next(call.iter("summary"))) == "#1 $ npm test  # Run the tests"
    assert "failed" in text_of(next(output.iter("summary"))).lower()
    assert output.get("class") == "output failed"
    assert output.get("open") is None
    assert "fox.js:7" in text_of(output)
    assert text_of(next(edit.iter("summary"))) == "#3 Edit /a/fox.py"
    assert [text_of(line) for side in ("del", "ins") for line in edit.iter(side)] == ["-b = 2", "+b = 3"]


def test_the_header_has_title_directory_agent_and_dates(indexed_sessions: Any) -> None:
    with Sesame() as sesame:
        tree = parsed("".join(page(sesame.export("d6bc"))))
    header = text_of(next(tree.iter("header")))
    for part in ("SQLite migration sets", "/home/ann/code/chat-client", "claude-code", "2026-10-14 14:02", "replaced"):
        assert part in header


def test_a_subagent_is_a_section_that_is_linked_from_where_it_starts(indexed_sessions: Any) -> None:
    with Sesame() as sesame:
        made = sesame.export("71f2223f-f559-40f9-a659-23cd85132c85")
        tree = parsed("".join(page(made)))
    assert [part.parent for part in made.parts] == [None, 0]
    start = made.parts[1].started_at
    assert start is not None
    assert made.parts[0].chunks[start].tool_name == "Agent"
    (section,) = tree.iter("section")
    assert section.get("id") == "s1"
    assert f"#p{start}" in [a.get("href") for a in section.iter("a")]
    main = next(tree.iter("main"))
    places = [one.get("id") or next((a.get("href") for a in one.iter("a")), "") for one in main]
    assert places[places.index(f"p{start}") + 1] == "#s1"
    element(tree, "s1-p0")


def test_every_demo_session_is_a_valid_page_with_every_message_once(indexed_sessions: Any) -> None:
    with Sesame() as sesame:
        found, _ = sesame.list_sessions()
        assert len(found) > 5
        for stored in found:
            made = sesame.export(stored)
            tree = parsed("".join(page(made)))
            articles = list(tree.iter("article"))
            messages = [
                c for p in made.parts for c in p.chunks if c.kind == "message" and c.role in ("user", "assistant")
            ]
            assert len(articles) == len(messages)
