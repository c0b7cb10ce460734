"""A memory's text for reading."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.tui.widgets import prose
from memtui.views import safe_text

BODY = """**Why:** the *lock* file.
# Head
- one `code`
> said
[[link]] and [words](https://x.y)
```sh
pnpm add
```
"""


def test_syntax_is_dropped_and_each_line_of_source_stays_a_line():
    plain = prose.render(BODY).plain
    assert plain.split("\n") == [
        *("Why: the lock file.", "Head", "• one code", "▏ said", "link and words (https://x.y)", "  sh"),
        *("  pnpm add", "", ""),
    ]


def test_a_url_ends_before_the_mark_that_ends_its_sentence():
    text = prose.render("See https://x.y/z?a=1. Then go on.")
    assert [text.plain[span.start : span.end] for span in text.spans] == ["https://x.y/z?a=1"]


def test_what_is_not_markdown_stays_as_it_is():
    for odd in (
        "<thinking>keep</thinking> <!-- this -->",
        "3. three\n5. five",
        "a * b * c",
        r"\*not this\*",
        "a &amp; b",
    ):
        assert prose.render(odd).plain == odd


@given(st.text(max_size=300))
def test_any_text_has_as_many_lines_as_its_source(body):
    assert prose.render(body).plain.count("\n") == safe_text.clean(body).count("\n")
