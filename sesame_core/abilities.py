"""Tells whether a plugin's object has an ability, one of the small Protocols of `sesame_core.protocols`."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["has_ability"]

if TYPE_CHECKING:
    from builtins import isinstance as has_ability
else:

    def has_ability(thing, ability):
        """Return what `isinstance` would, which loads `inspect` for it from Python 3.12 on (7 ms)."""
        return all(hasattr(thing, name) for name in vars(ability) if not name.startswith("_"))
