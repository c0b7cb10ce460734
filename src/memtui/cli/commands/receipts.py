"""`memtui receipts`: whether deliveries arrived."""

import argparse
import itertools
from collections import Counter

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.cli.show.deliveries import find, receipt, receipts_of, table
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import Reading
from memtui.core.deliveries.receipt_counts import ReceiptCounts
from memtui.core.deliveries.receipts import UNKNOWN
from memtui.present.deliveries import GLYPHS, MEANINGS, sums

LIMIT = 20


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "receipts",
        run,
        "check in the transcripts whether deliveries arrived",
        "memtui receipts\nmemtui receipts 7XAD 4QHW",
    )
    found.add_argument("ids", nargs="*", metavar="ID", help="default: the newest")
    found.add_argument("--limit", type=parser.count, default=LIMIT, metavar="N", help=f"default: {LIMIT}, 0: all")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Say whether deliveries arrived."""
    ctx.must_have_home()
    proofs = receipts_of(ctx)
    if args.ids:
        found = [find(ctx, ref) for ref in args.ids]
    else:
        reading = Reading(ctx.root, Filter(project=ctx.project_wanted), proofs, follow=False)
        found = list(itertools.islice((each for each in reading.read() if each.injected), args.limit or None))
    proofs.look(found)
    known = proofs.known
    counts = Counter(known.values())
    settled = ReceiptCounts.of(counts)
    rows = [
        {key: each.record.get(key) for key in ("id", "time", "session_id")} | {"outcome": known.get(each.id, UNKNOWN)}
        for each in found
    ]

    def text(out: Output) -> None:
        if not found:
            out.print("Nothing was delivered yet.")
            return
        table(ctx, out, found, known)
        out.print()
        out.phrases(sums(settled))
        cells = [
            [receipt(outcome), str(counts[outcome]), (MEANINGS[outcome], "dim")]
            for outcome in GLYPHS
            if counts[outcome]
        ]
        out.table(["", "", ""], cells, right=(1,), indent="  ", whole=True)

    return Result({"receipts": rows, "counts": dict(counts), "sums": settled.data()}, text)
