"""Marks implementations of hooks in the way of pluggy, without importing pluggy.

Loading pluggy would cost a search 41 million instructions, 20 % more.  `typing` is not loaded either: importing
`hookimpl` costs 45 million instructions including Python's own start, and 85 with `typing`.  (Counted with valgrind's
cachegrind on Python 3.11.)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

PROJECT_NAME = "sesame"


def hookimpl(function: F | None = None, /, **options: Any) -> Any:
    """Mark a function of a plugin as the implementation of the hook of that name.

    :param options: those of `pluggy.HookimplMarker`, such as `specname`; rarely needed.
    """
    if function is None or options:
        import pluggy

        return pluggy.HookimplMarker(PROJECT_NAME)(function, **options)
    # The attribute that pluggy reads; it fills in missing options.
    setattr(function, f"{PROJECT_NAME}_impl", {})
    return function
