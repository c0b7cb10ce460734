"""Remove the words of a purged memory from what memtui derived from it: the texts of deliveries, the lines that
sessions were told, proposals, the indexes of its directories. What is left of it are names, times and hashes.

All of this comes before the contents themselves are removed: killed within, the memory is still in the trash, and can
be purged again."""

import json
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memtui.core.base import fastjson, fs, session_state
from memtui.core.base.storage import storage_error
from memtui.core.deliveries import folding
from memtui.core.memories import memory
from memtui.core.places import reindexing

# The least characters of a line by which a text is known to be of a memory, and of one with a digit in it.
TELLING, WITH_DIGIT = 12, 6


@dataclass
class PurgedWords:
    """What tells the words of a memory in other files: the `paths` that it had, the `hashes` of its contents as logs
    have them, and its `lines`."""

    paths: Collection[str]
    hashes: set[str] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)

    def add(self, digest: str, content: bytes) -> None:
        """Take in a version of it."""
        self.hashes.add(digest[:16])
        version = memory.from_bytes("", "", content)
        head = content.decode("utf-8", "replace").removesuffix(version.body)
        self.lines |= {
            line for line in (*_values(head), *map(str.strip, version.body.split("\n"))) if _is_telling(line)
        }

    def add_index(self, _: str, content: bytes) -> None:
        """Take in lines of an index, those that are its own."""
        links = [f"({os.path.basename(each)})" for each in self.paths]
        text = content.decode("utf-8", "replace")
        self.lines |= {line.strip() for line in text.split("\n") if any(link in line for link in links)}

    def within(self, text: str) -> bool:
        """Whether a text has a line of it."""
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
        items = record.get("items")
        rows = [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []
        named = any(each.get("hash") in self.hashes or each.get("path") in self.paths for each in rows)
        return named or self.within(str(record.get("text", "")))


def _values(head: str) -> Iterable[str]:
    """Yield what stands in the fields of a head, or in lists below them, without the words of which memtui has few: a
    type, a name."""
    for line in head.split("\n"):
        value = (line.partition(": ")[2] or line.strip().removeprefix("- ")).strip().strip("'\"")
        if " " in value:
            yield value


def _is_telling(line: str) -> bool:
    return len(line) >= (WITH_DIGIT if any(map(str.isdigit, line)) else TELLING)


def remove(root: str, words: PurgedWords, directories: Collection[str]) -> None:
    """Remove the words from the delivery log, what sessions were told, proposals, and the indexes of the directories,
    which are made anew at once by a process of their own. Raises MemtuiError."""
    try:
        folding.recover(root)
        folding.fold_records(root, words.delivered_by, words.within)
        _forget_lines(root, words)
        _drop_proposals(root, words)
        outdated = [each for each in directories if reindexing.remove(root, each)]
    except OSError as error:
        raise storage_error(error, root) from error
    reindexing.start(root, outdated)


def _forget_lines(root: str, words: PurgedWords) -> None:
    """Put the name of the memory in place of its line where a session was told of it: that it is gone is still said."""
    directory = root + "/sessions"
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        if not name.endswith(".index.json"):
            continue
        state = fastjson.loads_dict(fs.read(f"{directory}/{name}", "session"))
        changed = False
        tables = session_state.table(state, "lines")
        for known in [session_state.table(tables, scope) for scope in tables]:
            for file, old in known.items():
                if isinstance(old, list) and len(old) == 2 and (old[0] in words.hashes or words.within(str(old[1]))):
                    known[file], changed = [old[0], file.removesuffix(".md")], True
        if changed:
            fs.write_atomic(f"{directory}/{name}", fastjson.dumps(state).encode(), durable=False)


def _drop_proposals(root: str, words: PurgedWords) -> None:
    """Drop the proposals that have words of the memory; the others of their sets stay."""
    directory = root + "/proposals"
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        proposal = fastjson.loads_dict(fs.read_bytes(f"{directory}/{name}")) if name.endswith(".json") else {}
        changes = proposal.get("changes")
        every = changes if isinstance(changes, list) else []
        kept = [each for each in every if not words.within_any(each)]
        if every and not kept:
            fs.unlink(f"{directory}/{name}")
        elif len(kept) < len(every):
            data = json.dumps({**proposal, "changes": kept}, ensure_ascii=False, indent=2)
            fs.write_atomic(f"{directory}/{name}", data.encode("utf-8", "surrogatepass") + b"\n")


def directories_of(root: str, places: Iterable[str]) -> set[str]:
    """Return the directories that have an index with one of these files."""
    return {found for each in places if (found := reindexing.indexed(root, each)) is not None}
