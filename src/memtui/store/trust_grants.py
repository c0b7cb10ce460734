"""Grant and revoke trust in a repository's memories: in the very contents that were shown, as steps of undo."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from memtui.base import clock_hot, fs_hot, ids_hot
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import many
from memtui.client import locate_hot
from memtui.store import trust_hot
from memtui.store.journal import acts
from memtui.store.journal.journal import ContentStore, Journal, Now
from memtui.store.journal.own_files import ALWAYS, TrustEdit
from memtui.store.scopes import Scope

MAX_NAMED = 3
Contents = dict[str, bytes]


def read(directory: str, names: Iterable[str] | None = None) -> Contents:
    """Read a directory's memories, or those named, by relative path. Raises MemtuiError if it must not be read."""
    if locate_hot.leaves_repository(directory):
        raise MemtuiError(f"{directory} {locate_hot.LEAVES_REPOSITORY}.", "Nothing there is read. Remove the link.")
    selected = None if names is None else set(names)
    contents: Contents = {}
    for name, problem in locate_hot.walk(directory):
        if problem or (selected is not None and name not in selected):
            continue
        try:
            contents[name] = fs_hot.read_bytes(f"{directory}/{name}")
        except OSError:
            continue
    return contents


def plan(root: str, directory: str, contents: Iterable[tuple[str, bytes]], always: bool | None = None) -> TrustEdit:
    """Return the change that trusts these contents too; `always` sets whether later versions are trusted as well."""
    trusted = trust_hot.load(root, directory)
    texts = {ids_hot.digest(data): (name, data) for name, data in contents}
    new = {digest: pair for digest, pair in texts.items() if trusted.hashes.get(digest) != pair[0]}
    before: dict[str, Any] = {digest: trusted.hashes[digest] for digest in new if digest in trusted.hashes}
    after: dict[str, Any] = {digest: name for digest, (name, _) in new.items()}
    before |= {ALWAYS: True} if trusted.always else {}
    after |= {ALWAYS: True} if (trusted.always if always is None else always) else {}
    data = tuple(data for _, data in new.values())
    return TrustEdit(trust_hot.path(root), before, after, trust_hot.key(directory), data)


def edits(root: str, contents: Iterable[tuple[Scope, str, bytes]]) -> list[TrustEdit]:
    """Return the changes, one a directory, that trust contents (scope, relative path, bytes) where trust is needed."""
    by_directory: dict[str, list[tuple[str, bytes]]] = {}
    for scope, file, data in contents:
        if scope.needs_trust:
            by_directory.setdefault(scope.directory, []).append((file, data))
    planned = [plan(root, directory, files) for directory, files in by_directory.items()]
    return [edit for edit in planned if edit.before != edit.after]


def earlier(root: str, trusts: trust_hot.Trust, name: str) -> bytes | None:
    """Return the content with which a memory was last trusted; None if memtui has not stored it."""
    contents = ContentStore(root)
    for digest, file in reversed(trusts.hashes.items()):
        if file == name:
            with contextlib.suppress(MemtuiError):
                return contents.read(digest)
    return None


def grant(
    root: str, directory: str, contents: Contents | None = None, always: bool | None = None, *, now: Now = clock_hot.now
) -> trust_hot.TrustStatus:
    """Trust these contents, or all of the directory's memories; `always`: as for `plan`. Raises MemtuiError."""
    edit = plan(root, directory, (read(directory) if contents is None else contents).items(), always)
    if edit.before != edit.after:
        names = sorted(name for digest, name in edit.after.items() if digest != ALWAYS)
        what = _name_some(names) if names else "a repository's memories"
        words = {(False, True): f"always trust {what}", (True, False): f"trust only the present versions of {what}"}
        change = (ALWAYS in edit.before, ALWAYS in edit.after)
        Journal(root, "cli", now).run("trust", [edit], words.get(change, acts.summary("trust", what)))
    return trust_hot.status(root, directory)


def revoke(root: str, directory: str, names: Sequence[str] | None = None, now: Now = clock_hot.now) -> bool:
    """Revoke trust in named memories or all; False if none was. Raises MemtuiError where all always are."""
    trusted = trust_hot.load(root, directory)
    if names is not None and trusted.always:
        hint = "Trust only the present versions, or trust nothing."
        raise MemtuiError("All memories of this repository are trusted, future versions too.", hint)
    revoked = {digest: name for digest, name in trusted.hashes.items() if names is None or name in names}
    if names is not None:  # also where the same text was trusted by another name
        present = {ids_hot.digest(data) for data in read(directory, names).values()}
        revoked |= {digest: name for digest, name in trusted.hashes.items() if digest in present}
    before = {**revoked, **({ALWAYS: True} if trusted.always else {})}
    if not before:
        return False
    edit = TrustEdit(trust_hot.path(root), before, {}, trust_hot.key(directory))
    Journal(root, "cli", now).run("untrust", [edit], acts.summary("untrust", _name_some(sorted(set(revoked.values())))))
    return True


def _name_some(names: Sequence[str]) -> str:
    stems = [name.removesuffix(locate_hot.SUFFIX) for name in names]
    return ", ".join(stems) if 0 < len(stems) <= MAX_NAMED else many(len(stems), "memory", "memories")
