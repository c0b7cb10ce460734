"""The memories of a session that the subconscious knows of: names, descriptions and triggers, none of their texts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtui.base import fs, ids
from memtui.client import locate
from memtui.recall import fields, judge, query, segment
from memtui.redact.redact import kinds_in
from memtui.store import triggers

# Memories, at most: those that the words of the turn find, then the newest.
MOST = 200


class CatalogueEntry(NamedTuple):
    """A memory of the catalogue, and what the model is told of it."""

    scope: str
    directory: str
    file: str
    name: str
    description: str
    triggers: tuple[str, ...]


def catalogue(root: str, where: Sequence[tuple[str, str]], words: str, now: float) -> list[CatalogueEntry]:
    """Return the memories that a model may be told of, those that some words find first; none that may not be
    delivered, or that seems to hold a secret."""
    allowed, muted = judge.Allowed(root), judge.muting(root, words)
    hits_by_file = {(hit.directory, hit.file): hit for hit in query.search(root, where, words, MOST, allowed)}
    hits: list[query.Hit] = []
    for scope, directory in where:
        try:
            hits += [query.Hit(scope, directory, row) for row in segment.living(root, directory)]
        except segment.DAMAGED:
            continue
    for hit in sorted(hits, key=lambda hit: -hit.stamp[0]):
        if len(hits_by_file) >= MOST:
            break
        if allowed(hit.scope, hit.directory, hit.digest):
            hits_by_file.setdefault((hit.directory, hit.file), hit)
    lines = {directory: triggers.lines_of(root, directory) for _, directory in where}
    entries = []
    for hit in hits_by_file.values():
        if (0.0 < hit.expires <= now) or muted(hit.directory, hit.file):
            continue
        entry = _entry(hit, allowed, [trigger.text for trigger in lines[hit.directory].get(hit.file, [])])
        if entry is not None:
            entries.append(entry)
    return entries


def _entry(hit: query.Hit, allowed: judge.Allowed, lines: Iterable[str]) -> CatalogueEntry | None:
    """Return a memory of the catalogue, as it is now; None if it is gone, or may not be sent, not even by its name."""
    try:
        if not locate.is_memory(hit.directory, hit.path):
            return None
        data = fs.read_bytes(hit.path, fields.MOST_BYTES)
    except OSError:
        return None
    if not allowed(hit.scope, hit.directory, ids.digest(data)):
        return None
    if kinds_in(data.decode("utf-8", "replace"), ""):
        return None
    texts = fields.read(data, hit.file, lines)
    own = tuple(line for line in texts.texts["triggers"].split("\n") if line)
    return CatalogueEntry(hit.scope, hit.directory, hit.file, texts.name, texts.description, own)
