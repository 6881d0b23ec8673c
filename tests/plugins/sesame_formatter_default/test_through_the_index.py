"""What is kept of dumps and payloads."""

from __future__ import annotations

import sqlite3

import pytest

from sesame_core import Sesame

from ...support.transcripts import Pi, everything, write


@pytest.mark.upstream(29)
def test_dumps_are_cut_payloads_dropped_and_no_text_is_kept_twice() -> None:
    pi = Pi("dumps")
    payload = "iVBORw0KGgo" * 5000
    write(
        pi.path,
        pi.header(),
        pi.call("write", path="a.min.js", content="var beginning;" + "x=1;" * 50_000 + "var ending;"),
        pi.result("headword " + "filling " * 10_000 + " tailword"),
        pi.result(f"before {payload} after"),
    )
    with Sesame() as sesame:
        sesame.index()
        call, result, picture = everything(sesame)
        assert len(call.text) < 70_000 < 200_000 < call.cut + len(call.text)
        assert "var beginning" in call.text
        assert "var ending" in call.text
        assert len(result.text) < 17_000
        assert "headword" in result.text
        assert "tailword" in result.text
        assert picture.text == "before … after"
        assert picture.cut >= len(payload) - 1
        location = sesame.status().location
    db = sqlite3.connect(location)
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'chunks_fts'").fetchone()
    assert "content = 'chunks'" in sql
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_fts_content'").fetchone()
    db.close()
