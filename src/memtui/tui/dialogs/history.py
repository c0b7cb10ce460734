"""The versions of a memory, or of a block of the model: a list with what each changed, and the way back to one."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from rich.text import Text

from memtui.base.errors import MemtuiError
from memtui.base.phrasing import age
from memtui.models.subconscious.blocks import Blocks
from memtui.store import history, references
from memtui.store.memory import read_memory
from memtui.store.scopes import Scope
from memtui.store.versions.versions import GONE, Version
from memtui.store.versions.writers import Occasions
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model import line_diff
from memtui.tui.services import Services
from memtui.views import changes, safe_text

NONE = "There are no versions of it: memtui keeps those of memories that it can read, not of CLAUDE.md and rules."


class Lineage(NamedTuple):
    """The versions of a memory or block, oldest first: its `name`, who wrote each and after which prompt, the texts."""

    name: str
    versions: list[Version]
    who: Callable[[Version], str]
    prompt: Callable[[Version], str]
    text: Callable[[Version], str]


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
    scopes = await asyncio.to_thread(history.scopes_of, data.env, data.cwd, line)

    def who(version: Version) -> str:
        words_then = changes.told(version, line[-1], by_writer[version.writer].title, scopes)
        return "deleted, " * (version.digest == GONE) + words_then

    lineage = Lineage(
        references.stem(file),
        line,
        lambda version: who(version) + ("  not seen yet" if history.waits(line, version) else ""),
        lambda version: changes.prompted(by_writer[version.writer].prompt),
        lambda version: _text(versions.content(version)),
    )
    version = await _chosen(services, lineage)
    if version is None:
        return ""
    if version.digest == GONE:
        services.warn("That version is the deletion: there is no text to restore.")
        return ""
    present = None if line[-1].digest == GONE else read_memory(path, scope.label)
    now_text = _text(present.raw) if present is not None else None
    if not await _is_wanted(services, lineage, version, now_text, _text(history.text(versions, version, file))):
        return ""

    def restore() -> str:
        restored = history.restore(data.store(), versions, scope, present, version, file)
        history.taken_in(versions, [scope])
        return restored.path

    return services.make(restore, f"Restored version {line.index(version) + 1} of {lineage.name}.")


async def show_block(services: Services, name: str) -> None:
    data = services.data
    blocks = Blocks(data.root, data.slug, data.now)
    line = blocks.versions(name)[::-1]
    if not line:
        services.warn(f"{name} has no versions: nobody has changed it.")
        return
    text = partial(blocks.content, name)
    lineage = Lineage(name, line, lambda version: changes.told(version, line[-1]), lambda _: "", text)
    version = await _chosen(services, lineage)
    if version is None:
        return
    present = blocks.editable(name)
    if await _is_wanted(services, lineage, version, present, text(version)):
        restore = partial(blocks.replace, name, text(version), data.journal(), present)
        services.make(restore, f"Restored version {line.index(version) + 1} of {name}.")


async def _chosen(services: Services, lineage: Lineage) -> Version | None:
    """Ask which version is wanted, newest first, and draw what each changed; return None for none."""
    name, line, now = safe_text.line(lineage.name, 60), lineage.versions, services.data.now()

    def drawn(number: str) -> Text:
        at = int(number) - 1
        prompt = lineage.prompt(line[at])
        text = Text().append(safe_text.line(prompt) + "\n\n" if prompt else "", "dim")
        try:
            after = lineage.text(line[at])
            if not at:
                return text.append(safe_text.clean(after))
            before = lineage.text(line[at - 1])
        except MemtuiError as error:
            return Text(f"! {safe_text.line(error.message)}\n", "yellow")
        return text.append_text(line_diff.drawn(before, after, (f"version {at}", f"version {at + 1}")))

    rows = [
        (str(number), f"{number:>3}  {age(row.time, now):>4}  {safe_text.line(lineage.who(row.version), 140)}")
        for number, row in enumerate(history.rows(line), 1)
    ][::-1]
    question = f"Versions of {name}" if len(line) > 1 else f"The only version of {name}"
    number = await services.ask(Choice(question, rows, about=drawn, verb="restore", idle=rows[0][0]))
    return line[int(number) - 1] if number else None


async def _is_wanted(services: Services, lineage: Lineage, version: Version, present: str | None, text: str) -> bool:
    """Show what restoring a version changes (`present` None: it was deleted); return whether the person wants it."""
    if present == text:
        services.say("That is the present text.")
        return False
    number = lineage.versions.index(version) + 1
    drawn = line_diff.drawn(present or "", text, ("the present text", f"version {number}"))
    go = "" if services.read_only else "restore it"
    answer = await services.ask(Preview(f"{safe_text.line(lineage.name, 60)} becomes version {number}", drawn, go))
    return answer is True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
