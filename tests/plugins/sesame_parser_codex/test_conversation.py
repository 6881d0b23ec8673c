"""Prompts, answers, summaries and titles: each once, and nothing that Codex adds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_parser_codex.parser import CodexParser

from .records import (
    CHILD,
    PARSER,
    RICH,
    THREAD,
    Record,
    answer,
    call,
    calls,
    completed,
    context,
    event,
    everything,
    item,
    messages,
    meta,
    model_answer,
    model_user,
    name,
    new_answer,
    new_prompt,
    output,
    parse,
    prompt,
    record,
    said,
    session,
    skipped,
    started,
)


def later(records: list[Record]) -> list[Record]:
    """The same records ten seconds later."""
    return [{**one, "timestamp": one["timestamp"].replace(":00:0", ":00:1")} for one in records]


# -- once -------------------------------------------------------------------------------------------------


def test_a_legacy_text_that_is_there_twice_is_said_once(write: Callable[..., Path]) -> None:
    assert said(parse(write(meta(), prompt("ask"), answer("reply")))) == [("user", "ask"), ("assistant", "reply")]


def test_a_paginated_text_that_is_there_twice_is_said_once(write: Callable[..., Path]) -> None:
    path = write(meta(history_mode="paginated"), new_prompt("ask"), new_answer("reply"))
    assert said(parse(path)) == [("user", "ask"), ("assistant", "reply")]


@pytest.mark.parametrize("order", ["event first", "model first", "event only", "model only"])
def test_an_answer_is_said_once_whichever_record_comes_first(order: str, write: Callable[..., Path]) -> None:
    shown, model = event("agent_message", 3, message="reply"), model_answer("reply")
    records = {
        "event first": [shown, event("token_count"), model],
        "model first": [model, event("token_count"), shown],
        "event only": [shown],
        "model only": [model],
    }[order]
    assert said(parse(write(meta(), prompt("ask"), records))) == [("user", "ask"), ("assistant", "reply")]


def test_a_text_that_both_kinds_of_events_show_is_said_once(write: Callable[..., Path]) -> None:
    asked = [model_user("ask"), event("user_message", message="ask"), new_prompt("ask")[1]]
    replied = [event("agent_message", 3, message="reply"), *new_answer("reply")]
    path = write(meta(), asked, replied, later(asked), later(replied))
    assert said(parse(path)) == [("user", "ask"), ("assistant", "reply")] * 2


def test_a_prompt_that_is_repeated_by_another_version_is_said_twice(write: Callable[..., Path]) -> None:
    path = write(meta(), prompt("go on"), answer("a"), new_prompt("go on", 20), new_answer("b", 21))
    assert [text for role, text in said(parse(path)) if role == "user"] == ["go on"] * 2


def test_an_answer_that_is_given_twice_is_said_twice(write: Callable[..., Path]) -> None:
    path = write(meta(), prompt("a"), answer("Done."), answer("Done."), prompt("b"), answer("Done."))
    assert [text for role, text in said(parse(path)) if role == "assistant"] == ["Done."] * 3


def test_a_prompt_that_is_typed_twice_is_said_twice(write: Callable[..., Path]) -> None:
    path = write(meta(), prompt("go on"), answer("a"), prompt("go on", 20), answer("b", 21))
    assert [text for role, text in said(parse(path)) if role == "user"] == ["go on"] * 2


def test_a_record_that_is_written_again_after_a_crash_is_said_once(write: Callable[..., Path]) -> None:
    shown, model = prompt("ask")[1], model_answer("reply")
    torn = json.dumps(model).encode()[:40] + b"\n"
    events = parse(write(meta(), shown, shown, torn, model, model))
    assert said(events) == [("user", "ask"), ("assistant", "reply")]
    assert skipped(events) == ["damaged"]


def test_a_torn_line_followed_by_its_full_repeat_on_the_same_line_is_said_once(write: Callable[..., Path]) -> None:
    whole = json.dumps(model_answer("reply")).encode()
    events = parse(write(meta(), prompt("ask"), whole[:60] + whole + b"\n"))
    assert said(events) == [("user", "ask"), ("assistant", "reply")]


def test_the_texts_of_a_very_long_answer_are_recognised_although_both_records_were_cut(
    write: Callable[..., Path],
) -> None:
    text = "head " + "word " * 400_000 + "tail"
    events = parse(write(meta(), prompt("ask"), answer(text)))
    assert sum(m.role == "assistant" for m in messages(events)) == 1


# -- prompts ----------------------------------------------------------------------------------------------

INJECTED = [
    "# AGENTS.md instructions for /home/bo/fox\n\n<INSTRUCTIONS>\nNOISE\n</INSTRUCTIONS>",
    "<user_instructions>\n\nNOISE\n\n</user_instructions>",
    "<environment_context>\n  <cwd>/NOISE</cwd>\n</environment_context>",
    "<environment_context><cwd>/NOISE</cwd></environment_context>",
    "<skill>\n<name>NOISE</name>\n</skill>",
    "<turn_aborted>\nNOISE\n</turn_aborted>",
    '<subagent_notification>\n{"status":{"completed":"NOISE"}}\n</subagent_notification>',
    "<codex_internal_context>NOISE</codex_internal_context>",
    "<goal_context>NOISE</goal_context>",
    '<hook_prompt hook_run_id="x">NOISE</hook_prompt>',
    "<recommended_plugins>\nNOISE\n</recommended_plugins>",
    "<context_window>NOISE</context_window>",
    "<user_action>\n  <context>NOISE</context>\n</user_action>",
    "<image name=[Image #1]>",
    "</image>",
]


@pytest.mark.parametrize("text", INJECTED)
@pytest.mark.parametrize("has_events", [True, False])
def test_what_codex_puts_into_user_messages_is_no_prompt(
    text: str, has_events: bool, write: Callable[..., Path]
) -> None:
    asked = prompt("ask") if has_events else [model_user("ask")]
    path = write(meta(), model_user(text, 1), asked, model_user(text, 2.5), answer("reply"), model_user(text, 9))
    assert said(parse(path)) == [("user", "ask"), ("assistant", "reply")]


def test_context_of_a_kind_that_nobody_knows_is_no_prompt_in_a_file_with_events(write: Callable[..., Path]) -> None:
    path = write(
        meta(), model_user("some new context NOISE", 1), prompt("ask"), model_user("more NOISE"), answer("reply")
    )
    assert "NOISE" not in everything(parse(path))


def test_instructions_settings_states_and_encrypted_thoughts_are_left_out(write: Callable[..., Path]) -> None:
    path = write(
        meta(instructions="NOISE", dynamic_tools=[{"name": "NOISE"}]),
        item("message", 1, role="developer", content=[{"type": "input_text", "text": "NOISE"}]),
        item("message", 1, role="system", content=[{"type": "input_text", "text": "NOISE"}]),
        record("world_state", {"full": True, "state": {"agents_md": {"text": "NOISE"}}}),
        context(summary="NOISE", developer_instructions="NOISE"),
        prompt("ask"),
        record("token_usage_record", {"usage": "NOISE"}),
        record("security_risk_score", {"text": "NOISE"}),
        item("reasoning", 2, summary=[], encrypted_content="NOISE"),
        item("reasoning", 2, summary=[], content=[{"type": "reasoning_text", "text": "NOISE"}]),
        item("ghost_snapshot", 2, ghost_commit={"id": "NOISE"}),
        item("image_generation_call", 2, id="i", result="NOISE", revised_prompt="NOISE"),
        item("compaction", 2, encrypted_content="NOISE"),
        item("tool_search_output", 2, tools=[{"description": "NOISE"}]),
        record("future", {"text": "NOISE"}),
        event("future_event", message="NOISE"),
        completed("FutureItem", text="NOISE"),
        answer("reply"),
    )
    events = parse(path)
    assert "NOISE" not in everything(events)
    assert skipped(events) == []


@pytest.mark.parametrize(
    "context",
    [
        "# Context from my IDE setup:\n\n## Active file: a.py\n\n",
        "\n# Files mentioned by the user:\n\n## fox.png: /home/bo/fox.png\n\n",
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n- b.py: b.py\n\n",
    ],
)
def test_a_prompt_from_an_editor_loses_the_context_before_it(context: str, write: Callable[..., Path]) -> None:
    text = f"{context}## My request for Codex:\nfind the fox\n"
    assert said(parse(write(meta(), prompt(text), answer("reply"))))[0] == ("user", "find the fox")


def test_a_prompt_that_starts_like_a_document_stays_whole(write: Callable[..., Path]) -> None:
    text = "# Fix the parser\n\n## Context\nIt reads foxes."
    assert said(parse(write(meta(), prompt(text))))[0] == ("user", text)


def test_a_prompt_that_quotes_injected_text_is_a_prompt(write: Callable[..., Path]) -> None:
    text = "why does my log contain <environment_context> here?"
    for records in (prompt(text), [model_user(text)]):
        assert ("user", text) in said(parse(write(meta(), records, answer("reply"))))


def test_an_image_without_words_is_no_message(write: Callable[..., Path]) -> None:
    shown = completed("UserMessage", id="u", content=[{"type": "image"}, {"type": "local_image", "path": "/a.png"}])
    picture = item(
        "message", 2, role="user", content=[{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]
    )
    assert said(parse(write(meta(), picture, shown, new_answer("nice")))) == [("assistant", "nice")]


def test_prompts_that_no_event_shows_are_taken_from_the_model(write: Callable[..., Path]) -> None:
    path = write(
        meta(), model_user("<environment_context>x"), model_user("ask"), model_answer("reply"), model_user("more")
    )
    assert said(parse(path)) == [("user", "ask"), ("assistant", "reply"), ("user", "more")]


def test_prompts_that_only_a_compaction_has_are_found(write: Callable[..., Path]) -> None:
    kept = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ("<environment_context>NOISE", "where is the lynx", "the summary")
    ]
    compacted = record("compacted", {"message": "the summary", "replacement_history": kept})
    events = parse(write(meta(), compacted))
    assert said(events) == [("user", "where is the lynx"), ("summary", "the summary")]


def test_the_copies_in_a_compaction_are_left_out_when_there_are_prompts(write: Callable[..., Path]) -> None:
    kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ask"}]}]
    compacted = record("compacted", {"message": "a summary", "replacement_history": kept})
    events = parse(write(meta(), prompt("ask"), answer("reply"), compacted))
    assert said(events) == [("user", "ask"), ("assistant", "reply"), ("summary", "a summary")]


def test_context_that_old_versions_show_like_a_prompt_is_none(write: Callable[..., Path]) -> None:
    shown = event("user_message", message="NOISE", kind="environment_context")
    plain = event("user_message", message="ask", kind="plain")
    assert said(parse(write(meta(), shown, plain))) == [("user", "ask")]


def test_a_goal_is_a_prompt_once(write: Callable[..., Path]) -> None:
    goal = [event("thread_goal_updated", n, goal={"objective": "tame the fox", "tokensUsed": n}) for n in (2, 3, 4)]
    assert said(parse(write(meta(), goal))) == [("user", "/goal tame the fox")]


def test_a_prompt_of_a_headless_run_is_a_persons(write: Callable[..., Path]) -> None:
    events = parse(write(meta(source="exec"), prompt("ask")))
    assert session(events).kind == "headless"
    assert said(events) == [("user", "ask")]


# -- answers ----------------------------------------------------------------------------------------------


def test_the_summary_of_a_compaction_is_said_once_without_its_fixed_introduction(write: Callable[..., Path]) -> None:
    lead_in = "Another language model started to solve this problem and more. Use it for your own analysis:\n"
    path = write(
        meta(),
        prompt("ask"),
        answer("reply"),
        started(second=9),
        event("token_count", 9),
        model_answer("the fox is tame", 10),
        record("token_usage_record", {}, 10),
        event("token_count", 10),
        record("compacted", {"message": f"{lead_in}the fox is tame", "replacement_history": []}, 10),
        event("context_compacted", 10),
        prompt("next", 20),
    )
    events = parse(path)
    assert said(events)[2:] == [("summary", "the fox is tame"), ("user", "next")]
    assert [m.source_type for m in messages(events) if m.role == "summary"] == ["compaction"]


def test_the_last_summary_is_the_sessions(write: Callable[..., Path]) -> None:
    path = write(meta(), prompt("a"), *(record("compacted", {"message": text}) for text in ("first", "", "second")))
    found = [one.summary for one in parse(path) if getattr(one, "summary", None)]
    assert found == ["first", "second"]


@pytest.mark.parametrize(
    "failure",
    [
        event("task_complete", 3, turn_id="t", last_agent_message=None, error={"message": "quota exceeded"}),
        event("error", 3, message="quota exceeded", codex_error_info="other"),
        event("error", 3, error={"kind": "rate_limit", "message": "quota exceeded"}),
    ],
)
def test_a_turn_that_failed_says_why_once(failure: Record, write: Callable[..., Path]) -> None:
    again = event("task_complete", 4, error={"message": "quota exceeded"})
    events = parse(write(meta(), prompt("ask"), failure, again))
    assert said(events) == [("user", "ask"), ("system", "quota exceeded")]
    assert messages(events)[-1].is_error


def test_a_prompt_without_an_answer_is_found(write: Callable[..., Path]) -> None:
    assert said(parse(write(meta(), prompt("doomed")))) == [("user", "doomed")]
    assert said(parse(write(meta(), model_user("doomed")))) == [("user", "doomed")]


def test_thoughts_are_left_out_unless_they_are_asked_for(write: Callable[..., Path]) -> None:
    thought = item("reasoning", 2, id="r", summary=[{"type": "summary_text", "text": "perhaps a lynx"}])
    path = write(meta(), prompt("ask"), event("agent_reasoning", text="perhaps a lynx"), thought, answer("reply"))
    assert "lynx" not in everything(parse(path))
    thinking = [m for m in messages(parse(path, CodexParser(thinking=True))) if m.source_type == "thinking"]
    assert [m.text for m in thinking] == ["perhaps a lynx"]


def test_a_review_is_asked_for_and_given(write: Callable[..., Path]) -> None:
    finding = {
        "title": "Loose fence",
        "body": "The fox escapes.",
        "code_location": {"absolute_file_path": "/home/bo/fox/den.py", "line_range": {"start": 7, "end": 9}},
    }
    path = write(
        meta(),
        event("entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint="current changes"),
        event("exited_review_mode", 3, review_output={"overall_explanation": "One hole.", "findings": [finding]}),
    )
    assert said(parse(path)) == [
        ("user", "/review current changes"),
        ("assistant", "One hole.\nLoose fence\n/home/bo/fox/den.py:7\nThe fox escapes."),
    ]


def test_a_plan_is_an_answer(write: Callable[..., Path]) -> None:
    path = write(meta(), new_prompt("plan it"), completed("Plan", id="p", text="1. dig\n2. fence"))
    assert said(parse(path)) == [("user", "plan it"), ("assistant", "1. dig\n2. fence")]


def test_what_another_agent_writes_is_no_prompt(write: Callable[..., Path]) -> None:
    note = item("agent_message", 3, id="a", author="/root", content=[{"type": "input_text", "text": "look north"}])
    assert ("system", "look north") in said(parse(write(meta(), prompt("ask"), note)))


def test_calls_of_one_answer_count_as_one_message(write: Callable[..., Path]) -> None:
    path = write(
        meta(),
        prompt("ask"),
        answer("let me see"),
        call("c1", "exec_command", cmd="ls"),
        call("c2", "exec_command", cmd="pwd"),
        output("c1", "a"),
        output("c2", "b"),
        answer("done", 6),
    )
    new = [m.is_new for m in messages(parse(path)) if m.role == "assistant"]
    assert new == [True, False, False, True]


# -- properties -------------------------------------------------------------------------------------------


def test_a_header_describes_the_session(write: Callable[..., Path]) -> None:
    events = parse(write(meta(), context(), prompt("ask"), context(9, model="fox-2", cwd="/home/bo/den"), prompt("b")))
    found = session(events)
    assert (found.id, found.agent, found.kind, found.parent_id) == (THREAD, "codex", "interactive", None)
    assert (found.cwd, found.directories) == ("/home/bo/fox", ("/home/bo/den",))
    assert (found.git_branch, found.repository, found.model) == ("burrow", "github.com/bo/fox", "fox-2")
    assert found.created is not None
    assert found.created.isoformat() == "2026-03-01T09:00:00+00:00"


def test_directories_are_those_of_all_turns_and_roots(write: Callable[..., Path]) -> None:
    path = write(
        meta(runtime_workspace_roots=["/home/bo/fox", "/home/bo/lib", 7]),
        event("thread_settings_applied", thread_settings={"cwd": "/srv", "model": "fox-3"}),
        prompt("ask"),
    )
    assert session(parse(path)).places == ("/home/bo/fox", "/home/bo/lib", "/srv")
    assert session(parse(path)).model == "fox-3"


@pytest.mark.parametrize(
    ("url", "repository"),
    [
        ("git@github.com:bo/fox.git", "github.com/bo/fox"),
        ("https://github.com/bo/fox.git", "github.com/bo/fox"),
        ("https://bo:secret@GitHub.com/bo/fox", "github.com/bo/fox"),
        ("ssh://git@git.example.org:2222/group/sub/fox.git", "git.example.org/group/sub/fox"),
        ("https://example.org/bo/fox/", "example.org/bo/fox"),
        ("/srv/git/fox.git", None),
        ("../fox", None),
        ("file:///srv/fox.git", None),
        ("", None),
        ("fox", None),
    ],
)
def test_a_remote_becomes_host_owner_and_name(url: str, repository: str | None, write: Callable[..., Path]) -> None:
    assert session(parse(write(meta(git={"repository_url": url})))).repository == repository


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"source": "cli"}, "interactive"),
        ({"source": "vscode"}, "interactive"),
        ({"source": "unknown"}, "interactive"),
        ({"source": {"custom": "app"}}, "interactive"),
        ({}, "interactive"),
        ({"source": "exec"}, "headless"),
        ({"source": "mcp"}, "headless"),
        ({"source": {"subagent": "review"}}, "subagent"),
        ({"source": "cli", "thread_source": "subagent"}, "subagent"),
    ],
)
def test_the_source_tells_who_started_a_session(fields: Record, kind: str, write: Callable[..., Path]) -> None:
    assert session(parse(write(meta(**fields)))).kind == kind


def test_the_last_name_in_the_index_is_the_title(write: Callable[..., Path], tmp_path: Path) -> None:
    index = tmp_path / "codex" / "session_index.jsonl"
    path = write(meta(), prompt("ask"), answer("reply"))
    assert session(parse(path)).title is None
    named = [(THREAD, "Old name"), (CHILD, "Another"), (THREAD, "  The  fox "), (THREAD, "")]
    rows = [json.dumps({"id": id, "thread_name": text, "updated_at": "t"}) for id, text in named]
    index.write_text("\n".join([rows[0], "{torn", *rows[1:]]) + "\n")
    events = parse(path)
    assert session(events).title == "The fox"
    assert [m.text for m in messages(events) if m.role == "metadata"] == ["The fox"]
    index.write_text(json.dumps({"id": THREAD, "thread_name": "Renamed"}) + "\n")
    assert session(parse(path)).title == "Renamed"


def test_a_name_that_an_event_gives_is_the_title(write: Callable[..., Path]) -> None:
    path = write(meta(), prompt("ask"), *(event("thread_name_updated", thread_name=text) for text in ("A", "B", "B")))
    events = parse(path)
    assert session(events).title == "B"
    assert [m.text for m in messages(events) if m.role == "metadata"] == ["A", "B"]


def test_the_name_of_a_file_does_not_replace_the_id_in_its_header(write: Callable[..., Path]) -> None:
    assert session(parse(write(meta(), name=name(CHILD)))).id == THREAD


def test_the_rich_session_is_read_as_a_person_saw_it(write: Callable[..., Path]) -> None:
    events = parse(write(*RICH))
    assert [text for role, text in said(events) if role == "user"] == [
        "find the fox",
        "now the badger",
        "now the otter",
        "thanks",
    ]
    assert [found for found, _ in calls(events)] == ["exec_command", "apply_patch", "shell"]
    assert PARSER.version == 1
