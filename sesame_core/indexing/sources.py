"""The sources of a configuration with their plugins: their paths, and the reading of one of their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.model import Config, Selection, Source
from ..config.sources import installed_parsers, resolve_sources
from ..dataclass import dataclass, replace
from ..errors import SesameError
from ..types.index import IndexedFile
from .discovery import Files, FoundFile, is_below, may_exist

if TYPE_CHECKING:
    from ..plugin.backend import IndexWriter
    from ..plugin.formatter import ChunkFormatter
    from ..plugin.manager import PluginManager
    from ..plugin.parser import Parser
    from ..types.transcript import Notes
    from .file_reader import FileReader
    from .redacting import RedactingEvents


@dataclass(slots=True, kw_only=True)
class OpenSource:
    """A source with its plugins."""

    source: Source
    #: Its real path.
    root: str
    parser: Parser
    formatter: ChunkFormatter
    #: As of `FileReader`.
    key: bytes = b""

    @property
    def version(self) -> int:
        """A number that changes with the parser's version and with the source's settings."""
        return self.source.reading_version(self.parser.version)

    @property
    def files(self) -> Files:
        """Where its files are looked for."""
        from .scan_root import files_of

        return files_of(self.parser)

    def holds(self, path: str) -> bool:
        """Return whether a file that another source has found, and is not its own, belongs to this one.

        The parser may raise anything.

        :param path: real path.
        """
        from ..config.patterns import is_excluded

        exclude = self.source.exclude
        if not is_below(path, self.root) or (exclude and is_excluded(exclude, path, None)):
            return False
        return self.parser.matches(Path(path))

    def is_current(self, known: IndexedFile, found: FoundFile) -> bool:
        """Return whether the index has a file as it is."""
        version = known.parser == self.source.parser.name and known.parser_version == self.version
        is_there = known.error is None and known.missing_since is None
        return version and is_there and (known.mtime_ns, known.size) == (found.mtime_ns, found.size)

    def reading(
        self,
        found: FoundFile,
        writer: IndexWriter | None,
        workstation: str,
        notes: Callable[[str], Notes | None],
        redacting: RedactingEvents | None = None,
    ) -> FileReader:
        """Return a reader of one file.

        :param writer, redacting: as of `FileReader`.
        :param workstation: the id of this machine.
        :param notes: returns the notes of a session, by its id.
        """
        from ..config.patterns import is_excluded
        from .file_reader import FileReader

        file = self.row(found)
        exclude = self.source.exclude
        return FileReader(
            file,
            self.parser,
            self.formatter,
            writer,
            workstation=workstation,
            is_excluded=lambda cwd: bool(exclude) and is_excluded(exclude, None, cwd),
            notes=notes,
            redacting=redacting,
            key=self.key,
        )

    def row(self, found: FoundFile) -> IndexedFile:
        """Return a file's row in the index, before it is read."""
        return IndexedFile(
            path=found.path,
            parser=self.source.parser.name,
            parser_version=self.version,
            mtime_ns=found.mtime_ns,
            size=found.size,
        )


def owner(path: str, source: OpenSource, later: Iterable[OpenSource]) -> OpenSource | None:
    """Return the source that a new file belongs to: the one that has found it, or the first of others; None: to none.

    The parsers may raise anything.

    :param path: real path.
    """
    if source.parser.matches(Path(path)):
        return source
    return next((other for other in later if other.holds(path)), None)


class Sources:
    """The sources of one configuration.

    :param redaction: returns the version of the redactor of what is stored; 0 when nothing is redacted.
    :param key: returns the `key` of each `FileReader`.
    """

    def __init__(
        self,
        config: Config,
        plugins: PluginManager,
        redaction: Callable[[], int] = int,
        key: Callable[[], bytes] = bytes,
    ) -> None:
        self._config = config
        self._plugins = plugins
        self._redaction = redaction
        self._key = key

    def roots(self) -> list[str]:
        """Return the real paths of all sources, existing or not."""
        return [_root(source) for source in resolve_sources(self._config, self._plugins)]

    def with_parsers(self) -> list[tuple[Source, str, Parser]]:
        """Return each source with its real path and its parser: enough to scan its files without reading them."""
        return [(s, _root(s), self._parser(s)) for s in self._resolved()]

    def opened(self) -> list[OpenSource]:
        """Return all sources with their plugins."""
        return [self.open(source) for source in self._resolved()]

    def open(self, source: Source) -> OpenSource:
        """Return a source with its plugins."""
        source = self._redacted(source)
        return OpenSource(
            source=source,
            root=_root(source),
            parser=self._parser(source),
            formatter=self._plugins.formatter(source.formatter.name, source.formatter.options),
            key=self._key(),
        )

    def _resolved(self) -> list[Source]:
        return [self._redacted(source) for source in resolve_sources(self._config, self._plugins)]

    def _redacted(self, source: Source) -> Source:
        """Return a source that says how what is stored of it is redacted."""
        redaction = self._redaction()
        return replace(source, redaction=redaction) if redaction else source

    def holding(self, paths: Sequence[str]) -> list[OpenSource]:
        """Return the opened sources, and additional ones for real paths that are in none of them.

        The parser of such a path is the first one that matches the file: of the sources' parsers, then of the bundled
        ones, then of all others that are installed.  A parser that cannot be created is skipped with a logged warning,
        because no one named it.  The exclusions of sources below such a path stay in force.

        :raises SesameError: a path does not exist.
        """
        sources = self.opened()
        made: list[OpenSource] = []
        for path in paths:
            if not may_exist(path) and not any(s.files.may_exist(path) for s in sources if s.files.is_listed):
                raise SesameError(f"{path}: no such file or directory")
            if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
                raise SesameError(f"{path}: not a file or directory")
            if any(is_below(path, s.root) for s in sources):
                continue
            exclude = tuple(p for s in sources if is_below(s.root, path) for p in s.source.exclude)
            for name in self._parsers([s.source.parser.name for s in sources]):
                try:
                    made.append(self.open(Source(parser=Selection(name=name), path=Path(path), exclude=exclude)))
                except SesameError as error:
                    import logging

                    logging.getLogger(__name__).warning("%s is not shown to the parser %r: %s", path, name, error)
        return sources + made

    def _parsers(self, first: Sequence[str]) -> Iterable[str]:
        """Return the names of all installed parsers, each once: the given ones first, then the bundled ones."""
        from ..plugin.manager import BUNDLED

        installed = installed_parsers(self._plugins)
        return dict.fromkeys([*first, *sorted(installed, key=lambda name: name not in BUNDLED)])

    def _parser(self, source: Source) -> Parser:
        return self._plugins.parser(source.parser.name, source.parser.options)


def _root(source: Source) -> str:
    return os.path.realpath(source.path or "")
