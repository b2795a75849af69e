"""Work beside its caller's: begun at once, its result or its error for whoever asks."""

from __future__ import annotations

import threading

import pytest

from ebbing.encoding.ahead import Ahead
from ebbing.schemas.errors import ModelError


def test_the_work_goes_on_while_the_caller_does_something_else() -> None:
    told, heard = threading.Event(), threading.Event()

    def work() -> str:
        told.set()
        assert heard.wait(5)
        return "done"

    ahead = Ahead(work)
    assert told.wait(5)
    heard.set()
    assert [ahead.result(), ahead.result()] == ["done", "done"]


def test_an_error_of_the_work_is_raised_where_its_result_is_asked_for() -> None:
    def work() -> str:
        raise ModelError("the model failed")

    ahead = Ahead(work)
    for _ in range(2):
        with pytest.raises(ModelError, match="the model failed"):
            ahead.result()
