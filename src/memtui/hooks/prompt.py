"""A prompt that has something to bring: take guidance, compose, print, log, remember."""

from memtui.core import claims, ids, inbox, render, session
from memtui.hooks import deliver, lists, runner


def deliver_prompt(
    hook: runner.Hook,
    state: "dict[str, object]",
    stamps: "dict[str, object]",
    unsettled: bool,
    changed: bool,
) -> None:
    """Everything that is due before this prompt. `stamps`: of the inboxes' pending updates; `unsettled`: earlier
    guidance of this session may not have arrived; `changed`: so may memories have."""
    if unsettled:
        from memtui.core import settle

        directories = [directory for _, directory in hook.inboxes()]
        settle.settle(hook.env, hook.root, session_id=hook.session_id, directories=directories)
    first = not state.get("prompted")
    delivery_id = ids.new_id()
    asker = deliver.asker(hook)
    taken: list[tuple[str, claims.Claim]] = []
    for scope, directory in hook.inboxes():
        claim = claims.take(directory, asker, delivery_id, deliver.budget(hook) - deliver.FRAME_UNITS)
        if claim is not None:
            taken.append((scope, claim))
    blocks = deliver.guidance_blocks(taken, asker.now)
    known = session.table(state, "updates")
    knows: dict[str, object] = dict(known)
    try:
        for scope, directory in hook.inboxes() if hook.mode == "full" else []:
            if stamps.get(scope) == session.table(state, "stamps").get(scope, 0):
                continue
            block, knows[scope] = lists.updates(hook, scope, directory, session.table(known, scope))
            if block is not None:
                blocks.append(block)
        for scope, directory in hook.inboxes() if first else []:
            block = lists.items(hook, scope, directory)
            if block is not None:
                blocks.append(block)
        after = {**state, "prompted": True, "stamps": stamps, "turn": [], "updates": knows}
        if changed:
            from memtui.hooks import index_block

            blocks.extend(index_block.changes(hook, after))
    except Exception as error:
        # A list that can't be read must not hold up the guidance that is already taken.
        runner.fail(hook.env, hook.event, error)
        after = {**state, "prompted": True}
    left_out = deliver.send(hook, delivery_id, blocks, taken)
    forget(after, left_out)
    remember(after, "turn", taken)
    if after != state:
        session.save(hook.root, hook.session_id, after)


def forget(after: "dict[str, object]", left_out: "list[render.Part]") -> None:
    """What found no room is new again at the next prompt."""
    for part in left_out:
        if part.item.get("kind") == "pending-update":
            scope = str(part.item["scope"])
            session.table(after, "stamps")[scope] = -1
            session.table(session.table(after, "updates"), scope).pop(str(part.item["id"]), None)


def remember(after: "dict[str, object]", key: str, taken: "list[tuple[str, claims.Claim]]") -> None:
    """Keep guidance that the client may drop from the context: `turn`, this turn's, lost when it is compacted in the
    middle of the turn; `tool`, what came before a tool, lost at a resume."""
    kept = after.get(key)
    notes = kept if isinstance(kept, list) else []
    for scope, claim in taken:
        notes.extend([[scope, inbox.render({**e.fields, "id": e.id}, e.text)] for e, _ in claim.entries])
    after[key] = notes
