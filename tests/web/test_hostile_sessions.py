"""Whatever a session says, nothing of it runs or loads: a payload in every field, on every page that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from sesame_core import Sesame

from ..rendering.export.test_page import PAYLOADS, everywhere
from ..support.transcripts import Pi, write
from ..support.web_client import harmless, served

pytestmark = pytest.mark.once


@pytest.fixture
def visitor(home: Path) -> Iterator[httpx2.Client]:
    for number, payload in enumerate(PAYLOADS):
        records = everywhere(payload)
        records[1]["message"]["model"] = payload
        session = f"11111111-1111-4111-8111-{number:012d}"
        for record in records:
            record["sessionId"] = session
        write(home / ".claude" / "projects" / "fox" / f"{session}.jsonl", *records)
        pi = Pi(session=f"{payload.encode('utf-8', 'replace').decode()}{number}")
        write(home / ".pi" / "agent" / "sessions" / "fox" / f"{number}.jsonl", pi.header(), pi.user(payload))
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.errors, report.pending) == ([], 0)
    with served() as server, server.visitor() as client:
        yield client


def test_sixty_payloads_in_every_field_and_in_marks_run_and_load_nothing(visitor: httpx2.Client) -> None:
    assert len(PAYLOADS) >= 60
    for number, payload in enumerate(PAYLOADS):
        session = f"11111111-1111-4111-8111-{number:012d}"
        text = payload.encode("utf-8", "replace").decode()
        for given in ({"name": text, "note": text}, {"tag": text}):
            assert visitor.post(f"/mark/{session}", data={**given, "at": text}).status_code in (303, 400)
        answer = visitor.get(f"/s/{session}", params={"find": text, "q": text})
        assert answer.status_code == 200, (payload, answer.text)
        tree = harmless(answer.text)
        assert len([one for one in tree.iter("article") if one.get("data-seq")]) >= 9
        if number % 3 == 0:
            answer = visitor.get("/", params={"q": text, "tag": text, "cwd": text} if number % 2 else {"q": text})
            assert answer.status_code in (200, 400)
            harmless(answer.text)
    for page in range(1, 5):
        harmless(visitor.get("/", params={"page": str(page), "agent": "claude-code"}).text)


def test_a_payload_as_the_id_of_a_session_is_only_its_name(visitor: httpx2.Client) -> None:
    found = [one["sessionId"] for one in visitor.get("/api/sessions?agent=pi&limit=100").json()["sessions"]]
    assert len(found) > 40
    for number, session in enumerate(found):
        answer = visitor.get(f"/s/{quote(session, safe='')}")
        assert answer.status_code in (200, 404)
        harmless(answer.text)
        made = visitor.get(f"/export/{quote(session, safe='')}", params={"as": "md"}) if number % 4 == 0 else answer
        if made.status_code == 200 and made is not answer:
            disposition = made.headers["content-disposition"]
            assert disposition.startswith("attachment; filename*=UTF-8''")
            assert disposition.isascii()
            assert not set(disposition.partition("''")[2]) & set("/\\\"'; <>")
