"""`memtui import sessions`: drafts from the sessions that were before memtui."""

import argparse

from memtui.backfill import begun
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import when
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import many, size
from memtui.core.base.short_ids import short_id
from memtui.present import drafts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.backfill.offering import Offer
    from memtui.backfill.reading import BackfillReading, ReadingProgress

FIRST = 5  # of what was left out
# Seconds between two lines of progress.
APART = 0.2


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Read the transcripts, and offer drafts."""
    from memtui.backfill import offering, reading

    ctx.must_have_home()
    ctx.must_own()
    since = when.read(args.since, ctx.now(), ahead=False) if args.since else 0.0
    if since is None or since == when.NEVER:
        raise UsageError(f"--since {args.since} is no time.", f"Give one of: {when.BACK}.")
    if since > ctx.now():
        raise UsageError(f"--since {args.since} is still to come.", f"Give one of: {when.BACK}.")
    project = ctx.project_root if ctx.project_given else ""
    shown = _Shown(ctx)
    try:
        found = reading.read(
            ctx.env, now=ctx.now(), since=since, project=project, dry=args.dry_run, go_on=shown.progress
        )
    except KeyboardInterrupt:
        shown.end()
        kept = "Nothing was kept." if args.dry_run else "What was read is kept: the next run goes on from there."
        ctx.out.say(f"Stopped. {kept}")
        raise
    shown.end()
    store = ctx.store()
    offer = offering.plan(
        store, found.found, most=begun.MOST if args.limit is None else args.limit, since=since, project=project
    )
    done = "" if args.dry_run else offer.write(store)
    data = {
        "dry_run": args.dry_run,
        "files": found.progress.files,
        "bytes": found.progress.bytes,
        "drafts": [
            {key: getattr(each.candidate.draft, key) for key in ("name", "kind", "scope", "description", "durable")}
            | {key: getattr(each, key) for key in ("id", "score", "folded")}
            | {key: getattr(each.candidate, key) for key in ("project", "confidence")}
            | {"seen": each.candidate.said, "time": each.candidate.newest}
            for each in offer.drafts
        ],
        "known": offer.known,
        "one_offs": offer.one_offs,
        "left": offer.left,
        "unlikely": offer.unlikely,
        "skipped": found.skipped,
        "transaction": done or None,
    }
    return Result(data, lambda out: _print(ctx, out, found, offer, done))


class _Shown:
    """The line of progress on standard error, in a terminal."""

    def __init__(self, ctx: Context) -> None:
        self.out = ctx.out
        self.on = ctx.out.stderr_tty and not ctx.out.json
        self.last = 0.0
        self.width = 0

    def progress(self, at: "ReadingProgress") -> bool:
        """Show how far the reading is; it goes on."""
        import time

        if self.on and time.monotonic() - self.last >= APART:
            self.last = time.monotonic()
            read = f"{size(at.bytes)} of {size(at.all_bytes)}, {at.files} of {at.all_files} files, {at.found} found"
            self._write(read)
        return True

    def end(self) -> None:
        if self.width:
            self._write("")

    def _write(self, text: str) -> None:
        text = text[: (self.out.columns or 80) - 1]
        try:
            self.out.stderr.write("\r" + text.ljust(self.width) + ("" if text else "\r"))
            self.out.stderr.flush()
        except OSError:
            self.on = False
        self.width = len(text)


def _print(ctx: Context, out: Output, found: "BackfillReading", offer: "Offer", done: str) -> None:
    progress = found.progress
    read = f"Read {size(progress.bytes)} in {many(progress.files, 'transcript')}."
    out.print(read if progress.bytes else _nothing(ctx, found))
    rows = [
        [
            (short_id(each.id) if done else "", "cyan"),
            " · ".join(drafts.odds(each.candidate.confidence, each.candidate.draft.durable, each.candidate.said)),
            line("global" if each.candidate.draft.scope == "global" else ctx.tilde(each.candidate.project)),
            line(each.candidate.draft.description),
        ]
        for each in offer.drafts
    ]
    if rows:
        out.table(["ID" if done else "", "HOW SURE", "WHERE", "DRAFT"], rows, indent="  ")
    count = many(len(offer.drafts), "draft")
    known = [f"{offer.known:,} known already or decided on"] if offer.known else []
    more = "".join(f"; {words}" for words in [*offer.more_words, *known])
    out.print((f"{'Added' if done else 'Would add'} {count}" if rows else "No new draft was found") + f"{more}.")
    if found.skipped:
        out.print("Left out:")
        for each in found.skipped[:FIRST]:
            out.paragraph(f"{line(ctx.tilde(each.where))}: {line(each.why)}", "  ")
        if len(found.skipped) > FIRST:
            out.print(f"  and {len(found.skipped) - FIRST:,} more")
    if done:
        elsewhere = any(each.candidate.project not in {"", ctx.project_root} for each in offer.drafts)
        inbox = "memtui inbox --kind drafts --all-projects" if elsewhere else "memtui inbox"
        out.say(f"`{inbox}` lists them, `memtui approve ID` makes one a memory; memtui undo takes them back.")


def _nothing(ctx: Context, found: "BackfillReading") -> str:
    if found.progress.there:
        return "No transcript is new since the last time."
    directory = line(ctx.tilde(f"{ctx.config_dir}/projects"))
    if found.skipped:
        return f"No transcript could be read in {directory}."
    return (
        f"There is no transcript of that in {directory}." if found.part else f"There is no transcript in {directory}."
    )
