"""Delivery with a prompt: claim the guidance, compose, print, log, and remember what the session was told."""

from memtui.base import clock, fastjson, fs, ids, session_state
from memtui.deliver import blocks as delivery_blocks
from memtui.hooks import deliver, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.inbox import claims
    from memtui.inbox.note_block import Oversize
    from memtui.recall import judge


def deliver_prompt(
    hook: runner.Hook,
    state: "dict[str, object]",
    stamps: "dict[str, object]",
    changed: "list[str]",
    recalled: "judge.Recalled | None" = None,
) -> None:
    """Deliver everything that is due with this prompt, and save the session's new `state`. `stamps`: of the inboxes'
    pending updates, by scope; `changed`: the paths whose memories may have changed; `recalled`: the memories that the
    prompt recalls, if any."""
    delivery_id = ids.new_id()
    maybe_told = bool(state.get("telling"))
    state = {key: value for key, value in state.items() if key != "telling"}
    claimed: list[claims.Claim] = []
    oversize: Oversize = {}
    if any(fs.stamp(directory + "/guidance.md") for _, directory in hook.inboxes()):
        claimed, oversize = deliver.collect(hook, deliver.asker(hook), delivery_id)
    try:
        # The ids of the notes that this session knows to be too long for a delivery.
        delivered = {str(name) for name in fastjson.rows(state, "told")}
        blocks: list[delivery_blocks.Block] = []
        parts: list[delivery_blocks.Block] = []
        if claimed or oversize:
            from memtui.inbox import note_block

            blocks, parts = note_block.notes(claimed, clock.now()), note_block.oversize(oversize, delivered)
        turn: dict[str, object] = {**state, "turn": of_this_turn(hook, state), "turn_of": hook.text("prompt_id")}
        after: dict[str, object] = {**turn, "prompted": True}
        # Whatever fails or takes too long must not hold up the guidance that is already claimed.
        parts += due_lists(hook, state, after, stamps)
        if hook.settings and hook.setting("subconscious") == "full":
            from memtui.hooks import subconscious_block

            parts += hook.attempt([], subconscious_block.blocks, hook, state, after)
        if changed:
            from memtui.hooks import index_block

            parts += hook.attempt([], index_block.news, hook, changed, after)
        try:
            if parts:
                # If no state can be saved, nothing is delivered: the same lists would come with every prompt. A hook
                # that dies from here on leaves a note that they may have been told.
                session_state.save(hook.root, hook.session_id, {**state, "telling": delivery_id})
                blocks += [delivery_blocks.repeated(block) for block in parts] if maybe_told else parts
        except Exception as error:
            runner.fail(hook.env, hook.event, error)
            after, oversize = turn, {}
        if recalled is not None:
            from memtui.hooks import recall_block

            giving = recall_block.Giving(hook)
            blocks += giving.blocks(recalled.injected(), deliver.budget(hook) - delivery_blocks.least(blocks))
    except BaseException:
        deliver.give_back(hook, claimed)
        raise
    left_out = deliver.send(hook, delivery_id, blocks, claimed)
    forget(after, left_out)
    if recalled is not None:
        giving.end(left_out)
    waiting = {str(part.item["id"]) for part in left_out}
    if oversize:
        after["told"] = sorted(delivered | (oversize.keys() - waiting))
    remember(after, "turn", claimed)
    if "lines" in after:
        index_block.save_known(hook, after)
    if after != state or maybe_told or parts:
        session_state.save(hook.root, hook.session_id, after)


def due_lists(
    hook: runner.Hook, state: "dict[str, object]", after: "dict[str, object]", stamps: "dict[str, object]"
) -> "list[delivery_blocks.Block]":
    """Return the blocks of pending updates and items that are due, and note in `after` what the session then knows."""
    blocks = []
    updates_told = fastjson.table(state, "updates")
    knows: dict[str, object] = dict(updates_told)
    for scope, directory in hook.inboxes() if hook.mode == "full" else []:
        if stamps.get(scope) != fastjson.table(state, "stamps").get(scope, 0):
            from memtui.hooks import lists

            news = hook.attempt(None, lists.updates, hook, scope, directory, fastjson.table(updates_told, scope))
            if news is not None:
                block, knows[scope] = news
                blocks += [block] if block is not None else []
    only = {str(entry_id) for entry_id in fastjson.rows(state, "waiting")} if state.get("prompted") else None
    for scope, directory in hook.inboxes() if only or not state.get("prompted") else []:
        from memtui.hooks import lists

        block = hook.attempt(None, lists.items, hook, scope, directory, only)
        blocks += [block] if block is not None else []
    after |= {"stamps": stamps, "updates": knows, "waiting": []}
    return blocks


def forget(after: "dict[str, object]", left_out: "list[delivery_blocks.Part]") -> None:
    """Note in `after` the parts that there was no room for, so that they are new again at the next prompt."""
    waiting = []
    for part in left_out:
        name = str(part.item["id"])
        if part.item.get("kind") == "pending-update":
            scope = str(part.item["scope"])
            fastjson.table(after, "stamps")[scope] = -1
            fastjson.table(fastjson.table(after, "updates"), scope).pop(name, None)
        elif part.item.get("kind") == "pending-item":
            waiting.append(name)
        elif part.item.get("kind") == "block":
            from memtui.hooks import subconscious_block

            subconscious_block.forget(after, name)
    if waiting:
        after["waiting"] = waiting


def of_this_turn(hook: runner.Hook, state: "dict[str, object]") -> "list[object]":
    """Return the guidance given so far in the turn under way. A prompt typed during the turn and a compaction have the
    turn's prompt id; a new turn has a new one. With a client that sends no prompt id, each prompt begins a turn."""
    turn = hook.text("prompt_id")
    same_turn = state.get("turn_of") == turn if turn else hook.event != "UserPromptSubmit"
    return list(fastjson.rows(state, "turn")) if same_turn else []


def remember(after: "dict[str, object]", key: str, claimed: "list[claims.Claim]") -> None:
    """Keep guidance that the client may drop from the context, under a `key` of `after`: `turn`, this turn's, dropped
    when a compaction comes in its middle; `tool`, guidance given before a tool, dropped at a resume."""
    notes = fastjson.rows(after, key)
    for claim in claimed:
        from memtui.inbox import format as inbox_format

        notes.extend([[claim.scope, inbox_format.render({**e.fields, "id": e.id}, e.text)] for e, _ in claim.entries])
    after[key] = notes
