"""`memtui config`: settings, changed without touching a comment."""

import argparse

from memtui.cli import configfile, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core import changes, config, doctor, fs
from memtui.core.errors import MemtuiError, UsageError

Value = str | int | float | bool
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
ABOUT = {
    "mode": "full, whisper (guidance and items), off",
    "budget": "characters that one delivery may have",
    "updates_max": "pending updates in one delivery",
    "updates_days": "days after which they are not delivered",
    "items_max": "pending items in one delivery",
    "extract": "whether drafts are made of what you say",
    "extract_confidence": "drafts below this are dropped",
    "banner": "the line for you at a session's start",
}


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


def _text(ctx: Context) -> str:
    try:
        return fs.read_or_empty(config.file_path(ctx.root)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise MemtuiError("config.toml is not UTF-8 text.", "Mend it: memtui config edit") from error
    except OSError as error:
        raise MemtuiError(f"{error.filename} can't be read: {error.strerror}.") from error


def _rows(ctx: Context) -> "list[dict[str, object]]":
    settings = configfile.parse(_text(ctx))
    table = config.project_table(settings, ctx.project_root)
    rows: list[dict[str, object]] = []
    for key, default in config.DEFAULTS.items():
        in_project = key in config.PER_PROJECT and key in table
        source = "project" if in_project else "config" if key in settings else "default"
        given = table[key] if in_project else settings.get(key, default)
        value = config.value(settings, ctx.project_root, key)
        rows.append({"key": key, "value": value, "source": source, "problem": config.problem(key, given)})
    return rows


def show(ctx: Context, _: argparse.Namespace) -> Result:
    """List the settings."""
    rows = _rows(ctx)
    path = config.file_path(ctx.root)
    unknown = [f"{where}{key} {why}" for where, key, why in doctor.problems(configfile.parse(_text(ctx)))]
    data = {"path": path, "project": ctx.project_root, "settings": rows, "problems": unknown}

    def text(out: Output) -> None:
        out.print(out.style(line(path), "dim"))
        cells = [
            [
                (str(r["key"]), "bold"),
                configfile.written(_plain(r["value"])),
                str(r["source"]),
                (ABOUT.get(str(r["key"]), ""), "dim"),
            ]
            for r in rows
        ]
        out.table(["SETTING", "VALUE", "FROM", "MEANING"], cells)
        for problem in unknown:
            out.print(out.style("! " + line(problem), "yellow"))

    return Result(data, text)


def _plain(value: object) -> Value:
    return value if isinstance(value, (str, int, float)) else str(value)


def get(ctx: Context, args: argparse.Namespace) -> Result:
    """Print one setting."""
    row = next(row for row in _rows(ctx) if row["key"] == args.key)
    value = _plain(row["value"])
    return Result(row, lambda out: out.print(value if isinstance(value, str) else configfile.written(value)))


def _value(key: str, text: str) -> Value:
    """A value as the person wrote it, in the type of the setting. Raises UsageError."""
    default = config.DEFAULTS[key]
    value: Value = text
    if isinstance(default, bool):
        value = WORDS.get(text.lower(), text)
    elif isinstance(default, (int, float)):
        try:
            value = float(text) if isinstance(default, float) else int(text)
        except ValueError:
            value = text
    problem = config.problem(key, value)
    if problem is not None:
        raise UsageError(f"{key} {problem}, not {text}.", f"{key}: {ABOUT[key]}.")
    return value


def _write(ctx: Context, before: str, after: str, summary: str) -> None:
    if before == after:
        return
    old = before.encode() if before else None
    change = changes.FileChange(config.file_path(ctx.root), old, after.encode() or None, fs.FILE_MODE)
    ctx.journal().run("config", [change], summary)


def _owner(ctx: Context, key: str) -> "str | None":
    if not ctx.given:
        return None
    if key not in config.PER_PROJECT:
        raise UsageError(f"{key} can't be set for one project.", "Those can: " + ", ".join(config.PER_PROJECT) + ".")
    return ctx.project_root


def assign(ctx: Context, args: argparse.Namespace) -> Result:
    """Change one setting."""
    owner = _owner(ctx, args.key)
    value = _value(args.key, args.value)
    before = _text(ctx)
    _write(ctx, before, configfile.change(before, args.key, value, owner), f"set {args.key} to {args.value}")
    where = f" for {owner}" if owner else ""
    data = {"key": args.key, "value": value, "project": owner}
    return Result(
        data, lambda out: out.print(f"{args.key} = {configfile.written(value)}{line(where) and ' ' + line(where)}")
    )


def remove(ctx: Context, args: argparse.Namespace) -> Result:
    """Go back to the default."""
    owner = _owner(ctx, args.key)
    before = _text(ctx)
    _write(ctx, before, configfile.change(before, args.key, None, owner), f"unset {args.key}")
    now = next(row for row in _rows(ctx) if row["key"] == args.key)
    shown = configfile.written(_plain(now["value"]))
    return Result(now, lambda out: out.print(f"{args.key} is {shown} ({now['source']})"))


def edit(ctx: Context, _: argparse.Namespace) -> Result:
    """Open config.toml in an editor; what can't be read is not saved, and kept."""
    from memtui.cli.editor import Draft

    before = fs.read_or_empty(config.file_path(ctx.root))
    with Draft(ctx, "config.toml", before) as draft:
        after = draft.edit()
        try:
            settings = configfile.parse(after.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise MemtuiError("That is not UTF-8 text: nothing was saved.") from error
        if draft.edited:
            path = config.file_path(ctx.root)
            change = changes.FileChange(path, before or None, after or None, fs.FILE_MODE)
            ctx.journal().run("config", [change], "edit config.toml")
    problems = [f"{where}{key} {why}" for where, key, why in doctor.problems(settings)]

    def text(out: Output) -> None:
        out.print("saved" if draft.edited else "Nothing changed.")
        for problem in problems:
            out.print(out.style("! " + line(problem), "yellow"))

    return Result({"changed": draft.edited, "problems": problems}, text)
