"""What came from a person's other machines and waits in the Inbox (`sync_incoming = "ask"`): it lies beside the state
of the sync, where nothing delivers it, until the person takes it in."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.base import fastjson_hot, fs_hot, ids_hot
from memtui.base.errors import ConflictError
from memtui.base.storage import read_or_none, storing
from memtui.client import locate_hot
from memtui.inbox import format_hot
from memtui.review.outside_changes import Untrusted
from memtui.settings import config_hot
from memtui.store import memory, trust_grants, trust_hot
from memtui.store.index import index as memory_index
from memtui.store.index import index_lines
from memtui.store.journal import ledger
from memtui.store.journal.changes import Change, FileChange
from memtui.store.journal.text_edit import TextEdit
from memtui.store.scopes import Scope
from memtui.sync import notes, rows, trees
from memtui.sync.local import GLOBAL, LocalTree
from memtui.sync.merge import merge_index
from memtui.sync.moves import Moves
from memtui.sync.repository import FileWriter, Tree
from memtui.sync.state import folder

MOST_APPROVED = 1000  # approvals that other machines hear of
ACCEPTED = "accepted"  # in the tree: by machine, what was accepted there


class WaitingFile(NamedTuple):
    """A `file` as it came, `before` as it is here; None for no file. `line`: of MEMORY.md; `by`: the machine."""

    file: str
    before: str | None
    text: str | None
    line: str
    by: str

    @property
    def digest(self) -> str:
        """The hash by which it is accepted, on all machines of the person."""
        return ids_hot.digest(self.content)

    @property
    def content(self) -> bytes:
        return f"{self.line}\0{self.text}".encode("utf-8", "surrogateescape")


def is_on(root: str) -> bool:
    return config_hot.value(config_hot.load(root), None, "sync_incoming") == "ask"


def load(root: str) -> dict[str, WaitingFile]:
    """Return the files that came, also those that were taken in since, by their paths in the tree."""
    table = fs_hot.read_table(folder(root) + "/incoming.json")
    fields = len(WaitingFile._fields)
    return {path: WaitingFile(*row) for path, row in table.items() if isinstance(row, list) and len(row) == fields}


def save(root: str, files: Mapping[str, WaitingFile]) -> None:
    path = folder(root) + "/incoming.json"
    with storing(path):
        fs_hot.write_atomic(path, fastjson_hot.dumps({path: [*file] for path, file in files.items()}).encode())


def accepted(root: str) -> dict[str, str]:
    """Return the digests of what was taken in, with the paths."""
    return trust_hot.load(root, folder(root)).hashes


def approved(root: str, here: LocalTree, base: Tree, known: Sequence[str]) -> list[str]:
    """Return the hashes of approved drafts that go with a sync, behind those `known`: no other machine asks of them."""
    new = {path: data for path, data in here.tree.items() if path.endswith(".md") and base.get(path) != data}
    steps = ledger.shared(f"{root}/journal.jsonl").follow().all() if new else []
    writes = [write for step in steps if (step.op, step.state) == ("approve", "done") for write in step.writes]
    texts, digests = {(write.path, write.after) for write in writes}, dict.fromkeys(known)
    for path, data in new.items() if texts else ():
        top, name = rows.split(path)
        file = f"{here.places[top]}/{name}"
        if (file, ids_hot.digest(data)) in texts:
            line = _lines(here.tree.get(f"{top}/{locate_hot.INDEX_NAME}", b"")).get(name, "")
            digests[WaitingFile(file, None, _text(data), line, "").digest] = None
    return [*digests][-MOST_APPROVED:]


def own_row(root: str, adopted: Iterable[str], approved: Iterable[str]) -> bytes:
    """Return the file that says which texts of teams and of other machines were accepted here, by hash, and which
    drafts were approved; empty if none was. What another machine said is not repeated."""
    places = [folder(root), *(directory for _, directory in locate_hot.team_dirs(root))]
    digests = {digest for place in places for digest in trust_hot.load(root, place).hashes} - set(adopted)
    digests |= set(approved)
    return fastjson_hot.dumps({"accepted": sorted(digests)}).encode() + b"\n" if digests else b""


def of_others(tree: Tree, own: str) -> set[str]:
    """Return the hashes of what the person accepted on other machines; `own`: the file of this one."""
    digests: set[str] = set()
    for path, data in tree.items():
        if path.startswith(ACCEPTED + "/") and path != own:
            hashes = fastjson_hot.loads_dict(data).get("accepted")
            digests |= {row for row in hashes if isinstance(row, str)} if isinstance(hashes, list) else set()
    return digests


def adoption(root: str, digests: set[str], files: Mapping[str, WaitingFile]) -> tuple[list[Change], set[str]]:
    """Return the changes that accept here what was accepted elsewhere, and the hashes that they are about."""
    contents = {folder(root): [(path, file.content) for path, file in files.items() if file.digest in digests]}
    for _, directory in locate_hot.team_dirs(root) if digests else ():
        status = trust_hot.status(root, directory)
        texts = trust_grants.read(directory, [*status.new, *status.changed])
        contents[directory] = [(name, data) for name, data in texts.items() if ids_hot.digest(data) in digests]
    edits: list[Change] = [trust_grants.plan(root, place, texts) for place, texts in contents.items() if texts]
    return edits, {ids_hot.digest(data) for texts in contents.values() for _, data in texts}


def as_accepted(ours: Tree, base: Tree, moves: Moves, files: Mapping[str, WaitingFile], digests: Iterable[str]) -> Tree:
    """Return the tree of this machine as if all that waits were taken in, so that no other machine loses it."""
    decided, before = set(digests), dict(base)
    letters = {
        path.rpartition("/")[2] for path in files if path.startswith(notes.TOP) and files[path].digest in decided
    }
    decided_notes = [path for path in ours if path.startswith(notes.TOP) and path[-31:-5] in letters]
    ours = {path: data for path, data in ours.items() if path not in decided_notes}
    waiting = ((path, file) for path, file in files.items() if not path.startswith(notes.TOP))
    active = {moves.path(path): file for path, file in waiting if file.digest not in decided}
    names_by_top: dict[str, dict[str, bool]] = {}
    for path, file in active.items():
        _put(before, path, None if file.before is None else _data(file.before))
        top, name = rows.split(path)
        names_by_top.setdefault(top, {})[name] = file.before is None
    for top, names in names_by_top.items():
        index = f"{top}/{locate_hot.INDEX_NAME}"
        if index in base and index not in active:
            lines = _lines(base[index])
            ours[index] = _with_lines(ours.get(index, b""), {name: lines.get(name, "") for name in names})
        for of_kind in [rows.path(kind, top) for kind in rows.KINDS]:  # no memory here has them yet
            mine = {key: row for key, row in rows.parse(base.get(of_kind, b"")).items() if names.get(key[0])}
            if mine:
                ours[of_kind] = rows.render({**rows.parse(ours.get(of_kind, b"")), **mine})
    for path in ours.keys() & base.keys() if files else ():  # lines that were taken in may stand in another order
        is_index = path.endswith("/" + locate_hot.INDEX_NAME)
        if is_index and sorted(ours[path].splitlines()) == sorted(base[path].splitlines()):
            ours[path] = base[path]
    return trees.merge(before, ours, base).tree if active else ours


def divide(
    here: LocalTree, tree: Tree, files: Mapping[str, WaitingFile], digests: Iterable[str],
    writers: Mapping[str, FileWriter],
) -> tuple[Tree, dict[str, WaitingFile]]:  # fmt: skip
    """Return what of a merged tree may be written here, and what waits: all that nobody took in yet. Of MEMORY.md the
    lines of what waits stay as they are here; other new lines wait too."""
    decided, wanted, waiting = set(digests), dict(tree), dict[str, WaitingFile]()
    applied: set[str] = set()
    for top, directory in here.places.items():
        index = f"{top}/{locate_hot.INDEX_NAME}"
        lines = _lines(tree.get(index, b""))
        own = {path for path in {*here.tree, *tree} if path.startswith(top + "/") and path.endswith(".md")}
        for path in sorted(own - {index}):
            before, after = here.tree.get(path), tree.get(path)
            name = path[len(top) + 1 :]
            if before != after and f"{directory}/{name}" not in here.withheld:
                by = writers[path].machine if path in writers else files[path].by if path in files else ""
                file = WaitingFile(f"{directory}/{name}", _text(before), _text(after), lines.get(name, ""), by)
                if file.digest in decided:
                    applied.add(file.line)
                else:
                    waiting[path] = file
                    _put(wanted, path, before)
        if index in own and here.tree.get(index) != tree.get(index):
            before, names = here.tree.get(index), {path[len(top) + 1 :] for path in waiting if path.startswith(top)}
            lines_here = _lines(before or b"")  # those of what waits stay
            after = _with_lines(tree.get(index, b""), {name: lines_here.get(name, "") for name in sorted(names)})
            new = {*after.splitlines()} - {*(before or b"").splitlines()} - {_data(line) for line in applied}
            by = writers[index].machine if index in writers else ""
            file = WaitingFile(f"{directory}/{locate_hot.INDEX_NAME}", _text(before), _text(after), "", by)
            is_asked = any(line.strip() for line in new) and file.digest not in decided
            waiting |= {index: file} if is_asked else {}
            _put(wanted, index, before if is_asked else after or None)
    same = [path for path, file in files.items() if file.digest in decided and file.text == _text(tree.get(path))]
    return wanted, {**{path: files[path] for path in same}, **waiting}


def letters(
    here: LocalTree, tree: Tree, machine: str, files: Mapping[str, WaitingFile], digests: Iterable[str]
) -> dict[str, WaitingFile]:
    """Return the notes for this machine that wait, also accepted ones until a session gets them: for an undo."""
    decided, waiting = set(digests), dict[str, WaitingFile]()
    for path, file in files.items():
        in_inbox = path.startswith(notes.TOP) and file.line in format_hot.source(_guidance(file))
        waiting |= {path: file} if path.startswith(notes.TOP) and (in_inbox or file.digest not in decided) else {}
    for entry_id, letter in notes.letters(tree, machine).items():
        inbox = here.inboxes.get(letter.place or GLOBAL, here.inboxes[GLOBAL])
        row = format_hot.render(letter.fields, letter.text)
        by = letter.fields.get("from", "").rpartition(" on ")[2]
        note = WaitingFile(f"{inbox}/note-{entry_id[-6:]}", None, letter.text, row, by)
        waiting[f"{notes.TOP}/{letter.place}/{entry_id}"] = note
    return waiting


def _guidance(file: WaitingFile) -> str:
    """Return the inbox file of a note that waits."""
    return f"{os.path.dirname(file.file)}/{notes.INBOX}"


def waiting(root: str, places: Sequence[Scope]) -> list[Untrusted]:
    """List what waits as the Inbox has it. `places`: the scopes of a project."""
    files = load(root)
    decided = accepted(root) if files else {}
    scopes = {scope.directory: scope for scope in places}
    waiting_rows = []
    for path, file in files.items():
        if file.digest not in decided:
            top, directory = path.rpartition("/")[0], os.path.dirname(file.file)
            if path.startswith(notes.TOP):
                name = f"note:{top.rpartition('+')[2]}" if "+" in top else "note"
                row = memory.from_bytes(file.file, name, _data(file.text or ""))
                waiting_rows.append(Untrusted(Scope("note", name, directory), "", row, file.by, None, take_in))
                continue
            while directory not in scopes and top.count("/") > (not path.startswith(GLOBAL)):
                top, directory = top.rpartition("/")[0], os.path.dirname(directory)
            scope = scopes.get(directory) or _scope(path, directory)
            text = file.text if file.text is not None else file.before
            row = memory.from_bytes(file.file, scope.label, _data(text or ""))
            name = file.file.removeprefix(directory + "/")
            before = None if file.before is None else _data(file.before)
            waiting_rows.append(Untrusted(scope, name, row, file.by, before, take_in, file.text is None, file.line))
    return waiting_rows


def take_in(root: str, memories: Sequence[Untrusted]) -> list[Change]:
    """Return the changes that write what came, with its lines of MEMORY.md. Raises ConflictError for what changed."""
    files = {file.file: file for file in load(root).values()}
    contents: dict[str, bytes | None] = {}
    digests, edits, lines = [], list[Change](), dict[str, dict[str, str]]()
    for row in sorted(memories, key=lambda row: row.file != locate_hot.INDEX_NAME):
        path = row.memory.path
        file = files.get(path)
        if file is None or _text(row.memory.raw) != (file.before if file.text is None else file.text):
            raise ConflictError(f"{row.memory.stem} came again meanwhile.", "Look at it again; nothing was written.")
        if row.scope.kind == "note":
            digests.append((path, file.content))
            edits.append(TextEdit(_guidance(file), "", file.line))
            continue
        now, is_index = read_or_none(path), row.file == locate_hot.INDEX_NAME
        if _text(now) != file.before and not is_index:
            raise ConflictError(f"{row.memory.stem} was changed here meanwhile.", "Run `memtui sync`, and look again.")
        digests.append((row.file, file.content))
        if is_index:
            contents[path] = merge_index(_data(file.before or ""), now or b"", _data(file.text or ""), path).data
            continue
        contents[path] = None if file.text is None else _data(file.text)
        lines.setdefault(f"{path.removesuffix(row.file)}{locate_hot.INDEX_NAME}", {})[row.file] = file.line
    for index, lines_of in lines.items():
        data = contents[index] if index in contents else read_or_none(index)
        contents[index] = _with_lines(data or b"", lines_of) or data
    changes: list[Change] = [trust_grants.plan(root, folder(root), digests)]
    for path, data in contents.items():
        if (before := read_or_none(path)) != data:
            changes.append(FileChange(path, before, data, None if before else fs_hot.FILE_MODE))
    return changes + edits


def _scope(path: str, directory: str) -> Scope:
    if path.startswith(GLOBAL + "/"):
        return Scope("global", GLOBAL, directory)
    slug = os.path.basename(os.path.dirname(directory))
    return Scope("auto", f"auto:{slug}", directory, slug=slug)


def _data(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _put(tree: Tree, path: str, data: bytes | None) -> None:
    tree.pop(path, None)
    tree |= {} if data is None else {path: data}


def _lines(data: bytes) -> dict[str, str]:
    """Return the line of each memory in a MEMORY.md."""
    index = memory_index.parse_index(data)
    entries = index.lines_of_memories
    return {memory_index.normal(entry.target): index.lines[entry.line - 1].rstrip("\r\n") for entry in entries}


def _with_lines(data: bytes, lines: Mapping[str, str]) -> bytes:
    """Return a MEMORY.md with exactly these lines of memories, each at its old place if it had one; none if empty."""
    index, missing = memory_index.parse_index(data), dict(lines)
    listing = [*index.lines]
    for entry in index.lines_of_memories:
        if (name := memory_index.normal(entry.target)) in lines:
            line = missing.pop(name, "")
            listing[entry.line - 1] = line and line + index.newline
    listing = [row for row in listing if row]
    added = [line + index.newline for line in missing.values() if line]
    if added and listing and not listing[-1].endswith("\n"):
        listing[-1] += index.newline
    return index_lines.joined_lines(index, listing + added)
