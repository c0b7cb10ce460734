"""Completion of command lines by argcomplete (the extra `completions`): what words and options can be at the moment."""

import argparse
import os
from collections.abc import Iterator
from functools import partial

import argcomplete

from memtui.base import word_lists
from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, cut, line

NEWEST = 50  # ids of changes that are offered
TITLE = 60  # columns of a description
PATH = os.path.dirname(__file__) + "/commands.txt"


def complete(typed: str) -> None:
    """Answer the shell that asks what fits the end of a line, and exit."""
    argcomplete.autocomplete(with_candidates(typed), always_complete_options=False)


def with_candidates(typed: str) -> parser.Parser:
    """Return the parser of the command that was typed, or of all, with candidates at its words and options."""
    name = parser.command_word(typed.split()[1 : None if typed.endswith(" ") else -1])
    root, sources = parser.build(name if name in parser.COMMANDS else None), word_lists.tables(PATH)["completions"]
    for command, current in parser.walk("", root):
        for action in current._actions:  # noqa: SLF001  argparse has no public way
            word = action.option_strings[-1] if action.option_strings else action.dest
            if kinds := sources.get(f"{command} {word}") or sources.get(word):
                action.completer = partial(_candidates, kinds.split())  # type: ignore[attr-defined]
    return root


def _candidates(
    kinds: list[str], prefix: str, action: argparse.Action, parsed_args: argparse.Namespace, **_: object
) -> dict[str, str]:
    if kinds == ["values"]:
        from memtui.settings import config_hot

        default = config_hot.DEFAULTS.get(parsed_args.key)
        text = str(default).lower() if isinstance(default, bool) else default
        values = config_hot.CHOICES.get(parsed_args.key) or (("true", "false") if isinstance(default, bool) else ())
        return {value: "default" if value == text else "" for value in values}
    ctx = Context(os.environ, Output({}), getattr(parsed_args, "project", None))
    typed = getattr(parsed_args, action.dest, None) if action.nargs in {"*", "+"} else None
    candidates: dict[str, str] = {}
    for word, about in (pair for kind in kinds for pair in _present(ctx, kind)):
        if word.startswith(prefix) and line(word) == word and word not in (typed or ()):
            candidates.setdefault(word, cut(line(about), TITLE))
    return candidates


def _present(ctx: Context, kind: str) -> Iterator[tuple[str, str]]:
    if kind == "teams":
        from memtui.client import locate_hot

        for label, directory in locate_hot.team_dirs(ctx.root):
            yield label.partition(":")[2], ctx.tilde(directory)
    if kind in {"memories", "scopes"}:
        from memtui.store import scopes

        for scope in scopes.discover(ctx.env, ctx.cwd):
            if kind == "scopes":
                yield scope.label, ctx.tilde(scope.directory)
                continue
            for name, _ in sorted(scopes.files(scope), key=lambda pair: pair[0].lower()):
                yield os.path.basename(name).removesuffix(".md"), scope.label
    elif kind == "types":
        from memtui.store.memory import TYPES

        yield from ((thing, "") for thing in TYPES)
    elif kind in {"waiting", "notes"}:
        for item in ctx.waiting(("guidance",) if kind == "notes" else None, every=True):
            yield short_id(item.id), item.text.partition("\n")[0]
    elif kind == "changed":
        from memtui.views import changes

        yield from ((thing.name, changes.by(thing)) for thing in ctx.changed())
    elif kind == "changes":
        yield from ((short_id(thing.id), thing.summary) for thing in ctx.journal().ledger().changes()[:NEWEST])
    elif kind == "trash":
        yield from ((thing.memory.stem, thing.memory.description) for thing in ctx.store().trash())
