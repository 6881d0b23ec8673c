"""Where things are on a screen of any size."""

from __future__ import annotations

from ..dataclass import dataclass

#: Columns from which on the preview is on the right of the list.
WIDE = 100
#: Rows between the two upper lines and the last one from which on there is a preview below the list.
HIGH = 10
#: Part of the columns, and of the rows, that the list has.
LIST_COLUMNS, LIST_ROWS = 0.42, 0.42
#: Columns between the list and the preview.
GAP = 3


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells."""

    top: int
    left: int
    height: int
    width: int

    def has(self, row: int, column: int) -> bool:
        """Return whether a cell is in it."""
        return self.top <= row < self.top + self.height and self.left <= column < self.left + self.width


@dataclass(frozen=True, slots=True)
class Layout:
    """The areas of a screen.  The first row is the line that is typed, the second says what was found."""

    columns: int
    rows: int
    list: Area
    #: None on a screen that is too small.
    preview: Area | None
    #: Whether the last row names keys.
    has_keys: bool

    @property
    def is_wide(self) -> bool:
        """Whether the preview is on the right of the list."""
        return self.preview is not None and self.preview.left > 0


def layout(columns: int, rows: int) -> Layout:
    """Return the areas of a screen of this size."""
    top = min(2, max(rows - 1, 0))
    has_keys = rows >= 6
    height = max(rows - top - has_keys, 0)
    if columns >= WIDE and height >= 3:
        width = int(columns * LIST_COLUMNS)
        preview = Area(top, width + GAP, height, columns - width - GAP)
        return Layout(columns, rows, Area(top, 0, height, width), preview, has_keys)
    if height >= HIGH:
        listed = int(height * LIST_ROWS)
        below = Area(top + listed + 1, 0, height - listed - 1, columns)
        return Layout(columns, rows, Area(top, 0, listed, columns), below, has_keys)
    return Layout(columns, rows, Area(top, 0, height, columns), None, has_keys)
