"""Relative dates in memories: which are found, which are left alone, and what they are replaced by."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot
from memtui.store.memory import from_bytes
from memtui.store.relative_dates import RELATIVE, SAID, dated, foreign_patterns, relative_dates
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
        *(("Today we decided to squash.", []), ("The queue moved to Redis today.", [])),
        *(("Since today the build needs uv.", []), ("The freeze starts today: no merges.", [])),
        *(("The demo is today.", []), ("Don't deploy today.", [])),
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
    (one,) = dates(memory("", mtime=clock_hot.parse("2026-11-05T12:00:00Z")))
    assert (one.data["proposed"], one.data["certain"], one.data["line"]) == ("2026-11-04", False, 5)


@pytest.mark.parametrize(
    ("said", "absolute"),
    [
        ("No merges after Thursday.", "No merges after 2026-11-12."),
        ("Keep it until Monday!", "Keep it until 2026-11-09!"),
        ("Always use the new API from tomorrow on.", "Always use the new API from 2026-11-06 on."),
        ("In two weeks the old API goes.", "On 2026-11-19 the old API goes."),
        ("The audit is the day after tomorrow.", "The audit is 2026-11-07."),
        ("The audit was the day before yesterday.", "The audit was 2026-11-03."),
        ("Use v2 next sprint.", "Use v2 next sprint (said on 2026-11-05)."),
        ("Freeze until the end of the week.", "Freeze until the end of the week (said on 2026-11-05)."),
        ("We use three servers today.", "We use three servers today (said on 2026-11-05)."),
        ("DON'T DEPLOY TOMORROW", "DON'T DEPLOY 2026-11-06"),
        ("Ab morgen nur pnpm.", "Ab 2026-11-06 nur pnpm."),
        ("Nächste Woche ziehen wir um.", "2026-W46 ziehen wir um."),
        ("Bis übermorgen nichts mergen.", "Bis 2026-11-07 nichts mergen."),
        ("À partir de demain, utilise uv.", "À partir de 2026-11-06, utilise uv."),
        ("La release è la prossima settimana.", "La release è 2026-W46."),
        ("Desde mañana usa uv, pasado mañana pip.", "Desde 2026-11-06 usa uv, 2026-11-07 pip."),
        ("A partir de amanhã usa uv.", "A partir de 2026-11-06 usa uv."),
        ("Vanaf overmorgen alleen uv.", "Vanaf 2026-11-07 alleen uv."),
        ("明天开始只用 uv。", "2026-11-06开始只用 uv。"),
        ("来週から uv を使う。", "2026-W46から uv を使う。"),
        ("내일부터 uv만 써.", "2026-11-06부터 uv만 써."),
    ],
)
def test_what_a_person_says_gets_the_day_it_means(said, absolute):
    assert dated(said, WRITTEN) == absolute


@pytest.mark.parametrize(
    "said",
    [
        "Never deploy after Thursday.",
        "From now on deploy before Friday only.",
        "No merges before Black Friday, nor after Friday Night Live.",
        "We release on Friday, and never on a Monday.",
        "If it broke by Monday, ask.",
        "Skip to the next iteration, and name each next release.",
        "Mention it in next release notes.",
        "The column is called Next Sprint, the page Tomorrow.",
        "Run `until Monday`, and say “next sprint”.",
        "Guten Morgen! Jeden Morgen um acht, por la mañana.",
        "Read src/morgen/tomorrow.py and demain-1.",
    ],
)
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
