"""The MCP app: six tools, three resources, two prompts. It imports nothing heavy before a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

from .. import __version__
from ..schemas.errors import EbbingError, InvalidInputError
from ..tools import contract
from .app_tools import make_tools
from .slim import slim_arguments, slim_reply

if TYPE_CHECKING:
    from ..tools.services import Services

# Claude Code defers tools unless told otherwise, and a memory whose tools are not seen is never asked.
ALWAYS_LOADED = {"anthropic/alwaysLoad": True}
# A project's key is its absolute path; it is looked up in the store and never opened as a file.
_SCOPES_ARE_PATHS = ResourceSecurity(exempt_params=frozenset({"scope"}))


def build_app(
    open_services: Callable[[str | None], Services], after_request: Callable[[], None] | None = None
) -> MCPServer:
    """The app over a function that gives the services for a client's name, called in worker threads only.

    `after_request` is told after each request was handled, the handshake included.
    """
    app = MCPServer(
        "ebbing",
        title="ebbing",
        instructions=contract.INSTRUCTIONS,
        version=__version__,
        tools=[_presented(*pair) for pair in zip(make_tools(open_services), contract.CONTRACTS, strict=True)],
        resource_security=_SCOPES_ARE_PATHS,
    )
    if after_request is not None:
        app.middleware.append(_After(after_request))
    _add_resources(app, open_services)
    _add_prompts(app)
    return app


def _presented(function: Callable[..., Any], about: contract.Contract) -> Tool:
    """A tool as it is listed: with its hints, always loaded, its schemas without what says nothing."""
    # What is left out is the protocol's default; whether it destroys means nothing for a tool that only reads.
    annotations = ToolAnnotations(
        read_only_hint=True if about.read_only else None,
        destructive_hint=None if about.read_only else about.destructive,
        idempotent_hint=True if about.idempotent and not about.read_only else None,
        open_world_hint=False,
    )
    tool = Tool.from_function(
        function, about.name, description=about.description, annotations=annotations, meta=ALWAYS_LOADED
    )
    replies = tool.fn_metadata.model_copy(update={"output_schema": slim_reply(tool.fn_metadata.output_schema or {})})
    return tool.model_copy(update={"parameters": slim_arguments(tool.parameters), "fn_metadata": replies})


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
        def read() -> str:
            services = open_services(None)
            from ..tools.resources import memory_json

            return json.dumps(memory_json(services, unquote(id)), ensure_ascii=False)

        return _resource(read)

    @app.resource("ebbing://soft-prompt/{scope}", title="A scope's soft prompt", mime_type="text/markdown")
    def soft_prompt(scope: str) -> str:
        def read() -> str:
            services = open_services(None)
            from ..tools.resources import soft_prompt_text

            return soft_prompt_text(services, unquote(scope))

        return _resource(read)

    @app.resource("ebbing://status/{scope}", title="A scope's status", mime_type="application/json")
    def status(scope: str) -> str:
        def read() -> str:
            services = open_services(None)
            from ..tools.status import status as run

            return json.dumps(run(services, unquote(scope)), ensure_ascii=False)

        return _resource(read)


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
