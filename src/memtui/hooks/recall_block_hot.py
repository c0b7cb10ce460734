"""The memories that a prompt recalls: found, given, and noted, so that a session gets none of them twice."""

from memtui.base import clock_hot, ids_hot
from memtui.deliver import session_memories_hot
from memtui.hooks import bundle, runner_hot
from memtui.recall import judge_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.base import fs_hot
    from memtui.deliver import blocks_hot
    from memtui.recall import bindings_hot


def find(hook: runner_hot.Hook, selected: "list[bindings_hot.Bound]") -> "judge_hot.Recalled | None":
    """Return what the prompt recalls, then what a model `selected`, as far as a prompt may have so many; else None."""
    from memtui.recall import own_words_hot, places_hot

    words, why = own_words_hot.counted(hook.text("prompt"))
    if why and not selected:
        return None
    limits = judge_hot.RecallLimits()
    if hook.settings:
        limits.most = int(hook.number("recall_most"))
        limits.threshold = judge_hot.THRESHOLDS.get(str(hook.setting("recall")), judge_hot.THRESHOLD)
        if hook.setting("semantic"):
            bundle.load("sentences")
            limits.sentences = True
    where = places_hot.of_prompt(hook.env, hook.root, hook.started_in, hook.gets_native)
    session = session_memories_hot.SessionMemories(hook.root, hook.session_id)
    recalled = judge_hot.dry_run(hook.root, hook.text("prompt"), where, session, 0.0, limits, everything=False)
    if selected:
        paths, muted = {verdict.hit.path for verdict in recalled.injected()}, judge_hot.muting(hook.root, words)
        recalled.verdicts += [
            verdict
            for verdict in of_rows(hook, selected, "")
            if verdict.hit.path not in paths and not muted(verdict.hit.directory, verdict.hit.file)
        ][: max(0, limits.most - len(paths))]
    return recalled if recalled.injected() else None


class Giving:
    """Memories on their way to a session. What it has is locked from before they are noted until they are printed."""

    __slots__ = ("_had", "_hook", "_lock", "_noted")

    def __init__(self, hook: runner_hot.Hook) -> None:
        self._hook = hook
        self._lock: fs_hot.Lock | None = None
        self._had: session_memories_hot.SessionMemories | None = None
        self._noted = False

    def had(self) -> session_memories_hot.SessionMemories:
        """Return what the session has, locked from now on. Raises OSError."""
        if self._had is None:
            self._lock = session_memories_hot.lock(self._hook.root, self._hook.session_id).__enter__()
            self._had = session_memories_hot.SessionMemories(self._hook.root, self._hook.session_id)
        return self._had

    def begin(self, noted: "dict[str, list[object]]", units: int) -> None:
        """Note memories before they are printed, of so many UTF-16 units. Raises OSError."""
        self.had().begin(noted, units, tool=self._hook.event == "PreToolUse")
        self._noted = self._noted or bool(noted)

    def blocks(self, chosen: "list[judge_hot.Verdict]", room: int) -> "list[blocks_hot.Block]":
        """Return the blocks of memories in `room` UTF-16 units, once noted; none after an error, which is logged."""
        try:
            bundle.load("memories")
            from memtui.deliver import blocks_hot
            from memtui.recall import memory_block_hot

            sent_before = self.had().sent
            chosen = [verdict for verdict in chosen if sent_before.get(verdict.hit.path, [""])[0] != verdict.seen]
            blocks = memory_block_hot.blocks(chosen, room, clock_hot.now())
            if blocks:
                paths = {block.attributes["source"] for block in blocks}
                noted: dict[str, list[object]] = {
                    verdict.hit.path: [verdict.seen, *verdict.stamp] for verdict in chosen if verdict.hit.path in paths
                }
                self.begin(noted, sum([blocks_hot.units(part.text) for block in blocks for part in block.parts]))
            return blocks
        except Exception as error:
            self._noted = False  # what is noted by now counts as given only once `end` says so
            runner_hot.fail(self._hook.env, self._hook.event, error)
            return []

    def end(self, left_out: "list[blocks_hot.Part]") -> None:
        """Note that the memories were printed, but for parts left out, and let go of the lock. An error is logged."""
        lost = {str(part.item["path"]) for part in left_out if "path" in part.item}
        try:
            if self._had is not None and self._noted:
                self._had.end(lost)
        except OSError as error:
            runner_hot.fail(self._hook.env, self._hook.event, error)
        finally:
            if self._lock is not None:
                self._lock.__exit__()


def deliver(hook: runner_hot.Hook, chosen: "list[judge_hot.Verdict]") -> None:
    """Deliver memories where nothing else is due."""
    bundle.load("delivery")
    from memtui.hooks import deliver_hot

    giving = Giving(hook)
    blocks = giving.blocks(chosen, deliver_hot.budget(hook))
    giving.end(deliver_hot.send(hook, ids_hot.new_id(), blocks) if blocks else [])


def of_breaks(hook: runner_hot.Hook) -> "list[judge_hot.Verdict]":
    """Return the memories whose rules the session just broke, to be given once more. Raises OSError."""
    from memtui.recall import places_hot
    from memtui.rules import tell_hot
    from memtui.store import mutes_hot

    lines = tell_hot.take(hook.root, hook.session_id)
    if hook.mode != "full" or hook.setting("rules") != "on":
        return []
    rows = [
        (scope, directory, path[len(directory) + 1 :], f"just broken: {lines[path]}")
        for scope, directory in places_hot.of_session(hook.env, hook.started_in, hook.gets_native)
        for path in lines
        if path.startswith(directory + "/") and not mutes_hot.is_muted(hook.root, directory, path[len(directory) + 1 :])
    ]
    verdicts = judge_hot.bound(hook.root, rows, session_memories_hot.SessionMemories(), judge_hot.MOST_BOUND)
    for verdict in verdicts:
        verdict.broken = lines[verdict.hit.path]
    with session_memories_hot.lock(hook.root, hook.session_id):
        session = session_memories_hot.SessionMemories(hook.root, hook.session_id)
        session.forget([verdict.hit.path for verdict in verdicts])
    return verdicts


def of_rows(hook: runner_hot.Hook, selected: "list[bindings_hot.Bound]", touched: str) -> "list[judge_hot.Verdict]":
    """Return the memories that a model selected, and those bound to the path that a tool touches, as far as due."""
    from memtui.recall import bindings_hot, places_hot

    where = places_hot.of_session(hook.env, hook.started_in, hook.gets_native)
    rows = [row for row in selected if row[:2] in where]
    names = {row[1:3] for row in rows}
    bound_to = bindings_hot.of_paths(hook.root, where, [touched], hook.project_root) if touched else []
    rows += [row for row in bound_to if row[1:3] not in names]
    if not rows:
        return []
    session = session_memories_hot.SessionMemories(hook.root, hook.session_id)
    return judge_hot.bound(hook.root, rows, session, len(selected) + judge_hot.MOST_BOUND)
