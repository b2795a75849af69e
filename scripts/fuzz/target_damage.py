"""What lies in our own folder and was damaged: stored embeddings, texts and rows, and the small files beside them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from fuzz_store import Logged, judge_error, logged
from fuzz_values import as_json, damaged, deep_values, texts
from fuzzing import Check, Target
from hypothesis import strategies as st
from world import World

from ebbing.encoding.model_spec import parse_description
from ebbing.hooks.asking import notes
from ebbing.hooks.injection import start
from ebbing.hooks.places import Place, run_folder, session_file, soft_prompt_path
from ebbing.hooks.sessions import seen
from ebbing.schemas.errors import EbbingError, InvalidInputError
from ebbing.server.clients.receipts import Receipts
from ebbing.server.http_token import token_file, token_of
from ebbing.store.attic import pack, unpack
from ebbing.store.codec import BIT_WIDTHS, Codes, decode, encode, recode, score, sign_bits_of
from ebbing.tools.consolidate import consolidate
from ebbing.tools.recall import RecallArguments, recall

_DIMENSION: Final = 384
_COLUMNS: Final = (
    ("vector", "codes"),
    ("vector", "scales"),
    ("token", "codes"),
    ("token", "scales"),
    ("attic", "body"),
    ("attic", "codec"),
    ("memory", "entities"),
    ("memory", "slots"),
    ("memory", "tags"),
    ("strength", "stability"),
    ("journal", "data"),
)

_blobs = st.one_of(st.binary(max_size=200), st.sampled_from([b"", b"\0" * 96, b"\xff" * 384, b"\x7f\x80" * 192]))
_scales = st.one_of(st.floats(width=32), st.just(0.0))
_hits = st.tuples(
    st.sampled_from(["cut", "flip", "flip", "empty", "longer"]), st.integers(0, 2_000), st.integers(1, 255)
)
"""What happens to the bytes of a value: how, where, and which bits."""
_files = st.sampled_from(["note.server", "receipt", "token", "session", "soft prompt", "description"])
_bodies = st.one_of(
    damaged(st.just(b'{"token":"' + b"a" * 32 + b'","path":"/x","port":1,"since":1.5,"scope":"/p"}')),
    damaged(
        st.just(
            b'{"v":1,"client":"codex","scope":"user","file":"/x","format":"toml","existed":false,"made":[],'
            b'"undos":[{"path":["a"]}],"written":null,"forced":[["a"]]}'
        )
    ),
    deep_values.map(lambda value: as_json(value).encode()),
    st.binary(max_size=60),
)
_inputs = st.one_of(
    st.tuples(
        st.just("codes"), st.sampled_from(BIT_WIDTHS), st.lists(_blobs, max_size=3), st.lists(_scales, max_size=3)
    ),
    st.tuples(st.just("attic"), st.one_of(st.none(), st.sampled_from(["zlib-1", "plain", "x"])), texts(), _blobs),
    st.tuples(st.just("row"), st.sampled_from(_COLUMNS), _hits, st.integers(0, 9)),
    st.tuples(st.just("file"), _files, _bodies, st.booleans()),
)


class _Damage:
    def __init__(self, world: World, log: Logged) -> None:
        self._world = world
        self._log = log

    def judge(self, given: tuple[Any, ...]) -> None:
        """What is damaged is refused in our terms or passed over, and never takes the process with it."""
        what, *rest = given
        judged = {"codes": _judge_codes, "attic": _judge_attic, "row": self._judge_row, "file": self._judge_file}
        judged[what](*rest)

    def _judge_row(self, place: tuple[str, str], hit: tuple[str, int, int], row: int) -> None:
        """Damage one value, use the store as ever, and put the value back."""
        table, column = place
        database = self._world.services.store.database
        rows = [number for (number,) in database.rows(f"SELECT rowid FROM {table} ORDER BY rowid")]  # noqa: S608
        if not rows:
            return
        number = rows[row % len(rows)]
        before = database.value(f"SELECT {column} FROM {table} WHERE rowid = ?", (number,))  # noqa: S608
        write = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"  # noqa: S608
        try:
            with database.atomic():
                database.execute(write, (_struck(before, *hit), number))
        except EbbingError:
            # The table's own checks keep it out.
            return
        self._use()
        with database.atomic():
            database.execute(write, (before, number))

    def _use(self) -> None:
        self._world.now += 1_000_000
        services = self._world.services
        ids = [f"{number:08x}-0000-7000-8000-000000000000" for number in range(1)]
        for arguments in (RecallArguments(query=f"lamp {self._world.now}"), RecallArguments(ids=ids)):
            try:
                recall(services, arguments)
            except EbbingError as error:
                judge_error(error)
        try:
            consolidate(services, dry_run=True)
        except EbbingError as error:
            judge_error(error)

    def _judge_file(self, name: str, body: bytes, shown: bool) -> None:  # noqa: FBT001 - drawn
        home = self._world.home
        path = {
            "note.server": Path(run_folder(str(home)), "note.server"),
            "receipt": home / "clients" / "codex-00.json",
            "token": token_file(home),
            "session": Path(session_file(str(home), "s")),
            "soft prompt": soft_prompt_path(home, "/p"),
            "description": home / "ebbing-model.json",
        }[name]
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(body)
        try:
            notes(str(home), "/p")
            list(Receipts(home).all())
            seen(str(home), "s")
            start(Place(str(home), "/p", "s" if shown else "", "claude"), "startup", len)
            parse_description(path)
            token_of(home)
        except EbbingError as error:
            judge_error(error)
        path.unlink(missing_ok=True)


def _struck(value: Any, how: str, where: int, bits: int) -> Any:
    """A stored value after a bad moment of the disk; a number becomes another one."""
    if isinstance(value, int | float):
        return value + bits if how == "longer" else -value
    data = value.encode() if isinstance(value, str) else value or b""
    at = where % len(data) if data else 0
    struck = {
        "cut": data[:at],
        "flip": data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :] if data else b"",
        "empty": b"",
        "longer": data + bytes([bits]),
    }[how]
    return struck.decode("utf-8", "replace") if isinstance(value, str) else struck


def _judge_codes(width: int, blobs: list[bytes], scales: list[float]) -> None:
    size = _DIMENSION * width // 8
    rows = [(blob * size)[:size] if blob and len(blob) % 2 else blob for blob in blobs]
    try:
        codes = Codes.from_rows(width, _DIMENSION, rows, scales)
    except InvalidInputError as error:
        judge_error(error)
        return
    uses: list[Callable[[], object]] = [
        lambda: score(np.ones((1, _DIMENSION), np.float32), codes),
        lambda: decode(codes),
        lambda: sign_bits_of(codes),
        *(partial(recode, codes, other) for other in BIT_WIDTHS),
    ]
    for use in uses:
        try:
            with np.errstate(all="ignore"):
                use()
        except InvalidInputError as error:
            judge_error(error)


def _judge_attic(codec: str | None, text: str, body: bytes) -> None:
    whole = text.encode("utf-8", "replace").decode()
    assert unpack(*pack(whole)) == whole
    try:
        unpack(codec, body)
    except EbbingError as error:
        judge_error(error)


@contextmanager
def _opened(folder: Path) -> Generator[Check]:
    with World(folder / "home") as world, logged() as log:
        for number in range(6):
            world.save(f"The {number}. lamp of the lighthouse is green and costs {number * 7} crowns.", "decision")
            world.work_days(1)
        world.pass_days(300)
        world.run_daily()
        world.save("The lamp was cleaned in May.", "episode")
        assert encode(np.ones((1, _DIMENSION), np.float32), 4).packed.size
        yield _Damage(world, log).judge
        assert world.services.store.integrity() == []


DAMAGE = Target(
    "damage",
    "damaged bytes in the place of stored embeddings, texts and rows, and of the small files beside the store",
    _inputs,
    _opened,
    examples=300,
    suite=30,
)
