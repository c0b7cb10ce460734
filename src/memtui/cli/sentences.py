"""`memtui model sentences`: the daemon that keeps a sentence model warm, which compares prompts with memories, too."""

import argparse

from memtui.cli import parser
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


def register(actions: "parser.Commands") -> None:
    """Add the action of `memtui model`."""
    found = parser.command(
        actions,
        "sentences",
        run,
        "compare prompts with memories by a sentence model",
        "memtui model sentences\nmemtui model sentences on\nmemtui model sentences off",
        "It needs the extra: "
        + sentences.INSTALL
        + ". A daemon of yours keeps the model warm: a session starts it, and"
        " it ends when no prompt came for half an hour. It downloads the model once, and nothing leaves the machine."
        " Without an answer in time recall goes on as without it.",
    )
    found.add_argument(
        "what", nargs="?", choices=tuple(WAYS), help="default: show whether it is on; stop ends the daemon for now"
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Show what is set and what the daemon does, or change that."""
    ctx.must_have_home()
    return WAYS[args.what](ctx) if args.what else show(ctx)


def show(ctx: Context) -> Result:
    """Show what is set, and what the daemon does."""
    data = _status(ctx)
    return Result(data, lambda out: _print(ctx, out, data))


def switch_on(ctx: Context) -> Result:
    """Set it, and start the daemon. Raises MemtuiError if the extra is not installed."""
    sentences.must_be_installed()
    changed = setting.assign(ctx.root, ctx.journal(), KEY, True)
    fs.unlink(semantic.failed(ctx.root))
    reindexing.update(ctx.root, places.of_session(ctx.env, ctx.cwd))
    started = warming.keep(ctx.env, ctx.root, ctx.cwd, _directories(ctx), ctx.now())
    data = {"changed": changed, "started": started}

    def text(out: Output) -> None:
        out.print("semantic = true")
        if started:
            out.print("The daemon loads the model now, and downloads it first if it must: memtui model sentences")

    return Result(data, text)


def switch_off(ctx: Context) -> Result:
    """Set it to the default, which is off, and end the daemon."""
    changed = setting.assign(ctx.root, ctx.journal(), KEY, None)
    stopped = warming.stop(ctx.root)
    data = {"changed": changed, "stopped": stopped}
    return Result(data, lambda out: out.print("semantic = false" + (". The daemon ends." if stopped else "")))


def stop(ctx: Context) -> Result:
    """End the daemon."""
    stopped = warming.stop(ctx.root)
    return Result({"stopped": stopped}, lambda out: out.print("The daemon ends." if stopped else "No daemon answers."))


WAYS = {"on": switch_on, "off": switch_off, "stop": stop}


def _directories(ctx: Context) -> "list[str]":
    return [directory for _, directory in places.of_session(ctx.env, ctx.cwd)]


def _status(ctx: Context) -> "dict[str, object]":
    said = warming.status(ctx.root)
    does = warming.doing(ctx.root, said)
    ready, total = warming.covered(ctx.root, _directories(ctx))
    return {
        "on": warming.is_on(ctx.root),
        "installed": sentences.installed(),
        "model": warming.wanted(ctx.root),
        "daemon": does,
        "problem": warming.why_failed(ctx.root) if does == warming.FAILED else None,
        "pid": said.get("pid"),
        "loaded": said.get("model"),
        "since": said.get("since"),
        "answered": said.get("answered"),
        "filling": said.get("filling") or None,
        "memories": total,
        "ready": ready,
    }


def _print(ctx: Context, out: Output, data: "dict[str, object]") -> None:
    does = WORDS[str(data["daemon"])]
    if data["on"] and data["daemon"] == warming.NONE:
        does += "; a session starts it"
    if since := data["since"]:
        does += f", process {data['pid']}, started {ago(float(str(since)), ctx.now())}"
    if data["problem"]:
        does += f": {line(str(data['problem']))}"
    rows = [
        ("semantic", "on" if data["on"] else "off"),
        ("extra", "installed" if data["installed"] else "not installed"),
        ("model", line(str(data["model"]))),
        ("daemon", does),
        ("vectors", f"of {data['ready']} of {many(int(str(data['memories'])), 'memory', 'memories')} of this project"),
    ]
    if not data["installed"]:
        rows.append(("to do", sentences.INSTALL))
    elif not data["on"]:
        rows.append(("to do", "memtui model sentences on"))
    out.facts(rows, whole=("to do",))
