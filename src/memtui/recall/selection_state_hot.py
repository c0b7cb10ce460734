"""What a model selects for the prompts of a session (setting `recall_select`), and whether that still fits. Hot path.

Two parts of the session's state. Hooks write `select`: `asked`, of the present prompt and of the one before, each [key,
seconds, hashes of its words], the newest first, and `prompt`, the key of the present one if it was asked about. The
processes that ask write `selected`: by key, the memories, each [scope, directory, file, digest of what was selected].

A selection outlives its prompt if the next one, within LONGEST seconds, shares a word with it or has none of its own
(“yes”, “and for the other one?”). A command of the client, a compaction and another session end it."""

import posix

from memtui.base import fastjson_hot, fs_hot, ids_hot, session_state_hot

ASKED, ANSWERED = "select", "selected"
LONGEST = 600.0
MOST = 5  # memories that a prompt gets in this way, at most
REASON, REASON_BEFORE = "selected by a model", "selected by the model for the prompt before"
TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.recall.bindings_hot import Bound


def begin(root: str, session_id: str, prompt: str, now: float) -> str:
    """Note a prompt, drop what was asked about others, and return the key to ask about it with. Raises OSError."""
    from memtui.recall import own_words_hot, words_hot

    text, why = own_words_hot.counted(prompt)
    if why == "machine":
        return ""
    terms = set(words_hot.terms(text)) - words_hot.COMMON - words_hot.SMALLTALK
    words = {str(ids_hot.number_of(term.encode())) for term in terms}
    before = asked_prompts(root, session_id)[:1] if why != "command" else []
    recent = [row for row in before if 0.0 <= now - row[1] <= LONGEST]
    prompts = [row for row in recent if not words or words.intersection(row[2].split())]
    key = "" if why else ids_hot.new_id(now)
    if key:
        prompts.insert(0, (key, now, " ".join(words) or (prompts[0][2] if prompts else "")))
    session_state_hot.save_part(root, session_id, ASKED, {"prompt": key, "asked": prompts})
    return key


def asked_prompts(root: str, session_id: str) -> "list[tuple[str, float, str]]":
    """List the prompts whose selections are still wanted, as (key, seconds, hashes of words), the newest first."""
    rows = fastjson_hot.rows(session_state_hot.load_part(root, session_id, ASKED), "asked")
    sound = [row for row in rows if isinstance(row, list) and len(row) == 3 and isinstance(row[1], (int, float))]
    return [(str(row[0]), row[1], str(row[2])) for row in sound]


def take(root: str, session_id: str) -> "list[Bound]":
    """Take what was selected, the present prompt's first, without memories that changed since. Raises OSError."""
    path = session_state_hot.path(root, session_id, ANSWERED)
    part = f"{ANSWERED}-{posix.getpid()}"
    try:
        posix.rename(path, session_state_hot.path(root, session_id, part))
    except OSError:
        return []  # there is none yet, or another hook at the same moment has it
    from memtui.recall import content_hot

    answers = session_state_hot.load_part(root, session_id, part)
    posix.unlink(session_state_hot.path(root, session_id, part))
    present = fastjson_hot.text(session_state_hot.load_part(root, session_id, ASKED), "prompt")
    memories: dict[tuple[str, str, str], Bound] = {}
    for key, _, _ in asked_prompts(root, session_id):
        reason = REASON if key == present else REASON_BEFORE
        for row in fastjson_hot.rows(answers, key)[:MOST]:
            if isinstance(row, list) and len(row) == 4:
                scope, directory, file, digest = map(str, row)
                if ids_hot.digest(fs_hot.head(f"{directory}/{file}", content_hot.READ_BYTES)) == digest:
                    memories.setdefault((scope, directory, file), (scope, directory, file, reason))
    return list(memories.values())[:MOST]


def end(root: str, session_id: str) -> None:
    """Drop what has no answer when the session ends: who resumes it is given the others. Raises OSError."""
    answers = session_state_hot.load_part(root, session_id, ANSWERED)
    prompts = [row for row in asked_prompts(root, session_id) if row[0] in answers]
    session_state_hot.save_part(root, session_id, ASKED, {"asked": prompts})


def forget(root: str, session_id: str) -> None:
    """Drop all that was asked and answered. Raises OSError."""
    for part in (ASKED, ANSWERED):
        fs_hot.unlink(session_state_hot.path(root, session_id, part))
