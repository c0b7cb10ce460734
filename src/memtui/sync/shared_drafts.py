"""Drafts of the Inbox on all of a person's machines (`sync_drafts`): a file each in the tree, which goes once the draft
was decided on one of them. No session gets one on another machine before it is approved."""

from collections.abc import Mapping

from memtui.base import fastjson_hot
from memtui.inbox import drafts, file_hot, format_hot
from memtui.redact.redact import kinds_in
from memtui.settings import config_hot
from memtui.sync import notes
from memtui.sync.repository import Tree
from memtui.sync.state import SyncState

TOP = "drafts"
# What goes along: nothing of sessions, nor paths of this machine.
FIELDS = (
    *("time", "kind", "name", "type", "scope", "confidence", "durable", "unlikely", "seen", "request", "machine"),
    *("replaces", "base", "adds", "created", "modified", "tags", "triggers"),
)


def is_on(root: str) -> bool:
    return config_hot.value(config_hot.load(root), None, "sync_drafts") is True


def _entries(inboxes: Mapping[str, str]) -> dict[str, tuple[str, format_hot.Entry]]:
    """Return by id the drafts that wait here, with the top of their inbox."""
    files = ((top, f"{inbox}/{notes.DRAFTS}") for top, inbox in inboxes.items())
    return {entry.id: (top, entry) for top, file in files for entry in format_hot.read(file)}


def outgoing(root: str, inboxes: Mapping[str, str], base: Tree, state: SyncState) -> Tree:
    """Return a base as this machine has it: with new drafts, and without those decided on since the last sync, which is
    known only of an inbox that is here and can be read. `inboxes`: by the top of their project."""
    if not is_on(root):
        return base
    waiting = _entries(inboxes)
    decided = {f"{TOP}/{entry_id}.json" for entry_id in set(state.drafts) - waiting.keys()} & base.keys()
    places = {path: fastjson_hot.text(fastjson_hot.loads_dict(base[path]), "place") for path in decided}
    whole = [top for top, inbox in inboxes.items() if not format_hot.is_too_long(f"{inbox}/{notes.DRAFTS}")]
    tree = {path: data for path, data in base.items() if places.get(path) not in whole}
    for entry_id, (top, entry) in waiting.items():
        fields = {key: value for key in FIELDS if (value := entry.fields.get(key))}
        fields.setdefault("machine", state.name)
        is_conflict = entry.fields.get("from", "").startswith(notes.ADDRESS)  # these travel by themselves
        data = fastjson_hot.dumps({"fields": fields, "place": top, "text": entry.text}) + "\n"
        if notes.ID.fullmatch(entry_id) and not (is_conflict or ":" in fields.get("scope", "") or kinds_in(data)):
            tree.setdefault(f"{TOP}/{entry_id}.json", data.encode())
    return tree


def take_in(root: str, inboxes: Mapping[str, str], tree: Tree, present: list[str]) -> list[str]:
    """Put the drafts of a merged tree into the inboxes here that have room, and take away those of the `present`
    ones that were decided elsewhere; return the ids of those that are here now. Raises OSError."""
    if not is_on(root):
        return present
    waiting, here = _entries(inboxes), set(present)
    rows_by_id = {path[len(TOP) + 1 : -5]: data for path, data in tree.items() if path.startswith(TOP + "/")}
    notes.remove(root, (here - rows_by_id.keys()) & waiting.keys(), notes.DRAFTS)
    here = (here | waiting.keys()) & rows_by_id.keys()
    for entry_id in sorted(rows_by_id.keys() - here):
        row = fastjson_hot.loads_dict(rows_by_id[entry_id])
        fields, text, inbox = fastjson_hot.table(row, "fields"), row.get("text"), inboxes.get(str(row.get("place")))
        if inbox is None or not notes.ID.fullmatch(entry_id) or not isinstance(text, str):
            continue
        if drafts.room(inbox) >= len(rows_by_id[entry_id]):
            own = {key: value for key in FIELDS if isinstance(value := fields.get(key), str) and value.isprintable()}
            file_hot.add_entry(inbox, "updates", {"id": entry_id, "machine": "another one", **own}, text)
            here.add(entry_id)
    return sorted(here)
