"""Recall through its one public entry, on small stores with the fake embedder."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from plain_store import FRESH, memory_of
from recall_store import DAY, RecallStore

from ebbing.encoding.ahead import computing
from ebbing.encoding.embedder import TextEmbedding
from ebbing.lifecycle.ledger import Ledger
from ebbing.retrieval.recaller import NO_MODEL
from ebbing.schemas.memory import Kind, State
from ebbing.store.kept_postings import KeptPostings
from ebbing.store.lexical import Postings


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore(tmp_path) as opened:
        yield opened


def test_finds_a_memory_by_its_words_and_says_which_channels_found_it(memories: RecallStore) -> None:
    wanted = memories.save("The retry budget of the uploader is five attempts.")
    memories.save("Tabs are four spaces wide in this project.")
    hits = memories.ask("how many attempts does the uploader make?").hits
    assert hits[0].memory.seq == wanted
    assert {"lexical", "semantic"} <= set(hits[0].channels)


def test_finds_a_memory_by_meaning_when_no_word_is_shared(tmp_path: Path) -> None:
    with RecallStore(tmp_path, FakeEmbedder({"automobile": "car"})) as memories:
        wanted = memories.save("The automobile is parked outside.")
        memories.save("Lunch is at noon.")
        found = memories.ask("car").hits[0]
        assert found.memory.seq == wanted
        assert found.channels[0] == "semantic"


def test_answers_from_words_and_says_so_while_there_is_no_model(memories: RecallStore) -> None:
    wanted = memories.save("The retry budget is five attempts.")
    answer = memories.ask("retry budget", with_model=False)
    assert answer.hits[0].memory.seq == wanted
    assert "model" in answer.notices[0]


def test_never_shows_another_scope(memories: RecallStore) -> None:
    memories.save("The secret plan is to rewrite everything.", scope="other")
    assert memories.ask("secret plan").hits == ()
    assert len(memories.ask("secret plan", scopes=("other",)).hits) == 1


def test_says_that_nothing_is_relevant_when_only_what_may_not_be_shown_is_about_the_question(
    memories: RecallStore,
) -> None:
    memories.save("The retry budget is five attempts.", kind=Kind.FACT)
    memories.save("Lunch is at noon.", kind=Kind.EPISODE)
    assert memories.ask("retry budget").hits
    answer = memories.ask("retry budget", kinds=frozenset({Kind.EPISODE}))
    assert answer.hits == ()
    assert answer.below_floor == 1


def test_a_question_about_what_was_replaced_is_answered_with_what_has_replaced_it(memories: RecallStore) -> None:
    old = memories.save("The store is MongoDB.", session="s")
    new = memories.save("Everything lives in Postgres.", session="s")
    memories.supersede(old, new, at=DAY)
    assert [hit.memory.seq for hit in memories.ask("MongoDB").hits] == [new]


def test_leaves_out_what_was_superseded_unless_asked_for_it_or_for_its_time(memories: RecallStore) -> None:
    old = memories.save("The deploy target is staging.", valid_from=DAY)
    new = memories.save("The deploy target is production.", valid_from=5 * DAY)
    memories.supersede(old, new, at=5 * DAY)
    assert [hit.memory.seq for hit in memories.ask("deploy target").hits] == [new]
    assert {hit.memory.seq for hit in memories.ask("deploy target", include_superseded=True).hits} == {old, new}
    assert [hit.memory.seq for hit in memories.ask("deploy target", as_of=3 * DAY).hits] == [old]


def test_leaves_out_forgotten_and_expired_memories(memories: RecallStore) -> None:
    faded = memories.save("The build uses make.", state=State.FORGOTTEN)
    forgotten = memories.save("The build used ant.")
    memories.store.memories.change(forgotten, forgotten_at=DAY)
    memories.save("The build is broken today.", expires_at=2 * DAY)
    assert memories.ask("build").hits == ()
    assert {hit.memory.seq for hit in memories.ask("build", include_faded=True).hits} == {faded, forgotten}


def test_narrows_by_kind_and_by_the_time_of_recording(memories: RecallStore) -> None:
    early = memories.save("The parser was rewritten.", kind=Kind.EPISODE, recorded_at=DAY)
    late = memories.save("The parser is fast.", kind=Kind.FACT, recorded_at=3 * DAY)
    assert [hit.memory.seq for hit in memories.ask("parser", kinds=frozenset({Kind.FACT})).hits] == [late]
    assert [hit.memory.seq for hit in memories.ask("parser", until=2 * DAY).hits] == [early]
    assert [hit.memory.seq for hit in memories.ask("parser", since=2 * DAY).hits] == [late]


def test_shows_each_memory_at_its_state_s_resolution(memories: RecallStore) -> None:
    texts: dict[int, State] = {}
    for state in (State.ACTIVE, State.WARM, State.COLD, State.ARCHIVE):
        seq = memories.save(f"The cache of {state.label} lives in Redis.", gist="gist", cue="cue", state=state)
        texts[seq] = state
    shown = {texts[hit.memory.seq]: hit.text for hit in memories.ask("cache Redis").hits}
    assert shown[State.COLD] == "gist"
    assert shown[State.ARCHIVE] == "cue"
    assert shown[State.WARM].startswith("The cache of warm")


def test_gives_the_same_answer_twice_and_to_another_opening_of_the_file(memories: RecallStore) -> None:
    for number in range(30):
        memories.save(f"Note {number}: the worker pool has {number % 7} threads and a queue.", session=f"s{number % 3}")
    first = memories.ask("how many threads does the worker pool have?")
    again = memories.ask("how many threads does the worker pool have?")
    with memories.reopened() as other:
        elsewhere = other.ask("how many threads does the worker pool have?")
    assert [hit.memory.id for hit in first.hits] == [hit.memory.id for hit in again.hits]
    assert [(hit.memory.id, hit.score) for hit in first.hits] == [(hit.memory.id, hit.score) for hit in elsewhere.hits]


def test_notices_what_another_process_saved_meanwhile(memories: RecallStore) -> None:
    memories.save("The port is 8080.")
    assert len(memories.ask("port").hits) == 1
    with memories.reopened() as other:
        other.save("The port of the proxy is 9090.")
    assert len(memories.ask("port").hits) == 2


def test_strength_reorders_only_near_ties(memories: RecallStore) -> None:
    weak = memories.save("The linter runs before each commit in the hook.")
    strong = memories.save("The linter runs before each commit in the hook!")
    exact = memories.save("Zanzibar holds the spare keys of the archive.")
    memories.strengths = {weak: 0.1, strong: 0.9, exact: 0.0}
    assert memories.ask("when does the linter run before a commit").hits[0].memory.seq == strong
    assert memories.ask("Zanzibar holds the spare keys of the archive.").hits[0].memory.seq == exact


def test_a_neighbour_in_the_session_lifts_an_answer_that_lacks_the_question_s_words(memories: RecallStore) -> None:
    memories.save("Which database should the exporter use?", session="a")
    answer = memories.save("Postgres it is.", session="a")
    for number in range(8):
        memories.save(f"Unrelated remark number {number} about gardens.", session=f"x{number}")
    found = [hit.memory.seq for hit in memories.ask("database of the exporter", limit=2).hits]
    assert answer in found


LANGUAGES = [
    ("数据库密码每九十天更换一次。", "密码多久更换"),
    ("本番サーバーは東京リージョンにあります。", "東京リージョン"),
    ("배포 서버는 서울에 있습니다.", "서버"),
    ("Кэш хранится в Redis, срок — один час.", "КЭШ redis"),
    ("النسخ الاحتياطي يعمل كل ليلة", "متى يعمل النسخ الاحتياطي"),
    ("Das Büro in Zürich öffnet um acht.", "zurich buro"),
    ("Le café de l'équipe est au rez-de-chaussée.", "cafe equipe"),
]


@pytest.mark.parametrize(("text", "question"), LANGUAGES, ids=[question for _, question in LANGUAGES])
def test_finds_words_of_any_script_without_a_model(memories: RecallStore, text: str, question: str) -> None:
    wanted = memories.save(text)
    for other, _ in LANGUAGES:
        if other != text:
            memories.save(other)
    hits = memories.ask(question, with_model=False).hits
    assert hits[0].memory.seq == wanted
    assert hits[0].channels == ("lexical",)


def test_sessions_of_the_same_name_in_two_scopes_lend_each_other_no_evidence(memories: RecallStore) -> None:
    memories.save("Which database should the exporter use?", scope="global", session="s1")
    memories.save("Postgres it is.", session="s1")
    memories.save("And the exporter runs at night.", scope="global", session="s1")
    hits = memories.ask("exporter database", with_model=False, scopes=("p", "global")).hits
    assert {hit.memory.scope for hit in hits} == {"global"}
    alone = memories.ask("exporter database", scopes=("p",), with_model=False)
    assert alone.hits == ()


@pytest.mark.parametrize("speaks", ["Nadia: ", ""], ids=["conversation", "prose"])
def test_only_in_conversations_do_the_sessions_share_the_places_of_a_list(memories: RecallStore, speaks: str) -> None:
    for number in range(6):
        memories.save(f"{speaks}The ferry harbour has lantern {number} of tin.", session="same")
    other = memories.save(f"{speaks}The ferry harbour has one more lantern, so they said.", session="other")
    for number in range(6):
        memories.save(f"{speaks}Invoice {number} was paid by Monday.", session=f"x{number}")
    hits = memories.ask("list all lanterns of the ferry harbour", limit=4).hits
    assert (other in [hit.memory.seq for hit in hits]) is bool(speaks)


def test_tells_the_class_of_a_question_why_and_what_each_channel_gave(memories: RecallStore) -> None:
    memories.save("The cache was dropped because it was stale.")
    answer = memories.ask("why was the cache dropped?", explain=True)
    assert answer.query_class == "multi-hop"
    assert any("why" in reason for reason in answer.reasons)
    assert any(reason.startswith("lexical: 1") for reason in answer.reasons)


def test_a_verbatim_question_for_the_weakest_of_ten_thousand_memories_finds_it_first(memories: RecallStore) -> None:
    colours = ("red", "green", "blue", "white", "black")
    texts = [
        f"The {colours[number % 5]} service {number // 5 % 100} listens on port {8000 + number} of the proxy."
        for number in range(10_000)
    ]
    store = memories.store
    with store.atomic(durable=False):
        seqs = [store.memories.insert(memory_of(text, scope="p"), FRESH) for text in texts]
        for seq, text in zip(seqs, texts, strict=True):
            store.lexical.add(seq, text, "")
    memories.strengths = {seqs[4321]: 0.0}
    hits = memories.ask(texts[4321], with_model=False).hits
    assert hits[0].memory.seq == seqs[4321]
    assert hits[0].retention == 0.0
    assert hits[1].retention == 1.0


def test_a_turn_that_is_repeated_word_for_word_comes_before_its_answer_however_weak_it_is(
    memories: RecallStore,
) -> None:
    asked = memories.save("Ann: What got you into running?", session="s")
    told = memories.save("Ben: What got me into running? I run, I run to rest.", session="s")
    for number in range(6):
        memories.save(f"Ann: The ferry number {number} was late.", session="t")
    memories.strengths = {asked: 0.0}
    seqs = [hit.memory.seq for hit in memories.ask("Ann:  What got you into running?").hits]
    assert seqs[:2] == [asked, told]


def test_scores_fall_and_stay_within_the_limit(memories: RecallStore) -> None:
    for number in range(20):
        memories.save(f"The scheduler wakes every {number} minutes.")
    hits = memories.ask("scheduler minutes", limit=5).hits
    assert len(hits) == 5
    assert np.all(np.diff([hit.score for hit in hits]) <= 0)


class CountingPostings(KeptPostings):
    """Posting lists that count how often they are asked for."""

    asked = 0

    def of(self, terms: Mapping[str, str]) -> list[Postings]:
        self.asked += 1
        return super().of(terms)


def test_a_repeated_question_is_answered_from_memory_though_it_was_shown_meanwhile(memories: RecallStore) -> None:
    seq = memories.save("The port is 8080.")
    memories.save("The port of the proxy is 9090.")
    counting = memories.store.postings = CountingPostings(memories.store.database, memories.store.lexical)
    first = memories.ask("port")
    asked = counting.asked
    Ledger(memories.store).shown("p", [hit.memory for hit in first.hits], "recall", {}, 2 * DAY)
    again = memories.ask("port")
    assert counting.asked == asked
    assert [hit.memory.id for hit in again.hits] == [hit.memory.id for hit in first.hits]
    assert again.hits[0].memory.strength.heat_mask == 1
    memories.store.memories.change(seq, trust=0.1)
    memories.ask("port")
    assert counting.asked > asked


def test_a_memory_saved_between_two_showings_ends_the_kept_answer(memories: RecallStore) -> None:
    memories.save("The port is 8080.")
    ledger = Ledger(memories.store)
    ledger.shown("p", [hit.memory for hit in memories.ask("port").hits], "a", {}, 2 * DAY)
    memories.save("The port of the proxy is 9090.")
    ledger.shown("p", [hit.memory for hit in memories.ask("proxy").hits], "b", {}, 2 * DAY)
    assert len(memories.ask("port").hits) == 2


class WaitingEmbedder(FakeEmbedder):
    """A model that takes as long for a question as its words take to be looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_up = threading.Event()

    def embed_query(self, text: str) -> TextEmbedding:
        computing()
        assert self.looked_up.wait(5)
        return super().embed_query(text)


def test_words_are_looked_up_while_the_question_is_embedded(tmp_path: Path) -> None:
    class Telling(KeptPostings):
        def of(self, terms: Mapping[str, str]) -> list[Postings]:
            embedder.looked_up.set()
            return super().of(terms)

    embedder = WaitingEmbedder()
    with RecallStore(tmp_path, embedder) as memories:
        memories.save("The port is 8080.")
        memories.store.postings = Telling(memories.store.database, memories.store.lexical)
        assert memories.ask("port").hits[0].channels[:2] == ("semantic", "lexical")


def test_a_model_that_fails_leaves_the_words(memories: RecallStore, caplog: pytest.LogCaptureFixture) -> None:
    seq = memories.save("The port is 8080.")
    memories.embedder.close()
    found = memories.ask("port")
    assert [hit.memory.seq for hit in found.hits] == [seq]
    assert found.notices == (NO_MODEL,)
    assert "recall goes on without embeddings" in caplog.text


def test_a_question_that_was_asked_many_times_does_not_crowd_its_answer_out(memories: RecallStore) -> None:
    told = memories.save("The build fails because the cache key leaves the lock file out.")
    asked = [memories.save("Why does the build fail?") for _ in range(12)]
    seqs = [hit.memory.seq for hit in memories.ask("Why does the build fail?").hits]
    assert seqs[0] in asked
    assert seqs[1] == told
    # The place that is kept for an association may hold one more.
    assert len(set(seqs) & set(asked)) <= 2
