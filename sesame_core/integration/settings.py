"""One value in a file of an agent: as it is, as it shall be, and the file's text with or without it."""

from __future__ import annotations

from typing import Any

from ..config.paths import VARIABLES
from ..errors import SesameError
from ..types.integration import Setting
from .json_text import JsonText
from .toml_text import TomlText


class SettingText:
    """The place of a setting in the content of its file.

    :param content: None for a file that does not exist.
    :raises SesameError: the content cannot be parsed, or the path of keys leads through something else than objects.
    """

    def __init__(self, setting: Setting, content: bytes | None) -> None:
        self._setting = setting
        self._path = setting.path
        self._text = self._read(content or b"")
        place: Any = self._text.value
        #: Whether the file has the setting, and with which value.
        self.is_set = True
        #: How many of the objects around the setting are missing.
        self.missing = 0
        for depth, key in enumerate(setting.keys):
            if not isinstance(place, dict):
                name = ".".join(setting.keys[:depth])
                raise self._not_understood(f'"{name}" is not an object' if name else "it is not an object")
            if key not in place:
                self.is_set = False
                self.missing = len(setting.keys) - 1 - depth
                place = None
                break
            place = place[key]
        self.value: Any = place

    def wanted(self) -> Any:
        """Return the value that the setting shall have: its own, and what the user has added to it."""
        return _merged(self.value, self._setting.value) if self.is_set else self._setting.value

    def with_value(self, value: Any) -> bytes:
        """Return the file's content with another value of the setting.

        :raises SesameError: more than the setting would change.
        """
        expected = _replaced(self._text.value, self._setting.keys, value)
        return self._checked(self._text.with_value(self._setting.keys, value), expected, value)

    def without(self, made: int) -> bytes:
        """Return the file's content without the setting.

        :param made: so many of the objects around it were made for it, and are removed if they have nothing else.
        :raises SesameError: more than the setting would change.
        """
        text = self._text.without(self._setting.keys, made)
        return self._checked(text, _replaced(self._text.value, self._setting.keys, None), None)

    def shown(self, value: Any) -> str:
        """Return the setting with a value, as it would be written in a file of its own."""
        return self._text.shown(self._setting.keys, value)

    def _read(self, content: bytes) -> JsonText | TomlText:
        try:
            text = content.decode()
            if self._path.suffix == ".toml":
                return TomlText(text)
            return JsonText(text, has_comments=self._setting.has_comments)
        except (ValueError, RecursionError) as error:
            form = "TOML" if self._path.suffix == ".toml" else "JSON" if self._setting.has_comments else "plain JSON"
            raise self._not_understood(f"it is not {form} ({error})") from error

    def _checked(self, text: str, expected: Any, value: Any) -> bytes:
        keys = self._setting.keys
        try:
            content = text.encode()
            found = self._read(content).value
        except (SesameError, UnicodeEncodeError):
            found = None
        # An empty object may be missing.
        if found is None or _without_empty(found, keys[:-1]) != _without_empty(expected, keys[:-1]):
            by_hand = "delete" if value is None else "write"
            raise self._not_understood(f"{'.'.join(keys)} cannot be changed alone: {by_hand} it by hand")
        return content

    def _not_understood(self, why: str) -> SesameError:
        return SesameError(f"{self._path}: {why}; nothing was written")


def is_empty(content: bytes) -> bool:
    """Return whether a file of settings has neither a setting nor a comment."""
    return content.strip() in (b"", b"{}")


def _merged(old: Any, new: Any) -> Any:
    """Return a new value with the keys that a user has added to the old one.

    An entry of another form, such as that of a server on another machine, is replaced as a whole.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    if any(key not in old for key, value in new.items() if not isinstance(value, dict)):
        return new
    merged = dict(old)
    for key, value in old.items():
        if isinstance(value, dict):
            # Which directories Sesame uses is not the user's addition, wherever the entry has its environment.
            kept = {name: one for name, one in value.items() if name not in VARIABLES}
            merged[key] = kept
            if not kept and value and key not in new:
                del merged[key]
    for key, value in new.items():
        there = merged.get(key)
        merged[key] = {**there, **value} if isinstance(there, dict) and isinstance(value, dict) else value
    return merged


def _replaced(value: Any, keys: tuple[str, ...], new: Any) -> Any:
    """Return an object with another value at a path of keys; without it for None."""
    key, *rest = keys
    inner = _replaced(value.get(key, {}), tuple(rest), new) if rest else new
    changed = {**value, key: inner}
    return {name: one for name, one in changed.items() if name != key or one is not None}


def _without_empty(value: Any, keys: tuple[str, ...]) -> Any:
    """Return an object without the empty objects on a path of keys."""
    if not keys or not isinstance(value, dict) or keys[0] not in value:
        return value
    inner = _without_empty(value[keys[0]], keys[1:])
    return {name: inner if name == keys[0] else one for name, one in value.items() if name != keys[0] or inner != {}}
