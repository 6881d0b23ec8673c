"""The tools: each parses its input, calls the library, and returns the JSON that the command line prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from ..dataclass import dataclass
from ..errors import ResumeError, SesameError, UnknownSessionError
from ..integration.environment import named_sessions
from ..rendering.brief import PASSAGE, brief_json
from ..rendering.freshness import index_json
from ..rendering.resumptions import resume_json
from ..rendering.schemas.brief import BriefJson
from ..rendering.session_answers import session_answer_json
from ..rendering.sessions import session_json, session_summary
from ..rendering.text import SCHEMA_VERSION, count
from ..runtime.background import BackgroundIndexer
from ..search.passages import BUDGET
from . import inputs, outputs
from .arguments import filters as filters_of
from .arguments import read
from .asking import question
from .bounds import ANSWER_BYTES, budget
from .hints import for_agents
from .masking import Mask
from .pages import answer_page, facts_page, history_page, messages_page, sessions_page

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.query import Filters
    from ..types.report import IndexReport

InputT = TypeVar("InputT", bound=BaseModel)
AnswerT = TypeVar("AnswerT", bound=Mapping[str, object])


@dataclass(frozen=True, slots=True)
class Tool(Generic[InputT, AnswerT]):
    """One tool as agents see it, and the method of `Tools` that implements it."""

    name: str
    title: str
    description: str
    takes: type[InputT]
    answers: type[AnswerT]
    run: Callable[[Tools, InputT], AnswerT]
    #: It may ask a language model, if one is configured.
    is_open_world: bool = False


class Tools:
    """The tools on one open `Sesame`; any number of threads may call them at once.

    :param current: returns the ids of the sessions that a caller is in whose call names none; asked at each call, since
        some agents' sessions are known only while they wait for it.
    """

    def __init__(self, sesame: Sesame, current: Callable[[], Iterable[str]] = tuple, *, is_local: bool = True) -> None:
        #: Answers leave for an agent, and so for a language model.
        self._sesame = sesame.without_secrets()
        self._current = current
        self._is_local = is_local
        self._indexer = BackgroundIndexer(sesame)

    def call(
        self, name: str, arguments: dict[str, Any], meta: Mapping[str, object] | None = None
    ) -> Mapping[str, object]:
        """Return the answer of a tool.

        :param meta: the `_meta` of the call.
        :raises SesameError: the tool is unknown, its arguments are not valid, or the library raises it.
        """
        try:
            tool = TOOLS.get(name)
            if tool is None:
                raise SesameError(f"unknown tool {name!r}; there are {', '.join(TOOLS)}")
            answer: Mapping[str, Any] = tool.run(self._of(meta), read(tool.takes, arguments))
        except SesameError as error:
            message = error.message if isinstance(error, UnknownSessionError) else str(error)
            masked = Mask(self._sesame, {"name": name, **arguments}).text(message)
            raise error if masked == message else type(error)(masked) from error
        shown: Mapping[str, Any] = Mask(self._sesame, arguments).value(answer)
        return {**shown, "hints": for_agents(shown["hints"])} if shown.get("hints") else shown

    def warm_up(self) -> None:
        """Do what the first call would wait for: load what it needs, and index what has changed."""
        self._sesame.status()
        self._refresh()

    def progress(self, name: str) -> str:
        """Return what a call of a tool is doing, for people."""
        if self._indexer.pending:
            return f"indexing: {count(self._indexer.pending, 'file')} left"
        tool = TOOLS.get(name)
        if tool is not None and tool.is_open_world and self._sesame.config.models:
            return "waiting for a language model"
        return "searching"

    def _of(self, meta: Mapping[str, object] | None) -> Tools:
        """Return the tools as the caller of one call has them."""
        named = named_sessions(meta)
        if not named:
            return self
        own = copy(self)
        own._current = lambda: named
        return own

    def search_sessions(self, given: inputs.SearchSessions) -> BriefJson:
        """Search, and return the evidence."""
        refreshed = self._refresh()
        filters, current = self._filters(given)
        answer = self._sesame.search(
            given.query,
            filters,
            limit=given.limit,
            offset=given.offset,
            passages=given.hits,
            passage_bytes=PASSAGE,
            context=(given.context_before, given.context_after),
        )
        return brief_json(answer, refreshed, max_bytes=given.max_bytes, current=current)

    def list_sessions(self, given: inputs.ListSessions) -> outputs.SessionListJson:
        """List sessions, the last active first."""
        refreshed = self._refresh()
        filters, current = self._filters(given)
        limit = min(given.limit, inputs.MOST_SESSIONS)
        found, total = self._sesame.list_sessions(filters, limit=limit, offset=given.offset)
        kept_out = self._sesame.kept_out(filters, total)
        return sessions_page(found, total, given.offset, kept_out, refreshed, current, budget(given.max_bytes))

    def list_messages(self, given: inputs.ListMessages) -> outputs.MessagesJson:
        """Return a page of a session's text."""
        refreshed = self._refresh()
        stored = self._sesame.get_session(given.session)
        limit = min(given.limit, inputs.MOST_MESSAGES)
        chunks = self._sesame.list_messages(stored, offset=given.offset, limit=limit)
        most = budget(given.max_bytes)
        return messages_page(stored, chunks, refreshed, most, offset=given.offset, text_offset=given.text_offset)

    def get_session(self, given: inputs.GetSession) -> outputs.SessionFactsJson:
        """Return the facts about a session, without its text."""
        refreshed = self._refresh()
        stored = self._sesame.get_session(given.session)
        resume, problem = None, None
        try:
            resume = resume_json(self._sesame.resumption(stored))
        except ResumeError as error:
            problem = str(error)
        facts = {
            "schemaVersion": SCHEMA_VERSION,
            **session_json(stored),
            "summary": session_summary(stored),
            "prompts": list(stored.session.prompts),
            "resumeCommand": resume,
            "resumeProblem": problem,
            "index": index_json(refreshed),
        }
        return facts_page(facts, budget(given.max_bytes))

    def query_session(self, given: inputs.QuerySession) -> outputs.QueryAnswerJson:
        """Answer a question about a session."""
        refreshed = self._refresh()
        most = budget(given.max_bytes)
        passages = most * BUDGET // ANSWER_BYTES
        asked = self._sesame.ask(given.session, given.question, max_bytes=passages)
        return answer_page({**session_answer_json(asked), "index": index_json(refreshed)}, most)

    def ask_history(self, given: inputs.AskHistory) -> outputs.HistoryJson:
        """Answer a question about what was done, in all sessions."""
        asked = question(given.question, is_local=self._is_local)
        refreshed = self._refresh()
        filters, current = self._filters(given)
        limit = min(given.limit, inputs.MOST_ANSWERS)
        found = asked.ask(self._sesame, given.about, filters, limit=limit, offset=given.offset)
        value = asked.value(found, refreshed, current)
        return history_page(value, asked.results, given.offset, budget(given.max_bytes))

    def _refresh(self) -> IndexReport:
        """Index changes, and begin to index in the background what the time does not suffice for."""
        return self._indexer.refresh()

    def close(self) -> None:
        """Stop indexing in the background."""
        self._indexer.close()

    def _filters(self, given: inputs.Filtered | inputs.AskHistory) -> tuple[Filters, list[str]]:
        """Return the filters, and the ids of the caller's own sessions, which the filters exclude."""
        own = (given.current_session,) if given.current_session else self._current()
        current = [] if given.include_current else list(own)
        filters = filters_of(given.model_dump(exclude={"exclude"}))
        return self._sesame.excluding(filters, [*inputs.several(given.exclude), *current]), current


_TOOLS = (
    Tool(
        "search_sessions",
        "Search past sessions",
        "Find past coding-agent sessions by what was said or done in them, best first, each with the passages that "
        "matched (the best one, and the best of the other side: an answer, if that is a prompt) and the items around "
        "the first one. Use it when the user refers to earlier work (“what did we decide "
        "about X”, “how did we fix this before”, “the session where …”), when an error or a task looks familiar, or "
        "before redoing work that may have been done. Do not use it for the present contents of files (read or grep "
        "them), for general knowledge, or for what was said in this very conversation. When an answer says "
        "weak or wordsNotFound, try other words before concluding that there was no such session. While it says "
        "index.pending, that many files are missing from it: they are being indexed, ask again. A field that says "
        "nothing is left out.",
        inputs.SearchSessions,
        BriefJson,
        Tools.search_sessions,
    ),
    Tool(
        "list_sessions",
        "List past sessions",
        "List sessions, the last active first, by directory, time, agent and other facts. Use it for “what was I "
        "working on yesterday”; to find a session by its subject use search_sessions.",
        inputs.ListSessions,
        outputs.SessionListJson,
        Tools.list_sessions,
    ),
    Tool(
        "list_messages",
        "Read a past session",
        "Read the messages, tool calls and results of one session in order, page by page. Use it to read on around a "
        "passage that search_sessions found (offset: its at, or somewhat less). To learn one thing from "
        "a long session use query_session; do not page through all of it.",
        inputs.ListMessages,
        outputs.MessagesJson,
        Tools.list_messages,
    ),
    Tool(
        "get_session",
        "Look up a past session",
        "Return what is known about one session, without its text: title, directory, branch, times, first prompts, "
        "summary, and how to resume it. Use it when you have an id and need to know what it is.",
        inputs.GetSession,
        outputs.SessionFactsJson,
        Tools.get_session,
    ),
    Tool(
        "query_session",
        "Ask about a past session",
        "Answer a question about one session whose id you know, from its most relevant passages, with their entry "
        "ids. Where a language model is set up it writes the answer; otherwise answer is null and the passages are "
        "the answer. Use it instead of reading a long session. To find the session first, use search_sessions.",
        inputs.QuerySession,
        outputs.QueryAnswerJson,
        Tools.query_session,
        is_open_world=True,
    ),
    Tool(
        "ask_history",
        "Ask what was done before",
        "Answer from what was done in all past sessions: how an error was fixed (question fix: the edits and commands "
        "after which it did not come back, and whether that held), how something is run here (question how: "
        "commands that succeeded, their variants, and those that failed), which sessions wrote lines of a file and "
        "what was asked for (blame), or who worked on a file or a topic (who). Use it when a command fails with an "
        "error that may have occurred before, before you try fixes of your own; to learn how this project is tested, "
        "built or deployed; and to learn why code is as it is before you change it. same false marks an error that is "
        "only like yours. Read around a place with list_messages (offset: its position).",
        inputs.AskHistory,
        outputs.HistoryJson,
        Tools.ask_history,
    ),
)

#: All tools by name, in the order agents see them.
TOOLS: dict[str, Tool[Any, Any]] = {tool.name: tool for tool in _TOOLS}
