"""What a terminal sends, as events: keys by name, typed and pasted text, the mouse."""

from __future__ import annotations

import re

from ..dataclass import dataclass

#: Seconds after which an escape character alone is the key Esc: a terminal sends a sequence at once.
ESCAPE_SECONDS = 0.03
#: Most bytes of an unfinished sequence; what is longer is none.
LONGEST = 64
#: Most bytes of a paste whose end has not come; a search does not need more.
PASTED = 1 << 20

_CSI = re.compile(rb"\x1b\[([<=>?]?[0-9;:]*)[ -/]*([@-~])")
_REPLY = re.compile(rb"\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)")
_PASTE, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_FINAL = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "Z": "shift-tab"}
_FINAL |= {"P": "f1", "Q": "f2", "R": "f3", "S": "f4"}
_NUMBERED = {1: "home", 2: "insert", 3: "delete", 4: "end", 5: "page-up", 6: "page-down", 7: "home", 8: "end"}
_NUMBERED |= {11: "f1", 12: "f2", 13: "f3", 14: "f4"}
_CONTROL = {0x08: "backspace", 0x09: "tab", 0x0A: "enter", 0x0D: "enter", 0x7F: "backspace"}
#: The modifiers of a key, by their bits, in the order in which its name has them.
_MODIFIERS = ((4, "ctrl"), (2, "alt"), (1, "shift"))
#: Of the buttons of a mouse: the bits of modifiers and of a movement.
_MOVED, _WHEEL = 32, 64


@dataclass(frozen=True, slots=True)
class Event:
    """One event."""

    #: Name of a key (`enter`, `ctrl-a`, `alt-b`, `page-up`), "text", or of the mouse `click`, `wheel-up`, `wheel-down`.
    name: str
    #: What was typed or pasted.
    text: str = ""
    #: Where the mouse was, from 0.
    row: int = 0
    column: int = 0


class Decoder:
    """Turns bytes into events; a sequence may come in several pieces."""

    def __init__(self) -> None:
        self._bytes = b""

    @property
    def is_waiting(self) -> bool:
        """Whether a sequence has begun that may be a key alone."""
        return bool(self._bytes) and not self._bytes.startswith(_PASTE)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are complete with these bytes."""
        self._bytes += data
        return self._events(is_final=False)

    def flush(self) -> list[Event]:
        """Return the events of what is left, when nothing has followed it."""
        return self._events(is_final=True)

    def _events(self, *, is_final: bool) -> list[Event]:
        found: list[Event] = []
        while self._bytes:
            length, event = self._first(is_final=is_final)
            if not length:
                break
            self._bytes = self._bytes[length:]
            if event is not None:
                found.append(event)
        return found

    def _first(self, *, is_final: bool) -> tuple[int, Event | None]:
        """Return the length of the first sequence, 0 if it is not complete, and its event, if it is one."""
        data = self._bytes
        if data[0] == 0x1B:
            return self._escape(data, is_final=is_final)
        if data[0] < 0x20 or data[0] == 0x7F:
            return 1, Event(_CONTROL.get(data[0]) or (f"ctrl-{chr(data[0] + 0x60)}" if data[0] else "ctrl-space"))
        text = re.match(rb"[^\x00-\x1f\x7f]+", data)
        assert text is not None
        whole = text[0]
        if len(whole) == len(data) and not is_final:
            whole = whole[: len(whole) - _unfinished(whole)]
        return len(whole), Event("text", _text(whole)) if whole else None

    def _escape(self, data: bytes, *, is_final: bool) -> tuple[int, Event | None]:
        if data.startswith(_PASTE):
            end = data.find(_PASTE_END)
            if end >= 0:
                return end + len(_PASTE_END), Event("text", _text(data[len(_PASTE) : end]))
            return (len(data), Event("text", _text(data[len(_PASTE) :]))) if len(data) > PASTED else (0, None)
        if match := _CSI.match(data):
            return match.end(), _of_csi(match[1].decode(), match[2].decode())
        if match := _REPLY.match(data):
            return match.end(), None  # an answer of the terminal to a question
        is_open = not is_final and len(data) < LONGEST
        if len(data) == 1:
            return (0, None) if is_open else (1, Event("esc"))
        if data[1:2] in (b"[", b"]", b"P", b"O") and is_open and (data[1:2] != b"O" or len(data) == 2):
            return 0, None
        if data[1:2] == b"O" and len(data) > 2:
            name = _FINAL.get(chr(data[2]))
            return 3, Event(name) if name else None
        if data[1] == 0x1B:
            return 1, Event("esc")
        if data[1] < 0x20 or data[1] == 0x7F:
            return 2, Event(f"alt-{_CONTROL.get(data[1], 'ctrl')}")
        size = 2 if data[1] < 0x80 else len(data)
        return size, Event(f"alt-{_text(data[1:size])}")


def _of_csi(parameters: str, final: str) -> Event | None:
    if parameters.startswith("<"):
        return _of_mouse(parameters[1:], is_press=final == "M")
    numbers = [int(number) if number.isdigit() else 1 for number in re.split("[;:]", parameters)]
    name = _NUMBERED.get(numbers[0]) if final == "~" else _FINAL.get(final)
    if name is None:
        return None
    bits = numbers[1] - 1 if len(numbers) > 1 else 0
    pressed = [modifier for bit, modifier in _MODIFIERS if bits & bit]
    return Event("-".join([*pressed, name]))


def _of_mouse(parameters: str, *, is_press: bool) -> Event | None:
    try:
        button, column, row = map(int, parameters.split(";"))
    except ValueError:
        return None
    if not is_press or button & _MOVED:
        return None
    if button & _WHEEL:
        return Event(("wheel-up", "wheel-down")[button & 1], row=row - 1, column=column - 1)
    return Event("click", row=row - 1, column=column - 1) if not button & 3 else None


def _unfinished(data: bytes) -> int:
    """Return the number of bytes at the end that begin a character without completing it."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < length else 0
        if byte < 0x80:
            return 0
    return 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
