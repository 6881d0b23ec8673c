"""A name with its value, in the forms in which people and programs write them: `named` matches, `Found` reads."""

from __future__ import annotations

import re

from .detector import compiled

#: Endings that turn the name of a secret into the name of something else: `token_type`, `passwordField`, `tokenizer`.
_ELSE = (
    r"(?!(?:[_.-]?(?i:type|name|file|path|dir|url|uri|endpoint|count|limit|len|size|budget|usage|expir|ttl|age|kind|class"
    r"|field|input|label|hint|policy|ref|store|format|regex|pattern|prefix|suffix|header|param|strength|rule|min|max"
    r"|version|issuer|source|provider|service|scope|verif|valid|confirm|reset|forgot|change|hash|digest|alg|index|pos"
    r"|start|end|line|color|style|column|created|updated|used|per_|manager|mount|hidden|shown|visib|status|state|error"
    r"|message|text|encrypt|lifetime|timeout|placeholder|required|enabled|lookup|map|list"
    r"|set\b|ring|id\b|ids\b|alias|bound)"
    r"|(?i:iz|is(?:e|ation)|smanager)))"
)
_OPEN = r"[brfuBRFU@]{0,2}"
#: A quoted value, whatever quotes it, or a bare one.  What it is bounded to is enough to judge it; `REST` follows.
QUOTED = (
    rf"{_OPEN}(?:\\{{1,3}}\"(?P<secret_json>[^\"\\\n]{{4,128}}+)|\\{{1,3}}'(?P<secret_escaped>[^'\\\n]{{4,128}}+)"
    r"|\"(?P<secret_double>(?:[^\"\\\n]|\\[^nrt\n]){4,128}+)|'(?P<secret_single>[^'\n]{4,128}+)"
    r"|`(?P<secret_back>[^`\n]{4,128}+))"
)
_BARE_CHARACTER = r"[^\s\"'`,;<>(){}\[\]|&\\]"
#: An ampersand separates parameters unless no name follows.
_AND = rf"(?:&(?![\w.%-]{{0,32}}=|&|amp;|\s){_BARE_CHARACTER}{{0,64}}+)?"
#: The rest of a value that is longer, or of a bare one with brackets in it.
REST = r"(?:[(\[{][^\s\"'`,;<>]*+)?[^\s\"'`,;<>(){}\[\]|&\\]*+"
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


def named(core: str, least: int, ending: str = r"(?:[-.]?\w){0,24}+") -> str:
    """Return the pattern of a name, and of the value after it.

    :param core: a regular expression of the name, from the trigger on.
    :param least: characters of a bare value.
    """
    bare = rf"(?P<secret_bare>{_BARE_CHARACTER}{{{least},128}}+{_AND})"
    return (
        rf"{core}{_ELSE}{ending}"
        rf"(?:>(?:<!\[CDATA\[)?(?P<secret_xml>(?:(?!\]\]>)[^<>\n]){{4,128}}+)(?=</|\]\]>)|(?:\\{{0,3}}[\"'])?\]?{_ASSIGN}(?:{QUOTED}|{bare}))"
    )


def name_end(text: str) -> str:
    """Return the name at the end of a text, or the part of it that is there."""
    end = compiled(r"[\w.-]*+").match(text[::-1])
    return text[len(text) - end.end() :] if end else ""


#: What is before the name of something that is not secret: `nextPageToken`, `lock-token`; without its first letter.
_OTHER = re.compile(
    r"(?i)(?:next|page|continuation|cursor|lock|public_?key|sync|resume|cancel(?:l?ation)?|unit)[_.-]?t?$"
)
#: The end of a name that is a file's.
_FILE = re.compile(r"\.(?:json|ya?ml|jsx?|tsx?|py|md|txt|html?|css|go|rs|java|toml|lock|png|svg|sh|pem|crt)\W*$")


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
        #: A comma is between name and value.
        self.is_item = "," in head[-4:]
        #: An equals sign is between name and value.
        self.is_assigned = head.endswith("=")
        #: The text before the trigger: the beginning of the name, and what is before that.
        self.before = text[max(0, match.start() - 40) : match.start()]
        self._head = head
        self._after = text[match.end(group) : match.end(group) + 3]

    @property
    def is_named_otherwise(self) -> bool:
        """Whether the name is that of a page, a type, a file or a resource, whatever it ends with."""
        name = name_end(self.before)
        before = self.before[: len(self.before) - len(name)]
        # `AWS::IAM::AccessKey`, `arn:aws:…:secret:…`
        is_listed = before.endswith("::") or (self._head.endswith(":") and before.endswith(":"))
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
        line = self.before[: len(self.before) - len(name_end(self.before))].rpartition("\n")[2]
        return is_setting and not line.strip(" \t-")

    @property
    def words_before(self) -> str:
        """What is before the trigger in the name, in lower case: `access_t` of a token's, `db_` of `db_pass`."""
        return name_end(self.before).lower()
