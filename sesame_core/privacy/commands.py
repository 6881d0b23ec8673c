"""Detectors of passwords in the arguments of programs whose options for them are short: `mysql -p…`, `curl -u …:…`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from .detector import Detector, compiled
from .values import has_digit, is_given, looks_random

#: The arguments of a program, up to the end of the command.  A quoted one may have several lines.
_ARGUMENTS = (
    r"(?:\"(?:[^\"\\]|\\[\s\S]){0,4000}+\"|'[^'\n]{0,4000}+'|\$?'[^']{0,4000}+'|[^\"'\n|;&\\`]|\\[\s\S]|&(?!&))*+"
)
_QUOTE = r"\\{0,3}[\"']?"
#: An argument: quoted, or a word.
_WORD = (
    r"(?:\\{0,3}\"(?P<secret_double>[^\"\\\n]{3,256}+)|\\{0,3}'(?P<secret_single>[^'\\\n]{3,256}+)"
    r"|(?P<secret_bare>[^\s\"'`\\<>|;&()]{3,256}+))"
)
_LOGIN = rf"{_QUOTE}[^\s\"':=/]{{1,100}}:(?:\\?\"(?=.)|\\?')?(?P<secret>[^\s\"'`\\]{{3,256}}+)"


def _option(options: str, value: str = _WORD, joint: str = r"(?:\s{1,3}|=)") -> str:
    """Return the pattern of options with a value.

    :param options: a regular expression.
    :param joint: what is between an option and its value.
    """
    return rf"(?<=\s)(?:{options}){joint}{value}"


def _is_argument(match: re.Match[str]) -> bool:
    return is_given(match[match.lastgroup or 0])


def _is_attached(match: re.Match[str]) -> bool:
    """Return whether what stands at `-p` is a password, and not another option that begins so."""
    value = match[match.lastgroup or 0]
    return is_given(value) and not re.fullmatch(r"\d{1,5}(?::\d{1,5})?|[a-z-]{1,12}(?:=.*)?", value)


def _secrets(
    inner: str, judge: Callable[[re.Match[str]], bool]
) -> Callable[[re.Match[str]], Iterable[tuple[int, int]]]:
    """Return a function that yields the secrets among the arguments that a detector has matched."""

    def secrets(match: re.Match[str]) -> Iterator[tuple[int, int]]:
        for found in compiled(inner).finditer(match.string, match.start(), match.end()):
            if judge(found):
                yield found.span(found.lastgroup or 0)

    return secrets


def _program(
    names: str, inner: str, judge: Callable[[re.Match[str]], bool] = _is_argument, *, ends: str = r"[\w.-]{0,16}"
) -> Detector:
    """Return a detector of the secrets among a program's arguments.

    :param names: beginnings of the names of programs, separated by spaces; an underscore is a blank.
    :param inner: the pattern of an argument with a secret.
    :param ends: a regular expression of the rest of the program's name.
    """
    triggers = tuple(name.replace("_", " ") for name in names.split())
    names = "|".join(re.escape(trigger.rstrip()) for trigger in sorted(triggers, key=len, reverse=True))
    return Detector(
        "password",
        triggers,
        rf"(?:(?<![\w-])|(?<=\\[nrt]))(?:{names}){ends}(?=\s){_ARGUMENTS}",
        secrets=_secrets(inner, judge),
    )


#: What a command contains that reads a password from its standard input.
_READERS = (
    *("sudo -S", "--password-stdin", "-passin stdin", "--with-token", "--passphrase-fd", "passwd --stdin"),
    *("kinit", "cryptsetup", "smbpasswd -s", "p4 login", "secret put", "secret set", "secrets versions add"),
)
#: What `printf` has before what it prints.
_FORMAT = rf"(?:{_QUOTE}%s(?:\\{{1,2}}n)?{_QUOTE}\s{{1,3}})?+"
#: Names of variables and settings that are secret.
_SECRET_NAME = re.compile(r"(?i)(?:pass(?:word|wd|phrase)?|secret|token|auth|(?:api|access|private|secret)_?key)$")


def _reads_password(command: str) -> bool:
    line = command.rpartition("\n")[2]
    return any(reader in line for reader in (*_READERS, "chpasswd"))


COMMANDS = (
    _program(
        "curl http_ https_ xh_ etcdctl",
        _option(r"-[a-zA-Z#]{0,8}u|--user|-U|--proxy-user|-a|--auth", _LOGIN, r"[\s=]{0,3}"),
    ),
    _program("lftp ncftp", rf"(?<=\s)-u\s{{0,3}}{_QUOTE}[^\s\"',]{{1,64}},(?P<secret>[^\s\"'`\\]{{3,256}}+)"),
    _program("wget aria2c", _option(r"--(?:http|ftp|proxy)-passw(?:or)?d")),
    _program("mysql mariadb mycli", rf"(?<=\s)-p{_WORD}", _is_attached),
    _program(
        "mongo cqlsh clickhouse arangosh rabbitmqadmin sshpass nxc crackmapexec evil-winrm impacket- twine "
        "cypher-shell snowsql smbmap hydra security_unlock-keychain",
        _option("-p", joint=r"\s{0,3}"),
        _is_attached,
    ),
    _program(
        "docker_login docker_--config podman_login nerdctl_login buildah_login helm_registry_login oras_login "
        "skopeo_login az_login az_acr_login cf_login oc_login crane_auth_login fly_auth gcloud_auth ibmcloud_login "
        "argocd_login rancher_login",
        _option(r"-p|--password|--creds", joint=r"(?:\s{1,3}|=)"),
    ),
    _program("skopeo buildah crane", _option(r"--(?:src-|dest-)?creds", _LOGIN)),
    _program("sqlcmd bcp_ osql isql_ ipmitool mosquitto", _option("-P", joint=r"\s{0,3}")),
    _program(
        "redis-cli keydb-cli valkey-cli snmp",
        _option(r"-a|--pass|-A|-X|(?i:auth)(?: default)?(?=\s)", joint=r"\s{1,3}"),
    ),
    _program(
        "sqlplus impdp expdp sqlldr",
        r"(?<=\s)[\"']?[\w.$-]{1,64}/(?P<secret>[^\s\"'`\\@/;|]{4,128}+)(?=[@\s\"']|$)",
        lambda match: is_given(match["secret"]) and has_digit(match["secret"]) and looks_random(match["secret"]),
    ),
    _program("ldap", _option("-w", joint=r"\s{0,3}")),
    _program(
        "smbclient rpcclient smbmap mount.cifs net_rpc",
        rf"(?<=\s)-U\s{{0,3}}{_QUOTE}"
        rf"[^\s\"'%]{{1,64}}%(?P<secret>[^\s\"'`\\]{{3,256}}+)",
    ),
    _program("7z_ 7za_ 7zr_ rar_ unrar_", rf"(?<=\s)-(?:p|hp){_WORD}", _is_attached),
    _program("zip_ unzip_", _option("-[a-zA-Z0-9]{0,6}P", joint=r"\s{0,3}")),
    _program("openssl", rf"(?<=\s)(?:-pass(?:in|out)?\s{{1,3}}{_QUOTE}pass:|-k\s{{1,3}}|-passwd\s{{1,3}}){_WORD}"),
    _program("ssh-keygen", _option(r"-N|-P")),
    # With -n there is no file before the name.
    _program(
        "htpasswd",
        r"(?<=\s)-(?=[a-zA-Z]*b)(?:(?=[a-zA-Z]*n)[a-zA-Z]+\s+(?:-\S+\s+)*|(?![a-zA-Z]*n)[a-zA-Z]+\s+(?:-\S+\s+)*\S+\s+)"
        r"\S+\s+" + _WORD,
    ),
    _program("xfreerdp wlfreerdp rdesktop", _option(r"/p|-p", joint=r"(?::|\s{1,3})")),
    _program("rabbitmqctl", r"(?<=\s)(?:add_user|change_password|authenticate_user)\s+\S+\s+" + _WORD, ends=""),
    _program("wpa", r"wpa_passphrase\s+\S+\s+" + _WORD, ends="_passphrase"),
    _program("net_user net_use", r"(?:user\s+[\w.@\\-]+|use\s+(?:[A-Za-z]:|\*)?\s*\S+)\s+(?!/)" + _WORD, ends=""),
    _program(
        "vault_login vault_unwrap consul nomad",
        rf"(?:\blogin|\bunwrap|-token[= ])\s*(?!-){_WORD}",
        lambda match: looks_random(match[match.lastgroup or 0]),
    ),
    _program("aws_configure_set", r"(?:secret_access_key|session_token)\s+" + _WORD),
    Detector(
        "password",
        ("setx ", "ENV ", "onfig set ", "ecrets set ", "env add "),
        r"(?:setx|ENV|onfig set|ecrets set|env add)\s{1,3}(?:-\S{1,20}\s{1,3}){0,3}"
        rf"(?P<name>[^\s\"'=]{{1,128}}+)\s{{1,3}}{_WORD}",
        lambda match: (
            _SECRET_NAME.search(match["name"]) is not None
            and _is_argument(match)
            and has_digit(match[match.lastgroup or 0])
        ),
    ),
    _program("kubectl_ oc_", rf"--from-literal[= ]{_QUOTE}[\w.-]{{1,100}}={_WORD}"),
    _program(
        "echo_ printf_",
        rf"(?:echo|printf)(?:\s+-\w+)?\s+{_FORMAT}{_QUOTE}"
        rf"[\w.-]{{1,64}}:(?P<secret>[^\s\"'`\\:/]{{4,256}}+)",
        lambda match: _goes_to(match, "chpasswd"),
    ),
    Detector(
        "password",
        ("<<<",),
        rf"<<<\s{{0,2}}{_WORD}",
        lambda match: (
            _is_argument(match) and _reads_password(match.string[max(0, match.start() - 100) : match.start()])
        ),
    ),
    _program(
        "echo_ printf_", rf"(?:echo|printf)(?:\s+-\w+)?\s+{_FORMAT}{_WORD}", lambda match: _goes_to(match, *_READERS)
    ),
)


def _goes_to(match: re.Match[str], *programs: str) -> bool:
    """Return whether what is printed is piped into a program that reads a password."""
    rest = match.string[match.end() : match.end() + 200].partition("\n")[0]
    piped = rest.lstrip("\"'\\n ")
    value = match[match.lastgroup or 0]
    return piped.startswith("|") and any(program in piped for program in programs) and is_given(value)
