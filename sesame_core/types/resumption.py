"""How an agent resumes a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dataclass import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """The command that resumes a session, and where it finds the session."""

    command: Sequence[str]
    #: The directory to run it in; None for any.
    directory: str | None = None
    #: Environment variables that differ from the present ones; None unsets one.
    environment: Mapping[str, str | None] = field(default_factory=dict)
    #: Whether the agent finds the session only from `directory`.
    is_bound: bool = True
    #: Why the command cannot work at present, and what to do: the agent does not look at the file.  Sesame adds that
    #: the directory does not exist.
    problem: str | None = None

    # -- set by Sesame ------------------------------------------------------------------------------------
    #: An existing directory in place of one that does not exist: of the same repository, or of the same name.
    nearest: str | None = None
