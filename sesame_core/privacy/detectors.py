"""The table of detectors of secrets.

A detector only runs where one of its triggers occurs: literal strings that are all found in one pass, so a text
without any takes two microseconds per kilobyte.  `detect-secrets` 1.5.0 takes 2,500 for the same, has had no release
since 2024, and reports lines, not positions; the good Go and Rust scanners are not libraries.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from ..dataclass import dataclass

#: Shortest value that is detected as a password or token because of the name before it, in characters.
_SHORTEST = 8
#: Values in examples, and in the settings of a database on one's own machine.
_PLACEHOLDERS = frozenset(
    ("admin", "changeme", "example", "guest", "passwd", "password", "pass", "postgres", "pwd", "root", "secret", "test")
)
_LETTERS_NEXT_TO_DIGITS = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{16}")
_NAME = re.compile(r"[A-Za-z_.:/-]+\d{0,2}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of secret."""

    #: The name in the placeholder of the secret, and in reports.
    name: str
    #: Literal strings, one of which starts every match of `pattern`.
    triggers: tuple[str, ...]
    #: A regular expression; its group `secret` is replaced.
    pattern: str
    #: Returns whether a match is a secret; None if every match is.
    is_secret: Callable[[str], bool] | None = None


def _looks_random(value: str) -> bool:
    """Return whether a value is random rather than a name in a program."""
    if not any(c.isalpha() for c in value) or not any(c.isdigit() for c in value) or _DATE.match(value):
        return False
    return len(_LETTERS_NEXT_TO_DIGITS.findall(value)) >= 3 or any(c in "!@#%^*+~" for c in value)


def _looks_chosen(value: str) -> bool:
    """Return whether a value is a password and not a name in a program, which has at most two digits, at its end."""
    has_both = any(c.isalpha() for c in value) and any(c.isdigit() for c in value)
    return has_both and not _NAME.fullmatch(value) and not _DATE.match(value)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _is_password(value: str) -> bool:
    return len(value) > 2 and value.lower() not in _PLACEHOLDERS and set(value) not in ({"*"}, {"x"}, {"."}, {"X"})


def _is_login(value: str) -> bool:
    try:
        return ":" in base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return False


#: No word character before it; the n of an escaped line break does not count as a letter.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_VALUE = rf"(?P<secret>[^\s\"'`,;<>(){{}}\[\]$\\|&]{{{_SHORTEST},512}}+)(?![(\[{{])"
#: `="…"`, `: …`, `" => '…`, `\": \"…`.
_ASSIGNED = r"\w{0,24}(?:\\?[\"'])?\]?\s{0,3}(?::=|=>|[:=])\s{0,3}(?:\\?[\"'])?" + _VALUE


def _kind(
    name: str, triggers: str, pattern: str, is_secret: Callable[[str], bool] | None = None, *, begins: bool = False
) -> Detector:
    """Return a detector.

    :param triggers: separated by spaces.
    :param pattern: the whole match is the secret unless the pattern has a group of that name.
    :param begins: the match must be at the start of a word.
    """
    if "(?P<secret>" not in pattern:
        pattern = f"(?P<secret>{pattern})"
    return Detector(name, tuple(triggers.split()), (_BEGIN if begins else "") + pattern, is_secret)


#: The order decides: if several detectors match at one position, the first one names the secret.
DETECTORS = (
    _kind(
        "private-key",
        "-----BEGIN",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        # Up to its end; for an incomplete one, as many lines of it as follow.
        r"(?:[\s\S]{0,16000}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[rn])*+[A-Za-z0-9+/=]{16,}+)+)",
        lambda value: _KEY_MATERIAL.search(value) is not None,
    ),
    _kind("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _kind("aws-access-key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _kind("anthropic-key", "sk-ant-", r"sk-ant-[a-z0-9]{2,10}-[\w-]{20,200}"),
    _kind(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|or-v1)-[\w-]{20,200}|[A-Za-z0-9]{32,200})",
        _has_digit,
        begins=True,
    ),
    _kind(
        "azure-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    _kind("azure-signature", "?sig= &sig=", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,}=?)"),
    _kind("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _kind("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _kind(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[\w-]{60,})",
    ),
    _kind("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{27,}"),
    _kind("doppler-token", "dp.pt. dp.st. dp.sa.", r"dp\.(?:pt|st|sa)\.[\w.-]{40,}"),
    _kind("figma-token", "figd_", r"figd_[\w-]{40,}"),
    _kind("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opusr]_[A-Za-z0-9]{36,255}"),
    _kind("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    _kind(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[\w.-]{20,}",
    ),
    _kind("google-api-key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    _kind("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    _kind("google-oauth-token", "ya29.", r"ya29\.[\w-]{30,}"),
    _kind("grafana-token", "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}"),
    _kind("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _kind("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{34,40}(?![A-Za-z0-9_])", begins=True),
    _kind("json-web-token", "eyJ", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?"),
    _kind("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _kind("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])", begins=True),
    _kind("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    _kind("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", begins=True),
    _kind("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _kind("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _kind("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    _kind("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])", begins=True),
    _kind("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _kind("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _kind("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    _kind("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _kind("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.", r"xox[abeoprs][-.][\w.-]{10,}", _has_digit),
    _kind("slack-token", "xapp-", r"xapp-\d-[\w-]{20,}"),
    _kind(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{20,})",
    ),
    _kind("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[\w-]{22,}"),
    _kind("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _kind("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _kind("supabase-token", "sbp_", r"sbp_[0-9a-f]{40}"),
    _kind("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w-]{20,}"),
    _kind("telegram-token", ":AA", r"(?<=\d{8}):(?P<secret>AA[\w-]{33})(?![\w-])"),
    _kind("terraform-token", ".atlasv1.", r"\.atlasv1\.(?P<secret>[\w-]{60,})"),
    _kind("twilio-key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])", begins=True),
    _kind("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _kind("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}", begins=True),
    _kind("url-password", "://", r"://[^\s/:@\"'`]{0,100}:(?P<secret>[^\s/@\"'`${}<>%]{1,200})@", _is_password),
    _kind("bearer-token", "earer EARER", r"(?:earer|EARER)\s{1,3}(?P<secret>[A-Za-z0-9._~+/-]{16,}={0,2})", _has_digit),
    _kind("basic-login", "asic ASIC", r"(?:asic|ASIC)\s{1,3}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})", _is_login),
    _kind(
        "password",
        "--password --passwd --passphrase --token --secret --api-key",
        r"--(?:pass\w+|token|secret|api-key)[ =][\"']?" + _VALUE,
        _looks_random,
    ),
    _kind(
        "password",
        "assword asswd assphrase ASSWORD ASSWD ASSPHRASE",
        r"(?i:ass(?:word|wd|phrase))" + _ASSIGNED,
        _looks_chosen,
    ),
    _kind("secret", "ecret ECRET", r"(?i:ecret)" + _ASSIGNED, _looks_random),
    _kind("token", "oken OKEN", r"(?i:oken)" + _ASSIGNED, _looks_random),
    _kind(
        "api-key",
        "pikey pi_key pi-key piKey API_KEY API-KEY APIKEY Api-Key ccess_key ccessKey ACCESS_KEY",
        r"(?i:a?pi[_-]?key|a?ccess_?key)" + _ASSIGNED,
        _looks_random,
    ),
)
