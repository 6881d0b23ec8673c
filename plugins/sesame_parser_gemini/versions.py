"""What the versions of each message say: which texts are replaced by a later version, and which were said already.

The format is a log in which a message is written again whenever it changes, and repeated in each list of all messages.
Only digests of texts are kept, so memory grows with the number of messages and not with their length.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def digest(text: str) -> str:
    """Return a short digest of a text, whatever the spaces around it."""
    return blake2b(text.strip().encode(), digest_size=8).hexdigest()


class Versions:
    """Collects the versions of messages in a first pass over the file."""

    def __init__(self) -> None:
        #: For each message: the digests of the texts of its last version, with their lengths.
        self._last: dict[str, dict[str, int]] = {}
        #: Texts of a message that a later version has replaced: (message, digest).
        self.replaced: set[tuple[str, str]] = set()

    def add(self, key: str, texts: Iterable[str], *, is_listed: bool) -> None:
        """Add a version of a message.

        :param is_listed: it is in a list of all messages, which may leave out or shorten what was said before: then
            only a text that continues an earlier one replaces it.
        """
        found = {digest(text): text.strip() for text in texts}
        if not found:
            return
        last = self._last.get(key)
        if last is not None and last.keys() != found.keys():
            for old, length in last.items():
                is_continued = any(digest(text[:length]) == old for text in found.values() if len(text) > length)
                if old not in found and (is_continued or not is_listed):
                    self.replaced.add((key, old))
        if last is None or not is_listed:
            # A text that comes back is not replaced.
            self.replaced.difference_update((key, new) for new in found)
            self._last[key] = {new: len(text) for new, text in found.items()}
        else:
            last.update((new, len(text)) for new, text in found.items())
