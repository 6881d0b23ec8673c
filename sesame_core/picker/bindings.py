"""The keys of the picker: the table that the loop, the help and the documentation share."""

from __future__ import annotations

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """An action, and its keys, the one to show first."""

    action: str
    #: Names of `keys.Event`.
    keys: tuple[str, ...]
    help: str


#: All keys, in the order of the help.
BINDINGS = (
    Binding("resume", ("enter",), "Resume the session in its agent; with --print, print the command"),
    Binding("copy", ("ctrl-y",), "Copy the command that resumes the session"),
    Binding("show", ("ctrl-v",), "Show the session in the pager, at the passage"),
    Binding("edit", ("ctrl-o",), "Open the session's file in $EDITOR, at the passage"),
    Binding("export", ("alt-e",), "Export the session as a page of HTML into the current directory"),
    Binding("star", ("alt-s",), "Star the session, or take the star away"),
    Binding("up", ("up", "ctrl-p"), "Select the session above"),
    Binding("down", ("down", "ctrl-n"), "Select the session below"),
    Binding("page-up", ("page-up",), "Select a page above"),
    Binding("page-down", ("page-down",), "Select a page below"),
    Binding("preview-up", ("shift-up", "alt-k"), "Scroll the preview up"),
    Binding("preview-down", ("shift-down", "alt-j"), "Scroll the preview down"),
    Binding("unfold", ("ctrl-x",), "Show the whole of what is folded in the preview, or fold it"),
    Binding("complete", ("tab",), "Complete a field or its value; again: the next one"),
    Binding("complete-back", ("shift-tab",), "The previous one"),
    Binding("agent", ("ctrl-g",), "Only sessions of an agent: the next one, then all"),
    Binding("here", ("ctrl-r",), "Only sessions of this repository, or all"),
    Binding("time", ("ctrl-t",), "Only the last day, week, month, or all"),
    Binding("left", ("left", "ctrl-b"), "Move the cursor left"),
    Binding("right", ("right", "ctrl-f"), "Move the cursor right"),
    Binding("word-left", ("alt-b", "ctrl-left", "alt-left"), "Move the cursor a word left"),
    Binding("word-right", ("alt-f", "ctrl-right", "alt-right"), "Move the cursor a word right"),
    Binding("start", ("home", "ctrl-a"), "Move the cursor to the start"),
    Binding("end", ("end", "ctrl-e"), "Move the cursor to the end"),
    Binding("delete-left", ("backspace",), "Delete the character before the cursor"),
    Binding("delete-right", ("delete", "ctrl-d"), "Delete the character after it; in an empty line: quit"),
    Binding("delete-word-left", ("ctrl-w", "alt-backspace"), "Delete the word before the cursor"),
    Binding("delete-word-right", ("alt-d",), "Delete the word after the cursor"),
    Binding("delete-start", ("ctrl-u",), "Delete all before the cursor"),
    Binding("delete-end", ("ctrl-k",), "Delete all after the cursor"),
    Binding("redraw", ("ctrl-l",), "Draw the screen again"),
    Binding("suspend", ("ctrl-z",), "Suspend the picker; fg of the shell comes back to it"),
    Binding("help", ("f1",), "Show the keys, or hide them"),
    Binding("quit", ("esc", "ctrl-c"), "Quit"),
)
#: The action of each key.
ACTIONS = {key: binding.action for binding in BINDINGS for key in binding.keys}
#: The keys that the last line of the screen names, with what it says of them.
SHOWN = (
    ("enter", "resume"),
    ("ctrl-y", "copy"),
    ("ctrl-v", "show"),
    ("ctrl-o", "edit"),
    ("tab", "complete"),
    ("ctrl-g", "agent"),
    ("ctrl-r", "here"),
    ("ctrl-t", "time"),
    ("f1", "keys"),
    ("esc", "quit"),
)


def title(key: str) -> str:
    """Return a key as people write it: `Ctrl-Y`, `Page-Up`, `F1`."""
    return "-".join(part.capitalize() for part in key.split("-"))


def short(key: str) -> str:
    """Return a key in few characters: `^Y`, `Enter`."""
    return "^" + key[-1].upper() if key.startswith("ctrl-") and len(key) == 6 else title(key)
