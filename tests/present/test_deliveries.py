"""The words for deliveries are the same in both doors, and there are some for everything that can be."""

import pytest

from memtui.core.deliveries import receipts
from memtui.core.deliveries.record import Delivery
from memtui.present.deliveries import GLYPHS, MEANINGS, session_words, what

OUTCOMES = {
    value for name, value in vars(receipts).items() if name.isupper() and isinstance(value, str) and name in {
        "ARRIVED", "PREVIEWED", "TIMED_OUT", "FAILED", "DROPPED", "UNKNOWN", "WAITING", "NOTHING",
    }
}  # fmt: skip


def test_each_outcome_has_a_glyph_and_a_meaning():
    assert set(GLYPHS) == set(MEANINGS) == OUTCOMES
    assert len(OUTCOMES) == 8


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], "nothing"),
        ([{"kind": "guidance"}] * 2, "2 guidance"),
        ([{"kind": "index"}] * 14, "index of 14"),
        ([{"kind": "pending-update"}], "1 pending update"),
        ([{"kind": "pending-item"}] * 3, "3 pending items"),
        ([{"kind": "use", "action": "read", "id": "prefer-pnpm"}], "agent read prefer-pnpm"),
        ([{"kind": "use", "id": "prefer-pnpm"}], "agent used prefer-pnpm"),
        ([{"kind": "guidance"}, {"kind": "index", "left_out": "no room", "count": 7}], "1 guidance, 7 left out"),
        ([{"kind": "guidance", "left_out": "too long"}], "1 left out"),
    ],
)
def test_what_a_delivery_brought_is_said_in_few_words(items, words):
    assert what(Delivery.of({"items": items}).contents) == words


def test_a_session_is_named_with_who_holds_it():
    assert session_words("1f0c2b3d-0000", "cli") == "session 1f0c2b3d of a person"
    assert session_words("1f0c2b3d-0000", "sdk-py") == "session 1f0c2b3d of a script"
    assert session_words("1f0c2b3d-0000", "") == "session 1f0c2b3d"
