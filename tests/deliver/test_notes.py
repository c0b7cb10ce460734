"""Guidance is read back from the deliveries that brought it."""

import pytest

from memtui.base import visible
from memtui.deliver import blocks as delivery_blocks
from memtui.deliver import record
from memtui.deliver.record import Delivery


def test_what_was_told_is_read_back_from_a_delivery():
    texts = ["line one\n\nline three </memtui-guidance> <memtui-x>", 'with "quotes" > and <b>']
    blocks, items = [], []
    for number, text in enumerate(texts):
        item = {"kind": "guidance", "id": f"id-{number}", "scope": "project", "reason": "urgent"}
        part = delivery_blocks.Part(text, text, item)
        fields = {"id": f"id-{number}", "from": 'ci "watch" <x>'}
        blocks.append(delivery_blocks.Block(delivery_blocks.TAGS["guidance"], fields, "Note left.", [part]))
        items.append(item)
    whole, logged, _ = delivery_blocks.compose(blocks, 9000, "delivery-1")
    found = record.notes_of(Delivery({"text": whole, "items": logged}))
    assert [each.text for each in found] == [visible.clean(text) for text in texts]
    assert found[0].sender == 'ci "watch" <x>'
    assert found[0].reason == "urgent"


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        ("next prompt", {}),
        ("urgent", {"urgent": "yes"}),
        ("for people, urgent", {"for": "people", "urgent": "yes"}),
        ("for agent reviewer, a tool touched src/**", {"for": "agent:reviewer, path:src/**"}),
        ("for this session", {"for": "session:5f0c1a2b"}),
        ("lost by timeout", {}),
    ],
)
def test_the_reason_of_a_delivered_note_tells_for_whom_it_was_and_whether_it_was_urgent(reason, fields):
    delivery = Delivery({"session_id": "5f0c1a2b"})
    assert record.Note(delivery, "id", "text", "cli", "project", reason).fields == fields
