"""Check the parts of a note of guidance: text, addressees, expiry, sender. Checks raise UsageError."""

from memtui.core.base import clock, when
from memtui.core.base.errors import UsageError
from memtui.core.inbox import claims

NAME_LIMIT = 80
ANYONE = "anyone"
WHOM = "Use people, session:ID, agent:NAME, path:GLOB (without commas), or anyone."


def unheard(
    mode: object, hooked: bool, *, disabled: bool = False, unreadable: bool = False, memories: bool = False
) -> str:
    """Return why memtui delivers nothing to sessions, as a code: hooks, unreadable, disabled, off or notes; empty if it
    does. `disabled`: Claude Code runs no hooks; `unreadable`: it skips a settings file; `memories`: these are meant."""
    if not hooked:
        return "unreadable" if unreadable else "hooks"
    if disabled:
        return "disabled"
    return str(mode) if mode == "off" or (memories and mode == "notes") else ""


def text(given: str) -> str:
    """Return the text of a note without blanks around it."""
    found = given.replace("\r\n", "\n").strip("\n \t\r")
    if not found:
        raise UsageError("The note is empty; nothing was saved.", "Give some text.")
    if "\0" in found or any("\ud800" <= c <= "\udfff" for c in found):
        raise UsageError("The note is not text.", "Put other data into a file and name the file in the note.")
    return found


def sender(given: str) -> str:
    """Return the sender's name with single blanks."""
    name = " ".join(given.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise UsageError(f"The sender is a name of at most {NAME_LIMIT} characters.")
    return name


def audience(given: "list[str]", default: object = ANYONE) -> "list[str]":
    """Return the addressees of a note: as given, else as the setting `note_to` says; none for `anyone`."""
    if not given:
        return [claims.PEOPLE] if default == claims.PEOPLE else []
    if given != [ANYONE] and ANYONE in given:
        raise UsageError(f"“{ANYONE}” can't be combined with other addressees.")
    return [] if given == [ANYONE] else given


def addresses(given: "list[str]") -> "list[str]":
    """Return addressees: `people`, `session:ID`, `agent:NAME`, `path:GLOB`. At most one of each, since all must match
    the same session."""
    found: list[str] = []
    for address in given:
        kind, colon, name = address.strip().partition(":")
        name = name.strip()
        if kind == claims.PEOPLE and not colon:
            found += [kind] if kind not in found else []
            continue
        if not colon or kind not in claims.ADDRESSES or not name or "," in name or not name.isprintable():
            raise UsageError(f"“{address}” is not an addressee.", WHOM)
        if kind == "session" and len(name) < claims.MIN_SESSION_PREFIX:
            raise UsageError(f"{address}: at least {claims.MIN_SESSION_PREFIX} characters of the session's id.")
        if kind == "agent" and any(char.isspace() for char in name):
            raise UsageError(f"“{name}” is no name of an agent: it has a blank.")
        if kind == "path" and name.count("[") != name.count("]"):
            raise UsageError(f"“{name}” is no pattern: a [ or ] stands alone.", "* stands for a name, ** for any path.")
        if any(other.startswith(kind + ":") for other in found):
            raise UsageError(f"A note can name only one {kind}.", "Write two notes instead.")
        found.append(f"{kind}:{name}")
    return found


EXPIRY = when.AHEAD + ", never"  # examples of what can be given
EXPIRY_HINT = f"Use one of: {EXPIRY}."


def expiry(given: str, now: float) -> float:
    """Return when a note expires, in seconds since the epoch; `when.NEVER` if it never does. A day without a time means
    its end."""
    seconds = when.read(given, now, ahead=True, day=when.END)
    if seconds is None:
        raise UsageError(f"“{given}” is not a time.", EXPIRY_HINT)
    if seconds <= now:
        raise UsageError(f"“{given}” is in the past.", EXPIRY_HINT)
    return seconds


def fields(by: str, to: "list[str]", urgent: bool, expires: "str | None", now: float) -> "dict[str, str]":
    """Return the fields of an entry from what a person gave. It never expires if `expires` is None or `never`."""
    found = {"from": sender(by)}
    if to:
        found["for"] = ",".join(addresses(to))
    if urgent:
        found["urgent"] = "yes"
    if expires is not None and (end := expiry(expires, now)) != when.NEVER:
        found["expires"] = clock.iso_seconds(end)
    return found
