"""Splits a text of a shell into simple commands: words, redirections and texts of each; nothing is expanded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .programs import GRAMMAR
from .quoting import HEREDOC, body_end, quote_end, substitution_end

#: Characters that mean nothing, and the blanks after them, which end the word.
_PLAIN = re.compile(r"([^\s\\'\"`$#&|;<>()]+)([ \t]*)")
#: The beginning of a path of Windows, in which backslashes are what they are.
_DRIVE = re.compile(r"[A-Za-z]:")
_REDIRECTION = re.compile(r"(?:&>>?|>>?\|?|<>?)(?:&(?:\d+|-))?")
#: What ends a command.
_ENDS = re.compile(r"&&|\|\||\|&|;;|[|;&\n]")
#: What a backslash in double quotes is in front of, if it means something.
_ESCAPED = re.compile(r"\\([\\\"$`])|\\\n")
_ANSI = {"n": "\n", "t": "\t", "r": "\r"}


class Written(NamedTuple):
    """A file into which a command writes."""

    path: str
    #: It keeps what it has.
    is_added: bool
    #: What is written: "" and "1" are the output, "2" errors, "&" both.
    stream: str


class Simple:
    """One simple command."""

    __slots__ = ("bodies", "inner", "is_cut", "is_piped", "read", "words", "written")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.written: list[Written] = []
        #: Files that are its input.
        self.read: list[str] = []
        #: Texts that are its input: heredocs and here-strings.
        self.bodies: list[str] = []
        #: The commands of its substitutions.
        self.inner: list[str] = []
        #: Its output is the input of the next one.
        self.is_piped = False
        #: A quote in it has no end.
        self.is_cut = False


def split_commands(text: str) -> list[Simple]:
    """Return the simple commands of a text, in order, also those that only have redirections."""
    return _Splitter(text).commands()


class _Splitter:
    """One text on its way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[Simple] = []
        self._one = Simple()
        self._word: list[str] = []
        #: Whether a word has begun, which may be empty: ''.
        self._is_open = False
        #: Parentheses in the word.
        self._depth = 0
        #: Open parentheses around arguments.
        self._parentheses = 0
        #: What takes the next word, if that is no word of the command.
        self._sink: Callable[[str], None] | None = None
        self._heredocs: list[tuple[str, Simple]] = []

    def commands(self) -> list[Simple]:
        text, end, place = self._text, len(self._text), 0
        while place < end:
            if plain := _PLAIN.match(text, place):
                self._add(plain[1])
                if plain[2]:
                    self._close()
                place = plain.end()
                continue
            character = text[place]
            if character == " ":
                self._close()
                place += 1
            elif character in "\\`$'\"":
                place = self._quoted(character, place)
            elif character == "#" and not self._is_open:
                newline = text.find("\n", place)
                place = end if newline < 0 else newline
            elif character in "<>" or text.startswith("&>", place):
                place = self._redirected(place)
            elif ending := _ENDS.match(text, place):
                self._finish(is_piped=ending[0] in ("|", "|&"))
                place = ending.end()
                if ending[0] == "\n":
                    place = self._bodies(place)
            elif character.isspace():
                self._close()
                place += 1
            elif character == "(" and self._is_open:
                self._depth += 1
                self._add(character)
                place += 1
            elif character == ")" and self._depth:
                self._depth -= 1
                self._add(character)
                place += 1
            elif character == "(" and self._is_argument(place):
                self._parentheses += 1
                self._add(character)
                self._close()
                place += 1
            elif character == ")" and self._parentheses:
                self._close()
                self._parentheses -= 1
                place += 1
            elif character in "()":
                self._finish()
                place += 1
            else:
                self._add(character)
                place += 1
        self._finish()
        return self._found

    def _add(self, text: str) -> None:
        self._word.append(text)
        self._is_open = True

    def _close(self) -> None:
        """End a word."""
        if self._is_open:
            (self._sink or self._one.words.append)("".join(self._word))
            self._sink = None
        self._word.clear()
        self._is_open, self._depth = False, 0

    def _is_argument(self, place: int) -> bool:
        """Return whether a parenthesis is around arguments, as in PowerShell, and not around commands."""
        is_function = self._text.startswith("()", place)
        return not is_function and any(word not in GRAMMAR for word in self._one.words)

    def _finish(self, *, is_piped: bool = False) -> None:
        """End a command."""
        self._close()
        self._sink, self._parentheses = None, 0
        one = self._one
        if one.words or one.written or one.read or one.bodies or any(of is one for _, of in self._heredocs):
            one.is_piped = is_piped
            self._found.append(one)
            self._one = Simple()

    def _quoted(self, character: str, place: int) -> int:
        """Read what begins with a quote, a backslash or a dollar; return the place after it."""
        text = self._text
        if character == "\\":
            after = text[place + 1 : place + 2]
            if after == "\n":
                return place + 2
            # Before a letter it is kept, as in `src\a.py` of Windows.
            if not after or after.isalnum() or after == "_" or (self._word and _DRIVE.match(self._word[0])):
                self._add(character)
                return place + 1
            self._add(after)
            return place + 2
        if character == "`" and text.startswith("`\n", place):
            return place + 2  # how PowerShell continues a line
        if character == "`" or text.startswith("$(", place):
            end = substitution_end(text, place)
            self._substituted(text[place:end])
            self._add(text[place:end])
            return end
        if text.startswith("$'", place):
            close = re.compile(r"(?:\\.|[^'\\])*", re.DOTALL).match(text, place + 2)
            assert close is not None
            self._add(re.sub(r"\\(.)", lambda found: _ANSI.get(found[1], found[1]), close[0], flags=re.DOTALL))
            self._one.is_cut = self._one.is_cut or close.end() >= len(text)
            return close.end() + 1
        if character == "$":
            self._add(character)
            return place + 1
        close_at = quote_end(text, place, self._substituted)
        value = text[place + 1 : close_at]
        self._add(_ESCAPED.sub(lambda found: found[1] or "", value) if character == '"' and "\\" in value else value)
        self._one.is_cut = self._one.is_cut or close_at >= len(text)
        return close_at + 1

    def _substituted(self, text: str) -> None:
        if text.startswith("$((") or len(text) < 3 or text[-1] not in ")`":
            return
        self._one.inner.append(text[1:-1] if text[0] == "`" else text[2:-1])

    def _redirected(self, place: int) -> int:
        """Read a redirection; return the place after it."""
        text = self._text
        if text.startswith(("<(", ">("), place):
            end = substitution_end(text, place)
            self._substituted(text[place:end])
            self._add(text[place:end])
            return end
        is_number = self._is_open and all(one.isdigit() for one in self._word)
        stream = "".join(self._word) if is_number else ""
        if is_number:
            self._word.clear()
            self._is_open = False
        self._close()
        one = self._one
        if text.startswith("<<<", place):
            self._sink = one.bodies.append
            return place + 3
        if heredoc := HEREDOC.match(text, place):
            self._heredocs.append((heredoc[1] or heredoc[2] or heredoc[3], one))
            return heredoc.end()
        found = _REDIRECTION.match(text, place)
        assert found is not None
        if "&" in found[0][1:]:
            return found.end()
        if found[0][0] == "<":
            self._sink = one.read.append
            return found.end()
        is_added, stream = ">>" in found[0], "&" if found[0][0] == "&" else stream
        self._sink = lambda path: one.written.append(Written(path, is_added, stream))
        # `>& file` is the same as `&> file`.
        return found.end() + text.startswith("&", found.end())

    def _bodies(self, place: int) -> int:
        """Read the heredocs that begin on the next line; return the place after them."""
        for mark, one in self._heredocs:
            end, after = body_end(self._text, place, mark)
            one.bodies.append(self._text[place:end].removesuffix("\n"))
            place = after
        self._heredocs.clear()
        return place
