"""A question that names something exactly finds the memory that holds it first, among hundreds that are much alike."""

import itertools
import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from recall_store import RecallStore

from ebbing.encoding.embedder import Embedder, OnnxEmbedder
from ebbing.encoding.entities import entities
from ebbing.encoding.model import locate

WHO = ("uploader", "scheduler", "exporter", "gateway", "parser", "indexer", "mailer", "crawler")
DOES = ("handles", "delays", "repeats", "drops", "checks", "logs")
WHAT = (
    "jobs that fail at night",
    "requests of the old client",
    "rows without a date",
    "files over ten megabytes",
    "events out of order",
    "sessions that ended early",
)
VERBS = ("load", "save", "merge", "split")
THINGS = ("user", "order", "cache", "token")
PAIRS = [(verb, thing) for verb in VERBS for thing in THINGS]
EACH = 48

FUNCTIONS = [f"{verb}_{thing}{more}" for verb, thing in PAIRS for more in ("", "_list", "s")]
NAMES: Mapping[str, list[str]] = {
    "function": FUNCTIONS,
    "camelCase": [f"{verb}{thing.title()}{more}" for verb, thing in PAIRS for more in ("", "ById", "Once")],
    "file": [f"src/{thing}/{verb}_{number}.py" for verb, thing in PAIRS for number in (1, 2, 12)],
    "flag": [f"--{verb}-{thing}{more}" for verb, thing in PAIRS for more in ("", "-all", "-now")],
    "error code": [f"E{1000 + 7 * number}" for number in range(EACH)],
    "error name": [f"ERR_{verb}_{thing}{more}".upper() for verb, thing in PAIRS for more in ("", "_max", "_min")],
    "version": [".".join(digits) for digits in itertools.product("0123", "0123", "012")],
    "commit": [f"{number * 2654435761 % 2**32:08x}" for number in range(11, 11 + EACH)],
    "ticket": [f"#{4100 + number}" for number in range(EACH)],
    "port": [f"{5100 + number}" for number in range(EACH)],
}
QUESTIONS = ("what does {} do?", "why did we change {}", "{}", "who decides how often, with {}?")


def texts_of(names: list[str], seed: int) -> dict[str, str]:
    """A text for each name; without the names they would be much the same."""
    rng = random.Random(seed)
    about = ((name, rng.choice(WHO), rng.choice(DOES), rng.choice(WHAT)) for name in names)
    return {name: f"The {who} {does} {what}; {name} decides how often." for name, who, does, what in about}


def filled(folder: Path, embedder: Embedder | None = None, each: int = EACH) -> tuple[RecallStore, dict[str, int]]:
    """A store of the first `each` of each kind in `NAMES`, twenty to a session, and the seq of each name."""
    memories = RecallStore(folder, embedder)
    texts = [pair for number, names in enumerate(NAMES.values()) for pair in texts_of(names[:each], number).items()]
    random.Random(0).shuffle(texts)
    with memories.store.atomic(durable=False):
        seqs = {
            name: memories.save(
                text,
                session=f"s{place // 20}",
                entities=tuple((entity.kind, entity.value) for entity in entities(text)),
            )
            for place, (name, text) in enumerate(texts)
        }
    return memories, seqs


def missing(memories: RecallStore, seqs: Mapping[str, int], names: list[str], *, with_model: bool) -> list[str]:
    """The questions that do not find what they name first."""
    asked = [(question.format(name), seqs[name]) for name in names for question in QUESTIONS]
    answers = [(query, seq, memories.ask(query, with_model=with_model).hits) for query, seq in asked]
    return [query for query, seq, hits in answers if not hits or hits[0].memory.seq != seq]


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[RecallStore, dict[str, int]]]:
    with tempfile.TemporaryDirectory() as folder:
        memories, seqs = filled(Path(folder))
        with memories:
            yield memories, seqs


@pytest.mark.parametrize("with_model", [True, False], ids=["embeddings", "words only"])
@pytest.mark.parametrize("kind", NAMES)
def test_what_a_question_names_exactly_comes_first(
    known: tuple[RecallStore, dict[str, int]], kind: str, *, with_model: bool
) -> None:
    memories, seqs = known
    assert missing(memories, seqs, NAMES[kind][::4], with_model=with_model) == []


def test_with_the_real_model_too(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(locate())
    memories, seqs = filled(tmp_path, embedder, each=12)
    with memories:
        assert [missing(memories, seqs, names[1:12:5], with_model=True) for names in NAMES.values()] == [[]] * len(
            NAMES
        )
    embedder.close()


def test_a_name_in_the_middle_of_a_long_memory_is_found_before_short_ones_that_are_about_the_same(
    tmp_path: Path,
) -> None:
    with RecallStore(tmp_path) as memories:
        for text in texts_of(FUNCTIONS, 3).values():
            memories.save(text)
        filler = " ".join(f"Then step {number} of the long story of the crawler went by." for number in range(40))
        wanted = memories.save(f"{filler} After that prune_stale_rows was called twice. {filler}")
        assert memories.ask("why did the crawler call prune_stale_rows?").hits[0].memory.seq == wanted


def test_a_name_that_most_memories_have_decides_nothing(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as memories:
        for number in range(60):
            memories.save(f"In src/main.py we changed the colour of button {number}.")
        wanted = memories.save("The retry budget of the uploader is five attempts.")
        assert memories.ask("retry budget of the uploader in src/main.py").hits[0].memory.seq == wanted


def test_a_name_that_nothing_has_leaves_the_rest_of_the_question_to_decide(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as memories:
        for text in texts_of(FUNCTIONS, 3).values():
            memories.save(text)
        wanted = memories.save("The retry budget of the uploader is five attempts.")
        assert memories.ask("retry budget in unknown_helper()").hits[0].memory.seq == wanted
