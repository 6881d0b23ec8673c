"""The versions of a schema: the steps that lead to them, and the errors for an index that has another one."""

from __future__ import annotations

from ..dataclass import dataclass
from ..errors import BackendError


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema version to the next.  Step n leads to version n; one that was released is never edited."""

    description: str
    sql: str


def newer(place: object, found: int, known: int) -> BackendError:
    """Return the error for an index with the schema of a newer Sesame.

    :param place: the name of the index for people.
    """
    from ..installation import upgrading

    return BackendError(
        f"{place} was written by a newer Sesame (schema {found}, this one knows {known}): upgrade with: {upgrading()}"
    )


def older(place: object, found: int) -> BackendError:
    """Return the error for an index that must be upgraded before it can be read."""
    return BackendError(f"{place} has an older schema ({found}): upgrade it with: sesame index")
