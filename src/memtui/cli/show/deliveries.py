"""Deliveries for several commands: a table of them, one line of it, and a delivery found by its id."""

from collections.abc import Mapping, Sequence

from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.output import BELOW, GAP, MIN_LAST, Output, cut, line
from memtui.core.base import short_ids
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import age
from memtui.core.base.short_ids import short_id
from memtui.core.client import projects, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.reading import Receipts
from memtui.core.deliveries.record import Delivery, session_kind
from memtui.present.deliveries import EVENTS, GLYPHS, in_short

HEADERS = ("ID", "AGE", "RECEIPT", "SESSION", "PROJECT", "EVENT", "WHAT")
# Widths of the columns but the last, for lines that are printed one by one; PROJECT gives way in a narrow terminal.
WIDTHS = (6, 4, 11, 15, 9, 7)
PROJECT, MIN_PROJECT = 4, 6
ID_LENGTH = 26  # characters of a ULID


def receipts_of(ctx: Context) -> Receipts:
    """Return the reader of receipts for one run."""
    return Receipts(ctx.env, ctx.now, transcript.Finder(ctx.config_dir))


def receipt(outcome: str) -> tuple[str, str]:
    """Return an outcome with its glyph, and its style."""
    glyph, style = GLYPHS[outcome]
    return f"{glyph} {outcome}", style


def table(ctx: Context, out: Output, found: Sequence[Delivery], known: Mapping[str, str]) -> None:
    """Print deliveries as a table; `known` has outcomes by id."""
    named = projects.names_of_roots(ctx.env, {each.root for each in found})
    rows = [_cells(ctx, each, named[each.root], known.get(each.id, receipts.UNKNOWN)) for each in found]
    out.table(HEADERS, rows, flex=(6, 5, 4), right=(1,))


def print_row(ctx: Context, out: Output, found: Delivery, outcome: str) -> None:
    """Print one delivery as a line of the table without its head, or with --json as an answer."""
    if out.json:
        out.envelope("activity", {**found.record, "outcome": outcome})
        return
    name = projects.names_of_roots(ctx.env, [found.root])[found.root]
    cells = [(cell, "") if isinstance(cell, str) else cell for cell in _cells(ctx, found, name, outcome)]
    _print_line(out, cells)


def print_headers(out: Output) -> None:
    """Print the head of what `print_row` prints."""
    _print_line(out, [(name, "dim") for name in HEADERS])


def _print_line(out: Output, cells: Sequence[Sequence[str]]) -> None:
    """Print one line of the table, its last cells below it where too little would be left of them."""
    columns = out.columns or 1000
    left = columns - sum(WIDTHS) - len(GAP) * len(WIDTHS)
    widths = list(WIDTHS)
    if left < MIN_LAST:
        widths[PROJECT] = min(widths[PROJECT], max(MIN_PROJECT, widths[PROJECT] + left + len(GAP)))
        while sum(widths) + len(GAP) * (len(widths) - 1) > columns:
            widths.pop()
    head = GAP.join(
        out.style(cut(cell[0], width).ljust(width), cell[1]) for cell, width in zip(cells, widths, strict=False)
    )
    if left >= MIN_LAST:
        out.exact(f"{head}{GAP}{cut(cells[-1][0], left)}")
        return
    out.exact(head.rstrip())
    if cells[-1][1] != "dim":
        below = BELOW.join(cell[0] for cell in cells[len(widths) :] if cell[0])
        out.exact(f"    {cut(below, columns - 4)}")


def _cells(ctx: Context, found: Delivery, project: str, outcome: str) -> list[Sequence[str]]:
    return [
        (short_id(found.id), "cyan"),
        age(found.time or None, ctx.now()),
        receipt(outcome),
        f"{line(found.session)[:8]} {line(session_kind(found.entrypoint))}".rstrip(),
        line(project),
        line(EVENTS.get(found.event, found.event)),
        line(in_short(found.contents)),
    ]


def find(ctx: Context, ref: str) -> Delivery:
    """Find a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    wanted = ref.strip().lstrip("…").upper()
    found: dict[str, Delivery] = {}
    for each in map(Delivery.of, delivery_log.newest_first(ctx.root, needle=wanted.encode("utf-8", "replace"))):
        if not short_ids.is_short_for(wanted, each.id):
            continue
        if len(found) <= short_ids.SEVERAL:
            found.setdefault(each.id, each)
        if (len(wanted) == ID_LENGTH and each.id == wanted) or len(found) > short_ids.SEVERAL:
            break
    try:
        return found[short_ids.match(ref, found, "delivery")]
    except NotFoundError as error:
        wrong = entries.misnamed(ctx, ref)
        raise (wrong or NotFoundError(error.message, error.hint or "`memtui activity` lists them.")) from None
