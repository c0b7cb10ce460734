"""The versions of a memory, or of a block of the model: a list with what each changed, and the way back to one."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from rich.text import Text

from memtui.base.errors import MemtuiError
from memtui.base.phrasing import age
from memtui.models.subconscious.blocks import Blocks
from memtui.store import history, references
from memtui.store.memory import read_memory
from memtui.store.scopes import Scope
from memtui.store.versions.versions import GONE
from memtui.store.versions.writers import Occasions
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model import line_diff
from memtui.tui.services import Services
from memtui.views import safe_text
from memtui.views import subconscious as model_words
from memtui.views import versions as words

NONE = "There are no versions of it: memtui keeps those of memories that it can read, not of CLAUDE.md and rules."


async def show_memory(services: Services, scope: Scope, path: str) -> str:
    """List the versions of a memory by its path, and restore the chosen one; return its path, or an empty one."""
    data = services.data
    versions = data.versions
    if services.read_only:
        versions.follow()
    elif history.looked(versions, [scope]).problem is not None:
        services.warn(f"The newest version can't be kept: {versions.problem}")
    file = references.relative(scope, path) if history.with_versions(scope) else ""
    line = versions.line(scope.directory, file)
    if not line:
        services.warn(NONE)
        return ""
    occasions = Occasions(data.env)
    by_writer = await asyncio.to_thread(lambda: {state.writer: occasions.of(state.writer) for state in line})
    rows = history.rows(line)
    scopes = await asyncio.to_thread(history.scopes_of, data.env, data.cwd, line)
    name, now = safe_text.line(references.stem(file), 60), data.now()
    lines = []
    for row in rows:
        unseen = "  not seen yet" if history.waits(line, row.version) else ""
        what = "deleted, " * (row.version.digest == GONE)
        who = words.told(row.version, line[-1], by_writer[row.version.writer].title, scopes)
        lines.append(f"{age(row.time, now):>4}  {what}{safe_text.line(who, 120)}{unseen}")

    def changed(number: int) -> Text:
        prompt = by_writer[line[number - 1].writer].prompt
        text = Text().append(safe_text.line(words.prompted(prompt)) + "\n\n" if prompt else "", "dim")
        before = _text(versions.content(line[number - 2])) if number > 1 else None
        return text.append_text(_change(number, before, _text(versions.content(line[number - 1]))))

    number = await _chosen(services, name, lines, changed)
    if not number:
        return ""
    version = line[number - 1]
    if version.digest == GONE:
        services.warn("That version is the deletion: there is no text to restore.")
        return ""
    present = None if line[-1].digest == GONE else read_memory(path, scope.label)
    now_text = _text(present.raw) if present is not None else None
    if not await _is_wanted(services, name, number, now_text, _text(history.text(versions, version, file))):
        return ""

    def restore() -> str:
        restored = history.restore(data.store(), versions, scope, present, version, file)
        history.taken_in(versions, [scope])
        return restored.path

    return services.make(restore, f"Restored version {number} of {name}.")


async def show_block(services: Services, name: str) -> None:
    data = services.data
    blocks = Blocks(data.root, data.slug, data.now)
    versions = blocks.versions(name)[::-1]
    if not versions:
        services.warn(f"{name} has no versions: nobody has changed it.")
        return
    writers = model_words.writers(versions[::-1])[::-1]
    lines = [
        f"{age(version.time, data.now()):>4}  {safe_text.line(writer, 80)}"
        for version, writer in zip(versions, writers, strict=True)
    ]

    def changed(number: int) -> Text:
        before = blocks.content(name, versions[number - 2]) if number > 1 else None
        return _change(number, before, blocks.content(name, versions[number - 1]))

    number = await _chosen(services, name, lines, changed)
    if not number:
        return
    present, text = blocks.editable(name), blocks.content(name, versions[number - 1])
    if await _is_wanted(services, name, number, present, text):
        restore = partial(blocks.replace, name, text, data.journal(), present)
        services.make(restore, f"Restored version {number} of {name}.")


async def _chosen(services: Services, name: str, lines: Sequence[str], about: Callable[[int], Text]) -> int:
    """Ask which version is wanted, newest first; `about` draws what one changed. Return its number, 0 for none."""

    def drawn(number: str) -> Text:
        try:
            return about(int(number))
        except MemtuiError as error:
            return Text(f"! {safe_text.line(error.message)}\n", "yellow")

    rows = [(str(number), f"{number:>3}  {line}") for number, line in enumerate(lines, 1)][::-1]
    question = f"Versions of {name}" if len(lines) > 1 else f"The only version of {name}"
    return int(await services.ask(Choice(question, rows, about=drawn, verb="restore", idle=rows[0][0])) or 0)


async def _is_wanted(services: Services, name: str, number: int, present: str | None, text: str) -> bool:
    """Show what restoring a version changes (`present` None: it was deleted); return whether the person wants it."""
    if present == text:
        services.say("That is the present text.")
        return False
    drawn = line_diff.drawn(present or "", text, ("the present text", f"version {number}"))
    go = "" if services.read_only else "restore it"
    answer = await services.ask(Preview(f"{name} becomes version {number}", drawn, go))
    return answer is True


def _change(number: int, before: str | None, text: str) -> Text:
    """Draw what a version changed; of the first one, its text."""
    if before is None:
        return Text(safe_text.clean(text))
    return line_diff.drawn(before, text, (f"version {number - 1}", f"version {number}"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
