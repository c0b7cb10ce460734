"""Notes for a session on another machine (`machine:NAME`): they wait in an inbox here as others do, go with the next
sync as a file for that machine alone, and that machine puts them into its own inbox."""

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import NotFoundError
from memtui.base.storage import storing
from memtui.deliver.record import find_note
from memtui.inbox import file_hot, format_hot
from memtui.redact.redact import kinds_in
from memtui.sync.repository import Tree

TOP, ADDRESS = "notes", "machine:"
ID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
FIELDS = ("time", "from", "urgent", "expires")  # that go along, beside other addressees
INBOX, DRAFTS = format_hot.FILES["guidance"], format_hot.FILES["updates"]


def inboxes(root: str) -> dict[str, str]:
    """Return the directories of all inboxes, by the key of their project; empty for the global one."""
    return {key: paths_hot.inbox_dir(root, key or None) for key in ("", *paths_hot.names_in(root + "/projects"))}


def outgoing(root: str, machines: Mapping[str, str], tops: Mapping[str, str], name: str) -> Tree:
    """Return the notes that wait here for other machines, as they travel. `machines`: their names by id; `tops`: what
    a project is called everywhere, by its key here; `name`: of this machine."""
    files: Tree = {}
    ids = {called.casefold(): machine for machine, called in machines.items()}
    for key, directory in inboxes(root).items():
        for entry in format_hot.read(f"{directory}/{INBOX}"):
            words = [word.strip() for word in entry.fields.get("for", "").split(",")]
            machine = next((ids.get(w.removeprefix(ADDRESS).casefold()) for w in words if w.startswith(ADDRESS)), None)
            if machine is None or not ID.fullmatch(entry.id) or kinds_in(entry.text):
                continue
            fields = {field: entry.fields[field] for field in FIELDS if field in entry.fields}
            fields["from"] = f"{fields.get('from', 'a person')} on {name}"
            if rest := ",".join(word for word in words if not word.startswith(ADDRESS)):
                fields["for"] = rest
            row = {"fields": fields, "place": tops.get(key, ""), "text": entry.text}
            files[f"{TOP}/{machine}/{entry.id}.json"] = fastjson_hot.dumps(row).encode() + b"\n"
    return files


def remove(root: str, ids: set[str], kind: str = INBOX) -> None:
    """Remove notes that went, or drafts decided elsewhere (`kind`), from the inboxes here. Raises MemtuiError."""
    for path in [f"{directory}/{kind}" for directory in inboxes(root).values()] if ids else ():
        with storing(path):
            for entry in format_hot.read(path):
                if entry.id in ids:
                    file_hot.rewrite(path, partial(without, entry.raw))


def without(raw: str, source: str) -> str:
    return source.replace(raw, "", 1)


class Letter(NamedTuple):
    """A note as it came; `place`: what its project is called everywhere, empty for none."""

    place: str
    fields: dict[str, str]
    text: str


def letters(tree: Tree, machine: str) -> dict[str, Letter]:
    """Return the notes for a machine by their ids, without what memtui never wrote."""
    notes_by_id: dict[str, Letter] = {}
    for path, data in tree.items():
        entry_id = path.rpartition("/")[2].removesuffix(".json")
        row = fastjson_hot.loads_dict(data) if path.startswith(f"{TOP}/{machine}/") else {}
        fields, text = fastjson_hot.table(row, "fields"), row.get("text")
        if ID.fullmatch(entry_id) and isinstance(text, str):
            own = {
                field: value
                for field in (*FIELDS, "for")
                if isinstance(value := fields.get(field), str) and value.isprintable() and ADDRESS not in value
            }
            place, words = fastjson_hot.text(row, "place"), text.encode("utf-8", "replace").decode()
            notes_by_id[entry_id] = Letter(place if place.isprintable() else "", {"id": entry_id, **own}, words)
    return notes_by_id


def take_in(root: str, tree: Tree, machine: str, keys: Mapping[str, str]) -> None:
    """Put the notes for this machine into its inboxes, each once; `keys`: of projects, by top. Raises OSError."""
    for entry_id, letter in letters(tree, machine).items():
        if not is_here(root, entry_id):
            inbox = paths_hot.inbox_dir(root, keys.get(letter.place))
            file_hot.add_entry(inbox, "guidance", letter.fields, letter.text)


def is_here(root: str, entry_id: str) -> bool:
    """Tell whether a note came already: it waits, a hook has it, or it was delivered."""
    for directory in inboxes(root).values():
        claims = [f"{directory}/claimed/{name}" for name in paths_hot.names_in(directory + "/claimed")]
        if any(entry_id.encode() in fs_hot.read_or_empty(path) for path in (f"{directory}/{INBOX}", *claims)):
            return True
    try:
        return find_note(root, entry_id) is not None
    except NotFoundError:
        return False
