"""The times that people give, as every command and form reads them."""

import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot, dates
from tables import rows

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = st.sampled_from([dates.START, dates.END, dates.NEXT])
NOW = datetime(2026, 7, 1, 15, 0, tzinfo=BERLIN)  # a Wednesday


@pytest.fixture(autouse=True, scope="module")
def berlin():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def at(*parts):
    return datetime(*parts, tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(("words", "ahead", "back"), rows(__file__, "each way to say a time"))
def test_each_way_to_say_a_time(words, ahead, back):
    now = NOW.timestamp()
    assert (dates.read(words, now, ahead=True), dates.read(words, now, ahead=False)) == (ahead, back)


def test_every_example_that_is_shown_is_taken_and_nothing_else():
    for words in dates.AHEAD.split(", "):
        assert dates.read(words, NOW.timestamp(), ahead=True) is not None
    for text in ("", "soon", "18", "25:00", "18:60", "tomorrow soon", "１8:00", "2026-02-30", "fr", "-2h"):
        assert dates.read(text, NOW.timestamp(), ahead=True) is None


@given(st.datetimes(datetime(1971, 1, 1), datetime(9990, 1, 1)), st.sampled_from("T "))
def test_a_time_without_a_zone_is_local(moment, between):
    moment = moment.replace(microsecond=0)
    expected = time.mktime((*moment.timetuple()[:6], 0, 0, -1))
    assert dates.read(moment.isoformat(between), 0.0, ahead=True) == expected
    minute = dates.read(moment.isoformat(between, "minutes"), 0.0, ahead=True)
    assert minute == expected - moment.second
    midnight = time.mktime((*moment.timetuple()[:3], 0, 0, 0, 0, 0, -1))
    assert dates.read(moment.date().isoformat(), 0.0, ahead=False) == midnight


@given(st.floats(1e9, 4e9).map(int), st.sampled_from(dates.WEEKDAYS), st.booleans(), st.booleans())
def test_a_weekday_is_the_nearest_one_in_its_direction(now, day, ahead, short):
    found = dates.read(day[:3] if short else day, now, ahead=ahead)
    assert time.strftime("%A", time.localtime(found)).lower() == day
    assert found > now if ahead else found <= now
    assert abs(found - now) <= timedelta(days=7, hours=1).total_seconds()


@given(st.floats(1e9, 4e9).map(int), st.integers(0, 23), st.integers(0, 59), st.booleans())
def test_a_time_of_day_is_the_nearest_one_in_its_direction(now, hour, minute, ahead):
    found = dates.read(f"{hour}:{minute:02}", now, ahead=ahead)
    assert found > now if ahead else found <= now
    assert abs(found - now) <= timedelta(days=1, hours=1).total_seconds()


@given(st.text(max_size=20) | st.text("0123456789-:.TZ+ smhdwtoyfri", max_size=32), st.booleans(), DAYS)
def test_no_text_raises_and_what_is_found_can_be_written_into_a_file(text, ahead, day):
    found = dates.read(text, NOW.timestamp(), ahead=ahead, day=day)
    assert found in {None, dates.NEVER} or clock_hot.parse(clock_hot.iso_seconds(found)) == int(found)
