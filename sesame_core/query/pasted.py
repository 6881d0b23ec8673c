"""Which operators, signs and fields of a query are part of a text that was pasted: of a command, an error, a sentence.

Each rule looks at the tokens alone, so that a query means the same in every index:

    -x         is a word if it has one or two characters, begins with a digit, has a `=`, or is an option: of a command
               (`tar -xzf`), or of a query with options that are none but options (`--all -prune`)
    +x         is a word if it has one character or begins with a digit
    NOT, AND   are words in a text in capitals; NOT is also one beside a word that it belongs to (`is NOT`, `NOT NULL`),
               and before the only word of a query
    field:x    is a word after a word with a colon or a comma (`Error: path:/x`), and as an address (`file:///x`)

What they cannot know, `search.operators` finds out from the texts of the sessions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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

#: An option of the Java machine (`-Xmx4g`, `-XX:+UseG1GC`), and letters of options in lower and upper case (`-sSL`).
_SHAPED = re.compile(r"X[a-z]{2,}\d+[kKmMgGtT]?|XX:.+|[IL]/.+|[a-hj-z]{1,2}S[A-Z]?[a-z]?")
_SENTENCE = (":", ",", ";")
_CLOSING = (",", ";", ")", "]", "}", "'")


def meant(read: Sequence[Token]) -> tuple[list[Token], list[str]]:
    """Return the tokens of a query with those as words that are part of a pasted text.

    :return: also messages about those that might have been meant otherwise.
    """
    hints: list[str] = []
    is_loud = _is_in_capitals(read)
    commands = _commands(read)
    found: list[Token] = []
    for place, token in enumerate(read):
        before, after = _word_at(read, place - 1), _word_at(read, place + 1)
        if token.kind in ("NOT", "AND") and is_loud:
            token = replace(token, kind="word", text=token.kind)
        elif token.kind == "NOT" and (before in BEFORE_NOT or after in AFTER_NOT):
            token = replace(token, kind="word", text="NOT")
        elif token.kind == "NOT" and after and len(read) == 2:
            hints.append(f"NOT was read as a word; to list the sessions without {after}: -{after}")
            token = replace(token, kind="word", text="NOT")
        elif (
            token.kind == "word"
            and token.sign == "-"
            and (_is_option(token.text, commands) or _is_joined(token, found))
        ):
            if not commands and token.text.isalpha() and len(token.text) == SHORT:
                hints.append(f"-{token.text} was read as a word; to exclude it: NOT {token.text}")
            elif token.text.isalpha() and len(token.text) > SHORT:
                hints.append(f"-{token.text} was read as an option; to exclude the word: NOT {token.text}")
            token = replace(token, text=f"-{token.text}", sign="")
        elif token.kind == "word" and token.sign == "+" and (len(token.text) == 1 or token.text[0].isdigit()):
            token = replace(token, text=f"+{token.text}", sign="")
        elif token.kind == "field" and _is_prose(token, read[:place]):
            token = replace(token, kind="word", text=f"{token.field}:{token.text}", field="")
            hints.append(f"{token.text} was read as a word; to filter by it, begin the query with it")
        found.append(token)
    return found, hints


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


def _is_in_capitals(read: Sequence[Token]) -> bool:
    texts = [token.text for token in read if token.kind in ("word", "phrase")]
    cased = [text for text in texts if text.lower() != text.upper()]
    return len(cased) >= CAPITALS and all(text == text.upper() for text in cased)


def _commands(read: Sequence[Token]) -> set[str]:
    """Return the commands in a query, and "-" if it has an option that can be nothing else."""
    words = {token.text.lower() for token in read if token.kind == "word" and not token.sign}
    found = words & {*LETTERED, *WORDED, "find"}
    letters = {t.text for t in read if t.kind == "word" and t.sign == "-" and len(t.text) == 1 and t.text.isalpha()}
    if letters or any(word.startswith("--") and word.strip("-") for word in words):
        found.add("-")
    return found


def _is_option(text: str, commands: set[str]) -> bool:
    """Return whether a word after a minus sign is an option or a number."""
    if len(text) <= SHORT or text[0].isdigit() or "=" in text or _SHAPED.fullmatch(text):
        return True
    return "-" in commands or bool(commands & WORDED) or ("find" in commands and text in FINDING)


def _is_joined(token: Token, before: Sequence[Token]) -> bool:
    """Return whether a word after a minus sign is several options of the command before it: `-xzf`."""
    if len(token.text) > JOINED or not token.text.isalpha():
        return False
    words = (one.text.lower() for one in reversed(before) if not (one.kind == "word" and one.text.startswith("-")))
    return next(words, "") in LETTERED


def _is_prose(token: Token, before: Sequence[Token]) -> bool:
    """Return whether a field is part of a sentence or an address."""
    if token.sign or token.end - token.start != len(token.field) + 1 + len(token.text):  # in quotes
        return False
    if token.text.startswith("//") or (token.field.lower() == "host" and token.text.partition("/")[0].isdigit()):
        return True
    after_sentence = any(t.kind == "word" and not t.sign and t.text.endswith(_SENTENCE) for t in before)
    return after_sentence or (token.text.endswith(_CLOSING) and bool(before))
