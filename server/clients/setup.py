"""Setting ebbing up in a client and removing it: first every change is worked out, then the files are written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ...schemas.errors import InvalidInputError
from .files import missing_folders, read, remove_empty
from .files import replace as replace_file
from .placement import Undo
from .plans import EDITORS, NAME, Plan, content_of
from .receipts import Receipt, Receipts, fingerprint
from .table import Scope


@dataclass(frozen=True, slots=True)
class Change:
    """What one file becomes; None is a file that isn't there."""

    client: str
    scope: Scope
    file: Path
    before: bytes | None
    after: bytes | None
    receipt: Receipt | None = None

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """The lines that change, without their neighbours, which are not ours to show."""
        old, new = ((content or b"").decode("utf-8", "replace").splitlines() for content in (self.before, self.after))
        lines = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
        return "\n".join(line for line in lines if not line.startswith("@@"))


def work_out(plan: Plan, receipts: Receipts) -> Change:
    """The change that puts a plan into its file.

    Raises:
        InvalidInputError: if the file can't be understood; the text says what to put there by hand.
    """
    before = content_of(plan)
    undos: list[Undo] = []
    try:
        old = text = plan.text(before)
        for placement in plan.placements:
            text, done = plan.editor.put(text, placement)
            undos += done
    except InvalidInputError as error:
        raise plan.refusal(error) from error
    if not undos:
        return Change(plan.client.id, plan.scope, plan.file, before, before)
    after = text.encode("utf-8")
    fresh = Receipt(
        client=plan.client.id,
        scope=plan.scope,
        file=plan.file,
        format=plan.format,
        before=before,
        made=tuple(missing_folders(plan.file)),
        undos=tuple(undos),
        written=fingerprint(after),
        forced=tuple(placement.path for placement in plan.placements if placement.needed),
    )
    earlier = receipts.of(plan.client.id, plan.file)
    is_there = any(plan.editor.find(old, placement) for placement in plan.placements if not placement.needed)
    receipt = _continued(earlier, fresh) if earlier and is_there else fresh
    return Change(plan.client.id, plan.scope, plan.file, before, after, receipt)


def work_out_removal(receipt: Receipt) -> Change:
    """The change that takes out of a file what a receipt says was put there.

    Raises:
        InvalidInputError: if the file can't be understood.
    """
    content = read(receipt.file)
    if content is None or receipt.written == fingerprint(content):
        after = None if content is None else receipt.before
    else:
        after = _edited_since(receipt, content)
    return Change(receipt.client, receipt.scope, receipt.file, content, after, receipt)


def work_out_stripping(plan: Plan) -> Change:
    """The change that takes a plan out of a file of which no receipt was kept.

    Raises:
        InvalidInputError: if the file can't be understood.
    """
    before = content_of(plan)
    if before is None or NAME.encode() not in before:
        return Change(plan.client.id, plan.scope, plan.file, before, before)
    try:
        text = plan.text(before)
        for placement in plan.placements:
            text = plan.editor.strip(text, placement)
    except InvalidInputError as error:
        raise _left_alone(plan.file, error) from error
    return Change(plan.client.id, plan.scope, plan.file, before, text.encode("utf-8"))


def carry_out(changes: Iterable[Change], receipts: Receipts) -> None:
    """Write what was worked out, each receipt before its file.

    Raises:
        EbbingError: if a file was changed meanwhile or can't be written.
    """
    for change in changes:
        if change.changes and change.receipt is not None:
            receipts.keep(change.receipt)
        if change.changes:
            replace_file(change.file, change.before, change.after)


def carry_out_removal(changes: Iterable[Change], receipts: Receipts) -> None:
    """Write what was worked out, and forget the receipts.

    Raises:
        EbbingError: if a file was changed meanwhile or can't be written.
    """
    made: set[Path] = set()
    for change in changes:
        if change.changes:
            replace_file(change.file, change.before, change.after)
        if change.receipt is not None:
            made.update(change.receipt.made)
            receipts.drop(change.receipt)
    remove_empty(made)


def _continued(earlier: Receipt, fresh: Receipt) -> Receipt:
    """The receipt of a file that was set up before: it still leads back to how the file was at first."""
    untouched = fresh.before is not None and earlier.written == fingerprint(fresh.before)
    written = fresh.written if untouched else None
    return replace(earlier, undos=(*earlier.undos, *fresh.undos), written=written)


def _edited_since(receipt: Receipt, content: bytes) -> bytes | None:
    editor = EDITORS[receipt.format]
    try:
        text = content.decode("utf-8")
        for undo in reversed(receipt.undos):
            without = editor.take(text, undo)
            # In a file that we began, what it had to have stays for as long as it holds something of somebody's.
            if undo.path not in receipt.forced or receipt.before is not None or not without.strip():
                text = without
    except UnicodeDecodeError as error:
        raise _left_alone(receipt.file, InvalidInputError(f"byte {error.start + 1} is not UTF-8")) from error
    except InvalidInputError as error:
        raise _left_alone(receipt.file, error) from error
    return None if receipt.before is None and not text.strip() else text.encode("utf-8")


def _left_alone(file: Path, error: InvalidInputError) -> InvalidInputError:
    return InvalidInputError(f"{file} was left alone: {error}. Correct it and run this again, or take ebbing out of it")
