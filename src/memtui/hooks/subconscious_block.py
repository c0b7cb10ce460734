"""The blocks of the subconscious for a session, where the setting `subconscious` is full: all at its start, later what
changed since it was told of them.

The session's state has under `blocks` what it knows: `stamps` of the files, and the text of each as it was told."""

from memtui.base import fastjson, ids, session_state
from memtui.deliver import blocks as delivery_blocks
from memtui.hooks.runner import Hook
from memtui.models.subconscious import block_files

KIND = "block"
INTRO = (
    "Notes that memtui's subconscious, a model that reads sessions in the background, keeps for the user. The user can"
    " see and change them; they may be wrong."
)
CHANGED = "What changed in the notes of memtui's subconscious since this session last saw them (+ new, - gone)."


def changed(hook: Hook, state: session_state.SessionState) -> "dict[str, object] | None":
    """Return the stamps of the blocks' files if they are others than those that the session knows, else None."""
    now = block_files.stamps(hook.root, hook.slug)
    return now if now != fastjson.table(state.blocks, "stamps") else None


def blocks(hook: Hook, state: session_state.SessionState) -> "list[delivery_blocks.Block]":
    """Return the block of what the session does not know yet, and note in its state what it then knows."""
    stamps = changed(hook, state)
    if stamps is None:
        return []
    texts = fastjson.table(state.blocks, "texts")
    texts_by_name: dict[str, object] = {}
    parts = []
    for name in block_files.BLOCKS:
        text = block_files.text(hook.root, hook.slug, name) if name != block_files.DIRECTIVES and name in stamps else ""
        before = texts.get(name)
        old = before if isinstance(before, str) else ""
        if text:
            texts_by_name[name] = text
        if text == old:
            continue
        body = delivery_blocks.difference(old, text) if old else text
        scope, path = (
            "project" if block_files.BLOCKS[name][0] else "global",
            block_files.path(hook.root, hook.slug, name),
        )
        item = delivery_blocks.item(KIND, name, scope, path, ids.content_hash(text), "changed" if old else "new")
        parts.append(delivery_blocks.Part(f"[{name}]\n{body}", name, item))
    state.blocks = {"stamps": stamps, "texts": texts_by_name}
    if not parts:
        return []
    fields = {"source": block_files.home(hook.root)}
    if texts:
        fields["change"] = "diff"
    return [delivery_blocks.Block(delivery_blocks.TAGS[KIND], fields, CHANGED if texts else INTRO, parts)]
