"""Sets to measure recall with: memories by store, and prompts with the memories that would help.

A set is a folder with `set.json`, or such a file: `{"queries": [{"store", "text", "kind", "gold": [{"path", "grade"}]}]}`. The
memories of a store are a folder `stores/NAME`, `memories/NAME` or `NAME` beside it, or one text file `stores/NAME.txt`
in which each memory begins with a line `=== PATH`. `triggers.jsonl` beside it has a line a memory:
`{"store", "path", "triggers": [...]}`. `everyday.txt` beside it has a prompt a line; it is asked in each store, and
no memory helps with it unless the set has it as a query of that store.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# The kind of a prompt that says nothing of a project: “run the tests”.
EVERYDAY = "everyday"


@dataclass
class Query:
    """A prompt in a store; `gold`: what each memory that would help is worth, by its path; nothing for kind none."""

    store: str
    text: str
    kind: str
    gold: dict[str, int] = field(default_factory=dict)


@dataclass
class RecallSet:
    """The bytes of each memory by store and path, prompts, and trigger lines by (store, path)."""

    name: str
    stores: dict[str, dict[str, bytes]]
    queries: list[Query]
    triggers: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def digest(self) -> str:
        """Return a hash of all that is in it, 16 characters: what was measured, without naming it."""
        found = hashlib.sha256()
        for store, files in sorted(self.stores.items()):
            for path, data in sorted(files.items()):
                found.update(f"{store}\0{path}\0{len(data)}\0".encode() + data)
        rows = [(query.store, query.text, query.kind, sorted(query.gold.items())) for query in self.queries]
        found.update(json.dumps([rows, sorted(self.triggers.items())]).encode())
        return found.hexdigest()[:16]

    def write(self, directory: str, with_triggers: bool) -> dict[str, str]:
        """Write each store as a folder, triggers into the frontmatter; return the folders by store."""
        found = {}
        for number, (store, files) in enumerate(sorted(self.stores.items())):
            place = found[store] = f"{directory}/{number}/memory"
            for path, data in files.items():
                lines = self.triggers.get((store, path), []) if with_triggers else []
                full = f"{place}/{path}"
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "wb") as file:
                    file.write(with_lines(data, lines))
        return found


def with_lines(data: bytes, triggers: Iterable[str]) -> bytes:
    """Return a memory's bytes with trigger lines in its frontmatter, which is made if there is none."""
    lines = [f"  - {json.dumps(line, ensure_ascii=False)}\n" for line in triggers]
    if not lines:
        return data
    block = "".join(["triggers:\n", *lines]).encode()
    first = data.find(b"\n") + 1
    if data[:first].rstrip() == b"---":
        return data[:first] + block + data[first:]
    return b"---\n" + block + b"---\n\n" + data


def read(path: str, memories: str = "", triggers: str = "") -> RecallSet:
    """Read a set. `memories`: the folder of its stores; `triggers`: the file of its trigger lines, if they are not beside
    it. Raises OSError; ValueError if it is no set."""
    file = os.path.join(path, "set.json") if os.path.isdir(path) else path
    with open(file, encoding="utf-8") as opened:
        content = json.load(opened)
    name = os.path.basename(path.rstrip("/"))
    if "queries" not in content:
        raise ValueError(f"{file} has no queries")
    folder = os.path.dirname(os.path.abspath(file))
    queries = [
        Query(row["store"], row["text"], row["kind"], {each["path"]: each.get("grade", 1) for each in row["gold"]})
        for row in content["queries"]
    ]
    usual = os.path.join(folder, "everyday.txt")
    if os.path.exists(usual):
        with open(usual, encoding="utf-8") as opened:
            lines_of_work = opened.read().splitlines()
        names = sorted({query.store for query in queries})
        own = {(query.store, query.text) for query in queries}
        pairs = [(store, line) for line in lines_of_work for store in names if (store, line) not in own]
        queries += [Query(store, line, EVERYDAY) for store, line in pairs]
    beside = os.path.join(folder, "triggers.jsonl")
    lines = triggers or (beside if os.path.exists(beside) else "")
    stores = {store: _store(folder, memories, store) for store in {query.store for query in queries}}
    return RecallSet(name, stores, queries, _triggers(lines) if lines else {})


def _triggers(path: str) -> dict[tuple[str, str], list[str]]:
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {(row["store"], row["path"]): row["triggers"] for row in rows}


def _store(folder: str, memories: str, name: str) -> dict[str, bytes]:
    """Return the memories of a store by their paths. Raises ValueError if it is nowhere."""
    above = [memories] if memories else [f"{folder}/stores", f"{folder}/memories", folder]
    for place in above:
        if os.path.isdir(f"{place}/{name}"):
            return dict(_files(f"{place}/{name}"))
        if os.path.exists(f"{place}/{name}.txt"):
            with open(f"{place}/{name}.txt", encoding="utf-8") as file:
                return unpacked(file.read())
    raise ValueError(f"no memories of store {name!r} in {' or '.join(above)}")


def unpacked(text: str) -> dict[str, bytes]:
    """Return the memories of a store that is one text, by their paths."""
    parts = re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)[1:]
    return {path: body.rstrip("\n").encode() + b"\n" for path, body in zip(parts[::2], parts[1::2], strict=True)}


def _files(folder: str) -> Iterator[tuple[str, bytes]]:
    for top, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(".md"):
                full = os.path.join(top, name)
                with open(full, "rb") as file:
                    yield os.path.relpath(full, folder), file.read()
