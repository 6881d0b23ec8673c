"""The answer to a search as an agent gets it: the evidence, and what it needs to go on."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import IndexJson


class BriefPassageJson(TypedDict):
    """One passage of a result."""

    at: Annotated[int, Doc("Its position: read further with list_messages.")]
    by: Annotated[str, Doc("Who said it: user, assistant; a tool's name, or “Bash result”, “Bash error”.")]
    text: Annotated[str, Doc("On one line; … where there is more.")]
    subagent: NotRequired[Annotated[str, Doc("Id of the subagent's session that it is in.")]]


class BriefResultJson(TypedDict):
    """A session that answers a query.  A field that says nothing is left out."""

    session: Annotated[str, Doc("The argument session of the other tools.")]
    title: str
    cwd: NotRequired[str]
    agent: str
    day: NotRequired[Annotated[str, Doc("When the first passage was said, UTC.")]]
    score: NotRequired[Annotated[float, Doc("0 to 1, relative to the best possible.")]]
    kind: NotRequired[Annotated[str, Doc("subagent or headless, if it is not interactive.")]]
    abandoned: NotRequired[Annotated[bool, Doc("It was rewound or abandoned later.")]]
    copies: NotRequired[Annotated[int, Doc("Number of forks and copies with the same evidence.")]]
    passages: NotRequired[
        Annotated[list[BriefPassageJson], Doc("The best, then the best of the other side: a solution to a problem.")]
    ]
    around: NotRequired[
        Annotated[list[str], Doc("The items around the first passage, a line each: “position speaker: text”.")]
    ]


class BriefJson(TypedDict):
    """The answer to a search: `search_sessions`, `sesame search --brief`.  A field that says nothing is left out."""

    total: Annotated[int, Doc("Sessions that match.")]
    totalIsLowerBound: NotRequired[bool]
    nextOffset: NotRequired[Annotated[int, Doc("Where the next page begins, if there is one.")]]
    weak: NotRequired[Annotated[bool, Doc("The best session may match by chance only.")]]
    wordsNotFound: NotRequired[Annotated[list[str], Doc("Words that do not occur in the index.")]]
    corrections: NotRequired[Annotated[dict[str, list[str]], Doc("Other spellings that were searched.")]]
    showing: NotRequired[
        Annotated[dict[str, list[str]], Doc("Words in the results, by the misspelled word they stand for.")]
    ]
    after: NotRequired[Annotated[str, Doc("Only what was said since then.")]]
    before: NotRequired[Annotated[str, Doc("Only what was said until then.")]]
    hints: NotRequired[Annotated[list[str], Doc("What may be meant otherwise, what was kept out, filters to try.")]]
    leftOut: NotRequired[
        Annotated[dict[str, int], Doc("Matching sessions, by reason; if little was found, by filter.")]
    ]
    widened: NotRequired[Annotated[bool, Doc("Headless runs are shown because nothing else matched.")]]
    index: NotRequired[Annotated[IndexJson, Doc("What the index lacks, if anything.")]]
    currentSessions: NotRequired[Annotated[list[str], Doc("Ids of the sessions you are in, left out of this answer.")]]
    cutToBudget: NotRequired[Annotated[bool, Doc("max_bytes left something out.")]]
    results: list[BriefResultJson]
