"""The trash, by the journal, and its purge: words in what memtui derived go first, contents last."""

import contextlib
import json
import os
import posix
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.base import fastjson_hot, fs_hot, ids_hot, paths_hot, reverse_lines_hot
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import storing
from memtui.deliver import log_hot
from memtui.store import index_requests
from memtui.store.journal.journal import ContentStore, Journal
from memtui.store.journal.ledger import Ledger, MemoryWrite, Transaction
from memtui.store.memory import Memory, from_bytes
from memtui.store.versions.versions import GONE, Versions

# The least characters of a line by which a text is known to be of a memory, and of one with a digit in it.
TELLING, WITH_DIGIT = 12, 6
# Bytes of the delivery log that are read at a time.
BLOCK = 1 << 20
CONTENTS = ("before", "after", "removed", "added")
DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
# Contents are removed for this long under the locks, which are then free for this long so that others can take them.
HELD_SECONDS, FREE_SECONDS = 0.5, 4 * fs_hot.LOCK_POLL_SECONDS


@dataclass(frozen=True)
class TrashItem:
    """A trashed memory: `id` and `time` of the change that trashed it, and the `path` and the scope where it was."""

    id: str
    time: str
    path: str
    scope_label: str
    directory: str
    memory: Memory


def items(journal: Journal, ledger: Ledger) -> list[TrashItem]:
    """List the trash, newest first. Memories whose content is lost are left out."""
    trashed = []
    # In the journal's order: the ids of one millisecond are in no order.
    for transaction in reversed(ledger.all()):
        if transaction.id in ledger.trashed:
            with contextlib.suppress(NotFoundError):
                trashed.append(item(journal, ledger, transaction.id))
    return trashed


def item(journal: Journal, ledger: Ledger, key: str) -> TrashItem:
    """Return one item of the trash. Raises NotFoundError, MemtuiError if its content can't be read."""
    transaction = ledger.transactions.get(key)
    if transaction is None or key not in ledger.trashed:
        raise NotFoundError(f"{key} is not in the trash", "`memtui history` without an id lists what is.")
    file = _deleted(transaction)
    label, directory = str(transaction.record.get("scope", "")), str(transaction.record.get("directory", ""))
    memory = from_bytes(file.path, label, journal.contents.read(file.before))
    return TrashItem(key, transaction.time, file.path, label, directory, memory)


def _deleted(transaction: Transaction) -> MemoryWrite:
    """Return the memory that a change removed. Raises NotFoundError for a change that removed none."""
    for file in transaction.writes:
        if not file.after:
            return file
    raise NotFoundError(f"{transaction.id} is not a deletion")


@dataclass
class PurgedWords:
    """What tells a memory's words elsewhere: its `paths`, the `hashes` of its contents in logs, its `lines`."""

    paths: Collection[str]
    hashes: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)

    def add(self, digest: str, content: bytes) -> None:
        """Take in a version: its telling lines, and the values of its fields that have several words."""
        self.hashes.add(digest[:16])
        version = from_bytes("", "", content)
        head = content.decode("utf-8", "replace").removesuffix(version.body)
        values = (line.partition(": ")[2] or line.strip().removeprefix("- ") for line in head.split("\n"))
        lines = [value for text in values if " " in (value := text.strip().strip("'\""))]
        lines += map(str.strip, version.body.split("\n"))
        self.lines |= {line for line in lines if len(line) >= (WITH_DIGIT if any(map(str.isdigit, line)) else TELLING)}

    def add_index(self, _: str, content: bytes) -> None:
        links = [f"({os.path.basename(path)})" for path in self.paths]
        text = content.decode("utf-8", "replace")
        self.lines |= {line.strip() for line in text.split("\n") if any(link in line for link in links)}

    def within(self, text: str) -> bool:
        return any(line in text for line in self.lines)

    def within_any(self, value: object) -> bool:
        """Whether any text in a value of JSON has a line of it, or is a path of it."""
        if isinstance(value, dict):
            return any(map(self.within_any, value.values()))
        if isinstance(value, list):
            return any(map(self.within_any, value))
        return isinstance(value, str) and (value in self.paths or self.within(value))

    def delivered_by(self, record: dict[str, object]) -> bool:
        """Whether a record of the delivery log has words of it."""
        rows = log_hot.items(record)
        is_named = any(row.get("hash") in self.hashes or row.get("path") in self.paths for row in rows)
        return is_named or self.within(str(record.get("text", "")))


class Purged(NamedTuple):
    """The contents to `drop`, the transactions `gone` from undo, the `words`, and how many changes keep a line."""

    drop: list[str]
    gone: list[str]
    words: PurgedWords
    left: int


def to_purge(journal: Journal, versions: Versions, ledger: Ledger, key: str) -> Purged:
    """Return what purging removes: all that the journal has of it, but for contents that others need."""
    group, places = _history(ledger, key)
    own_changes = [ledger.transactions[name] for name in group]
    others = [transaction for transaction in ledger.all() if transaction.id not in group]
    shared = set(_digests(others))
    own = dict.fromkeys(_digests(own_changes, (*CONTENTS, "anchor")))
    trusts = [row["trust"] for transaction in ledger.all() for row in transaction.record["changes"] if "trust" in row]
    for trust in trusts:  # the contents with which it was trusted
        own |= dict.fromkeys(d for d, name in trust["added"].items() if f"{trust['directory']}/{name}" in places)
    words = _words(journal, versions, own_changes, places)

    def tells(digest: str) -> bool:
        try:
            return words.within(journal.contents.read(digest).decode("utf-8", "replace"))
        except MemtuiError:
            return False

    own |= dict.fromkeys(digest for digest in dict.fromkeys(_digests(others, ("anchor",))) if tells(digest))
    keeping = sum(any(map(tells, _digests([step], ("removed", "added")))) for step in others if step.op != "purge")
    return Purged([digest for digest in own if digest not in shared], sorted(group), words, keeping)


def _words(journal: Journal, versions: Versions, group: list[Transaction], places: set[str]) -> PurgedWords:
    """Return what tells the words of a memory, by the contents that the journal and the versions have of it."""
    words = PurgedWords(places)
    rows = [row for transaction in group for row in transaction.record["changes"]]
    kinds = ((words.add, ("before", "after"), "before"), (words.add_index, ("removed", "added"), "was"))
    for take, keys, kind in kinds:
        for digest in {row[key] for row in rows if kind in row for key in keys if row.get(key)}:
            with contextlib.suppress(MemtuiError):
                take(digest, journal.contents.read(digest))
    versions.follow()
    for version in [state for line in versions.of_files(places) for state in line if state.digest != GONE]:
        with contextlib.suppress(MemtuiError):
            words.add(version.digest, versions.content(version))
    return words


def _history(ledger: Ledger, key: str) -> tuple[set[str], set[str]]:
    """Return the changes about a memory up to its deletion, with their undos, and the paths that it had."""
    every = ledger.all()
    places = {_deleted(ledger.transactions[key]).path}
    group: set[str] = set()
    # By their place: the ids of one millisecond are in no order.
    for step in reversed(every[: 1 + [step.id for step in every].index(key)]):
        rows = step.record["changes"]
        files = {"{directory}/{file}".format(**row["beside"]) for row in rows if "beside" in row}
        files |= {file.path for file in step.writes if file.whole}
        if places & files and step.is_change and step.op != "purge":
            group.add(step.id)
            places |= files if step.op in {"move", "rename"} else set()
    return group | {step.id for step in every if step.of in group}, places


def _digests(transactions: Iterable[Transaction], keys: tuple[str, ...] = CONTENTS) -> list[str]:
    return [row[k] for transaction in transactions for row in transaction.record["changes"] for k in keys if row.get(k)]


def _unnamed(contents: ContentStore) -> list[str]:
    """List the contents that neither journal, versions nor the record of trust name, by digest. Raises OSError."""
    root = os.path.dirname(contents.directory)
    data = [fs_hot.read_or_empty(f"{root}/{name}") for name in ("journal.jsonl", "versions.jsonl", "trust.json")]
    named = {digest for text in data for digest in DIGEST.findall(text)}
    files = {os.fsencode(name) for name in paths_hot.names_in(contents.directory)}
    return [name.decode() for name in files - named if DIGEST.fullmatch(name)]


def sweep(journal: Journal, versions: Versions, go: Callable[[], bool] = lambda: True) -> int:
    """Remove the contents that nothing names while `go` returns True; return their count. Raises MemtuiError."""
    versions.follow()
    if not os.path.exists(journal.path) and versions.journal != "":
        return 0  # it was removed, and nobody knows what it named
    count = 0
    has_more = bool(_unnamed(journal.contents))
    while has_more and go():
        # Whoever stores a content names it under one of these locks.
        with journal.locked(), versions.locked(), storing(journal.contents.directory):
            until = time.monotonic() + HELD_SECONDS
            for digest in _unnamed(journal.contents):
                if has_more := time.monotonic() > until:
                    break
                journal.contents.remove([digest])
                count += 1
            else:
                has_more = False
        time.sleep(FREE_SECONDS if has_more else 0)
    return count


def remove_words(root: str, words: PurgedWords, paths: Iterable[str]) -> None:
    """Remove the words from delivery log, sessions, proposals, and indexes, which are made anew. Raises MemtuiError."""
    directories = {directory for path in paths if (directory := index_requests.indexed(root, path)) is not None}
    with storing(root):
        fold_records(root, words.delivered_by, words.within)
        _forget_lines(root, words)
        _drop_proposals(root, words)
        outdated = [directory for directory in directories if index_requests.remove(root, directory)]
    index_requests.start(root, outdated)


def fold_records(root: str, is_meant: Callable[[dict[str, object]], bool], within: Callable[[str], bool]) -> None:
    """Drop the texts of the records that are meant in place, so that each line keeps its length. Raises OSError."""
    for path in log_hot.months(root):
        fd = fs_hot.open_regular(path, ours=True, follow=False, write=True)
        try:
            at = 0
            for lines in _blocks(fd):
                for line in lines:
                    record = fastjson_hot.loads_dict(line) if b'"items"' in line else {}
                    blanked = _blanked(line, record, within) if record and is_meant(record) else line
                    offset = 0 if blanked != line else len(line)
                    while offset < len(line):
                        offset += posix.pwrite(fd, blanked[offset:], at + offset)
                    at += len(line) + 1
            posix.fsync(fd)
        finally:
            posix.close(fd)


_TEXT, _REASON = (re.compile(rb'"' + key + rb'": ("(?:[^"\\]|\\.)*+")') for key in (b"text", b"reason"))


def _blanked(line: bytes, record: dict[str, object], within: Callable[[str], bool]) -> bytes:
    """Return a record's line with blanks in place of its text, and of each reason within which the words are."""

    def reasonless(match: re.Match[bytes]) -> bytes:
        has = within(str(fastjson_hot.loads(match[1])))
        return b'"reason": ""'.ljust(len(match[0])) if has else match[0]

    line = _REASON.sub(reasonless, line)
    text = record.get("text")
    place = _TEXT.search(line)
    if not isinstance(text, str) or not text or place is None:
        return line
    marks = (f'"text_hash": "{ids_hot.content_hash(text)}", "folded": true', '"folded": true')
    mark = next((mark.encode() for mark in marks if len(mark) <= len(place[0])), b"")
    return line[: place.start()] + mark.ljust(len(place[0])) + line[place.end() :] if mark else line


def _blocks(fd: int) -> Iterator[list[bytes]]:
    at = 0
    pieces: list[bytes] = []
    while block := os.pread(fd, BLOCK, at):
        at += len(block)
        head, end, tail = block.rpartition(b"\n")
        if not end:
            pieces.append(block)
            if len(pieces) * BLOCK > reverse_lines_hot.LONGEST:
                return  # no line of a log is so long
            continue
        yield b"".join([*pieces, head]).split(b"\n")
        pieces = [tail]


def _forget_lines(root: str, words: PurgedWords) -> None:
    """Put the name of the memory in place of its line where a session was told of it: that it is gone is still said."""
    directory = root + "/sessions"
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        if not name.endswith(".index.json"):
            continue
        state = fastjson_hot.loads_dict(fs_hot.read(f"{directory}/{name}", "session"))
        changed = False
        tables = fastjson_hot.table(state, "lines")
        for table_of_scope in [fastjson_hot.table(tables, scope) for scope in tables]:
            for file, old in table_of_scope.items():
                if isinstance(old, list) and len(old) == 2 and (old[0] in words.hashes or words.within(str(old[1]))):
                    table_of_scope[file], changed = [old[0], file.removesuffix(".md")], True
        if changed:
            fs_hot.write_atomic(f"{directory}/{name}", fastjson_hot.dumps(state).encode(), durable=False)


def _drop_proposals(root: str, words: PurgedWords) -> None:
    """Drop the proposals that have words of the memory; the others of their sets stay."""
    directory = root + "/proposals"
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        proposal = fastjson_hot.loads_dict(fs_hot.read_bytes(f"{directory}/{name}")) if name.endswith(".json") else {}
        every = fastjson_hot.rows(proposal, "changes")
        others = [proposal_row for proposal_row in every if not words.within_any(proposal_row)]
        if every and not others:
            fs_hot.unlink(f"{directory}/{name}")
        elif len(others) < len(every):
            data = json.dumps({**proposal, "changes": others}, ensure_ascii=False, indent=2)
            fs_hot.write_atomic(f"{directory}/{name}", data.encode("utf-8", "surrogatepass") + b"\n")
