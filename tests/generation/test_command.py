"""Programs as language models: any that reads a prompt and prints an answer."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import paths
from sesame_core.config.model import ModelChoice
from sesame_core.errors import ModelError
from sesame_core.generation.command import VARIABLE
from sesame_core.generation.models import complete

from ..support.model_server import configured

FOUND = {"answer": "At least 250 ms.", "found": True, "citations": [19]}
QUESTION = "what is the smallest delay the client takes?"


def program(code: str) -> list[str]:
    """The command of a program of a few lines."""
    return [sys.executable, "-c", "import json, os, sys, subprocess, time\n" + code]


def model(code: str, **more: Any) -> dict[str, Any]:
    """The program as an entry of the configuration."""
    return {"name": "script", "command": program(code), **more}


def asked(code: str, prompt: str = "Which colour?", **more: Any) -> Any:
    return complete(prompt, ModelChoice(name="script", command=tuple(program(code)), **more), system="One word.")


def test_a_program_reads_the_prompt_and_prints_the_answer(home: Path) -> None:
    found = asked("print('[' + sys.stdin.read() + ']')")
    assert (found.text, found.model) == ("[One word.\n\nWhich colour?]\n", "script")
    assert (found.input_tokens, found.output_tokens, found.cost) == (None, None, None)


def test_it_runs_where_no_file_of_a_project_is_taken_for_instructions(home: Path, tmp_path: Path) -> None:
    assert asked("print(os.getcwd())").text.strip() == str(paths.data_dir())


def test_it_may_tell_what_the_answer_took_in_its_last_line_of_standard_error(home: Path) -> None:
    took = {"model": "blue-1", "inputTokens": 12, "outputTokens": 3, "cost": 0.5}
    found = asked(f"print('blue'); print('a warning', {json.dumps(took)!r}, sep='\\n', file=sys.stderr)")
    assert (found.text, found.model) == ("blue\n", "blue-1")
    assert (found.input_tokens, found.output_tokens, found.cost) == (12, 3, 0.5)


def test_without_a_cost_the_configured_prices_count(home: Path) -> None:
    code = """print('blue'); print('{"inputTokens": 1000, "outputTokens": 50}', file=sys.stderr)"""
    assert asked(code, input_price=0.1, output_price=0.4).cost == pytest.approx(0.00012)


def test_a_prompt_and_an_answer_may_be_larger_than_a_pipe(home: Path) -> None:
    text = "日本語" * 200_000
    found = asked("text = sys.stdin.buffer.read(); sys.stdout.buffer.write(text)", text)
    assert found.text == f"One word.\n\n{text}"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print('no such luck', file=sys.stderr); sys.exit(3)", "no such luck"),
        ("""print('no luck\\n{"cost": 1}', file=sys.stderr); sys.exit(1)""", "no luck"),
        ("sys.exit(3)", f"'{sys.executable}' failed with exit code 3"),
        ("pass", "the answer is empty, which is how models refuse"),
    ],
)
def test_a_program_that_fails_or_prints_nothing_gives_no_answer(code: str, problem: str, home: Path) -> None:
    with pytest.raises(ModelError) as raised:
        asked(code)
    assert str(raised.value) == f"script: {problem}"


def test_a_program_that_is_not_there_is_reported(home: Path) -> None:
    with pytest.raises(ModelError, match=r"^script: there is no program 'no-such-program'$"):
        complete("?", ModelChoice(name="script", command=("no-such-program",)))


def test_a_program_that_does_not_start_is_reported(home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"#!/no/such/interpreter\n")
    broken.chmod(0o755)
    for command in ((str(broken),), (sys.executable, "\0")):
        with pytest.raises(ModelError, match=r"^script: '.*' cannot be started: "):
            complete("?", ModelChoice(name="script", command=command))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no process group")
def test_a_program_that_takes_too_long_is_ended_with_what_it_started(home: Path, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    child = f"import time\nwhile True: open({str(beat)!r}, 'a').write('.'); time.sleep(0.02)"
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"^script: no answer within 1 seconds$"):
        asked(f"subprocess.run([sys.executable, '-c', {child!r}])", seconds=1)
    assert time.monotonic() - started < 10
    beats = beat.stat().st_size
    assert beats
    time.sleep(0.3)
    assert beat.stat().st_size == beats


def test_a_session_is_asked_through_a_program_and_malformed_answers_are_asked_for_again(
    demo_sessions: Path, home: Path, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    seen = tmp_path / "seen"
    code = (
        f"seen = open({str(seen)!r}, 'a+'); seen.write(json.dumps(sys.stdin.read()) + '\\n'); seen.seek(0)\n"
        f"print('?' if len(list(seen)) < 3 else {json.dumps(FOUND)!r})"
    )
    configured(home, model(code))
    cli("index")
    answer = cli("ask", "d6bc", QUESTION, "--json").json
    assert (answer["answer"], answer["model"], answer["cost"]) == ("At least 250 ms.", "script", None)
    assert [attempt["error"] is None for attempt in answer["attempts"]] == [False, False, True]
    prompts = [json.loads(line) for line in seen.read_text().splitlines()]
    assert all(prompt.startswith("You answer a question about a recorded session") for prompt in prompts)
    assert "Your last answer could not be used: it is not valid JSON" in prompts[1]
    seen.unlink()
    assert cli("ask", "d6bc", QUESTION).out.endswith("\n  by script, 3 attempts, cost not known\n")


def test_after_a_program_that_fails_it_is_the_next_models_turn(
    demo_sessions: Path, home: Path, cli: Callable[..., Any]
) -> None:
    configured(home, model("sys.exit(3)"), {**model(f"print({json.dumps(FOUND)!r})"), "name": "other"})
    cli("index")
    answer = cli("ask", "d6bc", QUESTION, "--json").json
    assert [attempt["model"] for attempt in answer["attempts"]] == ["script", "other"]
    assert (answer["answer"], answer["model"]) == ("At least 250 ms.", "other")


def test_the_agents_own_model_is_asked_only_where_it_is_named_and_offered(
    demo_sessions: Path, home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("index")
    monkeypatch.setenv(VARIABLE, json.dumps(program(f"print({json.dumps(FOUND)!r})")))
    assert cli("ask", "d6bc", QUESTION, "--json").json["attempts"] == []
    configured(home, "agent")
    assert cli("ask", "d6bc", QUESTION, "--json").json["answer"] == "At least 250 ms."
    for offer, problem in (
        ("", "agent: no agent offers its model here; for pi, run: sesame integrate pi"),
        ("pi -p", f"agent: {VARIABLE} is not a JSON list of the words of a command"),
        ("[1]", f"agent: {VARIABLE} is not a JSON list of the words of a command"),
    ):
        monkeypatch.setenv(VARIABLE, offer)
        assert cli("ask", "d6bc", QUESTION, "--json").json["reason"] == problem
