"""Whether a value is a secret, or only looks like one: a placeholder, a name in a program, an id, a path.

The functions need more evidence, the less is known of the place where a value was found.
"""

from __future__ import annotations

import base64
import re

#: Characters of a value that are examined: a value is judged by its beginning.
_EXAMINED = 128
_WORDS = (
    "admin any bearer bool boolean bytes changeit changeme default disabled dummy empty enabled example false fake "
    "file foo bar guest hidden input int integer invalid key missing mysecret n/a nil no none null number "
    "object optional pass passphrase passwd password path placeholder postgres prompt pw pwd required root sample "
    "secret secrets "
    "show someone str string test text token true type undefined unset user username value void xxx yes your"
)
#: Values that stand for a secret, in lower case.
PLACEHOLDERS = frozenset(_WORDS.split())
_PLACEHOLDER = re.compile(
    r"(?P<one>.)(?P=one)*+|[.*xX•_-]++"
    # <token>, {token}, [token], %TOKEN%, @TOKEN@, $TOKEN, ${TOKEN:-x}, {{ token }}, :token, ...
    r"|<[^>]*+>?|\{.*|\[.*|%[^%]*+%|@\w++@|\$\w++|\$[({].*|:[A-Za-z_]\w*+|!\w++|#\{.*|&\w++"
    r"|[\"'`].*"
    r"|(?i:(?:your|my|the|some|a|an|new|old|insert|enter|replace|put|change|test|fake|dummy|sample|example)[-_ ]?"
    r"(?:\w*[-_ ])*(?:api|access|auth|secret|token|key|pass(?:word|phrase|wd)?|pwd|value|here|me|this|goes)"
    r"[-_ ]?\w{0,5})"
    r"|(?i:(?:admin|example|foo|guest|pass|passwd|password|pwd|qwerty|root|secret|test|token|user|abc)[-_]?\d{0,2})"
    r"|(?:0?123456789?0?|0?1234|12345|000+)",
    re.DOTALL,
)
#: Texts in a placeholder that no random value contains.
_TELLING = ("example", "changeme", "change-me", "change_me", "placeholder", "redacted", "xxxx", "***", "...", "…")
_TEMPLATE = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\{\{.*|<%=|#\{[^}]*\}|%\(\w+\)|\$\{\w+$")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: An abbreviated or a whole commit of git.
_COMMIT = re.compile(r"[0-9a-f]{7,12}|[0-9a-f]{40}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"[+-]?[\d.,_:]+(?:e[+-]?\d+|[a-zA-Z%]{1,3})?")
_PATH = re.compile(
    r"(?:(?:\.{0,2}|~)/(?!.{39}$|.{43}$)[\w.@/-]*$|\.\w|[A-Za-z]:\\|\w+://(?![^/]*@)|arn:|urn:|sha\d+[:-]|op://|vault:)|[\w-]{0,12}\.[a-z]{1,4}\d?$"
)
#: `config.auth.token2`, `a->b`, `x?.y`.
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*!?)+;?")
_SIGNS = re.compile(r"[^\w$]+")
_IDENTIFIER = re.compile(
    r"[$_]*(?:[A-Za-z]?[a-z_]*\d{0,3}[a-z_]*\d{0,2}|[A-Z_]+\d{0,3}[A-Z_]*\d{0,2}|(?:[A-Z]{0,5}[a-z]+){2,4})"
)
#: `get_token()`, `os.environ[…]`, `Type<T>`, `a || b`.
_CALL = re.compile(r"(?:new\s+|await\s+)?[A-Za-z_$][\w$.:]*(?:[(\[<]|\?\.|\|\||&&|\?\?|\.#).*")
#: `data[0]`
_ITEM = re.compile(r"[A-Za-z_][\w.]*\[\w*\]")
#: `PasswordHashV2Type`, `useSha256Digest`: words, each with at most three digits.
_CAMEL = re.compile(
    r"(?!.*[bcdfghjklmnpqrstvwxz]{5})"
    r"(?:[a-z]{2,}\d{0,3}(?:[A-Z][a-z]{2,}\d{0,3}|[A-Z]{2,5}(?![a-z])\d{0,3}|[A-Z]\d{1,3}[A-Z]?|[A-Z](?=[A-Z][a-z]{2}))+"
    r"|(?:[A-Z][a-z]{2,}\d{0,3}|[A-Z]\d{1,3}[A-Z]?|[A-Z]{2,5}(?![a-z])\d{0,3}|[A-Z](?=[A-Z][a-z]{2})){2,})"
)
_JOINT = re.compile(r"[-_./:+$]+")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
_PART = re.compile(r"[A-Z]?[a-z]*\d{0,4}[a-z]{0,2}\d{0,2}|[A-Z]+\d{0,4}[A-Z]{0,2}\d{0,2}")
_LETTERS_NEXT_TO_DIGITS = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_NAME = re.compile(r"[A-Za-z_.:/-]+\d{0,2}")
_SPECIAL = re.compile(r"[!@#%^*+~$&?]")
_NUMBERS = re.compile(r"\d+")
_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"[0-9]")


def has_digit(value: str) -> bool:
    """Return whether a value has a digit."""
    return _DIGIT.search(value) is not None


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret: `<token>`, `$TOKEN`, `changeme`, `xxxx`."""
    value = value[:_EXAMINED]
    lower = value.lower()
    return (
        len(value) < 3
        or lower in PLACEHOLDERS
        or any(text in lower for text in _TELLING)
        or _TEMPLATE.search(value) is not None
        or _PLACEHOLDER.fullmatch(value) is not None
    )


def is_id(value: str) -> bool:
    """Return whether a value has the form of a UUID or of a commit, which are secrets in rare places only."""
    return _UUID.fullmatch(value) is not None or _COMMIT.fullmatch(value) is not None


def _is_name(value: str) -> bool:
    """Return whether a value is a name in a program: words, versions, numbers, joined by dashes, dots and the like."""
    if _is_camel(value):
        return True
    parts = [part for part in _JOINT.split(value) if part]
    return any(_LETTERS.fullmatch(part) for part in parts) and all(
        (len(part) <= 16 and _PART.fullmatch(part)) or _is_camel(part) for part in parts
    )


def _is_camel(value: str) -> bool:
    """Return whether a value is words in one, with few numbers among them."""
    return _CAMEL.fullmatch(value) is not None and len(_NUMBERS.findall(value)) <= 1 + (len(value) > 20)


def is_code(value: str) -> bool:
    """Return whether a bare value is an expression of a program."""
    if _CALL.fullmatch(value):
        return True
    if _MEMBER.fullmatch(value) is None or len(_LETTERS_NEXT_TO_DIGITS.findall(value)) > 5:
        return False
    return all(_IDENTIFIER.fullmatch(part) or _is_camel(part) for part in _SIGNS.split(value) if part)


def _is_plain(value: str) -> bool:
    """Return whether a value is a date, a number, a path, an address or code."""
    return bool(_DATE.match(value) or _NUMBER.fullmatch(value) or _PATH.match(value) or is_code(value))


def looks_random(value: str) -> bool:
    """Return whether a value is random rather than a name in a program."""
    value = value[:_EXAMINED]
    if not _LETTER.search(value) or not _DIGIT.search(value) or is_placeholder(value) or _is_plain(value):
        return False
    if _is_name(value):
        return False
    changes = len(_LETTERS_NEXT_TO_DIGITS.findall(value))
    return changes >= 3 or _SPECIAL.search(value) is not None or (changes >= 1 and len(value) >= 20)


def looks_chosen(value: str) -> bool:
    """Return whether a bare value is a password; a name in a program has at most two digits, at its end."""
    value = value[:_EXAMINED]
    if is_placeholder(value) or _is_plain(value) or _is_camel(value) or not _LETTER.search(value):
        return False
    if not _DIGIT.search(value):
        return re.search(r"[a-z][!@#%^*+~$&][A-Za-z]", value) is not None and "|" not in value
    return not _NAME.fullmatch(value)


def looks_told(value: str) -> bool:
    """Return whether a word of a sentence about a password is the password."""
    value = value.rstrip(".,:;!?")
    return looks_chosen(value) and not _is_name(value)


def looks_quoted(value: str) -> bool:
    """Return whether the text of a string literal is a password and not a message, a label or a placeholder."""
    value = value[:_EXAMINED]
    if is_placeholder(value) or _DATE.match(value) or _PATH.match(value) or is_id(value) or _ITEM.match(value):
        return False
    words = value.split(" ")
    if len(words) > 6 or (value[-1] in ".:!?" and len(words) > 1):
        return False
    return any(_mixes(word) for word in words)


def looks_set(value: str, *, is_bare: bool = True) -> bool:
    """Return whether the value of a variable like `DB_PASSWORD` is a password; one without a digit is, too."""
    value = value[:_EXAMINED]
    if is_placeholder(value) or (is_bare and is_code(value)) or _PATH.match(value) or not _LETTER.search(value):
        return len(value) >= 6 and value.isdigit() and not is_placeholder(value)
    is_word = value.isupper() or re.search(r"(?i)pass|secret|token|[_ -]", value) is not None
    return has_digit(value) or (len(value) >= 6 and not is_word)


def looks_typed(value: str) -> bool:
    """Return whether the value of a line of settings is a password like `abcdef42`: a word with a number at its end."""
    match = re.fullmatch(r"([A-Za-z]{3,})\d{1,4}[!?.]?", value)
    is_word = match is not None and not re.search(
        r"(?i)pass|pw|token|secret|user|key|str|val|arg|int|utf|sha|var", value
    )
    return is_word and not is_placeholder(value)


def is_given(value: str) -> bool:
    """Return whether a value at a place that has nothing but secrets is one, and no placeholder."""
    return not is_placeholder(value) and not value.startswith(("-", "/", "./", "~/"))


def is_login(value: str) -> bool:
    """Return whether a value is a user and a password in base64."""
    try:
        text = base64.b64decode(value[: 1024 // 4 * 4], validate=True).decode("utf-8")
    except ValueError:
        return False
    return ":" in text and text.isprintable()


def _mixes(word: str) -> bool:
    has_both = _LETTER.search(word) is not None and _DIGIT.search(word) is not None
    if has_both:
        return not _is_name(word) or re.fullmatch(r"[A-Za-z]{3,}\d{1,6}", word) is not None
    return re.search(r"[a-z][!@#%^*+~$&][A-Za-z]", word) is not None
