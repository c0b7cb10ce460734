"""The checks that memories bring: when they fail since, and when they are not made."""

import os

import pytest

from memtui.base import ids_hot, paths_hot
from memtui.store import own_checks_hot
from memtui.store.memory import read_memory
from memtui.store.scopes import Scope
from memtui.store.status import Usage, of_scope
from memtui.tidy.checks import verification
from memtui.tidy.checks.check import Checked
from memtui.tidy.checks.project_files import ProjectFiles, top_of
from tree import link_worktree

from .repositories import commit


class Shop:
    """A project with one memory that has checks."""

    def __init__(self, base):
        self.root, self.top = str(base / "root"), base / "shop"
        commit(self.top, {"a.toml": "strict = true\n", "old/b.toml": "x"})
        self.scope = Scope("auto", "auto", str(base / "memory"), str(self.top))
        (base / "memory").mkdir()
        self.path = base / "memory/strict.md"
        self.write("grep strict in *.toml")

    def write(self, *checks, text="Types are strict."):
        self.path.write_text("---\nname: strict\nverify:\n" + "".join(f"- {c}\n" for c in checks) + f"---\n{text}\n")

    def project(self, **how):
        return ProjectFiles(str(self.top), **how)

    def check(self, day=1, project=None, scope=None):
        """The codes found on a day of January, and what is then noted of the memory."""
        memory = read_memory(str(self.path), "auto")
        checked = Checked(
            scope or self.scope, [memory], project or self.project(), root=self.root, now=86400.0 * (day - 1)
        )
        codes = [finding.code for finding in verification.verified(checked)]
        rows = own_checks_hot.load(self.root, self.scope.directory)
        row = own_checks_hot.row_of(rows, "strict.md", ids_hot.digest(memory.raw))
        return codes, row.get("state"), str(row.get("since"))[8:10]

    def flags(self):
        (row,) = of_scope(self.root, self.scope, Usage(self.root))
        return [flag.code for flag in row.flags if flag.code.startswith(("memories.verify", "memories.unchecked"))]


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def test_since_is_when_a_check_failed_first_and_its_holding_ends_it(shop):
    assert shop.flags() == ["memories.unchecked"]
    assert shop.check(1) == ([], "holds", "01")
    assert shop.flags() == []
    (shop.top / "a.toml").write_text("")
    assert shop.check(2) == (["memories.verify"], "fails", "02")
    assert shop.check(4) == (["memories.verify"], "fails", "02")
    assert shop.flags() == ["memories.verify"]
    shop.write("grep strict in *.toml", text="Types are very strict.")
    assert shop.flags() == ["memories.unchecked"], "an edited memory is not checked"
    assert shop.check(5) == (["memories.verify"], "fails", "02")
    (shop.top / "a.toml").write_text("strict")
    assert shop.check(6) == ([], "holds", "06")
    (shop.top / "a.toml").write_text("")
    assert shop.check(7) == (["memories.verify"], "fails", "07")
    shop.write("grep lenient in *.toml")
    assert shop.check(8) == (["memories.verify"], "fails", "08"), "another check"


def test_what_is_noted_is_written_only_when_it_says_something_else(shop):
    shop.check(1)
    path = paths_hot.checks_path(shop.root, shop.scope.directory)
    before = os.stat(path)
    shop.check(3)
    assert os.stat(path) == before


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"v": 2}', b'{"v": 1, "memories": {"strict.md": 3}}', b"\0" * 99])
def test_a_damaged_file_of_outcomes_counts_as_not_checked(shop, data):
    shop.write("glob *.lock")
    shop.check(1)
    with open(paths_hot.checks_path(shop.root, shop.scope.directory), "wb") as file:
        file.write(data)
    assert shop.flags() == ["memories.unchecked"]
    assert shop.check(2)[1:] == ("fails", "02")


def test_one_failing_check_of_several_counts_and_each_is_found(shop):
    shop.write("glob *.toml", "ls", "glob *.lock", "git tag v9")
    codes = ["memories.verify_unknown", "memories.verify", "memories.verify"]
    assert shop.check() == (codes, "fails", "01")


def cut(shop):
    return shop.project(go_on=lambda: False)


def without_git(shop):
    (shop.top / ".git/HEAD").unlink()
    return shop.project()


def silent_git(shop):
    (shop.top / ".git/index").write_bytes(b"torn")
    return shop.project()


def large_file(shop):
    (shop.top / "c.toml").write_bytes(b"x" * (verification.FILE_BYTES + 1))
    return shop.project()


def gone_project(shop):
    shop.top.rename(shop.top.with_name("moved"))
    return shop.project()


@pytest.mark.parametrize("fault", [cut, without_git, silent_git, large_file, gone_project])
@pytest.mark.parametrize("check", ["grep lenient in *.toml", "not grep lenient in *.toml"])
def test_a_check_that_cant_be_made_neither_holds_nor_fails(shop, fault, check):
    shop.write(check)
    assert shop.check(project=fault(shop)) == (["memories.unchecked"], "not made", "01")
    assert shop.flags() == ["memories.unchecked"]


def test_what_failed_counts_until_its_check_is_made_again(shop):
    shop.write("grep lenient in *.toml")
    shop.check(1)
    assert shop.check(2, cut(shop)) == (["memories.unchecked", "memories.verify"], "fails", "01")
    assert shop.check(3) == (["memories.verify"], "fails", "01")


def test_what_is_not_trusted_or_of_no_project_is_not_checked(shop):
    scope = Scope("project", "project", shop.scope.directory, str(shop.top))
    assert shop.check(scope=scope)[:2] == (["memories.unchecked"], "not made")
    checked = Checked(shop.scope, [read_memory(str(shop.path), "auto")], None, root=shop.root)
    assert [finding.code for finding in verification.verified(checked)] == ["memories.verify_unknown"]


def test_a_file_removed_but_not_committed_no_longer_matches(shop):
    (shop.top / "a.toml").unlink()
    assert not verification.holds(shop.project(), "glob a.toml")
    assert verification.holds(shop.project(), "not grep strict in *.toml")


def test_a_grep_reads_text_inside_the_project_only(shop):
    (shop.top / "picture.toml").write_bytes(b"\0" * (2 * verification.FILE_BYTES))
    (shop.top / "out.toml").symlink_to("/etc/hostname")
    assert verification.holds(shop.project(), "not grep lenient in *.toml")
    (shop.top / "d.toml").write_bytes(b"lenient" + b"x" * (2 * verification.FILE_BYTES))
    assert verification.holds(shop.project(), "grep lenient in *.toml")


def test_memories_of_a_linked_work_tree_are_about_that_tree(shop):
    tree = link_worktree(shop.top, shop.top.with_name("tree"))
    assert top_of(Scope("project", "project", f"{tree}/.claude/memory", str(shop.top))) == str(tree)
    assert top_of(shop.scope) == str(shop.top)
