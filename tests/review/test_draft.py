"""A draft: what approving a pending update would write, and for which scope."""

import pytest

from memtui.base import fs
from memtui.inbox import file as inbox_file
from memtui.review.approvals import Choices, content, label_of
from memtui.review.waiting_entries import waiting_in

SLUG = "-srv-shop"


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def test_a_draft_is_what_the_person_says_before_what_the_draft_says(root):
    fields = {"name": "pnpm", "type": "tool", "scope": "global", "session": "abc-1"}
    inbox_file.add_entry(f"{root}/global", "updates", fields, "Use pnpm\n\nAlways.\n\n> you: no")
    (item,) = waiting_in(root, [None], ["updates"])
    name, data = content(item)
    assert (name, label_of(item)) == ("pnpm", "global")
    assert b"description: Use pnpm" in data
    assert b"type: tool" in data
    assert b"originSessionId: abc-1" in data
    assert data.endswith(b"\nAlways.\n")
    choices = Choices("other", "user", "auto", "About")
    name, data = content(item, choices)
    assert (name, label_of(item, choices)) == ("other", "auto")
    assert b"description: About" in data
    assert b"type: user" in data


def test_a_bare_draft_has_a_name_and_a_body(root):
    directory = f"{root}/projects/{SLUG}"
    fs.write_atomic(f"{directory}/pending-updates.md", "Grüße auf Deutsch\n".encode())
    (item,) = waiting_in(root, [SLUG], ["updates"])
    name, data = content(item)
    assert (name, label_of(item)) == ("grüße-auf-deutsch", "project")
    assert data.decode().endswith("\nGrüße auf Deutsch\n")
