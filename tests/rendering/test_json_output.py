"""The JSON of every command, held against a sample of it: no field and no value changes unseen.

After a change on purpose delete the sample, run this test, which writes it anew, and read the difference.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sesame_core import Sesame
from sesame_core.config.report import ConfigJson
from sesame_core.rendering.schemas.answers import AnswerJson
from sesame_core.rendering.schemas.audits import AuditJson
from sesame_core.rendering.schemas.blames import BlameJson
from sesame_core.rendering.schemas.exports import ExportJson, HandoffJson
from sesame_core.rendering.schemas.fixes import FixesJson, WaysJson
from sesame_core.rendering.schemas.generation import DescriptionsJson, SessionAnswerJson
from sesame_core.rendering.schemas.knowing import DigestJson, WhoJson
from sesame_core.rendering.schemas.references import ReferencesJson
from sesame_core.rendering.schemas.reports import FileEventJson, ReportJson
from sesame_core.rendering.schemas.sessions import MarkedJson, SessionsJson, TranscriptJson
from sesame_core.rendering.schemas.sharing import ChangesJson, SharingJson
from sesame_core.rendering.schemas.status import PluginJson, StatusJson, WorkstationsJson
from sesame_core.rendering.schemas.tallies import TalliesJson
from sesame_core.runtime.watcher import watch

from ..support.model_server import Answers, ModelServer
from ..support.transcripts import Pi, write

SAMPLE = Path(__file__).parents[1] / "data" / "json-output.json"

#: Fields whose values differ from run to run or from machine to machine, or are sentences that others test.
VOLATILE = {
    "bytes", "error", "fingerprint", "host", "lastSync", "message", "notScanned", "owner", "reason", "scannedAt",
    "seconds", "timestamp", "updatedAt", "version",
}  # fmt: skip
#: Command lines over the demo sessions, in this order; each is run with `--json`.
COMMANDS = (
    "index",
    "search nix --limit 1",
    "search tight loop --no-refresh --limit 2 -C 1 --hits 2 --explain --max-bytes 9080",
    "search recieving zebra agnt:pi --no-refresh --limit 1",
    "search --limit 1 --no-refresh --offset 3",
    "sessions --limit 2 --offset 1",
    "star d6bc",
    "tag d6bc websocket",
    "stats --by agent --starred",
    "who socket.ts",
    "who nobody knows this",
    "digest --since 2026-10-12 --before 2026-10-22 --no-refresh",
    "blame chat-client/src/socket.ts",
    "show d6bc --offset 2 --limit 4",
    "export 71f2223f-f559",
    "handoff d6bc --max-bytes 2000",
    "ask d6bc delay --max-bytes 600 --no-model",
    "ask d6bc delay --max-bytes 600 --model cheap",
    "describe d6bc --model cheap",
    "describe d6bc --model dear",
    "fix error: attribute 'isLaptop' missing",
    "fix flux capacitor overcharged --no-refresh",
    "how npm test --limit 1",
    "resolve nix-flake --max-bytes 600",
    "resolve --limit 2",
    "resolve nobody",
    "share --dry-run",
    "share */infra private",
    "share",
    "status",
    "workstations",
    "audit",
    "plugins",
    "config",
)

#: What declares the value that a command prints.
DECLARED: dict[str, Any] = {
    "index": ReportJson,
    "search": AnswerJson,
    "sessions": SessionsJson,
    "star": MarkedJson,
    "tag": MarkedJson,
    "stats": TalliesJson,
    "who": WhoJson,
    "digest": DigestJson,
    "show": TranscriptJson,
    "export": ExportJson,
    "handoff": HandoffJson,
    "blame": BlameJson,
    "ask": SessionAnswerJson,
    "describe": DescriptionsJson,
    "fix": FixesJson,
    "how": WaysJson,
    "resolve": ReferencesJson,
    "share": ChangesJson,
    "status": StatusJson,
    "workstations": WorkstationsJson,
    "audit": AuditJson,
    "plugins": list[PluginJson],
    "config": ConfigJson,
    "watch": FileEventJson,
}

#: What the models answer, one after the other.
SCRIPT = [
    Answers('{"answer": "It is 500 ms.", "found": true, "citations": [2]}'),
    Answers('{"name": "Backoff", "description": "Delays.", "summary": "# Wanted", "tags": ["reconnect"]}'),
    Answers("{}"),
]


@pytest.fixture
def printed(
    home: Path, demo_sessions: Path, cli: Callable[..., Any], models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What each command prints."""
    pytest.importorskip("ahocorasick_rs", reason="the extra redact is not installed")
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    monkeypatch.setenv("WORKSTATION_ID", "fox")
    pi = Pi()
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    write(pi.path, pi.header(), "{", pi.user(f"the token is {secret}"))
    for file in demo_sessions.rglob("*.jsonl"):
        os.utime(file)  # a file of long ago is about to be deleted by its agent
    file = home / "chat-client" / "src" / "socket.ts"
    file.parent.mkdir(parents=True)
    (home / "chat-client" / ".git").mkdir()
    file.write_text("connect();\n  const base = Math.max(250, Number(settings.reconnectBackoff) || 500);\n")
    monkeypatch.chdir(home)
    models.script = list(SCRIPT)
    values = {}
    for line in COMMANDS:
        ran = cli(*line.split(), "--json")
        assert ran.out, (line, ran.err)
        values[line] = ran.json
    pi = Pi("019c0000-fox")
    write(pi.path, pi.header(), pi.user("the fox"))
    with Sesame() as sesame:
        values["watch"] = next(watch(sesame))
    return values


def steady(value: Any, home: Path, name: str = "") -> Any:
    """Return a value without what differs from run to run."""
    if name in VOLATILE:
        return "…"
    if isinstance(value, dict):
        return {key: steady(inner, home, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [steady(inner, home) for inner in value]
    return value.replace(str(home), "/home/ann") if isinstance(value, str) else value


def test_every_command_prints_the_json_of_the_sample(printed: dict[str, Any], home: Path) -> None:
    values = {line: steady(value, home) for line, value in printed.items()}
    if not SAMPLE.exists():
        SAMPLE.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail(f"wrote {SAMPLE.name}: read it, then run the test again")
    sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
    for line, value in values.items():
        # As text, which has an order of fields.
        assert json.dumps(value, indent=1) == json.dumps(sample[line], indent=1), line
    assert values.keys() == sample.keys()


def test_every_command_prints_what_is_declared(printed: dict[str, Any]) -> None:
    """No declared field is missing, none is of another type, and there is no other field."""
    for line, value in printed.items():
        declared = SharingJson if line == "share" else DECLARED[line.split()[0]]
        if declared is ConfigJson and sys.version_info < (3, 12):
            continue  # pydantic does not take the standard library's TypedDict before
        TypeAdapter(declared).validate_python(value, strict=True, extra="forbid")
