"""The reader of frontmatter's YAML agrees with PyYAML, or says that it does not follow."""

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recorded
from memtui.store.frontmatter import subset_hot
from memtui.store.frontmatter.subset_hot import NotInSubsetError
from tables import rows

# What breaks YAML readers, in pieces; texts are made by stringing them together.
PIECES = [
    *("a", "b c", "key", "é", "漢字", "🎉", "1", "yes", "2026-01-31", "http://x", "a-b", "it's", "<<"),
    *("name: ", "k: ", ": ", ":", "- ", "-", " ", "  ", ", ", "? ", "?", "k:\n  t: ", 'k: [a, "b"]', "{t: u}"),
    *(
        *("\n", "\n\n", "\n   \n", "\n  ", "\n    ", "\n- ", "\n  - ", "\nk2: ", "\nz:", "\t", "\r", "\x85"),
        *("\ufeff", "\0"),
    ),
    *("{a: ", "{", "}", ", b: ", "\n- k: ", "\n  - k: {t: u}", "\n    j: "),
    *('"', "'", "''", '\\"', "\\n", "\\u00e9", "\\x41", "\\ud83d", "#", " #", "[", "]", "{", "}"),
    *("|", ">", "|-", ">+", "|2", "|\n  ", ">\n  ", "&a ", "*a", "!x ", "%", "@", "`", "...", "---"),
]
messy = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def base(text):
    """PyYAML with every scalar left as text: our mapping has no dates, truth values or numbers either."""
    return yaml.load(text, yaml.BaseLoader)


def accepted(text):
    try:
        return subset_hot.load(text)
    except NotInSubsetError:
        return None


@settings(max_examples=15 * settings.default.max_examples)
@given(st.one_of(messy, messy.map(lambda text: "k: " + text)))
@example("k: 'a\n\n  b'\n")
@example("k: >\n  a\n   b\n\n  c\n")
@example("k: a\tb")
@pytest.mark.slow
def test_whatever_it_accepts_pyyaml_reads_alike(text):
    text += "\n"
    mine = accepted(text)
    if mine is None:
        return
    try:
        theirs = base(text)
    except (yaml.YAMLError, ValueError, OverflowError):
        # PyYAML alone refuses a tab inside plain text; YAML 1.2 and the client take it.
        assert "\t" in text
        return
    if "\\ud83d" in text:
        return  # PyYAML makes a lone surrogate of it; the mapping is tested below
    assert mine == (theirs or {})


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff"), max_size=80)


flat = st.one_of(texts, st.lists(texts, min_size=1), st.dictionaries(st.sampled_from("xyz"), texts, min_size=1))
values = st.one_of(flat, st.lists(st.dictionaries(st.sampled_from("xyz"), flat, min_size=1), min_size=1))


@pytest.mark.slow
@settings(max_examples=3 * settings.default.max_examples)
@given(st.dictionaries(st.sampled_from("abcdefg"), values, min_size=1), st.sampled_from([40, 80, 10**6]))
def test_everything_that_pyyaml_writes_of_texts_and_lists_is_read(value, width):
    written = yaml.safe_dump(value, allow_unicode=True, width=width)
    mine = accepted(written)
    if mine is None:
        assert "\\\n" in written  # only a line break escaped inside double quotes is left to PyYAML
        return
    assert mine == value


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "test_forms"))
def test_forms(text, expected):
    assert accepted(text) == expected


def test_very_long_texts_are_no_trouble_and_what_was_not_followed_is_said():
    assert accepted("d: " + "x " * 500_000 + "\n") == {"d": ("x " * 500_000).rstrip()}
    assert accepted("d: " + "[" * 100_000 + "\n") is None
    assert accepted("".join(" " * n + "k:\n" for n in range(2000))) is None
    assert accepted(" " * 1_000_000 + "k" + " " * 1_000_000 + "\n") is None
    with pytest.raises(NotInSubsetError) as caught:
        subset_hot.load("name: a\ndescription: Fix: this\n")
    assert caught.value.line == 1
    assert "unquoted" in caught.value.reason


@given(messy, st.sampled_from("\"'"), messy)
@example("a", '"', "# b")
@example("a", '"', "\t# b")
@example("a", "'", " x\nz: c")
def test_what_has_text_after_a_closing_quote_is_no_yaml_either(inside, quote, after):
    text = f"k: {quote}{inside}{quote}{after}\n"
    try:
        subset_hot.load(text)
    except NotInSubsetError as error:
        if error.reason == subset_hot.AFTER_QUOTE:
            with pytest.raises((yaml.YAMLError, ValueError)):
                base(text)


def test_blocks_read_as_ever():
    recorded.check(__file__, "subset", subset_hot.load, subset_hot.read_loosely, subset_hot.client_quoted)
