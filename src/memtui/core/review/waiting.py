"""What waits in the inboxes of some projects: guidance, drafts (pending updates), and unfinished items."""

import dataclasses
import os
from collections.abc import Iterable, Sequence

from memtui.core.base import matching, paths
from memtui.core.base.finding import Finding, problem
from memtui.core.deliveries import log as delivery_log
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox import pending_update

KINDS = ("guidance", "updates", "items")


@dataclasses.dataclass(frozen=True)
class Waiting:
    """An entry of an inbox. `slug` is its project, None for the global inbox; `kind` is one of KINDS.

    `source` is the text that was read of the file: all of it, or the end of it from the byte `begin` on.
    """

    kind: str
    slug: str | None
    directory: str
    entry: inbox_format.Entry
    source: str = dataclasses.field(repr=False)
    begin: int = 0

    @property
    def id(self) -> str:
        return self.entry.id

    @property
    def key(self) -> str:
        """The name of an entry as long as it stands: two inboxes may hold the same hand-written words."""
        return f"{self.path}#{self.id}"

    @property
    def scope(self) -> str:
        """project or global"""
        return "project" if self.slug else "global"

    @property
    def path(self) -> str:
        """The file it stands in."""
        return f"{self.directory}/{inbox_format.FILES[self.kind]}"

    @property
    def text(self) -> str:
        """Its text without the evidence."""
        return self._parts()[0]

    @property
    def evidence(self) -> list[str]:
        """The lines at the end that show where a pending update comes from."""
        return self._parts()[1]

    def _parts(self) -> tuple[str, list[str]]:
        return pending_update.split(self.entry.text) if self.kind == "updates" else (self.entry.text, [])


def waiting_in(
    root: str,
    projects: Iterable[str | None],
    kinds: Sequence[str] = KINDS,
    unread: list[Finding] | None = None,
) -> list[Waiting]:
    """The entries of some projects' inboxes (None: the global one), in the order of the files.

    A file that can't be read keeps nobody from the others: it is passed over, and told in `unread`. So is the part that
    nobody reads of one that is too long.
    """
    found = []
    for slug in projects:
        directory = paths.inbox_dir(root, slug)
        for kind in kinds:
            path = f"{directory}/{inbox_format.FILES[kind]}"
            try:
                parts = inbox_format.sources(path, kind == "items")
            except NotADirectoryError:
                continue
            except OSError as error:
                if unread is not None:
                    unread.append(_unreadable(path, error))
                continue
            if unread is not None and (too_long := unread_part(path)):
                unread.append(too_long)
            for source, begin, entries in parts:
                found += [Waiting(kind, slug, directory, entry, source, begin) for entry in entries]
    return found


def unread_part(path: str) -> Finding | None:
    """The finding on an inbox file that is too long to be read whole; None for any other."""
    size = inbox_format.unread(path)
    if not size:
        return None
    return problem("inbox.part", path=path, most=inbox_format.MAX_BYTES >> 20, left=f"{size / (1 << 20):.1f}")


def _unreadable(path: str, error: OSError) -> Finding:
    if isinstance(error, PermissionError):
        return problem("inbox.closed", path=path)
    if os.path.isdir(path):
        return problem("inbox.directory", path=path)
    return problem("inbox.unread", path=path, why=error.strerror)


def find(entries: Sequence[Waiting], ref: str, what: str) -> Waiting:
    """The entry with this id, or a unique beginning or end of it. Raises as `matching.match`."""
    found = matching.match(ref, [each.id for each in entries], what)
    return next(each for each in entries if each.id == found)


def from_the_end(items: Iterable[Waiting]) -> list[Waiting]:
    """Entries in the order to take them out, from the end of a file to its beginning: what stands before each, and
    tells its place when it comes back, is still there."""
    return sorted(items, key=lambda item: (item.path, -item.entry.start))


def delivered(root: str, entry_id: str) -> str | None:
    """The id of the delivery that brought an entry, if one did."""
    for record in delivery_log.newest_first(root, needle=entry_id.encode()):
        items = record.get("items")
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and item.get("id") == entry_id and not item.get("left_out"):
                return str(record.get("id"))
    return None
