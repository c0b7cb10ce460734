"""`memtui model`: the model that memtui may ask, what it did and noted; and the sentence model."""

import argparse
import sys
import time
from itertools import islice

from memtui.base import clock_hot, fs_hot, installer, phrasing_hot
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import age, ago, many
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, picked, safe
from memtui.models import log
from memtui.models.choice import asked, choose
from memtui.models.subconscious import block_files_hot, control, runs, trace
from memtui.models.subconscious.blocks import Blocks
from memtui.models.subconscious.control import Overview
from memtui.recall import places_hot, semantic_hot, sentences
from memtui.settings import config_hot, setting
from memtui.views import changes, models
from memtui.views.words import TABLES
from memtui.worker import index_updates, sentence_vectors

LIMIT = 30


@parser.command("model")
def status(ctx: Context, _: argparse.Namespace) -> Result:
    choice, usage = choose(ctx.env, config_hot.load(ctx.root)), log.used_today(ctx.root, ctx.now())
    reading = control.look(ctx.env, ctx.root, ctx.project_root, ctx.now())
    powers = reading.powers
    model = asked(ctx.env, ctx.root, choice, ask=False)
    reads_along: dict[str, object] = {"mode": powers.mode, "tools": powers.allowed, "reason": powers.why or None}
    reads_along |= {
        "stopped": None if reading.stopped is None else clock_hot.iso(reading.stopped),
        "waiting": [{**mention._asdict(), "time": clock_hot.iso(mention.time)} for mention in reading.mentions],
        "under_way": [run.data() for run in reading.under_way],
        "last": reading.last.data() if reading.last else None,
    }
    data: dict[str, object] = {"backend": choice.backend or None, "model": model, "chosen": choice.model}
    data |= {"reason": None if choice.backend else choice.why, "today": {"tokens": usage.tokens, "cost": usage.cost}}
    data |= {**picked(choice, "daily_tokens daily_dollars"), "reads_along": reads_along}
    by = f"{line(model)} by {models.BACKENDS[choice.backend]}" if choice.backend else "none"
    by += f"; the service does not have {line(choice.model)}" if choice.chosen and model != choice.model else ""
    why = [] if choice.backend else [("why", choice.why), ("to do", choice.hint)]
    today = models.of_budget(usage, choice.daily_tokens, choice.daily_dollars)
    reads = powers.mode != "off" or reading.stopped is not None
    return Result(
        data,
        lambda out: out.facts([("model", by), *why, ("today", today)], whole=("to do",)),
        "Every call: memtui model log",
        (lambda out: _print_reading(ctx, out, reading)) if reads else "",
    )


def _print_reading(ctx: Context, out: Output, overview: Overview) -> None:
    now = ctx.now()
    rows = [("reads along", models.state(overview, now)), *models.facts(overview, now)]
    names = control.names(ctx.env, [mention.project for mention in overview.mentions])
    for mention in overview.mentions:
        who = "you" if mention.who == "person" else "the agent"
        where = f" in {names[mention.project]}" if mention.project not in {"", ctx.slug} else ""
        rows.append(("to answer", f"{who}{where}, {ago(mention.time, now)}: {mention.words}"))
    out.facts([(name, line(words)) for name, words in rows], whole=("to do",))
    if overview.last is None:
        out.print(models.EMPTY)


@parser.command("model log", limit=LIMIT)
def log_of(ctx: Context, args: argparse.Namespace) -> Result:
    now = ctx.now()
    if args.runs:
        return _runs(ctx, runs.newest_first(ctx.root, args.limit or sys.maxsize), now)
    every = log.newest_first(ctx.root)
    calls = list(islice(every, args.limit or None))
    more = next(every, None) is not None
    usage = log.used_today(ctx.root, now)
    data = {"calls": [call.data() for call in calls], "more": more}
    data["today"] = {"tokens": usage.tokens, "cost": usage.cost}
    if not calls:
        return Result(data, "No model was asked yet.")
    choice = choose(ctx.env, config_hot.load(ctx.root))
    today = f"Today: {models.of_budget(usage, choice.daily_tokens, choice.daily_dollars)}."
    rest = "and more: memtui model log --limit 0" if more else ""
    headers = ["AGE", "PURPOSE", "OUTCOME", "IN", "CACHED", "OUT", "COST", "TIME", "BY", "MODEL"]
    cells = [
        [
            age(call.time, now),
            line(call.purpose),
            (models.outcome(call.outcome), models.style(call.outcome)),
            *(f"{count:,}" for count in (call.usage.input + call.usage.written, call.usage.cached, call.usage.output)),
            models.dollars(call.usage.cost),
            f"{call.seconds:.1f} s",
            line(call.backend),
            line(models.short_name(call.model)),
        ]
        for call in calls
    ]
    return Result(data, lambda out: out.table(headers, cells, flex=(9, 1), right=(0, 3, 4, 5, 6, 7)), rest, today)


def _runs(ctx: Context, jobs: "list[runs.Run]", now: float) -> Result:
    names, notes = control.names(ctx.env, [run.project for run in jobs]), [line(run.note) for run in jobs]
    headers = ["AGE", "RUN", "PROJECT", "SESSION", "OUTCOME", "HEARD", "COST", "WHAT"]
    cells = [
        [
            age(run.time, now),
            short_id(run.id),
            line(names.get(run.project, "-")),
            line(run.session[:8]),
            models.ended(run)[0],
            str(run.heard),
            models.dollars(run.cost),
            line(models.did(run)),
        ]
        for run in jobs
    ]
    text = (lambda out: out.table(headers, cells, flex=(7, 2), right=(0, 5, 6), notes=notes)) if jobs else models.EMPTY
    return Result({"runs": [trace.run_data(ctx.root, run) for run in jobs]}, text)


@parser.command("model sentences")
def sentence_model(ctx: Context, args: argparse.Namespace) -> Result:
    if args.what == "off":
        changed = setting.assign(ctx.root, ctx.journal(), "semantic", None)
        stopped = sentence_vectors.stop(ctx.root)
        words = "semantic = false" + (". The daemon ends." if stopped else "")
        return Result({"changed": changed, "stopped": stopped}, words)
    here = places_hot.of_session(ctx.env, ctx.cwd)
    directories = [directory for _, directory in here]
    if args.what is None:
        return _sentence_state(ctx, directories)
    sentences.must_be_installed()
    changed = setting.assign(ctx.root, ctx.journal(), "semantic", True)
    fs_hot.unlink(semantic_hot.failed(ctx.root))
    index_updates.update(ctx.root, here)
    started = sentence_vectors.keep(ctx.env, ctx.root, ctx.cwd, directories, ctx.now())
    doing = _wait_for_daemon(ctx)
    if doing == sentence_vectors.FAILED:
        why = sentence_vectors.why_failed(ctx.root)
        raise MemtuiError(f"semantic is on, but its daemon can't work: {why}", "Then again: memtui model sentences on")
    about = f"The daemon {TABLES['daemon'][doing]}: memtui model sentences"
    return Result({"changed": changed, "started": started, "daemon": doing}, "semantic = true", about)


def _wait_for_daemon(ctx: Context) -> str:
    """Wait until the daemon has loaded its model or failed, and return what it does; unattended not for long."""
    end = time.monotonic() + (sentence_vectors.PATIENCE if not ctx.out.stderr_tty or ctx.out.json else 3600.0)
    while (doing := sentence_vectors.doing(ctx.root, sentence_vectors.status(ctx.root))) not in sentence_vectors.LOADED:
        if time.monotonic() > end:
            return sentence_vectors.STARTING
        size = phrasing_hot.size(sentence_vectors.downloaded(ctx.root))
        ctx.out.progress(f"The daemon loads the model, {size} are here … Ctrl-C leaves it to that.")
        time.sleep(0.1)
    ctx.out.progress("")
    return doing


def _sentence_state(ctx: Context, directories: "list[str]") -> Result:
    daemon, on, installed = sentence_vectors.status(ctx.root), sentence_vectors.is_on(ctx.root), sentences.installed()
    doing = sentence_vectors.doing(ctx.root, daemon)
    ready, total = sentence_vectors.covered(ctx.root, directories)
    problem = sentence_vectors.why_failed(ctx.root) if doing == sentence_vectors.FAILED else None
    model = sentence_vectors.wanted(ctx.root)
    data = {"on": on, "installed": installed, "model": model, "daemon": doing}
    data |= {"problem": problem, "pid": daemon.get("pid"), "loaded": daemon.get("model")}
    data |= {"memories": total, "ready": ready}
    words = TABLES["daemon"][doing] + ("; a session starts it" if on and doing == sentence_vectors.NONE else "")
    if since := daemon.get("since"):
        words += f", process {daemon.get('pid')}, started {ago(float(str(since)), ctx.now())}"
    rows = [
        ("switched", "on" if on else "off"),
        ("package", "installed" if installed else "not installed"),
        ("model", line(model)),
        ("daemon", words + (f": {line(str(problem))}" if problem else "")),
        ("ready", f"{ready} of {many(total, 'memory', 'memories')} of this project"),
    ]
    if not installed or not on:
        rows.append(("to do", "memtui model sentences on" if installed else installer.adding("fastembed")))
    return Result(data, lambda out: out.facts(rows, whole=("to do",)))


@parser.command("model blocks", blocks=", ".join(block_files_hot.BLOCKS))
def blocks(ctx: Context, args: argparse.Namespace) -> Result:
    parts, name = Blocks(ctx.root, ctx.slug, ctx.now), args.block
    if name:
        text = parts.text(name)
        words_of_block = safe(text) if text else f"It is empty. It is for {block_files_hot.BLOCKS[name][1]}."
        return Result({"block": name, "path": parts.path(name), "text": text}, words_of_block)
    data, cells = [], []
    for name, (of_project, purpose) in block_files_hot.BLOCKS.items():
        content, newest = parts.text(name), next(iter(parts.versions(name)), None)
        written = newest.written if newest else None
        row = {"block": name, "scope": "project" if of_project else "global", "purpose": purpose, "text": content}
        changed = clock_hot.iso(written) if written is not None else None
        by = newest.writer.by if newest and written is not None else None
        data.append({**row, "path": parts.path(name), "changed": changed, "by": by})
        when = f"{age(newest.written, ctx.now())}, {changes.writer(newest)}" if newest else "-"
        words = line(content.partition("\n")[0]) or f"({purpose})"
        cells.append([name, str(row["scope"]), f"{len(content):,}", when, words])
    headers = ["BLOCK", "SCOPE", "SIZE", "CHANGED", "TEXT"]
    return Result({"blocks": data}, lambda out: out.table(headers, cells, flex=(4, 3), right=(2,)))


@parser.command("model start")
@parser.command("model stop")
def switch(ctx: Context, args: argparse.Namespace) -> Result:
    if args.action == "stop":
        changed, ended = control.stop(ctx.root), sentence_vectors.stop(ctx.root)
        words = "The model reads no more sessions, in all projects." if changed else "It was stopped already."
        words += " The daemon of the sentence model ended." * ended
        return Result({"stopped": True, "changed": changed, "daemon": ended}, words + " Again: memtui model start")
    changed = control.start(ctx.root)
    powers = control.powers(ctx.env, ctx.root, ctx.project_root)
    words = "It may read sessions again." if changed else "It was not stopped."
    but = f"But: {powers.why} {powers.hint}" if powers.why else ""
    return Result({"stopped": False, "changed": changed, "reason": powers.why or None}, words, but)
