"""What a note of guidance must be, whoever leaves it: text, addressees, expiry, sender. Checks raise UsageError."""

from memtui.core import claims, clock
from memtui.core.errors import UsageError

NAME_LIMIT = 80


def text(given: str) -> str:
    """The text as it is left, without blanks around it."""
    found = given.replace("\r\n", "\n").strip("\n \t\r")
    if not found:
        raise UsageError("The guidance is empty: nothing was left.", "Give some text.")
    if "\0" in found or any("\ud800" <= c <= "\udfff" for c in found):
        raise UsageError("The guidance is binary, not text.", "Pass text only; put other things in a file and name it.")
    return found


def sender(given: str) -> str:
    """Who says so."""
    name = " ".join(given.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise UsageError(f"The sender is a name of at most {NAME_LIMIT} characters.")
    return name


def addresses(given: "list[str]") -> "list[str]":
    """`session:ID`, `agent:NAME`, `path:GLOB`, at most one of each: all must hold."""
    found: list[str] = []
    for address in given:
        kind, colon, name = address.strip().partition(":")
        name = name.strip()
        if not colon or kind not in claims.ADDRESSES or not name or "," in name or not name.isprintable():
            raise UsageError(f"{address}: not an addressee.", "Say session:ID, agent:NAME or path:GLOB, no commas.")
        if kind == "session" and len(name) < claims.MIN_SESSION_PREFIX:
            raise UsageError(f"{address}: at least {claims.MIN_SESSION_PREFIX} characters of the session's id.")
        if any(other.startswith(kind + ":") for other in found):
            raise UsageError(f"All addressees must hold, so that two of {kind}: can't.", "Leave two notes instead.")
        found.append(f"{kind}:{name}")
    return found


def expiry(given: str, now: float) -> float:
    """When a note ends, in seconds since the epoch."""
    seconds = clock.parse_when(given, now, ahead=True)
    if seconds is None:
        raise UsageError(f"{given}: neither a time to come nor a date.", "Say 30m, 2h, 3d or 2026-12-31T18:00Z.")
    if seconds <= now:
        raise UsageError(f"{given} is over already.", "Say 30m, 2h, 3d or a later date (without a zone: UTC).")
    return seconds


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
