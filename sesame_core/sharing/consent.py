"""Whether the owner of this machine has seen what is sent to an index that others read, and has agreed to it.

Nothing is sent by a search, a list or a server before that; afterwards each of them sends what is new.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..config import paths
from ..errors import BackendError

#: Why nothing is sent before that, and what to do.
NOT_GIVEN = (
    "none of this machine's sessions have been sent to the shared index yet: see what would be, with: sesame index"
)


def is_given(audience: str) -> bool:
    """Return whether the owner has agreed to send sessions to an audience.

    :param audience: who can read the index (`plugin.shared.SharedBackend.audience`).
    :raises BackendError: it cannot be read.
    """
    return audience in _audiences()


def give(audience: str) -> None:
    """Record that the owner has agreed to send sessions to an audience.

    :raises BackendError: it cannot be written.
    """
    audiences = _audiences()
    if audience not in audiences:
        paths.keep_private(_file(), json.dumps([*audiences, audience], ensure_ascii=False) + "\n")


def _file() -> Path:
    return paths.data_dir() / "audiences.json"


def _audiences() -> list[str]:
    try:
        value = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise BackendError(f"{_file()}: cannot be read: {error}; delete it, and agree again") from error
    return [audience for audience in value if isinstance(audience, str)] if isinstance(value, list) else []
