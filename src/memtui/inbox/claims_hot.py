"""Take guidance for a delivery by an atomic rename: of two prompts at once one gets it. See reconciliation_hot.py."""

import posix

from memtui.base import fs_hot, session_state_hot
from memtui.inbox import format_hot

LOCK_SECONDS = 0.05  # how long a hook waits for the lock of an inbox
# An entry that came back this often is not delivered again by itself: something other than chance stops it.
MAX_ATTEMPTS = 3
MIN_SESSION_PREFIX = 4
ADDRESSES = ("session", "agent", "path", "machine")  # of another machine: sync/notes.py
PEOPLE = "people"  # in `for`: only sessions started by a person, not those of scripts (`claude -p`, the SDK)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Fits = Callable[[format_hot.Entry], bool]


class Recipient:
    """A session that may get guidance. `agent`: its agent's name, or empty; `paths`: those that a tool touches;
    `personal`: whether a person holds it; `top`: the work tree that path globs are relative to; `urgent_only`: whether
    it asks in the middle of a turn; `root`: memtui's, where the session's state says of which sessions it is a copy."""

    __slots__ = ("agent", "now", "paths", "personal", "root", "session_id", "top", "urgent_only")

    def __init__(self, session_id: str, agent: str, top: str, now: float) -> None:
        self.session_id, self.agent, self.top, self.now = session_id, agent, top, now
        self.paths: list[str] = []
        self.personal, self.urgent_only, self.root = False, False, ""


def addressed(entry: format_hot.Entry, recipient: Recipient) -> "str | None":
    """Return the reason why an entry is for the recipient; None if it is not, not yet, or no longer."""
    if entry.expired(recipient.now) or "\0" in entry.text:
        return None
    if entry.count("attempts") >= MAX_ATTEMPTS or _has(entry, recipient):
        return None
    reasons = []
    touches = False
    for address in entry.fields.get("for", "").split(","):
        word = address.strip()
        if not word:
            continue
        kind, _, name = word.partition(":")
        if word == PEOPLE and recipient.personal:
            reasons.append("for people")
        elif kind == "session" and len(name) >= MIN_SESSION_PREFIX and recipient.session_id.startswith(name):
            reasons.append("for this session")
        elif kind == "agent" and name and name == recipient.agent:
            reasons.append("for agent " + name)
        elif kind == "path" and _touched(name, recipient):
            reasons.append("a tool touched " + name)
            touches = True
        else:
            return None
    if entry.flag("urgent"):
        reasons.append("urgent")
    elif recipient.urgent_only and not touches:
        return None
    return ", ".join(reasons) or "next prompt"


def may_get(entry: format_hot.Entry, recipient: Recipient) -> bool:
    """Tell whether the recipient can get an entry, also if first a tool has to touch its paths."""
    words = [word for word in entry.fields.get("for", "").split(",") if not word.strip().startswith("path:")]
    fields = {**entry.fields, "for": ",".join(words)}
    return addressed(format_hot.Entry(entry.id, fields, entry.text, entry.raw, entry.start), recipient) is not None


def told(entry: format_hot.Entry) -> "list[str]":
    """Return the sessions that an entry was told of and whose answer was broken off: a resume brings it there again."""
    return entry.fields.get("told", "").split()


def _has(entry: format_hot.Entry, recipient: Recipient) -> bool:
    """Tell whether the transcript of the recipient, or of a session that it is a copy of, holds the entry."""
    sessions = told(entry)
    if not sessions:
        return False
    origins = session_state_hot.load(recipient.root, recipient.session_id).copy_of if recipient.root else []
    return any(session_state_hot.safe(str(name)) in sessions for name in [recipient.session_id, *origins])


def no_addressee(entry: format_hot.Entry) -> str:
    """Return the first word of `for` that is no addressee, so that the entry is never delivered; empty if none is."""
    for address in entry.fields.get("for", "").split(","):
        kind, _, name = address.strip().partition(":")
        least = MIN_SESSION_PREFIX if kind == "session" else 1
        if address.strip() not in {"", PEOPLE} and (kind not in ADDRESSES or len(name) < least):
            return address.strip()
    return ""


def _touched(pattern: str, recipient: Recipient) -> bool:
    if not recipient.paths:
        return False
    from memtui.base import globs_hot

    return any(globs_hot.matches(pattern, path, recipient.top) for path in recipient.paths)


class Claim:
    """Guidance that one delivery took, as `claimed/<name>`: `size` bytes were read; `entries` have reasons."""

    __slots__ = ("directory", "entries", "name", "size")

    def __init__(self, directory: str, name: str, size: int, entries: "list[tuple[format_hot.Entry, str]]") -> None:
        self.directory, self.name, self.size, self.entries = directory, name, size, entries

    @property
    def scope(self) -> str:
        return format_hot.scope_of(self.directory)

    @property
    def path(self) -> str:
        return f"{self.directory}/{format_hot.CLAIMED}/{self.name}"


def peek(directory: str, recipient: Recipient) -> "list[tuple[format_hot.Entry, str]]":
    """List the guidance for the recipient, each with its reason, without taking it. Raises OSError."""
    return [(entry, reason) for entry, reason in _with_reasons(_source(directory), recipient) if reason is not None]


def _source(directory: str) -> str:
    """Read the guidance of an inbox; empty if there is none. Raises OSError, also for a symlink."""
    path = directory + "/" + format_hot.FILES["guidance"]
    try:
        stat_result = posix.lstat(path)
    except FileNotFoundError:
        return ""
    if stat_result.st_mode & fs_hot.S_IFMT == fs_hot.S_IFLNK:
        raise OSError(22, "is a symlink", path)
    return format_hot.source(path)


def _with_reasons(source: str, recipient: Recipient) -> "list[tuple[format_hot.Entry, str | None]]":
    return [(entry, addressed(entry, recipient)) for entry in format_hot.parse(source)] if source else []


def take(directory: str, recipient: Recipient, delivery_id: str, fits: "Fits") -> "Claim | None":
    """Take the guidance for the recipient; None if there is none, or another process was faster. Raises OSError."""
    source = _source(directory)
    entries = _with_reasons(source, recipient)
    if not any(reason is not None and fits(entry) for entry, reason in entries):
        return None
    path = directory + "/" + format_hot.FILES["guidance"]
    name = f"{delivery_id}~{session_state_hot.safe(recipient.session_id)}~{posix.getpid()}.md"
    claim = Claim(directory, name, 0, [])
    lock = fs_hot.Lock(directory + "/" + format_hot.LOCK_NAME, LOCK_SECONDS)
    try:
        lock.__enter__()
    except fs_hot.LockTimeoutError:
        # The process that rewrites the inbox has read these entries and would put them back. The next prompt gets them.
        return None
    except OSError:
        pass  # a file system without locks, on which nobody rewrites either
    try:
        try:
            posix.rename(path, claim.path)
        except FileNotFoundError:
            fs_hot.makedirs(f"{directory}/{format_hot.CLAIMED}")
            try:
                posix.rename(path, claim.path)
            except FileNotFoundError:
                return None
        data = fs_hot.read(claim.path, "claim")
        claim.size = len(data)
        others = []
        text = format_hot.decode(data)
        for entry, reason in entries if text == source else _with_reasons(text, recipient):
            if reason is not None and fits(entry):
                claim.entries.append((entry, reason))
            else:
                others.append(entry)
        put_back(directory, others, locked=lock.fd >= 0)
        if claim.entries:
            return claim
        drop(claim)
        return None
    finally:
        lock.__exit__()


def put_back(directory: str, entries: "list[format_hot.Entry]", locked: bool = False) -> None:
    """Append entries to their inbox, with marks and id. `locked`: the caller has its lock. Raises OSError."""
    text = "".join([format_hot.standalone(e) for e in entries])
    if not text:
        return
    from memtui.inbox import file_hot

    path = directory + "/" + format_hot.FILES["guidance"]
    if locked:
        # Not synced: the claim still holds the entries, and the inbox is synced before the claim is removed.
        if not fs_hot.create(path, format_hot.encode(text)):
            file_hot.add_locked(path, text)
    else:
        try:
            with fs_hot.Lock(directory + "/" + format_hot.LOCK_NAME, LOCK_SECONDS):
                file_hot.add_locked(path, text)
        except fs_hot.LockTimeoutError:
            file_hot.append_text(directory, "guidance", text, 0.0)


def drop(claim: Claim) -> None:
    """Remove a claim whose entries are all back in the inbox, unless it may still grow. Raises OSError."""
    fd = fs_hot.open_regular(claim.path, ours=True, follow=False)
    try:
        if posix.fstat(fd).st_nlink > 1 or not fs_hot.quiet(fd):
            return
        put_back(claim.directory, format_hot.parse(format_hot.decode(fs_hot.read_fd(fd, claim.size))), locked=True)
        fs_hot.sync(claim.directory + "/" + format_hot.FILES["guidance"])
        posix.unlink(claim.path)
    finally:
        posix.close(fd)
