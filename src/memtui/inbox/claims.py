"""Take guidance for a delivery by an atomic rename: of two prompts at once one gets it. See reconciliation.py."""

import posix

from memtui.base import fs, session_state
from memtui.inbox import format as inbox_format

# How long a hook waits for the lock of an inbox.
LOCK_SECONDS = 0.05
# An entry that came back this often is not delivered again by itself: something other than chance stops it.
MAX_ATTEMPTS = 3
MIN_SESSION_PREFIX = 4
ADDRESSES = ("session", "agent", "path")
# In `for`: only sessions started by a person, not those of scripts (`claude -p`, the SDK).
PEOPLE = "people"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Fits = Callable[[inbox_format.Entry], bool]


class Asker:
    """A session that asks for guidance. `agent`: its agent's name, or empty; `paths`: those that a tool touches;
    `personal`: whether a person holds it; `top`: the work tree that path globs are relative to; `urgent_only`: whether
    it asks in the middle of a turn; `root`: memtui's, where the session's state says of which sessions it is a copy."""

    __slots__ = ("agent", "now", "paths", "personal", "root", "session_id", "top", "urgent_only")

    def __init__(self, session_id: str, agent: str, top: str, now: float) -> None:
        self.session_id = session_id
        self.agent = agent
        self.top = top
        self.now = now
        self.paths: list[str] = []
        self.personal = False
        self.urgent_only = False
        self.root = ""


def addressed(entry: inbox_format.Entry, asker: Asker) -> "str | None":
    """Return the reason why an entry is for the asker; None if it is not, not yet, or no longer."""
    if entry.expired(asker.now) or "\0" in entry.text:
        return None
    if entry.count("attempts") >= MAX_ATTEMPTS or _has(entry, asker):
        return None
    reasons = []
    touches = False
    for address in entry.fields.get("for", "").split(","):
        word = address.strip()
        if not word:
            continue
        kind, _, name = word.partition(":")
        if word == PEOPLE and asker.personal:
            reasons.append("for people")
        elif kind == "session" and len(name) >= MIN_SESSION_PREFIX and asker.session_id.startswith(name):
            reasons.append("for this session")
        elif kind == "agent" and name and name == asker.agent:
            reasons.append("for agent " + name)
        elif kind == "path" and _touched(name, asker):
            reasons.append("a tool touched " + name)
            touches = True
        else:
            return None
    if entry.flag("urgent"):
        reasons.append("urgent")
    elif asker.urgent_only and not touches:
        return None
    return ", ".join(reasons) or "next prompt"


def may_get(entry: inbox_format.Entry, asker: Asker) -> bool:
    """Tell whether the asker can get an entry, also if first a tool has to touch its paths."""
    words = [word for word in entry.fields.get("for", "").split(",") if not word.strip().startswith("path:")]
    fields = {**entry.fields, "for": ",".join(words)}
    return addressed(inbox_format.Entry(entry.id, fields, entry.text, entry.raw, entry.start), asker) is not None


def told(entry: inbox_format.Entry) -> "list[str]":
    """Return the sessions that an entry was told of and whose answer was broken off: a resume brings it there again."""
    return entry.fields.get("told", "").split()


def _has(entry: inbox_format.Entry, asker: Asker) -> bool:
    """Tell whether the transcript of the asker, or of a session that it is a copy of, holds the entry."""
    sessions = told(entry)
    if not sessions:
        return False
    origins = session_state.load(asker.root, asker.session_id).get("copy_of") if asker.root else None
    own = [asker.session_id, *(origins if isinstance(origins, list) else ())]
    return any(session_state.safe(str(name)) in sessions for name in own)


def no_addressee(entry: inbox_format.Entry) -> str:
    """Return the first word of `for` that is no addressee, so that the entry is never delivered; empty if none is."""
    for address in entry.fields.get("for", "").split(","):
        kind, _, name = address.strip().partition(":")
        least = MIN_SESSION_PREFIX if kind == "session" else 1
        if address.strip() not in {"", PEOPLE} and (kind not in ADDRESSES or len(name) < least):
            return address.strip()
    return ""


def _touched(pattern: str, asker: Asker) -> bool:
    if not asker.paths:
        return False
    from memtui.base import globs

    return any(globs.matches(pattern, path, asker.top) for path in asker.paths)


class Claim:
    """Guidance that one delivery took, as `claimed/<name>`: `size` bytes were read; `entries` have reasons."""

    __slots__ = ("directory", "entries", "name", "size")

    def __init__(self, directory: str, name: str, size: int, entries: "list[tuple[inbox_format.Entry, str]]") -> None:
        self.directory = directory
        self.name = name
        self.size = size
        self.entries = entries

    @property
    def scope(self) -> str:
        return inbox_format.scope_of(self.directory)

    @property
    def path(self) -> str:
        return f"{self.directory}/{inbox_format.CLAIMED}/{self.name}"


def peek(directory: str, asker: Asker) -> "list[tuple[inbox_format.Entry, str]]":
    """List the guidance for the asker, each with its reason, without taking it. Raises OSError, also for a symlink."""
    path = directory + "/" + inbox_format.FILES["guidance"]
    try:
        stat_result = posix.lstat(path)
    except FileNotFoundError:
        return []
    if stat_result.st_mode & fs.S_IFMT == fs.S_IFLNK:
        raise OSError(22, "is a symlink", path)
    return [(entry, reason) for entry in inbox_format.read(path) if (reason := addressed(entry, asker)) is not None]


def take(directory: str, asker: Asker, delivery_id: str, fits: "Fits") -> "Claim | None":
    """Take the guidance for the asker; None if there is none, or another process was faster. Raises OSError."""
    if not any(fits(entry) for entry, _ in peek(directory, asker)):
        return None
    path = directory + "/" + inbox_format.FILES["guidance"]
    name = f"{delivery_id}~{session_state.safe(asker.session_id)}~{posix.getpid()}.md"
    claim = Claim(directory, name, 0, [])
    lock = fs.Lock(directory + "/" + inbox_format.LOCK_NAME, LOCK_SECONDS)
    try:
        lock.__enter__()
    except fs.LockTimeoutError:
        # The process that rewrites the inbox has read these entries and would put them back. The next prompt gets them.
        return None
    except OSError:
        pass  # a file system without locks, on which nobody rewrites either
    try:
        try:
            posix.rename(path, claim.path)
        except FileNotFoundError:
            fs.makedirs(f"{directory}/{inbox_format.CLAIMED}")
            try:
                posix.rename(path, claim.path)
            except FileNotFoundError:
                return None
        data = fs.read(claim.path, "claim")
        claim.size = len(data)
        others = []
        for entry in inbox_format.parse(inbox_format.decode(data)):
            reason = addressed(entry, asker)
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


def put_back(directory: str, entries: "list[inbox_format.Entry]", locked: bool = False) -> None:
    """Append entries to their inbox, with marks and id. `locked`: the caller has its lock. Raises OSError."""
    text = "".join([inbox_format.standalone(e) for e in entries])
    if not text:
        return
    from memtui.inbox import file as inbox_file

    path = directory + "/" + inbox_format.FILES["guidance"]
    if locked:
        # Not synced: the claim still holds the entries, and the inbox is synced before the claim is removed.
        if not fs.create(path, inbox_format.encode(text)):
            inbox_file.add_locked(path, text)
    else:
        try:
            with fs.Lock(directory + "/" + inbox_format.LOCK_NAME, LOCK_SECONDS):
                inbox_file.add_locked(path, text)
        except fs.LockTimeoutError:
            inbox_file.append_text(directory, "guidance", text, 0.0)


def drop(claim: Claim) -> None:
    """Remove a claim whose entries are all back in the inbox, unless it may still grow. Raises OSError."""
    fd = fs.open_regular(claim.path, ours=True, follow=False)
    try:
        if posix.fstat(fd).st_nlink > 1 or not fs.quiet(fd):
            return
        put_back(claim.directory, inbox_format.parse(inbox_format.decode(fs.read_fd(fd, claim.size))), locked=True)
        fs.sync(claim.directory + "/" + inbox_format.FILES["guidance"])
        posix.unlink(claim.path)
    finally:
        posix.close(fd)
