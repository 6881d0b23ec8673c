"""The lines that say what went wrong, compared without what differs from run to run.

Numbers, times, hashes, paths and colours are left out of a line's key, so that an error in another file, on another
machine or on another day is the same error; names and messages stay.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from ..dataclass import dataclass
from ..text.folding import without_escapes

#: Most lines of a pasted text that are looked for: those that say most.
LINES = 3
#: Lines of a text that are read, the last: what failed is at the end of a log.
READ = 2_000
#: Characters of a line that are compared: longer ones are data.
LONGEST = 400
#: Share of the words of an error, by rarity, that a line has which is like it.
ALIKE = 0.7
#: Words that a line has besides those of the error, at most, to be the same one with something around it.
AROUND = 12

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


class Level(IntEnum):
    """How far a line is an error that was asked for."""

    NONE = 0
    LIKE = 1
    #: The same but for numbers, paths and what is around it.
    SAME = 2


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """A line that says what went wrong."""

    #: On one line, without colours.
    text: str
    #: The words that do not differ from run to run, in lower case; `#` for a number, `/` for a path.
    key: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the key."""
        return tuple(word for word in self.key if word not in "#/")

    @property
    def cause(self) -> str:
        """The words as one string: equal for the same error."""
        return " ".join(self.words)


def error_line(text: str) -> ErrorLine:
    """Return a line as an error."""
    plain = " ".join(without_escapes(text).split())
    return ErrorLine(plain, _key(plain[:LONGEST]))


@functools.lru_cache(maxsize=8192)
def _key(plain: str) -> tuple[str, ...]:
    text = _TIME.sub(" # ", plain)
    text = _PATH.sub(lambda path: " / " if any(map(str.isalnum, path[0])) else path[0], text)
    text = _HASH.sub(" # ", text)
    found = []
    for token in _TOKEN.findall(text.lower()):
        found.append("#" if _NUMBER.match(token) else token)
    return tuple(found)


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
    for raw in _unescaped(text).split("\n")[-READ:]:
        plain = without_escapes(raw[: 2 * LONGEST])
        if plain.strip():
            found.append((_strength(plain), error_line(plain)))
    return found


def _strength(line: str) -> int:
    if _GENERIC.search(line):
        return 0
    return 2 if _STRONG.search(line) else 1 if _WEAK.search(line) else 0


class Wanted:
    """An error that is looked for in texts.

    :param lines: its lines, the most telling first.
    :param rarity: how much each word tells; words that are missing tell by their length.
    """

    def __init__(self, lines: Sequence[ErrorLine], rarity: Mapping[str, float] | None = None) -> None:
        self.lines = tuple(lines)
        rarity = rarity or {}
        self.weights = {word: rarity.get(word, min(len(word), 10) / 2) for line in self.lines for word in line.words}
        self._totals = [sum(self.weights[word] for word in set(line.words)) or 1.0 for line in self.lines]
        #: For each line its words that tell most: a line of a text without any is not compared.
        self._anchors = [sorted(set(line.words), key=lambda word: -self.weights[word])[:3] for line in self.lines]

    def find(self, text: str, least: Level = Level.LIKE) -> tuple[Level, float, ErrorLine] | None:
        """Return how far a text has the error, the share of its words, and the line; None if it does not have it."""
        best: tuple[Level, float, ErrorLine] | None = None
        text = _unescaped(text)
        lowered = text.lower()
        for number, line in enumerate(self.lines):
            anchors = self._anchors[number][:1] if least is Level.SAME else self._anchors[number]
            for raw in _lines_with(text, lowered, anchors):
                found = error_line(raw)
                level, share = self._compared(number, line, found)
                if number:  # the first line tells most: the others are what many failures say, too
                    level, share = min(level, Level.LIKE), share * 0.9**number
                if level >= least and (best is None or (level, share) > best[:2]):
                    best = level, share, found
                    if level is Level.SAME and number == 0:
                        return best
        return best

    def _compared(self, number: int, line: ErrorLine, found: ErrorLine) -> tuple[Level, float]:
        wanted, words = line.words, found.words
        if words == wanted:
            return Level.SAME, 1.0
        if len(wanted) > 1 and len(words) <= len(wanted) + AROUND and _contains(words, wanted):
            return Level.SAME, 0.99
        if len(words) > 2 and 2 * len(words) > len(wanted) and _contains(wanted, words):
            return Level.SAME, 0.98
        if len(wanted) == 1 and wanted[0] in words and _strength(found.text):
            return Level.SAME, 0.97  # a code, such as ENOSPC
        share = sum(self.weights[word] for word in set(wanted) & set(words)) / self._totals[number]
        extra = len(set(words) - set(wanted)) / max(4, len(wanted))
        is_like = share >= ALIKE and extra <= 1.5 and _strength(found.text) > 0
        return (Level.LIKE if is_like else Level.NONE), share


def _unescaped(text: str) -> str:
    r"""Return a text whose line feeds are written as `\n`, as in JSON, with line feeds; of the same length."""
    return text.replace("\\n", " \n") if text.count("\\n") > text.count("\n") else text


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether some words stand in others next to each other, in order."""
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def _lines_with(text: str, lowered: str, anchors: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text that have one of some words, each once."""
    seen: set[int] = set()
    for anchor in anchors:
        place = lowered.find(anchor)
        while place >= 0:
            start = text.rfind("\n", 0, place) + 1
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            if start not in seen:
                seen.add(start)
                yield text[start : min(end, start + 2 * LONGEST)]
            place = lowered.find(anchor, end)
