"""The memories that a prompt recalls: found, given, and noted, so that a session gets none of them twice."""

from memtui.core.base import clock, ids
from memtui.core.deliveries import given
from memtui.hooks import bundle, runner
from memtui.recall import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.deliveries import blocks as delivery_blocks

# Seconds that a tool waits for another one that begins at the same moment.
LOCK_SECONDS = 0.5


def find(hook: runner.Hook) -> "judge.Recalled | None":
    """Return what the prompt recalls, None if nothing is to be given. An error is logged: the prompt goes on."""
    try:
        from memtui.recall import own_words, places

        if own_words.counted(hook.text("prompt"))[1]:
            return None
        limits = judge.RecallLimits()
        if hook.settings:
            limits.most, limits.threshold = int(hook.number("recall_most")), hook.number("recall_threshold")
        where = places.of_session(hook.env, hook.started_in)
        had = given.Given(hook.root, hook.session_id)
        session = judge.Recipient(had.sent, had.units)
        found = judge.dry_run(hook.root, hook.text("prompt"), where, session, 0.0, limits, everything=False)
        return found if found.injected() else None
    except Exception as error:
        runner.fail(hook.env, hook.event, error)
        return None


def blocks(hook: runner.Hook, chosen: "list[judge.Verdict]", room: int) -> "list[delivery_blocks.Block]":
    """Return the blocks of the memories that a prompt gets, in `room` UTF-16 units, once the session has noted them. An
    error is logged, and then it gets none: what can't be noted would come with every prompt."""
    try:
        from memtui.core.deliveries import blocks as delivery_blocks
        from memtui.recall import memory_block

        made = memory_block.blocks(chosen, room, clock.now())
        if made:
            paths = {block.attributes["source"] for block in made}
            noted: dict[str, list[object]] = {
                each.hit.path: [each.seen, *each.stamp] for each in chosen if each.hit.path in paths
            }
            units = sum([delivery_blocks.units(part.text) for block in made for part in block.parts])
            given.Given(hook.root, hook.session_id).note(noted, units, tool=hook.event == "PreToolUse")
        return made
    except Exception as error:
        runner.fail(hook.env, hook.event, error)
        return []


def forget(hook: runner.Hook, paths: "set[str]") -> None:
    """Note that this session does not have the memories at these paths after all. An error is logged."""
    try:
        if paths:
            given.Given(hook.root, hook.session_id).forget(paths)
    except OSError as error:
        runner.fail(hook.env, hook.event, error)


def deliver(hook: runner.Hook, chosen: "list[judge.Verdict]") -> None:
    """Deliver memories where nothing else is due."""
    bundle.load("delivery")
    from memtui.hooks import deliver

    made = blocks(hook, chosen, deliver.budget(hook))
    if not made:
        return
    try:
        left_out = deliver.send(hook, ids.new_id(), made, [])
    except BaseException:
        forget(hook, {block.attributes["source"] for block in made})
        raise
    forget(hook, paths_of(left_out))


def bound(hook: runner.Hook, touched: "list[str]") -> None:
    """Give the memories that are bound to a path that a tool is about to touch, once a session. Never raises."""
    from memtui.recall import bound as binding

    try:
        from memtui.core.base import fs, session_state
        from memtui.recall import places

        where = places.of_session(hook.env, hook.started_in)
        found = binding.matching(hook.root, where, touched, hook.project_root)
        if not found:
            return
        # Several tools may begin at the same moment: one of them gets the memory.
        with fs.Lock(f"{hook.root}/run/worker-given-{session_state.safe(hook.session_id)}.lock", LOCK_SECONDS):
            had = given.Given(hook.root, hook.session_id)
            chosen = binding.due(hook.root, found, judge.Recipient(had.sent, had.units))
            if chosen:
                deliver(hook, chosen)
    except Exception as error:
        runner.fail(hook.env, hook.event, error)


def paths_of(parts: "list[delivery_blocks.Part]") -> "set[str]":
    """Return the paths of the recalled memories among some parts of blocks."""
    return {str(part.item["path"]) for part in parts if part.item.get("kind") == "recall"}
