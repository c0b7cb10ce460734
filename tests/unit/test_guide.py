"""Guidance: what a note must be, leaving and changing it in one step each, what is under way, what was told."""

import os

import pytest

from memtui.core import clock, drafts, guide, inbox, paths, render, review, told, underway
from memtui.core.errors import ConflictError, UsageError

NOW = 1_795_000_000.0


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def waiting(root, slug="-p"):
    return review.waiting(root, [slug], ("guidance",))


@pytest.mark.parametrize("bad", ["", " \n", "a\0b", "a\ud800b"])
def test_what_is_no_text_is_refused(bad):
    with pytest.raises(UsageError):
        guide.text(bad)


@pytest.mark.parametrize("bad", [["you"], ["session:ab"], ["path:"], ["agent:a,b"], ["agent:a", "agent:b"]])
def test_who_can_not_be_addressed_is_refused(bad):
    with pytest.raises(UsageError):
        guide.addresses(bad)


def test_fields_hold_what_was_said():
    found = guide.fields(" ci  watch ", ["path: src/**", "agent:x"], urgent=True, expires="2h", now=NOW)
    assert found == {
        "from": "ci watch",
        "for": "path:src/**,agent:x",
        "urgent": "yes",
        "expires": clock.iso_seconds(NOW + 7200),
    }


def test_leaving_a_note_is_undone_until_a_hook_takes_it(root):
    acts = review.Review(root, now=lambda: NOW)
    directory = paths.inbox_dir(root, "-p")
    first = acts.guide(directory, {"from": "tui"}, "one")
    acts.guide(directory, {"from": "tui"}, "two")
    assert [each.text for each in waiting(root)] == ["one", "two"]
    assert waiting(root)[0].id == first
    acts.journal.undo()
    assert [each.text for each in waiting(root)] == ["one"]
    os.unlink(directory + "/guidance.md")
    with pytest.raises(ConflictError):
        acts.journal.undo()


def test_rewording_moves_it_to_another_inbox_in_one_step(root):
    acts = review.Review(root, now=lambda: NOW)
    acts.guide(paths.inbox_dir(root, "-p"), {"from": "ci", "attempts": "3"}, "one")
    item = waiting(root)[0]
    acts.reword(item, paths.inbox_dir(root, None), {"from": "tui", "urgent": "yes"}, "one, really")
    assert waiting(root) == []
    (moved,) = waiting(root, None)
    assert (moved.id, moved.text, moved.entry.fields["from"]) == (item.id, "one, really", "ci")
    assert "attempts" not in moved.entry.fields
    acts.journal.undo()
    assert [each.text for each in waiting(root)] == ["one"]
    assert waiting(root, None) == []


def test_what_is_under_way_is_read_from_the_claims(root):
    directory = paths.inbox_dir(root, "-p") + "/claimed"
    os.makedirs(directory)
    name = "01M7Y7NG26BHZ5R8XMHAPG875M"
    with open(f"{directory}/{name}~session-1~123.md", "w", encoding="utf-8") as file:
        file.write(inbox.render({"id": "A" * 26}, "one") + inbox.render({"id": "B" * 26}, "two"))
    found = underway.listed(root, ["-p", None])
    assert [(each.delivery, each.session, each.entry.text) for each in found] == [
        (name, "session-1", "one"),
        (name, "session-1", "two"),
    ]


def test_what_was_told_is_read_back_from_a_delivery():
    texts = ["line one\n\nline three </memtui-guidance> <memtui-x>", 'with "quotes" > and <b>']
    blocks, items = [], []
    for number, text in enumerate(texts):
        item = {"kind": "guidance", "id": f"id-{number}", "scope": "project", "reason": "urgent"}
        part = render.Part(text, text, item)
        fields = {"id": f"id-{number}", "from": 'ci "watch" <x>'}
        blocks.append(render.Block(render.TAGS["guidance"], fields, "Note left.", [part]))
        items.append(item)
    whole, logged, _ = render.compose(blocks, 9000, "delivery-1")
    found = told.notes({"text": whole, "items": logged})
    assert [each.text for each in found] == [render.clean(text) for text in texts]
    assert found[0].sender == 'ci "watch" <x>'
    assert found[0].reason == "urgent"


def test_a_draft_is_kept_until_it_is_dropped(root):
    assert drafts.load(root, "guidance") == {}
    drafts.save(root, "../../x", {"text": "half a \ud800 word"})
    assert drafts.load(root, "../../x")["text"].startswith("half a")
    assert os.listdir(root + "/drafts") == ["______x.json"]
    drafts.drop(root, "../../x")
    assert drafts.load(root, "../../x") == {}
