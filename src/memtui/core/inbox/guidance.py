"""What a note of guidance must be, whoever leaves it: text, addressees, expiry, sender. Checks raise UsageError."""

import time

from memtui.core.base import clock
from memtui.core.base.errors import UsageError
from memtui.core.inbox import claims

NAME_LIMIT = 80
TIMES = "Say 30m, 2h, 3d, 18:00, tomorrow, or a date as 2026-12-31T18:00 (without a zone: UTC)."
DAYS = {"today": 0, "tomorrow": 1}
ANYONE = "anyone"
WHOM = "Say people, session:ID, agent:NAME or path:GLOB, no commas; or anyone."


def unheard(mode: object, hooked: bool, *, disabled: bool = False, memories: bool = False) -> str:
    """The reason why no session would be told, a code: hooks, disabled, off or whisper; empty if they are. Memories
    are told in fewer modes than guidance. `disabled`: Claude Code was told to run no hooks.

    What the client reads by itself, its own memory of a project, is not meant: see `loading.auto_memory_off`."""
    if not hooked:
        return "hooks"
    if disabled:
        return "disabled"
    return str(mode) if mode == "off" or (memories and mode == "whisper") else ""


def text(given: str) -> str:
    """The text as it is left, without blanks around it."""
    found = given.replace("\r\n", "\n").strip("\n \t\r")
    if not found:
        raise UsageError("The guidance is empty: nothing was left.", "Give some text.")
    if "\0" in found or any("\ud800" <= c <= "\udfff" for c in found):
        raise UsageError("The guidance is binary, not text.", "Pass text only; put other things in a file and name it.")
    return found


def sender(given: str) -> str:
    """The name of who says so, checked."""
    name = " ".join(given.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise UsageError(f"The sender is a name of at most {NAME_LIMIT} characters.")
    return name


def audience(given: "list[str]", default: object = ANYONE) -> "list[str]":
    """The addressees of a note: as given, else as the setting `guide_to` says. `anyone` is no addressee."""
    if not given:
        return [claims.PEOPLE] if default == claims.PEOPLE else []
    if given != [ANYONE] and ANYONE in given:
        raise UsageError(f"{ANYONE} goes alone: with other addressees, those must hold.")
    return [] if given == [ANYONE] else given


def addresses(given: "list[str]") -> "list[str]":
    """`people`, `session:ID`, `agent:NAME`, `path:GLOB`, at most one of each: all must hold."""
    found: list[str] = []
    for address in given:
        kind, colon, name = address.strip().partition(":")
        name = name.strip()
        if kind == claims.PEOPLE and not colon:
            found += [kind] if kind not in found else []
            continue
        if not colon or kind not in claims.ADDRESSES or not name or "," in name or not name.isprintable():
            raise UsageError(f"{address}: not an addressee.", WHOM)
        if kind == "session" and len(name) < claims.MIN_SESSION_PREFIX:
            raise UsageError(f"{address}: at least {claims.MIN_SESSION_PREFIX} characters of the session's id.")
        if any(other.startswith(kind + ":") for other in found):
            raise UsageError(f"All addressees must hold, so that two of {kind}: can't.", "Leave two notes instead.")
        found.append(f"{kind}:{name}")
    return found


def expiry(given: str, now: float) -> float:
    """When a note ends, in seconds since the epoch. Words and times of day mean the clock on the wall; `today` and
    `tomorrow` alone last to the end of that day."""
    seconds = _by_the_clock(given, now)
    if seconds is None:
        seconds = clock.parse_when(given, now, ahead=True)
    if seconds is None:
        raise UsageError(f"{given}: neither a time to come nor a date.", TIMES)
    if seconds <= now:
        raise UsageError(f"{given} is over already.", TIMES)
    return seconds


def _by_the_clock(given: str, now: float) -> "float | None":
    """`18:00` (the next one), `tomorrow`, `tomorrow 9:30`."""
    words = given.lower().split()
    later = DAYS.get(words[0]) if words else None
    hours = words[1:] if later is not None else words
    if len(hours) > 1 or (later is None and not hours):
        return None
    hour, colon, minute = hours[0].partition(":") if hours else ("23", ":", "59")
    if not (
        colon and len(hour) in {1, 2} and len(minute) == 2 and (hour + minute).isascii() and (hour + minute).isdigit()
    ):
        return None
    if int(hour) > 23 or int(minute) > 59:
        return None
    day = time.localtime(now)[:3]
    for more in (later or 0, (later or 0) + 1):
        found = time.mktime((day[0], day[1], day[2] + more, int(hour), int(minute), 0, 0, 0, -1))
        if found > now or later is not None:
            return found
    return None


def fields(by: str, to: "list[str]", urgent: bool, expires: "str | None", now: float) -> "dict[str, str]":
    """The fields of an entry, from what a person gave; `expires` None is never."""
    found = {"from": sender(by)}
    if to:
        found["for"] = ",".join(addresses(to))
    if urgent:
        found["urgent"] = "yes"
    if expires is not None:
        found["expires"] = clock.iso_seconds(expiry(expires, now))
    return found
