"""Sesame: full-text search over coding-agent sessions.

Everything that a plugin or a Python user needs is importable from here; names are looked up at first use, so that
importing the package costs nothing.
"""

from __future__ import annotations

# Not from `typing`, which doubles what this import costs: 42 million instructions with Python's own start, 83 with it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .api.sesame import Sesame as Sesame
    from .config.model import Config as Config
    from .config.model import Redaction as Redaction
    from .config.model import Selection as Selection
    from .config.model import Source as Source
    from .errors import BackendError as BackendError
    from .errors import ConfigError as ConfigError
    from .errors import LockedError as LockedError
    from .errors import ParseError as ParseError
    from .errors import PluginError as PluginError
    from .errors import QueryError as QueryError
    from .errors import ResumeError as ResumeError
    from .errors import SesameError as SesameError
    from .errors import StoppedError as StoppedError
    from .errors import UnknownSessionError as UnknownSessionError
    from .errors import UnpreparedError as UnpreparedError
    from .plugin.backend import IndexReader as IndexReader
    from .plugin.backend import IndexWriter as IndexWriter
    from .plugin.backend import StorageBackend as StorageBackend
    from .plugin.formatter import ChunkFormatter as ChunkFormatter
    from .plugin.markers import hookimpl as hookimpl
    from .plugin.parser import Calling as Calling
    from .plugin.parser import Expiring as Expiring
    from .plugin.parser import Integrable as Integrable
    from .plugin.parser import Listing as Listing
    from .plugin.parser import Naming as Naming
    from .plugin.parser import Parser as Parser
    from .plugin.parser import Resumer as Resumer
    from .plugin.parser import Resuming as Resuming
    from .plugin.parser import TailParser as TailParser
    from .plugin.provider import Options as Options
    from .plugin.provider import Provider as Provider
    from .plugin.shared import SharedBackend as SharedBackend
    from .runtime.background import BackgroundIndexer as BackgroundIndexer
    from .runtime.runtime import Appended as Appended
    from .runtime.runtime import Imported as Imported
    from .runtime.runtime import Runtime as Runtime
    from .runtime.runtime import SessionMeta as SessionMeta
    from .sdk.branches import Segments as Segments
    from .sdk.jsonl import JsonLines as JsonLines
    from .types.answer import Answer as Answer
    from .types.answer import Hit as Hit
    from .types.index import AgentStatistics as AgentStatistics
    from .types.index import Candidates as Candidates
    from .types.index import Chunk as Chunk
    from .types.index import IndexedFile as IndexedFile
    from .types.index import ScoredChunk as ScoredChunk
    from .types.index import Statistics as Statistics
    from .types.index import StoredSession as StoredSession
    from .types.integration import Integration as Integration
    from .types.integration import OwnFile as OwnFile
    from .types.integration import Setting as Setting
    from .types.listing import Container as Container
    from .types.listing import Unit as Unit
    from .types.query import Filters as Filters
    from .types.query import Query as Query
    from .types.query import Word as Word
    from .types.report import IndexReport as IndexReport
    from .types.resumption import Resumption as Resumption
    from .types.transcript import Checkpoint as Checkpoint
    from .types.transcript import Event as Event
    from .types.transcript import Message as Message
    from .types.transcript import Session as Session
    from .types.transcript import Skipped as Skipped
    from .types.transcript import ToolCall as ToolCall
    from .types.transcript import ToolResult as ToolResult

__version__ = "0.1.0"
#: The name under which pip knows Sesame.
DISTRIBUTION = "sesame-search"

#: The public names, by the module that defines them.
_HOMES = {
    "api.sesame": "Sesame",
    "config.model": "Config Redaction Selection Source",
    "errors": "BackendError ConfigError LockedError ParseError PluginError QueryError ResumeError SesameError "
    "StoppedError UnknownSessionError UnpreparedError",
    "plugin.backend": "IndexReader IndexWriter StorageBackend",
    "plugin.formatter": "ChunkFormatter",
    "plugin.markers": "hookimpl",
    "plugin.parser": "Calling Expiring Integrable Listing Naming Parser Resumer Resuming TailParser",
    "plugin.provider": "Options Provider",
    "plugin.shared": "SharedBackend",
    "runtime.background": "BackgroundIndexer",
    "runtime.runtime": "Appended Imported Runtime SessionMeta",
    "sdk.branches": "Segments",
    "sdk.jsonl": "JsonLines",
    "types.answer": "Answer Hit",
    "types.index": "AgentStatistics Candidates Chunk IndexedFile ScoredChunk Statistics StoredSession",
    "types.integration": "Integration OwnFile Setting",
    "types.listing": "Container Unit",
    "types.query": "Filters Query Word",
    "types.report": "IndexReport",
    "types.resumption": "Resumption",
    "types.transcript": "Checkpoint Event Message Session Skipped ToolCall ToolResult",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def version() -> str:
    """Return the version of Sesame."""
    return __version__


__all__ = sorted([*_HOME_OF, "version"])
