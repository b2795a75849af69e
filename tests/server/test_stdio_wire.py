import gc
import json
import subprocess
import sys
from typing import Any

import pytest

from ebbing.server.startup import without_collecting

# Reports on the wire itself, the one place that is certain to reach the test.
CLAIM = """
import json, os, sys
from ebbing.server.wire import claim_wire
wire = claim_wire()
opened = os.open(os.devnull, os.O_RDONLY)
os.write(1, b"stray")
report = {
    "same": claim_wire() is wire,
    "private": min(wire.stdin, wire.stdout) > 2,
    "inheritable": os.get_inheritable(wire.stdin) or os.get_inheritable(wire.stdout),
    "opened": opened,
    "public_stdin": os.read(0, 10).decode(),
    "wire_stdin": os.read(wire.stdin, 10).decode(),
    "parent": wire.parent == os.getppid(),
    "heavy": sorted({"mcp", "pydantic", "asyncio", "anyio", "numpy"} & set(sys.modules)),
}
os.write(int(sys.argv[1]) if len(sys.argv) > 1 else wire.stdout, json.dumps(report).encode())
"""


def claimed(*command: str) -> tuple[dict[str, Any], bytes]:
    done = subprocess.run(command, input=b"request", capture_output=True, check=True, timeout=30)
    return json.loads(done.stdout), done.stderr


def test_the_wire_is_private_and_everything_else_is_diverted() -> None:
    report, errors = claimed(sys.executable, "-c", CLAIM)
    assert report["wire_stdin"] == "request"
    assert report["public_stdin"] == ""
    assert errors == b"stray"
    assert (report["same"], report["private"], report["inheritable"], report["parent"]) == (True, True, False, True)


def test_claiming_the_wire_imports_nothing_heavy() -> None:
    report, _ = claimed(sys.executable, "-c", CLAIM)
    assert report["heavy"] == []


def test_files_opened_later_never_land_on_a_standard_descriptor_that_was_closed() -> None:
    shell = 'exec "$0" -c "$1" 3 3>&1 0<&- 1>&- 2>&-'
    report, errors = claimed("sh", "-c", shell, sys.executable, CLAIM)
    assert report["opened"] > 2
    assert (report["private"], report["wire_stdin"], errors) == (True, "", b"")


@pytest.mark.parametrize("enabled", [True, False])
def test_loading_pauses_the_collector_and_leaves_it_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with without_collecting():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        (gc.enable if before else gc.disable)()
