"""A newer redactor redacts what an older one stored, in each kind of index; without one nothing is read again."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import paths
from sesame_core.config.model import Redaction
from sesame_core.metadata.files import MetadataFiles
from sesame_core.privacy import values, version
from sesame_core.privacy.detectors import DETECTORS
from sesame_core.privacy.version import redaction_version

from ..support.planted import made
from ..support.transcripts import Claude, Pi, append, write

#: Changes with the detectors.  When it does, add one to `VERSION`, and set it to what the test prints.
TABLE = (3, "d40af9f64f94e7df")


def configure(**settings: Any) -> None:
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, home: Path) -> dict[str, Any]:
    """The settings of an index in which secrets are redacted."""
    if request.param == "sqlite":
        settings: dict[str, Any] = {"redact": True}
    else:
        settings = {"backend": {"name": "postgres", "options": {"dsn": request.getfixturevalue("database")}}}
    configure(**settings)
    return settings


def test_the_version_grows_with_the_detectors() -> None:
    table = [(kind.name, kind.triggers, kind.pattern, kind.rest) for kind in DETECTORS]
    judged = [value.pattern for value in vars(values).values() if isinstance(value, re.Pattern)]
    digest = blake2b(repr((table, judged, sorted(values.PLACEHOLDERS))).encode(), digest_size=8).hexdigest()
    assert (version.VERSION, digest) == TABLE


def test_a_newer_redactor_reads_all_files_again_once(
    cli: Any, shared: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Claude()
    write(session.path, session.user("a fox"))
    pi = Pi("hare")
    write(pi.path, pi.header(), pi.user("a hare"))
    assert cli("index", "--json").json["added"] == 2
    assert cli("index", "--json").json["unchanged"] == 2
    append(pi.path, pi.user("another hare"))
    assert cli("index", "--json").json["appended"] == 1
    monkeypatch.setattr(version, "VERSION", version.VERSION + 1)
    again = cli("index", "--json").json
    assert (again["updated"], again["appended"], again["unchanged"]) == (2, 0, 0)
    assert cli("index", "--json").json["unchanged"] == 2


def test_a_search_reads_again_what_an_older_redactor_stored(
    cli: Any, shared: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = made(30)
    session = Claude()
    write(session.path, session.user(f"the fox number {secret}"))
    cli("index")
    assert cli("search", secret, "--json").json["resultCount"] == 1
    settings = {"enabled": True, "patterns": {"fox": secret}}
    configure(**shared | {"redact": settings})
    assert cli("search", secret, "--json").json["resultCount"] == 0
    assert cli("search", "redacted:fox", "--json").json["resultCount"] == 1
    assert cli("audit").code == 0


def test_notes_are_redacted_again_by_a_newer_redactor(cli: Any, shared: dict[str, Any], home: Path) -> None:
    secret = made(30)
    session = Claude()
    write(session.path, session.user("a fox"))
    notes = MetadataFiles(paths.data_dir() / "sessions-meta")
    notes.directory.mkdir(parents=True)
    texts = dict.fromkeys(("sessionFile", "description", "summary", "cwd", "createdAt", "updatedAt", "model"), "")
    value = {"sessionId": session.session, "lastIndexedLeafId": "x", "name": f"fox {secret}", "tags": [], **texts}
    notes.path(session.session).write_text(json.dumps(value))
    assert cli("index", "--json").json["errors"] == []
    assert cli("search", secret, "--json").json["resultCount"] == 1
    configure(**shared | {"redact": {"enabled": True, "patterns": {"fox": secret}}})
    cli("index")
    assert cli("audit").code == 0
    assert cli("search", secret, "--json").json["resultCount"] == 0


def test_a_path_that_a_newer_redactor_redacts_is_not_left_as_it_was(cli: Any, shared: dict[str, Any]) -> None:
    secret = "fox" + made(20)
    pi = Pi("hare", cwd=f"/home/{secret}")
    write(pi.path, pi.header(), pi.user("a hare"))
    assert secret in str(pi.path)
    cli("index")
    configure(**shared | {"redact": {"enabled": True, "patterns": {"fox": secret}}})
    cli("index")
    assert cli("audit").code == 0
    assert cli("search", "hare", "--json").json["resultCount"] == 1
    assert cli("index", "--json").json["unchanged"] == 1


def test_without_redaction_a_newer_redactor_reads_nothing_again(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Claude()
    write(session.path, session.user("a fox"))
    cli("index")
    monkeypatch.setattr(version, "VERSION", version.VERSION + 1)
    assert cli("index", "--json").json["unchanged"] == 1
    configure(redact=True)
    assert cli("index", "--json").json["updated"] == 1


def test_patterns_and_exceptions_are_part_of_the_version() -> None:
    versions = {
        redaction_version(settings)
        for settings in (Redaction(), Redaction(keep=("a",)), Redaction(patterns=(("a", "b"),)))
    }
    assert len(versions) == 3
    assert 0 not in versions
    assert max(versions) < 1 << 30
    assert redaction_version(Redaction(enabled=True)) == redaction_version(Redaction())
