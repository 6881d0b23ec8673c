"""The questions of `ask_history`: each asks the library, and returns the JSON that the command line prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..dataclass import dataclass
from ..errors import QueryError
from ..rendering.blames import blame_answer_json
from ..rendering.fixes import fixes_json, ways_json
from ..rendering.knowing import who_json
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
    #: It reads a file of this machine: a caller on another one would learn what that has.
    reads_file: bool = False


def _fix(sesame: Sesame, about: str, filters: Filters, **page: int) -> Any:
    return sesame.fix(about, filters, **page)


def _how(sesame: Sesame, about: str, filters: Filters, **page: int) -> Any:
    return sesame.how(about, filters, **page)


def _blame(sesame: Sesame, about: str, filters: Filters, **page: int) -> Any:
    return sesame.blame(about, filters, **page)


def _who(sesame: Sesame, about: str, filters: Filters, *, limit: int, offset: int) -> Any:
    return sesame.who(about, filters, limit=limit, offset=offset)


#: All questions by name, in the order agents see them.
QUESTIONS = {
    "fix": Question("an error as it was printed, all of it", _fix, fixes_json, "fixes"),
    "how": Question("a command, or words for a task (run the tests)", _how, ways_json, "ways"),
    "blame": Question(
        "a file that exists here: PATH:LINE, PATH:LINE-LINE or PATH", _blame, blame_answer_json, "sessions", True
    ),
    "who": Question("a path that sessions name, or words for a topic", _who, who_json, "people"),
}


def question(name: str, *, is_local: bool = True) -> Question:
    """Return a question.

    :param is_local: the caller is on this machine.
    :raises QueryError: there is none with this name, or it is about a file and the caller is elsewhere.
    """
    found = QUESTIONS.get(name.strip().lower())
    if found is None:
        known = hint(name, QUESTIONS) or f"it is one of {', '.join(QUESTIONS)}"
        raise QueryError(f"question {name[:100]!r} is not known; {known}")
    if found.reads_file and not is_local:
        raise QueryError(
            f"question {name!r} reads a file of the machine that it is asked on: this server is on another"
        )
    return found
