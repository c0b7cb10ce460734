"""Deliveries for several commands: a table of them, their receipts, and a delivery found by its id."""

from collections.abc import Mapping, Sequence

from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.output import Output, line
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

ID_LENGTH = 26  # characters of a ULID


def receipts_of(ctx: Context) -> Receipts:
    """Return the reader of receipts for one run."""
    return Receipts(ctx.env, ctx.now, transcript.Finder(ctx.config_dir))


def receipt(outcome: str) -> tuple[str, str]:
    """Return an outcome with its glyph, and its style."""
    glyph, style = GLYPHS[outcome]
    return f"{glyph} {outcome}", style


def table(
    ctx: Context, out: Output, found: Sequence[Delivery], known: Mapping[str, str], *, of_one: bool = False
) -> None:
    """Print deliveries as a table, without columns of the session if they are `of_one`; `known`: outcomes by id."""
    named = projects.names_of_roots(ctx.env, {each.root for each in found})
    rows: list[list[str | tuple[str, str]]] = []
    for each in found:
        session = f"{line(each.session)[:8]} {line(session_kind(each.entrypoint))}".rstrip()
        rows.append(
            [
                (short_id(each.id), "cyan"),
                age(each.time or None, ctx.now()),
                receipt(known.get(each.id, receipts.UNKNOWN)),
                *([] if of_one else [session, line(named[each.root])]),
                line(EVENTS.get(each.event, each.event)),
                line(in_short(each.contents)),
            ]
        )
    headers = ["ID", "AGE", "RECEIPT", *([] if of_one else ["SESSION", "PROJECT"]), "EVENT", "WHAT"]
    out.table(headers, rows, flex=(4,) if of_one else (6, 5, 4), right=(1,))


def find(ctx: Context, ref: str) -> Delivery:
    """Find a delivery by its id, or a unique beginning or end. Raises NotFoundError, ConflictError."""
    wanted = ref.strip().lstrip("…").upper()
    matching: dict[str, Delivery] = {}
    for each in map(Delivery.of, delivery_log.newest_first(ctx.root, needle=wanted.encode("utf-8", "replace"))):
        if not short_ids.is_short_for(wanted, each.id):
            continue
        if len(matching) <= short_ids.SEVERAL:
            matching.setdefault(each.id, each)
        if (len(wanted) == ID_LENGTH and each.id == wanted) or len(matching) > short_ids.SEVERAL:
            break
    try:
        return matching[short_ids.match(ref, matching, "delivery")]
    except NotFoundError as error:
        wrong = entries.misnamed(ctx, ref)
        raise (wrong or NotFoundError(error.message, error.hint or "`memtui activity` lists them.")) from None
