"""Guidance is read back from the deliveries that brought it."""

from memtui.core.base import visible
from memtui.core.deliveries import blocks as delivery_blocks
from memtui.core.deliveries import notes
from memtui.core.deliveries.record import Delivery


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
    found = notes.of(Delivery.of({"text": whole, "items": logged}))
    assert [each.text for each in found] == [visible.clean(text) for text in texts]
    assert found[0].sender == 'ci "watch" <x>'
    assert found[0].reason == "urgent"
