"""Detectors of secrets by the place where they are: headers, URLs, cookies, and files that have nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from .detector import Detector, compiled, issuer
from .values import has_digit, is_given, is_id, is_login, is_placeholder, looks_chosen, looks_random

_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{16}")
#: What precedes a line in the output of a program: a number, a sign of a diff, a comment, a quote.
_MARGIN = r"[ \t]*+(?:\d{1,6}[ \t]*(?:[→|:\t]|\\u2192)[ \t]*+)?[>+#/*|\"' \t-]{0,8}"
_LINE = rf"(?:\s|\\[rn])*+{_MARGIN}[A-Za-z0-9+/=]{{16,}}+[\"',+ \\]{{0,6}}"
#: A header of a request, quoted or not, up to its value: `Cookie: `, `'Authorization': '`, `"Authorization", "`.
_HEADER = r"\\{0,3}[\"'`]?\]?\s{0,3}(?::|=>|=|,|%3A)\s{0,3}[bf]?\\{0,3}[\"'`]?"
_TOKEN = r"[^\s\"'`,;<>(){}\[\]\\|&]{6,1024}+"


def _is_password(value: str) -> bool:
    return not is_placeholder(value) and not re.match(r"\w+\.\w+$", value)


def _is_key(match: re.Match[str]) -> bool:
    return _KEY_MATERIAL.search(match[0]) is not None


def _is_authorization(match: re.Match[str]) -> bool:
    value, scheme = match["secret"], (match["scheme"] or "").strip().lower()
    if is_placeholder(value):
        return False
    if scheme == "basic":
        return is_login(value) or looks_random(value)
    return has_digit(value) and (looks_random(value) or is_id(value) or (len(value) >= 16 and bool(scheme)))


def _cookies(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the values of cookies that tell who someone is."""
    pattern = compiled(r"([\w.%-]{1,64})[\"']?(?:=|:\s?)[\"']?(?P<secret>[^\s\"'`;,{}()\\]{8,})")
    for found in pattern.finditer(match.string, match.start("cookies"), match.end("cookies")):
        value = found["secret"]
        is_login_cookie = re.search(r"(?i)sess|sid|auth|token|jwt|login|remember|csrf|xsrf", found[1]) is not None
        is_random = looks_random(value) and not is_id(value)
        if is_random or (is_login_cookie and has_digit(value) and len(value) >= 16 and is_given(value)):
            yield found.span("secret")


def _torn_key(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a private key before its end, when its beginning is not in the text."""
    text, start = match.string, match.start()
    line = compiled(rf"{_MARGIN}[A-Za-z0-9+/=]{{1,80}}[\"',+\s\\rn]{{0,6}}")
    reached = start
    for _ in range(200):
        end = max(reached - 2, 0)
        before = max(text.rfind("\n", 0, end) + 1, text.rfind("\\n", 0, end) + 2 if "\\n" in text[:end][-120:] else 0)
        if before >= reached or (not line.fullmatch(text, before, reached) and text[before:reached].strip()):
            break
        reached = before
        if before == 0:
            break
    # The first line may have something else before it.
    run = compiled(r"\s{0,2}[A-Za-z0-9+/=]{16,80}").match(text[max(0, reached - 82) : reached][::-1])
    reached -= run.end() if run else 0
    if _KEY_MATERIAL.search(text, reached, start):
        yield reached, match.end()


def _values_of_secret(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the values in `data:` of a Kubernetes secret, whose kind is before or after them."""
    text = match.string
    before, after = text[max(0, match.start() - 400) : match.start()], text[match.end() : match.end() + 400]
    around = before.rpartition("\n---")[2] + "\n" + after.partition("\n---")[0]
    if not compiled(r"(?:\b|\\[nrt])kind\\?\"?:\s*\\?\"?Secret\b").search(around):
        return
    pair = compiled(r"[\s\"{][\w.-]{1,200}\\?\"?:[ \t]*\\?\"?(?P<secret>[^\s\"'(){}\[\]\\,]{4,})")
    for found in pair.finditer(text, match.start(), match.end()):
        if is_given(found["secret"]):
            yield found.span("secret")


def _is_private(match: re.Match[str]) -> bool:
    """Return whether a PEM block in base64 is a private key."""
    try:
        return b"PRIVATE KEY" in base64.b64decode(match[0][:88])
    except ValueError:
        return False


#: Before the issuers' formats, because such a block can contain anything.
BLOCKS = (
    Detector(
        "private-key",
        ("-----BEGIN", "---- BEGIN"),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        # Up to its end; for an incomplete one, as many lines of it as follow.
        r"(?:(?:[^-]|-(?!----)){0,16000}+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?:(?:\s|\\[rn])*+{_MARGIN}(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{{0,200}})*+(?:{_LINE})+)"
        r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?:[^-]|-(?!---)){0,16000}+(?:---- END SSH2[A-Z0-9 ]{0,40}----)?",
        _is_key,
    ),
    Detector(
        "private-key",
        ("-----END",),
        r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----",
        secrets=_torn_key,
    ),
    Detector(
        "private-key",
        ("Private-Lines: ",),
        rf"Private-Lines: \d{{1,3}}\s{{0,3}}(?P<secret>(?:{_LINE})+(?:\s*Private-MAC: [0-9a-f]{{40,64}})?)",
    ),
    Detector(
        "private-key",
        ("LS0tLS1CRUdJTi",),
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{16,100}+={0,2}",
        _is_private,
        r"[A-Za-z0-9+/]*+={0,2}",
    ),
)

CARRIERS = (
    issuer(
        "url-password",
        "://",
        # To the last @ before the path: some passwords have one.
        r"://[^\s/:@\"'`\\<>]{0,100}:(?P<secret>[^\s/\"'`{}<>\\]{1,200})@(?=[\w\[$%])",
        _is_password,
    ),
    issuer("url-token", "://", r"://(?P<secret>[A-Za-z0-9_-]{20,200})@[\w.-]{3,}", looks_random),
    issuer(
        "bearer-token",
        "earer EARER",
        r"(?:earer|EARER)(?:\s{1,3}|%20)(?P<secret>[A-Za-z0-9._~+/-]{16,}={0,2})",
        lambda value: has_digit(value) and not is_placeholder(value),
    ),
    issuer("basic-login", "asic ASIC", r"(?:asic|ASIC)\s{1,3}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", is_login),
    Detector(
        "authorization",
        ("uthorization", "UTHORIZATION", "uth-Token", "uth-token", "UTH-TOKEN", "UTH_TOKEN"),
        rf"(?i:uthorization|uth.token){_HEADER}(?P<scheme>[A-Za-z][\w-]{{1,24}}(?:\s{{1,3}}|%20|\+))?(?P<secret>{_TOKEN})",
        _is_authorization,
    ),
    Detector(
        "cookie",
        (
            "ookie: ",
            "ookie':",
            'ookie":',
            "ookie', ",
            'ookie", ',
            "OOKIE:",
            "ookies={",
            "ookies = {",
            'cookie "',
            "cookie '",
            "-b '",
            '-b "',
        ),
        rf"(?:[oO][oO][kK][iI][eE]s?|cookie|-b)(?:{_HEADER}|\s?=?\s?[{{\"'])(?P<cookies>[^\n]{{0,4000}}+)",
        secrets=_cookies,
    ),
    issuer(
        "cookie",
        "PHPSESSID JSESSIONID ASP.NET_SessionId connect.sid _gitlab_session sessionid= laravel_session XSRF-TOKEN",
        r"[\w.-]{9,20}[\"']?[=:]\s?[\"']?(?P<secret>[^\s\"'`;,<>\\]{16,400}+)",
        lambda value: looks_random(value) and not is_id(value),
        begins=True,
    ),
    Detector(
        "netrc-password",
        ("machine", "default"),
        r"(?:(?<![\w-])|(?<=\\[nrt]))(?:machine\s{1,4}(?P<host>[\w.-]{1,253})|default)\s{1,8}login\s{1,4}\S{1,200}\s{1,8}(?:account\s{1,4}\S{1,200}\s{1,8})?"
        r"password\s{1,4}[\"']?(?P<secret>[^\s\"'\\]{3,256}(?<![)\]}]))",
        lambda match: is_given(match["secret"]) and (has_digit(match["secret"]) or "." in (match["host"] or "")),
    ),
    issuer(
        "pgpass",
        ":5432: :5433: :5434: :6432: :*:",
        r":(?:\d{4}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:(?P<secret>(?![\w.-]{0,64}/)[^\s\"'`,\\]{4,256}(?<![)\]}]))",
        lambda value: is_given(value) and (has_digit(value) or looks_chosen(value)),
    ),
    issuer(
        "password-hash",
        "$apr1$ $1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $7$ $argon2 $pbkdf2 $scrypt$ {SHA} {SSHA} pbkdf2_sha "
        "sha512_crypt$ bcrypt_sha256$",
        r"(?:\$(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"
        r"|\$[567]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"
        r"|\$y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
        r"|\$(?:argon2\w{1,2}|pbkdf2[\w-]{0,8}|scrypt)\$[\w=,$./+-]{40,400}"
        r"|\{S?SHA\}[A-Za-z0-9+/]{27,48}={0,2}"
        r"|pbkdf2_sha\d{1,3}\$\d{1,9}\$[^\s$]{1,64}\$[A-Za-z0-9+/]{20,88}={0,2}"
        r"|(?:sha512_crypt|bcrypt_sha256)\$[\w$./=,-]{40,200})",
    ),
    issuer(
        "wireguard-key",
        "PrivateKey PresharedKey private_key preshared_key wg_genkey privateKey presharedKey",
        r"(?i:private_?key|preshared_?key)\\?[\"']?\s{0,8}[=:]\s{0,3}\\?[\"']?"
        r"(?P<secret>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
    ),
    issuer(
        "wireguard-key", "preshared-key private-key", r"(?:preshared|private)-key\s{1,3}(?P<secret>[A-Za-z0-9+/]{43}=)"
    ),
    Detector(
        "kubernetes-secret",
        ("data:\n", "Data:\n", "data: \n", "Data: \n", 'data": {', 'data":{', 'Data": {', 'data\\": {', 'data\\":{'),
        r"[dD]ata(?::[ ]?(?:\n[ \t]+[\w.-]{1,200}:[^\n]{0,20000})++|\\?\":\s?\{[^{}]{1,20000}\})",
        secrets=_values_of_secret,
    ),
    issuer(
        "kubeconfig-key",
        "client-key-data",
        r"client-key-data\\?[\"']?\s{0,3}:\s{0,3}\\?[\"']?(?P<secret>[A-Za-z0-9+/]{32,}={0,2})",
    ),
    issuer(
        "login",
        'auth" auth\\" auth\' auth= auth:',
        r"auth(?:\\?[\"'])?\s{0,2}[:=]\s{0,2}(?:\\?[\"'])?(?P<secret>[A-Za-z0-9+/]{8,1024}+={0,2})",
        is_login,
    ),
    Detector(
        "wifi-password",
        ("psk=", "psk: ", "wpa-psk ", ".psk ", "WIFI:"),
        r"(?:(?:wpa-|\.)?psk[=:\s]\s{0,3}[\"']?(?P<secret_bare>[^\s\"'\\;()]{8,64})"
        r"|WIFI:(?:[TSH]:[^;\n]{0,100};){0,3}P:(?P<secret_code>[^;\n]{8,64});)",
        lambda match: is_given(match[match.lastgroup or 0]) and has_digit(match[match.lastgroup or 0]),
    ),
)

#: After the names of values, which have names of their own for most of these.
HEADERS = (
    Detector(
        "header",
        ("X-", "x-", "PRIVATE-TOKEN", "Private-Token", "Ocp-Apim-Subscription-Key", "DD-API-KEY", "DD-APPLICATION-KEY"),
        r"(?:[xX]-[A-Za-z][A-Za-z-]{0,40}?)?(?i:token|secret|key|auth|password|signature)"
        rf"{_HEADER}(?P<secret>{_TOKEN})",
        lambda match: (
            not is_placeholder(match["secret"])
            and has_digit(match["secret"])
            and (looks_random(match["secret"]) or is_id(match["secret"]))
        ),
    ),
)
