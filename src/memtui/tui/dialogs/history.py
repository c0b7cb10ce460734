"""The versions of a memory, or of a block of the model: a list with what each changed, and the way back to one."""

import asyncio
from collections.abc import Callable, Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age
from memtui.core.memories import history, references
from memtui.core.memories.memory import read_memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.versions import GONE, Version, Versions, Writer
from memtui.core.memories.writers import Occasion, Occasions
from memtui.present import safe_text
from memtui.present import subconscious as model_words
from memtui.present import versions as words
from memtui.subconscious.blocks import Blocks
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import line_diff
from memtui.tui.services import Services

NONE = "There are no versions of it: memtui keeps those of memories that it can read, not of CLAUDE.md and rules."


async def show_memory(services: Services, scope: Scope, path: str) -> str:
    """List the versions of a memory of a scope by its path, and restore the chosen one. Return its path; empty if none
    was restored."""
    data = services.data
    versions = data.versions
    if services.read_only:
        versions.follow()
    elif history.looked(versions, [scope]).problem is not None:
        services.warn(f"The newest version can't be kept: {versions.problem}")
    file = references.relative(scope, path) if history.with_versions(scope) else ""
    known = versions.line(scope.directory, file)
    if not known:
        services.warn(NONE)
        return ""
    occasions = await asyncio.to_thread(_occasions, data.env, known)
    history_rows = history.rows(versions, known)
    every = await asyncio.to_thread(history.scopes_of, data.env, data.cwd, history_rows)
    name, now = safe_text.line(references.stem(file), 60), data.now()
    lines = [_line(row, known, occasions, every, now) for row in history_rows]
    number = await _chosen(services, name, lines, lambda at: _changed(versions, known, at, occasions))
    if not number:
        return ""
    version = known[number - 1]
    if version.digest == GONE:
        services.warn("That version is the deletion: there is no text to restore.")
        return ""
    present = None if known[-1].digest == GONE else read_memory(path, scope.label)
    texts = (_text(present.raw if present is not None else b""), _text(history.text(versions, version, file)))
    if not await _is_wanted(services, name, number, *texts, is_there=present is not None):
        return ""
    try:
        restored = history.restore(data.store(), versions, scope, present, version, file).path
        history.taken_in(versions, [scope])
        services.say(f"Restored version {number} of {name}. {actions.takes_back()}")
        return restored
    finally:
        services.read()


async def show_block(services: Services, name: str) -> None:
    """List the versions of a block of the model, and restore the chosen one."""
    data = services.data
    blocks = Blocks(data.root, data.slug, data.now)
    versions = blocks.versions(name)
    if not versions:
        services.warn(f"{name} has no versions: nobody has changed it.")
        return
    writers, now = model_words.writers(versions), data.now()
    lines = [
        f"{age(version.time, now):>4}  {safe_text.line(writer, 80)}"
        for version, writer in zip(versions, writers, strict=True)
    ][::-1]

    def changed(number: int) -> Text:
        at = len(versions) - number
        text = blocks.content(name, versions[at])
        before = blocks.content(name, versions[at + 1]) if number > 1 else ""
        return line_diff.drawn(before, text, ("before", "after")) if before else Text(safe_text.clean(text))

    number = await _chosen(services, name, lines, changed)
    if not number:
        return
    present, text = blocks.editable(name), blocks.content(name, versions[len(versions) - number])
    if not await _is_wanted(services, name, number, present, text):
        return
    try:
        blocks.replace(name, text, data.journal(), present)
        services.say(f"Restored version {number} of {name}. {actions.takes_back()}")
    finally:
        services.read()


async def _chosen(services: Services, name: str, lines: Sequence[str], about: Callable[[int], Text]) -> int:
    """Ask which version is wanted: `lines` about them, the oldest first, shown the other way round; `about` draws what
    one changed. Return its number, from 1; 0 for none."""

    def drawn(number: str) -> Text:
        try:
            return about(int(number))
        except MemtuiError as error:
            return Text(f"! {safe_text.line(error.message)}\n", "yellow")

    rows = [(str(number), f"{number:>3}  {line}") for number, line in enumerate(lines, 1)][::-1]
    question = f"Versions of {name}" if len(lines) > 1 else f"The only version of {name}"
    return int(await services.ask(Choice(question, rows, about=drawn, verb="restore")) or 0)


async def _is_wanted(
    services: Services, name: str, number: int, present: str, text: str, *, is_there: bool = True
) -> bool:
    """Show what restoring a version changes. Return whether the person wants that."""
    if is_there and present == text:
        services.say("That is the present text.")
        return False
    drawn = line_diff.drawn(present, text, ("the present text", f"version {number}"))
    go = "" if services.read_only else "restore it"
    answer = await services.ask(Preview(f"{name} becomes version {number}", drawn, go))
    return answer is True


def _occasions(env: dict[str, str], known: Sequence[Version]) -> dict[Writer, Occasion]:
    occasions = Occasions(env)
    return {version.writer: occasions.of(version.writer) for version in known}


def _line(
    row: history.HistoryRow,
    known: Sequence[Version],
    occasions: dict[Writer, Occasion],
    every: Sequence[Scope],
    now: float,
) -> str:
    version = row.version
    unseen = "  not seen yet" if history.waits(known, version) else ""
    what = "deleted, " * (version.digest == GONE)
    who = safe_text.line(words.told(row, known[-1], occasions[version.writer].title, every), 120)
    return f"{age(row.time, now):>4}  {what}{who}{unseen}"


def _changed(versions: Versions, known: Sequence[Version], number: int, occasions: dict[Writer, Occasion]) -> Text:
    """Return which prompt a version came from, and what it changed; of the first one, its text. Raises MemtuiError."""
    version, before = known[number - 1], known[number - 2] if number > 1 else None
    text = Text()
    if prompt := occasions[version.writer].prompt:
        text.append(safe_text.line(words.prompted(prompt)) + "\n\n", "dim")
    new = _text(versions.content(version))
    if before is None:
        return text.append(safe_text.clean(new))
    old = _text(versions.content(before))
    return text.append_text(line_diff.drawn(old, new, (f"version {number - 1}", f"version {number}")))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
