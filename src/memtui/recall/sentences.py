"""A model for the vectors of whole sentences: the interface, the one of the extra `semantic`, and rows of texts. Cold.

A model is anything with `name` and `embed`. The same text always has the same row, whoever asks: texts go through the
model one by one, for one in a batch is padded, which changes the last digits.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module, util
from typing import Any, Protocol

from memtui.core.base import ids
from memtui.core.base.errors import MemtuiError
from memtui.recall.embed import row_of
from memtui.recall.semantic import MOST_TEXT, VERSION
from memtui.recall.vectors import Vector

# Characters of a passage, and how many of these are also in the next: some 120 tokens, of which 40.
PASSAGE, OVERLAP = 600, 200
# No more passages of one memory: some 6,000 tokens.
MOST_PASSAGES = 64
# Values of a model are rounded to whole numbers at this scale before they become a row.
SCALE = 1 << 20
# What fastembed calls the models that the setting `semantic_model` has a word for.
MODELS = {
    "polyglot": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
    "english": "sentence-transformers/all-MiniLM-L6-v2",
}
INSTALL = "pip install fastembed"


class SentenceModel(Protocol):
    """Makes vectors of texts. `name` tells models apart; all vectors have as many dimensions."""

    name: str

    def embed(self, texts: Sequence[str]) -> Iterable[Sequence[float]]:
        """Return a vector for each text."""
        ...


class FastEmbedModel:
    """A model that fastembed runs. It is downloaded when it is first needed, into `directory`. Raises MemtuiError."""

    def __init__(self, name: str, directory: str) -> None:
        must_be_installed()
        self.name = name
        # Only the model's files are asked for.
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        try:
            os.makedirs(directory, 0o700, exist_ok=True)
            fastembed = import_module("fastembed")
            self._model: Any = fastembed.TextEmbedding(model_name=name, cache_dir=directory, threads=1)
        except Exception as error:
            why = str(error).strip() or type(error).__name__
            raise MemtuiError(f"The model {name} can't be loaded: {why}") from error

    def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        """Return a vector for each text."""
        for vector in self._model.embed(list(texts)):
            yield [float(value) for value in vector]


def installed() -> bool:
    """Return whether the extra is installed for this interpreter."""
    return util.find_spec("fastembed") is not None


def must_be_installed() -> None:
    """Raise MemtuiError if the extra is not installed for this interpreter."""
    if not installed():
        raise MemtuiError("The extra semantic is not installed.", INSTALL)


def full_name(setting: object) -> str:
    """Return what fastembed calls the model that the setting `semantic_model` names."""
    return MODELS.get(str(setting), str(setting))


def key_of(name: str) -> str:
    """Return what names a model in files: letters and digits."""
    return ids.content_hash(f"{VERSION} {name}")


def row(model: SentenceModel, text: str) -> bytes:
    """Return the row of one text."""
    (values,) = model.embed([text[:MOST_TEXT]])
    return row_of(Vector([round(value * SCALE) for value in values]))


def passages(texts: Iterable[str]) -> list[str]:
    """Divide texts into passages, at blanks where there are any; at most MOST_PASSAGES."""
    found: list[str] = []
    for text in texts:
        plain = " ".join(text.split())
        start = 0
        while plain[start:].strip() and len(found) < MOST_PASSAGES:
            end = start + PASSAGE
            if end < len(plain):
                end = plain.rfind(" ", start + PASSAGE // 2, end) + 1 or end
            found.append(plain[start:end].strip())
            if end >= len(plain):
                break
            behind = plain.find(" ", end - OVERLAP, end) + 1
            start = behind or end - OVERLAP
    return found
