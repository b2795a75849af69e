"""The six tools as MCP sees them: their arguments, and replies as text for reading and structure for programs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from ..schemas.errors import EbbingError
from ..schemas.wire import ConsolidateReply, ForgetReply, LearnReply, ObserveReply, RecallReply, SaveReply

if TYPE_CHECKING:
    from ..tools.services import Services

    Open = Callable[[str | None], Services]

Tool = Callable[..., Any]
Scope = Annotated[str | None, Field(description="project path or global")]
Ids = list[str] | None
Date = Annotated[str | None, Field(description="ISO 8601")]
KindName = Literal["observation", "episode", "fact", "procedure", "decision", "preference"]


class Confirmation(BaseModel):
    """Whether memories may be erased for good."""

    erase: bool = Field(description="Erase for good?")


def make_tools(open_services: Open) -> tuple[Tool, ...]:
    """The tools in the order of `tools.contract.CONTRACTS`; `open_services` is called in worker threads only.

    Each tool opens the services first and imports its function then: opening imports nearly everything, one thread at a
    time, and two threads that import numpy at once see its modules half made.
    """
    return (
        _recall_tool(open_services),
        _save_tool(open_services),
        _observe_tool(open_services),
        _learn_tool(open_services),
        _consolidate_tool(open_services),
        _forget_tool(open_services),
    )


def _recall_tool(open_services: Open) -> Tool:
    def recall(
        ctx: Context,
        query: str = "",
        scope: Scope = None,
        kinds: list[str] | None = None,
        limit: int = 10,
        max_tokens: int = 1_200,
        since: Date = None,
        until: Date = None,
        as_of: Annotated[str | None, Field(description="valid then, ISO 8601")] = None,
        include_faded: bool = False,
        ids: Annotated[list[str] | None, Field(description="read these whole")] = None,
        explain: bool = False,
    ) -> Annotated[CallToolResult, RecallReply]:
        with told():
            services = open_services(client_name(ctx))
            from ..tools.recall import RecallArguments
            from ..tools.recall import recall as run

            arguments = RecallArguments(
                query=query,
                scope=scope,
                kinds=list(kinds or ()),
                limit=limit,
                max_tokens=max_tokens,
                since=since,
                until=until,
                as_of=as_of,
                include_faded=include_faded,
                ids=ids or (),
                explain=explain,
            )
            return reply(run(services, arguments))

    return recall


def _save_tool(open_services: Open) -> Tool:
    def save(
        ctx: Context,
        content: str,
        kind: KindName = "fact",
        scope: Scope = None,
        importance: Annotated[float | None, Field(description="0 to 1")] = None,
        pinned: Annotated[bool, Field(description="never fades")] = False,
        tags: list[str] | None = None,
        supersedes: Annotated[list[str] | None, Field(description="ids it replaces")] = None,
        valid_from: Date = None,
        valid_to: Date = None,
        expires_at: Annotated[str | None, Field(description="forget it then, ISO 8601")] = None,
        source: Annotated[str | None, Field(description="file, commit or URL")] = None,
        said_by: Literal["user", "tool", "agent", "outside"] = "agent",
    ) -> Annotated[CallToolResult, SaveReply]:
        with told():
            services = open_services(client_name(ctx))
            from ..tools.save import SaveArguments
            from ..tools.save import save as run

            arguments = SaveArguments(
                content=content,
                kind=kind,
                scope=scope,
                importance=importance,
                pinned=pinned,
                tags=tags or (),
                supersedes=supersedes or (),
                valid_from=valid_from,
                valid_to=valid_to,
                expires_at=expires_at,
                source=source,
                said_by=said_by,
            )
            return reply(run(services, arguments))

    return save


def _observe_tool(open_services: Open) -> Tool:
    def observe(
        ctx: Context,
        events: Annotated[list[dict[str, Any]], Field(description="{text, event?, tool?, at?, event_id?, ok?}")],
    ) -> Annotated[CallToolResult, ObserveReply]:
        with told():
            services = open_services(client_name(ctx))
            from ..tools.observe import observe as run

            return reply(run(services, events))

    return observe


def _learn_tool(open_services: Open) -> Tool:
    def learn(
        ctx: Context,
        signal: Literal["useful", "used", "wrong", "outdated"],
        memory_ids: Ids = None,
        recall_id: str | None = None,
        note: str | None = None,
        scope: Scope = None,
    ) -> Annotated[CallToolResult, LearnReply]:
        with told():
            services = open_services(client_name(ctx))
            from ..tools.learn import learn as run

            return reply(run(services, signal, memory_ids or (), recall_id, note, scope))

    return learn


def _consolidate_tool(open_services: Open) -> Tool:
    async def consolidate(
        ctx: Context, scope: Scope = None, dry_run: bool = False
    ) -> Annotated[CallToolResult, ConsolidateReply]:
        def progress(done: int, total: int, name: str) -> None:
            anyio.from_thread.run(ctx.report_progress, done, total, name)

        def work() -> ConsolidateReply:
            services = open_services(client_name(ctx))
            from ..tools.consolidate import consolidate as run

            return run(services, scope, dry_run=dry_run, progress=progress)

        with told():
            return reply(await anyio.to_thread.run_sync(work))

    return consolidate


def _forget_tool(open_services: Open) -> Tool:
    def ask(
        ctx: Context, memory_ids: Ids, mode: str, dry_run: bool, confirm: bool
    ) -> Confirmation | Elicit[Confirmation]:
        can_ask = ctx.client_capabilities is not None and ctx.client_capabilities.elicitation is not None
        if mode != "erase" or dry_run or confirm or not memory_ids or not can_ask:
            return Confirmation(erase=confirm)
        return Elicit(f"Erase {len(memory_ids)} memories for good? This can't be undone.", Confirmation)

    def forget(
        ctx: Context,
        answer: Annotated[ElicitationResult[Confirmation], Resolve(ask)],
        memory_ids: Ids = None,
        query: Annotated[str | None, Field(description="preview only")] = None,
        mode: Literal["fade", "erase", "restore"] = "fade",
        scope: Scope = None,
        dry_run: bool = False,
        confirm: Annotated[  # noqa: ARG001 - the resolver above asks for it by name
            bool, Field(description="erase only: the user said yes")
        ] = False,
    ) -> Annotated[CallToolResult, ForgetReply]:
        confirmed = isinstance(answer, AcceptedElicitation) and answer.data.erase
        with told():
            services = open_services(client_name(ctx))
            from ..tools.forget import forget as run

            return reply(run(services, memory_ids or (), query, mode, scope, dry_run=dry_run, confirmed=confirmed))

    # The resolver is local, so its annotation must be an object where the SDK would look names up in the module.
    forget.__annotations__["answer"] = Annotated[ElicitationResult[Confirmation], Resolve(ask)]
    return forget


@contextmanager
def told() -> Generator[None]:
    """Turn our errors into text that the model reads and can act on.

    Raises:
        ToolError: for every error that ebbing raises on purpose.
    """
    try:
        yield
    except EbbingError as error:
        raise ToolError(str(error)) from error


def reply(model: BaseModel) -> CallToolResult:
    """A reply: its `text` for reading, all of it as structured content."""
    structured = model.model_dump(mode="json", exclude_none=True)
    return CallToolResult(content=[TextContent(type="text", text=structured["text"])], structured_content=structured)


def client_name(ctx: Context) -> str | None:
    """The name that the client gave of itself in the handshake; None in a protocol era without one."""
    try:
        parameters = ctx.request_context.session.client_params
    except (AttributeError, ValueError):
        return None
    return None if parameters is None else parameters.client_info.name


def names(tools: Sequence[Tool]) -> list[str]:
    """The tools' names."""
    return [tool.__name__ for tool in tools]


__all__ = ["Confirmation", "make_tools", "names"]
