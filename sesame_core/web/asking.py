"""The parameters of a request: read, with a line for each that is wrong; and links that change some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ..errors import QueryError
from ..query.fields import FIELDS, gathered

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from ..types.query import Filters

#: Results on a page of a search, and most pages of it.
RESULTS, PAGES = 20, 5_000
#: Most characters of a query; of a longer one the rest is cut.
QUERY = 4_000
_NAMES = {field.name: field for field in FIELDS}


class Asked:
    """A query, its filters and the page of its results that is asked for."""

    def __init__(self, given: QueryParams) -> None:
        self.q = given.get("q", "")[:QUERY]
        self.page = number(given, "page", 1, least=1, most=PAGES)
        #: Whether calls with the words of the query are to be counted, which takes a search for each tool.
        self.counts_calls = given.get("count") == "tool"
        #: Values of filters by name of `Field`.
        self.values = {name: given.getlist(name) for name in _NAMES if any(given.getlist(name))}

    @property
    def filters(self) -> Filters:
        """The filters.

        :raises QueryError: a value is not valid.
        """
        return self.filters_with()

    def filters_with(self, **changes: str) -> Filters:
        """Return the filters with other values, as a link with these has them.

        :raises QueryError: a value is not valid.
        """
        last = {name: values if _NAMES[name].is_repeatable else values[-1] for name, values in self.values.items()}
        return gathered({**last, **changes})

    def url(self, **changes: str | int | None) -> str:
        """Return a link with other values; the first page of results, unless a page is named."""
        values: dict[str, object] = {"q": self.q or None, **self.values, **changes}
        return url("/", values)

    def without(self) -> Iterator[tuple[str, str, str]]:
        """Yield each filter that is set: its name, its value, and the link without it."""
        for name, values in self.values.items():
            for value in values:
                rest = [one for one in values if one != value]
                yield name, "" if _NAMES[name].is_switch else value, url("/", {"q": self.q, **self.values, name: rest})


def number(given: Mapping[str, str], name: str, default: int | None, *, least: int = 0, most: int = 2**31) -> int:
    """Return a number of a request.

    :param default: where there is none; None if one is required.
    :raises QueryError: it is not a number in this range.
    """
    text = given.get(name) or ("" if default is None else str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise QueryError(f"{name} must be a number from {least} to {most}")
    return int(text)


def url(path: str, values: Mapping[str, object], anchor: str = "") -> str:
    """Return a link; parameters without a value are left out."""
    query = urlencode({name: value for name, value in values.items() if value not in (None, "", [])}, doseq=True)
    return path + ("?" + query if query else "") + ("#" + anchor if anchor else "")
