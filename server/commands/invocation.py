"""What every command shares: the options that name a store and a scope, settings, services, and output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .progress import working

if TYPE_CHECKING:
    from ...tools.services import Services
    from ..engine import Engine
    from ..settings import Settings

CLIENT = "ebbing"
_MODEL_SECONDS = 30.0

AnyFunction = Callable[..., Any]


@dataclass(slots=True)
class Invocation:
    """One run of the command line: variables that its options override, whether to answer in JSON, and its clock."""

    overrides: dict[str, str] = field(default_factory=dict[str, str])
    as_json: bool = False
    clock: Callable[[], int] | None = None

    def environment(self) -> dict[str, str]:
        """The process's variables with the options on top."""
        return {**os.environ, **self.overrides}

    def settings(self) -> Settings:
        """The settings that variables and options ask for; background work is left to servers.

        Raises:
            InvalidInputError: naming the variable whose value can't be used.
        """
        from ..settings import configure_logging, read_settings

        settings = read_settings(self.environment())
        configure_logging(settings.log_level)
        return replace(settings, background=False)

    @contextmanager
    def engine(self) -> Generator[Engine]:
        """An engine of this process's own, closed at the end."""
        with working("loading"):
            from ..engine import Engine

            engine = Engine(self.settings(), clock=self.clock)
        with engine:
            yield engine

    @contextmanager
    def services(self, *, with_model: bool = False) -> Generator[Services]:
        """The services; `with_model` waits for the model, where there is one to be had.

        Raises:
            StoreError: if the store can't be opened.
        """
        with self.engine() as engine:
            with working("opening the store"):
                services = engine.for_client(CLIENT)
            if with_model:
                with working("loading the embedding model"):
                    engine.embedder(_MODEL_SECONDS)
            yield services

    def answer(self, data: Any, text: Callable[[], str]) -> None:
        """Write the answer: `data` as one JSON object, or its text for people."""
        click.echo(json.dumps(data, ensure_ascii=False) if self.as_json else text())


def shared_options(*, as_json: bool = True, scope: bool = True) -> Callable[[AnyFunction], AnyFunction]:
    """Options that every command takes, before its name or after it; one may have a `--scope` of its own."""

    def decorate(function: AnyFunction) -> AnyFunction:
        options = [
            click.option(
                "--home",
                metavar="FOLDER",
                expose_value=False,
                callback=_set_home,
                help="Folder of the store, instead of EBBING_HOME.",
            )
        ]
        if scope:
            options.append(
                click.option(
                    "--scope",
                    metavar="SCOPE",
                    expose_value=False,
                    callback=_set_scope,
                    help="A project's folder, or `global`. Default: the project of the current folder.",
                )
            )
        if as_json:
            options.append(
                click.option(
                    "--json",
                    is_flag=True,
                    expose_value=False,
                    callback=_set_json,
                    help="Answer with one JSON object on stdout.",
                )
            )
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _set_home(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        if not value.strip() or "\0" in value:
            raise click.BadParameter("give a folder")
        ctx.ensure_object(Invocation).overrides["EBBING_HOME"] = value


def _set_scope(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Invocation).overrides["EBBING_SCOPE"] = scope_of(value)


def _set_json(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Invocation).as_json = True


def scope_of(value: str) -> str:
    """The key of a scope as a person names it: `global`, a folder of a project, or a key as it is stored."""
    from ...hooks.places import GLOBAL_SCOPE, project_key

    if not value.strip() or "\0" in value:
        raise click.BadParameter("give a project's folder, or `global`")
    if value == GLOBAL_SCOPE or not Path(value).is_dir():
        return value
    return project_key(Path(value).absolute(), {})


def invocation(ctx: click.Context) -> Invocation:
    """The invocation that a command belongs to."""
    return ctx.ensure_object(Invocation)
