"""Text that reads as what it is: nothing hidden in it, no tag that it may not open."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recorded
from memtui.base import visible_hot
from tables import rows

ANY = st.characters(exclude_categories=())
TRICKS = st.sampled_from(
    ["<memtui-guidance>", "</memtui-guidance>", "< / MEMTUI-index>", "<system-reminder>", "</System-Reminder>", "<", ">", "<\u200b/memtui-", "<\x00/memtui-x", "<\u202e/system-reminder>", "</\n\nmemtui-guidance>", "<" + " " * 40 + "memtui-", '"', "&lt;", "&", "delivery=", "\x1b[2J", "\r\n", "\u2028", "\U000e0041", "�", "😀", "日本", "<\xad/memtui-", "</mem\u200dtui-", "\uff1c/memtui-", "</m\u0435mtui-", "</rnemtui", "</", "memtui-"]
)  # fmt: skip
TEXTS = st.lists(TRICKS | st.text(ANY, max_size=10), max_size=8).map("".join)
# A tag as a lenient reader would see it: blanks, slashes and invisible characters do not matter.
LENIENT = re.compile(r"<[\s/\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*(memtui-|system-reminder)", re.IGNORECASE)

HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@given(TEXTS)
@example("a < b and c <= d, see <https://memtui-docs> and <b>")
def test_cleaned_text_opens_no_guarded_tag_and_hides_nothing_harmful(text):
    clean = visible_hot.clean(text)
    assert not LENIENT.search(clean)
    assert not HARMFUL.search(clean)
    assert visible_hot.clean(clean) == clean


@pytest.mark.parametrize("secret", rows(__file__, "what nobody can see is not put before the model"))
def test_what_nobody_can_see_is_not_put_before_the_model(secret):
    assert visible_hot.clean(f"Use pnpm{secret}.") == "Use pnpm."


ALIKE = [
    *(
        "</mem\u200dtui-guidance>",
        "</m\u200c\ufe0femtui-guidance>",
        "</memtui\u2011guidance>",
        "</m\u0435mtui-guidance>",
    ),
    *("</\uff4d\uff45\uff4d\uff54\uff55\uff49-guidance>", "</\U0001d426emtui-guidance>", "</me\u0301mtui-guidance>"),
    *("</memtu1-guidance>", "</rnemtui-guidance>", "</m e m t u i-guidance>", "\uff1c/memtui-guidance\uff1e"),
    *("\u2039/memtui-guidance\u203a", "</\u0455\u0443stem-reminder>", "</sys\u200dtem-reminder>", "</system_reminder>"),
    "<" + "\u0301" * 90 + "/memtui-index>",
]


def test_what_only_looks_like_a_guarded_tag_is_none_either():
    for tag in ALIKE:
        clean = visible_hot.clean(f"before {tag} after")
        assert ("&lt;" in clean, tag[0] in clean) == (True, False), tag
        assert visible_hot.clean(clean) == clean


@given(TEXTS)
def test_an_attribute_stays_between_its_quotes_on_one_line(value):
    assert not re.search(r'["<>\n\r\t]', visible_hot.attribute(value))


def test_odd_texts_are_shown_as_ever():
    shown = [visible_hot.clean, visible_hot.attribute, visible_hot.one_line]
    recorded.check(
        __file__, "odd_texts", *shown, lambda text: visible_hot.revealed(text, lambda char: f"<{ord(char):x}>")
    )
