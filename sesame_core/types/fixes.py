"""What a history says about an error, and about how something is run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass, field

if TYPE_CHECKING:
    from .index import Freshness, StoredSession

#: How an error ended: the same command succeeded ("verified"), or went on to another error ("passed"); something else
#: was done and the error did not come back in the session ("replaced"); or the session ends without any of that.
Outcome: TypeAlias = Literal["verified", "passed", "replaced", "unresolved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Something that happened in a session, and where."""

    stored: StoredSession
    #: Position of the chunk.
    position: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call that was made between an error and its end."""

    position: int
    kind: Literal["edit", "command"]
    #: The command or edit as people write it.
    text: str
    #: The file that an edit changed; "" of a command.
    path: str = ""


@dataclass(slots=True, kw_only=True)
class Fix:
    """What was done after an error, and whether it held: the first in order of several with the same remedy."""

    #: The line of the error, as it was there.
    line: str
    #: Whether it is the error that was asked for, and not one like it.
    is_same: bool
    seen: Seen
    #: The command that failed; "" if the error was only mentioned.
    command: str
    outcome: Outcome
    #: Whether what replaced the command was the same program, or another one on the same files.
    is_akin: bool = False
    #: What ended it, oldest first; of an unresolved one what was tried.
    steps: tuple[Step, ...] = ()
    #: Where it ended; None if it did not.
    ended: Seen | None = None
    #: What the agent said about the cause, and where; "" if nothing.
    why: str = ""
    why_position: int | None = None
    #: When it came back in this project after that, the first time first.
    came_back: tuple[Seen, ...] = ()
    #: The other occurrences with this remedy, newest first.
    others: tuple[Seen, ...] = ()

    @property
    def held(self) -> bool:
        """Whether it ended, and did not come back."""
        return self.outcome != "unresolved" and not self.came_back


@dataclass(slots=True, kw_only=True)
class Known:
    """What an answer from a history is based on."""

    #: Results on all pages.
    total: int = 0
    #: Sessions that have it, of those that were read.
    sessions: int = 0
    #: Sessions that the filters select, if nothing was found; else None.
    searched: int | None = None
    #: There is more than was read.
    is_truncated: bool = False
    #: Matches that were left out by default, by reason.
    left_out: Mapping[str, int] = field(default_factory=dict)
    #: Sessions whose texts their owners keep to themselves, if the answer is empty.
    withheld: int = 0
    hints: tuple[str, ...] = ()
    freshness: Freshness | None = None


@dataclass(slots=True, kw_only=True)
class Fixes:
    """The answer of `fix`."""

    about: str
    basis: Known = field(default_factory=Known)
    #: The lines of the error that were looked for.
    lines: tuple[str, ...] = ()
    #: Best first: those of the same error, those that held, those of this project, the newest.
    fixes: tuple[Fix, ...] = ()
    #: Times that the same error occurred, in what was read.
    occurrences: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way in which a command was written."""

    text: str
    count: int
    last: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRun:
    """Runs that failed with one error."""

    #: The line that says why; "" if none does.
    line: str
    text: str
    count: int
    last: Seen


@dataclass(slots=True, kw_only=True)
class Way:
    """A command as it was run: its variants, where, and how often."""

    #: The words that all variants share: `cargo test`.
    command: str
    #: Whether it was run in the repository around the present directory.
    is_here: bool
    succeeded: int
    #: The last run that succeeded; None if none did.
    last: Seen | None
    #: How that was written.
    text: str
    #: Commonest first.
    variants: tuple[Variant, ...] = ()
    #: Directories in which it succeeded, commonest first, with counts.
    directories: tuple[tuple[str, int], ...] = ()
    failed: int = 0
    failures: tuple[FailedRun, ...] = ()


@dataclass(slots=True, kw_only=True)
class Ways:
    """The answer of `how`."""

    about: str
    basis: Known = field(default_factory=Known)
    #: Best first.
    ways: tuple[Way, ...] = ()
    #: Calls that were read.
    runs: int = 0
