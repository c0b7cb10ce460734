"""What is said of a draft or todo beside its text: why no session gets it, and what was decided about it."""

import pytest

from memtui.base import clock_hot
from memtui.inbox import format_hot
from memtui.review.waiting_entries import Waiting
from memtui.views import drafts

NOW = 1_795_000_000.0
SURE = {"confidence": "0.95", "durable": "0.8"}


def states(kind="updates", **fields):
    fields = {"time": clock_hot.iso_seconds(NOW - 86400), **fields}
    entry = format_hot.Entry("01", fields, "Use pnpm.", "", 0)
    return drafts.states({}, Waiting(kind, "-p", "/inbox/-p", entry, ""), NOW)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (SURE, []),
        ({**SURE, "time": clock_hot.iso_seconds(NOW - 31 * 86400)}, ["older than 30 days, not delivered"]),
        ({"confidence": "0.6", "durable": "0.25"}, ["no session gets it before you approve it"]),
        ({"confidence": "0.95", "durable": "0.2"}, ["no session gets it before you approve it"]),
        ({"confidence": "0.95", "durable": "0.19"}, []),
    ],
)
def test_a_draft_that_no_session_gets_says_why(fields, words):
    assert states(**fields) == words
