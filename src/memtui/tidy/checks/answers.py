"""Answers that checks worked out, in one file, by what they depend on: texts, files, git. Losing it costs only time."""

import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import memtui
from memtui.base import fastjson_hot, fs_hot


@cache
def _code() -> str:
    """Return what changes with any source or word list of memtui: answers of other code do not count."""
    top = os.path.dirname(memtui.__file__)
    files = [f"{here}/{name}" for here, _, names in os.walk(top) if not here.endswith("__pycache__") for name in names]
    stamps = "\n".join(f"{path}:{fs_hot.stamp(path)}" for path in sorted(files))
    return hashlib.blake2b(f"{memtui.__version__}\n{stamps}".encode("utf-8", "replace")).hexdigest()


class Answers:
    """Answers, values that JSON holds, of the file `path`, if any. Those that a run does not ask for go at its end."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._asked: dict[str, Any] = {}
        self._known: dict[str, Any] = fastjson_hot.table(fs_hot.read_table(path), _code()) if path else {}
        self._is_doubted = False

    def of(self, question: str, facts: str | bytes, work_out: Callable[[], Any]) -> Any:
        """Return the answer to a question that depends on nothing but `facts`; worked out if it is not known."""
        data = facts if isinstance(facts, bytes) else facts.encode("utf-8", "surrogatepass")
        key = f"{question}:{hashlib.blake2b(data, digest_size=20).hexdigest()}"
        if key in self._asked:
            return self._asked[key]
        answer = self._known[key] if key in self._known else work_out()
        if not self._is_doubted:
            self._asked[key] = answer
        self._is_doubted = False
        return answer

    def doubt(self) -> None:
        """Keep nothing of the answer that is being worked out: it may be another one next time."""
        self._is_doubted = True

    def save(self) -> None:
        """Write the file anew if an answer is new or was not asked for."""
        if self._path and self._asked.keys() != self._known.keys():
            fs_hot.write_cache(self._path, json.dumps({_code(): self._asked}, separators=(",", ":")).encode())
