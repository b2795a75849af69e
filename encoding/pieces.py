"""The model's own tokenizer: how many word pieces a text has, and which of them carry its content."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .stopwords import content_positions, word_positions

if TYPE_CHECKING:
    from tokenizers import Encoding

SPECIAL_PIECES: Final = 2
"""The pieces that frame every input, [CLS] and [SEP]."""

# A longer word would come out of the word-piece model as one unknown piece, and its content would be lost in silence.
_LONGEST_WORD: Final = 100
_UNKNOWN: Final = ("[UNK]", "<unk>")


@dataclass(frozen=True, slots=True, eq=False)
class PieceRun:
    """The word pieces of one input.

    Attributes:
        ids: int32 (n,), the special pieces included.
        plain: int32 (p,), positions in `ids` of all pieces but the special ones.
        words: int32 (w,), positions of the pieces of words, stop words included; no punctuation, no unknown pieces.
        content: int32 (c,), positions of the pieces of words that are not stop words.
    """

    ids: NDArray[np.int32]
    plain: NDArray[np.int32]
    words: NDArray[np.int32]
    content: NDArray[np.int32]


class PieceCounter:
    """Counts and lists word pieces. Needs only the tokenizer's file, and loads in some 20 ms. Thread-safe.

    Texts must be without lone surrogates, as `clean` leaves them.
    """

    def __init__(self, tokenizer_path: Path) -> None:
        from tokenizers import Regex, Tokenizer
        from tokenizers.pre_tokenizers import Sequence, Split

        tokenizer = Tokenizer.from_file(str(tokenizer_path))
        # Its stored settings would cut at 128 pieces and pad to 128.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # "[SEP]" in a memory is four pieces of text, not the end of the input.
        tokenizer.encode_special_tokens = True
        cut = Split(Regex(f".{{{_LONGEST_WORD}}}"), "isolated")
        inner = tokenizer.pre_tokenizer
        tokenizer.pre_tokenizer = Sequence([inner, cut] if inner else [cut])
        self._tokenizer = tokenizer
        self._unknown = {tokenizer.token_to_id(piece) for piece in _UNKNOWN}

    def count_pieces(self, text: str) -> int:
        """Return how many word pieces `text` has, the special ones not included."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def piece(self, piece_id: int) -> str:
        """Return the piece of that id; one that continues a word begins with "##"."""
        return self._tokenizer.id_to_token(piece_id) or ""

    def pieces(self, text: str, window: int, fresh_from: int = 0) -> PieceRun:
        """Return the pieces of `text`, at most `window`; those ending by the character `fresh_from` get no position."""
        encoding = self._tokenizer.encode(text)
        # Chunks fit by construction; this is for a prefix that fills the window, and a model must never get more.
        encoding.truncate(window)
        special, ids = encoding.special_tokens_mask, encoding.ids
        plain = [i for i, (_, end) in enumerate(encoding.offsets) if end > fresh_from and not special[i]]
        known = [i for i in plain if ids[i] not in self._unknown]
        surfaces = _surfaces(text, encoding)
        words = [surfaces[i] for i in known]
        return PieceRun(
            ids=_positions(ids),
            plain=_positions(plain),
            words=_positions(known[at] for at in word_positions(words)),
            content=_positions(known[at] for at in content_positions(words)),
        )


def _positions(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, np.int32)


def _surfaces(text: str, encoding: "Encoding") -> list[str]:
    """For each piece the whole word that it is part of: the "as" of "asyncio" is no stop word."""
    extents: dict[int | None, tuple[int, int]] = {}
    for word, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
        extents[word] = (extents[word][0] if word in extents else start, end)
    return [text[slice(*extents[word])] for word in encoding.word_ids]
