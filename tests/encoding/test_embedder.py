import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.ahead import Ahead
from ebbing.encoding.embedder import Embedder, OnnxEmbedder, TextEmbedding
from ebbing.encoding.forward import BATCH_PIECES, Job, batched
from ebbing.encoding.graph import Graph
from ebbing.encoding.model import ModelFiles, ModelSpec, locate
from ebbing.encoding.pieces import PieceCounter
from ebbing.schemas.errors import ModelError


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    opened = OnnxEmbedder(locate())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def counter() -> PieceCounter:
    return PieceCounter(locate().path("tokenizer"))


def surfaces(counter: PieceCounter, embedding: TextEmbedding) -> list[str]:
    return [counter.piece(int(piece)) for piece in embedding.pieces]


def similarity(embedder: Embedder, one: str, other: str) -> float:
    return float(embedder.embed_query(one).vector @ embedder.embed_query(other).vector)


TEXTS = [
    "The deploy script reads DATABASE_URL from the vault.",
    "Use uv instead of pip.",
    "fix",
    "We decided on PostgreSQL 16 because the team knows it, and its JSON support is enough for the audit log.",
    "日本語のテキスト",
]


SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


# Published in the documentation of Sentence Transformers for the upstream weights of this model.
@pytest.mark.parametrize(("one", "other", "expected"), [(0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)])
def test_similarities_are_those_published_for_the_model(
    embedder: Embedder, one: int, other: int, expected: float
) -> None:
    assert similarity(embedder, SENTENCES[one], SENTENCES[other]) == pytest.approx(expected, abs=2e-4)


def test_a_paraphrase_without_common_words_is_closer_than_another_topic(embedder: Embedder) -> None:
    near = similarity(embedder, "How do I reset my password?", "I forgot my login credentials")
    assert near > similarity(embedder, "How do I reset my password?", "How do I bake my bread?") + 0.2


def test_vectors_have_their_types_and_length_1(embedder: Embedder) -> None:
    for found in embedder.embed_documents(TEXTS):
        assert found.chunks.shape == (1, embedder.spec.dimension)
        assert found.tokens.shape == (len(found.pieces), embedder.spec.dimension)
        assert (found.chunks.dtype, found.tokens.dtype, found.pieces.dtype) == (np.float32, np.float32, np.int32)
        for rows in (found.chunks, found.tokens, found.vector[None]):
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_text_has_the_same_vectors_alone_and_in_a_batch(embedder: Embedder) -> None:
    batch = embedder.embed_documents(TEXTS)
    for text, beside in zip(TEXTS, batch, strict=True):
        alone = embedder.embed_documents([text])[0]
        assert np.allclose(alone.chunks, beside.chunks, atol=1e-5)
        assert np.allclose(alone.tokens, beside.tokens, atol=1e-5)
        assert np.array_equal(alone.pieces, beside.pieces)


def test_the_same_batch_gives_the_same_bits(embedder: Embedder) -> None:
    once, again = embedder.embed_documents(TEXTS), embedder.embed_documents(TEXTS)
    assert all(np.array_equal(a.chunks, b.chunks) for a, b in zip(once, again, strict=True))
    assert all(np.array_equal(a.tokens, b.tokens) for a, b in zip(once, again, strict=True))


def test_several_threads_give_the_same_as_one(embedder: Embedder) -> None:
    texts = [f"{text} {number}" for number in range(8) for text in TEXTS]
    parallel = OnnxEmbedder(locate(), threads=2)
    for one, other in zip(embedder.embed_documents(texts), parallel.embed_documents(texts), strict=True):
        assert np.allclose(one.vector, other.vector, atol=1e-5)
    parallel.close()


def test_no_texts_give_no_embeddings(embedder: Embedder) -> None:
    assert embedder.embed_documents([]) == []


def test_content_words_get_token_vectors(embedder: Embedder, counter: PieceCounter) -> None:
    found = embedder.embed_documents(["Where does the deploy script keep the asyncio password?"])[0]
    assert surfaces(counter, found) == ["deploy", "script", "keep", "as", "##yn", "##cio", "password"]


@pytest.mark.parametrize(("text", "kept"), [("what was it", ["what"]), ("...", ["."]), ("", [])])
def test_a_document_of_stop_words_keeps_its_first_piece(
    embedder: Embedder, counter: PieceCounter, text: str, kept: list[str]
) -> None:
    assert surfaces(counter, embedder.embed_documents([text])[0]) == kept


@pytest.mark.parametrize(("text", "kept"), [("Who are you?", ["who", "are", "you"]), ("?!", ["?"]), ("", [])])
def test_a_query_of_stop_words_keeps_its_words(
    embedder: Embedder, counter: PieceCounter, text: str, kept: list[str]
) -> None:
    assert surfaces(counter, embedder.embed_query(text)) == kept


def test_a_long_text_is_embedded_whole(embedder: Embedder) -> None:
    filler = "The weather report for the coast mentions rain, wind and clouds. " * 60
    tail = "The submarine's periscope was painted turquoise."
    plain, with_tail = embedder.embed_documents([filler, filler + tail])
    query = embedder.embed_query("turquoise periscope of a submarine").vector
    assert len(with_tail.chunks) > 3
    assert float((with_tail.chunks @ query).max()) > float((plain.chunks @ query).max()) + 0.2
    assert float((with_tail.tokens @ query).max()) > float((plain.tokens @ query).max()) + 0.2


def test_words_in_the_overlap_of_chunks_have_one_token_vector(embedder: Embedder, counter: PieceCounter) -> None:
    text = " ".join(f"item{number:04}" for number in range(400))
    found = embedder.embed_documents([text])[0]
    assert len(found.chunks) > 3
    assert "".join(piece.removeprefix("##") for piece in surfaces(counter, found)) == text.replace(" ", "")


def test_a_text_without_spaces_keeps_every_piece(embedder: Embedder) -> None:
    found = embedder.embed_documents(["0123456789abcdef" * 200])[0]
    assert len(found.chunks) > 3
    assert len(found.tokens) >= 3_200 / 8


def test_a_closed_embedder_refuses() -> None:
    opened = OnnxEmbedder(locate())
    opened.close()
    opened.close()
    with pytest.raises(ModelError, match="closed"):
        opened.embed_query("late")


def test_a_model_of_another_dimension_than_its_spec_is_refused() -> None:
    files = locate()
    wrong = ModelFiles(ModelSpec("wrong", 512, 256, files.spec.files), files.paths)
    with pytest.raises(ModelError, match="384 dimensions instead of 512"):
        OnnxEmbedder(wrong)


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx"):
        Graph(tmp_path / "model.onnx")


def test_prefixes_enter_the_vector_but_not_the_tokens(embedder: Embedder, counter: PieceCounter) -> None:
    files = locate()
    spec = ModelSpec("with-prefix", 384, 256, files.spec.files, query_prefix="query: ", document_prefix="passage: ")
    prefixed = OnnxEmbedder(ModelFiles(spec, files.paths))
    query, document = prefixed.embed_query("red lamp"), prefixed.embed_documents(["red lamp"])[0]
    assert surfaces(counter, query) == surfaces(counter, document) == ["red", "lamp"]
    assert np.allclose(query.vector, embedder.embed_query("query: red lamp").vector, atol=1e-5)
    assert np.allclose(document.vector, embedder.embed_query("passage: red lamp").vector, atol=1e-5)
    prefixed.close()


def test_pieces_are_counted_as_the_model_sees_them(embedder: Embedder, counter: PieceCounter) -> None:
    assert counter.count_pieces("") == 0
    assert counter.count_pieces("asyncio runs") == embedder.count_pieces("asyncio runs") == 4
    assert counter.count_pieces("word " * 1_000) == 1_000


def test_a_word_of_any_length_is_counted_whole(counter: PieceCounter) -> None:
    assert counter.count_pieces("x" * 5_000) > 1_000


def test_names_of_special_pieces_in_a_text_are_only_text(counter: PieceCounter) -> None:
    assert counter.count_pieces("[SEP]") > 1
    run = counter.pieces("before [SEP] after [MASK]", window=256)
    assert run.ids.tolist().count(run.ids[-1]) == 1


def test_an_input_never_exceeds_the_window(counter: PieceCounter) -> None:
    assert len(counter.pieces("word " * 1_000, window=256).ids) == 256


@given(st.lists(st.integers(1, BATCH_PIECES), max_size=60))
def test_batches_hold_every_job_once_within_bounds(lengths: list[int]) -> None:
    jobs = [Job(np.zeros(length, np.int32), np.zeros(0, np.int32)) for length in lengths]
    batches = list(batched(jobs))
    assert sorted(i for batch in batches for i in batch) == list(range(len(jobs)))
    assert all(len(batch) * max(lengths[i] for i in batch) <= BATCH_PIECES for batch in batches)


def test_who_embeds_ahead_goes_on_while_the_model_computes(embedder: Embedder) -> None:
    went_on = threading.Event()

    def work() -> TextEmbedding:
        embedded = embedder.embed_query("Why does the deploy fail?")
        assert went_on.wait(5)
        return embedded

    ahead = Ahead(work)
    went_on.set()
    assert len(ahead.result().tokens)
