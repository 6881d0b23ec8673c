"""Agents by name, as data: the one file of the core in which a new agent is named.

What stands here has to be known of an agent while nothing of its plugin is loaded, or while it has none: a search loads
the plugins of its sources alone, knows by a variable which session calls it, and says whose files nothing reads.
Everything else about an agent is its plugin's.
"""

from __future__ import annotations

#: Plugins in this wheel, by the name that config.jsonc uses.  Strings, so that no module is imported.
BUNDLED = {
    "claude-code": "sesame_parser_claude_code",
    "codex": "sesame_parser_codex",
    "copilot": "sesame_parser_copilot",
    "default": "sesame_formatter_default",
    "gemini": "sesame_parser_gemini",
    "opencode": "sesame_parser_opencode",
    "pi": "sesame_parser_pi",
    "postgres": "sesame_backend_postgres",
    "sesame": "sesame_parser_sesame",
    "sqlite": "sesame_backend_sqlite",
}

#: Environment variables in which agents pass their session's id to the programs that they start.
#: Claude Code sets its own for shells since 2.1.132 and for MCP servers since 2.1.154; pi for shells since 0.82; Codex
#: for shells (seen with 0.171.0), of a subagent with that of the session that started it; Copilot CLI for both since
#: 1.0.29.
VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "PI_SESSION_ID",
)
#: Those by which agents that pass no id show that they have started a program; then their parsers are asked
#: (`plugin.parser.Calling`), which a search that no agent has started does not even load.
SIGNS = ("GEMINI_CLI", "OPENCODE")
#: Fields of the `_meta` of a call of the Model Context Protocol that have the caller's session: Codex passes servers no
#: variable, but the id of the thread that calls, and that of the session which started it if that is a subagent's.
FIELDS = ("threadId", "sessionId")

#: Where agents without a bundled parser keep sessions, so that Sesame can say that it does not read them.  Sources: the
#: documentation of Aider, Droid and Goose, the source of Continue, and programs that read the others' sessions:
#: kenn-io/agentsview and getagentseal/codeburn, SpecStory (Qwen Code), q-mem-mcp-server (Amazon Q).
#: Aider has no place of its own but the directory that it is started in, and Crush one in each project.
#:
#: `~` is the home directory, `${NAME:-DEFAULT}` the value of a variable (without a default, a place only where that is
#: set), `{data}` and `{config}` are the directories of `indexing.unread`, `{editor}` is each of `EDITORS`, and a `*` is
#: any one name.
UNREAD = {
    "Aider": ("${AIDER_CHAT_HISTORY_FILE:-.aider.chat.history.md}", "~/.aider.chat.history.md"),
    "Amazon Q": ("{data}/amazon-q/data.sqlite3", "{config}/amazon-q/data.sqlite3"),
    "Amp": ("${AMP_DATA_DIR:-{data}/amp}/threads",),
    "Antigravity": (
        "~/.gemini/antigravity/conversations",
        "~/.gemini/antigravity-cli/conversations",
        "~/.gemini/antigravity-ide/conversations",
    ),
    "Claude Desktop": ("{config}/Claude/local-agent-mode-sessions",),
    "Cline": (
        "${CLINE_SESSION_DATA_DIR:-${CLINE_DATA_DIR:-${CLINE_DIR:-~/.cline}/data}/sessions}",
        "{editor}/globalStorage/saoudrizwan.claude-dev/tasks",
    ),
    "Continue": ("${CONTINUE_GLOBAL_DIR:-~/.continue}/sessions",),
    "Copilot Chat": ("{editor}/workspaceStorage/*/chatSessions", "{editor}/globalStorage/emptyWindowChatSessions"),
    "Crush": ("${CRUSH_GLOBAL_DATA:-{data}/crush}/projects.json", ".crush/crush.db"),
    "Cursor": (
        "${CURSOR_CONFIG_DIR:-~/.cursor}/chats",
        "${CURSOR_CONFIG_DIR:-~/.cursor}/projects/*/agent-transcripts",
        "{config}/Cursor/User/globalStorage/state.vscdb",
    ),
    "Droid": ("${FACTORY_HOME_OVERRIDE:-~}/.factory/sessions",),
    "Goose": ("${GOOSE_PATH_ROOT}/data/sessions", "{data}/goose/sessions", "{config}/Block/goose/data/sessions"),
    "gptme": ("{data}/gptme/logs",),
    "Grok": ("~/.grok/sessions",),
    "Hermes Agent": ("${HERMES_HOME:-~/.hermes}/sessions",),
    "iFlow": ("~/.iflow/projects",),
    "Kilo Code": ("{data}/kilo", "{editor}/globalStorage/kilocode.kilo-code/tasks"),
    "Kimi": ("~/.kimi/sessions", "~/.kimi-code/sessions"),
    "Kiro": ("~/.kiro/sessions/cli", "{data}/kiro-cli", "{config}/Kiro/User/globalStorage/kiro.kiroagent"),
    "Mistral Vibe": ("~/.vibe/logs/session",),
    "Oh My Pi": ("~/.omp/agent/sessions",),
    "OpenClaw": ("~/.openclaw/agents",),
    "OpenHands": ("~/.openhands/conversations",),
    "Qoder": ("~/.qoder/projects",),
    "Qwen Code": ("${QWEN_RUNTIME_DIR:-${QWEN_HOME:-~/.qwen}}/projects/*/chats",),
    "Roo Code": ("{editor}/globalStorage/rooveterinaryinc.roo-cline/tasks",),
    "Windsurf": ("~/.codeium/windsurf/cascade",),
    "Zed": ("{data}/zed/threads", "{config}/Zed/threads", "${LOCALAPPDATA}/Zed/threads"),
}
#: Where people read how an agent's sessions get a plugin.
TUTORIAL = "docs/tutorial-plugin.md"
#: Editors that run extensions of Visual Studio Code: their directories of a user's data.
EDITORS = (
    "{config}/Code/User",
    "{config}/Code - Insiders/User",
    "{config}/VSCodium/User",
    "{config}/Cursor/User",
    "~/.vscode-server/data/User",
)
