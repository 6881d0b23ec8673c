"""The files that a shell's command names, and which of them it changes.

Not a shell: variables and patterns stay as they are written, and what a program does with a file is known of common
programs only.  A file that any other program gets is named, and not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

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
#: What runs another program.
_BEFORE = frozenset("sudo env time nohup command exec xargs nice npx pnpm yarn bunx uv uvx poetry run dlx".split())
#: Programs that read a program of their own: from their input, or from an argument.
_INTERPRETERS = re.compile(r"(?:python[\d.]*|node|deno|bun|ruby|perl|php|bash|sh|zsh|pwsh)(?:\.exe)?$")
#: Programs whose first argument is an expression, and what one looks like.
_EDITORS = ("sed", "gsed", "perl")
_EXPRESSION = re.compile(r"(?:[sy]|tr)([/|#,:!@]).*\1|/.*/[a-z]*$|[\d,$]+[a-z]+$")
#: Options whose value is a text, and what follows a path: a test, a line.
_SAID = frozenset(("-m", "--message", "-am", "--title", "--body", "--grep", "-e", "--regexp", "-run", "-k"))
_PLACE = re.compile(r"(?<=\w)(?:::\S+|:\d[\d:-]*)$")
_HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_TOKEN = re.compile(
    r"(?P<end>&&|\|\|?|;+|\n|(?<![<>\d])&(?!>))|(?P<out>\d?&?>{1,2}\|?(?!&\d)|\d?>&\d)|(?P<into><)"
    r"|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s'\"|&;<>])+)|(?P<rest>['\"])"
)
_ESCAPED = re.compile(r"\\(?=[ '\"()&;$])")


def files_of_command(command: str, directory: str | None = None) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command names and whether it changes them, relative ones below the directory it is in.

    :param directory: where it starts.
    """
    place = directory
    scripts: list[str] = []

    def without_body(match: re.Match[str]) -> str:
        scripts.append(match[4])
        return match[3] + "\n"

    for words, written, read in _parts(_HEREDOC.sub(without_body, command)):
        words = _program(words)
        name = re.split(r"[/\\]", words[0])[-1].lower() if words else ""
        if name in ("cd", "pushd", "set-location") and len(words) > 1:
            place = _joined(place, words[-1])
            continue
        yield from ((_joined(place, path), True) for path in written if is_path(path))
        yield from ((_joined(place, path), False) for path in read if is_path(path))
        is_script = bool(_INTERPRETERS.match(name))
        given = (_PLACE.sub("", word) for before, word in pairwise(words) if before not in _SAID)
        named = [word for word in given if is_path(word) and not (is_script and " " in word)]
        if name in _EDITORS:
            named = [word for word in named if not _EXPRESSION.match(word)]
        for path, is_changed in zip(named, _changed(name, words[1:], named), strict=True):
            yield _joined(place, path), is_changed
        if is_script:
            for script in [*scripts, *(word for word in words[1:] if "\n" in word or " " in word or "(" in word)]:
                yield from ((_joined(place, path), is_changed) for path, is_changed in files_of_script(script))
        if name in ("git", "apply_patch", "applypatch", "patch"):
            yield from ((_joined(place, path), True) for script in scripts for path in patched_files(script))


def _parts(command: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield the words of each simple command, the files into which its output goes, and those that are its input."""
    words: list[str] = []
    written: list[str] = []
    read: list[str] = []
    target: list[str] | None = None
    for match in _TOKEN.finditer(command):
        if match["end"]:
            if words or written or read:
                yield words, written, read
            words, written, read, target = [], [], [], None
        elif match["out"]:
            target = None if "&" in match["out"][1:] else written
        elif match["into"]:
            target = read
        elif match["word"]:
            (words if target is None else target).append(_unquoted(match["word"]))
            target = None
    if words or written or read:
        yield words, written, read


def _program(words: list[str]) -> list[str]:
    """Return a command from its program on: without variables, and without what only runs it."""
    first = 0
    while first < len(words) and (
        words[first] in _BEFORE
        or re.match(r"[A-Za-z_]\w*=", words[first])
        or words[first] in ("(", "{", "then", "do", "else", "!")
        or (first and words[first].startswith("-") and words[first - 1] in _BEFORE)
    ):
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


def _unquoted(word: str) -> str:
    if "'" in word or '"' in word:
        word = re.sub(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", lambda m: m[1] if m[1] is not None else m[2] or "", word)
    return _ESCAPED.sub("", word).rstrip(")") if "\\" in word or word.endswith(")") else word


def _joined(place: str | None, path: str) -> str:
    """Return a path below a directory, unless it is absolute, or the directory is not known."""
    if place is None or path.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", path):
        return path
    return f"{place.rstrip('/')}/{path.removeprefix('./')}"
