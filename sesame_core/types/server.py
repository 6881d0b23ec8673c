"""The state of the server of an index that several workstations share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import dataclass

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A transaction that has been open for a minute, or that keeps others from writing to a table."""

    role: str
    #: Number of the server's process.
    process: int
    #: When it began; None if this login may not see it.
    since: datetime | None
    #: Tables of the index that it has locked.
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The state of a server, as far as the login that asks may see it."""

    version: str
    #: The login that asks.
    role: str
    #: Schema with the tables.
    schema: str
    #: Bytes of the whole database.
    size: int
    #: Whether it follows another server, and can only be read; when it last did so.
    is_replica: bool
    replayed_at: datetime | None
    #: Connections of all databases, and the most that there may be.
    connections: int
    max_connections: int
    #: The oldest first.
    transactions: tuple[Transaction, ...] = ()
    #: Whether the times of others' transactions are visible.
    sees_all: bool
    #: Rules that an upgrade has added and that stored rows were not checked against yet.
    unvalidated: tuple[str, ...] = ()
    #: Workstations whose login does not exist, each with the login's name.
    orphans: tuple[tuple[str, str], ...] = ()
    #: What someone should do something about, a line for each with the statement to run.
    problems: tuple[str, ...] = ()
