"""Relative dates in memories: which are found, which are left alone, and what they are replaced by."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot
from memtui.store.memory import from_bytes
from memtui.store.relative_dates import relative_dates
from memtui.store.scopes import Scope
from memtui.tidy.checks import stale

WRITTEN = date(2026, 11, 5)  # a Thursday
SCOPE = Scope("auto", "auto", "/")


def replaced(text, written=WRITTEN):
    """The text with the dates in the place of the words."""
    for each in reversed(list(relative_dates(text, written))):
        assert text[each.start : each.end] == each.words
        text = text[: each.start] + each.absolute + text[each.end :]
    return text


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("It broke yesterday.", "It broke 2026-11-04."),
        ("The demo is tomorrow.", "The demo is 2026-11-06."),
        ("As of today there are three.", "As of 2026-11-05 there are three."),
        ("The audit is next Thursday.", "The audit is 2026-11-12."),
        ("The audit was last Thursday.", "The audit was 2026-10-29."),
        ("The audit is this Friday.", "The audit is 2026-11-06."),
        ("We ship this week.", "We ship in the week of 2026-11-02."),
        ("Due by next week.", "Due by the week of 2026-11-09."),
        ("It moved last month.", "It moved in 2026-10."),
        ("New prices from next month.", "New prices from 2026-12."),
        ("Broken since last year.", "Broken since 2025."),
        ("### Soon (This Week)", "### Soon (the week of 2026-11-02)"),
        ("- Next week we ship.", "- In the week of 2026-11-09 we ship."),
        ("Open this weekend.", "Open in the weekend of 2026-11-07."),
        ("It broke last night.", "It broke 2026-11-04."),
        ("Next quarter we move.", "In 2027-Q1 we move."),
        ("It moved last quarter.", "It moved in 2026-Q3."),
        ("It went live two weeks ago.", "It went live 2026-10-22."),
        ("The contract will end in 3 days.", "The contract will end on 2026-11-08."),
        ("It will be closed in two months.", "It will be closed in 2027-01."),
    ],
)
def test_a_relative_date_is_replaced_by_the_day_it_meant(text, absolute):
    assert replaced(text) == absolute


@pytest.mark.parametrize(
    "text",
    [
        "They said \"tomorrow\", “next week”, ‘last year’, and 'yesterday' too.",
        "> We ship tomorrow.",
        "`today` and `next week` are constants.",
        "```\nrun yesterday\n```",
        "Today's build and yesterday’s log.",
        "Tokens expire in 30 days.",
        "It takes effect in 2 weeks of testing.",
        "Every last Friday of the month.",
        "Backups of the last week are kept for the next month.",
        "Whether you shipped yesterday or not.",
        "Ask again if it failed yesterday.",
        "Never deploy what was merged today.",
        "src/today/x.py, #tomorrow, @yesterday, today.md/x, next-week",
        "Within the last year, and for the next month.",
    ],
)
def test_what_is_no_date_or_somebodys_words_is_left_alone(text):
    assert replaced(text) == text


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Today we decided to squash.", []),
        ("The queue moved to Redis today.", []),
        ("Since today the build needs uv.", []),
        ("The freeze starts today: no merges.", []),
        ("The demo is today.", []),
        ("Don't deploy today.", []),
        ("The till was left out **again** (today).", []),
        ("In the shop from earlier today.", []),
        ("Orders of 30 days before today are kept.", ["today"]),
        ("Columns further from today shrink.", ["today"]),
        ("We use three servers today.", ["today"]),
        ("It is only skipped by the parser today; it was slow.", ["today"]),
        ("Not built today, and nobody asked for it.", ["today"]),
        ("Today the till prints the orders itself.", ["Today"]),
        ("The `cut_date` field is unused today (it moved).", ["today"]),
        ("It holds tomorrow as it does next week.", []),
    ],
)
def test_today_is_no_day_where_it_says_how_things_are(text, states):
    dates = list(relative_dates(text, WRITTEN))
    assert dates
    assert [date.words for date in dates if date.is_state] == states


@given(st.text(alphabet="todayesrmw nxlkIi3 ago.\n\"`>'“”", max_size=120), st.dates(date(1, 1, 9), date(9990, 1, 1)))
def test_any_text_is_read_and_dates_do_not_overlap(text, written):
    end = 0
    try:
        found = list(relative_dates(text, written))
    except (OverflowError, ValueError):
        return
    for each in found:
        assert end <= each.start < each.end
        end = each.end


def memory(fields, body="It broke yesterday.", mtime=0.0):
    return from_bytes("/a.md", "auto", f"---\nname: a\n{fields}---\n\n{body}\n".encode(), mtime=mtime)


@pytest.mark.parametrize(
    ("fields", "day", "certain"),
    [
        ("created: 2026-11-05T08:00:00Z\nmodified: 2026-11-05T20:00:00Z\n", date(2026, 11, 5), True),
        ("created: 2026-11-01\nmodified: 2026-11-05T20:00:00Z\n", date(2026, 11, 5), False),
        ("metadata:\n  modified: 2026-11-05\n", date(2026, 11, 5), True),
        ("modified: some day\n", None, False),
        ("", None, False),
    ],
)
def test_a_memory_tells_when_it_was_written_certainly_if_on_one_day(fields, day, certain):
    assert stale.written(memory(fields)) == (day, certain)


def test_what_says_how_things_are_is_no_finding():
    assert dates(memory("", "We use three servers today.")) == []


def dates(found, repository=None):
    return list(stale.dates(stale.Checked(SCOPE, [found], repository=repository)))


def test_the_files_time_tells_when_it_was_written_but_not_certainly():
    found = memory("", mtime=clock_hot.parse("2026-11-05T12:00:00Z"))
    (one,) = dates(found)
    assert (one.data["proposed"], one.data["certain"], one.data["line"]) == ("2026-11-04", False, 5)
