"""git's merge driver for memories in a person's own repository: sync/merge.py instead of marks in the text.

Set-up adds a block to the repository's `.gitattributes` and one to its git configuration, and removes just these."""

import difflib
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot
from memtui.base.errors import MemtuiError
from memtui.client.locate_hot import INDEX_NAME
from memtui.store.journal.changes import Patch
from memtui.store.journal.journal import Journal
from memtui.sync.merge import Merge, merge_index, merge_memory

ATTRIBUTES = """\
# memtui: memories are merged by field and paragraph (memtui setup merge-driver --remove)
.claude/memory/**/*.md merge=memtui
.claude/agent-memory/**/*.md merge=memtui
"""
CONFIGURATION = """\
[merge "memtui"]
\tname = memories by field and paragraph
\tdriver = {command}
"""
# How the block begins, and how below a last line without a line end, which removal gives back.
HEAD, OPEN_END = b"# memtui:", b"# memtui, below a line without an end:"
MODE = 0o644


class DriverPlan(NamedTuple):
    """Files of a repository before and after set-up or removal; `is_there`: whether the driver is set up now."""

    files: tuple[tuple[str, bytes, bytes], ...]
    is_there: bool

    @property
    def changed(self) -> list[tuple[str, bytes, bytes]]:
        return [row for row in self.files if row[1] != row[2]]

    @property
    def diff(self) -> list[str]:
        """The change as the lines of a unified diff."""
        lines: list[str] = []
        for path, *sides in self.changed:
            before, after = (data.decode("utf-8", "replace").splitlines() for data in sides)
            lines += difflib.unified_diff(before, after, path, path, n=1, lineterm="")
        return lines


def plan(cwd: str, *, remove: bool = False) -> DriverPlan:
    """Plan to add the driver to the repository around a directory, or to take it out. Raises MemtuiError."""
    words = "--show-toplevel", "--git-common-dir"
    top, common = (_git(cwd, "rev-parse", "--path-format=absolute", word) for word in words)
    # Without memtui git merges as always; the shell sees this, for git would leave one side without a mark.
    own = f"exec {shlex.quote(sys.executable)} -m memtui merge-driver %O %A %B %P"
    command = f'"[ -x {shlex.quote(sys.executable)} ] && {own}; exec git merge-file -q %A %O %B"'
    blocks = {f"{top}/.gitattributes": ATTRIBUTES, f"{common}/config": CONFIGURATION.format(command=command)}
    files, is_there = [], True
    for path, block in blocks.items():
        before = fs_hot.read_or_empty(path)
        rest, mark = _without(before, block.encode())
        is_there = is_there and mark
        added = block.encode()
        if rest and not rest.endswith(b"\n"):
            added = b"\n" + added.replace(HEAD, OPEN_END, 1)
        new = before if added in before else rest + added
        files.append((path, before, rest if remove else new))
    return DriverPlan(tuple(files), is_there)


def _without(data: bytes, block: bytes) -> tuple[bytes, bool]:
    """Return a file without our block, as any version of memtui wrote it, and whether it was there."""
    head = block.splitlines(keepends=True)[0]
    above, mark, rest = data.partition(b"\n" + head.replace(HEAD, OPEN_END))
    if not mark or HEAD not in head:
        above, mark, rest = data.partition(head)
    lines = rest.splitlines(keepends=True)
    while lines and (lines[0].startswith(b"\t") or b"merge=memtui" in lines[0]):
        lines.pop(0)
    return above + b"".join(lines), bool(mark)


def apply(plan: DriverPlan, root: str, *, remove: bool = False, now: Callable[[], float] = clock_hot.now) -> None:
    """Write the files of a plan as one step of undo. Raises MemtuiError."""
    patches = [Patch.between(path, before or None, after or None, MODE) for path, before, after in plan.changed]
    verb = "remove the merge driver from" if remove else "add the merge driver to"
    Journal(root, "cli", now).run("install", patches, f"{verb} {os.path.dirname(plan.files[0][0])}")


def _git(cwd: str, *words: str) -> str:
    try:
        process = subprocess.run(["git", *words], cwd=cwd, capture_output=True, check=False)
    except OSError as error:
        raise MemtuiError("git can't be started.", "Install git 2.31 or newer.") from error
    if process.returncode:
        raise MemtuiError(f"{cwd} is in no work tree of git.", "Run it in the repository that holds the memories.")
    return os.fsdecode(process.stdout).rstrip("\n")


def merge_files(base: str, ours: str, theirs: str, name: str) -> Merge:
    """Merge three files for git, and write the result over `ours`. Raises MemtuiError."""
    sides = []
    for path in (base, ours, theirs):
        try:
            sides.append(fs_hot.read_bytes(path))
        except OSError as error:
            raise MemtuiError(f"Can't read {path}: {error.strerror}.", "git calls it with three files.") from error
    merge = merge_index if os.path.basename(name) == INDEX_NAME else merge_memory
    merged = merge(sides[0], sides[1], sides[2], name)
    if merged.data != sides[1]:
        with open(ours, "wb") as file:  # git's own temporary file
            file.write(merged.data)
    return merged
