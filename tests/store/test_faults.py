"""What counts as a fault: nothing that can happen to a store in a life, whatever happens."""

import io
import random
from pathlib import Path

import pytest
from history import History
from world import World

from ebbing.lifecycle.constants import DEFAULTS
from ebbing.store.checkup import examine
from ebbing.tools.transfer.export import export
from ebbing.tools.transfer.load import load


@pytest.mark.parametrize("seed", range(2))
def test_no_life_leaves_a_fault(seed: int, tmp_path: Path) -> None:
    with History(tmp_path / "home", random.Random(seed), DEFAULTS) as history:
        history.live(120)
    assert [fault for fault in examine(tmp_path / "home" / "memory.db").faults if fault.part != "words"] == []


def test_what_was_imported_from_a_store_that_has_erased_and_merged_has_no_fault(tmp_path: Path) -> None:
    with World(tmp_path / "one") as one, World(tmp_path / "two") as two:
        saved = [one.save(f"The port of server {number} is {8000 + number}.", "episode") for number in range(8)]
        one.save("The cache is written in Rust.")
        one.work_days(40)
        one.run_daily()
        one.services.recorder.erase([one.memory(saved[0].id)], one.now)
        file = io.BytesIO()
        export(one.services.store, file)
        file.seek(0)
        load(two.services, file)
    for home in ("one", "two"):
        assert examine(tmp_path / home / "memory.db").faults == ()


def test_a_memory_whose_line_was_left_out_of_an_import_is_not_missed_and_can_come_later(tmp_path: Path) -> None:
    with World(tmp_path / "one") as one, World(tmp_path / "two") as two:
        one.save("The port is 8080.")
        one.save("The queue is called mail.")
        file = io.BytesIO()
        export(one.services.store, file)
        lines = file.getvalue().splitlines(keepends=True)
        bad = [b"{half a line\n" if b"8080" in line and b'"memory"' in line[:20] else line for line in lines]
        assert load(two.services, io.BytesIO(b"".join(bad)), skip_bad=True).added == 1
        assert examine(tmp_path / "two" / "memory.db").faults == ()
        assert load(two.services, io.BytesIO(file.getvalue())).added == 1
        assert sorted(two.found("which port, which queue")) == ["The port is 8080.", "The queue is called mail."]
    assert examine(tmp_path / "two" / "memory.db").faults == ()
