"""The tables of an index.

`METADATA`, with what `definition` adds, is the present schema: an empty database gets it at once, and
`schema.MIGRATIONS` upgrade older ones.  Only code that creates a schema loads this module, since SQLAlchemy takes
longer to load than a search takes.

Every row of a workstation has its number, for the row-level security that lets a workstation change its own rows only,
and for the keys that make its parent the same workstation's.
Texts are stored apart from their word lists, so that ranking reads narrow rows.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, INT8MULTIRANGE, JSONB, TSVECTOR

METADATA = MetaData()


def _word_index(column: Column[Any]) -> None:
    """Index the words of a column; new entries are pending in a list of at most 4 MB."""
    limits = {"fastupdate": "on", "gin_pending_list_limit": 4096}
    Index(f"{column.table.name}_words", column, postgresql_using="gin", postgresql_with=limits)


def _plain_text(name: str, **options: Any) -> Column[str]:
    """Return a column that is compared byte by byte, so that an index finds prefixes."""
    return Column(name, Text(collation="C"), **options)


def _of_workstation() -> Column[int]:
    reference = ForeignKey("workstations.id", ondelete="CASCADE")
    return Column("workstation", Integer, reference, nullable=False)


def _below(column: str, parent: str) -> ForeignKeyConstraint:
    """Return the key of a row's parent, which is the same workstation's."""
    return ForeignKeyConstraint(
        [column, "workstation"],
        [f"{parent}.id", f"{parent}.workstation"],
        ondelete="CASCADE",
    )


def _of_session(**options: Any) -> Column[int]:
    return Column("session", BigInteger, nullable=False, **options)


def _of_its_workstation() -> tuple[Column[int], ForeignKeyConstraint]:
    return Column("workstation", Integer, nullable=False), _below("session", "sessions")


Table("meta", METADATA, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
Table(
    "schema_migrations",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("description", Text, nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)
Table(
    "workstations",
    METADATA,
    Column("id", Integer, Identity(always=True), primary_key=True),
    _plain_text("name", nullable=False, unique=True),
    #: A random number of the Sesame that writes for it: a copied machine has another one.
    Column("installation", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("owner", Text, nullable=False),
    #: The database role that may change its rows.
    Column("role", Text, nullable=False, server_default=text("session_user")),
    Column("last_sync", DateTime(timezone=True)),
    # The totals that BM25 needs: the numbers of rows and of words.
    *(
        Column(name, BigInteger, nullable=False, server_default=text("0"))
        for name in ("chunks", "chunk_tokens", "sessions", "head_tokens", "conversation_tokens")
    ),
    #: Numbers of sessions that are not used yet.
    Column("reserved", INT8MULTIRANGE, nullable=False, server_default=text("'{}'")),
)
files = Table(
    "files",
    METADATA,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    _of_workstation(),
    Column("path", Text, nullable=False),
    Column("parser", Text, nullable=False),
    Column("parser_version", Integer, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("missing_since", DateTime(timezone=True)),
    Column("error", Text),
    Column("skipped", JSONB, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Column("tail_hash", LargeBinary, nullable=False),
    Column("recent_origins", ARRAY(BigInteger), nullable=False),
    #: JSON: [offset, line, parser state].
    Column("checkpoint", Text),
    #: True only inside a rebuild: the row is of the index that is being replaced.
    Column("superseded", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("id", "workstation"),
)
# A path may be longer than an index entry.
Index("files_path", files.c.workstation, func.md5(files.c.path), files.c.superseded, unique=True)
Index("files_failed", files.c.id, postgresql_where=files.c.error.is_not(None))

sessions = Table(
    "sessions",
    METADATA,
    #: workstation:project:session; of a session in several files, each has a row.
    _plain_text("key", nullable=False),
    Column("file", BigInteger, nullable=False),
    Column("id", BigInteger, Identity(always=False), nullable=False),
    _of_workstation(),
    _plain_text("session_id", nullable=False),
    Column("agent", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("parent_id", Text),
    _plain_text("cwd"),
    Column("repository", Text),
    Column("git_branch", Text),
    Column("model", Text),
    Column("created", DateTime(timezone=True)),
    Column("modified", DateTime(timezone=True), nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("exchange_count", Integer, nullable=False),
    Column("tool_counts", JSONB, nullable=False),
    Column("abandoned", ARRAY(Integer), nullable=False),
    Column("first_origin", BigInteger),
    Column("title", Text),
    Column("summary", Text),
    Column("prompts", ARRAY(Text), nullable=False),
    Column("host", Text, nullable=False),
    Column("owner", Text, nullable=False),
    #: "shared", or "metadata" when the texts stay on the workstation.
    Column("visibility", Text, nullable=False),
    #: JSON: [name, description, summary, [tag, …]]: its metadata.
    Column("notes", Text),
    Column("chunk_count", Integer, nullable=False),
    Column("chunk_tokens", BigInteger, nullable=False),
    Column("head_tokens", Integer, nullable=False),
    #: Chunks in the rows of `conversations`, and words in these rows.
    Column("conversation_count", Integer, nullable=False),
    Column("conversation_tokens", Integer, nullable=False),
    #: Position by directory, of those besides `cwd`.
    Column("directories", JSONB),
    PrimaryKeyConstraint("key", "file"),
    UniqueConstraint("id"),
    UniqueConstraint("id", "workstation"),
    UniqueConstraint("file", "session_id"),
    _below("file", "files"),
)
Index("sessions_session_id", sessions.c.session_id)
Index("sessions_modified", sessions.c.modified.desc(), sessions.c.id.desc())
Index("sessions_workstation", sessions.c.workstation)
Index("sessions_sizes", sessions.c.id.desc(), postgresql_include=["chunk_count", "kind"])
Index("sessions_cwd", sessions.c.cwd)
Index("sessions_moved", sessions.c.id, postgresql_where=sessions.c.directories.is_not(None))
Index("sessions_agent", sessions.c.agent)
Index("sessions_owner", func.lower(sessions.c.owner))
Index("sessions_host", func.lower(sessions.c.host))
Index("sessions_headless", sessions.c.id, postgresql_where=sessions.c.kind == "headless")
Index(
    "sessions_behind",
    sessions.c.workstation,
    sessions.c.modified,
    postgresql_where=sessions.c.chunk_count > sessions.c.conversation_count,
)

chunks = Table(
    "chunks",
    METADATA,
    _of_session(),
    Column("seq", Integer, nullable=False),
    *_of_its_workstation(),
    Column("kind", Text, nullable=False),
    Column("role", Text),
    Column("tool_name", Text),
    Column("call_id", Text),
    Column("entry_id", Text),
    Column("origin", BigInteger),
    Column("segment", Integer, nullable=False),
    Column("timestamp", DateTime(timezone=True)),
    Column("is_error", Boolean, nullable=False),
    Column("source_type", Text, nullable=False),
    Column("cut", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("session", "seq"),
)
# The name itself too: columns that an index has need not be read from the table.
Index(
    "chunks_failed",
    func.lower(chunks.c.tool_name),
    chunks.c.session,
    chunks.c.tool_name,
    postgresql_where=chunks.c.is_error,
)

#: The words of a chunk: those of its text without a weight, subwords with weight A.
texts = Table(
    "texts",
    METADATA,
    _of_session(),
    Column("seq", Integer, nullable=False),
    *_of_its_workstation(),
    #: Weight class: 0 human prompt, 1 other text and metadata, 2 tool call, 3 tool result.
    Column("class", SmallInteger, nullable=False),
    Column("role", Text),
    #: The tool's name in lower case.
    Column("tool", Text),
    Column("tokens", Integer, nullable=False),
    #: Number of words of the text of a person or an agent, without subwords; 0 for other chunks.
    Column("spoken", Integer, nullable=False),
    Column("words", TSVECTOR, nullable=False),
    PrimaryKeyConstraint("session", "seq"),
    # Larger rows are stored out of line.
    postgresql_with={"toast_tuple_target": 8160, "autovacuum_vacuum_insert_scale_factor": 0.05},
)
_word_index(texts.c.words)
# A tool that is rarely called, and prompts, have fewer chunks than a common word.
Index("texts_tool", texts.c.tool, texts.c["class"], postgresql_where=texts.c.tool.is_not(None))
Index("texts_prompts", texts.c.session, postgresql_where=texts.c["class"] == 0)

#: Title (weight A), summary (B) and first prompts (C) of a session, including its notes.
heads = Table(
    "heads",
    METADATA,
    _of_session(primary_key=True),
    *_of_its_workstation(),
    Column("tokens", Integer, nullable=False),
    Column("words", TSVECTOR, nullable=False),
)
_word_index(heads.c.words)

#: Title (weight A) of a session, and texts of people (B) and agents (C), split at the limit of positions.
conversations = Table(
    "conversations",
    METADATA,
    _of_session(),
    Column("part", Integer, nullable=False),
    *_of_its_workstation(),
    Column("words", TSVECTOR, nullable=False),
    PrimaryKeyConstraint("session", "part"),
)
_word_index(conversations.c.words)

#: Words of a range of a session's chunks, without positions: from `first` up to the next row's; for many or large
#: chunks one `piece` of them.  The list is stored out of line, so that an index finds sessions in a few pages.
vocabularies = Table(
    "vocabularies",
    METADATA,
    _of_session(),
    Column("first", Integer, nullable=False),
    Column("piece", Integer, nullable=False),
    *_of_its_workstation(),
    Column("words", TSVECTOR, nullable=False),
    PrimaryKeyConstraint("session", "first", "piece"),
    postgresql_with={"toast_tuple_target": 128},
)
_word_index(vocabularies.c.words)

#: A copy of the words of shell calls: those of many calls are on few pages.
commands = Table(
    "commands",
    METADATA,
    _of_session(),
    Column("seq", Integer, nullable=False),
    *_of_its_workstation(),
    Column("words", TSVECTOR, nullable=False),
    PrimaryKeyConstraint("session", "seq"),
)
_word_index(commands.c.words)

paths = Table(
    "paths",
    METADATA,
    _of_session(),
    #: Reversed and in lower case, with `/` at the end, since it is searched by its last parts.
    _plain_text("reversed", nullable=False),
    *_of_its_workstation(),
    PrimaryKeyConstraint("session", "reversed"),
)
Index("paths_reversed", paths.c.reversed)

Table(
    "tombstones",
    METADATA,
    _of_workstation(),
    Column("agent", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("forgotten_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    PrimaryKeyConstraint("workstation", "agent", "session_id"),
)
#: The number of chunks with each word, counted now and then by `tidy`.
Table(
    "lexemes",
    METADATA,
    _plain_text("lexeme", primary_key=True),
    Column("chunks", BigInteger, nullable=False),
)
