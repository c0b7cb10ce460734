"""Which paths a glob of `for=path:…` means."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import globs_hot

ROOT = "/w/shop"


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        *(("src/app.py", "/w/shop/src/app.py", True), ("./src/app.py", "/w/shop/src/app.py", True)),
        *(("src/*.py", "/w/shop/src/app.py", True), ("src/*.py", "/w/shop/src/deep/app.py", False)),
        ("src/**/*.py", "/w/shop/src/deep/er/app.py", True),
        *(("src/**/*.py", "/w/shop/src/app.py", True), ("**/app.py", "/w/shop/app.py", True)),
        *(("**", "/w/shop/anything", True), ("src", "/w/shop/src/deep/app.py", True)),
        *(("src/", "/w/shop/src/deep/app.py", True), ("src/deep", "/w/shop/src/deep/app.py", True)),
        ("deep/app.py", "/w/shop/src/deep/app.py", False),
        *(("*.py", "/w/shop/src/deep/app.py", True), ("app.??", "/w/shop/app.py", True)),
        *(("app.?", "/w/shop/app.py", False), ("/etc/*", "/etc/hosts", True)),
        ("/w/shop/src/*.py", "/w/shop/src/app.py", True),
        *(("/src/app.py", "/w/shop/src/app.py", False), ("*.py", "/elsewhere/app.py", True)),
        *(("src/*.py", "/elsewhere/src/app.py", False), ("hosts", "/w/shopping/hosts", True)),
        *(("README.md", "/w/shop/readme.md", False), ("[a].py", "/w/shop/a.py", False)),
        ("日本/*.md", "/w/shop/日本/é.md", True),
    ],
)
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
