"""What a database of this version is made of, by building an empty one in memory: to see what a damaged one lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import apsw

from .coarse import definition
from .connections import load_vec, run
from .migrations import RECORD, known_migrations

DERIVED: Final = ("lexical", "substring", "coarse_")
"""How the names of tables begin that can be dropped and made again from others, with all that belongs to them."""


def blueprint(models: Sequence[tuple[int, int]]) -> dict[str, str]:
    """The statement that makes each table, index, view and trigger, by name, in an order in which they can be run.

    `models` are the row ids and dimensions of the embedding models that have a coarse index.
    """
    connection = apsw.Connection(":memory:")
    try:
        load_vec(connection)
        for statements in (RECORD, *(step.sql for step in known_migrations()), *(definition(*one) for one in models)):
            list(run(connection, statements))
        made = run(connection, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        return {str(name): str(sql) for name, sql in made}
    finally:
        connection.close()


def is_derived(name: str) -> bool:
    """Whether a table, or what belongs to one, follows from others."""
    return name.startswith(DERIVED)


def is_base_table(name: str, sql: str) -> bool:
    """Whether something is a table whose rows can't be had from anywhere else."""
    return sql.upper().startswith("CREATE TABLE") and not is_derived(name)
