"""What a shell command wrote, as far as its text tells: here-documents, `tee`, `sed -i`, `echo >`, `mv`, patches.

It is weaker evidence than an edit: a command may fail half-way, and a script that writes a file only contains its text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from .changes import Edit, added, whole
from .patch_text import patched

#: Most characters of a command whose words are split.
LONGEST = 4_000
_HERE = re.compile(
    r"^(?P<before>[^\n]*?)<<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)(?P<after>[^\n]*)\n"
    r"(?P<body>.*?)(?:\n[ \t]*(?P=end)(?=[ \t)'\"]*(?:\n|\Z))|\Z)",
    re.MULTILINE | re.DOTALL,
)
_TARGET = re.compile(r"(?<![0-9&>])(?P<how>>>?)[ \t]*(?P<quote>['\"]?)(?P<path>[^\s'\"<>|;&()]+)(?P=quote)")
_TEE = re.compile(
    r"\btee[ \t]+(?P<how>-a[ \t]+|--append[ \t]+)?(?P<quote>['\"]?)(?P<path>[^\s'\"<>|;&()-][^\s'\"<>|;&()]*)"
)
#: Programs whose words are looked at: to split a command takes half a millisecond.
_WRITES = re.compile(r"\b(?:sed|perl|mv|echo|printf)\b")
_PATCH = "*** Begin Patch"
_SEPARATORS = frozenset(("&&", "||", ";", "|", "&"))
#: A change of directory at the beginning.
_DIRECTORY = re.compile(r"\s*cd[ \t]+['\"]?([^\s'\";&|]+)['\"]?[ \t]*(?:&&|;|\n)")
#: `s/old/new/` of sed and perl.
_REPLACE = re.compile(
    r"s(?P<mark>[/|#,@:!])(?P<old>(?:\\.|(?!(?P=mark)).)*)(?P=mark)(?P<new>(?:\\.|(?!(?P=mark)).)*)(?P=mark)[gimp]*"
)


def commanded(command: str) -> Iterator[Edit]:
    """Yield what a command wrote, and the text of scripts in it."""
    rest = command
    if moved := _DIRECTORY.match(command):
        # What follows is in another directory.
        above = moved[1].rstrip("/")
        for edit in commanded(command[moved.end() :]):
            yield edit._replace(path=_below(above, edit.path), former=_below(above, edit.former))
        return
    for here in _HERE.finditer(command):
        body = here["body"].split("\n")
        rest = rest.replace(here[0], f"{here['before']} {here['after']}")
        if _PATCH in here["body"]:
            yield from (edit._replace(way="command") for edit in patched(body))
            continue
        line = f"{here['before']} {here['after']}"
        target = _TEE.search(line) or _TARGET.search(line)
        if target is None:
            yield added("", body, "script")
        elif (target["how"] or ">").strip() == ">":
            yield whole(target["path"], body, "command")
        else:
            yield added(target["path"], body, "command")
    if len(rest) > LONGEST:
        return
    if _WRITES.search(rest):
        yield from _simple(rest)
    if "\n" in rest.strip():
        yield added("", rest.split("\n"), "script")


def _below(directory: str, path: str) -> str:
    return f"{directory}/{path}" if path and not path.startswith(("/", "~", "$")) else path


def _simple(command: str) -> Iterator[Edit]:
    """Yield the changes of commands of one line."""
    for words in _commands(command):
        name = words[0].rsplit("/", 1)[-1]
        if name == "git" and words[1:2] == ["mv"]:
            name, words = "mv", words[1:]
        plain = [word for word in words[1:] if not word.startswith("-")]
        if name == "mv" and len(plain) == 2:
            source, target = plain
            path = target + source.rsplit("/", 1)[-1] if target.endswith("/") else target
            yield Edit(path, former=source, way="command")
        elif name in ("sed", "perl") and any(re.match(r"-\w*i|--in-place", word) for word in words[1:]):
            found = [(word, _REPLACE.match(word)) for word in plain]
            replaced = tuple((_unescaped(one["old"]), _unescaped(one["new"])) for _, one in found if one)
            for path, one in found if replaced else ():
                if one is None and ("." in path or "/" in path):
                    yield Edit(path, replaced=replaced, way="command")
        elif name in ("echo", "printf") and ">" in "".join(words):
            yield from _printed(words[1:])


def _commands(command: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line, each as words; none if its quotes are not closed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if word in _SEPARATORS:
                if words:
                    yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return  # half a command is no evidence
    if words:
        yield words


def _printed(words: list[str]) -> Iterator[Edit]:
    for number, word in enumerate(words):
        if word in (">", ">>") and number + 1 < len(words):
            text = " ".join(one for one in words[:number] if not re.fullmatch(r"-[neE]+", one))
            lines = text.replace("\\n", "\n").split("\n")
            made = whole if word == ">" else added
            yield made(words[number + 1], lines, "command")
            return


def _unescaped(text: str) -> str:
    """Return the text that a simple pattern or replacement means; "" for one with groups or classes."""
    plain = re.sub(r"\\([/|#,@:!.*\[\]^$&])", r"\1", text)
    return "" if re.search(r"\\[1-9(){}|wdsb]", text) else plain
