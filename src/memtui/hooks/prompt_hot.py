"""Delivery with a prompt: claim the guidance, compose, print, log, and note what the session was told."""

from memtui.base import ids_hot, session_state_hot
from memtui.base.session_state_hot import SessionState
from memtui.deliver import blocks_hot
from memtui.hooks import deliver_hot
from memtui.hooks.runner_hot import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.inbox import claims_hot
    from memtui.inbox.note_block_hot import Oversize
    from memtui.recall import judge_hot

    Blocks = list[blocks_hot.Block]
    Stamps = dict[str, object] | None
    Recalled = judge_hot.Recalled | None


def deliver_prompt(
    hook: Hook, state: SessionState, has_notes: bool, stamps: "Stamps", changed: "list[str]", recalled: "Recalled"
) -> None:
    """Deliver what is due with this prompt and what it recalls; `stamps`: of updates by scope, None: no list is due."""
    delivery_id = ids_hot.new_id()
    was_telling, state.telling = state.telling, delivery_id
    with deliver_hot.Notes(hook, delivery_id) as notes:
        blocks = notes.claim(deliver_hot.recipient(hook)) if has_notes else []
        begin_turn(hook, state)
        lists: list[blocks_hot.Block] = []
        # Whatever fails or takes too long must not hold up the guidance that is already claimed.
        hook.attempt(None, _add_lists, hook, state, stamps, changed, notes.oversize, lists)
        blocks += map(blocks_hot.repeated, lists) if was_telling else lists
        if recalled is not None:
            from memtui.hooks import recall_block_hot

            giving = recall_block_hot.Giving(hook)
            blocks += giving.blocks(recalled.injected(), deliver_hot.budget(hook) - blocks_hot.least(blocks))
        left_out = deliver_hot.send(hook, delivery_id, blocks, notes)
    if recalled is not None:
        giving.end(left_out)
    note_guidance(state.turn, notes.claims)
    end(hook, state, left_out)


def end(hook: Hook, state: SessionState, left_out: "list[blocks_hot.Part]") -> None:
    """Save what the session was told, but for the parts that had no room. Raises OSError."""
    for part in left_out:
        state.forget(part.item)
    state.telling = ""
    if state.index:
        hook.attempt(None, session_state_hot.save_part, hook.root, hook.session_id, "index", state.index)
    state.save()


def _add_lists(
    hook: Hook, state: SessionState, stamps: "Stamps", changed: "list[str]", oversize: "Oversize", blocks: "Blocks"
) -> None:
    """Add the blocks of what a session is told once; none if no state can be saved: each prompt would bring them."""
    if stamps is not None or changed or oversize:
        state.save()
    if oversize:
        from memtui.inbox import note_block_hot

        news = {name: note for name, note in oversize.items() if name not in state.too_long}
        blocks += note_block_hot.oversize(news)
        state.too_long = [*state.too_long, *news]
    if stamps is not None:
        add_inbox_lists(hook, state, stamps, blocks)
    if hook.settings and hook.setting("subconscious") == "full":
        from memtui.hooks import model_blocks_hot

        blocks += hook.attempt([], model_blocks_hot.blocks, hook, state)
    if changed:
        from memtui.hooks import index_block_hot

        blocks += hook.attempt([], index_block_hot.news, hook, changed, state)
    state.prompted = True


def add_inbox_lists(hook: Hook, state: SessionState, stamps: "dict[str, object]", blocks: "Blocks") -> None:
    """Add the blocks of pending updates and items that are new to the session. `stamps`: of the updates, by scope."""
    only = set(map(str, state.waiting)) if state.prompted else None
    state.waiting = []
    for scope, directory in hook.inboxes() if hook.mode == "full" else []:
        if stamps.get(scope) != state.stamps.get(scope, 0):
            from memtui.hooks import lists_hot

            blocks += hook.attempt([], lists_hot.updates, hook, state, scope, directory)
            state.stamps[scope] = stamps.get(scope)
    for scope, directory in hook.inboxes() if only is None or only else []:
        from memtui.hooks import lists_hot

        blocks += hook.attempt([], lists_hot.items, hook, scope, directory, only)


def begin_turn(hook: Hook, state: SessionState) -> None:
    """Forget the guidance of earlier turns, by the prompt's id; without one, each prompt begins a turn."""
    turn = hook.text("prompt_id")
    same_turn = state.turn_of == turn if turn else hook.event != "UserPromptSubmit"
    if turn:
        state.turn_of = turn
    if not same_turn:
        state.turn = []


def note_guidance(notes: "list[object]", claimed: "list[claims_hot.Claim]") -> None:
    """Add guidance that the client may drop from the context to the `notes` of a state: `turn` or `tool`."""
    for claim in claimed:
        from memtui.inbox import format_hot

        notes += [[claim.scope, format_hot.render({**e.fields, "id": e.id}, e.text)] for e, _ in claim.entries]
