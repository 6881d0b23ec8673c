"""Facets of an answer: counted over all that was found, as links that narrow it."""

from __future__ import annotations

import httpx2
import pytest

from ..support.web_client import texts, tree_of


@pytest.mark.once
def test_each_facet_leads_to_as_many_sessions_as_it_says(visitor: httpx2.Client) -> None:
    for query in ("/", "/?q=websocket", "/?q=the", "/?q=the&count=tool", "/?tool=bash", "/?q=the&tool=bash"):
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


def test_calls_with_words_are_counted_when_asked_for(visitor: httpx2.Client) -> None:
    def tools(path: str) -> dict[str, str]:
        items = tree_of(visitor.get(path).text).findall(".//aside[@id='facets']//li/a")
        links = {"".join(item.itertext()): item.get("href", "") for item in items}
        return {text: link for text, link in links.items() if "tool" in link}

    assert tools("/?q=the") == {"count them by tool": "/?q=the&count=tool"}
    counted = tools("/?q=the&count=tool")
    assert counted["bash"] == "/?q=the&tool=bash"
    assert len(counted) > 2
    assert counted.keys() < tools("/").keys()  # some tools were called without the word


def test_what_a_link_would_replace_or_repeat_is_no_facet(visitor: httpx2.Client) -> None:
    def names(path: str) -> list[str]:
        return texts(tree_of(visitor.get(path).text), ".//aside[@id='facets']/h2")

    assert names("/?q=the") == ["Agent", "Project", "Day", "Calls with these words", "Failed"]
    assert names("/") == ["Agent", "Project", "Day", "Tool", "Failed"]
    assert names("/?tool=bash") == names("/?q=tool:bash") == ["Agent", "Project", "Day", "Failed"]
    assert names("/?q=the&error=1") == ["Agent", "Project", "Day", "Calls with these words"]


def test_a_filter_that_is_set_has_a_link_that_removes_it(visitor: httpx2.Client) -> None:
    tree = tree_of(visitor.get("/", params={"q": "the", "agent": ["pi", "claude-code"], "error": "1"}).text)
    assert texts(tree, ".//ul[@id='filters']/li") == ["agent pi ✕", "agent claude-code ✕", "error ✕"]
    links = [one.get("href") for one in tree.findall(".//ul[@id='filters']//a")]
    assert links[0] == "/?q=the&agent=claude-code&error=1"
    assert links[2] == "/?q=the&agent=pi&agent=claude-code"
