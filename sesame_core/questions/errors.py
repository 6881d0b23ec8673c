"""The lines that say what went wrong, without what differs from run to run.

Numbers, times, hashes, paths and colours are left out of a line's key, so that an error in another file, on another
machine or on another day is the same error; names and messages stay.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from ..dataclass import dataclass
from ..text.folding import without_escapes

#: Most lines of a pasted text that are looked for: those that say most.
LINES = 3
#: Lines of a text that are read, the last: what failed is at the end of a log.
READ = 2_000
#: Characters of a line that are compared: longer ones are data.
LONGEST = 400

_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[\d.,:+Z-]*|\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AP]M)?\b"
)
#: A path; and a file's name with a place in it: `app.ts:12:3`, `app.ts(12,3)`.
_PATH = re.compile(
    r"(?:\b[A-Za-z]:)?(?:[\w.~@+%-]*[/\\])+[\w.@+%*-]*(?::\d+){0,2}"
    r"|\b[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,4}(?::\d+|\(\d+)[\d:,)]*"
)
_HASH = re.compile(
    r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b", re.I
)
_NUMBER = re.compile(r"\d+(?:ms|s|m|h|kb|mb|gb|k|b)?\Z")
_TOKEN = re.compile(r"[^\W_]+(?:[_'][^\W_]+)*|[#/]")

#: What begins or names an error, whatever the tool; these are seldom anything else.
_STRONG = re.compile(
    "|".join(
        (
            r"\b(?:[A-Za-z]\w*)?(?:Error|Exception)\b ?(?:\[\w+\])?:",
            r"\b(?:error|fatal|panic|ERROR|FATAL|ERR!)\b ?(?:\[\w+\])?:",
            r"\berror (?:TS|MD|CS)\d+",
            r"\b(?:undefined|undeclared|unresolved|(?:illegal|invalid) option|unrecognized \w+)\b",
            r"\bunknown (?:flag|option|command|argument)\b",
            r"\bcommand not found\b|\bNo such file or directory\b|\bPermission denied\b|\bnot recognized as\b",
            r"\b(?:connection|permission) (?:refused|denied)\b|\bE(?:ADDRINUSE|NOENT|ACCES|CONNREFUSED|PERM)\b",
            r"\bNo module named\b|\bSegmentation fault\b",
            r"^\s*(?:E   |npm ERR!|! \[|CONFLICT \()|--- FAIL: ",
            r"\b(?:cannot|could not|can't|couldn't|unable to|failed to|is not|not allowed to) \w+|\bcan not use\b",
            # A linter's line: the place, and at its end the name of the rule.
            r":\d+:\d+: .*\(\w{4,20}\)\s*\Z",
        )
    )
)
_WEAK = re.compile(
    r"(?i)\b(?:errors?|fail(?:ed|ure|s)?|fatal|panic(?:ked)?|denied|missing|invalid|unexpected|expected|undefined|"
    r"unsupported|rejected|conflict|timed? ?out|timeout|exceeded|refused|aborted|illegal|not found|already exists|"
    r"already in use|already used|ignored by|does not exist|no such|unused|cannot|deprecated|forbidden|unauthorized|"
    r"not formatted|mismatch|crashed)\b"
)
#: Lines that many failures share: they say that something failed, and not what.
_GENERIC = re.compile(
    r"(?i)\A\W*(?:"
    + "|".join(
        (
            r"Traceback \(most recent|Exit code:? ?\d|Process exited with|exit(?:ed)? (?:status|code)",
            r"FAIL(?:ED)?\W*\Z|FAIL\t|make(?:\[\d+\])?: \*\*\*|error: Recipe|build failed",
            r"npm (?:ERR!|error) (?:code|errno|path|command|A complete log|Lifecycle)",
            r"ERROR task failed|(?:error )?Command failed|Error: Process completed|##\[error\]Process",
            r"error: script \S+ exited with code|ELIFECYCLE\b|(?:husky|lefthook) .*failed|subprocess-exited-with-error",
            r"Found \d+ (?:errors?|warnings?)|\d+ (?:errors?|issues?|problems?)\b",
            r"hint:|note:|warning:|usage:|For more information",
            r"\[\w[\w:.-]*\] (?:ERROR task failed|\$ )",
        )
    )
    + ")"
)


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """A line that says what went wrong."""

    #: On one line, without colours.
    text: str
    #: The words that do not differ from run to run, in lower case; `#` for a number, `/` for a path.
    key: tuple[str, ...]
    #: The words of the key.
    words: tuple[str, ...]

    @property
    def cause(self) -> str:
        """The words as one string: equal for the same error."""
        return " ".join(self.words)


def error_line(text: str) -> ErrorLine:
    """Return a line as an error."""
    plain = " ".join(without_escapes(text).split())
    return ErrorLine(plain, *_key(plain[:LONGEST]))


@functools.lru_cache(maxsize=8192)
def _key(plain: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the key of a line, and its words."""
    text = _TIME.sub(" # ", plain)
    text = _PATH.sub(lambda path: " / " if any(map(str.isalnum, path[0])) else path[0], text)
    text = _HASH.sub(" # ", text)
    found = []
    for token in _TOKEN.findall(text.lower()):
        found.append("#" if _NUMBER.match(token) else token)
    return tuple(found), tuple(word for word in found if word not in "#/")


def asked_lines(text: str) -> list[ErrorLine]:
    """Return the lines of a pasted error that are looked for, the most telling first; if it has none, all."""
    return _most_telling(_rated(text))


def telling(text: str) -> ErrorLine | None:
    """Return the line of an output that says best what went wrong; None if none does."""
    rated = _rated(text)
    return next(iter(_most_telling(rated)), None) if any(strength for strength, _ in rated) else None


def _most_telling(rated: Sequence[tuple[int, ErrorLine]]) -> list[ErrorLine]:
    chosen = [(strength, line) for strength, line in rated if strength and len(line.words) > 1]
    if not chosen:
        chosen = [(1, line) for _, line in rated if line.words]
    chosen.sort(key=lambda each: (-each[0], -min(len(each[1].words), 6)))
    unique = {line.cause: line for _, line in reversed(chosen)}
    order = list(dict.fromkeys(line.cause for _, line in chosen))
    return [unique[cause] for cause in order[:LINES]]


def _rated(text: str) -> list[tuple[int, ErrorLine]]:
    found = []
    for raw in unescaped(text).split("\n")[-READ:]:
        plain = without_escapes(raw[: 2 * LONGEST])
        if plain.strip():
            found.append((strength(plain), error_line(plain)))
    return found


def strength(line: str) -> int:
    """Return how surely a line says what went wrong: 2 if it is seldom anything else, 0 if it does not."""
    if _GENERIC.search(line):
        return 0
    return 2 if _STRONG.search(line) else 1 if _WEAK.search(line) else 0


def unescaped(text: str) -> str:
    r"""Return a text whose line feeds are written as `\n`, as in JSON, with line feeds; of the same length."""
    return text.replace("\\n", " \n") if text.count("\\n") > text.count("\n") else text
