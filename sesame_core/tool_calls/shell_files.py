"""The files that a shell's command names, and which of them it changes.

Not a shell: variables and patterns stay as they are written, and what a program does with a file is known of common
programs only.  A file that any other program gets is named, and not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .commands import Command, all_commands, joined
from .patches import patched_files
from .script_files import files_of_script, is_path

#: Programs that change each file that they are given, those that write the last one only, and those that change files
#: with one of these options.
_CHANGES = frozenset("rm rmdir unlink shred truncate touch tee sponge patch ed ex mv".split()) | {
    *("remove-item", "set-content", "add-content", "out-file", "clear-content", "new-item", "move-item", "rename-item"),
    *("del", "ren", "move"),
}
_COPIES = frozenset(("cp", "install", "ln", "rsync", "copy-item", "copy"))
_IN_PLACE = {
    "sed": r"-[a-zA-Z]*i|--in-place",
    "gsed": r"-[a-zA-Z]*i|--in-place",
    "perl": r"-[a-zA-Z]*i",
    "ruby": r"-[a-zA-Z]*i",
    "gofmt": r"-[a-z]*w",
    "goimports": r"-[a-z]*w",
    "gofumpt": r"-[a-z]*w",
    "shfmt": r"-[a-z]*w",
    "prettier": r"--write|-w",
    "eslint": r"--fix",
    "biome": r"--write|--fix|--apply",
    "yq": r"-[a-z]*i|--inplace",
    "clang-format": r"-i",
    "autopep8": r"-i|--in-place",
    "sort": r"-o",
}
#: Formatters without such an option, the second word of a program with several commands, and the options by which they
#: change nothing.
_FORMATS = frozenset(("black", "isort", "rustfmt", "ruff", "swiftformat"))
_ONLY_CHECKS = ("--check", "--diff", "-l", "-d", "check", "--dry-run")
#: Commands of git that do; what only takes changes back (`checkout`, `restore`) leaves nobody's work.
_GIT = frozenset(("mv", "rm"))
#: What runs another program that a package has.
_MANAGERS = frozenset("pnpm yarn bun uv poetry run dlx".split())
#: Programs that read a program of their own: from their input, or from an argument.
_INTERPRETERS = re.compile(r"(?:python[\d.]*|node|deno|bun|ruby|perl|php|bash|sh|zsh|pwsh)(?:\.exe)?$")
#: Programs whose first argument is an expression, and what one looks like.
_EDITORS = ("sed", "gsed", "perl")
_EXPRESSION = re.compile(r"(?:[sy]|tr)([/|#,:!@]).*\1|/.*/[a-z]*$|[\d,$]+[a-z]+$")
#: Options whose value is a text, and what follows a path: a test, a line.
_SAID = frozenset(("-m", "--message", "-am", "--title", "--body", "--grep", "-e", "--regexp", "-run", "-k"))
_PLACE = re.compile(r"(?<=\w)(?:::\S+|:\d[\d:-]*)$")


def files_of_command(command: str, directory: str | None = None) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command names and whether it changes them, relative ones below the directory it is in.

    :param directory: where it starts.
    """
    found = all_commands(command)
    scripts = [body for one in found for body in one.bodies]
    for one in found:
        place = joined(directory or "", one.directory)
        for path, is_changed in _named(one, scripts):
            yield joined(place, path), is_changed


def _named(one: Command, scripts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command names, as it writes them."""
    yield from ((written.path, True) for written in one.written if is_path(written.path))
    yield from ((path, False) for path in one.read if is_path(path))
    words = _without_manager(one.words)
    name = words[0].lower() if words else ""
    is_script = bool(_INTERPRETERS.match(name))
    given = (_PLACE.sub("", word) if ":" in word else word for before, word in pairwise(words) if before not in _SAID)
    named = [word for word in given if is_path(word) and not (is_script and " " in word)]
    if name in _EDITORS:
        named = [word for word in named if not _EXPRESSION.match(word)]
    if named:
        yield from zip(named, _changed(name, words[1:], named), strict=True)
    if is_script:
        for script in [*scripts, *(word for word in words[1:] if "\n" in word or " " in word or "(" in word)]:
            yield from files_of_script(script)
    if name in ("git", "apply_patch", "applypatch", "patch"):
        yield from ((path, True) for script in scripts for path in patched_files(script))


def _without_manager(words: Sequence[str]) -> Sequence[str]:
    """Return a command without a package manager in front, which runs what is installed under the next name."""
    first = 0
    while first < len(words) and (words[first] in _MANAGERS or (first and words[first].startswith("-"))):
        first += 1
    return words[first:]


def _changed(name: str, arguments: Sequence[str], named: Sequence[str]) -> list[bool]:
    """Return of each file that a program gets whether the program changes it."""
    options = [word for word in arguments if word.startswith("-")]
    if name in ("git", "jj", "hg") and arguments:
        doing = next((word for word in arguments if not word.startswith("-")), "")
        if doing not in _GIT:
            return [False] * len(named)
        return [doing != "rm" or "--cached" not in options for _ in named]
    if name in _COPIES:
        return [False] * (len(named) - 1) + [True] * bool(named)
    if name in _FORMATS:
        is_check = any(word in _ONLY_CHECKS for word in arguments) and "--fix" not in options
        return [not is_check] * len(named)
    if pattern := _IN_PLACE.get(name):
        is_in_place = any(re.match(rf"(?:{pattern})", option) for option in options)
        if name == "sort":
            after = dict(pairwise(arguments)).get("-o")
            return [path == after for path in named]
        return [is_in_place] * len(named)
    return [name in _CHANGES] * len(named)
