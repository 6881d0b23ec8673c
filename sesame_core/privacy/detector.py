"""A detector: one kind of secret, where it may begin, and how far it reaches."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from ..dataclass import dataclass

#: A match's group of this name is the secret; a pattern with alternatives has several, whose names start with it.
SECRET = "secret"
#: No word character before it; the n of an escaped line break does not count as a letter.
BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of secret.

    A text is scanned in time proportional to its length if each detector keeps two rules: what `pattern` scans before
    it fails is bounded, or cannot contain a trigger of the detector; and what it has matched is not scanned again.
    """

    #: The name in the placeholder of the secret, and in reports.
    name: str
    #: Literal strings, one of which starts every match of `pattern`.
    triggers: tuple[str, ...]
    #: A regular expression.  Its last group is the secret.
    pattern: str
    #: Returns whether a match is a secret; None if every match is.
    is_secret: Callable[[re.Match[str]], bool] | None = None
    #: A regular expression of what belongs to the secret after the pattern's end, which is bounded.
    rest: str = ""
    #: Returns the secrets in a match, by their positions in the text, when there can be several or none.
    secrets: Callable[[re.Match[str]], Iterable[tuple[int, int]]] | None = None


def issuer(
    name: str,
    triggers: str,
    pattern: str,
    is_secret: Callable[[str], bool] | None = None,
    *,
    begins: bool = False,
    before: int = 0,
    rest: str = "",
) -> Detector:
    """Return a detector of a format that the issuer of a secret gave it.

    :param triggers: separated by spaces.
    :param pattern: the whole match is the secret unless the pattern has a group of that name.
    :param is_secret: returns whether a secret that the pattern matches is one.
    :param begins: the match must be at the start of a word.
    :param rest: a pattern of what else belongs to the secret: see `Detector`.
    :param before: characters of the secret before the trigger, which the pattern looks behind for.
    """
    if before:
        return Detector(name, tuple(triggers.split()), pattern, secrets=lambda m: [(m.start() - before, m.end())])
    if f"(?P<{SECRET}>" not in pattern:
        pattern = f"(?P<{SECRET}>{pattern})"
    judge = None if is_secret is None else lambda match: is_secret(match[SECRET])
    return Detector(name, tuple(triggers.split()), (BEGIN if begins else "") + pattern, judge, rest)


def spellings(*names: str) -> tuple[str, ...]:
    """Return the triggers of names of several words: `api key` as apikey, api_key, api-key, apiKey, API_KEY, Api-Key …

    The first character is left out, so that a name needs one trigger for `Password` and `password`.
    """
    found: dict[str, None] = {}
    for name in names:
        words = name.split()
        for joint in ("", "_", "-", ".", " ") if len(words) > 1 else ("",):
            for first, others in ((str.lower, str.lower), (str.upper, str.upper), (str.lower, str.capitalize)):
                found[joint.join([first(words[0]), *map(others, words[1:])])[1:]] = None
            found[joint.join([words[0].upper(), *map(str.capitalize, words[1:])])[1:]] = None
    return tuple(found)


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a detector's pattern at first use: all of them take 200 ms."""
    return re.compile(pattern)
