"""The first sentence of Markdown texts of every kind."""

import pytest

import recorded
from memtui.store.frontmatter.prose_hot import blocks, first_sentence, plain, sentences
from tables import rows


@pytest.mark.parametrize(("text", "sentence"), rows(__file__, "the first sentence is prose without marks"))
def test_the_first_sentence_is_prose_without_marks(text, sentence):
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(("text", "split"), rows(__file__, "sentences end where a reader ends them"))
def test_sentences_end_where_a_reader_ends_them(text, split):
    assert sentences(text) == split


def test_prose_reads_as_ever():
    recorded.check(__file__, "prose", first_sentence, sentences, plain, lambda text: list(blocks(text)))
