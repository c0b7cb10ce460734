"""`memtui recall`: which memories a prompt would bring, what would be left out, and why. Nothing is delivered."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import short_ids
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.base.phrasing import ago, many, share, short
from memtui.core.base.storage import file_error
from memtui.present import recall, unheard
from memtui.recalling import RecallCandidate, Recalling, RecallRun

# Memories that are left out and listed, without --all.
LEFT_OUT = 5
# Words that matched and are listed of one field with --explain, the telling ones first.
TERMS = 8


def register(commands: "parser.Commands") -> None:
    found = parser.command(
        commands,
        "recall",
        run,
        "show which memories a prompt would bring, and why",
        'memtui recall "how do we put a release live?"\n'
        'memtui recall --explain "why pnpm"\n'
        "memtui recall - < prompt.txt",
        "It is what the hook does before a prompt, but nothing is delivered. TEXT may be - for standard input.",
    )
    found.add_argument("text", nargs="*", metavar="TEXT", help="the prompt, as you would type it")
    found.add_argument("--explain", action="store_true", help="with the parts of each score, and the exact texts")
    found.add_argument("--session", metavar="ID", help="as for this session, which has some memories already")
    found.add_argument("--all", action="store_true", help="list all that were found and are left out")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    ctx.must_have_home()
    ctx.must_own()
    given = " ".join(args.text)
    prompt = parser.body_text(given)
    if not prompt.strip():
        raise UsageError("The prompt is empty.", 'Give its text: memtui recall "how do we release?"')
    session = _session(ctx, args.session) if args.session else ""
    recalling = Recalling(ctx)
    read, problem = 0, ""
    try:
        read = recalling.bring_up_to_date()
    except OSError as error:  # what there is of an index may still do
        problem = f"The index can't be brought up to date: {file_error(error).message}"
    found = recalling.run(prompt, session)
    data = {**recall.data(found, explain=args.explain), "indexed": read, "problem": problem or None}
    data |= {"unheard": unheard.data(recalling.unheard)}
    return Result(data, lambda out: _print(ctx, out, args, recalling, found, (read, problem)))


def _session(ctx: Context, ref: str) -> str:
    """Return the id of the session that a reference means. Raises NotFoundError or ConflictError."""
    from memtui.core.deliveries.sessions import deliveries, states

    known = dict.fromkeys([*states(ctx.root), *(each.session for each in deliveries(ctx.root, ref))])
    try:
        return short_ids.match(ref, known, "session")
    except NotFoundError as error:
        raise NotFoundError(error.message, error.hint or "`memtui activity --sessions` lists them.") from None


def _print(
    ctx: Context,
    out: Output,
    args: argparse.Namespace,
    recalling: Recalling,
    found: RecallRun,
    indexed: "tuple[int, str]",
) -> None:
    read, problem = indexed
    if problem:
        out.say(f"! {line(problem)}")
    if why := recalling.unheard:
        out.say(f"! {unheard.at_prompt(why)}")
    elif found.off:
        out.say(f"! {recall.OFF[:1].upper()}{recall.OFF[1:]}: memtui config set recall true")
    if read:
        out.say(f"{many(read, 'memory', 'memories')} indexed first.")
    out.heading(recall.headline(found), _facts(found))
    if not found.candidates:
        _print_nothing(out, found)
        return
    if nearest := recall.nearest(found):
        out.paragraph(line(nearest), "  ")
    _print_rows(ctx, out, args, found.delivered)
    left_out = found.left_out if args.all else found.left_out[:LEFT_OUT]
    if left_out:
        out.section()
        out.heading("Left out")
        _print_rows(ctx, out, args, left_out)
    more = len(found.left_out) - len(left_out)
    if more:
        out.print(f"and {more} more: --all lists them")
    if not args.explain:
        out.print("The parts of each score, and the exact texts: --explain")


def _facts(found: RecallRun) -> str:
    facts = [recall.amount(found)] if found.delivered else []
    facts += [f"as for session {line(found.session[:8])}"] if found.session else []
    if found.memories:
        facts.append(f"of {many(found.memories, 'memory', 'memories')}")
    return " · ".join([*facts, recall.took(found)])


def _print_nothing(out: Output, found: RecallRun) -> None:
    if not found.memories:
        out.print("  Create one: memtui new NAME")
    elif found.silent == "nothing":
        out.print("  Other words may find some; a trigger finds a memory by them:")
        out.print("  memtui edit NAME --trigger TEXT")


def _print_rows(ctx: Context, out: Output, args: argparse.Namespace, found: "tuple[RecallCandidate, ...]") -> None:
    if args.explain:
        for each in found:
            _explain(ctx, out, each)
        return
    cells: list[list[str | tuple[str, str]]] = [
        [
            recall.outcome(each.outcome)[:2],
            (recall.scored(each), "cyan" if each.delivered else "dim"),
            (line(each.name), "bold" if each.delivered else ""),
            (line(each.scope), "dim"),
            line(recall.because(each) if each.delivered else recall.outcome(each.outcome)[2]),
            (short(each.units) if each.units else "", "dim"),
        ]
        for each in found
    ]
    out.table(["", "", "", "", "", ""], cells, flex=(4, 2), right=(5,))


def _explain(ctx: Context, out: Output, found: RecallCandidate) -> None:
    mark, style, words = recall.outcome(found.outcome)
    out.section()
    out.heading(line(found.name), f"{share(found.probability)} likely to help")
    out.exact("  " + out.style(f"{mark} {words}", style))
    written = f"written {ago(found.stamp, ctx.now())}" if found.stamp else ""
    about = [found.type, found.scope, written, "pinned" if found.pinned else ""]
    out.paragraph(line(" · ".join(filter(None, about))), "  ")
    if found.description:
        out.paragraph(line(found.description), "  ")
    known = [name for name in recall.PARTS if found.parts.get(name)]
    fields = [
        (field, [*terms[:TERMS], *([f"and {len(terms) - TERMS} more"] if len(terms) > TERMS else [])])
        for field, terms in recall.by_field(found)
    ]
    rows = [
        ("score", " · ".join(f"{recall.PARTS[name][0]} {_number(name, found.parts[name])}" for name in known)),
        ("points", " · ".join(recall.by_points(found, TERMS))),
        *((field, ", ".join(terms)) for field, terms in fields),
        ("its trigger", f"“{found.trigger}”" if found.trigger else ""),
        ("odds", " · ".join(recall.shift(*each) for each in found.shifts)),
    ]
    out.facts([(name, line(value)) for name, value in rows if value])
    if found.delivered:
        size = f"{found.units:,} characters, about {found.tokens:,} tokens"
        out.exact(out.style(f"  what the model would get: {size}", "dim"))
        for each in safe(found.text).rstrip("\n").split("\n"):
            out.exact(f"  │ {each}")


def _number(name: str, value: float) -> str:
    return share(value) if name in recall.BOUNDED else f"{value:.1f}"
