"""What can be given as the value of an option or a word of a command: ids with titles, scopes, types, settings."""

import argparse
import os

from memtui.cli.context import Context
from memtui.cli.output import Output
from memtui.core.base.short_ids import short_id

NEWEST = 50  # ids of deliveries, sessions and changes that are offered
AUDIENCE = (
    ("people", "sessions started by a person"),
    ("anyone", "people's sessions and scripts'"),
    ("agent:", "sessions with that MEMTUI_AGENT"),
    ("path:", "when a tool touches such a path"),
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memtui.core.deliveries.record import Delivery

    Offered = tuple[str, str]
    Source = Callable[["Context"], Iterable[Offered]]


def actions_of(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> "list[Offered]":
    """List the commands, or the actions of one, each with its summary."""
    about = {each.dest: each.help or "" for each in commands._choices_actions}  # noqa: SLF001  as argparse has no public way
    return [(name, about.get(name, "")) for name in commands.choices]


def of(path: "list[str]", action: argparse.Action, before: "list[str]", env: "dict[str, str]") -> "Iterable[Offered]":
    """List the values of an option or a word of the command `path`; nothing where anything can be given. `before`: the
    words that were typed so far. Raises MemtuiError, OSError."""
    name = action.option_strings[-1] if action.option_strings else action.dest
    if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
        return actions_of(action)
    if name == "value" and path == ["config", "set"]:
        return _setting_values(before[-1])
    if name == "key":
        return _keys()
    if action.choices:
        return [(str(each), "") for each in action.choices]
    source = SOURCES.get((" ".join(path), name)) or SOURCES.get(("", name))
    if source is None:
        return []
    project = next((before[at + 1] for at, word in enumerate(before[:-1]) if word == "--project"), None)
    return source(Context(env, Output({}), project))


def _keys() -> "Iterator[Offered]":
    from memtui import actions
    from memtui.core.settings import setting

    yield from setting.MEANINGS.items()
    for each in actions.ACTIONS:
        yield setting.KEYS + each.id, each.help


def _setting_values(key: str) -> "list[Offered]":
    from memtui.core.settings import config

    default = config.DEFAULTS.get(key)
    values = config.CHOICES.get(key) or (("true", "false") if isinstance(default, bool) else ())
    shown = str(default).lower() if isinstance(default, bool) else default
    if not values and default is not None:
        return [(str(default), "default")]
    return [(each, "default" if each == shown else "") for each in values]


def _memories(ctx: Context) -> "Iterator[Offered]":
    from memtui.core.memories import scopes

    for scope in scopes.discover(ctx.env, ctx.cwd):
        for name, _ in sorted(scopes.files(scope), key=lambda pair: pair[0].lower()):
            yield os.path.basename(name).removesuffix(".md"), scope.label


def _scopes(ctx: Context) -> "Iterator[Offered]":
    from memtui.core.memories import scopes

    for scope in scopes.discover(ctx.env, ctx.cwd):
        yield scope.label, ctx.tilde(scope.directory)


def _types(_: Context) -> "list[Offered]":
    from memtui.core.memories.memory import TYPES

    return [(each, "") for each in TYPES]


def _waiting(*kinds: str) -> "Source":
    def offered(ctx: Context) -> "Iterator[Offered]":
        for each in ctx.waiting(kinds or None, every=True):
            yield short_id(each.id), each.text.partition("\n")[0]

    return offered


def _changed(ctx: Context) -> "Iterator[Offered]":
    from memtui.present import changed

    return ((each.name, changed.by(each)) for each in ctx.changed())


def _both(*sources: "Source") -> "Source":
    return lambda ctx: (each for source in sources for each in source(ctx))


def _newest(ctx: Context) -> "list[Delivery]":
    from itertools import islice

    from memtui.core.deliveries import log
    from memtui.core.deliveries.record import Delivery

    return [Delivery.of(each) for each in islice(log.newest_first(ctx.root), NEWEST)]


def _deliveries(ctx: Context) -> "Iterator[Offered]":
    from memtui.core.base.phrasing import ago
    from memtui.core.deliveries.filter import Filter
    from memtui.present.deliveries import in_short

    listed = Filter()  # what `memtui activity` lists: no uses of memories
    for each in filter(listed.matches, _newest(ctx)):
        yield short_id(each.id), f"{ago(each.time or None, ctx.now())}: {in_short(each.contents)}"


def _delivered_notes(ctx: Context) -> "Iterator[Offered]":
    from memtui.core.deliveries.record import notes_of

    for delivery in _newest(ctx):
        for note in notes_of(delivery):
            yield short_id(note.id), note.text.partition("\n")[0]


def _sessions(ctx: Context) -> "Iterator[Offered]":
    from memtui.core.base import clock
    from memtui.core.base.phrasing import ago
    from memtui.core.client import titles, transcript
    from memtui.core.deliveries import sessions

    finder = transcript.Finder(ctx.config_dir)
    for each in sessions.collect(ctx.root, [delivery.record for delivery in _newest(ctx)])[:NEWEST]:
        words = titles.about(finder.find(each.id)).title
        yield each.id[:8], f"{ago(clock.parse(each.last), ctx.now())}: {words}"


def _audience(ctx: Context) -> "Iterator[Offered]":
    yield from AUDIENCE
    for name, about in _sessions(ctx):
        yield f"session:{name}", about


def _changes(ctx: Context) -> "Iterator[Offered]":
    for each in ctx.journal().ledger().changes()[:NEWEST]:
        yield short_id(each.id), each.summary


def _trash(ctx: Context) -> "Iterator[Offered]":
    for each in ctx.store().trash():
        yield each.memory.stem, each.memory.description
        yield short_id(each.id), each.memory.stem


def _times(module: str, name: str) -> "Source":
    def offered(_: Context) -> "list[Offered]":
        from importlib import import_module

        examples = getattr(import_module("memtui.core." + module), name)
        return [(each, "") for each in examples.split(", ")]

    return offered


# (command, option or word) -> what it can be; the command is empty where it does not matter.
SOURCES: "dict[tuple[str, str], Source]" = {
    ("", "--scope"): lambda ctx: (each for each in _scopes(ctx) if not each[0].startswith("instructions")),
    ("list", "--scope"): _scopes,
    ("search", "--scope"): _scopes,
    ("", "--type"): _types,
    ("", "--memory"): _memories,
    ("", "--into"): _memories,
    ("", "--session"): _sessions,
    ("", "--since"): _times("base.when", "BACK"),
    ("", "--expires"): _times("inbox.guidance", "EXPIRY"),
    ("note", "--to"): _audience,
    ("note", "--withdraw"): _waiting("guidance"),
    ("note", "--again"): _both(_waiting("guidance"), _delivered_notes),
    ("show", "name"): _memories,
    ("history", "names"): _both(_memories, _trash),
    ("check", "--apart"): _memories,
    ("edit", "names"): _both(_memories, _waiting()),
    ("rm", "names"): _memories,
    ("mv", "names"): _memories,
    ("trust", "names"): lambda ctx: (each for each in _memories(ctx) if each[1] == "project"),
    ("undo", "id"): _changes,
    ("approve", "ids"): _both(_waiting("updates", "items"), _changed),
    ("reject", "ids"): _both(_waiting(), _changed),
    ("reject", "--later"): _times("review.snoozing", "TAKEN"),
    ("inbox", "id"): _both(_waiting(), _changed),
    ("activity", "id"): _both(_deliveries, _sessions),
}
