"""What waits in inboxes: notes, drafts (pending updates), todos; and until when what waits is hidden."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtui.base import clock_hot, dates, fastjson_hot, fs_hot, paths_hot, short_ids
from memtui.base.dates import NEVER
from memtui.base.errors import UsageError
from memtui.base.finding import Finding, problem
from memtui.base.storage import read_or_none
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot
from memtui.store.journal import acts

if TYPE_CHECKING:
    from memtui.store.journal.journal import Journal

KINDS = ("guidance", "updates", "items")
# How sure it is of a draft that does not say.
UNSURE = 0.7
# How likely a draft lasts that nobody has scored for this.
UNSCORED = 0.5
TAKEN = "30m, 2h, 18:00, tomorrow, friday, 3d, 2w, 2030-12-31, 2030-12-31 14:00"
HINT = f"Use one of: {TAKEN}, now."
FORMAT = 1
# The newest that are kept.
MOST = 10_000


@dataclass(frozen=True)
class Waiting:
    """An entry of an inbox: its kind, its project's `slug` (None: global), and the `source` of its file."""

    kind: str
    slug: str | None
    directory: str
    entry: format_hot.Entry
    source: str = field(repr=False)

    @property
    def id(self) -> str:
        return self.entry.id

    @property
    def key(self) -> str:
        """The entry's name among those of all inboxes: the id of hand-written text is a hash, so two may share it."""
        return f"{self.path}#{self.entry.id}"

    @property
    def scope(self) -> str:
        return "project" if self.slug else "global"

    @property
    def path(self) -> str:
        return f"{self.directory}/{format_hot.FILES[self.kind]}"

    @property
    def text(self) -> str:
        return self._parts()[0]

    @property
    def evidence(self) -> list[str]:
        """The quotes at the end of a pending update that show where it comes from."""
        return self._parts()[1]

    def until(self, now: float) -> float | None:
        """Return when a snoozed entry shows again, in seconds since the epoch; None for one that is not snoozed."""
        return clock_hot.parse(self.entry.fields.get("until")) if self.entry.snoozed(now) else None

    def _parts(self) -> tuple[str, list[str]]:
        return inbox_drafts.split_evidence(self.entry.text) if self.kind == "updates" else (self.entry.text, [])


# By the path of a file that was read whole: its stamp, and its entries.
Known = dict[str, tuple[object, list[Waiting]]]


def waiting_in(
    root: str,
    projects: Iterable[str | None],
    kinds: Sequence[str] = KINDS,
    unread: list[Finding] | None = None,
    cache: Known | None = None,
) -> list[Waiting]:
    """List the entries of projects' inboxes (None: global). `cache`: of earlier calls; `unread` gets findings."""
    rows = []
    for slug in projects:
        directory = paths_hot.inbox_dir(root, slug)
        for kind in kinds:
            path, stamp = f"{directory}/{format_hot.FILES[kind]}", 0
            if cache is not None:
                stamp = fs_hot.stamp(path)
                if path in cache and cache[path][0] == stamp:
                    rows += cache[path][1]
                    continue
            try:
                source = format_hot.source(path)
            except NotADirectoryError:
                continue
            except OSError as error:
                if unread is not None:
                    unread.append(_unreadable(path, error))
                continue
            if unread is not None and not source and format_hot.is_too_long(path):
                unread.append(problem("inbox.part", path=path, most=format_hot.MAX_BYTES >> 20))
                continue
            entries = format_hot.parse(source, kind == "items")
            here = [Waiting(kind, slug, directory, entry, source) for entry in entries]
            rows += here
            if cache is not None:
                cache[path] = (stamp, here)
    return rows


def worth(item: Waiting) -> float:
    """Return how much a draft is worth keeping, from 0 to 1: how likely it is meant, and lasts."""
    durable = item.entry.fraction("durable")
    return confidence(item) * (UNSCORED if durable is None else durable)


def confidence(item: Waiting) -> float:
    """Return how sure the rules are of a draft, from 0 to 1."""
    value = item.entry.fraction("confidence")
    if value is None:
        return 0.0 if "confidence" in item.entry.fields else UNSURE
    return value


def best_first(items: Iterable[Waiting]) -> list[Waiting]:
    """Sort entries by kind; drafts: those that are most worth keeping and newest first; the others as they are."""

    def place(item: Waiting) -> tuple[int, float, float]:
        kind = KINDS.index(item.kind)
        return (kind, -worth(item), -(item.entry.time() or 0.0)) if item.kind == "updates" else (kind, 0.0, 0.0)

    return sorted(items, key=place)


def homes(env: dict[str, str], items: Iterable[Waiting]) -> dict[str, str | None]:
    """Return the paths of entries' projects by slug: as an entry names it, else as transcripts do; else None."""
    from memtui.client import projects

    names_by_root: dict[str, str] = {}
    for item in items:
        if item.slug:
            names_by_root[item.slug] = item.entry.fields.get("project", "") or names_by_root.get(item.slug, "")
    unnamed = [slug for slug, home in names_by_root.items() if not home]
    return {**names_by_root, **(projects.paths_of(env, unnamed) if unnamed else {})}


def _unreadable(path: str, error: OSError) -> Finding:
    if isinstance(error, PermissionError):
        return problem("inbox.closed", path=path)
    if os.path.isdir(path):
        return problem("inbox.directory", path=path)
    return problem("inbox.unread", path=path, why=error.strerror)


def find(entries: Sequence[Waiting], ref: str, what: str) -> Waiting:
    """Find the entry with this id, or a unique beginning or end of it. Raises as `short_ids.match`."""
    entry_id = short_ids.match(ref, [entry.id for entry in entries], what)
    return next(entry for entry in entries if entry.id == entry_id)


def from_the_end(items: Iterable[Waiting]) -> list[Waiting]:
    """Sort entries from the end of each file: so the lines before each, by which undo finds its place, are there."""
    return sorted(items, key=lambda item: (item.path, -item.entry.start))


def hidden_until(words: str, now: float) -> float | None:
    """Return when what is hidden shows again (seconds since the epoch), None for `now`. Raises UsageError."""
    if not words:
        raise UsageError("Type a time, such as 30m or tomorrow.")
    seconds = dates.read(words, now, ahead=True)
    if seconds is None:
        raise UsageError(f"“{words}” is not a time.", HINT)
    if seconds == NEVER:
        raise UsageError("A draft can't wait for ever.", "Reject it instead, or " + HINT[0].lower() + HINT[1:])
    if seconds < now:
        raise UsageError(f"“{words}” is in the past.", HINT)
    return seconds if seconds > now else None


def later_path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/later.json"


def load_hidden(root: str) -> dict[str, float]:
    """Read until when what is hidden, in seconds since the epoch, NEVER for good; nothing if it can't be read."""
    try:
        rows = _rows(fs_hot.read_or_empty(later_path(root)))
        times = {key: NEVER if words == "never" else clock_hot.parse(words) for key, words in rows.items()}
        return {key: until for key, until in times.items() if until}
    except OSError:
        return {}


def _rows(data: bytes) -> dict[str, str]:
    rows = fastjson_hot.loads_dict(data).get("until") if data.strip() else None
    # An empty key would hide each entry, which has none here.
    return {str(key): str(words) for key, words in rows.items() if key} if isinstance(rows, dict) else {}


def hiding_step(what: str, until: float | None, now: float) -> str:
    """Return what the list of changes calls it that something is hidden until a time, for good, or shown again."""
    if until in {None, NEVER}:
        return f"bring back {what}" if until is None else acts.summary("reject", what)
    return acts.summary("snooze", f"until {dates.day_and_time(until, now)}: {what}")


def hide(journal: "Journal", keys: Collection[str], until: float | None, what: str) -> None:
    """Hide what has these keys until a time (None: show it) as one step of undo, called `what`. Raises MemtuiError."""
    from memtui.store.journal.changes import FileChange

    file = later_path(journal.root)
    before = read_or_none(file)
    rows = {key: words for key, words in _rows(before or b"").items() if key not in keys}
    if until is not None:
        rows |= dict.fromkeys(filter(None, keys), "never" if until == NEVER else clock_hot.iso_seconds(until))
    newest = dict(list(rows.items())[-MOST:])
    after = fastjson_hot.dumps({"v": FORMAT, "until": newest}).encode() + b"\n"
    if after != before:
        journal.run("snooze", [FileChange(file, before, after)], what)
