"""Memories of which a sentence differs in one telling word are rivals or siblings, whatever the language."""

import pytest

from memtui.store import memory
from memtui.tidy import contradictions

RIVALS = [
    ("The user likes long commit messages.", "The user hates long commit messages."),
    ("Siempre usar tabulaciones en el código.", "Nunca usar tabulaciones en el código."),
    ("The dev server listens on port 3000.", "The dev server listens on port 4000."),
    ("テストは必ず pytest で実行する。", "テストは必ず unittest で実行する。"),
    ("Run tests with pytest, not with unittest.", "Run tests with unittest, not with pytest."),
    ("All times are stored in UTC.", "All times are stored in local time."),
    ("Zeiten stehen in UTC.", "Zeiten stehen in Ortszeit."),
    ("Tests use staging-db for data.", "Tests use prod-db for data."),
    ("Copy the dump from alpha to beta before noon.", "Copy the dump from beta to alpha before noon."),
    ("Sync alpha → beta nightly.", "Sync beta → alpha nightly."),
    ("必须使用pnpm安装依赖。", "禁止使用pnpm安装依赖。"),
]
SIBLINGS = [
    ("Load test of 1 April: 300 requests per second.", "Load test of 1 May: 300 requests per second."),
    ("Load test of 2026-04-01: it passed.", "Load test of 2026-05-01: it passed."),
]
NEITHER = [
    ("Use pnpm for all installs.", "Use pnpm for all installs."),
    ("Deploy on Friday, never npm.", "The lock file of npm breaks the install."),
    ("Never npm.", "Never yarn."),
]


def between(*texts):
    memories = (memory.from_bytes(f"/{at}.md", "auto", text.encode()) for at, text in enumerate(texts))
    return contradictions.difference(*memories)


@pytest.mark.parametrize("pair", [*RIVALS, *SIBLINGS, *NEITHER])
def test_a_telling_word_makes_rivals_and_a_date_siblings_and_both_are_told(pair):
    assert between(*pair) == (None if pair in NEITHER else (*pair, pair in SIBLINGS))


def test_a_sentence_that_both_have_is_no_rival_of_another():
    assert between("Use port 3000 for dev. Use port 4000 for dev.", "Use port 4000 for dev.") is None
