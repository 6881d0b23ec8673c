"""Markdown of a message: as HTML that loads and runs nothing and leaves nothing out; and what stays open in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from ...text.snippets import occurrences
from ..screen.markdown import LONGEST

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from ...types.query import Query

#: Left out: images load something; definitions of links, entities and escapes would take away what was written.
OFF = ("image", "reference", "entity", "escape", "html_block", "html_inline", "lheading")
#: What stands behind a message, to see that it is not part of what the message has left open.
_AFTER = "after the message"
#: Addresses that a link may have.
SCHEMES = ("http://", "https://")
_TAG = re.compile(r"(<[^>]*>)")


def html_of(text: str) -> str:
    """Return a text of Markdown as HTML; as it is, escaped, if a part of it would not be shown."""
    if len(text) > LONGEST:
        return plain(text)
    made = _markdown()
    tokens = made.parse(text)
    if _characters([text]) - _characters(_shown(tokens)):
        return plain(text)
    return str(made.renderer.render(tokens, made.options, {}))


def plain(text: str) -> str:
    """Return a text as it is, escaped."""
    # A line feed after the tag is not shown.
    return f"<pre>\n{escape(text)}</pre>\n"


def diff(text: str, sides: Iterable[str]) -> str:
    """Return the lines of a text, each with its side."""
    lines = []
    # Of a text that was cut, there are more sides than lines.
    for line, side in zip(text.split("\n"), sides, strict=False):
        tag = {"+": "ins", "-": "del"}.get(side)
        lines.append(f"<{tag}>{escape(line) or ' '}</{tag}>" if tag else f"{escape(line)}\n")
    return f"<pre>\n{''.join(lines)}</pre>\n"


def highlighted(html: str, query: Query) -> str:
    """Return HTML of this module in which the words of a query are marked: only what is between tags is searched."""
    parts = _TAG.split(html)
    for place in range(0, len(parts), 2):
        text = unescape(parts[place]) if parts[place].strip() else ""
        made, position = [], 0
        for start, end, _ in occurrences(text, query) if text else ():
            made += [escape(text[position:start]), f"<mark>{escape(text[start:end])}</mark>"]
            position = end
        if made:
            parts[place] = "".join([*made, escape(text[position:])])
    return "".join(parts)


def is_closed(text: str) -> bool:
    """Return whether Markdown may stand before other: it has no HTML and no images, and leaves nothing open."""
    if len(text) > LONGEST:
        return False
    env: dict[str, object] = {}
    tokens = _written().parse(f"{text}\n\n{_AFTER}", env)
    last = [token.content for token in tokens[-2:-1] if token.level == 1]
    return last == [_AFTER] and not env.get("references") and not any(map(_is_foreign, tokens))


def _is_foreign(token: Token) -> bool:
    return token.type in ("html_block", "html_inline", "image") or any(map(_is_foreign, token.children or ()))


@cache
def _written() -> MarkdownIt:
    """Return a parser of Markdown as others read it."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table"])


@cache
def _markdown() -> MarkdownIt:
    """Return the parser and renderer of a page."""
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def link(self: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:
        return f'<a href="{escapeHtml(str(tokens[number].attrGet("href")))}" rel="noopener noreferrer nofollow">'

    def fence(self: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:
        token = tokens[number]
        info = f"<small>{escapeHtml(token.info.strip())}</small>" if token.info.strip() else ""
        return f"{info}<pre>\n{escapeHtml(token.content)}</pre>\n"

    def scrolled(self: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:
        return '<div class="wide"><table>\n'

    def unscrolled(self: Any, tokens: list[Token], number: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    # What a person typed has line feeds where he wants them.
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    made.disable(list(OFF))
    made.validateLink = lambda url: url.lower().startswith(SCHEMES)  # type: ignore[method-assign]
    made.normalizeLink = lambda url: url  # type: ignore[method-assign]
    made.add_render_rule("link_open", link)
    made.add_render_rule("fence", fence)
    made.add_render_rule("table_open", scrolled)
    made.add_render_rule("table_close", unscrolled)
    return made


def _shown(tokens: Iterable[Token]) -> Iterable[str]:
    """Yield the texts of tokens: what is seen, and where links lead."""
    for token in tokens:
        if token.children is not None:
            yield from _shown(token.children)
        else:
            yield token.content
        yield token.info
        yield str(token.attrGet("href") or "")


def _characters(texts: Iterable[str]) -> Counter[str]:
    """Return how often each letter and digit occurs."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(filter(str.isalnum, text))
    return found
