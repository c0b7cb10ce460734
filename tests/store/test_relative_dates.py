"""Relative dates in memories: which are found, which are left alone, and what they are replaced by."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.base import clock_hot
from memtui.store.memory import from_bytes
from memtui.store.relative_dates import RELATIVE, SAID, dated, foreign_patterns, relative_dates
from memtui.store.scopes import Scope
from memtui.tidy.checks import stale
from tables import rows

WRITTEN = date(2026, 11, 5)  # a Thursday
SCOPE = Scope("auto", "auto", "/")


def replaced(text, written=WRITTEN):
    """The text with the dates in the place of the words."""
    for each in reversed(list(relative_dates(text, written))):
        assert text[each.start : each.end] == each.words
        text = text[: each.start] + each.absolute + text[each.end :]
    return text


@pytest.mark.parametrize(("text", "absolute"), rows(__file__, "a relative date is replaced by the day it meant"))
def test_a_relative_date_is_replaced_by_the_day_it_meant(text, absolute):
    assert replaced(text) == absolute


@pytest.mark.parametrize("text", rows(__file__, "what is no date or somebodys words is left alone"))
def test_what_is_no_date_or_somebodys_words_is_left_alone(text):
    assert replaced(text) == text


@pytest.mark.parametrize(("text", "states"), rows(__file__, "today is no day where it says how things are"))
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
    (one,) = dates(memory("", mtime=clock_hot.parse("2026-11-05T12:00:00Z")))
    assert (one.data["proposed"], one.data["certain"], one.data["line"]) == ("2026-11-04", False, 5)


@pytest.mark.parametrize(("said", "absolute"), rows(__file__, "what a person says gets the day it means"))
def test_what_a_person_says_gets_the_day_it_means(said, absolute):
    assert dated(said, WRITTEN) == absolute


@pytest.mark.parametrize("said", rows(__file__, "habits names and quotes stay as they were said"))
def test_habits_names_and_quotes_stay_as_they_were_said(said):
    assert dated(said, WRITTEN) == said


FRAGMENTS = (
    *("tomorrow", "after Thursday", "until Monday", "next sprint", "in two weeks", "In 3 days", "last week", "today"),
    *("the day after tomorrow", "the end of the week", "by ", "ab morgen", "nächste Woche", "明天", "내일", "mañana"),
    *(". ", "\n", "`", '"', "“", "”", "> ", "never ", "if ", "the ", "Use ", "uv", "é", "\t", "(", ")", "NEXT WEEK"),
)
KNOWN = "|".join(f"(?:{pattern.pattern})" for pattern in (SAID, RELATIVE, *foreign_patterns().values()))
KNOWN = re.compile(re.sub(r"\?P<\w+>", "?:", KNOWN), re.IGNORECASE)


@given(
    st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12).map(" ".join), st.dates(date(2000, 1, 1))
)
def test_all_but_the_known_expressions_stays_byte_for_byte(text, day):
    try:
        after = dated(text, day)
    except OverflowError:
        return  # the calendar ends
    rest = [re.escape(part) for part in KNOWN.split(text)]
    assert re.fullmatch(".*?".join(rest), after, re.DOTALL)


def test_dates_read_as_ever():
    recorded.check(
        __file__, "relative_dates", lambda text: relative_dates(text, WRITTEN), lambda text: dated(text, WRITTEN)
    )
