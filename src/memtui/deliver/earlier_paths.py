"""The earlier places of memories: the log keeps the path that a memory had when it was delivered, and memtui may have
renamed or moved it since."""

import os
from collections.abc import Mapping
from typing import NamedTuple


class Span(NamedTuple):
    """Where the memory that a path had from `since` on (seconds since the epoch) is now: a path; the path itself where
    nothing more is known; empty if it is gone and another memory has its place."""

    since: float
    now: str


class EarlierPlaces:
    """The present places of memories by the paths that they had: `spans` by real path, oldest first, only of paths
    whose memories were renamed, moved or replaced."""

    def __init__(self, spans: Mapping[str, tuple[Span, ...]]) -> None:
        self.spans = spans
        self._files = {_file(path) for path in spans}
        self._real: dict[str, str] = {}
        self._names: dict[str, set[str]] = {}
        for path, spans_of_path in spans.items():
            for span in spans_of_path:
                self._names.setdefault(span.now, set()).add(stem(path))

    def moved(self, path: str) -> bool:
        """Whether what the log has under a path may be somewhere else now."""
        return _file(path) in self._files

    def now(self, path: str, seconds: float) -> str:
        """Return the present path of the memory that had a path at a time, the path itself if nothing is known of it;
        empty if it is gone and another memory has its place."""
        spans = self._spans(path)
        if not spans:
            return path
        path_then = next((span.now for span in reversed(spans) if span.since <= seconds), spans[0].now)
        return self._same_way(path, path_then)

    def latest(self, path: str) -> str:
        """Return the present path of the memory that has a path, or had it last."""
        spans = self._spans(path)
        if not spans or os.path.lexists(path):
            return path
        real = self._real[path]
        return self._same_way(path, next((span.now for span in reversed(spans) if span.now not in {"", real}), real))

    def names(self, path: str) -> set[str]:
        """Return the names under which the log may have the memory that is at a path, or has a name, now."""
        if "/" not in path:
            return {path}.union(*(aliases for now, aliases in self._names.items() if stem(now) == path))
        return self._names.get(path, set()) | self._names.get(os.path.realpath(path), set()) | {stem(path)}

    def _spans(self, path: str) -> tuple[Span, ...]:
        if not self.moved(path):
            return ()
        if path not in self._real:
            top, _, file = path.rpartition("/")
            self._real[path] = f"{os.path.realpath(top)}/{file}"
        return self.spans.get(self._real[path], ())

    def _same_way(self, path: str, path_now: str) -> str:
        """Return a real path as `path`, which may lead through symlinks, if both are in the same directory."""
        top, _, file = path_now.rpartition("/")
        return (
            f"{path.rpartition('/')[0]}/{file}" if path_now and top == self._real[path].rpartition("/")[0] else path_now
        )


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def stem(path: str) -> str:
    """Return the name of a memory by its path."""
    return _file(path).removesuffix(".md")


NOTHING_MOVED = EarlierPlaces({})
