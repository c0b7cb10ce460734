"""What is read of many texts, a row a line of `NAME.jsonl` beside a test module: the arguments, and what was read of them.

A change that means to read them otherwise writes these files anew with MEMTUI_RENEW_SNAPSHOTS=1, in one
process (without -n); then read the diff."""

import json
import os
from pathlib import Path


def shown(value):
    """A value as JSON has it: tuples, named ones and sets are lists, bytes are text, others are told by their fields."""
    if isinstance(value, dict):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()
    if isinstance(value, (set, frozenset)):
        return sorted(map(shown, value), key=str)
    if value is None or isinstance(value, (str, int, float)):
        return round(value, 9) if isinstance(value, float) else value
    fields = getattr(value, "__slots__", None) or getattr(value, "__dict__", None)
    if not fields or isinstance(value, tuple):
        return [shown(item) for item in value] if hasattr(value, "__iter__") else str(value)
    return {name: shown(getattr(value, name)) for name in fields}


def rows(module, name):
    """The rows of `NAME.jsonl` beside a module."""
    text = Path(module).with_name(name + ".jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def check(module, name, *readers, only=None):
    """Assert that each reader makes of the rows (of one: `only`) what it made of them; an error is what ours says."""
    path, new = Path(module).with_name(name + ".jsonl"), rows(module, name)
    for at in range(len(new)) if only is None else [only]:
        arguments, read = new[at][0], []
        for reader in readers:
            try:
                read.append(shown(reader(*arguments)))
            except Exception as error:
                ours = type(error).__module__.startswith("memtui")
                read.append([type(error).__name__, str(error).partition(":")[0] if ours else ""])
        new[at] = [arguments, *read]
    if os.environ.get("MEMTUI_RENEW_SNAPSHOTS"):
        path.write_text("".join(json.dumps(row) + "\n" for row in new), encoding="utf-8")
    assert [(row, before) for row, before in zip(new, rows(module, name), strict=True) if row != before] == []
