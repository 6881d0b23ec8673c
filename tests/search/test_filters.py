"""Filters on dates, paths and directories mean what they say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.query.dates import parse_date

from ..support.transcripts import Pi, found, pi_session, write


@pytest.mark.upstream(11)
def test_a_day_counts_whole_and_zones_are_heeded(cli: Callable[..., Any]) -> None:
    zone = datetime(2026, 5, 8, 12).astimezone().tzinfo
    pi_session("noon", "the same kookaburra", start=datetime(2026, 5, 8, 12, tzinfo=zone))
    pi_session("next", "the same kookaburra", start=datetime(2026, 5, 9, 0, 30, tzinfo=zone))
    offset = Pi("offset", start=datetime(2026, 5, 8, 23, 0, tzinfo=UTC))
    entry = offset.user("an offset kookaburra")
    entry["timestamp"] = "2026-05-10T01:30:00.000+02:00"
    write(offset.path, offset.header(), entry)
    with Sesame() as sesame:
        sesame.index()

    def ids(*arguments: str) -> set[str]:
        return {result["sessionId"] for result in cli("search", "kookaburra", "--json", *arguments).json["results"]}

    assert ids("--before", "2026-05-08") == {"noon"}
    assert ids("--after", "2026-05-08", "--before", "2026-05-08") == {"noon"}
    assert ids("--after", "2026-05-09T23:29:00+00:00") == {"offset"}
    assert ids("--after", "2026-05-09T23:31:00+00:00") == set()
    now = datetime(2026, 3, 31, 15, 20, tzinfo=timezone(timedelta(hours=5)))
    assert parse_date("1m", now=now) == now.replace(month=2, day=28)
    assert parse_date("24h", now=now) == now - timedelta(days=1)


@pytest.mark.upstream(13)
def test_path_means_the_path_argument_in_search_and_when_browsing() -> None:
    named = Pi("named")
    write(named.path, named.header(), named.user("fix it"), named.call("edit", path="src/my_file.py", old="a", new="b"))
    content = Pi("content")
    call = content.call("write", path="notes.md", content="see src/my_file.py and src/myXfile.py")
    write(content.path, content.header(), content.user("fix it"), call)
    lookalike = Pi("lookalike")
    write(lookalike.path, lookalike.header(), lookalike.user("fix it"), lookalike.call("read", path="src/myXfile.py"))
    with Sesame() as sesame:
        sesame.index()
        for query in ("", "*", "fix"):
            for path in ("src/my_file.py", "my_file.py"):
                assert found(sesame.search(query, Filters(path=path))) == ["named"]
            assert found(sesame.search(query, Filters(path="my%"))) == []


@pytest.mark.upstream(14)
def test_a_directory_means_itself_and_what_is_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path, cli: Callable[..., Any]
) -> None:
    pi_session("app", "same words", cwd="/w/a_p")
    pi_session("below", "same words", cwd="/w/a_p/src")
    pi_session("sibling", "same words", cwd="/w/a_p-v2")
    pi_session("lookalike", "same words", cwd="/w/axp")
    pi_session("here", "same words", cwd=str(tmp_path))
    pi_session("home", "same words", cwd=str(home / "project"))
    with Sesame() as sesame:
        sesame.index()

    def ids(cwd: str) -> set[str]:
        return {result["sessionId"] for result in cli("search", "same", "--json", "--cwd", cwd).json["results"]}

    assert ids("/w/a_p") == ids("/w/a_p/") == {"app", "below"}
    assert ids("/w/%") == set()
    assert ids("~/project") == {"home"}
    monkeypatch.chdir(tmp_path)
    assert ids(".") == {"here"}
