"""Who is let in: a browser that has shown a one-time token or the password has a cookie from then on."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import sha256

#: Most browsers that are known at once; of more, the one that came first must come again.
BROWSERS = 1_000


class Doors:
    """The tokens that let someone in once, and the cookies of those who are in; both in memory alone.

    :param password: lets in any number of times, and programs with `Authorization: Bearer`; None for none.
    :param is_open: whoever reaches the server is in, since the proxy in front of it has asked already.
    """

    def __init__(self, *, password: str | None = None, is_open: bool = False) -> None:
        self._password = password
        self.is_open = is_open and password is None
        self._tokens: set[bytes] = set()
        self._cookies: dict[bytes, None] = {}

    def token(self) -> str:
        """Return a new token: the first to show it is let in."""
        made = secrets.token_urlsafe(32)
        self._tokens.add(_digest(made))
        return made

    def enter(self, secret: str) -> str | None:
        """Return a new cookie for a token, which is worth nothing from then on, or the password; None for others."""
        digest = _digest(secret)
        if digest in self._tokens:
            self._tokens.discard(digest)
        elif not self._is_password(secret):
            return None
        made = secrets.token_urlsafe(32)
        self._cookies[_digest(made)] = None
        while len(self._cookies) > BROWSERS:
            del self._cookies[next(iter(self._cookies))]
        return made

    def leave(self, cookies: Iterable[str]) -> None:
        """Make cookies worth nothing."""
        for cookie in cookies:
            self._cookies.pop(_digest(cookie), None)

    def is_in(self, cookies: Iterable[str], bearer: str) -> bool:
        """Return whether someone is let in with one of these cookies, or with this password of a program."""
        return self.is_open or any(_digest(one) in self._cookies for one in cookies) or self._is_password(bearer)

    def _is_password(self, secret: str) -> bool:
        return self._password is not None and secrets.compare_digest(_digest(secret), _digest(self._password))


def _digest(secret: str) -> bytes:
    # What is looked up is a digest, so that the time of a look-up says nothing about a secret.
    return sha256(secret.encode("utf-8", "replace")).digest()
