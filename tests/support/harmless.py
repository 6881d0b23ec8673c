"""What an exported page may have: elements and attributes that load and run nothing, valid, with links that lead on."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import html5lib

ELEMENTS = set(
    "html head meta title style body main section header article details summary p pre code a b i em strong small time "
    "dl dt dd ul ol li h1 h2 h3 h4 h5 h6 blockquote br hr s div table thead tbody tr th td ins del".split()
)
ATTRIBUTES = {
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "content", "name"},
    "a": {"href", "rel"},
    "time": {"datetime"},
    "ol": {"start"},
    "th": {"style"},
    "td": {"style"},
    "div": {"class"},
    "p": {"class"},
}
#: Of pages: positions, sections, and what they are.
EVERYWHERE = {"id", "class"}
BLOCKS = {"main", "section", "article", "details"}


def parsed(page: str) -> Element:
    """Return a page as a tree, after checking that it is valid and harmless."""
    tree: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in tree.iter():
        assert element.tag in ELEMENTS, element.tag
        allowed = ATTRIBUTES.get(element.tag, set()) | (EVERYWHERE if element.tag in BLOCKS else set())
        assert set(element.attrib) <= allowed, (element.tag, element.attrib)
        assert element.get("style") in (None, "text-align:left", "text-align:right", "text-align:center")
        if element.tag == "a" and (href := element.get("href", "")):
            leads = href[1:] in ids if href.startswith("#") else re.match(r"(?i)https?://", href)
            assert leads, href
            assert href.startswith("#") or element.get("rel") == "noopener noreferrer nofollow"
    policies = [element.get("content", "") for element in tree.iter("meta") if element.get("http-equiv")]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'")
    (style,) = tree.iter("style")
    assert not re.search("url|@import", style.text or "")
    return tree


def text_of(element: Element) -> str:
    """Return the text of an element."""
    return "".join(element.itertext())


def element(tree: Element, id: str) -> Element:
    """Return the element with an id."""
    (found,) = (one for one in tree.iter() if one.get("id") == id)
    return found
