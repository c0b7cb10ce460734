"""The client's status line: what waits for this session, and what became of the last delivery to it."""

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.hooks import runner_hot
from memtui.inbox import format_hot

# Bytes of the delivery log, and of the transcript, that are read: the client waits for the line twice a prompt.
LOG_BYTES = 1 << 20
TRANSCRIPT_BYTES = 4 << 20
TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = dict[str, object]


def handle(hook: runner_hot.Hook) -> None:
    """Print the line; nothing if there is nothing to say."""
    text = line(hook)
    if text:
        fs_hot.write_all(1, text.encode() + b"\n")


def line(hook: runner_hot.Hook) -> str:
    """Return the line: `memtui 1 answer · 2 notes · 3 drafts · 1 changed · ✓ arrived 2m`; empty if there is nothing to
    say. `notes` are those that the next prompt of this session would get; answers of the subconscious count by
    themselves, until a person has seen them. Each part that fails is logged and left out."""
    directory = fastjson_hot.table(hook.payload, "workspace").get("project_dir")
    if isinstance(directory, str) and directory.startswith("/"):
        hook.enter(paths_hot.normal(directory))
    words = [hook.attempt("", part, hook) for part in (_notes, _drafts, _changed, _receipt)]
    text = " · ".join([word for word in words if word])
    return "memtui " + text if text else ""


def _many(count: int, one: str) -> str:
    return f"{count} {one}{'' if count == 1 else 's'}" if count else ""


def _notes(hook: runner_hot.Hook) -> str:
    file = format_hot.FILES["guidance"]
    inboxes_with_notes = [directory for _, directory in hook.inboxes() if fs_hot.stamp(f"{directory}/{file}")]
    if not inboxes_with_notes:
        return ""
    from memtui.inbox import claims_hot

    name = hook.env.get("MEMTUI_AGENT") or hook.agent_name
    session = claims_hot.Recipient(hook.session_id, name, hook.project_root, clock_hot.now())
    session.personal = True  # only a person's session has a status line
    entries = [entry for directory in inboxes_with_notes for entry, _ in claims_hot.peek(directory, session)]
    answers = [entry.id for entry in entries if entry.fields.get("reply")]
    notes = _many(len(entries) - len(answers), "note")
    if answers:
        from memtui.models.subconscious import block_files_hot

        new = _many(len({*answers} - block_files_hot.seen_answers(hook.root)), "answer")
        notes = " · ".join(filter(None, (new, notes)))
    return notes


def _drafts(hook: runner_hot.Hook) -> str:
    files = [f"{directory}/{format_hot.FILES['updates']}" for _, directory in hook.inboxes()]
    entries = [entry for path in files if fs_hot.stamp(path) for entry in format_hot.read(path)]
    now = clock_hot.now()
    return _many(len([entry for entry in entries if not entry.snoozed(now) and not entry.one_off()]), "draft")


def _changed(hook: runner_hot.Hook) -> str:
    """Say how many memories somebody else wrote that nobody has seen (store/versions/versions.py)."""
    counts_by_place = fastjson_hot.table(fs_hot.read_table(hook.root + "/run/unseen.json"), "unseen")
    if not counts_by_place:
        return ""
    from memtui.client import locate_hot
    from memtui.settings import config_hot

    if config_hot.value(hook.settings, hook.project_root, "gate") == "off":
        return ""
    top = locate_hot.worktree_top(hook.started_in)
    agents = (paths_hot.config_dir(hook.env) + "/agent-memory/", f"{top}/.claude/agent-memory")
    project = locate_hot.project_dir(hook.env, hook.started_in)[0]
    own = {locate_hot.global_dir(hook.env), project, locate_hot.auto_dir(hook.env, hook.started_in)}
    counts = [n for key, n in counts_by_place.items() if isinstance(n, int) and (key in own or key.startswith(agents))]
    return f"{sum(counts)} changed" if sum(counts) else ""


def _receipt(hook: runner_hot.Hook) -> str:
    """Say what became of the session's last delivery, and how long ago it was."""
    record = _last(hook)
    if record is None:
        return ""
    from memtui.base.phrasing_hot import age
    from memtui.client.transcripts import transcript_hot
    from memtui.deliver import receipts_hot

    path = transcript_hot.path_of(record, paths_hot.config_dir(hook.env)) or ""
    start, name = receipts_hot.start_of(record), fastjson_hot.text(record, "id")
    view = receipts_hot.view_from(path, start, TRANSCRIPT_BYTES, name)
    now = clock_hot.now()
    outcome = receipts_hot.UNKNOWN if view is None else receipts_hot.outcome(record, view, now)
    if outcome == receipts_hot.UNKNOWN:
        return ""
    return f"{receipts_hot.GLYPHS[outcome]} {outcome} {age(clock_hot.parse(record.get('time')), now)}"


def _last(hook: runner_hot.Hook) -> "Record | None":
    """Return the record of the last delivery with text to this session, among the log's newest."""
    from memtui.deliver import log_hot

    session, budget = hook.session_id.encode(), LOG_BYTES
    for _, found in log_hot.lines(hook.root):
        record = log_hot.parse(found) if session and session in found else None
        if record and record.get("session_id") == hook.session_id and (record.get("text") or record.get("chars")):
            return record
        budget -= len(found)
        if budget < 0:
            break
    return None
