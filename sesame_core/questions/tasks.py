"""What is asked of `how`: a command, or a task in words, and how well a command of a history fits it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from ..plugin.backend import IndexReader
from ..query.parser import STOP_WORDS
from ..text.tokens import light_stem, split
from ..types.index import Chunk
from ..types.query import Word
from . import finding
from .commands import Command, commands
from .outcomes import Call
from .programs import DEPTHS, HANDLERS, INTERPRETERS, READERS

#: Least share of the question that a command has.
LEAST = 0.4
#: What a word of a command counts by where it is: in its name, there by another word for the task, in its arguments, in
#: what the agent said about it.
IN_NAME, OTHER_NAME, IN_ARGUMENTS, IN_DESCRIPTION = 1.0, 0.9, 0.75, 0.7
#: What a command counts that is the one that was asked for: then no other one is shown.
ASKED = 2.0
#: What a command gains if its name has all of the words, and for some of them that share.
NAMED = 0.5
#: Words of a question that say nothing about the command.
FILLERS = frozenset(
    "run running execute use using command commands how do does did we you i us our my me this here project repo "
    "repository please can could should would what which way all code it everything locally local again".split()
)
#: What people call a task, and the programs and subcommands that do it.
TASKS = {
    "test": "test pytest jest vitest rspec ctest tox spec unittest nextest phpunit mocha playwright cypress",
    "lint": "lint eslint ruff clippy golangci flake8 pylint biome rubocop shellcheck credo markdownlint",
    "format": "format fmt prettier gofmt rustfmt black",
    "build": "build compile make bundle",
    "typecheck": "typecheck tsc mypy pyright check",
    "deploy": "deploy release publish rollout",
    "start": "start dev serve up",
    "server": "server serve dev",
    "install": "install add sync ci",
    "migration": "migrate migration migrations",
    "migrate": "migrate migration migrations",
    "binary": "build",
    "rerun": "rerun retry",
    "log": "log logs",
}  # fmt: skip
_TASKS = {light_stem(task): tuple(words.split()) for task, words in TASKS.items()}
_DESCRIPTION = re.compile(r"\ndescription: (.{1,200})\Z")


class Question:
    """The words of a command, or of a task.

    :param reader: counts how rare they are.
    """

    def __init__(self, reader: IndexReader, text: str) -> None:
        asked = commands(text)
        #: The words as a command, if it may be one: none of them is a filler of a sentence.
        self.command = asked[0] if asked and not {"the", "how", "we", "our"} & set(split(text)) else None
        #: Whether it is a command for certain, of a known program or with options and paths.
        self.is_typed = self.command is not None and _is_typed(self.command)
        tokens = split(text)
        told = [word for word in tokens if word not in STOP_WORDS and word not in FILLERS]
        self.words = tuple(dict.fromkeys(told or tokens))
        self.tokens = tuple(tokens)
        #: The words that count as each one.
        self.alike = {word: (word, *_TASKS.get(light_stem(word), ())) for word in self.words}
        rarity = finding.rarity(reader, self.words) if len(self.words) > 1 else {}
        #: How much each word tells: rare ones more, and not so much that a common one does not count.
        self._weights = {word: math.sqrt(rarity.get(word, 1.0)) for word in self.words}
        self._stems = {word: frozenset(map(light_stem, alike)) for word, alike in self.alike.items()}

    def rarest(self, words: Sequence[Word]) -> list[Word]:
        """Return the words, those that tell most first."""
        return sorted(words, key=lambda word: -self._weights[word.text])

    def together(self, words: Sequence[Word]) -> Word:
        """Return what a call has next to each other: the name of the command, the words, or the only one of them."""
        if len(words) == 1:
            return words[0]
        named = self.command.name if self.command is not None and len(self.command.name) > 1 else self.words
        text = " ".join(split(" ".join(named)))
        return Word(text=text, alternatives=(text,))

    def best(self, chunk: Chunk) -> tuple[Command, float] | None:
        """Return the command of a call that fits best, and how well; None if none does."""
        call = Call(chunk)
        text = call.command
        if text is None:
            return None
        said = _DESCRIPTION.search(chunk.text)
        about = {light_stem(word) for word in split(said[1])} if said else set()
        found = [(self._score(command, about), command) for command in commands(text)]
        score, command = max(found, key=lambda each: each[0], default=(0.0, None))
        if command is None or score < LEAST:
            return None
        return command, score

    def forget_absent(self, chunks: Iterable[Chunk]) -> None:
        """Let the words not count that no call has: they are about something else, such as a language."""
        if self.is_typed:
            return
        texts = [chunk.text.lower() for chunk in chunks]
        for word, alike in self.alike.items():
            if not any(one in text for text in texts for one in alike):
                self._weights[word] = 0.0

    def _score(self, command: Command, about: set[str]) -> float:
        """Return how well a command fits: 2 and more if it is the one that was asked for, else 0 to 1."""
        if self.command is not None and _begins(command, self.command):
            return ASKED
        if command.is_looking and command.name[0] in READERS:
            return 0.0
        is_handler = not HANDLERS.isdisjoint(command.name[:2])  # behind a wrapper, perhaps
        name = {light_stem(part) for word in command.name for part in split(word)}
        arguments = {
            light_stem(part)
            for word in command.words
            if len(word) < 80 and not re.search(r"\s", word)
            for part in split(word)
        }
        total = named = told = 0.0
        for word, stems in self._stems.items():
            own = light_stem(word)
            weight = self._weights[word]
            if own in name:
                total += IN_NAME * weight
                named += weight
            elif stems & name and not is_handler:
                total += OTHER_NAME * weight
                named += weight
            elif stems & arguments:
                total += IN_ARGUMENTS * weight
                told += weight
            elif stems & about:
                total += IN_DESCRIPTION * weight
        whole = sum(self._weights.values()) or 1.0
        if not named and (is_handler or (len(self.words) < 2 and not told)):
            return 0.0
        # What only looks is asked for by its name.
        return 0.0 if command.is_looking and named < LEAST * whole else (total + NAMED * named) / whole


def _is_typed(command: Command) -> bool:
    known = command.name[0] in DEPTHS or command.name[0] in INTERPRETERS
    return known or any(word.startswith(("-", "./")) or "/" in word for word in command.given)


def _begins(command: Command, asked: Command) -> bool:
    """Return whether a command is the one that was asked for, with more arguments perhaps."""
    if command.name[: len(asked.name)] != asked.name:
        return False
    given = list(command.words)
    return all(word in given or any(word in one for one in given) for word in asked.words[len(asked.name) :])
