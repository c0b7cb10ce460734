"""Check the parts of a note of guidance: text, addressees, expiry, sender. Checks raise UsageError."""

from memtui.base import clock_hot, dates, visible_hot
from memtui.base.errors import ConflictError, UsageError
from memtui.deliver import blocks_hot
from memtui.inbox import claims_hot, format_hot, note_block_hot

NAME_LIMIT = 80
ANYONE = "anyone"
WHOM = "Use people, session:ID, agent:NAME, path:GLOB (without commas), machine:NAME, or anyone."


def text(raw: str) -> str:
    """Return the text of a note without blanks around it."""
    stripped = raw.replace("\r\n", "\n").strip("\n \t\r")
    if not stripped:
        raise UsageError("The note is empty; nothing was saved.", "Give some text.")
    if "\0" in stripped or any("\ud800" <= c <= "\udfff" for c in stripped):
        raise UsageError("The note is not text.", "Put other data into a file and name the file in the note.")
    return stripped


def sender(typed: str) -> str:
    """Return the sender's name with single blanks."""
    name = " ".join(typed.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise UsageError(f"The sender is a name of at most {NAME_LIMIT} characters.")
    return name


def audience(addressees: list[str], default: object = ANYONE) -> list[str]:
    """Return the addressees of a note: as given, else as the setting `note_to` says; none for `anyone`."""
    if not addressees:
        return [claims_hot.PEOPLE] if default == claims_hot.PEOPLE else []
    if addressees != [ANYONE] and ANYONE in addressees:
        raise UsageError(f"“{ANYONE}” can't be combined with other addressees.")
    return [] if addressees == [ANYONE] else addressees


def addresses(addressees: list[str]) -> list[str]:
    """Return addressees (people, session:ID, agent:NAME, path:GLOB, machine:NAME), one of each, all to match."""
    valid: list[str] = []
    for address in addressees:
        kind, colon, name = address.strip().partition(":")
        name = name.strip()
        if kind == claims_hot.PEOPLE and not colon:
            valid += [kind] if kind not in valid else []
            continue
        if not colon or kind not in claims_hot.ADDRESSES or not name or "," in name or not name.isprintable():
            raise UsageError(f"“{address}” is not an addressee.", WHOM)
        if kind == "session" and len(name) < claims_hot.MIN_SESSION_PREFIX:
            raise UsageError(f"{address}: at least {claims_hot.MIN_SESSION_PREFIX} characters of the session's id.")
        if kind == "agent" and any(char.isspace() for char in name):
            raise UsageError(f"“{name}” is no name of an agent: it has a blank.")
        if kind == "path" and name.count("[") != name.count("]"):
            raise UsageError(f"“{name}” is no pattern: a [ or ] stands alone.", "* stands for a name, ** for any path.")
        if any(other.startswith(kind + ":") for other in valid):
            raise UsageError(f"A note can name only one {kind}.", "Write two notes instead.")
        valid.append(f"{kind}:{name}")
    return valid


EXPIRY = dates.AHEAD + ", never"  # examples of what can be given
EXPIRY_HINT = f"Use one of: {EXPIRY}."


def expiry(value: str, now: float) -> float:
    """Return when a note expires, in seconds since the epoch, or `when.NEVER`. A day without a time means its end."""
    seconds = dates.read(value, now, ahead=True, day=dates.END)
    if seconds is None:
        raise UsageError(f"“{value}” is not a time.", EXPIRY_HINT)
    if seconds <= now:
        raise UsageError(f"“{value}” is in the past.", EXPIRY_HINT)
    return seconds


def fields(by: str, to: list[str], urgent: bool, expires: str | None, now: float) -> dict[str, str]:
    """Return the fields of an entry from what a person gave. It never expires if `expires` is None or `never`."""
    note_fields = {"from": sender(by)}
    if to:
        note_fields["for"] = ",".join(addresses(to))
    if urgent:
        note_fields["urgent"] = "yes"
    if expires is not None and (end := expiry(expires, now)) != dates.NEVER:
        note_fields["expires"] = clock_hot.iso_seconds(end)
    return note_fields


def check(budget: int, now: float, text: str, fields: dict[str, str], directory: str) -> None:
    """Raise UsageError for guidance too long for any delivery, ConflictError if the file of the inbox is too long."""
    path = f"{directory}/{format_hot.FILES['guidance']}"
    if format_hot.is_too_long(path):
        raise ConflictError(
            f"{path} is larger than {format_hot.MAX_BYTES >> 20} MB, so no session gets a note from it.",
            "Remove what is not a note. A log belongs in a file of its own, which a note can name.",
        )
    entry = format_hot.Entry(note_block_hot.ANY_ID, {**fields, "time": clock_hot.iso_seconds(now)}, text, "", 0)
    too_long = note_block_hot.over(budget, now, entry, directory)
    if too_long > 0:
        units = blocks_hot.units(visible_hot.clean(text))
        raise UsageError(
            f"The note is {units:,} characters long, and {max(0, units - too_long):,} fit into one delivery.",
            "Shorten it, or put the long part into a file and name the file.",
        )
