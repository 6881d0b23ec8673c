"""Sesame: full-text search over coding-agent sessions.

Everything a plugin or a Python user needs is importable from here; names are looked up when first used, so
that importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .api.sesame import Sesame
    from .config.model import Config, Redaction, Selection, Source
    from .errors import (
        BackendError,
        ConfigError,
        LockedError,
        ParseError,
        PluginError,
        QueryError,
        SesameError,
        UnknownSessionError,
    )
    from .plugin.backend import IndexReader, IndexWriter, Shared, StorageBackend
    from .plugin.formatter import ChunkFormatter
    from .plugin.markers import hookimpl
    from .plugin.parser import Expiring, Integrable, Parser, Resumer, TailParser
    from .plugin.provider import Options, Provider
    from .runtime.runtime import Appended, Imported, Runtime, SessionMeta
    from .sdk.branches import Segments
    from .sdk.jsonl import JsonLines
    from .types.answer import Answer, Hit
    from .types.index import AgentStatistics, Candidates, Chunk, IndexedFile, ScoredChunk, Statistics, StoredSession
    from .types.integration import Integration, OwnFile, Setting
    from .types.query import Filters, Query, Word
    from .types.report import IndexReport
    from .types.transcript import Checkpoint, Event, Message, Session, Skipped, ToolCall, ToolResult

__version__ = "0.1.0"

_HOMES = {
    "answer": ("Answer", "Hit"),
    "config": ("Config", "Redaction", "Selection", "Source"),
    "errors": (
        "BackendError",
        "ConfigError",
        "LockedError",
        "ParseError",
        "PluginError",
        "QueryError",
        "SesameError",
        "UnknownSessionError",
    ),
    "hookimpls": ("hookimpl",),
    "integration": ("Integration", "OwnFile", "Setting"),
    "report": ("IndexReport",),
    "jsonl": ("JsonLines",),
    "library": ("Sesame",),
    "protocols": (
        "ChunkFormatter",
        "Expiring",
        "Integrable",
        "IndexReader",
        "IndexWriter",
        "Options",
        "Parser",
        "Provider",
        "Resumer",
        "Shared",
        "StorageBackend",
        "TailParser",
    ),
    "query": ("Filters", "Query", "Word"),
    "runtime": ("Appended", "Imported", "Runtime", "SessionMeta"),
    "segments": ("Segments",),
    "stored": ("AgentStatistics", "Candidates", "ScoredChunk", "Statistics", "StoredSession"),
    "types": (
        "Checkpoint",
        "Chunk",
        "Event",
        "IndexedFile",
        "Message",
        "Session",
        "Skipped",
        "ToolCall",
        "ToolResult",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


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


__all__ = [
    "AgentStatistics",
    "Answer",
    "Appended",
    "BackendError",
    "Candidates",
    "Checkpoint",
    "Chunk",
    "ChunkFormatter",
    "Config",
    "ConfigError",
    "Event",
    "Expiring",
    "Filters",
    "Hit",
    "Imported",
    "IndexReader",
    "IndexReport",
    "IndexWriter",
    "IndexedFile",
    "Integrable",
    "Integration",
    "JsonLines",
    "LockedError",
    "Message",
    "Options",
    "OwnFile",
    "ParseError",
    "Parser",
    "PluginError",
    "Provider",
    "Query",
    "QueryError",
    "Redaction",
    "Resumer",
    "Runtime",
    "ScoredChunk",
    "Segments",
    "Selection",
    "Sesame",
    "SesameError",
    "Session",
    "SessionMeta",
    "Setting",
    "Shared",
    "Skipped",
    "Source",
    "Statistics",
    "StorageBackend",
    "StoredSession",
    "TailParser",
    "ToolCall",
    "ToolResult",
    "UnknownSessionError",
    "Word",
    "hookimpl",
    "version",
]
