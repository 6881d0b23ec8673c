"""Calls the configured language models: a prompt in, a string or a JSON value out.

The only code that imports `llm`.  Without models in the configuration none is called, and nothing leaves the machine.
`llm` and its plugins, or the configured program, know the server and the keys of a model.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from ..config import paths
from ..config.model import AGENT, ModelChoice
from ..dataclass import dataclass, replace
from ..errors import ModelError
from .command import agent_command, ask_command

#: Number of retries of a model after a malformed answer [seed 002].
RETRIES = 2
#: Most characters of a provider's message that are shown.
SHOWN = 300
#: Messages when no model is configured, and when the library is missing.
NOT_SET_UP = 'no model is configured: add one to config.jsonc, "models": ["…"]'
NOT_INSTALLED = "models are called through llm, which is not installed: "

#: The tags that enclose a part of a session in a prompt.
_TAG = re.compile(r"</?(?=(?:passage|message)\b)", re.IGNORECASE)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer, with its tokens, cost and time."""

    model: str
    text: str
    seconds: float = 0.0
    #: As counted by the provider; None when it does not report them.
    input_tokens: int | None = None
    output_tokens: int | None = None
    #: Dollars: reported by the provider, else computed from the configured prices; None when neither is known.
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call of a model: its tokens, cost and time, and its error."""

    model: str
    #: None when the answer was valid.
    error: str | None = None
    #: Whether the model answered at all, so that the call may have a cost.
    is_answered: bool = True
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """A value that a model returned, and every attempt; failed ones cost money, too."""

    #: None when no model returned a valid one.
    value: T | None
    attempts: tuple[Attempt, ...]

    @property
    def model(self) -> str | None:
        """The model that returned the value."""
        return self.attempts[-1].model if self.value is not None else None

    @property
    def cost(self) -> float | None:
        """Dollars of all attempts; None when the cost of any answer is unknown."""
        answered = [attempt for attempt in self.attempts if attempt.is_answered]
        known = [attempt.cost for attempt in answered if attempt.cost is not None]
        return sum(known) if known and len(known) == len(answered) else None


def complete(
    prompt: str, choice: ModelChoice, *, system: str | None = None, schema: Mapping[str, Any] | None = None
) -> Completion:
    """Call one model once.

    :param schema: JSON Schema of the answer; enforced by models that support it.
    :raises ModelError: the model cannot be reached, failed, took longer than `choice.seconds`, or returned an empty
        answer, as models do that refuse.
    """
    started = time.monotonic()
    if choice.command or choice.name == AGENT:
        found = _by_program(prompt, choice, system)
    else:
        found = _by_llm(prompt, choice, system, schema)
    if not found.text.strip():
        raise ModelError(f"{choice.name}: the answer is empty, which is how models refuse")
    return replace(found, seconds=time.monotonic() - started)


def _by_program(prompt: str, choice: ModelChoice, system: str | None) -> Completion:
    directory = paths.data_dir()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        command = choice.command or agent_command()
        asked = "\n\n".join(filter(None, (system, prompt)))
        text, took = ask_command(command, asked, seconds=choice.seconds, directory=directory)
    except (ModelError, OSError) as error:
        raise ModelError(f"{choice.name}: {_first_line(error)}") from error
    given, made = (n if isinstance(n := took.get(key), int) else None for key in ("inputTokens", "outputTokens"))
    return Completion(
        model=str(took.get("model") or choice.name),
        text=text,
        input_tokens=given,
        output_tokens=made,
        cost=_cost(choice, given, made, took),
    )


def _by_llm(prompt: str, choice: ModelChoice, system: str | None, schema: Mapping[str, Any] | None) -> Completion:
    try:
        import llm
    except ImportError as error:
        from ..installation import adding

        raise ModelError(f"{NOT_INSTALLED}{adding('llm')}") from error
    try:
        model = llm.get_model(choice.name)
    except llm.UnknownModelError:
        raise ModelError(f"llm has no model {choice.name!r}; see: llm models") from None
    except Exception as error:
        raise ModelError(f"llm cannot load its models: {_first_line(error)}") from error
    _bind(model, choice.seconds)
    supported = dict(schema) if schema and model.supports_schema else None

    def run() -> tuple[str, Any]:
        response = model.prompt(prompt, system=system, schema=supported)
        return response.text(), response.usage()

    try:
        text, usage = _within(choice.seconds, run)
    except TimeoutError:
        raise ModelError(f"{choice.name}: no answer within {choice.seconds:g} seconds") from None
    except Exception as error:
        raise ModelError(f"{choice.name}: {_first_line(error)}") from error
    return Completion(
        model=choice.name,
        text=text,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cost=_cost(choice, usage.input, usage.output, usage.details or {}),
    )


def complete_json(
    prompt: str,
    choices: Sequence[ModelChoice],
    check: Callable[[Any], T],
    *,
    system: str | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Reply[T]:
    """Call models until one returns a valid JSON value; their errors are in the reply, not raised.

    After a malformed value the same model is called again, up to `RETRIES` times; after that, or at once after any
    other failure, the next model is tried.

    :param choices: in the order they are tried.
    :param check: converts the decoded value into the result; raises ValueError with its fault.
    """
    attempts: list[Attempt] = []
    for choice in choices:
        asked = prompt
        for _ in range(1 + RETRIES):
            try:
                found = complete(asked, choice, system=system, schema=schema)
            except ModelError as error:
                attempts.append(Attempt(model=choice.name, error=str(error), is_answered=False))
                break
            attempt = Attempt(
                model=found.model,
                seconds=found.seconds,
                input_tokens=found.input_tokens,
                output_tokens=found.output_tokens,
                cost=found.cost,
            )
            try:
                value = check(_decoded(found.text))
            except ValueError as error:
                attempts.append(replace(attempt, error=f"{found.model}: malformed answer: {_first_line(error)}"))
                asked = (
                    f"{prompt}\n\nYour last answer could not be used: {_first_line(error)}. Answer with the JSON only."
                )
                continue
            return Reply(value=value, attempts=(*attempts, attempt))
    return Reply(value=None, attempts=tuple(attempts))


def escape_tags(text: str) -> str:
    """Escape tags in the text of a session, so that it cannot close the `<passage>` or `<message>` around it."""
    return _TAG.sub("<_", text)


def _decoded(text: str) -> Any:
    """Decode a string as JSON, with or without a Markdown fence around it."""
    fenced = _FENCED.fullmatch(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is not valid JSON: {error}") from None


def _bind(model: Any, seconds: float) -> None:
    """Set timeout and no retries on the client of an OpenAI-compatible model: `complete_json` retries."""
    make = getattr(model, "get_client", None)
    if make is not None:
        model.get_client = lambda *args, **more: make(*args, **more).with_options(timeout=seconds, max_retries=0)


def _within(seconds: float, act: Callable[[], T]) -> T:
    """Return the result of a call, or raise TimeoutError; a call that hangs is abandoned and does not block exit."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(act())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="sesame-model").start()
    return future.result(seconds)


def _cost(choice: ModelChoice, given: int | None, made: int | None, details: Mapping[str, Any]) -> float | None:
    reported = details.get("cost")
    if isinstance(reported, int | float):
        return float(reported)
    if choice.input_price is None or choice.output_price is None or given is None or made is None:
        return None
    return (given * choice.input_price + made * choice.output_price) / 1e6


def _first_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
