"""Conformance tests of a chunk formatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from sesame_core.plugin.formatter import ChunkFormatter
from sesame_core.types.index import Chunk
from sesame_core.types.transcript import Message, Role, ToolCall, ToolResult

from .plugins import PluginConformance

ROLES: tuple[Role, ...] = ("user", "assistant", "system", "summary", "tool", "metadata")
KINDS = {"message", "tool_call", "tool_result", "metadata"}


def _deep(depth: int) -> Any:
    value: Any = "the end"
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


#: Arguments that no tool should get and some agent will send.
HOSTILE_ARGUMENTS: dict[str, Any] = {
    "none": None,
    "a list": ["one", 2],
    "a string": "ls -la",
    "json in a string": '{"command": "ls"}',
    "half of json": '{"command": "l',
    "a number": 7,
    "odd keys": {1: "one", None: "none", "": "empty", ("a", "b"): "pair"},
    "odd values": {
        "path": {"not": "a path"},
        "content": 7,
        "command": None,
        "edits": "nothing",
        "code": ["x"],
    },
    "odd edits": {"path": "a.py", "edits": [None, "x", {"oldText": {"a": 1}}, {"edits": [{"edits": []}]}]},
    "floats": {"x": float("nan"), "y": float("inf")},
    "bytes": {"x": b"\xff\x00"},
    "lone surrogates": {"path": "\ud800", "content": "a\udfffb"},
    "very deep": {"value": _deep(900)},
    "very many": {f"key{number}": number for number in range(5000)},
}


#: Calls that change files, each with its text in the documented form.
EDITS: list[tuple[str, dict[str, Any], str]] = [
    (
        "edit",
        {"path": "a.py", "oldText": "x = 1\ny = 2", "newText": "x = 3"},
        "tool: edit\npath: a.py\nold:\nx = 1\ny = 2\nnew: x = 3",
    ),
    ("Edit", {"file_path": "a.py", "old_string": "x = 1", "new_string": ""}, "tool: Edit\npath: a.py\nold: x = 1"),
    (
        "MultiEdit",
        {
            "file_path": "a.py",
            "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "z", "new_string": "a\nb"}],
        },
        "tool: MultiEdit\npath: a.py\nold: x\nnew: y\nold: z\nnew:\na\nb",
    ),
    ("write", {"content": "x = 1", "path": "a.py"}, "tool: write\npath: a.py\ncontent:\nx = 1"),
    (
        "NotebookEdit",
        {"notebook_path": "a.ipynb", "cell_id": "c1", "new_source": "x = 1"},
        "tool: NotebookEdit\npath: a.ipynb\nsource:\nx = 1\ncell_id: c1",
    ),
    ("apply_patch", {"path": "a.py", "patch": "@@\n-x\n+y"}, "tool: apply_patch\npath: a.py\npatch:\n@@\n-x\n+y"),
    (
        "apply_patch",
        {"edits": [{"path": "a.py", "patch": "@@\n-x\n+y"}, {"path": "b.py", "action": "delete"}]},
        "tool: apply_patch\nedits:\n  - path: a.py\n    patch:\n@@\n-x\n+y\n  - path: b.py\n    action: delete",
    ),
    ("bash", {"command": "cat > a.py <<E\nx\nE"}, "tool: bash\ncommand:\ncat > a.py <<E\nx\nE"),
]


class FormatterConformance(PluginConformance):
    """Subclass it and set `name`; override `formatter` to test it with other options."""

    kind = "formatter"
    #: Most characters of one chunk of a tool result, including the note about the cut.
    largest_result: ClassVar[int] = 1 << 17
    #: It writes calls in the form from which `sesame blame` reads edits (docs/hooks.md).
    writes_edits: ClassVar[bool] = False

    @pytest.fixture
    def formatter(self, create: Callable[..., Any]) -> ChunkFormatter:
        """The formatter under test, without options."""
        made: ChunkFormatter = create()
        return made

    @pytest.mark.parametrize("role", ROLES)
    @pytest.mark.parametrize("text", ["", " \n\t "])
    def test_an_empty_message_makes_no_chunk(self, formatter: ChunkFormatter, role: Role, text: str) -> None:
        """There is nothing to search for."""
        assert list(formatter.format(Message(session_id="s", role=role, text=text))) == []

    @pytest.mark.parametrize("role", ROLES)
    def test_carries_the_text_over(self, formatter: ChunkFormatter, role: Role) -> None:
        """A message is found under the role of its speaker."""
        text = "Why does reconnect_backoff() wait?\nÜber 日本語 C++ \N{SLIGHTLY SMILING FACE}"
        chunks = list(formatter.format(Message(session_id="s", role=role, text=text)))
        assert text in "\n".join(chunk.text for chunk in chunks)
        assert {chunk.role for chunk in chunks} == {role}
        assert {chunk.kind for chunk in chunks} <= KINDS

    @pytest.mark.parametrize(("name", "arguments", "text"), EDITS)
    def test_an_edit_can_be_read_from_its_text(
        self, formatter: ChunkFormatter, name: str, arguments: dict[str, Any], text: str
    ) -> None:
        """The lines that a call added and removed, with the file, are in a documented form."""
        if not self.writes_edits:
            pytest.skip("the formatter writes edits in a form of its own")
        call = ToolCall(id="c", name=name, arguments=arguments)
        (chunk,) = formatter.format(Message(session_id="s", role="assistant", tool_calls=(call,)))
        assert chunk.text == text
        assert chunk.call_id == "c"

    def test_a_call_is_found_by_its_tool_and_its_arguments(self, formatter: ChunkFormatter) -> None:
        """Words of nested values and of later lines count like the first ones."""
        arguments = {"title": "fix the kettle", "labels": ["urgent"], "body": {"text": "line one\nline two"}}
        call = ToolCall(id="c1", name="mcp__tracker__create_issue", arguments=arguments)
        (chunk,) = self._only("tool_call", formatter, tool_calls=(call,))
        for words in ("mcp__tracker__create_issue", "fix the kettle", "urgent", "line one\nline two"):
            assert words in chunk.text
        assert (chunk.tool_name, chunk.call_id) == (call.name, "c1")

    def test_a_result_is_tied_to_its_call(self, formatter: ChunkFormatter) -> None:
        """The chunk has the tool's name, the call's id and the failure."""
        result = ToolResult(call_id="c1", name="bash", text="3 tests failed", is_error=True)
        (chunk,) = self._only("tool_result", formatter, role="tool", tool_results=(result,))
        assert "3 tests failed" in chunk.text
        assert (chunk.tool_name, chunk.call_id, chunk.is_error) == ("bash", "c1", True)

    def test_text_calls_and_results_of_one_message_are_separate_chunks(self, formatter: ChunkFormatter) -> None:
        """They are ranked and filtered separately."""
        message = Message(
            session_id="s",
            role="assistant",
            text="I run the tests",
            tool_calls=(ToolCall(id="1", name="bash", arguments={"command": "pytest"}),),
            tool_results=(ToolResult(call_id="1", name="bash", text="all passed"),),
        )
        kinds = [chunk.kind for chunk in formatter.format(message)]
        assert kinds == ["message", "tool_call", "tool_result"]

    def test_a_huge_result_is_bounded_and_the_cut_is_counted(self, formatter: ChunkFormatter) -> None:
        """One command must not fill the index."""
        text = "".join(f"line {number} of the log\n" for number in range(100_000))
        result = ToolResult(call_id="1", name="bash", text=text)
        chunks = self._only("tool_result", formatter, role="tool", tool_results=(result,))
        assert all(len(chunk.text) <= self.largest_result for chunk in chunks)
        assert sum(chunk.cut for chunk in chunks) > 0
        assert "line 0 of" in chunks[0].text

    @pytest.mark.parametrize("tool", ["bash", "edit", "write", "read", "grep", "codemode", "no such tool", ""])
    @pytest.mark.parametrize("arguments", HOSTILE_ARGUMENTS.values(), ids=HOSTILE_ARGUMENTS.keys())
    def test_no_arguments_are_too_odd(self, formatter: ChunkFormatter, tool: str, arguments: Any) -> None:
        """A call of any shape makes a chunk of valid fields."""
        call = ToolCall(id="1", name=tool, arguments=arguments)
        for chunk in self._only("tool_call", formatter, tool_calls=(call,)):
            assert isinstance(chunk.text, str)
            assert all(isinstance(path, str) and path for path in chunk.paths)

    def test_formats_the_same_message_the_same_way(self, formatter: ChunkFormatter) -> None:
        """A formatter has no state: files are read in any order, and again."""
        call = ToolCall(id="1", name="edit", arguments={"path": "a.py", "oldText": "x", "newText": "y"})
        message = Message(session_id="s", role="assistant", text="done", tool_calls=(call,))
        assert list(formatter.format(message)) == list(formatter.format(message))

    @staticmethod
    def _only(kind: str, formatter: ChunkFormatter, role: Role = "assistant", **fields: Any) -> list[Chunk]:
        chunks = list(formatter.format(Message(session_id="s", role=role, **fields)))
        assert chunks
        assert {chunk.kind for chunk in chunks} == {kind}
        return chunks
