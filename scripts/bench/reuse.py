"""Does consolidation see which of the memories shown a reply made use of, and only those?

Each question of a data set is the prompt and recall shows ten memories. Replies are made by rule, with a seed: every
other word or so, in their order, of a shown memory that answers the question (what a reply keeps of what it uses), of
one of the same store that was not shown, of the prompt itself, and of all that was shown together.

Figures: `found`, the share of replies made of a shown memory after which it counts as used; `beside`, how many of the
nine others count then; `unshown`, `echo` and `quoting`, the shares of the other replies after which anything does.
The data sets say nothing of how real agents phrase: read `found` as a comparison, the others as rates of error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from _memory import SCOPE, Loaded, Question, load
from _report import Report, Table, argument_parser, publish

from ebbing.encoding.distinctive import Terms, reused, terms_of
from ebbing.encoding.loader import load_embedder
from ebbing.lifecycle.weak_uses import rarity_of
from ebbing.retrieval.analysis import analyse
from ebbing.retrieval.answering import answer
from ebbing.retrieval.frames import Frames
from ebbing.retrieval.inquiry import context_for
from ebbing.retrieval.request import RecallRequest
from ebbing.retrieval.settings import RecallSettings
from ebbing.store.store import Store

_SHOWN: Final = 10
_SEED: Final = 20_260_301
_KINDS: Final = ("found", "beside", "unshown", "echo", "quoting")


@dataclass(slots=True)
class Counts:
    """What came of the replies of each kind, one number a reply."""

    values: dict[str, list[float]] = field(default_factory=lambda: {kind: list[float]() for kind in _KINDS})

    def figures(self) -> dict[str, float]:
        """Means; a kind without replies is left out."""
        return {kind: float(np.mean(values)) for kind, values in self.values.items() if values}


def shown_by(loaded: Loaded, frames: Frames, question: Question) -> list[int]:
    """The seqs of the ten best."""
    request = RecallRequest(query=question.text, scopes=(SCOPE,), now=question.asked_at or 0)
    with loaded.store.snapshot():
        context = context_for(loaded.store, frames, request, analyse(question.text), question.embedding)
        ranking = answer(context, RecallSettings(), _SHOWN).ranking
    return [int(seq) for seq in context.layout.seqs[ranking.rows[:_SHOWN]]]


def partly(text: str, rng: np.random.Generator) -> str:
    """About half of a text's words, in their order."""
    words = text.split()
    return " ".join(word for word, keep in zip(words, rng.integers(2, size=len(words)), strict=True) if keep)


def used(store: Store, reply: str, texts: Mapping[str, str], prompt: str) -> tuple[str, ...]:
    """The names of the texts that a reply made use of."""

    def terms(text: str) -> Terms:
        return terms_of(text, store.lexical.stems)

    shown = {name: terms(text) for name, text in texts.items()}
    return reused(terms(reply), shown, terms(prompt), rarity_of(store))


def ask(loaded: Loaded, counts: Counts, rng: np.random.Generator) -> None:
    """Every question of a store."""
    frames, everything = Frames(loaded.store), loaded.store.memories.in_scope(SCOPE)
    text_of = {memory.seq: memory.content for memory in everything}
    for question in loaded.questions:
        seqs = shown_by(loaded, frames, question)
        texts = {str(seq): text_of[seq] for seq in seqs}
        _count(loaded.store, counts, question, texts, rng)
        hidden = [seq for seq in text_of if str(seq) not in texts]
        other = partly(text_of[hidden[int(rng.integers(len(hidden)))]], rng)
        counts.values["unshown"].append(bool(used(loaded.store, other, texts, question.text)))


def _count(
    store: Store, counts: Counts, question: Question, texts: Mapping[str, str], rng: np.random.Generator
) -> None:
    relevant: Sequence[str] = [name for name in texts if int(name) in question.relevant]
    if relevant:
        name = relevant[int(rng.integers(len(relevant)))]
        found = used(store, partly(texts[name], rng), texts, question.text)
        counts.values["found"].append(name in found)
        counts.values["beside"].append(len(set(found) - {name}))
    counts.values["echo"].append(bool(used(store, question.text, texts, question.text)))
    counts.values["quoting"].append(bool(used(store, partly("\n".join(texts.values()), rng), texts, question.text)))


def main() -> None:
    """Run and report."""
    parser = argument_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="memories and questions (.json.gz)")
    options = parser.parse_args()
    embedder = load_embedder()
    counts, rng = Counts(), np.random.default_rng(_SEED)
    with tempfile.TemporaryDirectory() as folder:
        for loaded in load(options.data, embedder, Path(folder)):
            ask(loaded, counts, rng)
            loaded.store.close()
    figures = counts.figures()
    table = Table("replies", ("kind", "replies", "mean"), [(k, len(counts.values[k]), v) for k, v in figures.items()])
    settings = {"data": options.data.name, "seed": _SEED}
    publish(Report("reuse", figures, settings, ("numpy",), (table,)), as_json=options.json)


if __name__ == "__main__":
    main()
