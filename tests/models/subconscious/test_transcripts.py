"""Real transcripts, where they are beside the checkout, are listened to: whole, cut anywhere, and shuffled."""

import random
from pathlib import Path

import pytest

from learn.oracle import Sources, wrong_heard
from memtui.base import visible
from memtui.client.transcripts import transcript
from memtui.client.transcripts.conversation import Conversation
from memtui.models.subconscious import transcript_view

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "transcripts"
FILES = sorted(DATA.rglob("*.jsonl"))
pytestmark = pytest.mark.skipif(not FILES, reason="no transcripts in ../shared/data")


@pytest.mark.every(step=4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:20])
def test_only_what_was_said_is_heard(path):
    heard = transcript_view.listen(transcript.Reader(str(path)), Conversation())
    assert wrong_heard(Sources(path.read_bytes()), heard) == []
    said = visible.one_line("\n".join(heard.said(transcript_view.PERSON)))
    assert sum(len(text) for _, text in heard.lines) <= transcript_view.ALL + transcript_view.MESSAGE
    assert "<system-reminder>" not in said
    assert "<command-name>" not in said


@pytest.mark.every(step=4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:20])
def test_a_transcript_that_is_cut_or_shuffled_is_survived(path, tmp_path):
    rows = path.read_bytes().splitlines(keepends=True)
    chance = random.Random(path.stem)
    torn = tmp_path / "torn.jsonl"
    cut = [row[: chance.randrange(len(row) + 1)] if chance.random() < 0.2 else row for row in rows[:400]]
    chance.shuffle(cut)
    torn.write_bytes(b"".join(cut))
    conversation = Conversation()
    reader = transcript.Reader(str(torn))
    transcript_view.listen(reader, conversation)
    transcript_view.listen(transcript.Reader(str(torn), reader.offset), Conversation(conversation.to_state()))
