"""Exact statements, and what a new one does to what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.reconcile import Candidate, Neighbour, Operation, reconcile
from ebbing.encoding.slots import compare, same_subject, same_value, slots
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
        ("The builder moved from Make to Just.", Slot("the builder", "is", "Just")),
    ],
)
def test_simple_statements_become_slots(text: str, slot: Slot) -> None:
    assert slots(text) == (slot,)


@pytest.mark.parametrize(
    "text",
    [
        "Is the API on port 8000?",
        "It is broken.",
        "We looked at the dashboard and then, after lunch, at the traces.",
        "",
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
    ],
)
def test_the_operation_follows_from_exact_comparison(old: str, new: str, operation: Operation) -> None:
    assert decide(old, new) is operation


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


def test_subjects_are_sets_of_words_without_articles() -> None:
    assert same_subject("the staging database", "staging database")
    assert not same_subject("staging database", "production database")


@given(st.text(max_size=200))
def test_any_text_compares_as_the_same_with_itself(text: str) -> None:
    for slot in slots(text):
        assert compare(slot, slot) == "same"
