"""`memtui paths`: the files and directories of memtui and of Claude Code."""

import argparse
import os

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import paths
from memtui.core.deliveries import log as delivery_log
from memtui.core.inbox import format as inbox_format
from memtui.core.places import locate, trust
from memtui.core.settings import config

# The names by what they are, in the order of the list.
GROUPS = {
    "This project, and what waits for it": ("project", "inbox", "guidance", "pending_updates", "pending_items"),
    "Memories": ("project_memory", "auto_memory", "global_memory"),
    "Kept by memtui": (
        "root", "config", "global_inbox", "deliveries", "errors", "sessions", "trust", "journal", "trash",
    ),
    "Claude Code's own": ("claude", "settings", "transcripts"),
}  # fmt: skip
NAMES = tuple(name for names in GROUPS.values() for name in names)


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "paths",
        run,
        "print the paths of memtui's files",
        'memtui paths\necho "CI is red" >> "$(memtui paths guidance)"',
    )
    found.add_argument("name", nargs="?", choices=NAMES, metavar="NAME", help="only this path: " + ", ".join(NAMES))


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List the paths of this project and of memtui."""
    root, claude = ctx.root, ctx.config_dir
    own = paths.inbox_dir(root, ctx.slug)
    found = {
        "project": ctx.project_root,
        "inbox": own,
        "guidance": f"{own}/{inbox_format.FILES['guidance']}",
        "pending_updates": f"{own}/{inbox_format.FILES['updates']}",
        "pending_items": f"{own}/{inbox_format.FILES['items']}",
        "global_inbox": paths.inbox_dir(root, None),
        "project_memory": locate.project_dir(ctx.env, ctx.cwd)[0],
        "auto_memory": locate.auto_dir(ctx.env, ctx.cwd),
        "global_memory": locate.global_dir(ctx.env),
        "transcripts": f"{claude}/projects/{paths.slug(ctx.cwd)}",
        "root": root,
        "config": config.file_path(root),
        "deliveries": delivery_log.log_path(root, ctx.now()),
        "errors": f"{root}/log/errors.jsonl",
        "sessions": f"{root}/sessions",
        "trust": trust.path(root),
        "journal": f"{root}/journal.jsonl",
        "trash": f"{root}/trash",
        "claude": claude,
        "settings": f"{claude}/settings.json",
    }
    if args.name:
        path = found[args.name]
        if args.name in {"guidance", "pending_updates", "pending_items"}:
            from memtui.core.base import fs

            fs.makedirs(own)  # so that `>> "$(memtui paths guidance)"` works at once
        return Result({args.name: path}, lambda out: out.exact(path))

    def text(out: Output) -> None:
        rows = {
            name: [(name, "dim"), line(path) + ("" if os.path.lexists(path) else "  (not there yet)")]
            for name, path in found.items()
        }
        for title, names in GROUPS.items():
            out.section()
            out.heading(title)
            out.table(["", ""], [rows[name] for name in names], flex=(), indent="  ")

    return Result(found, text)
