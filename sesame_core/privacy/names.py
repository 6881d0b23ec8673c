"""Detectors of values after a name: `DB_PASSWORD=…`, `"api_key": "…"`, `<token>…</token>`, `--client-secret …`.

They know the forms in which people and programs write a name and its value: shells, env and ini files, YAML, TOML,
JSON, also inside of a string, XML, source code, query parameters, lists of names and values, options of commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .detector import Detector, compiled, spellings
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

#: Endings that turn the name of a secret into the name of something else: `token_type`, `passwordField`, `tokenizer`.
_ELSE = (
    r"(?!(?:[_.-]?(?i:type|name|file|path|dir|url|uri|endpoint|count|limit|len|size|budget|usage|expir|ttl|age|kind|class"
    r"|field|input|label|hint|policy|ref|store|format|regex|pattern|prefix|suffix|header|param|strength|rule|min|max"
    r"|version|issuer|source|provider|service|scope|verif|valid|confirm|reset|forgot|change|hash|digest|alg|index|pos"
    r"|start|end|line|color|style|column|created|updated|used|per_|manager|mount|hidden|shown|visib|status|state|error"
    r"|message|text|encrypt|lifetime|timeout|placeholder|required|enabled|lookup|map|list|set\b|ring|id\b|ids\b|alias|usage|length|bound)"
    r"|(?i:iz|is(?:e|ation)|smanager)))"
)
_OPEN = r"[brfuBRFU@]{0,2}"
#: A quoted value, whatever quotes it, or a bare one.  What it is bounded to is enough to judge it; `_REST` follows.
_QUOTED = (
    rf"{_OPEN}(?:\\{{1,3}}\"(?P<secret_json>[^\"\\\n]{{4,128}}+)|\\{{1,3}}'(?P<secret_escaped>[^'\\\n]{{4,128}}+)"
    r"|\"(?P<secret_double>(?:[^\"\\\n]|\\[^nrt\n]){4,128}+)|'(?P<secret_single>[^'\n]{4,128}+)"
    r"|`(?P<secret_back>[^`\n]{4,128}+))"
)
_BARE_CHARACTER = r"[^\s\"'`,;<>(){}\[\]|&\\]"
#: An ampersand separates parameters unless no name follows.
_AND = rf"(?:&(?![\w.%-]{{0,32}}=|&|amp;|\s){_BARE_CHARACTER}{{0,64}}+)?"
#: The rest of a value that is longer, or of a bare one with brackets in it.
_REST = r"(?:[(\[{][^\s\"'`,;<>]*+)?[^\s\"'`,;<>(){}\[\]|&\\]*+"
_ASSIGN = (
    # `: str = "…"`
    r"(?:\s{0,3}:\s{0,3}[A-Za-z_][\w.\[\]]{0,24}\s{0,3}=\s{0,3}(?=\\{0,3}[\"'`])"
    # `=`, `:`, `=>`, `:-`, and the list of a name and a value
    r"|\s{0,3}(?::=|=>|:-|:{1,2}|=(?![=>])|%3[Dd])\s{0,3}"
    r"|,?\s{0,40}\\?[\"']?(?<!\w)[vV]alue\\?[\"']?\s{0,3}[:=]\s{0,3}"
    # a part of a form
    r"|(?<=\") {0,3}\r?\n {0,4}\r?\n"
    # `("…", "…")`
    r"|(?<=[\"'])\s{0,2},\s{0,3}(?=\\{0,3}[\"'`]))"
)


def _pattern(core: str, least: int, ending: str = r"(?:[-.]?\w){0,24}+") -> str:
    """Return the pattern of a name, and of the value after it.

    :param core: a regular expression of the name, from the trigger on.
    :param least: characters of a bare value.
    """
    bare = rf"(?P<secret_bare>{_BARE_CHARACTER}{{{least},128}}+{_AND})"
    return (
        rf"{core}{_ELSE}{ending}"
        rf"(?:>(?P<secret_xml>[^<>\n]{{4,128}}+)(?=</)|(?:\\{{0,3}}[\"'])?\]?{_ASSIGN}(?:{_QUOTED}|{bare}))"
    )


def _name_end(text: str) -> str:
    """Return the name at the end of a text, or the part of it that is there."""
    end = compiled(r"[\w.-]*+").match(text[::-1])
    return text[len(text) - end.end() :] if end else ""


#: What is before the name of something that is not secret: `nextPageToken`, `lock-token`; without its first letter.
_OTHER = re.compile(
    r"(?i)(?:next|page|continuation|cursor|lock|public_?key|sync|resume|cancel(?:l?ation)?|unit)[_.-]?t?$"
)
#: The end of a name that is a file's.
_FILE = re.compile(r"\.(?:json|ya?ml|jsx?|tsx?|py|md|txt|html?|css|go|rs|java|toml|lock|png|svg|sh|pem|key|crt)\W*$")


class Found:
    """A name with its value, as a detector has matched them."""

    def __init__(self, match: re.Match[str]) -> None:
        group = match.lastgroup or ""
        self.value = match[group]
        text, start = match.string, match.start(group)
        self.is_bare = group == "secret_bare"
        self.is_element = group == "secret_xml"
        head = text[match.start() : start].rstrip("\"'`\\")
        #: `DB_PASSWORD=…`: a variable of a shell or a container.
        self.is_variable = head.endswith("=") and head[:-1].isupper()
        #: A comma, and an equals sign, is between name and value.
        self.is_item = "," in head[-4:]
        self.is_assigned = head.endswith("=")
        self.before = text[max(0, match.start() - 40) : match.start()]
        self._head = head
        self._after = text[match.end(group) : match.end(group) + 3]

    @property
    def is_named_otherwise(self) -> bool:
        """Whether the name is that of a page, a type, a file or a resource, whatever it ends with."""
        name = _name_end(self.before)
        is_listed = self._head.endswith(":") and self.before[: len(self.before) - len(name)].endswith(
            ":"
        )  # `arn:aws:…:secret:…`
        return is_listed or _OTHER.search(name) is not None or _FILE.search(self._head) is not None

    @property
    def is_code(self) -> bool:
        """Whether name or value are those of code: `get_token(`, `env[`, `NextToken`."""
        is_name = re.fullmatch(r"[\w.:$>-]+", self.value) is not None
        return self.is_named_otherwise or (self.is_bare and self._after[:1] in tuple("([{") and is_name)

    @property
    def is_line(self) -> bool:
        """Whether name and value are the whole line of a file with settings: `password: …`, `password=…`."""
        if not self.is_bare or self._after.lstrip(" ")[:1] not in ("", "\n", "\r"):
            return False
        head = self._head.rstrip(" \t")
        is_setting = head[-1:] == ":" or (head[-1:] == "=" and head == self._head and head[-2:-1] not in ("", " "))
        return is_setting and not self.before[: len(self.before) - len(_name_end(self.before))].rpartition("\n")[
            2
        ].strip(" \t-")

    @property
    def words_before(self) -> str:
        """What is before the trigger in the name, in lower case: `access_t` of a token's, `db_` of `db_pass`."""
        return _name_end(self.before).lower()


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
    name = _name_end(found.before)
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
    "password passwd passphrase pass pw storepass keypass srcstorepass deststorepass token secret api-key apikey api_key "
    "access-key secret-key private-key oauth2-bearer credentials"
).split()

NAMES = (
    Detector(
        "password",
        tuple(f"-{name}" for name in _OPTIONS),
        rf"-(?:{'|'.join(_OPTIONS)})(?:\s{{1,3}}|=|:(?=\S))(?:pass:)?"
        rf"(?:{_QUOTED}|(?P<secret_bare>[^\s\"'`,;<>(){{}}\[\]|\\]{{3,128}}+))",
        _option,
        _REST,
    ),
    Detector(
        "password",
        spellings("password", "passwd", "passphrase", "passcode", "passwort"),
        _pattern(r"(?<=[pP])(?i:ass(?:wor[dt]|wd|phrase|code))", 5),
        _is_password,
        _REST,
    ),
    Detector(
        "password",
        ("pass", "Pass", "PASS", "pwd", "Pwd", "PWD", "_pw", "_PW", "-pw"),
        _pattern(r"(?:(?<![A-Za-z])|(?<=[a-z])(?=P)|(?<=db|DB))(?i:_pw|-pw|pass|pwd)", 6, r"\d?(?![A-Za-z])"),
        _is_short_password,
        _REST,
    ),
    Detector("secret", spellings("secret"), _pattern(r"(?<=[sS])(?i:ecret)", 8), _random(r"(?:client|app|api|consumer)[_.-]?s$"), _REST),
    Detector("token", spellings("token"), _pattern(r"(?<=[tT])(?i:oken)", 8), _random(_STRONG), _REST),
    Detector(
        "api-key",
        spellings("api key", "access key"),
        _pattern(r"(?<=[aA])(?i:pi[_. -]?key|ccess[_. -]?key)", 8),
        _is_any_key,
        _REST,
    ),
    Detector(
        "key",
        spellings(
            *(
                f"{kind} key"
                for kind in (
                    "account app application auth consumer deploy encryption functions hmac jwt license master preshared "
                    "private service session shared signing storage subscription symmetric webhook function host admin"
                ).split()
            ),
            "app id secret",
        ),
        _pattern(r"(?i:[a-z]{2,12}[_. -]?key)", 8),
        _is_any_key,
        _REST,
    ),
    Detector(
        "credential",
        spellings("credential", "creds"),
        _pattern(r"(?<=[cC])(?i:red(?:ential|s))", 8),
        _random(),
        _REST,
    ),
    Detector(
        "login",
        ("auth", "Auth", "AUTH"),
        _pattern(r"(?<![A-Za-z])(?i:auth)", 12, r"(?!\w)"),
        _is_authentication,
        _REST,
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
        r"(?:asswor[dt]|assphrase)(?: is| was| ist|'s)(?: now)?:?\s{1,3}[\"'`]?(?P<secret_bare>[^\s\"'`<>(){}\[\]]{5,128}+)",
        lambda match: looks_told(match["secret_bare"]),
    ),
    Detector(
        "password",
        ("requirepass", "masterauth", "insecure-password", "ConvertTo-SecureString", "/password:", "/pass:", "/PASSWORD:"),
        r"(?:(?:requirepass|masterauth|insecure-password|ConvertTo-SecureString(?: -String)?)\s|/(?:password|pass|PASSWORD):)"
        rf"\s{{0,3}}(?:{_QUOTED}|(?P<secret_bare>[^\s\"'`,;<>(){{}}\[\]|\\]{{4,128}}+))",
        lambda match: is_given(match[match.lastgroup or 0]),
        _REST,
    ),
    # CREATE USER … IDENTIFIED BY '…', ALTER ROLE … PASSWORD '…'
    Detector(
        "password",
        (
            "DENTIFIED BY", "dentified by", "DENTIFIED WITH", "dentified with", "ASSWORD '", "assword '", "ASSWORD(",
            "assword(", 'ASSWORD "', 'assword "', 'assword \\"',
        ),
        r"(?i:dentified(?: with \w{1,40})? (?:by|as)(?: password)?\s{1,3}|(?<=p)assword ?\(?)"
        r"\\{0,3}(?:'(?P<secret_single>[^'\n]{3,128}+)'|\"(?P<secret_double>[^\"\\\n]{3,128}+)\\{0,3}\")",
        _is_sql,
    ),
)  # fmt: skip
