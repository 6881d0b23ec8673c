"""What a shell command wrote, as far as its text tells: here-documents, `tee`, `sed -i`, `echo >`, `mv`, patches.

It is weaker evidence than an edit: a command may fail half-way, and a script that writes a file only contains its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .changes import Edit, added, whole
from .commands import Command, all_commands, joined
from .patches import patched
from .programs import INTERPRETERS

#: What a command has that may write: others are not split.
_WRITES = re.compile(r"\b(?:sed|perl|mv|echo|printf|tee)\b|\n")
_PATCH = "*** Begin Patch"
_OUTPUT = ("", "1")
#: `s/old/new/` of sed and perl.
_REPLACE = re.compile(
    r"s(?P<mark>[/|#,@:!])(?P<old>(?:\\.|(?!(?P=mark)).)*)(?P=mark)(?P<new>(?:\\.|(?!(?P=mark)).)*)(?P=mark)[gimp]*"
)


def commanded(command: str) -> Iterator[Edit]:
    """Yield what a command wrote, and the text of scripts in it."""
    if not _WRITES.search(command):
        return
    found = all_commands(command)
    for number, one in enumerate(found):
        for edit in _written(one, found[number:]):
            yield edit._replace(path=_below(one, edit.path), former=_below(one, edit.former))


def _below(one: Command, path: str) -> str:
    return joined(one.directory, path) if path and one.directory else path


def _written(one: Command, following: Sequence[Command]) -> Iterator[Edit]:
    """Yield what a command wrote.

    :param following: the command, and those after it.
    """
    program = one.words[0] if one.words else ""
    for body in one.bodies:
        yield from _taken(body, program, following)
    yield from (added("", word.split("\n"), "script") for word in one.words[1:] if "\n" in word)
    if one.is_cut:
        return  # half a command is no evidence
    plain = [word for word in one.words[1:] if not word.startswith("-")]
    if program == "mv" or one.name == ("git", "mv"):
        after = plain[plain.index("mv") + 1 :] if program == "git" else plain
        if len(after) == 2:
            former, target_name = after
            path = target_name + former.rsplit("/", 1)[-1] if target_name.endswith("/") else target_name
            yield Edit(path, former=former, way="command")
    elif program in ("sed", "perl") and any(re.match(r"-\w*i|--in-place", word) for word in one.words[1:]):
        expressions = [(word, _REPLACE.match(word)) for word in plain]
        replaced = tuple((_unescaped(found["old"]), _unescaped(found["new"])) for _, found in expressions if found)
        for path, found in expressions if replaced else ():
            if found is None and ("." in path or "/" in path):
                yield Edit(path, replaced=replaced, way="command")
    elif program in ("echo", "printf") and (target := _target(following)):
        text = " ".join(word for word in one.words[1:] if not re.fullmatch(r"-[neE]+", word))
        lines = text.replace("\\n", "\n").split("\n")
        yield (added if target[1] else whole)(target[0], lines, "command")


def _taken(body: str, program: str, following: Sequence[Command]) -> Iterator[Edit]:
    """Yield what becomes of a text that is the input of a command."""
    lines = body.split("\n")
    if _PATCH in body or program in ("git", "patch"):
        yield from (edit._replace(way="command") for edit in patched(lines))
        return
    target = None if program in INTERPRETERS else _target(following)
    if target is None:
        yield added("", lines, "script")
    else:
        yield (added if target[1] else whole)(target[0], lines, "command")


def _target(commands: Sequence[Command]) -> tuple[str, bool] | None:
    """Return the file into which the output of the first command goes, and whether it keeps what it has."""
    found = None
    for one in commands:
        if one.words[:1] == ("tee",) and (files := [word for word in one.words[1:] if not word.startswith("-")]):
            return files[0], bool({"-a", "--append"}.intersection(one.words))
        outputs = [written for written in one.written if written.stream in _OUTPUT]
        found = found or next(((written.path, written.is_added) for written in outputs), None)
        if not one.is_piped:
            return found
    return found


def _unescaped(text: str) -> str:
    """Return the text that a simple pattern or replacement means; "" for one with groups or classes."""
    plain = re.sub(r"\\([/|#,@:!.*\[\]^$&])", r"\1", text)
    return "" if re.search(r"\\[1-9(){}|wdsb]", text) else plain
