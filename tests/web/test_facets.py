"""Facets of an answer: counted over all that was found, as links that narrow it."""

from __future__ import annotations

import httpx2

from ..support.web_client import texts, tree_of


def test_each_facet_leads_to_as_many_sessions_as_it_says(visitor: httpx2.Client) -> None:
    for query in ("/", "/?q=websocket", "/?q=the"):
        tree = tree_of(visitor.get(query).text)
        facets = [
            (link.get("href", ""), int("".join(number.itertext())))
            for item in tree.findall(".//aside[@id='facets']//li")
            if (link := item.find("a")) is not None and (number := item.find("span")) is not None
        ]
        assert {part for link, _ in facets for part in ("agent=", "after=") if part in link} == {"agent=", "after="}
        for link, number in facets:
            found = len(tree_of(visitor.get(link).text).findall(".//article[@class='hit']"))
            # What was said on a day is not all of a session, and more were active on it than were so last.
            assert found == number if "after=" not in link or "q=" not in link else found, link


def test_a_filter_that_is_set_has_a_link_that_removes_it(visitor: httpx2.Client) -> None:
    tree = tree_of(visitor.get("/", params={"q": "the", "agent": ["pi", "claude-code"], "error": "1"}).text)
    assert texts(tree, ".//ul[@id='filters']/li") == ["agent pi ✕", "agent claude-code ✕", "error ✕"]
    links = [one.get("href") for one in tree.findall(".//ul[@id='filters']//a")]
    assert links[0] == "/?q=the&agent=claude-code&error=1"
    assert links[2] == "/?q=the&agent=pi&agent=claude-code"
