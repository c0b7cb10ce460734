"""`memtui model sentences`: the daemon that keeps a sentence model warm, which compares prompts with memories, too."""

import argparse

from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import fs
from memtui.core.base.phrasing import ago, many
from memtui.core.settings import setting
from memtui.recall import places, semantic, sentences
from memtui.worker import reindexing, warming

KEY = "semantic"
WORDS = {
    warming.RUNNING: "is running",
    warming.STARTING: "is loading the model",
    warming.FAILED: "failed",
    warming.SILENT: "does not answer: it was killed, or hangs",
    warming.NONE: "is not running",
}
HELP = (
    f"It needs the extra: {sentences.INSTALL}. A daemon of yours keeps the model warm: a session starts it, and it ends"
    " when no prompt came for half an hour. It downloads the model once, and nothing leaves the machine."
)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Show what is set and what the daemon does, or change that."""
    ctx.must_have_home()
    if args.what == "on":
        return _switch_on(ctx)
    if args.what == "off":
        changed = setting.assign(ctx.root, ctx.journal(), KEY, None)
        stopped = warming.stop(ctx.root)
        said = "semantic = false" + (". The daemon ends." if stopped else "")
        return Result({"changed": changed, "stopped": stopped}, lambda out: out.print(said))
    return _show(ctx)


def _switch_on(ctx: Context) -> Result:
    """Set it, and start the daemon. Raises MemtuiError if the extra is not installed."""
    sentences.must_be_installed()
    changed = setting.assign(ctx.root, ctx.journal(), KEY, True)
    fs.unlink(semantic.failed(ctx.root))
    reindexing.update(ctx.root, places.of_session(ctx.env, ctx.cwd))
    started = warming.keep(ctx.env, ctx.root, ctx.cwd, _directories(ctx), ctx.now())

    def text(out: Output) -> None:
        out.print("semantic = true")
        if started:
            out.print("The daemon loads the model now, and downloads it first if it must: memtui model sentences")

    return Result({"changed": changed, "started": started}, text)


def _directories(ctx: Context) -> "list[str]":
    return [directory for _, directory in places.of_session(ctx.env, ctx.cwd)]


def _show(ctx: Context) -> Result:
    said, on, installed = warming.status(ctx.root), warming.is_on(ctx.root), sentences.installed()
    does = warming.doing(ctx.root, said)
    ready, total = warming.covered(ctx.root, _directories(ctx))
    problem = warming.why_failed(ctx.root) if does == warming.FAILED else None
    data = {
        "on": on,
        "installed": installed,
        "model": warming.wanted(ctx.root),
        "daemon": does,
        "problem": problem,
        "pid": said.get("pid"),
        "loaded": said.get("model"),
        "since": said.get("since"),
        "answered": said.get("answered"),
        "filling": said.get("filling") or None,
        "memories": total,
        "ready": ready,
    }
    words = WORDS[does] + ("; a session starts it" if on and does == warming.NONE else "")
    if since := said.get("since"):
        words += f", process {said.get('pid')}, started {ago(float(str(since)), ctx.now())}"
    rows = [
        ("semantic", "on" if on else "off"),
        ("extra", "installed" if installed else "not installed"),
        ("model", line(str(data["model"]))),
        ("daemon", words + (f": {line(str(problem))}" if problem else "")),
        ("vectors", f"of {ready} of {many(total, 'memory', 'memories')} of this project"),
    ]
    if not installed or not on:
        rows.append(("to do", sentences.INSTALL if not installed else "memtui model sentences on"))
    return Result(data, lambda out: out.facts(rows, whole=("to do",)))
