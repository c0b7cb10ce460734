"""What a model brings to a session.

The blocks of the subconscious, where the setting `subconscious` is full: all at its start, later what changed since it
was told of them, before a tool too. The session's state has under `blocks` what it knows: `stamps` of the files, the
`texts`, and the names of those given before a `tool`.

Memories that a model selects for a prompt, in the background (setting `recall_select`): asked for at the prompt, given
before the next tool if the answer is there by then, else dropped. The part `select` of a session's state: `key` of the
prompt, and once the model has answered `memories`, each [scope, directory, file]."""

import posix

from memtui.base import fastjson_hot, fs_hot, ids_hot, session_state_hot
from memtui.hooks.runner_hot import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.deliver import blocks_hot
    from memtui.recall import bindings_hot

KIND = "block"
INTRO = (
    "Notes that memtui's subconscious, a model that reads sessions in the background, keeps for the user. The user can"
    " see and change them; they may be wrong."
)
CHANGED = "What changed in the notes of memtui's subconscious since this session last saw them (+ new, - gone)."
PART = "select"
# Memories that a prompt gets in this way, at most.
MOST = 5
REASON = "selected by a model"


def changed(hook: Hook, state: session_state_hot.SessionState) -> "dict[str, object] | None":
    """Return the stamps of the blocks' files if they are others than those that the session knows, else None."""
    from memtui.models.subconscious import block_files_hot

    now = block_files_hot.stamps(hook.root, hook.slug)
    return now if now != fastjson_hot.table(state.blocks, "stamps") else None


def blocks(hook: Hook, state: session_state_hot.SessionState) -> "list[blocks_hot.Block]":
    """Return the block of what the session does not know yet, and note in its state what it then knows."""
    stamps = changed(hook, state)
    if stamps is None:
        return []
    from memtui.deliver import blocks_hot
    from memtui.models.subconscious import block_files_hot

    texts = fastjson_hot.table(state.blocks, "texts")
    texts_by_name: dict[str, object] = {}
    parts = []
    for name in block_files_hot.BLOCKS:
        text = (
            block_files_hot.text(hook.root, hook.slug, name)
            if name != block_files_hot.DIRECTIVES and name in stamps
            else ""
        )
        before = texts.get(name)
        old = before if isinstance(before, str) else ""
        if text:
            texts_by_name[name] = text
        if text == old:
            continue
        body = blocks_hot.difference(old, text) if old else text
        scope, path = (
            "project" if block_files_hot.BLOCKS[name][0] else "global",
            block_files_hot.path(hook.root, hook.slug, name),
        )
        item = blocks_hot.item(KIND, name, scope, path, ids_hot.content_hash(text), "changed" if old else "new")
        parts.append(blocks_hot.Part(f"[{name}]\n{body}", name, item))
    names = [*fastjson_hot.rows(state.blocks, "tool"), *[part.label for part in parts if hook.event == "PreToolUse"]]
    state.blocks = {"stamps": stamps, "texts": texts_by_name, **({"tool": [*{*names}]} if names else {})}
    if not parts:
        return []
    fields = {"source": block_files_hot.home(hook.root)}
    if texts:
        fields["change"] = "diff"
    return [blocks_hot.Block(blocks_hot.TAGS[KIND], fields, CHANGED if texts else INTRO, parts)]


def blocks_before_tool(hook: Hook, state: session_state_hot.SessionState, units: int) -> "list[blocks_hot.Block]":
    """Return `blocks` beside what has so many UTF-16 units; none if they do not fit whole: the next prompt says so."""
    from memtui.deliver import blocks_hot

    known = state.blocks
    news = blocks(hook, state)
    if units + blocks_hot.least(news) <= hook.number("budget"):
        return news
    state.blocks = known
    return []


def forget_before_tool(state: session_state_hot.SessionState) -> None:
    """Note that the session does not know what it was given before a tool: its client dropped that at a resume."""
    for name in fastjson_hot.rows(state.blocks, "tool"):
        state.forget({"kind": KIND, "id": name})
    state.blocks.pop("tool", None)


def wanted(hook: Hook) -> bool:
    """Tell whether a model may select memories for this session's prompts."""
    on = hook.settings and hook.mode == "full" and hook.setting("recall_select") and hook.setting("recall") != "off"
    return bool(on) and hook.setting("llm_backend") != "off"


def start(hook: Hook) -> None:
    """Have a model asked about the prompt, in a process that nobody waits for. Raises OSError."""
    from memtui.hooks import worker_start_hot
    from memtui.recall import own_words_hot

    if not wanted(hook) or own_words_hot.counted(hook.text("prompt"))[1]:
        fs_hot.unlink(session_state_hot.path(hook.root, hook.session_id, PART))
        return
    session_state_hot.save_part(hook.root, hook.session_id, PART, {"key": ids_hot.new_id()})
    worker_start_hot.detach(hook, "select")


def take(hook: Hook) -> "list[bindings_hot.Bound]":
    """Return what the model selected, which no other hook gets then. An answer that is not there yet is dropped."""
    path = session_state_hot.path(hook.root, hook.session_id, PART)
    try:
        memories = fastjson_hot.rows(session_state_hot.load_part(hook.root, hook.session_id, PART), "memories")
        posix.unlink(path)
    except OSError:
        return []  # nothing was asked, or another tool that begins at the same moment gives it
    rows = [row for row in memories if isinstance(row, list) and len(row) == 3]
    return [(str(row[0]), str(row[1]), str(row[2]), REASON) for row in rows[:MOST]]
