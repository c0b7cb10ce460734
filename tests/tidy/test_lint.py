"""What lint finds in a store made messy on purpose, what it fixes, and that it leaves a clean one alone."""

import csv
import os
import shutil
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot, findings
from memtui.store.frontmatter import prose_hot
from memtui.store.index import index_lines
from memtui.store.memory import from_bytes
from memtui.tidy import contradictions
from memtui.tidy.checks import lint, lint_fixes, memory_checks
from tables import rows

DATA = Path(__file__).parents[1] / "data/lint"
NOW = clock_hot.parse("2026-11-22T12:00:00Z")
TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture
def store(tmp_path):
    """A copy of the messy store, with a key in it."""
    found = tmp_path / "messy"
    shutil.copytree(DATA / "messy", found)
    text = "---\nname: key\ndescription: A token\nmetadata:\n  type: reference\n---\n\nThe token is " + TOKEN + ".\n"
    (found / "key.md").write_text(text)
    return found


def check(path):
    return lint.check(lint.at(str(path), "/", NOW))


def files_of(found):
    """Each finding as (code, name of the file)."""
    return [(each.code, os.path.basename(lint.place(each)[0])) for each in found]


def fix(path):
    subject = lint.at(str(path), "/", NOW)
    lint_fixes.make(lint_fixes.plan(subject, lint.check(subject)))
    return check(path)


def planted():
    with open(DATA / "faults.tsv") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_planted_fault_is_found_worst_first_with_words_and_a_file(store):
    assert set(files_of(check(store))) == {(row["code"], row["file"]) for row in planted()}
    found = check(store)
    levels = [each.level for each in found]
    assert levels == sorted(levels, reverse=True)  # problem, then note
    assert [each.code for each in found[:2]] == ["memories.broken", "memories.dangling"]
    for each in found:
        assert findings.message(each)
        assert os.path.exists(lint.place(each)[0])
        assert TOKEN not in findings.with_remedy(each) + str(dict(each.data))


def test_an_empty_section_goes_and_a_scope_that_is_not_ours_to_write_stays(tmp_path):
    index = tmp_path / "MEMORY.md"
    (tmp_path / "one.md").write_text("---\nname: one\ndescription: One\nmetadata:\n  type: user\n---\n\nOne.\n")
    text = "# Memories\n\n- [one](one.md): One\n\n## Nothing here\n\n## More\n\n- [one](one.md): One\n"
    index.write_text(text)
    subject = lint.at(str(tmp_path), "/", NOW)
    (scope,) = subject.scopes
    closed = replace(subject, scopes=[replace(scope, problem="it can't be read")])
    assert lint_fixes.plan(closed, lint.check(subject)) == []
    fix(tmp_path)
    assert "Nothing here" not in index.read_text()


def test_what_needs_no_decision_is_fixed_and_a_second_run_finds_nothing(store):
    after = fix(store)
    assert set(files_of(after)) == {(row["code"], row["file"]) for row in planted() if row["fixed"] == "no"}
    assert not any(map(lint_fixes.fixable, after))
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    fix(store)
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    # What is known is written, and the rest is left.
    text = (store / "dates.md").read_text()
    assert "begins 2026-11-09." in text
    assert "went away 2026-11-04." in text
    assert 'They said "tomorrow", and `last week` is a constant.' in text
    assert "name: second-claim\n" in (store / "second-claim.md").read_text()
    assert "name: shared\n" in (store / "first-claim.md").read_text()
    assert "description: The staging database is restored every Monday.\n" in (store / "no-description.md").read_text()
    lines = (store / "MEMORY.md").read_text().splitlines()
    told = "how a release is made, by tag, build and publish, and then tell everybody in the channel that there is a new one"
    assert f"- [Release](release.md) — {told}" in lines
    assert "## Nothing Here" not in lines
    assert "## More" in lines
    both = "pnpm in every package, npm nowhere; listed a second time by accident"
    manager = f"- [Package manager](package-manager.md) — {both}"
    assert [line for line in lines if "package-manager.md" in line] == [manager]
    assert not any("gone.md" in line for line in lines)
    assert any("(no-line.md)" in line for line in lines)


WORDS = st.text(alphabet=string.ascii_letters + " #-*[]().\n\r\t`<!>é—", max_size=200)
PARTS = ["# A", "## B", "### C", "", "- [x](x.md) — y", "  - more", "- [x](x.md)", "text", "```", "<!-- c -->", "## B"]
LINES = st.lists(st.sampled_from(PARTS), max_size=20).map("\n".join)


@given(WORDS | LINES)
def test_fixes_of_an_index_are_stable_and_add_nothing(text):
    data = text.encode()
    once = index_lines.remove_empty_sections(data)
    assert index_lines.remove_empty_sections(once) == once
    assert set(once.decode().split()) <= set(data.decode().split())


@given(WORDS)
def test_a_description_is_one_short_line(text):
    made = prose_hot.first_sentence(text)
    assert "\n" not in made
    assert len(made) <= prose_hot.LIMIT


@pytest.mark.parametrize(("one", "other", "opposed"), rows(__file__, "plain contradictions"))
def test_plain_contradictions(one, other, opposed):
    found = [from_bytes(f"/{n}.md", "auto", text.encode()) for n, text in enumerate((one, other))]
    assert bool(list(contradictions.find(found))) == opposed


def test_one_that_contradicts_is_found_among_many_of_the_same_words():
    texts = ["Tabs are not allowed in tables.", "Tabs are allowed in tables."]
    texts += [f"Tabs are allowed in tables of {number}." for number in range(45)]
    (pair,) = contradictions.find([from_bytes(f"/{n}.md", "auto", text.encode()) for n, text in enumerate(texts)])
    assert {order.memory.path for order in pair} == {"/0.md", "/1.md"}


def test_an_item_that_begins_with_a_files_name_lists_that_memory(tmp_path):
    (tmp_path / "till.md").write_text("---\nname: till\ndescription: The till\ntype: project\n---\n\nIt prints.\n")
    for item, is_listed in (
        ("- `till.md`: the till", True),
        ("till.md is there", False),
        ("<!-- - till.md -->", False),
    ):
        (tmp_path / "MEMORY.md").write_text(f"# Index\n\n{item}\n")
        assert ("memories.no_line" in [finding.code for finding in check(tmp_path)]) is not is_listed


@pytest.mark.parametrize("body", ["", "TODO", "# Title\n\n<!-- later -->\n", "n/a", "...", "- TBD\n"])
def test_a_body_that_says_nothing_is_empty(body):
    assert memory_checks.is_empty(body)


def test_a_secret_in_the_index_and_an_odd_type_of_a_memory_are_found(tmp_path):
    (tmp_path / "MEMORY.md").write_text(f"# Shop\n\nThe token is {TOKEN}.\n")
    (found,) = check(tmp_path)
    assert (found.code, lint.place(found)) == ("memories.secret", (str(tmp_path / "MEMORY.md"), 3))
    (tmp_path / "MEMORY.md").write_text("# Shop\n\nRun it with `--seed N --keys 20000`.\n")
    assert check(tmp_path) == []
    for n in range(3):
        (tmp_path / f"m{n}.md").write_text(f"---\nname: m{n}\ndescription: d{n}\ntype: learning\n---\n\nWord {n}.\n")
    assert "memories.type" not in [each.code for each in check(tmp_path)]
    (tmp_path / "m2.md").unlink()
    assert "memories.type" in [each.code for each in check(tmp_path)]
    (tmp_path / "m1.md").unlink()
    (tmp_path / "m0.md").write_text("---\nname: m\ndescription: d\ntype: References\n---\n\nWord.\n")
    assert "memories.type" not in [each.code for each in fix(tmp_path)]
    assert "type: reference\n" in (tmp_path / "m0.md").read_text()


FRONT = st.lists(
    st.sampled_from(
        [
            *("name: a", "name: b", "name: shared", "description:", "type: feedback", "title: Till", "tags: [a, b]"),
            *("created: 2026-11-05", "expires: 2026-01-01", "verify: glob x", "broken: 'x' y"),
            *("description: The till counts in cents", 'description: "a \\"quoted\\" one: yes"'),
            "metadata:\n  type: referense\n  modified: 2026-11-05T10:00:00Z",
        ]
    ),
    max_size=5,
    unique=True,
)
BODY = st.lists(
    st.sampled_from(
        [
            *("The till broke yesterday, and “tomorrow” too.", "We ship next week. See [[b]] and [[none]]."),
            *("TODO", "# Heading", "```\ntoday\n```", "Use tabs.", "Use spaces.", "**Why:** it was 3 days ago."),
            *("é日本 last month", "", "---", "\tno \r\n end"),
        ]
    ),
    max_size=6,
)
LINE = st.sampled_from(
    [
        *("# M", "## Empty", "- [A](a.md) — one", "- [A](a.md)", "  - more of it", "- [N](n.md)", "prose", "", "```"),
        *("- [B](b.md): The till counts in cents", "* [C](sub/c.md) — " + "far too long " * 20, "<!-- note -->"),
        *("see [a](a.md)", "- [A](./a.md#x) - y"),
    ]
)


@pytest.mark.slow
@given(
    st.lists(st.tuples(FRONT, BODY), min_size=3, max_size=3),
    st.lists(LINE, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_store_is_fixed_at_once_and_no_word_of_a_memory_is_lost(tmp_path_factory, files, lines, newline):
    store = tmp_path_factory.mktemp("store")
    (store / "sub").mkdir()
    for name, (front, body) in zip(("a", "b", "sub/c"), files, strict=True):
        head = ["---", *front, "---", ""] if front else []
        (store / f"{name}.md").write_bytes(newline.join([*head, *body, ""]).encode())
    if lines:
        (store / "MEMORY.md").write_bytes(newline.join(lines).encode())
    before = {path: path.read_bytes() for path in store.rglob("*.md")}
    index_codes = {code for code, name in files_of(check(store)) if name == "MEMORY.md"}
    after = fix(store)
    assert {code for code, name in files_of(after) if name == "MEMORY.md"} <= index_codes
    assert [each.code for each in after if lint_fixes.fixable(each)] == []
    for path, data in before.items():
        if path.name != "MEMORY.md" and b"2026-11-05" not in data:
            assert set(data.split()) <= set(path.read_bytes().split()) | {b"shared", b"a", b"b"}


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_are_checked(tmp_path_factory, memory_bytes, index_bytes):
    store = tmp_path_factory.mktemp("store")
    (store / "a.md").write_bytes(memory_bytes)
    (store / "MEMORY.md").write_bytes(index_bytes)
    for each in fix(store):
        assert findings.message(each)


@pytest.mark.parametrize(
    "head", ["name: x\ndescription: phase 1 --- phase 2\n", "description: >\n  one\n  two --- three\n"]
)
def test_a_head_that_the_client_would_cut_is_a_problem(tmp_path, head):
    (tmp_path / "x.md").write_text(f"---\n{head}---\nText --- more.\n")
    assert "memories.cut_head" in {each.code for each in check(tmp_path)}
