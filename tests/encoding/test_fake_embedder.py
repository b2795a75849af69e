from dataclasses import replace

import numpy as np
import pytest
from fake_embedder import FAKE_MODEL, FakeEmbedder
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.embedder import Embedder
from ebbing.schemas.errors import ModelError


def cosine(embedder: Embedder, one: str, other: str) -> float:
    return float(embedder.embed_query(one).vector @ embedder.embed_query(other).vector)


def test_texts_with_common_words_are_closer_than_others() -> None:
    embedder = FakeEmbedder()
    near = cosine(embedder, "the deploy script reads the vault", "deploy scripts read secrets from the vault")
    far = cosine(embedder, "the deploy script reads the vault", "grandmother bakes apple pie on sundays")
    assert near > 0.5
    assert abs(far) < 0.2


def test_forms_of_a_word_are_alike_and_other_words_are_not() -> None:
    embedder = FakeEmbedder()
    assert cosine(embedder, "deploying", "deployed") > 0.25
    assert abs(cosine(embedder, "deploying", "kitchen")) < 0.2


def test_synonyms_have_one_vector() -> None:
    embedder = FakeEmbedder({"car": "automobile"})
    assert cosine(embedder, "red car", "red automobile") == pytest.approx(1)
    assert cosine(FakeEmbedder(), "red car", "red automobile") < 0.9


def test_another_model_gives_other_vectors() -> None:
    other = FakeEmbedder(spec=replace(FAKE_MODEL, id="fake-two"))
    assert abs(float(FakeEmbedder().embed_query("word").vector @ other.embed_query("word").vector)) < 0.2


@given(st.text(max_size=200))
def test_every_text_gets_the_same_unit_vectors_each_time(text: str) -> None:
    first, second = FakeEmbedder().embed_documents([text])[0], FakeEmbedder().embed_documents([text, text])[1]
    assert np.array_equal(first.chunks, second.chunks)
    assert np.array_equal(first.tokens, second.tokens)
    assert np.allclose(np.linalg.norm(first.chunks, axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(first.tokens, axis=1), 1, atol=1e-5)
    assert first.tokens.shape == (len(first.pieces), FAKE_MODEL.dimension)


def test_long_texts_have_several_chunks() -> None:
    assert len(FakeEmbedder().embed_documents(["some words " * 500])[0].chunks) > 5


def test_it_says_what_it_embedded() -> None:
    embedder = FakeEmbedder()
    embedder.embed_documents(["one", "two"])
    embedder.embed_query("three")
    assert embedder.embedded == ["one", "two", "three"]


def test_a_closed_embedder_refuses() -> None:
    embedder = FakeEmbedder()
    embedder.close()
    with pytest.raises(ModelError):
        embedder.embed_query("late")
