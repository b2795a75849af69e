"""The clients that ebbing can be set up in: which files they read, and what stands there. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Scope = Literal["user", "project"]
Format = Literal["jsonc", "toml"]

COMMAND = "$COMMAND"
"""In a template: the server's program."""
ARGUMENTS = "$ARGUMENTS"
"""The server's arguments, a list."""
WORDS = "$WORDS"
"""Program and arguments of the server in one list."""
HOOK = "$HOOK"
"""The hook's program."""
HOOK_ARGUMENTS = "$HOOK_ARGUMENTS"
"""The hook's arguments, a list."""
HOOK_LINE = "$HOOK_LINE"
"""Program and arguments of the hook as one line for the platform's shell."""
HOOK_BASH = "$HOOK_BASH"
"""The same for bash, on every platform."""
HOOK_POWERSHELL = "$HOOK_POWERSHELL"
"""The same for PowerShell."""

_PLAIN = {"command": COMMAND, "args": ARGUMENTS}
_STDIO = {"type": "stdio", **_PLAIN}
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Server:
    """Where a client keeps its servers.

    Attributes:
        files: for each scope the candidates in order; the first that exists is used, else the first.
        path: the names that lead to the entries.
        entry: the entry's template.
        format: how the file is written.
    """

    files: Mapping[Scope, tuple[str, ...]]
    path: tuple[str, ...]
    entry: Mapping[str, Any]
    format: Format = "jsonc"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a client keeps its hooks.

    Attributes:
        files: for each scope the file; none where the client reads none.
        events: the client's name of each event, and ours.
        entry: the template of an entry in an event's list.
        needed: members that the file must have besides, such as its version.
    """

    files: Mapping[Scope, tuple[str, ...]]
    events: Mapping[str, str]
    entry: Mapping[str, Any]
    needed: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        id: what it is called on the command line.
        name: what people call it.
        signs: folders or files that are there where it is installed.
        programs: its commands.
        server: its servers.
        hooks: its hooks, where it has any that ebbing can use.
        remark: what a person has to do or know besides.
        plugins: the file in which the client notes which plugins are enabled, where ebbing comes as one.
    """

    id: str
    name: str
    signs: tuple[str, ...]
    programs: tuple[str, ...]
    server: Server
    hooks: Hooks | None = None
    remark: str = ""
    plugins: str = ""


def _group(handler: Mapping[str, Any]) -> dict[str, Any]:
    return {"hooks": [handler]}


_CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use-failure",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}

CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code",
        "Claude Code",
        ("{claude}", "{claude_json}"),
        ("claude",),
        Server({"user": ("{claude_json}",), "project": ("{project}/.mcp.json",)}, ("mcpServers",), _STDIO),
        Hooks(
            {"user": ("{claude}/settings.json",), "project": ("{project}/.claude/settings.json",)},
            _CLAUDE_EVENTS,
            _group({"type": "command", "command": HOOK, "args": HOOK_ARGUMENTS, "timeout": _TIMEOUT_SECONDS}),
        ),
        plugins="{claude}/settings.json",
    ),
    Client(
        "cursor",
        "Cursor",
        ("{home}/.cursor",),
        ("cursor", "cursor-agent"),
        Server(
            {"user": ("{home}/.cursor/mcp.json",), "project": ("{project}/.cursor/mcp.json",)}, ("mcpServers",), _PLAIN
        ),
        Hooks(
            {"user": ("{home}/.cursor/hooks.json",), "project": ("{project}/.cursor/hooks.json",)},
            {
                "sessionStart": "session-start",
                "beforeSubmitPrompt": "user-prompt-submit",
                "postToolUse": "post-tool-use",
                "postToolUseFailure": "post-tool-use-failure",
                "afterAgentResponse": "stop",
                "preCompact": "pre-compact",
                "sessionEnd": "session-end",
            },
            {"command": HOOK_LINE, "timeout": _TIMEOUT_SECONDS},
            {"version": 1},
        ),
    ),
    Client(
        "codex",
        "Codex",
        ("{codex}",),
        ("codex",),
        Server(
            {"user": ("{codex}/config.toml",), "project": ("{project}/.codex/config.toml",)},
            ("mcp_servers",),
            _PLAIN,
            "toml",
        ),
        Hooks(
            {"user": ("{codex}/hooks.json",), "project": ("{project}/.codex/hooks.json",)},
            {
                "SessionStart": "session-start",
                "UserPromptSubmit": "user-prompt-submit",
                "PostToolUse": "post-tool-use",
                "Stop": "stop",
                "PreCompact": "pre-compact",
            },
            _group({"type": "command", "command": HOOK_LINE, "timeout": _TIMEOUT_SECONDS}),
        ),
        remark="Codex asks once whether it may run the hooks.",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ("{home}/.gemini",),
        ("gemini",),
        Server(
            {"user": ("{home}/.gemini/settings.json",), "project": ("{project}/.gemini/settings.json",)},
            ("mcpServers",),
            _PLAIN,
        ),
        Hooks(
            {"user": ("{home}/.gemini/settings.json",), "project": ("{project}/.gemini/settings.json",)},
            {
                "SessionStart": "session-start",
                "BeforeAgent": "user-prompt-submit",
                "AfterTool": "post-tool-use",
                "AfterAgent": "stop",
                "PreCompress": "pre-compact",
                "SessionEnd": "session-end",
            },
            _group({"name": "ebbing", "type": "command", "command": HOOK_LINE, "timeout": _TIMEOUT_SECONDS * 1000}),
        ),
    ),
    Client(
        "vscode",
        "VS Code",
        ("{config}/Code",),
        ("code",),
        Server(
            {"user": ("{config}/Code/User/mcp.json",), "project": ("{project}/.vscode/mcp.json",)}, ("servers",), _STDIO
        ),
    ),
    Client(
        "copilot",
        "Copilot CLI",
        ("{copilot}",),
        ("copilot",),
        Server(
            {"user": ("{copilot}/mcp-config.json",), "project": ("{project}/.github/mcp.json",)},
            ("mcpServers",),
            {"type": "local", **_PLAIN, "tools": ["*"]},
        ),
        Hooks(
            {"user": ("{copilot}/hooks/ebbing.json",), "project": ("{project}/.github/hooks/ebbing.json",)},
            {
                "sessionStart": "session-start",
                "userPromptSubmitted": "user-prompt-submit",
                "postToolUse": "post-tool-use",
                "postToolUseFailure": "post-tool-use-failure",
                "agentStop": "stop",
                "preCompact": "pre-compact",
                "sessionEnd": "session-end",
            },
            {"type": "command", "bash": HOOK_BASH, "powershell": HOOK_POWERSHELL, "timeoutSec": _TIMEOUT_SECONDS},
            {"version": 1},
        ),
    ),
    Client(
        "windsurf",
        "Windsurf",
        ("{home}/.codeium/windsurf",),
        ("windsurf",),
        Server({"user": ("{home}/.codeium/windsurf/mcp_config.json",)}, ("mcpServers",), _PLAIN),
        Hooks(
            {"user": ("{home}/.codeium/windsurf/hooks.json",)},
            {
                "pre_user_prompt": "user-prompt-submit",
                "post_write_code": "post-tool-use",
                "post_run_command": "post-tool-use",
                "post_mcp_tool_use": "post-tool-use",
                "post_cascade_response": "stop",
            },
            {"command": HOOK_LINE, "show_output": False},
        ),
        remark="Windsurf's hooks observe; it lets none of them add to the context.",
    ),
    Client(
        "zed",
        "Zed",
        ("{zed}",),
        ("zed",),
        Server(
            {"user": ("{zed}/settings.json",), "project": ("{project}/.zed/settings.json",)},
            ("context_servers",),
            {"source": "custom", **_PLAIN},
        ),
    ),
    Client(
        "opencode",
        "opencode",
        ("{xdg}/opencode",),
        ("opencode",),
        Server(
            {
                "user": ("{xdg}/opencode/opencode.json", "{xdg}/opencode/opencode.jsonc"),
                "project": ("{project}/opencode.json", "{project}/opencode.jsonc"),
            },
            ("mcp",),
            # Its five seconds are short for the first start after an installation.
            {"type": "local", "command": WORDS, "enabled": True, "timeout": 30_000},
        ),
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        ("{config}/Claude",),
        (),
        Server({"user": ("{config}/Claude/claude_desktop_config.json",)}, ("mcpServers",), _PLAIN),
        remark="Restart Claude Desktop.",
    ),
)


def client_of(identifier: str) -> Client:
    """A client by its id.

    Raises:
        KeyError: if there is none.
    """
    return {client.id: client for client in CLIENTS}[identifier]
