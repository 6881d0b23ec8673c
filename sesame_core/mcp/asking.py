"""The questions of `ask_history`: each asks the library, and returns the JSON that the command line prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..dataclass import dataclass
from ..errors import QueryError
from ..rendering.fixes import fixes_json, ways_json
from ..text.suggest import hint

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.query import Filters
    from ..types.report import IndexReport

#: The fields of filters that the questions take.
ASKED = frozenset(("cwd", "here", "repo", "branch", "agent", "after", "before", "all_kinds", "exclude"))


@dataclass(frozen=True, slots=True)
class Question:
    """One question that a history answers."""

    #: What the argument `about` is.
    about: str
    #: Asks the library: what about, the filters, `limit` and `offset`.
    ask: Callable[..., Any]
    #: Returns the JSON value of an answer: of the answer, the refresh before it, and the sessions that were left out.
    value: Callable[[Any, IndexReport | None, Sequence[str]], Mapping[str, Any]]
    #: The field of the value with the results.
    results: str


def _fix(sesame: Sesame, about: str, filters: Filters, **page: int) -> Any:
    return sesame.fix(about, filters, **page)


def _how(sesame: Sesame, about: str, filters: Filters, **page: int) -> Any:
    return sesame.how(about, filters, **page)


#: All questions by name, in the order agents see them.
QUESTIONS = {
    "fix": Question("an error as it was printed, all of it", _fix, fixes_json, "fixes"),
    "how": Question("a command, or words for a task (run the tests)", _how, ways_json, "ways"),
}


def question(name: str) -> Question:
    """Return a question.

    :raises QueryError: there is none with this name.
    """
    found = QUESTIONS.get(name.strip().lower())
    if found is None:
        known = hint(name, QUESTIONS) or f"it is one of {', '.join(QUESTIONS)}"
        raise QueryError(f"question {name[:100]!r} is not known; {known}")
    return found
