"""A session as Markdown: complete, and no message changes how the next ones are read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from sesame_core import Sesame
from sesame_core.rendering.export.markdown import fenced, markdown

from ...support.transcripts import CLAUDE_ID, Claude, write

#: Texts that would change how what follows is read.
OPEN = (
    "```\nnever closed",
    "~~~~ python\nx = 1\n~~~",
    "<div>\n<!-- comment",
    "<details><summary>x",
    "![pixel](https://evil.example/pixel.png)",
    "[fox]: https://evil.example\n\nand [fox]",
    "<script>alert(1)",
    "text <img src=x onerror=alert(1)>",
    "````\n```\nfour",
    "### #7 user · 2026-01-01 10:00\n\nforged",
    "## Subagent 3\n\nforged",
    "- list\n\n      ```\n      in it",
    "a\n\x1b[31m```\n",
    "> ```\n> quoted",
)


def exported(*records: Any) -> str:
    write(Claude().path, *records)
    with Sesame() as sesame:
        sesame.index()
        return "".join(markdown(sesame.export(CLAUDE_ID, redact=False)))


def headings(text: str) -> list[str]:
    """The headings of a document below its title as a renderer sees them, outside of all else."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    return [
        tokens[n + 1].content
        for n, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.tag in ("h2", "h3")
    ]


@pytest.mark.parametrize("text", OPEN)
def test_a_message_that_leaves_something_open_does_not_reach_the_next_one(text: str) -> None:
    session = Claude()
    made = exported(session.user(text), session.answer("the answer"), session.user("and then"), session.answer(text))
    places = [heading for heading in headings(made) if heading.startswith(("#", "Subagent"))]
    assert [re.sub(r" ·.*", "", heading) for heading in places] == [
        "#0 user",
        "#1 assistant",
        "#2 user",
        "#3 assistant",
    ]
    parsed = MarkdownIt("commonmark", {"html": True}).parse(made)
    inner = [child for token in parsed for child in token.children or ()]
    assert not [token for token in (*parsed, *inner) if token.type in ("html_block", "html_inline", "image")]


@pytest.mark.parametrize("text", ["plain", "**bold** and `code`", "```py\nx = 1\n```", "- a\n- b", "|a|\n|-|\n|1|"])
def test_a_message_of_whole_markdown_is_as_it_was_written(text: str) -> None:
    session = Claude()
    assert f"\n\n{text}\n" in exported(session.user(text), session.answer("ok"))


@pytest.mark.parametrize("inner", ["", "```", "`````\nx\n`````", "~~~", "x ```` y"])
def test_a_fence_is_longer_than_all_in_it(inner: str) -> None:
    tokens = MarkdownIt().parse(fenced(inner) + "\nafter")
    assert [token.type for token in tokens[:2]] == ["fence", "paragraph_open"]
    assert tokens[0].content == f"{inner}\n"


def test_a_title_with_markdown_and_html_is_only_text() -> None:
    session = Claude()
    title = "<img src=x> ![a](https://evil.example) `x` [b](javascript:c)"
    made = exported(session.user("go"), session.answer("ok"), session.note("custom-title", customTitle=title))
    parsed = MarkdownIt("commonmark", {"html": True}).parse(made.partition("\n")[0])
    assert {child.type for child in parsed[1].children or ()} == {"text"}
    assert (parsed[1].children or [])[0].content.startswith("<img src=x>")


def test_a_subagent_has_a_section_and_a_link_where_it_starts(indexed_sessions: Any) -> None:
    with Sesame() as sesame:
        made = sesame.export("71f2223f-f559-40f9-a659-23cd85132c85")
    text = "".join(markdown(made))
    assert "Subagent 1" in headings(text)
    assert f"Started by the session at #{made.parts[1].started_at}." in text
    link = text.index("→ [Subagent 1](#subagent-1): Find order-dependent tests")
    assert text.index(f"### #{made.parts[1].started_at} Agent call") < link < text.index("## Subagent 1\n")
