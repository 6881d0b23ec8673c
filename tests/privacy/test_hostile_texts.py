"""No text makes masking slow: the time grows with the length, whatever repeats in a text."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from sesame_core.config.model import Redaction
from sesame_core.privacy.detectors import DETECTORS
from sesame_core.privacy.redactor import Redactor

from ..support.carriers import carried
from ..support.planted import made, plain, secrets

REDACTOR = Redactor(b"key", Redaction())
#: Characters of the shorter text; the longer one has four times as many.
LENGTH = 12_000
#: Most that the longer text may take, as a multiple of the shorter one; it is 4 when the time is linear, and 16 when
#: it is quadratic.
GROWTH = 9
#: Seconds below which a measurement says nothing.
NOISE = 0.04
#: Most seconds for a kilobyte of any text: a hundred times what a text without secrets takes, on a slow machine.
SECONDS = 0.02


def _seconds(text: str) -> float:
    started = time.process_time()
    REDACTOR.text(text)
    return time.process_time() - started


def _repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _growth(unit: str) -> float:
    """Return how much longer four times the text takes; the best of three, as other programs are running."""
    long = _seconds(_repeated(unit, 4 * LENGTH))
    if long < NOISE:
        return 4
    growth = [long / _seconds(_repeated(unit, LENGTH))]
    for _ in range(2):
        if growth[-1] > GROWTH:
            growth.append(_seconds(_repeated(unit, 4 * LENGTH)) / _seconds(_repeated(unit, LENGTH)))
    return min(growth)


def _beginnings() -> Iterator[str]:
    """Yield what each detector starts with, alone and with what lets it read on."""
    chance = random.Random(4)
    for kind in DETECTORS:
        for trigger in chance.sample(kind.triggers, min(2, len(kind.triggers))):
            yield trigger
            yield trigger + chance.choice(["=", "='", ': "', " ", "a1B2c3D4"])


def _forms() -> Iterator[tuple[str, str]]:
    yield "beginnings of web tokens", "eyJ"
    yield "beginnings of web tokens with dots", "eyJ."
    yield "halves of web tokens", "eyJhbGciOiJIUzI1NiJ9_"
    yield "pairs of halves of web tokens", "eyJhbGciOiJIUzI1NiJ9.eyJ_"
    yield "headers of keys", "-----BEGIN PRIVATE KEY-----"
    yield "ends of keys", "-----END PRIVATE KEY-----"
    yield "headers of keys with a line", f"-----BEGIN RSA PRIVATE KEY-----\n{made(64)}\n"
    yield "keys without a header", f"{made(64)}\n-----END RSA PRIVATE KEY-----\n"
    yield "assignments", "token=password="
    yield "assignments of words", "api_key: secret: token: "
    yield "quotes", "password=\"'`"
    yield "escaped quotes", '\\"password\\": \\"\\\\'
    yield "nested quotes", "curl '\"curl \"'"
    yield "open quotes", "curl -u \"a' "
    yield "open quotes of a program", "mysql -p'"
    yield "programs", "curl mysql sshpass docker login "
    yield "programs with lines", "curl \\\n -u "
    yield "long options", "--password --token "
    yield "dashes", "-"
    yield "backslashes", "\\"
    yield "escaped lines", "\\n"
    yield "escaped lines with names", "\\npassword: \\n"
    yield "addresses", "http://a:b@"
    yield "addresses without a host", "://a:"
    yield "at signs", "://a:b@@@"
    yield "parameters", "&password=&token="
    yield "headers", "Authorization: Bearer "
    yield "cookies", "Cookie: a=b; "
    yield "elements", "<password>"
    yield "lists of names", '{"name": "password", "value": '
    yield "data of secrets", "kind: Secret\ndata:\n a: b\n"
    yield "machines", "machine a login b "
    yield "marks", "[redacted:token:0123abcd]"
    yield "marks in values", "password=[redacted:token:0123abcd] a1B2c3D4e5 "
    yield "letters", "a"
    yield "digits", "7"
    yield "base64", made(1000)
    yield "hexadecimal digits", "0123456789abcdef"
    yield "blanks", " "
    yield "lines", "\n"
    yield "names of keys", "secret_access_key_private_key"
    yield "underscores", "token_______________________________"


@pytest.mark.once
@pytest.mark.parametrize("unit", [pytest.param(unit, id=name) for name, unit in _forms()])
def test_the_time_grows_with_the_length_of_a_text_that_repeats(unit: str) -> None:
    assert _growth(unit) < GROWTH


@pytest.mark.once
def test_the_time_grows_with_the_length_whatever_beginning_of_a_secret_repeats() -> None:
    slow = {unit: growth for unit in _beginnings() if (growth := _growth(unit)) >= GROWTH}
    assert slow == {}


@pytest.mark.once
def test_the_time_grows_with_the_length_of_many_secrets() -> None:
    units = [
        *map(plain, secrets().values()),
        *[t.replace("«", "").replace("»", "") for ts in carried().values() for t in ts],
    ]
    slow = {unit: growth for unit in units if (growth := _growth(unit + "\n")) >= GROWTH}
    assert slow == {}


@pytest.mark.once
@pytest.mark.parametrize("seed", range(8))
def test_a_kilobyte_of_mixed_beginnings_takes_milliseconds(seed: int) -> None:
    chance = random.Random(seed)
    triggers = [trigger for kind in DETECTORS for trigger in kind.triggers]
    joints = ["", "", "=", ": ", "'", '"', " ", "\n", "\\n", "a1B2c3D4", ".", "-", "/"]
    text = "".join(chance.choice(triggers) + chance.choice(joints) for _ in range(8_000))
    assert _seconds(text) / (len(text) / 1000) < SECONDS


@pytest.mark.once
@pytest.mark.parametrize("unit", ["eyJ", "token=", "-----BEGIN PRIVATE KEY-----", '{\\"password\\": \\"x'])
def test_a_line_of_a_megabyte_takes_seconds_at_most(unit: str) -> None:
    assert _seconds(_repeated(unit, 1_000_000)) < SECONDS * 1000
