"""The memories that a prompt recalls: found, given, and noted, so that a session gets none of them twice."""

from memtui.base import clock, ids
from memtui.deliver import session_memories
from memtui.hooks import bundle, runner
from memtui.recall import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.base import fs
    from memtui.deliver import blocks as delivery_blocks
    from memtui.recall import bindings


def find(hook: runner.Hook) -> "judge.Recalled | None":
    """Return what the prompt recalls, None if nothing is to be given."""
    from memtui.recall import own_words, places

    if own_words.counted(hook.text("prompt"))[1]:
        return None
    limits = judge.RecallLimits()
    if hook.settings:
        limits.most, limits.threshold = int(hook.number("recall_most")), hook.number("recall_threshold")
        if hook.setting("semantic"):
            bundle.load("sentences")
            limits.sentences = True
    where = places.of_prompt(hook.env, hook.root, hook.started_in)
    session = session_memories.SessionMemories(hook.root, hook.session_id)
    recalled = judge.dry_run(hook.root, hook.text("prompt"), where, session, 0.0, limits, everything=False)
    return recalled if recalled.injected() else None


class Giving:
    """Memories on their way to a session. What it has is locked from before they are noted until they are printed."""

    __slots__ = ("_had", "_hook", "_lock", "_noted")

    def __init__(self, hook: runner.Hook) -> None:
        self._hook = hook
        self._lock: fs.Lock | None = None
        self._had: session_memories.SessionMemories | None = None
        self._noted = False

    def had(self) -> session_memories.SessionMemories:
        """Return what the session has, locked from now on. Raises OSError."""
        if self._had is None:
            self._lock = session_memories.lock(self._hook.root, self._hook.session_id).__enter__()
            self._had = session_memories.SessionMemories(self._hook.root, self._hook.session_id)
        return self._had

    def begin(self, noted: "dict[str, list[object]]", units: int) -> None:
        """Note memories before they are printed, of so many UTF-16 units. Raises OSError."""
        self.had().begin(noted, units, tool=self._hook.event == "PreToolUse")
        self._noted = self._noted or bool(noted)

    def blocks(self, chosen: "list[judge.Verdict]", room: int) -> "list[delivery_blocks.Block]":
        """Return the blocks of memories in `room` UTF-16 units, once they are noted, without those given meanwhile. An
        error is logged, and then there are none: what can't be noted would come with every prompt."""
        try:
            bundle.load("memories")
            from memtui.deliver import blocks as delivery_blocks
            from memtui.recall import memory_block

            sent_before = self.had().sent
            chosen = [verdict for verdict in chosen if sent_before.get(verdict.hit.path, [""])[0] != verdict.seen]
            blocks = memory_block.blocks(chosen, room, clock.now())
            if blocks:
                paths = {block.attributes["source"] for block in blocks}
                noted: dict[str, list[object]] = {
                    verdict.hit.path: [verdict.seen, *verdict.stamp] for verdict in chosen if verdict.hit.path in paths
                }
                self.begin(noted, sum([delivery_blocks.units(part.text) for block in blocks for part in block.parts]))
            return blocks
        except Exception as error:
            self._noted = False  # what is noted by now counts as given only once `end` says so
            runner.fail(self._hook.env, self._hook.event, error)
            return []

    def end(self, left_out: "list[delivery_blocks.Part]") -> None:
        """Note that the memories were printed, but for parts left out, and let go of the lock. An error is logged."""
        lost = {str(part.item["path"]) for part in left_out if "path" in part.item}
        try:
            if self._had is not None and self._noted:
                self._had.end(lost)
        except OSError as error:
            runner.fail(self._hook.env, self._hook.event, error)
        finally:
            if self._lock is not None:
                self._lock.__exit__()


def deliver(hook: runner.Hook, chosen: "list[judge.Verdict]") -> None:
    """Deliver memories where nothing else is due."""
    bundle.load("delivery")
    from memtui.hooks import deliver

    giving = Giving(hook)
    blocks = giving.blocks(chosen, deliver.budget(hook))
    giving.end(deliver.send(hook, ids.new_id(), blocks) if blocks else [])


def before_tool(hook: runner.Hook, selected: "list[bindings.Bound]", touched: str) -> "list[judge.Verdict]":
    """Return the memories due before a tool: those that a model selected, and those bound to the path it touches."""
    from memtui.recall import bindings, places

    where = places.of_session(hook.env, hook.started_in)
    rows = [row for row in selected if row[:2] in where]
    names = {row[1:3] for row in rows}
    bound_to = bindings.of_paths(hook.root, where, [touched], hook.project_root) if touched else []
    rows += [row for row in bound_to if row[1:3] not in names]
    if not rows:
        return []
    session = session_memories.SessionMemories(hook.root, hook.session_id)
    return judge.bound(hook.root, rows, session, len(selected) + judge.MOST_BOUND)
