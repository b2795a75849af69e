"""Prompts as people type them, and memories: which bear on which, for whether reminders come when they should."""

from __future__ import annotations

PAIRS: tuple[tuple[str, str, str], ...] = (
    (
        "decision",
        "We decided to format with ruff instead of black, because one tool does both linting and formatting.",
        "reformat the files I touched, with whatever formatter we settled on, ruff or black",
    ),
    (
        "fact",
        "The staging database runs on host db-stage-2, port 5433.",
        "connect to the staging db and list its tables",
    ),
    (
        "procedure",
        "To release: bump __version__, run scripts/test, tag vX.Y.Z, push the tag.",
        "cut a release for what's on main and push the tag",
    ),
    (
        "decision",
        "The payment gateway's retries back off exponentially, at most 30 seconds, since the provider limits bursts.",
        "please add a retry with backoff to the refund call of the payment gateway",
    ),
    (
        "fact",
        "tests/test_order.py fails unless PYTHONHASHSEED=0 is set.",
        "why does test_order.py fail on my machine but not in CI?",
    ),
    (
        "fact",
        "src/parser.py works around nested brackets in parse_group() with an explicit stack.",
        "refactor parse_group in the parser to be iterative",
    ),
    (
        "preference",
        "The user wants small commits with imperative subjects of at most 50 characters.",
        "commit this in small commits with good subjects",
    ),
    (
        "decision",
        "Dates are stored as UTC microseconds and shown in the reader's zone, after the summer-time bug in reports.",
        "the report shows the wrong date after the summer time change, fix how dates are stored",
    ),
    (
        "fact",
        "The invoice PDF is rendered by wkhtmltopdf 0.12, which ignores CSS grid.",
        "make the invoice PDF use a grid layout",
    ),
    (
        "episode",
        "The deploy of 12 May failed since the migration locked the users table for six minutes; it was rolled back.",
        "write a migration that adds a column to the users table and deploy it",
    ),
)
"""(kind, memory, a prompt on which it bears)."""

UNRELATED: tuple[str, ...] = (
    "yes",
    "continue",
    "ok, do it",
    "thanks, looks good!",
    "write a haiku about autumn",
    "explain monads to me",
    "what is the capital of France?",
    "fix the typo in the README",
    "Today let's add a dark mode toggle to the settings page",
    "how many people signed up in May 2023?",
    "add type hints to utils.py and make sure mypy passes",
    "rename the variable to something clearer",
    "can you translate the landing page into Portuguese?",
    "center the logo on small screens",
    "what does this regular expression match?",
    "draw an architecture diagram of the login flow",
    "sort the imports",
    "make the button blue",
    "is there a way to cache the thumbnails?",
    "summarise our conversation so far",
)
"""Prompts on which none of them bears."""
