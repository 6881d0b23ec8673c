"""Facts about a session, tools, and what is not indexed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Session
from sesame_parser_claude_code.parser import ClaudeCodeParser

from .records import (
    SESSION,
    ai_title,
    answer,
    base,
    enqueue,
    messages,
    parse,
    result,
    said,
    session,
    user,
)


def test_facts_of_the_session(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            user(1, "hi", entrypoint="cli"),
            answer(2, "yo", gitBranch="feature"),
            answer(3, "yo yo", gitBranch="HEAD"),
            {"type": "pr-link", "prNumber": 7, "prUrl": "https://git.example/bo/fox/pull/7", "prRepository": "bo/fox"},
            {"type": "pr-link", "prNumber": 7, "prUrl": "https://git.example/bo/fox/pull/7", "prRepository": "bo/fox"},
            {"type": "tag", "tag": "hunt"},
            {"type": "tag", "tag": ""},
            {"type": "agent-name", "agentName": "fox-hunter"},
            {"type": "frame-link", "title": "Map", "frameUrl": "https://frame.example/1", "path": "/x"},
        )
    )
    about = session(events)
    assert (about.agent, about.kind, about.git_branch, about.model) == (
        "claude-code",
        "interactive",
        "feature",
        "claude-fox-1",
    )
    assert about.repository == "git.example/bo/fox"
    assert [(m.source_type, m.text) for m in messages(events) if m.role == "metadata"] == [
        ("pr-link", "bo/fox#7 https://git.example/bo/fox/pull/7"),
        ("tag", "hunt"),
        ("agent-name", "fox-hunter"),
        ("frame-link", "Map https://frame.example/1"),
    ]


def test_the_first_word_about_a_session_tells_its_directory(write: Callable[..., Path]) -> None:
    events = parse(write(ai_title("Foxes"), enqueue("early"), user(1, "hi")))
    assert isinstance(events[0], Session)
    assert events[0].cwd == "/home/bo/fox"
    assert said(events)[0] == ("metadata", "Foxes")


@pytest.mark.parametrize(
    ("entrypoints", "kind"),
    [
        ((None,), "interactive"),
        (("sdk-cli",), "headless"),
        (("sdk-ts", "cli"), "interactive"),
        (("cli", "sdk-py"), "interactive"),
    ],
)
def test_a_session_no_one_typed_into_is_headless(
    entrypoints: tuple[str | None, ...], kind: str, write: Callable[..., Path]
) -> None:
    records = [user(n, "hi", entrypoint=entrypoint) for n, entrypoint in enumerate(entrypoints, 1)]
    assert session(parse(write(*records))).kind == kind


def test_the_session_id_is_the_first_records_or_the_files_name(write: Callable[..., Path]) -> None:
    second = {**user(2, "b"), "sessionId": "other"}
    assert session(parse(write(user(1, "a"), second, name="conversation.jsonl"))).id == SESSION
    nameless = user(1, "a")
    del nameless["sessionId"]
    assert session(parse(write(nameless, name="conversation.jsonl"))).id == "conversation"


def test_thinking_is_found_only_when_asked_for(write: Callable[..., Path]) -> None:
    thought = {"type": "thinking", "thinking": "hmm, foxes", "signature": "c2ln"}
    empty = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    path = write(answer(1, thought, id="A"), answer(2, empty, id="A"), answer(3, "Foxes.", id="A"))
    assert said(parse(path)) == [("assistant", "Foxes.")]
    assert said(parse(path, ClaudeCodeParser(thinking=True))) == [("assistant", "hmm, foxes\n\nFoxes.")]


def test_a_servers_tool_answers_within_the_reply(write: Callable[..., Path]) -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "advisor", "input": {"q": "x"}}
    reply = {"type": "advisor_tool_result", "tool_use_id": "s1", "content": {"type": "r", "text": "looks fine"}}
    (message,) = messages(parse(write(answer(1, call, id="A"), answer(2, reply, id="A"))))
    assert message.tool_calls[0].name == "advisor"
    assert (message.tool_results[0].name, message.tool_results[0].text) == ("advisor", "looks fine")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("out", "out"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image", "source": {"data": "AAAA"}}, "b"], "a\nb"),
        ([{"type": "tool_reference", "tool_name": "TaskCreate"}], "TaskCreate"),
        ([{"type": "web_search_result", "title": "Foxes", "url": "https://f.example"}], "Foxes\nhttps://f.example"),
        ({"type": "text", "text": "loose"}, "loose"),
        (7, ""),
    ],
)
def test_a_tools_answer_has_many_shapes(content: Any, text: str, write: Callable[..., Path]) -> None:
    (message,) = messages(parse(write(result(1, "t", content))))
    assert message.role == "tool"
    assert message.tool_results[0].text == text


def test_attachments_hooks_and_progress_are_not_indexed(write: Callable[..., Path]) -> None:
    kinds = ["file", "directory", "nested_memory", "hook_success", "skill_listing", "diagnostics", "not_yet_invented"]
    attachments = [base(n, "attachment", attachment={"type": k, "content": "noise"}) for n, k in enumerate(kinds, 2)]
    events = parse(write(user(1, "hi"), *attachments, base(20, "progress", data={"type": "x", "output": "noise"})))
    assert said(events) == [("user", "hi")]
