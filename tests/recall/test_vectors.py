"""The vectors of prompts and passages: both come from the shipped table, and similar texts are near each other."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.recall import vectors_hot
from memtui.recall.embed import BLOCK, BLOCKS, MOST_PASSAGES, STEP, Embedder, row_of
from memtui.recall.vectors_hot import DIMENSIONS, Table
from tables import rows


@pytest.fixture(scope="module")
def table():
    found = Table()
    yield found
    found.close()


@pytest.fixture(scope="module")
def embedder(table):
    return Embedder(table)


def row(embedder, text):
    (found,) = embedder.passages(text)
    return found


@pytest.mark.parametrize(
    ("prompt", "near", "far"), rows(__file__, "a prompt is nearer to what it is about without a shared word")
)
def test_a_prompt_is_nearer_to_what_it_is_about_without_a_shared_word(table, embedder, prompt, near, far):
    vector = table.of_text(prompt)
    assert vector.cosine(row(embedder, near)) > vector.cosine(row(embedder, far)) + 0.05


def test_a_piece_is_found_in_its_shard_for_prompts_and_passages_alike(table, embedder):
    text = "Never push to the main branch, Ümläute included; kubernetes_config in src/app.py"
    (found,) = embedder.passages(text)
    vector = table.of_text(text)
    assert vector.cosine(found) == pytest.approx(1, abs=0.01)
    assert row_of(vector) == found
    numbers, rows = table.everything()
    assert len(rows) == table.size * DIMENSIONS
    assert len(numbers) > 28_000
    assert all(table._row(piece) == number for piece, number in list(numbers.items())[::7])
    assert table._row(b"no such piece") == -1


def test_a_long_text_has_overlapping_passages_and_not_too_many(embedder):
    assert len(embedder.passages("word " * (BLOCK * (BLOCKS + STEP)))) == 2
    assert len(embedder.passages("word " * 100_000)) == MOST_PASSAGES


@pytest.mark.parametrize("text", ["東京大学", "かなとカナ", "привет мир", "déjà vu", "x" * 39, "word " * 5000])
def test_texts_of_other_scripts_and_lengths_have_a_vector(table, text):
    assert len(table.of_text(text).values) == DIMENSIONS


@given(st.text(max_size=60))
def test_the_hook_and_the_builder_split_words_alike(table, embedder, text):
    for word in vectors_hot.words_of(text):
        built = vectors_hot.pieces_of(word, lambda piece: embedder._numbers.get(piece, -1))
        assert vectors_hot.pieces_of(word, table._row) == built


@pytest.mark.parametrize(
    "harm",
    [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"memtui vectors 0" + data[16:], lambda data: b""],
    ids=["cut", "longer", "other", "empty"],
)
def test_a_table_that_is_not_whole_is_an_error_of_the_system(tmp_path, harm):
    path = tmp_path / "vectors.table"
    with pytest.raises(OSError):
        Table(str(path))
    path.write_bytes(harm(Path(vectors_hot._PATH).read_bytes()))
    with pytest.raises(OSError):
        Table(str(path))
