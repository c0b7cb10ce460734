"""Drafts and open items into the inbox: redacted, and nothing twice.

What was drafted once is noted in `extracted.jsonl` beside the inbox: a forked or resumed session, a compaction, or a
reader that starts over meets the same records again. A draft that a person rejected, or made a memory of, does not come
back.
"""

import posix
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memtui.core.base import clock, fastjson, fs, ids, paths
from memtui.core.client.conversation import normalised
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.inbox import pending_update
from memtui.core.places import locate
from memtui.core.redaction.redact import redact
from memtui.extract.signals import Signal

LEDGER = "extracted.jsonl"
LEDGER_LIMIT, LEDGER_KEPT = 1 << 20, 4000  # bytes, lines
MAX_DRAFTS = 20
MAX_MEMORIES = 2000
MEMORY_HEAD = 4096
LOCK_SECONDS = 5.0


def write_drafts(
    env: dict[str, str], cwd: str, drafts: Iterable[Signal], threshold: float, now: float | None = None
) -> list[str]:
    """Leave drafts in the inboxes of their scopes; the ids of the new entries. `threshold`: the least confidence.

    The same thing said again counts one more in `seen` while it waits; otherwise it is passed over. Raises OSError.
    """
    root = paths.root(env)
    project = paths.project_root(cwd)
    good = sorted((d for d in drafts if d.confidence >= threshold), key=lambda d: -d.confidence)[:MAX_DRAFTS]
    found: list[str] = []
    for scope, directory in (
        ("project", paths.inbox_dir(root, paths.slug(project))),
        ("global", paths.inbox_dir(root, None)),
    ):
        wanted = [_redacted(draft) for draft in good if draft.scope == scope]
        if wanted:
            with fs.Lock(directory + "/" + LEDGER + ".lock", LOCK_SECONDS):
                found += _write(env, cwd, directory, project, wanted, clock.now() if now is None else now)
    return found


def _redacted(draft: Signal) -> Signal:
    changes: dict[str, str] = {}
    for key in ("description", "body", "agent", "person", "name"):
        value: str = getattr(draft, key)
        changes[key] = redact(value)[0]
    if changes["name"] != draft.name or changes["description"] != draft.description:
        changes["name"] = "note-" + ids.content_hash(changes["description"])[:8]
    return replace(draft, **changes)  # type: ignore[arg-type]


def _write(
    env: dict[str, str], cwd: str, directory: str, project: str, drafts: Sequence[Signal], now: float
) -> list[str]:
    ledger = _lines(f"{directory}/{LEDGER}")
    evidence = {row.get("evidence") for row in ledger}
    hashes = {row.get("hash") for row in ledger}
    rejected = {normalised(str(row.get("text", ""))) for row in _lines(f"{directory}/{inbox_format.REJECTED}")}
    found: list[str] = []
    noted = b""
    for draft in drafts:
        key = normalised(draft.description)
        digest = ids.content_hash(key)
        met = draft.evidence or f"{draft.session}@{draft.time}"
        if met in evidence or not key:
            continue
        known = digest in hashes or key in rejected or _is_known(env, cwd, draft.scope, key)
        if not _seen_again(directory, key, met) and not known:
            found.append(
                inbox_file.append_entry(directory, "updates", _fields(draft, project), text_of(draft), now=now)
            )
        # Noted last: killed in between, the draft is met again where it waits.
        noted = fastjson.dumps({"v": 1, "hash": digest, "evidence": met, "time": clock.iso_seconds(now)}).encode()
        evidence.add(met)
        hashes.add(digest)
        fs.append(f"{directory}/{LEDGER}", noted + b"\n")
    if noted:
        _trim(f"{directory}/{LEDGER}")
    return found


def _fields(draft: Signal, project: str) -> dict[str, str]:
    fields = {
        "from": f"session:{draft.session}",
        "kind": draft.kind,
        "name": draft.name,
        "type": draft.type,
        "scope": draft.scope,
        "confidence": f"{draft.confidence:.2f}",
        "session": draft.session,
        "project": project,
        "evidence": draft.evidence,
    }
    return {key: value for key, value in fields.items() if value}


def text_of(draft: Signal) -> str:
    """The text of a pending update: description, body, and the lines of evidence."""
    said = zip(inbox_format.EVIDENCE, (draft.agent, draft.person), strict=True)
    evidence = [mark + " ".join(words.split()) for mark, words in said if words]
    return pending_update.join(draft.description + (f"\n\n{draft.body}" if draft.body else ""), evidence)


def _lines(path: str) -> list[dict[str, object]]:
    rows = [fastjson.loads_dict(line) for line in fs.read_or_empty(path, 4 * LEDGER_LIMIT).split(b"\n")]
    return [row for row in rows if row]


def _trim(path: str) -> None:
    size = posix.stat(path).st_size
    if size > LEDGER_LIMIT:
        # From a line that the limit cuts nothing is known any more.
        data = fs.read_bytes(path, offset=size - LEDGER_LIMIT).partition(b"\n")[2]
        fs.write_atomic(path, b"".join(data.splitlines(keepends=True)[-LEDGER_KEPT:]), durable=False)


def _seen_again(directory: str, key: str, evidence: str) -> bool:
    """Whether a pending update says this already; one that comes from another record counts one more."""
    met = False
    path = directory + "/" + inbox_format.FILES["updates"]
    if inbox_format.unread(path):
        return False  # too long to be gone through

    def change(source: str) -> str:
        nonlocal met
        for entry in inbox_format.parse(source):
            if normalised(entry.text.split("\n")[0]) == key:
                met = True
                if entry.fields.get("id") and entry.fields.get("evidence") != evidence:
                    seen = entry.fields.get("seen", "1")
                    fields = {**entry.fields, "seen": str(int(seen) + 1 if seen.isdigit() else 2)}
                    end = entry.start + len(entry.raw)
                    return source[: entry.start] + inbox_format.render(fields, entry.text) + source[end:]
                break
        return source

    inbox_file.rewrite(path, change)
    return met


def _is_known(env: dict[str, str], cwd: str, scope: str, key: str) -> bool:
    """Whether a memory that this project's sessions get begins with these words, or has them for its description."""
    directories = [locate.global_dir(env)]
    if scope == "project":
        directories += [locate.project_dir(env, cwd)[0], locate.auto_dir(env, cwd)]
    for directory in directories:
        try:
            names = locate.walk(directory)[:MAX_MEMORIES]
        except OSError:
            continue
        for name, problem in names:
            try:
                head = b"" if problem else fs.read_bytes(f"{directory}/{name}", MEMORY_HEAD)
            except OSError:
                continue
            text = inbox_format.decode(head)
            if any(normalised(re.sub(r"^\s*description:", "", line)) == key for line in text.splitlines()):
                return True
    return False


def write_items(
    env: dict[str, str],
    cwd: str,
    session_id: str,
    texts: Sequence[str],
    now: float | None = None,
) -> bool:
    """Make `texts` the open items of this session in its project's inbox; True if the file changed.

    They replace those of earlier sessions. What is marked `kept`, and what a person or a script left without a
    session, stays. With no texts only this session's own items go. An item that was there keeps its id. Raises OSError.
    """
    seconds = clock.now() if now is None else now
    root, project = paths.root(env), paths.project_root(cwd)
    path = paths.inbox_dir(root, paths.slug(project)) + "/" + inbox_format.FILES["items"]
    wanted: dict[str, str] = {}
    for text in texts:
        line = redact(" ".join(text.split()))[0]
        wanted.setdefault(normalised(line), line)
    if not wanted and not fs.read_or_empty(path, 1):
        return False

    def change(source: str) -> str:
        entries = inbox_format.parse(source, items=True)
        old: dict[str, inbox_format.Entry] = {}
        for entry in reversed(entries):
            owner = entry.fields.get("session")
            if not owner or entry.fields.get("state") == "kept":
                wanted.pop(normalised(entry.text), None)
            elif wanted or owner == session_id:
                old[normalised(entry.text)] = entry
                if owner != session_id or normalised(entry.text) not in wanted:
                    source = source[: entry.start] + source[entry.start + len(entry.raw) :]
        mine = {key for key, entry in old.items() if entry.fields.get("session") == session_id}
        new = ""
        for key, text in wanted.items():
            if key not in mine:
                fields = {
                    "id": old[key].id if key in old else ids.new_id(seconds),
                    "time": old[key].fields.get("time", "") if key in old else "",
                    "from": f"session:{session_id}",
                    "session": session_id,
                    "project": project,
                }
                fields["time"] = fields["time"] or clock.iso_seconds(seconds)
                new += inbox_format.render(fields, text)
        return source + ("\n" if new and source and not source.endswith("\n") else "") + new

    return inbox_file.rewrite(path, change)
