"""A secret is found by what carries it, whole, and what only looks like one stays searchable."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config.model import Redaction
from sesame_core.privacy.detectors import DETECTORS
from sesame_core.privacy.redactor import Redactor

from ..support.carriers import LOOK_ALIKES, carried
from ..support.transcripts import Claude, write

REDACTOR = Redactor(b"key", Redaction())
CARRIED = [(carrier, text) for carrier, texts in carried().items() for text in texts]


def _plain(text: str) -> str:
    return text.replace("«", "").replace("»", "")


def _left(text: str, masked: str) -> list[str]:
    """Return the parts of the secrets of a text that are left, of six characters or more."""
    secrets = re.findall("«(.*?)»", text, re.DOTALL)
    return [part for secret in secrets for part in re.findall(r"[A-Za-z0-9]{6,}", secret) if part in masked]


@pytest.mark.parametrize("text", [text for _, text in CARRIED])
def test_a_carried_secret_is_masked_and_what_carries_it_is_not(text: str) -> None:
    masked = REDACTOR.text(_plain(text))
    assert _left(text, masked) == []
    assert masked.startswith(text[: text.index("«")])
    assert masked.endswith(text[text.rindex("»") + 1 :])
    assert "[redacted:" in masked
    assert REDACTOR.text(masked) is masked


@pytest.mark.parametrize("around", ["$ {}\n", "ran `{}` and failed", '{{"command": {}}}', "a\r\n{}\r\nb", "日本 {}"])
def test_a_carried_secret_is_masked_in_a_text(around: str) -> None:
    left = {}
    for carrier, text in CARRIED:
        is_json = around.startswith("{{")
        written = around.format(json.dumps(_plain(text)) if is_json else _plain(text))
        if parts := _left(text, REDACTOR.text(written)):
            left[carrier, text] = parts
    assert left == {}


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_stays_as_it_is(text: str) -> None:
    assert REDACTOR.text(text) is text
    assert REDACTOR.text(f"see {text}\n") == f"see {text}\n"


def test_a_look_alike_is_found_in_a_redacted_index(cli: Any, home: Path) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"redact": true}')
    session = Claude()
    write(session.path, *[session.user(f"hare {text}") for text in LOOK_ALIKES])
    cli("index")
    assert cli("audit").code == 0
    assert cli("search", "3f9a1c27d08be45f6a1b9c0d2e4f67a8b1c3d5e7", "--json").json["resultCount"] == 1
    assert cli("search", "PasswordHashV2Type", "--json").json["resultCount"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_any_text_is_scanned_and_what_is_masked_stays_masked(seed: int) -> None:
    chance = random.Random(seed)
    triggers = [trigger for kind in DETECTORS for trigger in kind.triggers]
    pieces = [
        *"=:\"' \n,;|&()[]{}<>\\/@$%-._~#",
        "«日本",
        "\ud800",
        "\0",
        "[redacted:",
        "a1B2c3D4e5F6",
        "é",
        "value",
        "0" * 40,
    ]
    for _ in range(60):
        text = "".join(chance.choice(triggers if chance.random() < 0.4 else pieces) for _ in range(60))
        masked = REDACTOR.text(text)
        findings = REDACTOR.findings(text)
        assert all(a.end <= b.start for a, b in pairwise(findings))
        assert bool(findings) == (masked != text)
