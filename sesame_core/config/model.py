"""What Sesame is told to do: which sessions to read, how, and where to keep the index.

`load` reads config.jsonc when there is one (`sesame_core.config.file` does the reading); without it every
agent whose sessions are found is a source.  `sesame_core.config.report` explains the outcome to the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dataclass import dataclass, field
from . import paths

if TYPE_CHECKING:
    pass

#: Origin of a value that nobody set.
DEFAULT = "default"
#: Origin of a source that nobody named.
FOUND = "found: default root exists"
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
    #: A directory or one file, absolute; None for wherever the parser's agent keeps its sessions.
    path: Path | None = None
    formatter: Selection = field(default_factory=lambda: Selection(name="default"))
    #: Patterns of sessions to leave out; see `sesame_core.config.patterns`.
    exclude: tuple[str, ...] = ()
    #: Who named it, for messages: "config.jsonc: sources[0]", "SESSIONS_DIR", `FOUND`, `DEFAULT`.
    origin: str = DEFAULT

    def reading_version(self, parser_version: int) -> int:
        """Return a number that changes with whatever decides what the index holds of a file: it is read again then.

        It is the parser's version as long as nothing is set; else 31 bits that stand for it and the settings.
        """
        settings = (self.parser.options, self.formatter.name, self.formatter.options, self.exclude)
        if settings == ({}, "default", {}, ()):
            return parser_version
        from zlib import crc32

        return crc32(repr((parser_version, *settings)).encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


#: The name, among models, of the one that the agent talks to which started Sesame.
AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A language model that may be asked."""

    #: What the `llm` library knows it by; or `AGENT`; with a command, what it is called in answers.
    name: str
    #: The program that asks it, with its arguments; see `sesame_core.generation.command`.
    command: tuple[str, ...] = ()
    #: Seconds an answer may take.
    seconds: float = 60.0
    #: Dollars for a million tokens, where the provider does not tell what an answer cost.
    input_price: float | None = None
    output_price: float | None = None


#: What others may see of a session, from everything to nothing; of `metadata`, counts, dates and the project's name.
LEVELS = ("shared", "metadata", "private")
#: How a mark begins that stands where a secret was.
MARK = "[redacted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Whether secrets are taken out of what is stored, and what counts as one; see `sesame_core.privacy.redactor`."""

    #: None: where others can read the index.
    enabled: bool | None = None
    #: The user's own kinds: a name, of small letters, digits and dashes, and a regular expression.
    patterns: tuple[tuple[str, str], ...] = ()
    #: Regular expressions of values that are no secrets.
    keep: tuple[str, ...] = ()


def metadata_dir(data_dir: Path) -> Path:
    """Return where files of metadata are as long as nobody says otherwise."""
    return data_dir / "sessions-meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Describing:
    """How sessions get metadata: names, descriptions, summaries and tags that a model writes."""

    #: Whether `sesame describe --due` does anything.
    is_automatic: bool = False
    #: Prompts after which a session is described again.
    min_new_user_messages: int = 5
    #: Where the files are, one for each session.
    directory: Path = field(default_factory=lambda: metadata_dir(paths.data_dir()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration; `Config()` is what holds when nothing is configured."""

    #: The sources that are named; when there are none, every agent's default root counts.
    #: Indexing wants `sources.resolve_sources` instead.
    sources: tuple[Source, ...] = ()
    backend: Selection = field(default_factory=lambda: Selection(name="sqlite"))
    #: Seconds a search may spend on indexing what changed; 0 turns that off.
    refresh_seconds: float = 0.3
    #: Models that may be asked, in the order they are tried; without any, no model is.
    models: tuple[ModelChoice, ...] = ()
    redaction: Redaction = field(default_factory=Redaction)
    #: One of `LEVELS`: what holds for sessions of which `sesame share` says nothing.
    share: str = "shared"
    describe: Describing = field(default_factory=Describing)
    #: The file this was read from; None when there was none.
    file: Path | None = None
    #: Where each value came from, by its key in config.jsonc; a key that is absent has its default.
    origins: Mapping[str, str] = field(default_factory=dict)

    def chosen_models(self, names: Sequence[str] | None) -> list[ModelChoice]:
        """Return the models of these names, as they are configured if they are; without names, the configured ones."""
        known = {choice.name: choice for choice in self.models}
        return [known.get(name, ModelChoice(name=name)) for name in names] if names else list(self.models)
