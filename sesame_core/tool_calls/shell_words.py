"""Splits a text of a shell into commands and their words, as far as a reader needs; nothing is expanded."""

from __future__ import annotations

import re

#: The beginning of a path of Windows, in which backslashes are what they are.
_DRIVE = re.compile(r"[A-Za-z]:")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>?|<)(?:&\d*-?)?")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][\w.-]*)\1")
#: What ends a command.
_ENDS = ("&&", "||", "|&", ";;", "|", ";", "&", "\n")


def split_commands(text: str) -> list[list[str]]:
    """Return the words of each command of a text."""
    found: list[list[str]] = []
    words: list[str] = []
    word: list[str] = []
    is_open = False  # whether a word has begun, which may be empty: ''
    heredocs: list[str] = []
    place, end = 0, len(text)
    skipping = False  # the target of a redirection

    def close() -> None:
        nonlocal is_open, skipping
        if is_open:
            if not skipping:
                words.append("".join(word))
            skipping = False
        word.clear()
        is_open = False

    def finish() -> None:
        nonlocal skipping
        close()
        skipping = False
        if words:
            found.append(words.copy())
        words.clear()

    while place < end:
        character = text[place]
        if character == "\\" and place + 1 < end:
            if _DRIVE.match("".join(word)):
                word.append(character)
                place += 1
                continue
            if text[place + 1] != "\n":
                word.append(text[place + 1])
                is_open = True
            place += 2
            continue
        if character in "'\"":
            close_at = _quote_end(text, place)
            word.append(
                text[place + 1 : close_at].replace('\\"', '"') if character == '"' else text[place + 1 : close_at]
            )
            is_open, place = True, close_at + 1
            continue
        if character == "`" or text.startswith("$(", place):
            close_at = _substitution_end(text, place)
            word.append(text[place:close_at])
            is_open, place = True, close_at
            continue
        if not is_open and character == "#":
            newline = text.find("\n", place)
            place = end if newline < 0 else newline
            continue
        if heredoc := _HEREDOC.match(text, place) if character == "<" else None:
            close()
            heredocs.append(heredoc[2])
            place = heredoc.end()
            continue
        is_number = not is_open or all(one.isdigit() for one in word)
        if character in "<>" or (character == "&" and text.startswith("&>", place)):
            redirection = _REDIRECTION.match(text, place)
            if is_number:
                word.clear()
                is_open = False
            close()
            matched = redirection[0] if redirection else character
            skipping = not re.search(r"&\d*-?\Z", matched) or matched.startswith("&>")
            place += max(1, len(matched))
            continue
        if ending := next((one for one in _ENDS if text.startswith(one, place)), None):
            finish()
            place += len(ending)
            if ending == "\n":
                for mark in heredocs:
                    closing = re.compile(rf"^\s*{re.escape(mark)}\s*$", re.MULTILINE).search(text, place)
                    place = closing.end() if closing else end
                heredocs.clear()
            continue
        if character.isspace():
            close()
        elif character in "()" and not is_open:
            finish()
        else:
            word.append(character)
            is_open = True
        place += 1
    finish()
    return found


def _quote_end(text: str, place: int) -> int:
    """Return where the quotes that begin at a place end; the end of the text if they do not."""
    quote = text[place]
    at = place + 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
            continue
        if text[at] == quote:
            return at
        if quote == '"' and text.startswith("$(", at):
            at = _substitution_end(text, at)
            continue
        at += 1
    return len(text)


def _substitution_end(text: str, place: int) -> int:
    """Return the place after a substitution that begins at a place."""
    if text[place] == "`":
        closing = text.find("`", place + 1)
        return len(text) if closing < 0 else closing + 1
    depth, at = 0, place + 1
    while at < len(text):
        character = text[at]
        if character in "'\"":
            at = _quote_end(text, at)
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text)
