"""Which operators, signs and fields of a query are part of a text that was pasted: of a command, an error, a sentence.

Each rule looks at the tokens alone, so that a query means the same in every index:

    -x         is a word if it has one or two characters, begins with a digit, is code (`-a=b`, `-EINVAL;`), stands
               after a word with a colon or a comma (`error: -lssl`), or is an option: of a command (`tar -xzf`), or of
               a query with options that are nothing else (`--all -prune`)
    +x         is a word if it has one character or begins with a digit
    NOT, AND   are words in a text in capitals; NOT is also one beside a word that it belongs to (`is NOT`, `NOT NULL`),
               and before the only word of a query
    field:x    is a word after a word with a colon or a comma (`Error: path:/x`), and as an address (`file:///x`)

What they cannot know, `search.operators` finds out from the texts of the sessions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..dataclass import replace
from .lexer import Token

#: Fewest words of a text in capitals: `JSON AND YAML` has operators.
CAPITALS = 4
#: Most characters of `-x` that are always an option or a number.
SHORT = 2
#: Most letters of several options in one word: `-xzf`, `-tulpn`.
JOINED = 5
#: Commands whose options are letters, several in one word, right after the command.  Those that are also topics or
#: English words, such as git, docker, python and sort, are none of them: `python -django` excludes a word.
LETTERED = frozenset(
    "awk chgrp chmod chown cp curl df du egrep fgrep grep gunzip gzip jar ln ls lsblk lsof mkdir mv nc netstat pgrep "
    "pkill ps rg rm rmdir rsync scp sed ssh strace sudo tar tcpdump umount uniq unzip wc wget xargs zcat zgrep "
    "zip".split()
)
#: Commands whose options are words after one dash, anywhere.
WORDED = frozenset(
    "c++ cc clang clang++ ffmpeg ffprobe g++ gcc javac jdb keytool ld openssl pdflatex pwsh xcodebuild xclip xelatex "
    "xrandr".split()
)
#: Options of find, which is also a word.
FINDING = frozenset(
    "delete depth empty exec iname maxdepth mindepth mtime name newer path perm print print0 prune regex size type "
    "user".split()
)
#: Words that NOT belongs to: verbs before it, and what it begins after it.
BEFORE_NOT = frozenset(
    "am are be been but can could did do does had has have if is it may might must or shall should was were why will "
    "would".split()
)
AFTER_NOT = frozenset(
    "a all allowed an any available be been being between defined exist exists for found ilike implemented in like "
    "null on only permitted possible supported the to valid yet".split()
)

#: Commands of two words that are one of `WORDED`.
SUBCOMMANDS = {"go": frozenset("build get install run test tool vet".split())} | dict.fromkeys(
    ("terraform", "tofu"), frozenset("apply destroy import init plan".split())
)

#: An option of the Java machine (`-Xmx4g`, `-XX:+UseG1GC`), of a compiler, or letters in lower and upper case (`-sSL`);
#: and code, such as `-EINVAL;` and `-foo(bar)`.
_SHAPED = re.compile(r"X[a-z]{2,}\d+[kKmMgGtT]?|XX:.+|[IL]/.+|[a-hj-z]{1,2}S[A-Z]?[a-z]?|.*(?:[^\w\s./@#*:+-]|--).*")
_SENTENCE = (":", ",", ";")
_CLOSING = (",", ";", ")", "]", "}", "'")


def meant(read: Sequence[Token]) -> tuple[list[Token], list[str]]:
    """Return the tokens of a query with those as words that are part of a pasted text.

    :return: also messages about those that might have been meant otherwise.
    """
    context = _Context(read)
    hints: dict[str, None] = {}
    found: list[Token] = []
    for place, token in enumerate(read):
        made, hint = token, ""
        if token.kind in ("NOT", "AND"):
            made, hint = _operator(token, place, context)
        elif token.kind == "word" and token.sign == "-":
            made, hint = _excluded(token, found, context)
        elif token.kind == "word" and token.sign == "+" and (len(token.text) == 1 or token.text[0].isdigit()):
            made = replace(token, text=f"+{token.text}", sign="")
        elif token.kind == "field" and _is_prose(token, context):
            made = replace(token, kind="word", text=f"{token.field}:{token.text}", field="")
            hint = f"{made.text} was read as a word; to filter by it, begin the query with it"
        context.is_sentence |= made.kind == "word" and not made.sign and made.text.endswith(_SENTENCE)
        found.append(made)
        if hint:
            hints[hint] = None
    return found, list(hints)


def plain(read: Sequence[Token]) -> list[Token]:
    """Return the tokens of a query as words, but for the fields that it begins and ends with."""
    first, last = 0, len(read)
    while first < last and read[first].kind == "field":
        first += 1
    while last > first and read[last - 1].kind == "field":
        last -= 1
    inside = []
    for token in read[first:last]:
        if token.kind == "field":
            inside.append(replace(token, kind="word", text=f"{token.field}:{token.text}", field="", sign=""))
        elif token.kind in ("word", "phrase"):
            inside.append(replace(token, kind="word", sign=""))
    return [*read[:first], *inside, *read[last:]]


def _word_at(read: Sequence[Token], place: int) -> str:
    """Return a token's word in lower case, "" if there is none at this place."""
    is_word = 0 <= place < len(read) and read[place].kind == "word" and not read[place].sign
    return read[place].text.lower() if is_word else ""


class _Context:
    """What the other words of a query say about one."""

    def __init__(self, read: Sequence[Token]) -> None:
        self.read = read
        cased = [token.text for token in read if token.kind == "word" and token.text.lower() != token.text.upper()]
        #: Whether the text is in capitals.
        self.is_loud = len(cased) >= CAPITALS and all(text == text.upper() for text in cased)
        words = [token.text.lower() for token in read if token.kind == "word" and not token.sign]
        #: Whether there is an option that can be nothing else: with two dashes, or of one letter, or `-O2`.
        self.has_option = any(word.startswith("--") and word.strip("-") for word in words) or any(
            token.kind == "word" and token.sign == "-" and _is_letter(token.text) for token in read
        )
        #: Whether there is a command whose options are words.
        self.is_worded = not WORDED.isdisjoint(words) or any(
            word in SUBCOMMANDS.get(command, ()) for command, word in pairwise(words)
        )
        #: Whether there is a `find`.
        self.is_find = "find" in words
        #: Whether a word before this place ends like a part of a sentence or a message.
        self.is_sentence = False


def _is_letter(text: str) -> bool:
    return text[0].isalpha() and (len(text) == 1 or (len(text) == SHORT and not text.islower()))


def _operator(token: Token, place: int, context: _Context) -> tuple[Token, str]:
    """Return a `NOT` or `AND`, or the word that it is."""
    before, after = _word_at(context.read, place - 1), _word_at(context.read, place + 1)
    word = replace(token, kind="word", text=token.kind)
    if context.is_loud or (token.kind == "NOT" and (before in BEFORE_NOT or after in AFTER_NOT)):
        return word, ""
    if token.kind == "NOT" and after and len(context.read) == 2:
        return word, f"NOT was read as a word; to list the sessions without {after}: -{after}"
    return token, ""


def _excluded(token: Token, before: Sequence[Token], context: _Context) -> tuple[Token, str]:
    """Return a word after a minus sign, without it if it is an option, a number or code."""
    text = token.text
    is_shaped = _SHAPED.fullmatch(text) is not None
    is_text = len(text) <= SHORT or text[0].isdigit() or is_shaped
    is_text = is_text or context.has_option or context.is_sentence or context.is_worded
    if not (is_text or (context.is_find and text in FINDING) or _is_joined(text, before)):
        return token, ""
    hint = f"-{text} was read as a word; to exclude it: NOT {text}"
    is_told = text.isalpha() and len(text) > 1 and not is_shaped and not context.has_option
    return replace(token, text=f"-{text}", sign=""), hint if is_told else ""


def _is_joined(text: str, before: Sequence[Token]) -> bool:
    """Return whether a word after a minus sign is several options of the command before it: `-xzf`."""
    if len(text) > JOINED or not text.isalpha():
        return False
    words = (one.text.lower() for one in reversed(before) if not (one.kind == "word" and one.text.startswith("-")))
    return next(words, "") in LETTERED


def _is_prose(token: Token, context: _Context) -> bool:
    """Return whether a field is part of a sentence or an address."""
    if token.sign or token.end - token.start != len(token.field) + 1 + len(token.text):  # in quotes
        return False
    if token.text.startswith("//") or (token.field.lower() == "host" and token.text.partition("/")[0].isdigit()):
        return True
    return context.is_sentence or (token.text.endswith(_CLOSING) and token is not context.read[0])
