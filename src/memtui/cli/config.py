"""`memtui config`: settings, changed without touching a comment."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core import changes, config, configfile, doctor, fs, settings
from memtui.core.errors import MemtuiError, UsageError


def register(commands: "parser.Commands") -> None:
    """Add the command and its actions."""
    found = parser.command(
        commands,
        "config",
        show,
        "show and change settings",
        "memtui config\nmemtui config set mode whisper\nmemtui config set mode off --project .",
        "With --project DIR a setting is that project's own.",
    )
    actions = parser.actions(found)
    parser.command(actions, "list", show, "list the settings and where each comes from", "memtui config list")
    each = parser.command(actions, "get", get, "print one setting as it holds here", "memtui config get mode")
    each.add_argument("key", choices=sorted(config.DEFAULTS), metavar="KEY")
    each = parser.command(actions, "set", assign, "change one setting", "memtui config set budget 6000")
    each.add_argument("key", choices=sorted(config.DEFAULTS), metavar="KEY")
    each.add_argument("value", metavar="VALUE")
    each = parser.command(actions, "unset", remove, "go back to the default", "memtui config unset budget")
    each.add_argument("key", choices=sorted(config.DEFAULTS), metavar="KEY")
    parser.command(actions, "edit", edit, "open config.toml in your editor", "memtui config edit")


def _rows(ctx: Context) -> "list[dict[str, object]]":
    found = settings.rows(ctx.root, ctx.project_root)
    return [{"key": s.key, "value": s.value, "source": s.source, "problem": s.problem} for s in found]


def show(ctx: Context, _: argparse.Namespace) -> Result:
    """List the settings."""
    rows = _rows(ctx)
    path = config.file_path(ctx.root)
    unknown = [f"{where}{key} {why}" for where, key, why in doctor.problems(configfile.parse(settings.text(ctx.root)))]
    data = {"path": path, "project": ctx.project_root, "settings": rows, "problems": unknown}

    def text(out: Output) -> None:
        out.print(out.style(line(path), "dim"))
        cells = [
            [
                (str(r["key"]), "bold"),
                configfile.written(settings.plain(r["value"])),
                str(r["source"]),
                (settings.MEANINGS.get(str(r["key"]), ""), "dim"),
            ]
            for r in rows
        ]
        out.table(["SETTING", "VALUE", "FROM", "MEANING"], cells)
        for problem in unknown:
            out.print(out.style("! " + line(problem), "yellow"))

    return Result(data, text)


def get(ctx: Context, args: argparse.Namespace) -> Result:
    """Print one setting."""
    row = next(row for row in _rows(ctx) if row["key"] == args.key)
    value = settings.plain(row["value"])
    return Result(row, lambda out: out.print(value if isinstance(value, str) else configfile.written(value)))


def _owner(ctx: Context, key: str) -> "str | None":
    if not ctx.given:
        return None
    if key not in config.PER_PROJECT:
        raise UsageError(f"{key} can't be set for one project.", "Those can: " + ", ".join(config.PER_PROJECT) + ".")
    return ctx.project_root


def assign(ctx: Context, args: argparse.Namespace) -> Result:
    """Change one setting."""
    owner = _owner(ctx, args.key)
    value = settings.value_of(args.key, args.value)
    settings.assign(ctx.root, ctx.journal(), args.key, value, owner)
    where = f" for {owner}" if owner else ""
    data = {"key": args.key, "value": value, "project": owner}
    return Result(
        data, lambda out: out.print(f"{args.key} = {configfile.written(value)}{line(where) and ' ' + line(where)}")
    )


def remove(ctx: Context, args: argparse.Namespace) -> Result:
    """Go back to the default."""
    owner = _owner(ctx, args.key)
    settings.assign(ctx.root, ctx.journal(), args.key, None, owner)
    now = next(row for row in _rows(ctx) if row["key"] == args.key)
    shown = configfile.written(settings.plain(now["value"]))
    return Result(now, lambda out: out.print(f"{args.key} is {shown} ({now['source']})"))


def edit(ctx: Context, _: argparse.Namespace) -> Result:
    """Open config.toml in an editor; what can't be read is not saved, and kept."""
    from memtui.cli.editor import Draft

    before = fs.read_or_empty(config.file_path(ctx.root))
    with Draft(ctx, "config.toml", before) as draft:
        after = draft.edit()
        try:
            written = configfile.parse(after.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise MemtuiError("That is not UTF-8 text: nothing was saved.") from error
        if draft.edited:
            path = config.file_path(ctx.root)
            change = changes.FileChange(path, before or None, after or None, fs.FILE_MODE)
            ctx.journal().run("config", [change], "edit config.toml")
    problems = [f"{where}{key} {why}" for where, key, why in doctor.problems(written)]

    def text(out: Output) -> None:
        out.print("saved" if draft.edited else "Nothing changed.")
        for problem in problems:
            out.print(out.style("! " + line(problem), "yellow"))

    return Result({"changed": draft.edited, "problems": problems}, text)
