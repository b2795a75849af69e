"""`ebbing demo`: watch a real client save, recall, use and age memories."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ...hooks.places import make_private_folder, project_key
from ...schemas.errors import EbbingError, InvalidInputError
from .invocation import invocation, shared_options

if TYPE_CHECKING:
    from ..demo.history import Material
    from ..demo.talk import Place
    from ..demo.view import View


@click.command("demo")
@click.option("--repo", metavar="FOLDER", help="Remember this repository's history, instead of the current one's.")
@click.option("--sample", is_flag=True, help="Remember a bundled sample of an invented project.")
@click.option("--days", type=click.IntRange(3, 3650), default=60, show_default=True, help="Active days to let pass.")
@click.option("--keep", is_flag=True, help="Keep the store it makes, to look around in with --home.")
@shared_options()
@click.pass_context
def command(ctx: click.Context, repo: str | None, sample: bool, days: int, keep: bool) -> None:
    """Start the real server, connect a real client, and watch memories stay sharp or fade.

    It uses a store of its own in a temporary folder, never yours, and removes it at the end.
    """
    from ..demo.view import View

    run = invocation(ctx)
    started = time.monotonic()
    home = Path(run.overrides["EBBING_HOME"]) if "EBBING_HOME" in run.overrides else None
    if home is not None and home.exists():
        raise InvalidInputError(f"the demo makes a store of its own, and {home} exists already: name a new folder")
    folder = Path(tempfile.mkdtemp(prefix="ebbing-demo-")) if home is None else home
    view = View(quiet=run.as_json)
    try:
        place, material = _prepare(folder, None if sample else _repository(repo), view)
        told = _tell(place, material, days, view)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.monotonic() - started, 1)
    view.plain("")
    view.plain(f"Done in {seconds} s. " + (_look_around(place) if keep else f"{folder} was removed."))
    if run.as_json:
        run.answer({"material": material.name, **told, "home": str(folder) if keep else None}, str)


def _repository(named: str | None) -> Path | None:
    """The repository to read: the named one, the current one, or the one that ebbing itself lies in."""
    from ..demo.history import repository_of

    if named is not None:
        if not Path(named).is_dir():
            raise InvalidInputError(f"--repo: {named} is not a folder")
        return repository_of(Path(named))
    return repository_of(Path.cwd()) or repository_of(Path(__file__).resolve().parent)


def _prepare(folder: Path, repository: Path | None, view: View) -> tuple[Place, Material]:
    from ..demo.history import from_repository, from_sample
    from ..demo.talk import Place

    make_private_folder(str(folder))
    material = None if repository is None else from_repository(repository)
    if material is not None and repository is not None:
        project = repository
    else:
        material, project = from_sample(), folder / "project"
    if not project.exists():
        make_private_folder(str(project))
    view.plain(f"ebbing's demo, over {material.name}, in a store of its own: {folder}")
    return Place(folder, project), material


def _tell(place: Place, material: Material, days: int, view: View) -> dict[str, object]:
    import anyio
    from mcp import MCPError

    from ..demo.story import Story

    story = Story(place, project_key(place.project, {}), material, days, view)
    try:
        return anyio.run(story.tell)
    except BaseExceptionGroup as group:
        raise _first(group) from group
    except MCPError as error:
        raise _unanswered(error) from error


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that a client's task groups wrap, ours before others."""
    matched, others = group.split(EbbingError)
    chosen: Any = matched or others
    while isinstance(chosen, BaseExceptionGroup):
        chosen = cast("BaseExceptionGroup[BaseException]", chosen).exceptions[0]
    return chosen if isinstance(chosen, EbbingError | KeyboardInterrupt) else _unanswered(chosen)


def _unanswered(error: object) -> EbbingError:
    return EbbingError(f"the server did not answer as it should: {error}")


def _look_around(place: Place) -> str:
    return f"The store stays: ebbing status --home {place.home} --scope {place.project}"
