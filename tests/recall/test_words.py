"""Which terms a text has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.recall import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("MAX_RETRY_COUNT", ["max_retry_count", "max", "retry", "count"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("parseHTTPHeader", ["parsehttpheader", "pars", "http", "header"]),
        ("CI/CD", ["ci/cd", "ci", "cd"]),
        ("don't", ["don"]),
        ("Größe café", ["große".replace("ö", "o"), "cafe"]),
        ("发布流程", ["发布", "布流", "流程"]),
        ("用pytest测试", ["用", "pytest", "测试"]),
        ("...", []),
    ],
)
def test_a_word_is_split_and_kept_whole(text, expected):
    assert words.terms(text) == expected


def test_forms_of_a_word_become_one_term():
    for forms in ("test tests testing tested", "deploy deploys deploying deployed", "cache caches caching cached"):
        assert len(set(words.terms(forms))) == 1, forms


@given(st.text())
def test_any_text_has_terms_without_blanks_and_in_any_case_alike(text):
    found = words.terms(text)
    assert all(term and not any(char.isspace() for char in term) for term in found)
    assert words.terms(text) == found
