"""The configuration: which sessions to read, how, and where to store the index.

`sesame_core.config.file` reads config.jsonc; without it every agent whose sessions are found is a source.
`sesame_core.config.report` explains the result to the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import text
from ..dataclass import dataclass, field
from . import paths

if TYPE_CHECKING:
    pass

#: Origin of a value that is not configured.
DEFAULT = "default"
#: Origin of a source that is not configured.
FOUND = "found: default root exists"
#: Factor of the version of words in a version of both; parsers have lower ones.
WORDS = 10_000
#: Environment variable that names one more directory of Claude Code sessions (seed 004).
SESSIONS_DIR = "SESSIONS_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A plugin chosen by name, with the plugin's own options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Session files to index: where they are, which parser reads them, and how they are cut into chunks."""

    parser: Selection
    #: A directory or one file, absolute; None for the parser's default roots.
    path: Path | None = None
    formatter: Selection = field(default_factory=lambda: Selection(name="default"))
    #: Patterns of sessions to leave out; see `sesame_core.config.patterns`.
    exclude: tuple[str, ...] = ()
    #: Where it was configured, for messages: "config.jsonc: sources[0]", "SESSIONS_DIR", `FOUND`, `DEFAULT`.
    origin: str = DEFAULT
    #: Version of the redactor of what is stored of it; 0 when nothing is redacted.
    redaction: int = 0

    def reading_version(self, parser_version: int) -> int:
        """Return a version of parser, words and settings; when it changes, the files of the source are read again.

        Without settings it is made of the two versions; else it is a hash of 31 bits of all three.
        """
        settings = (self.parser.options, self.formatter.name, self.formatter.options, self.exclude)
        if self.redaction:
            settings = (*settings, self.redaction)  # type: ignore[assignment]
        elif settings == ({}, "default", {}, ()):
            return parser_version + WORDS * text.VERSION
        from zlib import crc32

        return crc32(repr((parser_version, text.VERSION, *settings)).encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


#: The name, among models, of the model that the agent uses which started Sesame.
AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A language model that may be called."""

    #: Its name in the `llm` library, or `AGENT`; with a command, its name in answers.
    name: str
    #: The program that calls it, with its arguments; see `sesame_core.generation.command`.
    command: tuple[str, ...] = ()
    #: Timeout of an answer, in seconds.
    seconds: float = 60.0
    #: Dollars for a million tokens, for a provider that does not report the cost of an answer.
    input_price: float | None = None
    output_price: float | None = None


#: Visibility of a session to others: all of it; only counts, dates and the project's name; nothing.
LEVELS = ("shared", "metadata", "private")
#: Prefix of the placeholder that replaces a secret.
MARK = "[redacted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Where secrets are replaced, and what counts as one; see `sesame_core.privacy.redactor`."""

    #: In the index; None: only if others can read it.
    enabled: bool | None = None
    #: In what agents and language models get, whatever the index has.
    answers: bool = True
    #: The user's own detectors: a name, of lower-case letters, digits and dashes, and a regular expression.
    patterns: tuple[tuple[str, str], ...] = ()
    #: Regular expressions of values that are not secrets.
    keep: tuple[str, ...] = ()


def metadata_dir(data_dir: Path) -> Path:
    """Return the default directory of metadata files."""
    return data_dir / "sessions-meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Describing:
    """Settings of metadata: names, descriptions, summaries and tags that a model writes."""

    #: Whether `sesame describe --due` describes anything.
    is_automatic: bool = False
    #: Number of new prompts after which a session is described again.
    min_new_user_messages: int = 5
    #: Whether others who can read the index see the names, tags and notes that a person gave; never the stars.
    shares_marks: bool = False
    #: Directory of the files, one for each session.
    directory: Path = field(default_factory=lambda: metadata_dir(paths.data_dir()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration; `Config()` has every default."""

    #: The configured sources; when there are none, every agent's default root is one.
    #: `sources.resolve_sources` returns the sources to index.
    sources: tuple[Source, ...] = ()
    #: Whether default roots are sources when there are no others; false for a machine that only searches.
    finds_sources: bool = True
    backend: Selection = field(default_factory=lambda: Selection(name="sqlite"))
    #: Seconds that a search may spend on indexing changes; 0 turns that off.
    refresh_seconds: float = 0.3
    #: Seconds that a command waits for another process that is writing to the index.
    lock_seconds: float = 5.0
    #: Most processes that read session files for `Sesame.index`; None: as many as pay on this machine; 0: none.
    index_workers: int | None = None
    #: Models that may be called, in the order they are tried; without any, no model is called.
    models: tuple[ModelChoice, ...] = ()
    redaction: Redaction = field(default_factory=Redaction)
    #: One of `LEVELS`: the visibility of sessions without a rule of `sesame share`.
    share: str = "shared"
    describe: Describing = field(default_factory=Describing)
    #: The file that this was read from; None when there was none.
    file: Path | None = None
    #: The origin of each value, by its key in config.jsonc; an absent key has its default.
    origins: Mapping[str, str] = field(default_factory=dict)

    def chosen_models(self, names: Sequence[str] | None) -> list[ModelChoice]:
        """Return the models with these names, with their configuration if any; without names, all configured models."""
        known = {choice.name: choice for choice in self.models}
        return [known.get(name, ModelChoice(name=name)) for name in names] if names else list(self.models)
