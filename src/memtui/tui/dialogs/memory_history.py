"""The history of a memory: a dialog of its versions, with what each changed, and the way back to one."""

import asyncio
from collections.abc import Sequence

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
from memtui.present import versions as words
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import line_diff
from memtui.tui.services import Services

NONE = "There are no versions of it: memtui keeps those of memories that it can read, not of CLAUDE.md and rules."


async def show(services: Services, scope: Scope, path: str) -> str:
    """List the versions of a memory of a scope by its path, the newest first, with what the one under the cursor
    changed, and restore the chosen one. Return its path; empty if none was restored."""
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
    told = await asyncio.to_thread(_occasions, data.env, known)
    history_rows = history.rows(versions, known)
    every = await asyncio.to_thread(history.scopes_of, data.env, data.cwd, history_rows)
    name, now = safe_text.line(references.stem(file), 60), data.now()
    rows = [(str(at + 1), _line(history_rows, at, told, every, now)) for at in reversed(range(len(history_rows)))]
    question = f"Versions of {name}: enter restores one" if len(known) > 1 else f"The only version of {name}"
    asked = Choice(question, rows, about=lambda at: _changed(versions, known, int(at), told))
    answer = await services.ask(asked)
    if answer is None:
        return ""
    chosen = known[int(answer) - 1]
    if chosen.digest == GONE:
        services.warn("That version is the deletion: there is no text to restore.")
        return ""
    found = None if known[-1].digest == GONE else read_memory(path, scope.label)
    before, after = _text(found.raw if found is not None else b""), _text(history.text(versions, chosen, file))
    if found is not None and before == after:
        services.say("That is the present text.")
        return ""
    drawn = line_diff.drawn(before, after, ("the present text", f"version {answer}"))
    title = f"{name} becomes version {answer}"
    if not await services.ask(Preview(title, drawn, "" if services.read_only else "restore it")):
        return ""
    try:
        restored = history.restore(data.store(), versions, scope, found, chosen, file).path
        history.taken_in(versions, [scope])
        services.say(f"Restored version {answer} of {name}. {actions.takes_back()}")
        return restored
    finally:
        services.read()


def _occasions(env: dict[str, str], known: Sequence[Version]) -> dict[Writer, Occasion]:
    found = Occasions(env)
    return {each.writer: found.of(each.writer) for each in known}


def _line(
    history_rows: Sequence[history.HistoryRow],
    at: int,
    told: dict[Writer, Occasion],
    every: Sequence[Scope],
    now: float,
) -> str:
    row, known = history_rows[at], [each.version for each in history_rows]
    version = row.version
    unseen = "  not seen yet" if history.waits(known, version) else ""
    what = "deleted, " * (version.digest == GONE)
    who = safe_text.line(words.told(row, known[-1], told[version.writer].title, every), 120)
    return f"{at + 1:>3}  {age(row.time, now):>4}  {what}{who}{unseen}"


def _changed(versions: Versions, known: Sequence[Version], number: int, told: dict[Writer, Occasion]) -> Text:
    """Return which prompt a version came from, and what it changed; of the first one, its text."""
    version, before = known[number - 1], known[number - 2] if number > 1 else None
    text = Text()
    if prompt := told[version.writer].prompt:
        text.append(safe_text.line(words.prompted(prompt)) + "\n\n", "dim")
    try:
        new = _text(versions.content(version))
        if before is None:
            return text.append(safe_text.clean(new))
        old = _text(versions.content(before))
    except MemtuiError as error:
        return text.append(f"! {safe_text.line(error.message)}\n", "yellow")
    return text.append_text(line_diff.drawn(old, new, (f"version {number - 1}", f"version {number}")))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
