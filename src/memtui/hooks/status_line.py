"""The client's status line: what waits for this session, and what became of the last delivery to it."""

from memtui.base import clock, fastjson, fs, paths
from memtui.hooks import runner
from memtui.inbox import format as inbox_format

# Bytes of the delivery log, and of the transcript, that are read: the client waits for the line twice a prompt.
LOG_BYTES = 1 << 20
TRANSCRIPT_BYTES = 4 << 20

TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = dict[str, object]


def handle(hook: runner.Hook) -> None:
    """Print the line; nothing if there is nothing to say."""
    text = line(hook)
    if text:
        fs.write_all(1, text.encode() + b"\n")


def line(hook: runner.Hook) -> str:
    """Return the line: `memtui 2 notes · 3 drafts · 1 changed · ✓ arrived 2m`; empty if there is nothing to say.
    `notes` are those that the next prompt of this session would get. Each part that fails is logged and left out."""
    _enter_project(hook)
    words = [hook.attempt("", part, hook) for part in (_notes, _drafts, _changed, _receipt)]
    text = " · ".join([word for word in words if word])
    return "memtui " + text if text else ""


def _enter_project(hook: runner.Hook) -> None:
    """Take the project from the payload: the client sets no CLAUDE_PROJECT_DIR for a status line."""
    workspace = hook.payload.get("workspace")
    directory = workspace.get("project_dir") if isinstance(workspace, dict) else None
    if isinstance(directory, str) and directory.startswith("/"):
        hook.enter(paths.normal(directory))


def _many(count: int, one: str) -> str:
    return f"{count} {one}{'' if count == 1 else 's'}" if count else ""


def _notes(hook: runner.Hook) -> str:
    inboxes_with_notes = [
        directory for _, directory in hook.inboxes() if fs.stamp(f"{directory}/{inbox_format.FILES['guidance']}")
    ]
    if not inboxes_with_notes:
        return ""
    from memtui.inbox import claims

    session = claims.Recipient(hook.session_id, hook.env.get("MEMTUI_AGENT", ""), hook.project_root, clock.now())
    session.personal = True  # only a person's session has a status line
    return _many(sum([len(claims.peek(directory, session)) for directory in inboxes_with_notes]), "note")


def _drafts(hook: runner.Hook) -> str:
    files = [f"{directory}/{inbox_format.FILES['updates']}" for _, directory in hook.inboxes()]
    entries = [entry for path in files if fs.stamp(path) for entry in inbox_format.read(path)]
    now = clock.now()
    return _many(len([entry for entry in entries if not entry.snoozed(now) and not entry.one_off()]), "draft")


def _changed(hook: runner.Hook) -> str:
    """Say how many memories somebody else wrote that nobody has seen (store/versions/versions.py)."""
    try:
        counts_by_place = fastjson.loads_dict(fs.read(hook.root + "/run/unseen.json", "cache")).get("unseen")
    except OSError:
        return ""
    if not isinstance(counts_by_place, dict) or not counts_by_place:
        return ""
    from memtui.client import locate
    from memtui.settings import config

    if config.value(hook.settings, hook.project_root, "gate") == "off":
        return ""
    top = locate.worktree_top(hook.started_in)
    agents = (paths.config_dir(hook.env) + "/agent-memory/", f"{top}/.claude/agent-memory")
    project = locate.project_dir(hook.env, hook.started_in)[0]
    own = {locate.global_dir(hook.env), project, locate.auto_dir(hook.env, hook.started_in)}
    counts = [
        n for each, n in counts_by_place.items() if isinstance(n, int) and (each in own or each.startswith(agents))
    ]
    return f"{sum(counts)} changed" if sum(counts) else ""


def _receipt(hook: runner.Hook) -> str:
    """Say what became of the session's last delivery, and how long ago it was."""
    record = _last(hook)
    if record is None:
        return ""
    from memtui.base.phrasing import age
    from memtui.client.transcripts import transcript
    from memtui.deliver import receipts

    path = transcript.path_of(record, paths.config_dir(hook.env)) or ""
    start = max(0, (receipts.size_of(record) or 0) - (receipts.TOOL_BYTES if record.get("tool_use_id") else 0))
    name = record.get("id")
    view = receipts.view_from(path, start, TRANSCRIPT_BYTES, name if isinstance(name, str) else "")
    now = clock.now()
    outcome = receipts.UNKNOWN if view is None else receipts.outcome(record, view, now)
    if outcome == receipts.UNKNOWN:
        return ""
    return f"{receipts.GLYPHS[outcome]} {outcome} {age(clock.parse(record.get('time')), now)}"


def _last(hook: runner.Hook) -> "Record | None":
    """Return the record of the last delivery with text to this session, among the log's newest."""
    from memtui.deliver import log as delivery_log

    session, budget = hook.session_id.encode(), LOG_BYTES
    for _, found in delivery_log.lines(hook.root):
        record = delivery_log.parse(found) if session and session in found else None
        if record and record.get("session_id") == hook.session_id and (record.get("text") or record.get("chars")):
            return record
        budget -= len(found)
        if budget < 0:
            break
    return None
