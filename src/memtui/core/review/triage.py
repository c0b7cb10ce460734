"""What a person does with what waits in the inbox: approve, reject, withdraw, tick off. Each is one undo step.

Entries are edited where they stand; what others append to the same file meanwhile stays.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from memtui.core.base import clock, fastjson, ids, matching, paths
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.client.conversation import normalised
from memtui.core.deliveries import log as delivery_log
from memtui.core.frontmatter import document
from memtui.core.inbox import file as inbox_file
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes.change import Change
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.journal.changes.text_edit import ANCHOR_LINES, TextEdit
from memtui.core.journal.journal import Journal
from memtui.core.memories import memory, references
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.redaction import redact

KINDS = ("guidance", "updates", "items")
EVIDENCE = ("> agent: ", "> you: ")
REJECTED = "rejected.jsonl"


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
        if self.kind != "updates":
            return self.entry.text, []
        lines = self.entry.text.rstrip().split("\n")
        end = len(lines)
        while end and lines[end - 1].startswith(EVIDENCE):
            end -= 1
        # The extractor writes a quotation of the text itself as `\\> …`, so that it is no evidence.
        body = [line[1:] if line.startswith("\\> ") else line for line in lines[:end]]
        return "\n".join(body).strip(), lines[end:]


def slugs(root: str) -> list[str]:
    """The projects that have an inbox."""
    return paths.inbox_slugs(root)


def waiting(
    root: str,
    projects: Iterable[str | None],
    kinds: Sequence[str] = KINDS,
    unread: list[MemtuiError] | None = None,
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


def unread_part(path: str) -> MemtuiError | None:
    """What to say of an inbox file that is too long to be read whole; None for any other."""
    size = inbox_format.unread(path)
    if not size:
        return None
    return MemtuiError(
        f"{path} is larger than {inbox_format.MAX_BYTES >> 20} MB: only notes in its first and its last half MB"
        f" are read; {size / (1 << 20):.1f} MB between them wait in vain.",
        "Take out of it what is no note: a log belongs into a file of its own, which a note can name.",
    )


def _unreadable(path: str, error: OSError) -> MemtuiError:
    import os

    if isinstance(error, PermissionError):
        return MemtuiError(f"{path} is closed to you.", f'Make it yours again: sudo chown "$USER" {path}')
    if os.path.isdir(path):
        return MemtuiError(f"{path} is a directory, no file.", f"Move it away: mv {path} {path}.aside")
    return MemtuiError(f"{path} can't be read: {error.strerror}.", "Check what it is, its owner and its mode.")


def find(entries: Sequence[Waiting], ref: str, what: str) -> Waiting:
    """The entry with this id, or a unique beginning or end of it. Raises as `matching.match`."""
    found = matching.match(ref, [each.id for each in entries], what)
    return next(each for each in entries if each.id == found)


def _anchor(entry: inbox_format.Entry, source: str) -> str:
    """The lines before an entry, which tell where it stands."""
    before = source[: entry.start].split("\n")[:-1][-ANCHOR_LINES:]
    return "".join(line + "\n" for line in before)


def removal(item: Waiting) -> TextEdit:
    """The change that takes an entry out of its file."""
    return TextEdit(item.path, item.entry.raw, "", _anchor(item.entry, item.source), item.begin + item.entry.start)


def _rewritten(item: Waiting, fields: dict[str, str], text: str) -> TextEdit:
    """The change that puts another entry in the place of this one; hand-written text gets an entry's form."""
    made = inbox_format.render(fields, text)
    return TextEdit(item.path, item.entry.raw, made, _anchor(item.entry, item.source), item.begin + item.entry.start)


def _appended(directory: str, kind: str, fields: dict[str, str], text: str) -> TextEdit:
    return TextEdit(f"{directory}/{inbox_format.FILES[kind]}", "", inbox_format.render(fields, text))


@dataclasses.dataclass(frozen=True)
class Proposal:
    """The memory that a pending update would become; `data` is the whole file."""

    item: Waiting
    scope: str
    name: str
    data: bytes


def propose(
    item: Waiting, *, name: str = "", kind: str = "", scope: str = "", description: str = "", body: str | None = None
) -> Proposal:
    """What approving would write, with what the person says going before what the draft says. With an empty `body` the
    description is all it says.

    The evidence stays behind; the session it came from is kept as `originSessionId`.
    """
    first, _, rest = item.text.partition("\n")
    fields = item.entry.fields
    about = description or first.strip()
    stem = name or fields.get("name") or memory.slugify(first)
    text = (rest.strip("\n") or first.strip()) if body is None else body.strip("\n") or about
    data = memory.new_memory_bytes(stem, about, kind or fields.get("type", "feedback"), text)
    if fields.get("session"):
        doc = document.parse(data).with_field(("metadata", "originSessionId"), fields["session"])
        data = doc.to_bytes()
    return Proposal(item, scope or fields.get("scope") or item.scope, stem, data)


def target(store: Store, item: Waiting, chosen: str = "") -> Scope:
    """The scope that approving writes to: the one the person chose, else the draft's.

    What a draft says of the project goes to the repository only where the person keeps memories there already, else to
    the client's native memory of the project: nothing is written into a repository unasked.
    """
    if chosen:
        return store.scope(chosen)
    scope = store.scope(item.entry.fields.get("scope") or item.scope)
    return scope if scope.exists or scope.kind != "project" else store.scope("auto")


def merged(item: Waiting, found: Memory) -> bytes:
    """A memory's file with a pending update's text at its end. Raises MemtuiError for a broken one."""
    doc = document.parse(found.raw)
    return doc.with_body(doc.body.rstrip("\n") + "\n\n" + item.text + "\n").to_bytes()


class Review:
    """The operations, each one transaction of the journal. All raise ConflictError if an entry changed meanwhile (then
    nothing is written) and return the transaction's id."""

    def __init__(self, root: str, by: str = "cli", now: Callable[[], float] = clock.now) -> None:
        self.root = root
        self.by = by
        self.now = now
        self.journal = Journal(root, by=by, now=now)

    def _run(self, op: str, changes: Sequence[Change], items: Sequence[Waiting], verb: str) -> str:
        summary = f"{verb} “{_gist(items[0].text)}”" if len(items) == 1 else f"{verb} {len(items)} entries"
        return self.journal.run(op, changes, summary, entries=[item.id for item in items])

    def withdraw(self, items: Sequence[Waiting]) -> str:
        """Take guidance back before it is delivered."""
        return self._run("withdraw", _removals(items), items, "withdraw")

    def again(self, item: Waiting, expires: float | None = None) -> tuple[str, str]:
        """Leave guidance anew that expired or came back too often; the new entry's id and the transaction's. An expiry
        that is over goes, unless another is given."""
        now = self.now()
        fresh = {"id": ids.new_id(now), "time": clock.iso_seconds(now)}
        gone = {"id", "time", "attempts"} | ({"expires"} if item.entry.expired(now) else set())
        fields = {**fresh, **{key: value for key, value in item.entry.fields.items() if key not in gone}}
        fields.setdefault("from", self.by)
        if expires is not None:
            fields["expires"] = clock.iso_seconds(expires)
        done = self._run("guide", [_rewritten(item, fields, item.entry.text)], [item], "leave again")
        return fresh["id"], done

    def reject(self, items: Sequence[Waiting], *, never: bool = False) -> str:
        """Drop pending updates; `never`: what they say is not extracted again."""
        changes: list[Change] = list(_removals(items))
        if never:
            for item in items:
                words = redact.redact(item.text)[0].split("\n")[0].strip()
                digest = ids.content_hash(normalised(words))
                row = {"v": 1, "hash": digest, "text": words, "time": clock.iso_seconds(self.now()), "id": item.id}
                changes.append(TextEdit(f"{item.directory}/{REJECTED}", "", fastjson.dumps(row) + "\n"))
        return self._run("reject", changes, items, "reject")

    def approve(self, store: Store, proposal: Proposal, scope: Scope) -> Memory:
        """Make the proposed memory and take the entry out of the inbox. Raises ConflictError if the name is taken."""
        return store.add(scope, proposal.name, proposal.data, op="approve", extra=[removal(proposal.item)])

    def merge(self, store: Store, item: Waiting, found: Memory) -> str:
        """Append a pending update to a memory and take it out of the inbox."""
        scope = store.scope(found.scope_label)
        references.writable(scope)
        file = references.relative(scope, found.path)
        data = merged(item, found)
        change = FileChange(references.real_path(scope, found.path), found.raw, data)
        changes: list[Change] = [*store.trusting(scope, [(file, data)]), change, removal(item)]
        return store.transaction("approve", changes, f"approve into {scope.label}:{found.stem}")

    def done(self, items: Sequence[Waiting]) -> str:
        """Tick pending items off: they go."""
        return self._run("done", _removals(items), items, "tick off")

    def keep(self, items: Sequence[Waiting]) -> str:
        """Keep pending items when the next session replaces the others."""
        changes = [_rewritten(item, {**self._fields(item), "state": "kept"}, item.entry.text) for item in items]
        return self._run("keep", changes, items, "keep")

    def edit(self, item: Waiting, text: str) -> str:
        """Change the text of an entry of any kind; the evidence of a pending update stays."""
        if not text.strip():
            raise UsageError("The text is empty.", "To drop the entry, reject it, withdraw it or tick it off.")
        lines = text.strip("\n").split("\n")
        if item.kind == "updates":
            lines = ["\\" + line if line.startswith("> ") else line for line in lines]
            lines += ["", *item.evidence] if item.evidence else []
        whole = "\n".join(lines)
        change = _rewritten(item, self._fields(item), whole)
        return self._run("edit entry", [change], [item], "edit")

    def guide(self, directory: str, fields: dict[str, str], text: str) -> str:
        """Leave guidance in an inbox as a step that can be undone until a hook takes it; the entry's id. Nothing is
        undone of a file that is too long: it would have to be written anew."""
        if inbox_format.unread(f"{directory}/{inbox_format.FILES['guidance']}"):
            return inbox_file.append_entry(directory, "guidance", fields, text, now=self.now())
        return self.say(directory, fields, text)[0]

    def say(self, directory: str, fields: dict[str, str], text: str) -> tuple[str, str]:
        """As `guide`; the entry's id and the transaction's."""
        now = self.now()
        whole = {"id": ids.new_id(now), "time": clock.iso_seconds(now), **fields}
        change = _appended(directory, "guidance", whole, text)
        words = f"guidance “{_gist(text)}”"
        return whole["id"], self.journal.run("guide", [change], words, entries=[whole["id"]])

    def reword(self, item: Waiting, directory: str, fields: dict[str, str], text: str) -> str:
        """Change guidance that waits: its text, its fields, the inbox it is in. What was held is delivered again."""
        kept = {key: value for key, value in self._fields(item).items() if key in {"id", "time", "from"}}
        whole = {**kept, **{key: value for key, value in fields.items() if key not in kept}}
        if directory == item.directory:
            return self._run("edit entry", [_rewritten(item, whole, text)], [item], "edit")
        return self._run("edit entry", [removal(item), _appended(directory, "guidance", whole, text)], [item], "edit")

    def to_guidance(self, items: Sequence[Waiting]) -> str:
        """Make entries guidance of the same scope: the next prompt gets them, once."""
        changes: list[Change] = list(_removals(items))
        for item in items:
            fields = {"id": ids.new_id(self.now()), "time": clock.iso_seconds(self.now()), "from": self.by}
            changes.append(_appended(item.directory, "guidance", fields, item.text))
        return self._run("guide", changes, items, "make guidance of")

    def _fields(self, item: Waiting) -> dict[str, str]:
        if item.entry.fields.get("id"):
            return dict(item.entry.fields)
        extra = {key: value for key, value in item.entry.fields.items() if key != "state"}
        return {"id": ids.new_id(self.now()), "time": clock.iso_seconds(self.now()), "from": self.by, **extra}


def _gist(text: str) -> str:
    """The first words of an entry, for the journal, which keeps them when the entry is gone: without secrets."""
    return " ".join(redact.redact(text)[0].split())[:60]


def from_the_end(items: Iterable[Waiting]) -> list[Waiting]:
    """Entries in the order to take them out, from the end of a file to its beginning: what stands before each, and
    tells its place when it comes back, is still there."""
    return sorted(items, key=lambda item: (item.path, -item.entry.start))


def _removals(items: Sequence[Waiting]) -> list[TextEdit]:
    return [removal(item) for item in from_the_end(items)]


def delivered(root: str, entry_id: str) -> str | None:
    """The id of the delivery that brought an entry, if one did."""
    for record in delivery_log.newest_first(root, needle=entry_id.encode()):
        items = record.get("items")
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and item.get("id") == entry_id and not item.get("left_out"):
                return str(record.get("id"))
    return None
