"""The files and directories of memtui and of Claude Code: `memtui status --paths`."""

import os

from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import fs, paths
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


def _all(ctx: Context) -> "dict[str, str]":
    """Return the paths of this project and of memtui, by name."""
    root, claude = ctx.root, ctx.config_dir
    own = paths.inbox_dir(root, ctx.slug)
    return {
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


def one(ctx: Context, name: str) -> Result:
    """Print one path."""
    path = _all(ctx)[name]
    if name in {"guidance", "pending_updates", "pending_items"}:
        fs.makedirs(os.path.dirname(path))  # so that `>> "$(memtui status --paths guidance)"` works at once
    return Result({name: path}, lambda out: out.exact(path))


def listing(ctx: Context) -> Result:
    """List the paths, by what they are."""
    found = _all(ctx)

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
