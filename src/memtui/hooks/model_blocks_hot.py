"""What a model brings to a session: blocks of the subconscious, and memories that it selects for a prompt.

Blocks (setting `subconscious`) all come at its start, then what changed, also before a tool. Under `blocks` the state
has what it knows: `stamps` of the files, the `texts`, and the names of those given before a `tool`. Memories (setting
`recall_select`) are asked for at a prompt, and come before the next tool, else with the next prompt if that goes on
with it (recall/selection_state_hot.py)."""

from memtui.base import clock_hot, fastjson_hot, ids_hot, paths_hot, session_state_hot
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
        is_told = name != block_files_hot.DIRECTIVES and name in stamps
        text = block_files_hot.text(hook.root, hook.slug, name) if is_told else ""
        old = fastjson_hot.text(texts, name)
        if text:
            texts_by_name[name] = text
        if text == old:
            continue
        body = blocks_hot.difference(old, text) if old else text
        scope = "project" if block_files_hot.BLOCKS[name][0] else "global"
        path = block_files_hot.path(hook.root, hook.slug, name)
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

    before = state.blocks
    news = blocks(hook, state)
    if units + blocks_hot.least(news) <= hook.number("budget"):
        return news
    state.blocks = before
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


def begin_prompt(hook: Hook) -> "list[bindings_hot.Bound]":
    """Have a model asked about the prompt; return what was selected for the one before, if it fits. Raises OSError."""
    from memtui.recall import selection_state_hot

    if not wanted(hook) or not paths_hot.exists(hook.root + "/recall"):
        selection_state_hot.forget(hook.root, hook.session_id)
        return []
    key = selection_state_hot.begin(hook.root, hook.session_id, hook.text("prompt"), clock_hot.now())
    if key:
        from memtui.hooks import worker_start_hot

        hook.payload["select"] = key
        worker_start_hot.detach(hook, "select")
    return selection_state_hot.take(hook.root, hook.session_id)


def take(hook: Hook) -> "list[bindings_hot.Bound]":
    """Return what a model selected by now, which no other hook gets then. Raises OSError."""
    if not wanted(hook):
        return []
    from memtui.recall import selection_state_hot

    return selection_state_hot.take(hook.root, hook.session_id)
