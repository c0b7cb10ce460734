"""Words and glyphs for deliveries: their contents, events, sessions and outcomes."""

from memtui.core.deliveries import receipts
from memtui.core.deliveries.record import ItemCounts, session_kind

# outcome -> glyph, colour
GLYPHS = {
    receipts.ARRIVED: ("✓", "green"),
    receipts.PREVIEWED: ("◐", "yellow"),
    receipts.TIMED_OUT: ("✗", "red"),
    receipts.FAILED: ("✗", "red"),
    receipts.DROPPED: ("✗", "red"),
    receipts.UNKNOWN: ("·", "dim"),
    receipts.WAITING: ("…", "cyan"),
    receipts.NOTHING: ("-", "dim"),
}
MEANINGS = {
    receipts.ARRIVED: "the session's transcript holds it",
    receipts.PREVIEWED: "too large: only a preview arrived",
    receipts.TIMED_OUT: "the client gave up on the hook, nothing arrived",
    receipts.FAILED: "nothing arrived",
    receipts.DROPPED: "taken back or ended before the agent answered",
    receipts.UNKNOWN: "the transcript is gone or does not tell",
    receipts.WAITING: "the turn is not that far yet",
    receipts.NOTHING: "the agent opened or wrote a memory; nothing was injected",
}
# Hook events, short enough for a column of seven characters.
EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "tool",
    "PostToolUse": "use",
    "PreCompact": "compact",
    "Stop": "stop",
    "SessionEnd": "end",
}
# Kinds of contents, for help and filters.
KINDS = {
    "guidance": "guidance",
    "index": "index lines of memories",
    "memory": "whole memories",
    "pending-update": "pending updates",
    "pending-item": "pending items",
    "whisper": "whispers",
    "use": "memories the agent read or wrote",
}


def what(contents: ItemCounts) -> str:
    """Describe the contents of a delivery: `2 guidance, index of 14, 3 left out`."""
    words = []
    for kind, count in contents.counts:
        if kind == "use":
            words.append(f"agent {contents.used[0] or 'used'} {contents.used[1]}")
        elif kind == "index":
            words.append(f"index of {count}")
        else:
            plural = "" if count == 1 or kind == "guidance" else "s"
            words.append(f"{count} {kind.replace('-', ' ')}{plural}")
    if contents.left_out:
        words.append(f"{contents.left_out} left out")
    return ", ".join(words) or "nothing"


def session_words(session: str, entrypoint: str) -> str:
    """Name a session and who runs it: `session 1f0c2b3d of a script`."""
    kind = session_kind(entrypoint)
    return f"session {session[:8]}" + (f" of a {kind}" if kind else "")
