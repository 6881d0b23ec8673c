"""Detectors of values after a name: `DB_PASSWORD=…`, `"api_key": "…"`, `<token>…</token>`, `--client-secret …`.

They know the forms in which people and programs write a name and its value: shells, env and ini files, YAML, TOML,
JSON, also inside of a string, XML, source code, query parameters, lists of names and values, options of commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .detector import Detector, spellings
from .named import QUOTED, REST, Found, name_end, named
from .values import (
    has_digit,
    is_given,
    is_id,
    is_login,
    looks_chosen,
    looks_quoted,
    looks_random,
    looks_set,
    looks_told,
    looks_typed,
)


def _is_password(match: re.Match[str]) -> bool:
    found = Found(match)
    if found.is_code:
        return False
    if found.is_item:
        return looks_random(found.value) and " " not in found.value
    if found.is_variable or found.is_element:
        return looks_set(found.value, is_bare=found.is_bare)
    if not found.is_bare:
        return looks_quoted(found.value)
    return looks_chosen(found.value) or (found.is_line and looks_typed(found.value))


def _is_short_password(match: re.Match[str]) -> bool:
    """Return whether the value of `pass` or `pwd`, which are words of programs as well, is a password."""
    found = Found(match)
    if found.words_before:
        return _is_password(match)
    if found.is_bare and not found.is_assigned:  # `PASS: TestLogin2`
        return False
    if not found.is_bare and len(found.value) >= 6 and looks_quoted(found.value):
        return True
    return not found.is_code and looks_random(found.value) and not is_id(found.value)


def _random(strong: str = "") -> Callable[[re.Match[str]], bool]:
    """Return a judge of values that are made at random.

    :param strong: a regular expression of words before the name that let it have no other ids than secret ones.
    """
    words = re.compile(strong) if strong else None

    def is_secret(match: re.Match[str]) -> bool:
        found = Found(match)
        if found.is_code or len(found.value) < _SHORTEST or " " in found.value:
            return False
        if is_id(found.value):
            return found.is_variable or (words is not None and words.search(found.words_before) is not None)
        return looks_random(found.value)

    return is_secret


def _is_parameter(match: re.Match[str]) -> bool:
    value = match["secret"]
    if re.search(r"(?i)pass|pwd", match[0][:8]):  # of a form, which has no code
        return has_digit(value) and is_given(value)
    return looks_random(value) and not is_id(value)


def _is_any_key(match: re.Match[str]) -> bool:
    found = Found(match)
    value = found.value
    if found.is_code or len(value) < _SHORTEST or " " in value:
        return False
    return looks_random(value) or (is_id(value) and has_digit(value))


def _is_authentication(match: re.Match[str]) -> bool:
    value = Found(match).value
    return is_login(value) or (has_digit(value) and len(value) >= 16 and looks_random(value) and not is_id(value))


def _is_sql(match: re.Match[str]) -> bool:
    value = match[match.lastgroup or 0]
    if match[0].startswith("assword"):
        return looks_quoted(value)
    return is_given(value) and (" " not in value or has_digit(value))


def _option(match: re.Match[str]) -> bool:
    found = Found(match)
    value = found.value
    name = name_end(found.before)
    if len(value) < _SHORTEST and "pass" not in match[0][:16] and "pw" not in match[0][:4]:
        return False
    if is_id(value) and match[0].startswith("-token") and name.strip("-") and not re.search(_STRONG, name + "-t"):
        return False
    if (name.strip("-") and not name.startswith("-")) or found.before[-len(name) - 1 :][:1] not in _BEFORE_OPTIONS:
        return False
    if found.is_code or not is_given(value) or re.fullmatch(r"[A-Z_]+", value):
        return False
    if not found.is_bare and "pass" in match[0][:16]:
        return True
    return (has_digit(value) and not value.isdigit()) or re.search(r"[!@#%^*+~&?]", value) is not None


_STRONG = r"(?:access|auth|api|bearer|private|personal|refresh|secret|github|gitlab|vault|deploy|bot|oauth)[_.-]?t$"

#: What can be before an option.
_BEFORE_OPTIONS = ("", *" \t\n\"'`[,(-")
#: Least number of characters of a token or a key.
_SHORTEST = 8
#: Ends of the names of options: `--password`, `--db-password`, `-storepass`.
_OPTIONS = (
    "password passwd passphrase pass pw storepass keypass srcstorepass deststorepass token secret api-key apikey "
    "api_key access-key secret-key private-key oauth2-bearer credentials"
).split()

NAMES = (
    Detector(
        "password",
        tuple(f"-{name}" for name in _OPTIONS),
        rf"-(?:{'|'.join(_OPTIONS)})(?:\s{{1,3}}|=|:(?=\S))(?:pass:)?"
        rf"(?:{QUOTED}|(?P<secret_bare>[^\s\"'`,;<>(){{}}\[\]|\\]{{3,128}}+))",
        _option,
        REST,
    ),
    Detector(
        "password",
        spellings("password", "passwd", "passphrase", "passcode", "passwort"),
        named(r"(?<=[pP])(?i:ass(?:wor[dt]|wd|phrase|code))", 5),
        _is_password,
        REST,
    ),
    Detector(
        "password",
        ("pass", "Pass", "PASS", "pwd", "Pwd", "PWD", "_pw", "_PW", "-pw"),
        named(
            r"(?:(?<![A-Za-z])|(?<=[a-z])(?=P)|(?<=db|DB)|(?<=SSH)|(?<=ROOT|USER))(?i:_pw|-pw|pass|pwd)",
            6,
            r"\d?(?![A-Za-z])",
        ),
        _is_short_password,
        REST,
    ),
    Detector(
        "secret",
        spellings("secret"),
        named(r"(?<=[sS])(?i:ecret)", 8),
        _random(r"(?:client|app|api|consumer)[_.-]?s$"),
        REST,
    ),
    Detector("token", spellings("token"), named(r"(?<=[tT])(?i:oken)", 8), _random(_STRONG), REST),
    Detector(
        "api-key",
        spellings("api key", "access key"),
        named(r"(?<=[aA])(?i:pi[_. -]?key|ccess[_. -]?key)", 8),
        _is_any_key,
        REST,
    ),
    Detector(
        "key",
        spellings(
            *(
                f"{kind} key"
                for kind in (
                    "account app application auth consumer deploy encryption functions hmac jwt license master "
                    "preshared "
                    "private service session shared signing storage subscription symmetric webhook function host admin"
                ).split()
            ),
            "app id secret",
        ),
        named(r"(?i:[a-z]{2,12}[_. -]?key)", 8),
        _is_any_key,
        REST,
    ),
    Detector(
        "credential",
        spellings("credential", "creds"),
        named(r"(?<=[cC])(?i:red(?:ential|s))", 8),
        _random(),
        REST,
    ),
    Detector(
        "login",
        ("auth", "Auth", "AUTH"),
        named(r"(?<![A-Za-z])(?i:auth)", 12, r"(?!\w)"),
        _is_authentication,
        REST,
    ),
    Detector(
        "url-parameter",
        tuple(
            f"{before}{name}="
            for before in "?&;"
            for name in (
                "key code auth sid sig signature Signature access_token id_token refresh_token token jwt ticket apikey "
                "api_key api-key client_secret secret password passwd pwd pass X-Amz-Signature X-Amz-Security-Token "
                "X-Goog-Signature hmac session sessionid session_id licence_key license_key"
            ).split()
        ),
        r"[?&;][\w-]{1,24}=(?P<secret>[^\s\"'`&#;,<>(){}\[\]|\\]{8,128}+)",
        _is_parameter,
        r"[\w.%~+/=-]*+",
    ),
    Detector(
        "password",
        ("assword is", "assword was", "assphrase is", "asswort ist", "assword's"),
        r"(?:asswor[dt]|assphrase)(?: is| was| ist|'s)(?: now)?:?\s{1,3}[\"'`]?"
        r"(?P<secret_bare>[^\s\"'`<>(){}\[\]]{5,128}+)",
        lambda match: looks_told(match["secret_bare"]),
    ),
    Detector(
        "password",
        (
            "requirepass",
            "masterauth",
            "insecure-password",
            "ConvertTo-SecureString",
            "/password:",
            "/pass:",
            "/PASSWORD:",
        ),
        r"(?:(?:requirepass|masterauth|insecure-password|ConvertTo-SecureString(?: -String)?)\s"
        r"|/(?:password|pass|PASSWORD):)"
        rf"\s{{0,3}}(?:{QUOTED}|(?P<secret_bare>[^\s\"'`,;<>(){{}}\[\]|\\]{{4,128}}+))",
        lambda match: is_given(match[match.lastgroup or 0]),
        REST,
    ),
    # CREATE USER … IDENTIFIED BY '…', ALTER ROLE … PASSWORD '…'
    Detector(
        "password",
        (
            "DENTIFIED BY",
            "dentified by",
            "DENTIFIED WITH",
            "dentified with",
            "ASSWORD '",
            "assword '",
            "ASSWORD(",
            "assword(",
            'ASSWORD "',
            'assword "',
            'assword \\"',
        ),
        r"(?i:dentified(?: with \w{1,40})? (?:by|as)(?: password)?\s{1,3}|(?<=p)assword ?\(?)"
        r"\\{0,3}(?:'(?P<secret_single>[^'\n]{3,128}+)'|\"(?P<secret_double>[^\"\\\n]{3,128}+)\\{0,3}\")",
        _is_sql,
    ),
)
