"""Until when a person snoozes a draft."""

from memtui.core.base import when
from memtui.core.base.errors import UsageError

TAKEN = "now, tomorrow, friday, 18:00, 30m, 2h, 3d, 2w, 2030-12-31, 2030-12-31 14:00"
HINT = f"Use one of: {TAKEN}."


def moment(given: str, now: float) -> float | None:
    """Return when drafts show again, in seconds since the epoch; None for `now`. A day without a time is its beginning.
    Raises UsageError, which says what is taken."""
    seconds = when.read(given, now, ahead=True)
    if seconds is None:
        raise UsageError(f"“{given}” is not a time.", HINT)
    if seconds == when.NEVER:
        raise UsageError("A draft can't be snoozed for ever.", "Reject it instead, or " + HINT[0].lower() + HINT[1:])
    if seconds < now:
        raise UsageError(f"“{given}” is in the past.", HINT)
    return seconds if seconds > now else None
