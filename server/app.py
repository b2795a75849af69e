"""The MCP app: six tools, three resources, two prompts. It imports nothing heavy before a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import ToolAnnotations

from .. import __version__
from ..schemas.errors import EbbingError, InvalidInputError
from ..tools import contract
from .app_tools import make_tools

if TYPE_CHECKING:
    from ..tools.services import Services

# Claude Code defers tools unless told otherwise, and a memory whose tools are not seen is never asked.
ALWAYS_LOADED = {"anthropic/alwaysLoad": True}


def build_app(
    open_services: Callable[[str | None], Services], after_request: Callable[[], None] | None = None
) -> MCPServer:
    """The app over a function that gives the services for a client's name, called in worker threads only.

    `after_request` is told after each request was handled, the handshake included.
    """
    app = MCPServer("ebbing", title="ebbing", instructions=contract.INSTRUCTIONS, version=__version__)
    if after_request is not None:
        app.middleware.append(_After(after_request))
    for tool, about in zip(make_tools(open_services), contract.CONTRACTS, strict=True):
        annotations = ToolAnnotations(
            read_only_hint=about.read_only,
            destructive_hint=about.destructive,
            idempotent_hint=about.idempotent,
            open_world_hint=False,
        )
        app.add_tool(tool, about.name, about.title, about.description, annotations, meta=ALWAYS_LOADED)
    _add_resources(app, open_services)
    _add_prompts(app)
    return app


class _After:
    """Middleware that tells somebody when a request has been handled."""

    def __init__(self, told: Callable[[], None]) -> None:
        self._told = told

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        finally:
            self._told()


def _add_resources(app: MCPServer, open_services: Callable[[str | None], Services]) -> None:
    @app.resource("ebbing://memory/{id}", title="A memory, whole", mime_type="application/json")
    def memory(id: str) -> str:  # noqa: A002 - the name is part of the address
        from ..tools.resources import memory_json

        return _resource(lambda: json.dumps(memory_json(open_services(None), unquote(id)), ensure_ascii=False))

    @app.resource("ebbing://soft-prompt/{scope}", title="A scope's soft prompt", mime_type="text/markdown")
    def soft_prompt(scope: str) -> str:
        from ..tools.resources import soft_prompt_text

        return _resource(lambda: soft_prompt_text(open_services(None), unquote(scope)))

    @app.resource("ebbing://status/{scope}", title="A scope's status", mime_type="application/json")
    def status(scope: str) -> str:
        from ..tools.status import status as run

        return _resource(lambda: json.dumps(run(open_services(None), unquote(scope)), ensure_ascii=False))


def _resource(read: Callable[[], str]) -> str:
    try:
        return read()
    except InvalidInputError as error:
        raise ResourceNotFoundError(str(error)) from error
    except EbbingError as error:
        raise ResourceError(str(error)) from error


def _add_prompts(app: MCPServer) -> None:
    @app.prompt(title="Remember this")
    def remember(what: str) -> str:
        """Save something the user wants kept."""
        return (
            "Save the following with ebbing's save tool, as one or more self-contained statements with the fitting "
            f"kind, said_by user, and say what was saved:\n\n{what}"
        )

    @app.prompt(title="Brief me")
    def brief(topic: str = "this project") -> str:
        """Tell what is remembered of a topic."""
        return (
            f"Use ebbing's recall tool to find what is remembered about {topic}: decisions in force, preferences, "
            "open threads and recent episodes. Then give a short briefing with dates, and name what may be outdated."
        )
