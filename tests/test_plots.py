"""The plots in the documentation are what the script draws from the program as it is."""

import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent


def test_every_plot_is_as_the_script_draws_it_and_shown_by_a_page() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "plots.py"))["plots"]()
    kept = {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "plots").iterdir()}
    assert kept == drawn
    page = (ROOT / "docs" / "forgetting.md").read_text("utf-8")
    for name, text in drawn.items():
        assert f"](plots/{name})" in page
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - the script has just written it
