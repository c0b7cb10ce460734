"""Shorten ids for people, and find the id that a person gave whole, or by its beginning or end."""

from collections.abc import Iterable

from memtui.base.errors import ConflictError, NotFoundError

MIN_REF = 4
SHOWN = 6
SEVERAL = 8  # the most ids that an error lists where several match


def short_id(name: str) -> str:
    """Return the end of an id, which is enough to name it: ids made within an hour begin alike."""
    return name[-SHOWN:]


def is_short_for(prefix: str, name: str) -> bool:
    """Return whether `prefix`, in capitals, begins or ends an id, or begins the end of it that people see."""
    name = name.upper()
    return name.startswith(prefix) or name.endswith(prefix) or name[-SHOWN:].startswith(prefix)


def match(ref: str, names: Iterable[str], what: str) -> str:
    """Return the one id that `ref` is or is short for; `what` names its kind. Raises NotFoundError, ConflictError."""
    prefix = ref.strip().lstrip("…").upper()
    every = list(dict.fromkeys(names))
    exact = next((name for name in every if name.upper() == prefix), None)
    if exact is not None:
        return exact
    matching = [name for name in every if is_short_for(prefix, name)]
    if len(prefix) < MIN_REF or not matching:
        short = f"Give at least {MIN_REF} characters of the id." if len(prefix) < MIN_REF else ""
        raise NotFoundError(f"There is no {what} “{ref}”.", short)
    if len(matching) > 1:
        shown = ", ".join(matching[:SEVERAL]) + (", …" if len(matching) > SEVERAL else "")
        raise ConflictError(f"“{ref}” can mean several: {shown}.", "Give more of the id.")
    return matching[0]
