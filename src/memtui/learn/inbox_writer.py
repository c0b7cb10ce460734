"""Write drafts and open items to the inboxes, without secrets, and nothing twice.

`extracted.jsonl` beside an inbox lists what was drafted: forks, compactions and new readers meet the same records
again. A draft that was approved does not come back, a rejected one only where the person says it in another session,
and one that must never be drafted again not in other words either."""

import posix
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import file_hot, format_hot
from memtui.learn import signals
from memtui.learn.saved_memories import SavedTexts
from memtui.learn.signals import Signal
from memtui.recall import topics
from memtui.redact.redact import redact

LEDGER = "extracted.jsonl"
LEDGER_LIMIT, LEDGER_KEPT = 1 << 20, 4000  # bytes, lines
MAX_DRAFTS = 20
LOCK_SECONDS = 5.0


def write_drafts(env: dict[str, str], cwd: str, drafts: Iterable[Signal], threshold: float) -> list[str]:
    """Write drafts of at least `threshold` to their inboxes; return the ids of new entries. Raises OSError."""
    root = paths_hot.root(env)
    project = paths_hot.project_root(cwd)
    good = sorted((d for d in drafts if d.confidence >= threshold), key=lambda d: -d.confidence)[:MAX_DRAFTS]
    draft_ids: list[str] = []
    for scope, slug in (("project", paths_hot.project_key(project)), ("global", None)):
        directory = paths_hot.inbox_dir(root, slug)
        drafts_of_scope = [redacted(draft) for draft in good if draft.scope == scope]
        if drafts_of_scope:
            with fs_hot.Lock(directory + "/" + LEDGER + ".lock", LOCK_SECONDS):
                draft_ids += _write(env, cwd, directory, project, drafts_of_scope)
    return draft_ids


def redacted(draft: Signal) -> Signal:
    texts = ("description", "body", "agent", "person", "name", "request")
    changes = {key: redact(getattr(draft, key))[0] for key in texts}
    if changes["name"] != draft.name or changes["description"] != draft.description:
        changes["name"] = "note-" + ids_hot.content_hash(changes["description"])[:8]
    return replace(draft, **changes)  # type: ignore[arg-type]


def _write(env: dict[str, str], cwd: str, directory: str, project: str, drafts: Sequence[Signal]) -> list[str]:
    now = clock_hot.now()
    ledger = inbox_drafts.lines_of(f"{directory}/{LEDGER}")
    evidence = {row.get("evidence") for row in ledger}
    hashes = {row.get("hash") for row in ledger}
    earlier_drafts = {(row.get("hash"), row.get("session")) for row in ledger}
    rejections = inbox_drafts.rejections(directory)
    never = inbox_drafts.rejected(directory, never=True)
    unwanted = {*inbox_drafts.rejections(directory, never=True), *(ids_hot.content_hash(normalised(t)) for t in never)}
    texts = SavedTexts(env, cwd)
    draft_ids: list[str] = []
    noted = b""
    for draft in drafts:
        key = normalised(draft.description)
        digest = ids_hot.content_hash(key)
        origins = [origin for origin in draft.origins if origin not in evidence]
        if not origins or not key:
            continue
        rejected = "" if (digest, draft.session) in earlier_drafts else rejections.get(digest, "")
        is_known = (digest in hashes and not rejected) or digest in unwanted or texts.know(draft)
        is_known = is_known or inbox_drafts.first_same(draft.description, never) is not None
        if not _seen_again(directory, draft, origins) and not is_known:
            fields, text = texts.edit(draft) or ({}, "")
            fields = fields_of(draft, project) | ({"rejected": rejected} if rejected else {}) | fields
            of_all = fields["scope"] == "global"
            home = paths_hot.inbox_dir(paths_hot.root(env), None if of_all else paths_hot.project_key(project))
            draft_ids.append(file_hot.add_entry(home, "updates", fields, text_of(draft, text), now=now))
        # Noted last: after a kill in between, the draft is found again where it waits.
        row = {"v": 1, "hash": digest, "time": clock_hot.iso_seconds(now), "session": draft.session}
        noted = b"".join(fastjson_hot.dumps({**row, "evidence": text}).encode() + b"\n" for text in origins)
        evidence.update(origins)
        hashes.add(digest)
        earlier_drafts.add((digest, draft.session))
        fs_hot.append(f"{directory}/{LEDGER}", noted)
    size = posix.stat(f"{directory}/{LEDGER}").st_size if noted else 0
    if size > LEDGER_LIMIT:
        # The line that the limit cuts is dropped.
        data = fs_hot.read_bytes(f"{directory}/{LEDGER}", offset=size - LEDGER_LIMIT).partition(b"\n")[2]
        rows = data.splitlines(keepends=True)[-LEDGER_KEPT:]
        fs_hot.write_atomic(f"{directory}/{LEDGER}", b"".join(rows), durable=False)
    return draft_ids


def fields_of(draft: Signal, project: str) -> dict[str, str]:
    """Return the fields of a pending update, those that say something."""
    seen = str(1 + len(draft.repeats)) if draft.repeats else ""
    durable = "" if draft.durable is None else f"{draft.durable:.2f}"
    request = topics.clause(draft.description) or draft.request
    fields = {"from": f"session:{draft.session}", "kind": draft.kind, "name": draft.name, "type": draft.type}
    fields |= {"scope": draft.scope, "confidence": f"{draft.confidence:.2f}", "seen": seen, "durable": durable}
    fields |= {"session": draft.session, "project": project, "evidence": draft.evidence, "request": request}
    return {key: value for key, value in fields.items() if value}


def text_of(draft: Signal, text: str = "") -> str:
    """Return the text of a pending update: description and body, or another `text`, and the lines of evidence."""
    excerpts = zip(format_hot.EVIDENCE, (draft.agent, draft.person), strict=True)
    evidence = [mark + " ".join(words.split()) for mark, words in excerpts if words]
    own = draft.description + (f"\n\n{draft.body}" if draft.body else "")
    return inbox_drafts.join_evidence(text or own, evidence)


def _seen_again(directory: str, draft: Signal, origins: Sequence[str]) -> bool:
    """Return whether a pending update says nearly this already; it then counts the records, and is surer."""
    found = False
    path = directory + "/" + format_hot.FILES["updates"]
    if format_hot.is_too_long(path):
        return False  # too long to search

    def change(source: str) -> str:
        nonlocal found
        entry = _says(format_hot.parse(source), draft.description)
        if entry is None:
            return source
        found = True
        if not entry.fields.get("id") or entry.fields.get("evidence") in origins:
            return source  # written by hand, or just before the worker was killed
        fields = {**entry.fields, "seen": str(entry.count("seen", 1) + len(origins))}
        sure = entry.fraction("confidence")
        if sure is not None:
            fields["confidence"] = f"{signals.said_again(max(sure, draft.confidence), len(origins)):.2f}"
        end = entry.start + len(entry.raw)
        return source[: entry.start] + format_hot.render(fields, entry.text) + source[end:]

    file_hot.rewrite(path, change)
    return found


def _says(entries: Sequence[format_hot.Entry], description: str) -> format_hot.Entry | None:
    """Return the pending update that says something already; one that was extracted may say it in other words."""
    key = normalised(description)
    exact = next((entry for entry in entries if normalised(inbox_drafts.statement(entry)) == key), None)
    if exact is not None:
        return exact
    drafts = [entry for entry in entries if "confidence" in entry.fields]
    at = inbox_drafts.first_same(description, map(inbox_drafts.statement, drafts))
    return None if at is None else drafts[at]


def withdraw_saved(env: dict[str, str], cwd: str, session_id: str) -> None:
    """Remove the drafts of a session that wait, if what they say was saved since they were made. Raises OSError."""
    root, slug = paths_hot.root(env), paths_hot.project_key(paths_hot.project_root(cwd))
    texts = None
    for path in (f"{paths_hot.inbox_dir(root, of)}/{format_hot.FILES['updates']}" for of in (slug, None)):
        gone_ids = set()
        for entry in format_hot.read(path):
            if entry.fields.get("session") == session_id and entry.fields.get("id") and "confidence" in entry.fields:
                texts = texts or SavedTexts(env, cwd)
                gone = texts.say(inbox_drafts.statement(entry), entry.fields.get("time"))
                gone_ids |= {entry.id} if gone else set()
        if gone_ids:
            file_hot.rewrite(path, partial(_without, gone_ids))


def _without(ids: Collection[str], source: str) -> str:
    for entry in reversed(format_hot.parse(source)):
        if entry.id in ids:
            source = source[: entry.start] + source[entry.start + len(entry.raw) :]
    return source


def write_items(env: dict[str, str], cwd: str, session_id: str, texts: Sequence[str]) -> bool:
    """Make `texts` the open items of this session in its project's inbox, in place of those of earlier sessions;
    without texts only its own are removed. Return whether the file changed. Items that are `kept`, or written without a
    session, stay; one that was there keeps its id. Raises OSError."""
    now = clock_hot.now()
    root, project = paths_hot.root(env), paths_hot.project_root(cwd)
    path = paths_hot.inbox_dir(root, paths_hot.project_key(project)) + "/" + format_hot.FILES["items"]
    wanted: dict[str, str] = {}
    for text in texts:
        line = redact(" ".join(text.split()))[0]
        wanted.setdefault(normalised(line), line)
    if not wanted and not fs_hot.read_or_empty(path, 1):
        return False

    def change(source: str) -> str:
        entries = format_hot.parse(source, items=True)
        old: dict[str, format_hot.Entry] = {}
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
                before = old.get(key)
                fields = {"id": before.id if before else ids_hot.new_id(now)}
                fields["time"] = (before.fields.get("time") if before else "") or clock_hot.iso_seconds(now)
                fields |= {"from": f"session:{session_id}", "session": session_id, "project": project}
                new += format_hot.render(fields, text)
        return source + ("\n" if new and source and not source.endswith("\n") else "") + new

    return file_hot.rewrite(path, change)
