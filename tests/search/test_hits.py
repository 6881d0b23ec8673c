"""What a hit says about itself: the passage, the position, the branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ..support.transcripts import Pi, found, write


@pytest.mark.upstream(23)
@pytest.mark.usefixtures("filler")
def test_a_snippet_is_one_marked_line_with_role_and_position(cli: Callable[..., Any]) -> None:
    pi = Pi("snippet")
    long = "word " * 200
    write(pi.path, pi.header(), pi.user("first"), pi.answer(f"{long}\n\nthe kestrel\nhovers over the field\n\n{long}"))
    with Sesame() as sesame:
        sesame.index()
        (hit,) = sesame.search("kestrel hover").hits
    snippet = hit.snippet
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["kestrel", "hovers"]
    assert "the kestrel hovers over the field" in snippet.text
    (result,) = cli("search", "kestrel", "hover", "--json").json["results"]
    assert (result["matchedRole"], result["matchedPosition"], result["matchedType"]) == ("assistant", 1, "message")
    assert result["matchedEntryId"]
    shown = cli("search", "kestrel").out
    assert '"…' in shown
    assert "Found 1 session" in shown
    around = cli("show", "snippet", "--around", str(result["matchedPosition"])).out
    assert "→1 assistant" in around


@pytest.mark.upstream(24)
def test_abandoned_branches_are_marked(cli: Callable[..., Any]) -> None:
    pi = Pi("branches")
    first = pi.user("where shall we go")
    fork_point = pi.last
    dead = [pi.user("follow the currawong"), pi.answer("It leads nowhere.")]
    pi.last = fork_point
    live = [pi.user("follow the magpie"), pi.answer("It leads home.")]
    write(pi.path, pi.header(), first, *dead, *live)
    with Sesame() as sesame:
        sesame.index()
        (dead_hit,), (live_hit,) = sesame.search("currawong").hits, sesame.search("magpie").hits
        assert (dead_hit.is_abandoned, live_hit.is_abandoned) == (True, False)
    assert "on an abandoned branch" in cli("search", "currawong").out
    assert "abandoned" not in cli("search", "magpie").out
    assert cli("search", "currawong", "--json").json["results"][0]["onAbandonedBranch"] is True
    assert "user abandoned" in cli("show", "branches").out

    failed = Pi("failed")
    result = failed.result("make: nothing to be done for jabiru")
    result["message"]["isError"] = True
    write(failed.path, failed.header(), failed.user("build"), failed.call("bash", command="make jabiru"), result)
    with Sesame() as sesame:
        sesame.index()
        # Failure is known per result; a filter on it comes with the query language.
        assert [c.is_error for c in sesame.list_messages("failed") if c.kind == "tool_result"] == [True]
        assert found(sesame.search("jabiru", Filters(tools_only=True))) == ["failed"]
