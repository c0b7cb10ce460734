"""What can be given as the value of an option or a word of a command: ids with titles, scopes, types, settings."""

import argparse
import os

from memtui.cli.context import Context
from memtui.cli.output import Output
from memtui.core.base.short_ids import short_id

NEWEST = 50  # ids of deliveries, sessions and changes that are offered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memtui.core.deliveries.record import Delivery

    Found = tuple[str, str]
    Source = Callable[["Context"], Iterable[Found]]


def actions_of(found: "argparse._SubParsersAction[argparse.ArgumentParser]") -> "list[Found]":
    """List the commands, or the actions of one, each with its summary."""
    about = {each.dest: each.help or "" for each in found._choices_actions}  # noqa: SLF001  as argparse has no public way
    return [(name, about.get(name, "")) for name in found.choices]


def of(path: "list[str]", action: argparse.Action, before: "list[str]", env: "dict[str, str]") -> "Iterable[Found]":
    """List the values of an option or a word of the command `path`; nothing where anything can be given. `before`: the
    words that were typed so far. Raises MemtuiError, OSError."""
    name = action.option_strings[-1] if action.option_strings else action.dest
    if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
        return [*actions_of(action), *_listed(path, "action", before, env)]
    if name == "value" and path == ["config", "set"]:
        return _setting_values(before[-1])
    if name == "key":
        return _keys()
    if action.choices:
        return [(str(each), "") for each in action.choices]
    return _listed(path, name, before, env)


def _listed(path: "list[str]", name: str, before: "list[str]", env: "dict[str, str]") -> "Iterable[Found]":
    source = SOURCES.get((" ".join(path), name)) or SOURCES.get(("", name))
    if source is None:
        return []
    project = next((before[at + 1] for at, word in enumerate(before[:-1]) if word == "--project"), None)
    return source(Context(env, Output({}), project))


def _keys() -> "Iterator[Found]":
    from memtui.core.settings import setting

    yield from setting.MEANINGS.items()
    from memtui import actions

    for each in actions.ACTIONS:
        yield setting.KEYS + each.id, each.help


def _setting_values(key: str) -> "list[Found]":
    from memtui.core.settings import config

    default = config.DEFAULTS.get(key)
    if key in config.CHOICES:
        return [(each, "default" if each == default else "") for each in config.CHOICES[key]]
    if isinstance(default, bool):
        return [("true", "default" if default else ""), ("false", "" if default else "default")]
    return [] if default is None else [(str(default), "default")]


def _memories(ctx: Context) -> "Iterator[Found]":
    from memtui.core.memories import scopes

    for scope in scopes.discover(ctx.env, ctx.cwd):
        for name, _ in sorted(scopes.files(scope), key=lambda pair: pair[0].lower()):
            yield os.path.basename(name).removesuffix(".md"), scope.label


def _scopes(ctx: Context) -> "Iterator[Found]":
    from memtui.core.memories import scopes

    for scope in scopes.discover(ctx.env, ctx.cwd):
        yield scope.label, ctx.tilde(scope.directory)


def _writable_scopes(ctx: Context) -> "Iterator[Found]":
    return (found for found in _scopes(ctx) if not found[0].startswith("instructions"))


def _own_memories(ctx: Context) -> "Iterator[Found]":
    return (found for found in _memories(ctx) if found[1] == "project")


def _types(_: Context) -> "list[Found]":
    from memtui.core.memories.memory import TYPES

    return [(each, "") for each in TYPES]


def _waiting(*kinds: str) -> "Source":
    def found(ctx: Context) -> "Iterator[Found]":
        for each in ctx.waiting(kinds or None, every=True):
            yield short_id(each.id), each.text.partition("\n")[0]

    return found


def _changed(ctx: Context) -> "Iterator[Found]":
    from memtui.present import changed

    return ((each.name, changed.by(each)) for each in ctx.changed())


def _decided(*kinds: str) -> "Source":
    def found(ctx: Context) -> "Iterator[Found]":
        yield from _waiting(*kinds)(ctx)
        yield from _changed(ctx)

    return found


def _editable(ctx: Context) -> "Iterator[Found]":
    yield from _memories(ctx)
    yield from _waiting("updates", "items")(ctx)


def _versioned(ctx: Context) -> "Iterator[Found]":
    yield from _memories(ctx)
    yield from _trash(ctx)


def _got(ctx: Context) -> "Iterator[Found]":
    yield from _deliveries(ctx)
    yield from _sessions(ctx)


def _guidance_again(ctx: Context) -> "Iterator[Found]":
    from memtui.core.deliveries.record import notes_of

    yield from _waiting("guidance")(ctx)
    for delivery in _newest(ctx):
        for note in notes_of(delivery):
            yield short_id(note.id), note.text.partition("\n")[0]


def _newest(ctx: Context) -> "list[Delivery]":
    from itertools import islice

    from memtui.core.deliveries import log
    from memtui.core.deliveries.record import Delivery

    return [Delivery.of(each) for each in islice(log.newest_first(ctx.root), NEWEST)]


def _deliveries(ctx: Context) -> "Iterator[Found]":
    from memtui.core.base.phrasing import ago
    from memtui.core.deliveries.filter import Filter
    from memtui.present.deliveries import in_short

    listed = Filter()  # what `memtui activity` lists: no uses of memories
    for each in filter(listed.matches, _newest(ctx)):
        yield short_id(each.id), f"{ago(each.time or None, ctx.now())}: {in_short(each.contents)}"


def _sessions(ctx: Context) -> "Iterator[Found]":
    from memtui.core.base import clock
    from memtui.core.base.phrasing import ago
    from memtui.core.client import titles, transcript
    from memtui.core.deliveries import sessions

    finder = transcript.Finder(ctx.config_dir)
    for each in sessions.collect(ctx.root, [found.record for found in _newest(ctx)])[:NEWEST]:
        words = titles.about(finder.find(each.id)).title
        yield each.id[:8], f"{ago(clock.parse(each.last), ctx.now())}: {words}"


def _audience(ctx: Context) -> "Iterator[Found]":
    yield "people", "sessions started by a person"
    yield "anyone", "people's sessions and scripts'"
    for name, about in _sessions(ctx):
        yield f"session:{name}", about
    yield "agent:", "sessions with that MEMTUI_AGENT"
    yield "path:", "when a tool touches such a path"


def _changes(ctx: Context) -> "Iterator[Found]":
    for each in ctx.journal().ledger().changes()[:NEWEST]:
        yield short_id(each.id), each.summary


def _trash(ctx: Context) -> "Iterator[Found]":
    for each in ctx.store().trash():
        yield each.memory.stem, each.memory.description
        yield short_id(each.id), each.memory.stem


def _times(examples: str) -> "list[Found]":
    return [(each, "") for each in examples.split(", ")]


def _times_back(_: Context) -> "list[Found]":
    from memtui.core.base import when

    return _times(when.BACK)


def _times_to_expire(_: Context) -> "list[Found]":
    from memtui.core.inbox import guidance

    return _times(guidance.EXPIRY)


def _times_to_snooze(_: Context) -> "list[Found]":
    from memtui.core.review import snoozing

    return _times(snoozing.TAKEN)


# (command, option or word) -> what it can be; the command is empty where it does not matter.
SOURCES: "dict[tuple[str, str], Source]" = {
    ("", "--scope"): _writable_scopes,
    ("list", "--scope"): _scopes,
    ("search", "--scope"): _scopes,
    ("", "--type"): _types,
    ("", "--memory"): _memories,
    ("", "--into"): _memories,
    ("", "--session"): _sessions,
    ("", "--since"): _times_back,
    ("", "--until"): _times_back,
    ("", "--expires"): _times_to_expire,
    ("note", "--to"): _audience,
    ("note", "--edit"): _waiting("guidance"),
    ("note", "--withdraw"): _waiting("guidance"),
    ("note", "--again"): _guidance_again,
    ("show", "name"): _memories,
    ("history", "names"): _versioned,
    ("check", "--apart"): _memories,
    ("check", "--compare"): _memories,
    ("edit", "names"): _editable,
    ("rm", "names"): _memories,
    ("mv", "names"): _memories,
    ("model triggers", "names"): _memories,
    ("trust", "names"): _own_memories,
    ("undo", "id"): _changes,
    ("approve", "ids"): _decided("updates", "items"),
    ("reject", "ids"): _decided(),
    ("reject", "--later"): _times_to_snooze,
    ("inbox", "id"): _decided(),
    ("activity", "id"): _got,
}
