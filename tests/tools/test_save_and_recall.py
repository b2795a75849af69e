"""Saving and recalling through the functions that both the MCP tools and the command line call."""

import pytest
from world import PROJECT, World

from ebbing.encoding.words import indexed
from ebbing.schemas.errors import InvalidInputError, TooLargeError, UnknownMemoryError
from ebbing.schemas.memory import Kind, State
from ebbing.tools.recall import RecallArguments, recall
from ebbing.tools.save import SaveArguments, save


def test_what_was_saved_is_recalled_first_by_a_question_about_it(world: World) -> None:
    world.save("We use pnpm for the frontend because npm kept breaking the lock file.", "decision")
    world.save("The staging database runs on port 5433.")
    world.save("Release notes are written in the imperative mood.")
    assert "5433" in world.found("which port does the staging database use?")[0]


def test_a_saved_memory_keeps_every_argument(world: World) -> None:
    memory = world.save(
        "Deploys go through the release branch.",
        "procedure",
        importance=0.7,
        pinned=True,
        tags=["deploy", " deploy ", "release"],
        valid_from="2026-03-01",
        valid_to="2026-12-31",
        source="docs/deploy.md",
        said_by="user",
    )
    assert memory.kind is Kind.PROCEDURE
    assert (memory.importance, memory.pinned, memory.tags) == (0.7, True, ("deploy", "release"))
    assert memory.provenance.source == "docs/deploy.md"
    assert memory.trust == 1.0
    assert memory.valid_to is not None
    assert memory.strength.state is State.ACTIVE


def test_a_memory_is_found_by_its_tags_and_still_is_when_the_index_is_built_anew(world: World) -> None:
    world.save("Services are deployed with Helm charts.", tags=["k8s", "roll-out"])
    world.save("Invoices are sent on Mondays.")
    for question in ("k8s", "roll-out"):
        assert world.found(question)[0] == "Services are deployed with Helm charts."
    store = world.services.store
    memories = [memory for batch in store.memories.all() for memory in batch]
    store.lexical.rebuild((memory.seq, *indexed(memory.content, memory.tags)) for memory in memories)
    assert world.found("roll-out")[0] == "Services are deployed with Helm charts."


def test_the_same_words_again_confirm_instead_of_piling_up(world: World) -> None:
    first = world.save("Tests run with pytest -x.")
    again = save(world.services, SaveArguments(content="Tests  run with pytest -x.\n"))
    assert (again.operation, again.id) == ("confirmed", first.id)
    assert world.memory(first.id).confirmations == 1
    assert world.services.store.memories.count() == 1


def test_two_equal_episodes_are_two_memories(world: World) -> None:
    first = world.save("The build failed on a flaky test.", "episode")
    second = world.save("The build failed on a flaky test.", "episode")
    assert first.id != second.id


def test_superseding_by_id_ends_the_old_one_and_recall_gives_the_new(world: World) -> None:
    old = world.save("The API listens on port 8000.")
    reply = save(world.services, SaveArguments(content="The API listens on port 9000.", supersedes=[old.id]))
    assert reply.operation == "superseded"
    assert world.memory(old.id).superseded_by == reply.id
    texts = world.found("which port does the API listen on?")
    assert texts
    assert all("8000" not in text for text in texts)


def test_scopes_do_not_leak(world: World) -> None:
    world.save("The secret project codename is Halcyon.", scope="/projects/other")
    world.save("Everybody prefers tabs in makefiles.", "preference", scope="global")
    assert world.found("secret project codename Halcyon") == []
    assert world.found("tabs in makefiles")
    assert world.found("secret project codename Halcyon", scope="/projects/other")


def test_ids_return_originals_whole_and_only_within_the_scope(world: World) -> None:
    long_text = "The retry policy: " + " ".join(f"step {number} waits {number * 2} seconds." for number in range(60))
    mine = world.save(long_text)
    theirs = world.save("Not yours.", scope="/projects/other")
    reply = recall(world.services, RecallArguments(ids=[mine.id], max_tokens=5000))
    assert reply.memories[0].text == long_text
    with pytest.raises(UnknownMemoryError):
        recall(world.services, RecallArguments(ids=[theirs.id]))


def test_an_off_topic_question_says_that_nothing_is_known(world: World) -> None:
    world.save("The linter is ruff with a line length of 120.")
    reply = recall(world.services, RecallArguments(query="zebra migration patterns in Botswana"))
    assert reply.memories == []
    assert "nothing" in reply.text.lower()


def test_secrets_never_reach_the_store(world: World) -> None:
    token = "ghp_" + "a1B2" * 9
    reply = save(world.services, SaveArguments(content=f"CI logs in with {token} against the registry."))
    assert reply.redacted
    assert token not in world.memory(reply.id).content
    world.engine.close()
    assert all(token.encode() not in path.read_bytes() for path in world.home.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"content": ""}, "nothing to remember"),
        ({"content": " \n\t"}, "nothing to remember"),
        ({"content": "\0"}, "nothing to remember"),
        ({"content": "<private>all of it</private>"}, "nothing to remember"),
        ({"content": "x", "kind": "opinion"}, "kinds are"),
        ({"content": "x", "importance": 1.5}, "between 0 and 1"),
        ({"content": "x", "valid_from": "soon"}, "valid_from: not a date"),
        ({"content": "x", "valid_from": "2026-05-02", "valid_to": "2026-05-01"}, "swap"),
        ({"content": "x", "supersedes": ["nonsense"]}, "not a memory id"),
        ({"content": "x", "said_by": "nobody"}, "said_by"),
        ({"content": "x", "scope": "a\0b"}, "scope"),
    ],
)
def test_a_bad_save_says_what_to_change_and_stores_nothing(
    world: World, arguments: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidInputError, match=says):
        save(world.services, SaveArguments(**arguments))  # pyright: ignore[reportArgumentType]
    assert world.services.store.memories.count() == 0


def test_a_text_over_the_limit_is_refused_not_cut(world: World) -> None:
    with pytest.raises(TooLargeError, match="1,000,000 characters"):
        save(world.services, SaveArguments(content="x" * 1_000_000))
    assert world.services.store.memories.count() == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "needs a query"),
        ({"query": "x", "limit": 0}, "limit must lie between 1"),
        ({"query": "x", "max_tokens": 3}, "max_tokens must lie between"),
        ({"query": "x", "since": "last tuesday"}, "since: not a date"),
        ({"query": "x", "since": "2026-02-01", "until": "2026-01-01"}, "swap"),
        ({"query": "x", "kinds": ["opinion"]}, "kinds are"),
        ({"query": "x" * 20_000}, "20,000 characters"),
        ({"ids": ["00000000-0000-7000-8000-000000000000"]}, "no memory has the id"),
    ],
)
def test_a_bad_recall_says_what_to_change(world: World, arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        recall(world.services, RecallArguments(**arguments))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "text",
    [
        'she said "yes"',
        "a-b-c",
        "key: value",
        "wild*card",
        "x NEAR y",
        "this AND that",
        "C++ templates",
        "don't panic",
        "a/b testing",
        "10 GB/s links",
        "ask-codex first",
        "emoji 🦊 here",
        "日本語のメモ",
        "مرحبا بالعالم",
        "naïve café",
        "tabs\tand\nlines",
        "100 % sure",
        "(unbalanced",
        "OR",
        "NOT",
        "^caret",
        "{braces}",
        "semi;colon",
        "--flag",
    ],
)
def test_any_text_is_found_by_its_own_words(world: World, text: str) -> None:
    world.save("Something else entirely stands here.")
    memory = world.save(f"Note: {text}")
    assert memory.content in world.found(text)


def test_a_lone_surrogate_and_nul_are_repaired_on_the_way_in(world: World) -> None:
    assert world.save("broken \ud800 text\0 here").content == "broken \ufffd text here"


def test_the_reply_fits_the_tokens_that_were_asked_for(world: World) -> None:
    for number in range(30):
        world.save(f"Fact {number} about the deployment pipeline: " + f"stage{number} " * 40)
    reply = recall(world.services, RecallArguments(query="deployment pipeline", limit=30, max_tokens=300))
    assert world.engine.count_tokens(reply.text) <= 300
    assert reply.omitted > 0


def test_what_was_shown_is_journalled_under_the_recall_id(world: World) -> None:
    memory = world.save("The cache is Redis 7.")
    reply = recall(world.services, RecallArguments(query="which cache?"))
    [entry] = world.services.store.journal.of_ref(reply.recall_id)
    assert entry.data["memories"] == [memory.id]
    assert world.memory(memory.id).strength.uses == 0


def test_everything_is_scoped_to_the_session_by_default(world: World) -> None:
    assert world.save("Scoped.").scope == PROJECT


def test_a_secret_in_a_tag_or_a_source_is_removed_like_one_in_the_text(world: World) -> None:
    secret = "ghp_R4nd0mL00k1ngT0k3nF0rTh1sT3st99Zq1"
    memory = world.save("Deploys use a token.", tags=[secret], source=f"https://example.invalid/?a=b&token={secret}")
    assert secret not in str(memory)
    assert memory.tags == ("[redacted:github-token]",)


def test_half_a_character_breaks_neither_saving_nor_asking(world: World) -> None:
    # A byte of a command line that is no UTF-8 arrives as one.
    memory = world.save("The caf\udce9 closes at 6.", tags=["\udcff"], source="notes/\udcff.md")
    assert memory.content == "The caf\ufffd closes at 6."
    assert memory.provenance.source == "notes/\ufffd.md"
    assert memory.content in world.found("when does the caf\udce9 close")
    with pytest.raises(InvalidInputError):
        world.found("x", scope="\ud800")


@pytest.mark.parametrize("number", [10**400, -(10**400), float("nan"), float("inf")])
def test_a_number_that_is_absurd_is_refused_like_any_other(world: World, number: float) -> None:
    for name in ("max_tokens", "limit"):
        with pytest.raises(InvalidInputError, match=name):
            world.found("x", **{name: number})
    with pytest.raises(InvalidInputError, match="importance"):
        world.save("The port is 8080.", importance=number)
