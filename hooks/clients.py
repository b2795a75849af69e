"""What differs between clients: how they name events and fields, and in which form they take a text in.

Every spelling is understood whoever sends it, since clients also run hooks that were configured for others; only the
form of the answer depends on the client.
"""

from __future__ import annotations

from .jsonline import as_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Fields = dict[str, object]

_EVENTS = {
    # Gemini CLI
    "before-agent": "user-prompt-submit",
    "after-agent": "stop",
    "after-tool": "post-tool-use",
    "pre-compress": "pre-compact",
    # Cursor
    "before-submit-prompt": "user-prompt-submit",
    "after-agent-response": "stop",
    # Copilot CLI
    "user-prompt-submitted": "user-prompt-submit",
    "agent-stop": "stop",
    # Windsurf
    "pre-user-prompt": "user-prompt-submit",
    "post-run-command": "post-tool-use",
    "post-write-code": "post-tool-use",
    "post-mcp-tool-use": "post-tool-use",
    "post-cascade-response": "stop",
}
_SPELLINGS = {
    "session_id": ("sessionId", "conversation_id", "conversationId", "trajectory_id"),
    "hook_event_name": ("hookEventName", "agent_action_name"),
    "tool_name": ("toolName",),
    "tool_input": ("toolArgs", "toolInput"),
    "tool_response": ("tool_output", "toolResult", "toolResponse"),
    "error": ("error_message", "errorMessage"),
    "last_assistant_message": ("prompt_response", "text"),
}
_OWN_FORMS = ("gemini", "cursor", "copilot", "windsurf")
_START, _PROMPT = "session-start", "user-prompt-submit"
_NAMES = {_START: "SessionStart", _PROMPT: "UserPromptSubmit"}
_GEMINI_NAMES = {_START: "SessionStart", _PROMPT: "BeforeAgent"}


def our_event(name: str) -> str:
    """An event by our name for it, such as `post-tool-use`, whichever client's spelling it comes in."""
    dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name.strip())
    plain = dashed.replace("_", "-").lstrip("-")
    return _EVENTS.get(plain, plain)


def our_fields(given: Mapping[str, object]) -> Fields:
    """A client's object with its fields under the names that Claude Code has for them; others stay as they are."""
    fields = dict(given)
    for ours, theirs in _SPELLINGS.items():
        found = [given[name] for name in theirs if given.get(name) is not None]
        if found and fields.get(ours) is None:
            fields[ours] = found[0]
    roots = given.get("workspace_roots")
    if not fields.get("cwd") and isinstance(roots, list) and roots:
        fields["cwd"] = roots[0]
    return _unpacked(fields)


def client_of(named: str, given: Mapping[str, object], env: Mapping[str, str]) -> str:
    """Which form of answer is wanted: that of the client `named`, else of the one that such an object comes from."""
    plain = named.strip().lower().replace("_", "-").removesuffix("-cli").removesuffix("-code")
    if plain:
        return plain if plain in _OWN_FORMS else "claude"
    event = str(given.get("hook_event_name", ""))
    if "agent_action_name" in given:
        return "windsurf"
    if "conversation_id" in given or env.get("CURSOR_VERSION"):
        return "cursor"
    if "sessionId" in given and not event:
        return "copilot"
    return "gemini" if event in ("BeforeAgent", "AfterAgent", "AfterTool", "PreCompress") else "claude"


def takes_in(client: str) -> bool:
    """Whether a client lets a hook add to the context at all."""
    return client != "windsurf"


def answer(client: str, event: str, text: str) -> Mapping[str, object]:
    """The object that makes a client add a text to its context at that event."""
    if client == "cursor":
        return {"additional_context": text} if event == _START else {"continue": True, "additional_context": text}
    if client == "copilot":
        return {"additionalContext": text}
    names = _GEMINI_NAMES if client == "gemini" else _NAMES
    return {"hookSpecificOutput": {"hookEventName": names[event], "additionalContext": text}}


def _unpacked(fields: Fields) -> Fields:
    """Fields that a client wraps in an object of their own, brought to the top."""
    result, told = as_object(fields.get("tool_response")), as_object(fields.get("tool_info"))
    if "textResultForLlm" in result:
        fields["tool_response"] = result["textResultForLlm"]
        if result.get("resultType") in ("failure", "denied"):
            fields["error"] = result["textResultForLlm"]
    elif "llmContent" in result and result.get("error"):
        fields["error"] = result["error"]
    fields.update(_from_windsurf(told))
    return fields


def _from_windsurf(told: Mapping[str, object]) -> Fields:
    if "mcp_tool_name" in told:
        return {
            "tool_name": f"mcp__{told.get('mcp_server_name', '')}__{told['mcp_tool_name']}",
            "tool_input": told.get("mcp_tool_arguments"),
            "tool_response": told.get("mcp_result"),
        }
    if "command_line" in told:
        return {"tool_name": "run_command", "tool_input": {"command": told["command_line"]}, "cwd": told.get("cwd")}
    if "file_path" in told:
        return {"tool_name": "write_code", "tool_input": dict(told)}
    names = {"user_prompt": "prompt", "response": "last_assistant_message"}
    return {ours: told[theirs] for theirs, ours in names.items() if theirs in told}
