"""`memtui config`: show and change settings; comments in config.toml stay."""

import argparse

from memtui import keymap
from memtui.base import findings
from memtui.base.errors import MemtuiError
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result, line, narrate, picked, styled
from memtui.settings import config_hot, setting
from memtui.settings.setting import Setting
from memtui.tidy.checks import doctor

KEYS = {"key": {"choices": sorted(config_hot.DEFAULTS) + sorted(setting.KEYS + name for name in keymap.defaults())}}


def _as_row(option: Setting) -> "dict[str, object]":
    row = picked(option, "key value source problem")
    return {**row, "default": option.default, "help": option.meaning} if option.key.startswith(setting.KEYS) else row


def _problems(changes: "dict[str, object]") -> "list[str]":
    return [findings.message(finding) for finding in doctor.wrong_settings(changes, "")]


@parser.command("config list")
@parser.command("config")
def show(ctx: Context, args: argparse.Namespace) -> Result:
    rows = setting.rows(ctx.root, ctx.project_root)
    every = getattr(args, "keys", False)
    mine = [row for row in setting.key_rows(ctx.root) if every or row.source != "default"]
    path = config_hot.file_path(ctx.root)
    unknown = _problems(setting.parse(setting.text(ctx.root)))
    settings, keys = list(map(_as_row, rows)), list(map(_as_row, mine))
    data = {"path": path, "project": ctx.project_root, "settings": settings, "keys": keys, "problems": unknown}
    shown, headers = mine if every else [*rows, *mine], ["SETTING", "VALUE", "FROM", "MEANING"]
    cells = [[(row.key, "bold"), setting.as_toml(row.value), _source(row), (row.meaning, "dim")] for row in shown]
    table = lambda out: out.table(headers, cells, flex=(3, 1), whole=True)
    return Result(data, styled(line(path), "dim"), table, *_warnings(unknown))


def _source(setting: Setting) -> "tuple[str, str]":
    """Say where the value in force is from; with a mark where another one is written that can't be used."""
    if setting.problem is None:
        return setting.source, ""
    return f"{'default' if setting.value == setting.default else 'config'} !", "yellow"


@parser.command("config get", KEYS)
def get(ctx: Context, args: argparse.Namespace) -> Result:
    row = setting.row(ctx.root, ctx.project_root, args.key)
    value = row.value if isinstance(row.value, str) else setting.as_toml(row.value)
    problem = f"! {args.key} in config.toml {line(row.problem)}, so that is not used." if row.problem else ""
    return Result(_as_row(row), lambda out: out.print(value), narrate(problem))


@parser.command("config set", KEYS, themes=", ".join(config_hot.CHOICES["theme"]))
def assign(ctx: Context, args: argparse.Namespace) -> Result:
    key, owner = args.key, ctx.project_root if ctx.project_given else None
    value = setting.value_of(key, args.value)
    setting.assign(ctx.root, ctx.journal(), key, value, owner)
    try:
        problems = _problems(setting.parse(setting.text(ctx.root)))
    except MemtuiError:
        problems = []  # the setting is changed, even if the file can't be read again now
    settings, own, missing = ctx.settings(), None, ""
    if not owner and config_hot.is_own(settings, ctx.project_root, key):
        own = setting.plain(config_hot.value(settings, ctx.project_root, key))
    if key in doctor.ASKING and value not in (False, "off"):
        from memtui.models import choice

        chosen = choice.choose(ctx.env, settings)
        missing = "" if chosen.backend else f"But: {chosen.why} {chosen.hint}"
    if key in {"llm_model", "llm_key"}:
        from memtui.models import choice

        problems += filter(None, [choice.unlisted(ctx.env, ctx.root, ctx.cwd)])
    data = {"key": key, "value": value, "project": owner, "own_instead": own, "problems": problems}
    data["no_model"] = missing or None
    words = f"{key} = {setting.as_toml(value)}" + (f" for {line(owner)}" if owner else "")
    does, stays = setting.VALUES.get(key, {}).get(str(value).lower(), ""), ""
    if own is not None:
        stays = f"note: this project has its own {key}, {setting.as_toml(own)}, which stays in force here."
        stays += f"\n  To change it, add --project . To remove it: memtui config unset {key} --project ."
    return Result(data, words, does and f"  {does}", narrate(stays), *_warnings([*problems, missing]))


def _warnings(problems: "list[str]") -> "list[str]":
    return [styled("! " + line(problem), "yellow") for problem in problems if problem]


@parser.command("config unset", KEYS)
def remove(ctx: Context, args: argparse.Namespace) -> Result:
    setting.assign(ctx.root, ctx.journal(), args.key, None, ctx.project_root if ctx.project_given else None)
    try:
        now = setting.row(ctx.root, ctx.project_root, args.key)
    except MemtuiError:  # the setting is changed, even if the file can't be read again now
        return Result({"key": args.key}, f"{args.key} is no longer set")
    return Result(_as_row(now), f"{args.key} is {setting.as_toml(now.value)} ({now.source})")
