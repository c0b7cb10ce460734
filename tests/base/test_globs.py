"""Which paths a glob of `for=path:…` means."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.base import globs_hot
from tables import rows

ROOT = "/w/shop"


@pytest.mark.parametrize(("pattern", "path", "meant"), rows(__file__, "examples"))
def test_examples(pattern, path, meant):
    assert globs_hot.matches(pattern, path, ROOT) is meant
    assert globs_hot.matches(pattern, path, ROOT + "/") is meant


def test_a_project_at_the_root_is_matched_and_a_nasty_pattern_is_quick():
    assert globs_hot.matches("etc/*", "/etc/hosts", "/")
    before = time.process_time()
    globs_hot.matches("*a" * 50 + "b", ROOT + "/" + "a" * 2000, ROOT)
    globs_hot.matches("**/a/" * 50 + "b", ROOT + "/a" * 2000, ROOT)
    assert time.process_time() - before < 2


@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "a*"]), min_size=2, max_size=5),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=5),
)
def test_patterns_with_slashes_match_from_the_root_part_by_part(pattern, parts):
    source = ""
    for piece in pattern:
        source += "(?:[^/]+/)*" if piece == "**" else re.escape(piece).replace("\\*", "[^/]*") + "/"
    expected = re.match(source, "/".join(parts) + "/") is not None
    assert globs_hot.matches("/".join(pattern), ROOT + "/" + "/".join(parts), ROOT) is expected


def test_patterns_match_as_ever():
    recorded.check(__file__, "patterns", lambda pattern, path: globs_hot.matches(pattern, path, "/home/me/shop"))
