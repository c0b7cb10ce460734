"""`memtui recall`: which memories a prompt would bring, what would be left out, and why. Nothing is delivered."""

import argparse

from memtui.base.errors import UsageError
from memtui.base.phrasing import many, short
from memtui.base.storage import file_error
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, narrate
from memtui.recall_preview import RecallCandidate, Recalling, RecallRun
from memtui.views import notes, recall

LEFT_OUT = 5  # memories that are left out and listed, without --all


@parser.command("""\
recall: show which memories a prompt would bring, and why
  memtui recall "how do we put a release live?"
  memtui recall - < prompt.txt
It is what the hook does before a prompt, but nothing is delivered. TEXT may be - for standard input. --json has the
parts of each score, and the exact texts.
[TEXT...] | the prompt, as you would type it
--all | list all that were found and are left out""")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    prompt = parser.body_text(" ".join(args.text))
    if not prompt.strip():
        raise UsageError("The prompt is empty.", 'Give its text: memtui recall "how do we release?"')
    recalling = Recalling(ctx)
    size, problem = 0, ""
    try:
        size = recalling.bring_up_to_date()
    except OSError as error:  # what there is of an index may still do
        problem = f"The index can't be brought up to date: {file_error(error).message}"
    recall_run = recalling.run(prompt)
    data = {**recall.data(recall_run), "indexed": size, "problem": problem or None}
    data |= {"unheard": notes.unheard(recalling.unheard)}
    off = f"! {recall.OFF[:1].upper()}{recall.OFF[1:]}: memtui config set recall true" if recall_run.off else ""
    return Result(
        data,
        narrate(f"! {line(problem)}" if problem else ""),
        narrate(f"! {notes.at_prompt(recalling.unheard)}" if recalling.unheard else off),
        narrate(f"{many(size, 'memory', 'memories')} indexed first." if size else ""),
        lambda out: _print(out, recall_run, every=args.all),
    )


def _print(out: Output, run: RecallRun, *, every: bool) -> None:
    searched = f"{many(run.memories, 'memory', 'memories')} searched"
    facts = [recall.amount(run)] if run.delivered else [searched] * bool(run.memories)
    out.heading(recall.headline(run), " · ".join([*facts, recall.took(run)]))
    if not run.memories:
        out.print(memories.CREATE)
    elif not run.candidates and run.silent == "nothing":
        out.print("  Other words may find some; a trigger finds a memory by them:")
        out.print("  memtui edit NAME --trigger TEXT")
    if run.candidates and (nearest := recall.nearest(run)):
        out.paragraph(line(nearest), "  ")
    if run.delivered:
        _print_rows(out, run, run.delivered)
    left_out = run.left_out if every else run.left_out[:LEFT_OUT]
    if left_out:
        out.section()
        out.heading("Left out")
        _print_rows(out, run, left_out)
    if more := len(run.left_out) - len(left_out):
        out.print(f"and {more} more: --all lists them")


def _print_rows(out: Output, run: RecallRun, candidates: "tuple[RecallCandidate, ...]") -> None:
    cells: list[list[str | tuple[str, str]]] = [
        [
            recall.outcome(candidate.outcome)[:2],
            (recall.scored(candidate, run), "green" if candidate.delivered else "dim"),
            (line(candidate.name), "bold" if candidate.delivered else ""),
            (line(candidate.scope), "dim"),
            line(recall.because(candidate) if candidate.delivered else recall.outcome(candidate.outcome)[2]),
            (short(candidate.units) if candidate.units else "", "dim"),
        ]
        for candidate in candidates
    ]
    out.table(["", "", "", "", "", ""], cells, flex=(4, 2), right=(5,))
