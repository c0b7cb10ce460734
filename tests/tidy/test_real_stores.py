"""Every finding on real memories, each looked at by a person: tests/data/lint/judged.tsv says which are right, and why.

It reads `../shared/data/memories` beside the repository, and is skipped where that is not there.
"""

import csv
import os
import shutil
from pathlib import Path

import pytest

from memtui.tidy.checks import lint, lint_fixes

HERE = Path(__file__).parents[1]
STORES = next((up / "shared/data/memories" for up in HERE.parents if (up / "shared/data/memories").is_dir()), None)
MESSY = "linkdotnet+claude-memory-admin__test__fixtures__store__-Users-demo-repos-"
# The time of the check: nothing there expires.
NOW = 0.0
# What claude-memory-admin 1.10 (npm) finds in its own messy store, by its rules, as our codes.
OTHERS = {
    ("memories.same_name", "second-claim.md"),
    ("memories.same_line", "MEMORY.md"),
    ("memories.no_description", "no-description.md"),
    ("memories.type", "no-description.md"),
    ("memories.empty", "stub.md"),
    ("memories.empty_section", "MEMORY.md"),
}

pytestmark = pytest.mark.skipif(STORES is None, reason="the real memories of ../shared/data are not here")


def rows(store):
    """The findings on a store, as in the file of judgements."""
    found = []
    for each in lint.check(lint.at(str(store), "/", NOW)):
        path, line = lint.place(each)
        found.append((store.name, each.code, os.path.relpath(path, store), str(line)))
    return found


def judged():
    with open(HERE / "data/lint/judged.tsv") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.slow
def test_real_findings_were_looked_at_and_at_most_one_in_twenty_is_wrong():
    found = [row for store in sorted(STORES.iterdir()) for row in rows(store)]
    known = judged()
    assert found == [(row["store"], row["code"], row["file"], row["line"]) for row in known]
    wrong = [row for row in known if row["judgement"] != "right"]
    assert len(wrong) <= 0.05 * len(known), wrong


@pytest.mark.parametrize("name", ["messy", "overflow"])
def test_what_was_planted_is_found_fixed_and_not_found_again(tmp_path, name):
    store = tmp_path / name
    shutil.copytree(STORES / f"{MESSY}{name}__memory", store)
    for path in (store, *store.rglob("*")):
        path.chmod(0o755)
    subject = lint.at(str(store), "/", NOW)
    found = lint.check(subject)
    if name == "messy":
        assert OTHERS <= {(each.code, os.path.basename(lint.place(each)[0])) for each in found}
    fixable = {each.code for each in found if lint_fixes.fixable(each)}
    lint_fixes.make(lint_fixes.plan(subject, found))
    after = lint.check(lint.at(str(store), "/", NOW))
    assert not [each.code for each in after if lint_fixes.fixable(each)]
    assert not fixable & {each.code for each in after if each.level == "problem"}
