"""Find what a person named by an id, or by the beginning or end of one."""

from collections.abc import Iterable

from memtui.core.base.errors import ConflictError, NotFoundError

MIN_REF = 4
# More ids than that are not named where a beginning fits several.
SEVERAL = 8


def match(ref: str, names: Iterable[str], what: str) -> str:
    """Find the one id that `ref` is, begins or ends. Raises NotFoundError, or ConflictError if several match."""
    wanted = ref.strip().lstrip("…").upper()
    every = list(dict.fromkeys(names))
    exact = [name for name in every if name.upper() == wanted]
    if exact:
        return exact[0]
    fit = [name for name in every if name.upper().startswith(wanted) or name.upper().endswith(wanted)]
    if len(wanted) < MIN_REF or not fit:
        short = f"An id's beginning or end needs {MIN_REF} characters." if len(wanted) < MIN_REF else ""
        raise NotFoundError(f"There is no {what} “{ref}”.", short)
    if len(fit) > 1:
        shown = ", ".join(fit[:SEVERAL]) + (", …" if len(fit) > SEVERAL else "")
        raise ConflictError(f"“{ref}” can mean several: {shown}.", "Give more of the id.")
    return fit[0]
