"""The ability of a reader to count what it withholds; a module of its own, which a search does not load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ..types.query import Filters


@runtime_checkable
class Withholding(Protocol):
    """A reader of a shared index that counts the sessions of which only metadata is visible.

    Answers about files and commands say how many sessions they could not look into.
    """

    def withheld(self, filters: Filters) -> int:
        """Return the number of sessions with the visibility "metadata" that filters about sessions select.

        What a filter on texts, calls or files would say of them is not known, so these filters do not count: `path`,
        `cmd`, `is_error`, `tool`, `tools_only`, `role`, `branch`, `tags`, `starred`.
        """
