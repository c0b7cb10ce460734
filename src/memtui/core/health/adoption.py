"""What memtui keeps for a project that nobody can tell, or whose directory is gone: whose it may be, and the changes
that give it to a project."""

import os
from collections.abc import Iterator, Sequence

from memtui.core.base import fs, paths
from memtui.core.base.finding import Finding, problem
from memtui.core.base.phrasing import some
from memtui.core.base.storage import read_or_none
from memtui.core.client import projects
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox import old_inboxes
from memtui.core.journal.changes.change import Change
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.changes.text_edit import TextEdit
from memtui.core.memories.store import Store

SUBJECT = "project:"


def unknown(env: dict[str, str], root: str, slugs: list[str]) -> Iterator[Finding]:
    """Find what has stayed in old inboxes, since it may be of several projects."""
    for slug, count in old_inboxes.left(root, slugs):
        roots = projects.roots_of(env, slug)
        path = paths.inbox_dir(root, slug)
        yield problem("inbox.whose", SUBJECT + slug, count=count, path=path, names=some(roots) or "a project")


def adopt(store: Store, subjects: Sequence[str]) -> list[object]:
    """Give what is kept for `subjects`, or else for all that the project of the store may be, to it, in one step of
    undo. Return the paths that changed. Raises MemtuiError, OSError."""
    with store.journal.together():
        return [path for each in subjects or _any(store) for path in _adopt(store, each.removeprefix(SUBJECT))]


def _any(store: Store) -> list[str]:
    own = paths.slug(paths.project_root(store.cwd))
    return [each.subject for each in unknown(store.env, store.root, [own])]


def _adopt(store: Store, name: str) -> list[object]:
    own = paths.project_key(paths.project_root(store.cwd))
    changes = [*_of_inbox(store.root, name, own), *_of_blocks(store.root, name, own)]
    if changes:
        words = f"give what was kept for {name.strip('-')} to {os.path.basename(paths.project_root(store.cwd))}"
        store.journal.run("adopt", changes, words)
    return [change.path for change in changes]


def _of_inbox(root: str, name: str, own: str) -> Iterator[Change]:
    source, target = paths.inbox_dir(root, name), paths.inbox_dir(root, own)
    for file in (*inbox_format.FILES.values(), *old_inboxes.LEDGERS):
        text = inbox_format.decode(read_or_none(f"{source}/{file}") or b"")
        if text.strip():
            if file not in old_inboxes.LEDGERS:
                entries = inbox_format.parse(text, items=file == inbox_format.FILES["items"])
                moved = "".join(map(inbox_format.standalone, entries))
            else:
                moved = text if text.endswith("\n") else text + "\n"
            yield TextEdit(f"{target}/{file}", "", moved)
            yield TextEdit(f"{source}/{file}", text, "")


def _of_blocks(root: str, name: str, own: str) -> Iterator[Change]:
    """Yield the changes of the blocks that the project has none of its own for."""
    for path in paths.blocks(root, name):
        target = f"{root}/subconscious/projects/{own}/{os.path.basename(path)}"
        if not fs.stamp(target):
            yield FileChange(target, None, read_or_none(path))
            yield FileChange(path, read_or_none(path), None)
