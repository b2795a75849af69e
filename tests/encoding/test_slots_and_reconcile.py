"""Exact statements, and what a new one does to what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.reconcile import Candidate, Neighbour, Operation, reconcile
from ebbing.encoding.slots import slots
from ebbing.encoding.statements import compare, same_subject, same_text, same_value
from ebbing.schemas.memory import Kind, Slot


def decide(old: str, new: str, *, kind: Kind = Kind.FACT, cosine: float = 0.9) -> Operation:
    neighbour = Neighbour("old", kind, old, slots(old), cosine, overlaps=True)
    return reconcile(Candidate(kind, new, slots(new)), [neighbour]).operation


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("The API listens on port 8000.", Slot("the api", "runs on", "port 8000")),
        ("timeout = 30", Slot("timeout", "is", "30")),
        ("Set the retry limit to 5.", Slot("the retry limit", "is", "5")),
        ("We use pnpm for the frontend because npm broke.", Slot("we", "uses for the frontend", "pnpm")),
        ("The default region is eu-west-1", Slot("the default region", "is", "eu-west-1")),
        ("Never commit to main", Slot("commit to main", "rule", "done", polarity=False)),
        ("The cache does not use Redis", Slot("the cache", "uses", "Redis", polarity=False)),
        ("The staging database is db-7", Slot("the staging database", "is", "db-7")),
        ("log_level: debug", Slot("log_level", "is", "debug")),
        ("max retries = 5", Slot("max retries", "is", "5")),
        ("export EDITOR_NAME=vim", Slot("EDITOR_NAME".lower(), "is", "vim")),
        ("The service requires Python 3.11.", Slot("the service", "requires", "Python 3.11")),
        ("I prefer dark mode", Slot("user", "prefers", "dark mode")),
        ("You must never force-push to main.", Slot("force-push to main", "rule", "done", polarity=False)),
        ("The port is no longer 8080.", Slot("the port", "is", "8080", polarity=False)),
        ("The pool size is 1,000.", Slot("the pool size", "is", "1,000")),
        ("We don't use feature flags anymore.", Slot("we", "uses", "feature flags", polarity=False)),
        ("For the event store, we decided to use Postgres.", Slot("we", "uses for the event store", "Postgres")),
        ("The API is deployed to Heroku.", Slot("the api", "deployed to", "Heroku")),
        ("Go 1.22 is required for the build.", Slot("the build", "requires", "Go 1.22")),
        ("Retries are disabled in production.", Slot("retries", "is", "enabled in production", polarity=False)),
        ("Tests must not access the network.", Slot("tests", "may", "access the network", polarity=False)),
    ],
)
def test_simple_statements_become_slots(text: str, slot: Slot) -> None:
    assert slots(text) == (slot,)


@pytest.mark.parametrize(
    ("text", "kept", "rejected"),
    [
        ("We use pnpm, not npm.", "pnpm", "npm"),
        ("Prefer tabs over spaces", "tabs", "spaces"),
        ("The user prefers ruff to flake8.", "ruff", "flake8"),
        ("The builder moved from Make to Just.", "Just", "Make"),
        ("The cache uses Valkey instead of Redis.", "Valkey", "Redis"),
        ("We switched from npm to pnpm.", "pnpm", "npm"),
    ],
)
def test_a_choice_says_what_was_rejected_too(text: str, kept: str, rejected: str) -> None:
    one, other = slots(text)
    assert (one.value, one.polarity, other.value, other.polarity) == (kept, True, rejected, False)
    assert (one.subject, one.attribute) == (other.subject, other.attribute)


@pytest.mark.parametrize(
    "text",
    [
        "Alice: I ran 5 km today",
        "http: fix issue 12",
        "Closes: #12",
        "Note: 5",
        "If the port is 8080, use the proxy",
        "I think the port is 8080",
        "The port might be 8080",
        "Maybe the port is 8080",
        "The runners use npm and pnpm",
        "the answer == 42",
        "What the port is: see the wiki",
        "commit: 3f2a91bc",
        "Is the API on port 8000?",
        "It is broken.",
        "We looked at the dashboard and then, after lunch, at the traces.",
        "",
        "I prefer this one.",
        "The build may not finish.",
        "This is why the whole team decided that nothing of the sort will ever be tried again here",
    ],
)
def test_doubtful_forms_become_none(text: str) -> None:
    assert slots(text) == ()


@pytest.mark.parametrize(
    ("old", "new", "operation"),
    [
        ("The API listens on port 8000.", "The API listens on port 8000.", Operation.NOOP),
        ("The API listens on port 8000.", "the API  listens on port 8000", Operation.NOOP),
        ("The API listens on port 8000.", "The API listens on port 9000.", Operation.SUPERSEDE),
        ("The API listens on port 8000.", "API now runs on port 8000", Operation.UPDATE),
        ("Use version v1 of the schema", "Use version v2 of the schema", Operation.ADD),
        ("We use pnpm for the frontend.", "We use yarn for the frontend.", Operation.SUPERSEDE),
        ("We use pytest.", "We use ruff.", Operation.ADD),
        ("Never commit to main.", "Always commit to main.", Operation.SUPERSEDE),
        ("Never commit to main.", "Never push on Fridays.", Operation.ADD),
        ("The user is a developer.", "The user is from Berlin.", Operation.ADD),
        ("The cache uses Redis.", "The cache does not use Redis.", Operation.SUPERSEDE),
        ("The staging database is db-7.", "The production database is db-8.", Operation.ADD),
        ("The staging database is db-7.", "The staging database moved from db-7 to db-9.", Operation.SUPERSEDE),
        ("The default branch is main.", "The default branch is now develop.", Operation.SUPERSEDE),
        ("The timeout is 30 s", "Set the timeout to 30 seconds", Operation.UPDATE),
        ("The timeout is 30 s", "timeout = 30 ms", Operation.SUPERSEDE),
        ("LOG_LEVEL=debug", "log_level: info", Operation.SUPERSEDE),
        ("We use npm.", "We use pnpm, not npm.", Operation.SUPERSEDE),
        ("Prefer spaces over tabs", "Prefer tabs over spaces", Operation.SUPERSEDE),
        ("We use Python 3.11.", "We use Python 3.12.", Operation.SUPERSEDE),
        ("The app uses db-1.", "The app uses db-2.", Operation.ADD),
        ("Use C for the parser", "Use C++ for the parser", Operation.ADD),
        ("fail when x > 5", "fail when x < 5", Operation.ADD),
        ("call fooBar first", "call foobar first", Operation.ADD),
        ("The build is green.", "The build is red.", Operation.ADD),
        ("The port is not 8080.", "The port is 9090.", Operation.ADD),
        ("The port is 8080 in staging.", "The port is 9090 in production.", Operation.ADD),
        ("The release is v1.", "The release is v1", Operation.NOOP),
        ("The port is 8080.", "Is the port 8080?", Operation.ADD),
        ("The pool size is 1,000.", "The pool size is 1000.", Operation.UPDATE),
        ("The pool size is 1,000.", "The pool size is 1,500.", Operation.SUPERSEDE),
        ("Always run ruff before committing.", "Please always run ruff before you commit.", Operation.UPDATE),
        ("Never push main to dev.", "Always push dev to main.", Operation.ADD),
        ("We use pnpm for the frontend.", "The frontend uses pnpm.", Operation.UPDATE),
        ("We use pnpm for the frontend.", "The frontend uses yarn.", Operation.ADD),
        ("The API is deployed to Heroku.", "The API is deployed to Fly.io.", Operation.ADD),
        ("The API is deployed to Heroku.", "The API is now deployed to Fly.io.", Operation.SUPERSEDE),
        ("The port is 8080 in staging.", "The port is now 9090 in production.", Operation.ADD),
        ("The app uses Redis.", "The app now uses Kafka.", Operation.ADD),
        ("We replaced Webpack with Parcel.", "We replaced Parcel with Vite.", Operation.SUPERSEDE),
        ("The max upload size is 10 MB.", "The maximum upload size is 10MB.", Operation.UPDATE),
    ],
)
def test_the_operation_follows_from_exact_comparison(old: str, new: str, operation: Operation) -> None:
    assert decide(old, new) is operation


def test_a_less_trusted_source_never_replaces_but_is_named_as_a_conflict() -> None:
    old, new = "The API listens on port 8000.", "The API listens on port 9000."
    neighbour = Neighbour("old", Kind.FACT, old, slots(old), 0.9, overlaps=True, authority=3)
    decision = reconcile(Candidate(Kind.FACT, new, slots(new), authority=1), [neighbour])
    assert (decision.operation, decision.conflicts) == (Operation.ADD, ("old",))


def test_what_states_more_than_the_new_one_is_not_replaced_but_named() -> None:
    old = "The port is 8080.\nThe timeout is 30 s.\nThe region is eu-west-1."
    neighbour = Neighbour("old", Kind.FACT, old, slots(old), 0.7, overlaps=True)
    decision = reconcile(Candidate(Kind.FACT, "The port is 9090.", slots("The port is 9090.")), [neighbour])
    assert (decision.operation, decision.conflicts) == (Operation.ADD, ("old",))


def test_cosine_alone_never_supersedes() -> None:
    assert (
        decide("Deploys happen on Monday mornings", "Deploys take place Monday mornings", cosine=0.99) is Operation.ADD
    )


def test_what_differs_in_a_number_is_named_as_a_conflict() -> None:
    neighbour = Neighbour("old", Kind.FACT, "Builds take 12 minutes on average in CI", (), 0.95, overlaps=True)
    decision = reconcile(Candidate(Kind.FACT, "Builds take 7 minutes on average in CI"), [neighbour])
    assert (decision.operation, decision.conflicts) == (Operation.ADD, ("old",))


@pytest.mark.parametrize("kind", [Kind.EPISODE, Kind.OBSERVATION])
def test_events_are_never_reconciled(kind: Kind) -> None:
    assert decide("The build failed.", "The build failed.", kind=kind) is Operation.ADD


@pytest.mark.parametrize(("one", "other"), [("v1", "v2"), ("5", "50"), ("1.2", "1.20"), ("on", "off"), ("a-b", "ab")])
def test_values_are_compared_exactly(one: str, other: str) -> None:
    assert not same_value(one, other)
    assert same_value(one, one.upper())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30s", "30 seconds"),
        ("v2.1", "2.1"),
        ("1,000", "1000"),
        ("the main branch", "main branch"),
        ("50%", "50 percent"),
    ],
)
def test_one_value_in_two_spellings_is_the_same(one: str, other: str) -> None:
    assert same_value(one, other)


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_with_different_numbers_or_symbols_are_never_the_same(one: str, other: str) -> None:
    if same_text(one, other):
        assert [word.casefold().rstrip(".,;!") for word in one.split()] == [
            word.casefold().rstrip(".,;!") for word in other.split()
        ]


def test_subjects_are_sets_of_words_without_articles() -> None:
    assert same_subject("the staging database", "staging database")
    assert not same_subject("staging database", "production database")


@given(st.text(max_size=200))
def test_any_text_compares_as_the_same_with_itself(text: str) -> None:
    for slot in slots(text):
        assert compare(slot, slot) == "same"
