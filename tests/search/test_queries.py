"""What the query language finds, in an index with other sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sesame_core import Sesame

from ..support.transcripts import found, pi_session


@pytest.mark.upstream(20)
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName first", "user"),
        ("call getUserName first", "getUserName"),
        ("an HTTPServerError appeared", "server"),
        ("the authentication fails", "auth*"),
        ("全文検索を実装する", "検索"),
        ("全文検索を実装する", "全文検索"),
        ("全文検索を実装する", "索"),
        ("서버를 다시 시작", "서버"),
    ],
)
@pytest.mark.usefixtures("filler")
def test_parts_of_names_prefixes_and_words_of_scripts_without_spaces_are_found(text: str, query: str) -> None:
    pi_session("wanted", text)
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search(query)) == ["wanted"]


@pytest.mark.upstream(21)
@pytest.mark.usefixtures("filler")
def test_phrases_exclusion_requirement_prefix_and_queries_that_begin_with_a_dash(
    cli: Callable[..., Any],
) -> None:
    pi_session("phrase", "the exact phrase stands here")
    pi_session("apart", "the phrase is not so exact")
    pi_session("option", "run it with --prune --map please")
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search('"exact phrase"')) == ["phrase"]
        assert found(sesame.search('"phrase exact"')) == []
        assert set(found(sesame.search("exact phrase"))) == {"phrase", "apart"}
        assert found(sesame.search("phrase -stands")) == ["apart"]
        assert found(sesame.search("phrase +stands")) == ["phrase"]
        assert found(sesame.search("stan*")) == ["phrase"]
    for arguments in (("--", "--prune", "--map"), ("--prune --map",)):
        done = cli("search", "--json", *arguments)
        assert [result["sessionId"] for result in done.json["results"]] == ["option"], done.err
