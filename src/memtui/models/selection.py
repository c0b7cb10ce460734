"""Have a model select the memories that a prompt needs, as Claude Code does for its own: a catalogue of names,
descriptions and triggers goes out, the names of up to five come back. No text of a memory is sent."""

import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation
from memtui.deliver import error_log_hot
from memtui.models.call import ModelError, Schema
from memtui.models.model import RULE, LanguageModel, fenced
from memtui.models.prompts import PROMPTS
from memtui.recall import fields, judge_hot, own_words_hot, places_hot, query_hot, segment_hot, selection_state_hot
from memtui.redact.redact import kinds_in, redacted
from memtui.store import triggers

PURPOSE = "recall"
CATALOGUE = 200  # memories of the catalogue, at most: those that the words of the prompt find, then the newest
# Memories that the model may select; names that it may give before the invented ones are dropped.
MOST, MOST_NAMES = selection_state_hot.MOST, 20
PROMPT, DESCRIPTION, TRIGGERS = 4000, 300, 400  # characters of each that are sent, of triggers those of one memory
# Turns before the prompt that are sent, characters of a message of them, and bytes of the transcript's end to look in.
TURNS, SAID, TAIL_BYTES = 3, 1000, 1 << 20
ANSWER_TOKENS = 2000
SYSTEM = PROMPTS["selection"].format(rule=RULE, most=MOST)

SCHEMA: Schema = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": MOST_NAMES}},
    "required": ["notes"],
}


class CatalogueEntry(NamedTuple):
    """A memory of the catalogue: where it is, what the model is told of it, and the digest of its bytes."""

    scope: str
    directory: str
    file: str
    name: str
    description: str
    triggers: tuple[str, ...]
    digest: str = ""


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
    digest = ids_hot.digest(data)
    if not allowed(hit.scope, hit.directory, digest):
        return None
    if kinds_in(data.decode("utf-8", "replace"), ""):
        return None
    texts = fields.read(data, hit.file, lines)
    own = tuple(line for line in texts.texts["triggers"].split("\n") if line)
    return CatalogueEntry(hit.scope, hit.directory, hit.file, texts.name, texts.description, own, digest)


def select(
    model: LanguageModel, prompt: str, entries: Sequence[CatalogueEntry], messages: Iterable[tuple[str, str]] = ()
) -> list[CatalogueEntry]:
    """Return at most MOST memories that the model selects; `messages`: before it. Raises ModelError, MemtuiError."""
    if not entries:
        return []
    entries_by_name = {f"m{number} {os.path.basename(each.file)}": each for number, each in enumerate(entries, 1)}
    lines = []
    for name, entry in entries_by_name.items():
        when = "; ".join(" ".join(trigger.split()) for trigger in entry.triggers)[:TRIGGERS]
        about = " ".join(entry.description.split())[:DESCRIPTION]
        lines.append(f"- {name}: {about}" + (f" (needed: {when})" if when else ""))
    head = fenced("notes", "\n".join(lines))
    parts = [fenced(who, text[-SAID:] if who == "agent" else text[:SAID]) for who, text in messages]
    question = "\n\n".join([*parts, fenced("prompt", prompt[:PROMPT])])
    answer = model.ask(PURPOSE, SYSTEM, question, SCHEMA, head=head, most=ANSWER_TOKENS)
    numbers = {name.partition(" ")[0]: catalogue_entry for name, catalogue_entry in entries_by_name.items()}
    chosen = (numbers.get(str(name).strip().partition(" ")[0]) for name in answer["notes"])
    return list(dict.fromkeys(catalogue_entry for catalogue_entry in chosen if catalogue_entry is not None))[:MOST]


def messages_before(path: str, prompt: str) -> list[tuple[str, str]]:
    """List what a transcript has of the last turns before a prompt, as (who, text), oldest first, without secrets."""
    conversation = Conversation(None, redacted)
    try:
        for record in transcript_hot.Reader(path, transcript_hot.tail_start(path, TAIL_BYTES)):
            conversation.feed(record)
    except OSError:
        return []  # a first prompt has no transcript yet
    turns = list(map(conversation.own, conversation.turns))
    # The client may have written the prompt itself by now.
    at = next((at for at in range(len(turns) - 1, -1, -1) if turns[at].text.strip() == prompt.strip()), len(turns))
    answer = turns[at].agent if at < len(turns) else conversation.last_message
    lines = [line for turn in turns[max(0, at - TURNS) : at] for line in (("agent", turn.agent), ("person", turn.text))]
    return [(who, text) for who, text in (*lines, ("agent", answer)) if text.strip()]


# Seconds after which the process ends by itself: longer than an answer may be of use.
MOST_SECONDS = int(selection_state_hot.LONGEST) + 60
LOCK_SECONDS = 5.0


def run(env: dict[str, str], payload: Mapping[str, object]) -> None:
    """Ask about a hook's prompt, and leave what is selected for a later hook. Raises MemtuiError, OSError."""
    session, key, prompt, transcript = (
        transcript_hot.text_of(payload.get(name)) for name in ("session_id", "select", "prompt", "transcript_path")
    )
    root, (words, why) = paths_hot.root(env), own_words_hot.counted(prompt)

    def over() -> bool:
        return all(key != name for name, _, _ in selection_state_hot.asked_prompts(root, session))

    if why or over():
        return
    cwd = paths_hot.started_in(env, transcript_hot.text_of(payload.get("cwd")))
    messages = messages_before(transcript, prompt)
    words = "\n".join([words, *(text for who, text in messages if who == "person")])[: own_words_hot.MOST_CHARS]
    entries = catalogue(root, places_hot.of_session(env, cwd), words, clock_hot.now())
    try:
        selected = select(LanguageModel(env, root, cwd, cancelled=over), prompt, entries, messages)
    except ModelError:
        return
    rows = [[entry.scope, entry.directory, entry.file, entry.digest] for entry in selected]
    path = session_state_hot.path(root, session, selection_state_hot.ANSWERED)
    with fs_hot.Lock(f"{root}/run/worker-selected-{session_state_hot.safe(session)}.lock", LOCK_SECONDS):
        if rows and not over():
            answers = session_state_hot.load_part(root, session, selection_state_hot.ANSWERED)
            state = {**answers, key: rows, "v": session_state_hot.VERSION}
            fs_hot.write_atomic(path, fastjson_hot.dumps(state).encode(), durable=False)


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
