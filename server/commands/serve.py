"""`ebbing serve`: the MCP server by name, over standard input and output or over HTTP."""

from __future__ import annotations

from typing import Any

import click

from .invocation import Invocation, invocation, shared_options


@click.command("serve")
@click.option("--http", is_flag=True, help="Over HTTP on this machine, for clients that can't start a program.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the loopback address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=7_374,
    show_default=True,
    help="With --http: the port to listen on; 0 takes a free one.",
)
@shared_options()
@click.pass_context
def command(ctx: click.Context, http: bool, host: str, port: int) -> int:
    """Serve MCP. Without --http this is what `ebbing` without a command does.

    Over HTTP every request needs the token that lies in the home folder; the answer says where.
    """
    run = invocation(ctx)
    if not http:
        from ..serving import serve_stdio

        return serve_stdio(run.environment())
    return _serve_http(run, host, port)


def _serve_http(run: Invocation, host: str, port: int) -> int:
    from ..http_serving import PATH, listen, serve_http
    from ..http_token import token_file
    from ..settings import configure_logging, read_settings

    settings = read_settings(run.environment())
    configure_logging(settings.log_level)
    with listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        data: dict[str, Any] = {
            "url": f"http://{name}:{listening.getsockname()[1]}{PATH}",
            "token_file": str(token_file(settings.home)),
            "scope": settings.scope,
        }
        return serve_http(settings, listening, lambda: run.answer(data, lambda: _said(data)))


def _said(data: dict[str, Any]) -> str:
    return (
        f"Serving the memories of {data['scope']} at {data['url']}\n"
        f"Clients send `Authorization: Bearer TOKEN`; the token is in {data['token_file']}\n"
        "Ctrl-C ends it."
    )
