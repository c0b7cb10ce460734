"""Import and export: what a file or folder would bring is shown before it is written; a scope goes into a folder."""

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import keymap
from memtui.base import paths
from memtui.base.errors import UsageError
from memtui.base.phrasing import many
from memtui.tui.dialogs.ask import Line
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.model.data import Data
from memtui.tui.screens.memories.tree import Place
from memtui.tui.services import Services
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.transfer.import_plan import ImportPlan

# The drafts of an import that are listed, and the seconds after which it is said that the reading goes on.
LISTED, SOON = 12, 0.5
KINDS = "Markdown, a file or a folder (also an export of memtui), a CLAUDE.md, or a claude-mem database."
HINT = "a path, such as ~/notes"
BELOW = "What it would bring is shown first. It waits in the inbox until you approve it."


async def import_memories(services: Services) -> None:
    from memtui.transfer import import_plan
    from memtui.views import drafts

    data = services.data

    def check(typed: str) -> None:
        if typed and not os.path.lexists(_whole(data, typed)):
            raise UsageError("There is no such file or folder.")

    question = Line("Import memories from", about=KINDS, below=BELOW, verb="import", check=check, hint=HINT)
    path = _whole(data, await services.ask(question) or "")
    if not path:
        return
    project = os.path.basename(data.project_root)
    task = asyncio.to_thread(import_plan.read, path, project=project, config_dir=data.config_dir)
    reading = asyncio.create_task(task)
    await asyncio.wait({reading}, timeout=SOON)
    if not reading.done():
        services.say("Reading it …")
    source, store = await reading, data.store()
    plan = await asyncio.to_thread(import_plan.plan, store, source)
    title = safe_text.line(f"{os.path.basename(source.path)}: {source.said}")
    go = f"add {many(len(plan.drafts), 'draft')}" if plan.drafts else ""
    if await services.ask(Preview(title, _drafts_text(plan), go)):
        write = partial(plan.write, store, os.path.basename(source.path))
        review = f"Press {keymap.key_of('app.inbox')} to review."
        services.make(write, f"{drafts.added(len(plan.drafts))}. {review}")


def why_no_export(place: Place | None) -> str:
    if place is None or not place.scopes:
        return "Choose a scope first."
    return "These are instructions, no memories: copy the files." if place.scopes[0].kind == "instructions" else ""


async def export_memories(services: Services, place: Place) -> None:
    """Ask where to, and write the memories of a place in the tree into a folder."""
    from memtui.transfer import export_folder
    from memtui.views import drafts

    data = services.data

    def check(typed: str) -> None:
        path = _whole(data, typed)
        if path and os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
            raise UsageError("There is a file or folder of that name.")

    export = await asyncio.to_thread(export_folder.collect, place.scopes)
    label = place.scope.shown if place.scope is not None else place.label
    default = data.tilde(f"{paths.home(data.env) or data.cwd}/{export_folder.default_name(label)}")
    about = f"{drafts.exported(export)}. {' '.join(drafts.beside(export))}".strip()
    title, below = f"Export {safe_text.line(label)} to", drafts.elsewhere(export, "PATH")
    question = Line(title, default, about=about, below=below, verb="export", check=check)
    path = _whole(data, await services.ask(question) or "")
    if path:
        await asyncio.to_thread(export_folder.write, export, path)
        rest = f" {len(export.skipped)} left out: {export.skipped[0].where}." if export.skipped else ""
        words = f"{many(export.memories, 'memory', 'memories')} are in {data.tilde(path)}.{rest}"
        services.say(safe_text.line(words))


def _whole(data: Data, typed: str) -> str:
    """Return the path that a person typed: from the home directory with `~`, else from the working directory."""
    path, home = typed.strip(), paths.home(data.env)
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(os.path.join(data.cwd, path)) if path else ""


def _drafts_text(plan: "ImportPlan") -> Text:
    from memtui.views import drafts

    text = Text("\n".join(drafts.imported(plan, is_done=False)) + "\n" * (2 if plan.drafts else 1))
    for line in plan.drafts[:LISTED]:
        text.append(f"  + {safe_text.line(f'{line.scope}:{line.name}')}", style="bold")
        text.append(f"  {safe_text.line(line.given.description)}\n")
    if (more := len(plan.drafts) - LISTED) > 0:
        text.append(f"  and {more:,} more\n", style="dim")
    if left_out := drafts.skipped(plan.found.skipped):
        text.append("\nLeft out:\n", style="bold")
        text.append("".join(f"  {line}\n" for line in left_out), style="dim")
    return text
