"""Every kind of secret is found, and what only looks like one is not."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid

import pytest

from sesame_core.config.model import Redaction
from sesame_core.privacy.detectors import DETECTORS
from sesame_core.privacy.redactor import Redactor

from ..support.planted import made, plain, secrets, traces

PLANTED = secrets()
REDACTOR = Redactor(b"key", Redaction())


def test_there_is_a_secret_of_every_kind() -> None:
    assert set(PLANTED) == {kind.name for kind in DETECTORS}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize(
    "around",
    ["{}", "see {} now", "a\n{}\nb", "'{}'", "x={}", "({})", "\\n{}\\n", '{{"command": "echo {}"}}', "é日本 {}"],
)
def test_a_secret_of_each_kind_is_masked_wherever_it_stands(kind: str, around: str) -> None:
    text = around.format(PLANTED[kind])
    before, secret, after = text[: text.index("<<")], PLANTED[kind], text[text.index(">>") + 2 :]
    masked = REDACTOR.text(plain(text))
    assert masked.startswith(before)
    assert masked.endswith(after)
    assert "[redacted:" in masked
    assert plain(secret[secret.index("<<") : secret.index(">>")]) not in masked


@pytest.mark.parametrize("kind", PLANTED)
def test_a_masked_text_has_no_secret_left_in_it(kind: str) -> None:
    masked = REDACTOR.text(plain(PLANTED[kind]))
    assert REDACTOR.findings(masked) == []
    (finding,) = REDACTOR.findings(plain(PLANTED[kind]))
    named = f'password="{finding.mark}" token={finding.mark}'
    assert REDACTOR.text(named) is named


@pytest.mark.parametrize("kind", PLANTED)
def test_of_two_secrets_that_overlap_nothing_is_left(kind: str) -> None:
    masked = REDACTOR.text(f"token: {plain(PLANTED[kind])} password={plain(PLANTED[kind])}")
    assert not [trace for trace in traces(PLANTED[kind]) if trace in masked.lower()]


@pytest.mark.parametrize("kind", PLANTED)
def test_the_kind_is_reported(kind: str) -> None:
    assert [finding.kind for finding in REDACTOR.findings(plain(PLANTED[kind]))] == [kind]


def test_a_private_key_is_masked_as_json_and_when_its_end_is_missing() -> None:
    key = plain(PLANTED["private-key"])
    assert REDACTOR.text(json.dumps({"key": key})) == f'{{"key": "{REDACTOR.text(json.dumps(key))[1:-1]}"}}'
    torn = key[:200]
    assert REDACTOR.text(f"{torn}\nthat was all") == f"{REDACTOR.findings(torn)[0].mark}\nthat was all"


def _harmless() -> dict[str, str]:
    chance = random.Random(7)
    data = bytes(chance.randrange(256) for _ in range(30_000))
    return {
        "commit hashes": "\n".join(hashlib.sha1(bytes([n])).hexdigest() + " a commit" for n in range(200)),
        "short hashes": "git rebase 3f9a1c2..9e8d7c6 && git show deadbeef",
        "sha256": "\n".join(f"sha256:{hashlib.sha256(bytes([n])).hexdigest()}" for n in range(200)),
        "UUIDs": "\n".join(f"session {uuid.UUID(int=chance.getrandbits(128))}" for _ in range(200)),
        "a base64 image": "data:image/png;base64," + base64.b64encode(data).decode(),
        "integrity": '"integrity": "sha512-' + base64.b64encode(hashlib.sha512(b"x").digest()).decode() + '"',
        "lorem": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt. " * 50,
        "code": "token = lexer.next_token2()\nself.password = password\nsecret: str = os.environ['SECRET_KEY']\n"
        "api_key=settings.api_key, token=Token(kind=TokenKind.NAME2)\nmax_tokens: 4096\n'input_tokens': 12345\n"
        "if (password !== confirmPassword) throw new Error(`bad ${token}`)\nconst secretKey = process.env.API_KEY2;\n"
        "def test_token_1(): ...\nTASK-1 DISK-2 RISK-long-name-of-a-class sk-loading-animation-of-dots-and-more-dots",
        "prose": "The password is kept elsewhere; a basic example, the bearer of bad news, one clearer sentence. "
        "token: refreshed 2026-11-28T10:00:00Z, expires_token: 2026-11-29T11:22:33Z.",
        "addresses": "http://localhost:8080/@vite/client https://example.com:443/a@b ssh://git@github.com/a/b.git "
        "postgres://postgres:postgres@localhost/db https://user:${PASSWORD}@host redis://:<password>@host",
        "placeholders": "API_KEY=your-api-key-here TOKEN=<token> PASSWORD=${DB_PASSWORD} secret: '********' key: xxxx",
        "names of keys": "the file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
        "ids": "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy",
        "identifiers": "wcs_test_1 hf_transformers npm_config_cache pypi-mirror AKIA eyJ SG.x gsk_ dp.pt. glpat-short",
    }  # fmt: skip


@pytest.mark.parametrize("name", _harmless())
def test_harmless_text_stays_as_it_is(name: str) -> None:
    text = _harmless()[name]
    assert REDACTOR.findings(text) == []
    assert REDACTOR.text(text) is text


def test_this_repository_contains_no_secret() -> None:
    from ..conftest import REPOSITORY

    found = {}
    for path in [
        *REPOSITORY.glob("sesame_core/**/*.py"),
        *REPOSITORY.glob("plugins/**/*.py"),
        *REPOSITORY.glob("docs/*"),
    ]:
        if path.is_file():
            findings = REDACTOR.findings(path.read_text("utf-8"))
            found |= {path.name: findings} if findings else {}
    assert found == {}


def test_a_long_text_without_a_trigger_is_scanned_in_one_pass() -> None:
    text = "the fox " + made(40) + " jumps " * 100_000
    assert REDACTOR.text(text) is text
