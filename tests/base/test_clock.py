"""Times as the files show them."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.base import clock_hot, phrasing_hot

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)).map(lambda t: t.replace(tzinfo=UTC))


@given(MOMENTS)
def test_a_moment_is_written_to_the_millisecond_and_read_back(moment):
    text = clock_hot.iso(moment.timestamp())
    assert len(text) == 24
    assert abs(clock_hot.parse(text) - moment.timestamp()) < 0.001
    assert abs(datetime.fromisoformat(text).timestamp() - moment.timestamp()) < 0.001


@given(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
    st.integers(-23 * 60, 23 * 60),
    st.sampled_from(["T", " "]),
    st.sampled_from(["auto", "minutes", "seconds", "milliseconds"]),
)
def test_every_iso_time_with_an_offset_means_what_datetime_says(moment, minutes, separator, precision):
    local = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    text = local.isoformat(sep=separator, timespec=precision)
    expected = (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    assert abs(clock_hot.parse(text) - expected) < 1e-3


def test_the_forms_that_people_write_are_times_and_nothing_else_is():
    for text in (
        *("2026-11-21T09:00:00+0200", "2026-11-21T09:00:00+02", "2026-11-21 09:00 +02:00", "2026-11-21T07:00Z"),
        *("2026-11-21t07:00:00z", "2026-11-21T07:00:00,000Z", "2026-11-21 07:00", "2026-11-21T02:00:00-0500"),
    ):
        assert clock_hot.parse(text) == clock_hot.parse("2026-11-21T07:00:00Z") == 1795244400.0, text
    for odd in (
        *("", " ", "tomorrow", "2026", "2026-11", "2026-13-01", "2026-00-10", "2026-02-29", "2026-11-31", "2026/11/21"),
        *("2026-11-21T", "2026-11-21T9:00", "2026-11-21T24:00", "2026-11-21T09:60", "2026-11-21T09:00:nan"),
        *("2026-11-21T09:00:inf", "2026-11-21T09:00:1e9", "2026-11-21T-1:00", "2026-1_-21", "+026-11-21"),
        *("2026-11-21X09:00", "٢٠٢٦-١١-٢١", "2026-11-21T09:00:00+02:0", "2026-11-21T09:00:00+99:99:99"),
        *("2026-11-21T09:00Zx", "0000-01-01", None, 5, 1.5, ["2026-11-21"], b"2026-11-21"),
    ):
        assert clock_hot.parse(odd) is None, odd


def test_times_read_as_ever():
    recorded.check(__file__, "times", clock_hot.parse)
    now = 1_795_219_200.0
    spoken = [phrasing_hot.age, phrasing_hot.ago, clock_hot.ago]
    until = lambda seconds: phrasing_hot.until(now + seconds, now)
    recorded.check(
        __file__, "seconds", *[lambda s, say=say: say(now - s, now) for say in spoken], until, phrasing_hot.short
    )
