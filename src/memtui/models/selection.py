"""Have a model select the memories that a prompt needs, as Claude Code does for its own: a catalogue of names,
descriptions and triggers goes out, the names of up to five come back. No text of a memory is sent."""

import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import error_log_hot
from memtui.models.call import ModelError, Schema
from memtui.models.model import RULE, LanguageModel, fenced
from memtui.recall import fields, judge_hot, own_words_hot, places_hot, query_hot, segment_hot
from memtui.redact.redact import kinds_in
from memtui.store import triggers

PURPOSE = "recall"
# Memories of the catalogue, at most: those that the words of the prompt find, then the newest.
CATALOGUE = 200
# Memories that the model may select; names that it may give before the invented ones are dropped.
MOST, MOST_NAMES = 5, 20
# Characters of a prompt, of a description, and of the triggers of one memory that are sent.
PROMPT, DESCRIPTION, TRIGGERS = 4000, 300, 400
ANSWER_TOKENS = 2000
SYSTEM = f"""\
You select notes for a coding agent. You get the prompt that it was given, and a catalogue of notes: the name of each,
what it is about, and when it is needed.

{RULE}

Name the notes that will clearly help the agent with this prompt, the most useful first, at most {MOST}. Judge by what
the catalogue says. If you are not sure that a note helps, leave it out. If none does, give an empty list."""

SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "notes": {"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": MOST_NAMES},
    },
    "required": ["notes"],
}


class CatalogueEntry(NamedTuple):
    """A memory of the catalogue: where it is, and what the model is told of it."""

    scope: str
    directory: str
    file: str
    name: str
    description: str
    triggers: tuple[str, ...]


def catalogue(root: str, where: Sequence[tuple[str, str]], words: str, now: float) -> list[CatalogueEntry]:
    """Return the memories that a model may choose from, those first that the words find; none with secrets."""
    allowed, muted = judge_hot.Allowed(root), judge_hot.muting(root, words)
    hits_by_file = {(hit.directory, hit.file): hit for hit in query_hot.search(root, where, words, CATALOGUE, allowed)}
    hits: list[query_hot.Hit] = []
    for scope, directory in where:
        try:
            hits += [query_hot.Hit(scope, directory, row) for row in segment_hot.living(root, directory)]
        except segment_hot.DAMAGED:
            continue
    for hit in sorted(hits, key=lambda hit: -hit.stamp[0]):
        if len(hits_by_file) >= CATALOGUE:
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


def _entry(hit: query_hot.Hit, allowed: judge_hot.Allowed, lines: Iterable[str]) -> CatalogueEntry | None:
    """Return a memory of the catalogue, as it is now; None if it is gone, or may not be sent, not even by its name."""
    try:
        if not locate_hot.is_memory(hit.directory, hit.path):
            return None
        data = fs_hot.read_bytes(hit.path, fields.MOST_BYTES)
    except OSError:
        return None
    if not allowed(hit.scope, hit.directory, ids_hot.digest(data)):
        return None
    if kinds_in(data.decode("utf-8", "replace"), ""):
        return None
    texts = fields.read(data, hit.file, lines)
    own = tuple(line for line in texts.texts["triggers"].split("\n") if line)
    return CatalogueEntry(hit.scope, hit.directory, hit.file, texts.name, texts.description, own)


def select(model: LanguageModel, prompt: str, entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
    """Return the memories that the model selects, at most MOST, none invented. Raises ModelError, MemtuiError."""
    if not entries:
        return []
    entries_by_name = {f"m{number} {os.path.basename(each.file)}": each for number, each in enumerate(entries, 1)}
    lines = []
    for name, entry in entries_by_name.items():
        when = "; ".join(" ".join(trigger.split()) for trigger in entry.triggers)[:TRIGGERS]
        about = " ".join(entry.description.split())[:DESCRIPTION]
        lines.append(f"- {name}: {about}" + (f" (needed: {when})" if when else ""))
    head = fenced("notes", "\n".join(lines))
    answer = model.ask(PURPOSE, SYSTEM, fenced("prompt", prompt[:PROMPT]), SCHEMA, head=head, most=ANSWER_TOKENS)
    numbers = {name.partition(" ")[0]: catalogue_entry for name, catalogue_entry in entries_by_name.items()}
    chosen = (numbers.get(str(name).strip().partition(" ")[0]) for name in answer["notes"])
    return list(dict.fromkeys(catalogue_entry for catalogue_entry in chosen if catalogue_entry is not None))[:MOST]


PART = "select"
# Seconds that an answer may take: then the agent is long at work. And those after which the process ends by itself.
WAIT, MOST_SECONDS = 30.0, 60


def run(env: dict[str, str], payload: Mapping[str, object]) -> None:
    """Ask about a hook's prompt; without an answer what was recalled stays. Raises MemtuiError, OSError."""
    root, session = paths_hot.root(env), transcript_hot.text_of(payload.get("session_id"))
    key = session_state_hot.load_part(root, session, PART).get("key")
    prompt = transcript_hot.text_of(payload.get("prompt"))
    words, why = own_words_hot.counted(prompt)
    if not key or why:
        return
    cwd = paths_hot.started_in(env, transcript_hot.text_of(payload.get("cwd")))
    where = places_hot.of_session(env, cwd)
    entries = catalogue(root, where, words, clock_hot.now())
    end = time.monotonic() + WAIT

    def over() -> bool:
        return time.monotonic() > end or session_state_hot.load_part(root, session, PART).get("key") != key

    try:
        selected = select(LanguageModel(env, root, cwd, cancelled=over), prompt, entries)
    except ModelError:
        return
    if not over():
        memories = [[verdict.scope, verdict.directory, verdict.file] for verdict in selected]
        session_state_hot.save_part(root, session, PART, {"key": key, "memories": memories})


def main() -> None:
    """Ask about the payload on standard input. Never raises."""
    env = dict(os.environ)
    signal.alarm(MOST_SECONDS)
    try:
        run(env, fastjson_hot.loads_dict(sys.stdin.buffer.read()))
    except (MemtuiError, OSError, ValueError) as error:
        error_log_hot.add(paths_hot.root(env), "select", error)


if __name__ == "__main__":
    main()
