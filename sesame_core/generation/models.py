"""Language models, where some are configured: a prompt in, a text or a JSON value out.

The only code that imports `llm`.  Without models in the configuration none is called, and nothing leaves the machine.
How one is reached, its keys and its server, is the business of `llm` and its plugins, or of a program that is named.
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

#: Times a model is asked again after an answer that is not what was asked for [seed 002].
RETRIES = 2
#: Characters of a provider's message that are shown.
SHOWN = 300
#: What to say when no model is configured, and when the library is missing.
NOT_SET_UP = 'no model is set up: name one in config.jsonc, "models": ["…"]'
NOT_INSTALLED = "models are asked through llm, which is not installed: pip install 'sesame-search[llm]'"

#: What stands around a piece of a session in a prompt.
_TAG = re.compile(r"</?(?=(?:passage|message)\b)", re.IGNORECASE)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model answered, and what that took."""

    model: str
    text: str
    seconds: float = 0.0
    #: As the provider counts them; None when it does not tell.
    input_tokens: int | None = None
    output_tokens: int | None = None
    #: Dollars: what the provider says, else by the configured prices; None when neither is known.
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call of a model: what it took, and what was wrong with it."""

    model: str
    #: None when it was what was asked for.
    error: str | None = None
    #: Whether anything was answered, and so may have cost something.
    is_answered: bool = True
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """A value that a model gave, and every attempt it took; failed ones cost money, too."""

    #: None when no model gave one.
    value: T | None
    attempts: tuple[Attempt, ...]

    @property
    def model(self) -> str | None:
        """The model that gave the value."""
        return self.attempts[-1].model if self.value is not None else None

    @property
    def cost(self) -> float | None:
        """Dollars of all attempts; None when that of any answer is not known."""
        answered = [attempt for attempt in self.attempts if attempt.is_answered]
        known = [attempt.cost for attempt in answered if attempt.cost is not None]
        return sum(known) if known and len(known) == len(answered) else None


def complete(
    prompt: str, choice: ModelChoice, *, system: str | None = None, schema: Mapping[str, Any] | None = None
) -> Completion:
    """Ask one model once.

    :param schema: JSON Schema of the answer; enforced by models that can.
    :raises ModelError: there is no way to this model; it failed, took longer than `choice.seconds`, or answered
        nothing, as one does that refuses.
    """
    started = time.monotonic()
    if choice.command or choice.name == AGENT:
        found = _by_program(prompt, choice, system)
    else:
        found = _by_llm(prompt, choice, system, schema)
    if not found.text.strip():
        raise ModelError(f"{choice.name}: it answered nothing, which is how models refuse")
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
        raise ModelError(NOT_INSTALLED) from error
    try:
        model = llm.get_model(choice.name)
    except llm.UnknownModelError:
        raise ModelError(f"llm knows no model {choice.name!r}; see: llm models") from None
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
    """Ask models for a JSON value until one gives a valid one; what hinders them is told in the reply, not raised.

    A malformed value is asked for again, `RETRIES` times; after that, and after any other failure at once, the next
    model's turn comes.

    :param choices: in the order they are tried.
    :param check: turns the decoded value into what is wanted; raises ValueError with what is wrong with it.
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
    """Return text of a session that cannot end the `<passage>` or `<message>` it stands in."""
    return _TAG.sub("<_", text)


def _decoded(text: str) -> Any:
    """Return the JSON value of a text, with or without a fence of Markdown around it."""
    fenced = _FENCED.fullmatch(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from None


def _bind(model: Any, seconds: float) -> None:
    """Make the client of an OpenAI-compatible model give up in time and try once: repeating is `complete_json`'s."""
    make = getattr(model, "get_client", None)
    if make is not None:
        model.get_client = lambda *args, **more: make(*args, **more).with_options(timeout=seconds, max_retries=0)


def _within(seconds: float, act: Callable[[], T]) -> T:
    """Return what a call returns, or raise TimeoutError; a call that hangs is left behind and stops no exit."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(act())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="sesame-model").start()
    return future.result(seconds)


def _cost(choice: ModelChoice, given: int | None, made: int | None, details: Mapping[str, Any]) -> float | None:
    told = details.get("cost")
    if isinstance(told, int | float):
        return float(told)
    if choice.input_price is None or choice.output_price is None or given is None or made is None:
        return None
    return (given * choice.input_price + made * choice.output_price) / 1e6


def _first_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
