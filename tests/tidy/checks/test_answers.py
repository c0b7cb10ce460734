"""What a check keeps between runs changes none of its findings, and is worked out anew where it is no longer so."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.base.findings import message
from memtui.tidy.checks import answers, lint
from memtui.tidy.checks.answers import Answers

from .repositories import commit, git

NOW = 1_796_000_000.0
TEXTS = (
    "Always use tabs in Go files. `open_till()` opens it, see `src/till.py`.",
    "Never use tabs in Go files.",
    "The till is closed by `closeTill`; run `npm run till` and `make till`.",
    "Yesterday the server moved to `src/deep/`, with api_key = 'kQ3v9ZxT7bLw2PfR8sYd'.",
    "Always use tabs in Go files. `open_till()` opens it, see `built/out.js`.",
)
CODE = ("def open_till():\n    pass\n", "x = 1\n", "def closeTill(): pass\n")
EDITS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["a", "b", "c"]), st.none() | st.sampled_from(TEXTS)),
        st.tuples(st.sampled_from(["src/till.py", "src/deep/b.py", "built/out.js"]), st.none() | st.sampled_from(CODE)),
        st.tuples(st.just(".gitignore"), st.sampled_from(["built\n", "src\n", ""])),
        st.tuples(st.just("MEMORY"), st.sampled_from(["- [A](a.md) — tabs\n- [A](a.md) — more\n", "", "## Empty\n"])),
        st.tuples(st.just(""), st.none()),
    ),
    min_size=2,
    max_size=9,
)


def write(top, place, text):
    """Write or remove a memory, the index or a file of the project; all is committed where `place` is empty."""
    if not place:
        git(top, "add", "-A")
        git(top, "commit", "-q", "--allow-empty", "-m", "change")
        return
    path = Path(top, place if "." in place else f".claude/memory/{place}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        path.unlink(missing_ok=True)
    else:
        head = "" if "." in place or place == "MEMORY" else f"---\nname: {place}\ndescription: About {place}\n---\n\n"
        path.write_text(f"{head}{text}\n")


def check(top, root=""):
    if root:
        root.mkdir(exist_ok=True)  # where there is no home, nothing is kept
    return lint.check(lint.at(str(top), "/", NOW, str(root)))


@pytest.fixture
def store(tmp_path):
    top = tmp_path / "shop"
    commit(top, {"src/till.py": CODE[0], "old.py": "y = 2\n"})
    commit(
        top, {"src/till.py": CODE[1], "old.py": None, ".claude/memory/a.md": "See `open_till` in `old.py`, `src`.\n"}
    )
    return top


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(EDITS)
def test_kept_answers_change_no_finding_after_any_edits(edits):
    with tempfile.TemporaryDirectory() as directory:
        top, root = Path(directory, "shop"), Path(directory, "home")
        commit(top, {"src/till.py": CODE[0], "src/deep/b.py": CODE[2], "package.json": '{"scripts": {}}'})
        for place, text in edits:
            write(top, place, text)
            assert check(top, root) == check(top) == check(top, root)


def test_an_unchanged_store_is_not_read_again(store, tmp_path, monkeypatch):
    first = check(store, tmp_path / "home")
    assert {each.code for each in first} >= {"memories.path", "memories.symbol"}
    monkeypatch.setattr(Answers, "doubt", lambda _: pytest.fail("git was asked again"))
    monkeypatch.setattr("memtui.tidy.checks.memory_checks.secrets", lambda _: pytest.fail("it was searched again"))
    monkeypatch.setattr("memtui.tidy.checks.history.read", lambda *_: pytest.fail("history was read again"))
    assert check(store, tmp_path / "home") == first


def test_a_gone_name_is_told_with_the_commit_that_removed_it(store):
    git(store, "commit", "-q", "--amend", "-m", "Till\tgoes \x1b[31m")
    short = git(store, "rev-parse", "--short", "HEAD").strip()
    shown = {each.code: message(each) for each in check(store)}
    for code in ("memories.path", "memories.symbol"):
        assert re.search(rf"\({short}, \d{{4}}-\d\d-\d\d: Till goes", shown[code])


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"x": 1}', b"\xff", None])
def test_damaged_answers_and_those_of_other_code_are_worked_out_anew(store, tmp_path, monkeypatch, damage):
    first = check(store, tmp_path / "home")
    (path,) = (tmp_path / "home/run").glob("lint-*")
    whole = path.read_bytes()
    if damage is None:
        monkeypatch.setattr(answers, "_code", lambda: "other")
    else:
        path.write_bytes(damage)
    assert (check(store, tmp_path / "home"), path.read_bytes() == whole) == (first, damage is not None)


def test_a_check_of_a_path_makes_no_home(store, tmp_path):
    assert lint.check(lint.at(str(store), "/", NOW, str(tmp_path / "none"))) == check(store)
    assert not (tmp_path / "none").exists()


def test_an_answer_in_doubt_is_asked_again():
    kept = Answers()
    calls = []

    def ask():
        calls.append(1)
        kept.doubt()
        return len(calls)

    assert [kept.of("q", "facts", ask) for _ in range(2)] == [1, 2]
    assert [kept.of("q", facts, lambda: 3) for facts in ("facts", "facts", b"other")] == [3, 3, 3]
