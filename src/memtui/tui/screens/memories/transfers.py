"""Import and export: what a file or folder would bring is shown before it is written; a scope goes into a folder."""

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.base import paths
from memtui.base.errors import UsageError
from memtui.base.phrasing import many
from memtui.tui.dialogs.ask import Line
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.transfer.import_plan import ImportPlan

# Memories and files of a source that are listed.
FIRST = 12
# Seconds in which a reading ends, mostly; of one that takes longer it is said that it goes on.
SOON = 0.5
KINDS = "Markdown, a file or a folder (also an export of memtui), a CLAUDE.md, or a claude-mem database."
HINT = "a path, such as ~/notes"
BELOW = "What it would bring is shown first. It waits in the inbox until you approve it."


class TransferCommands:
    def __init__(self, services: Services, places: ScopeTree) -> None:
        self.services, self.places = services, places

    def table(self) -> dict[str, Command]:
        return {
            "memories.import": Command(self.import_),
            "memories.export": Command(self.export, self._why_no_scope),
        }

    async def import_(self) -> None:
        """Ask for a path, show what is there, and bring it into the inbox."""
        from memtui.transfer import import_plan
        from memtui.views import drafts

        question = Line(
            "Import memories from", about=KINDS, below=BELOW, verb="import", check=self._check_there, hint=HINT
        )
        typed = await self.services.ask(question)
        if not typed or not typed.strip():
            return
        data, path = self.services.data, self._whole(typed)
        project = os.path.basename(data.project_root)
        task = asyncio.to_thread(import_plan.read, path, project=project, config_dir=data.config_dir)
        reading = asyncio.create_task(task)
        await asyncio.wait({reading}, timeout=SOON)
        if not reading.done():
            self.services.say("Reading it …")
        source, store = await reading, data.store()
        plan = await asyncio.to_thread(import_plan.plan, store, source)
        title = safe_text.line(f"{os.path.basename(source.path)}: {source.said}")
        go = f"add {many(len(plan.drafts), 'draft')}" if plan.drafts else ""
        if await self.services.ask(Preview(title, _drafts_text(plan), go)):
            write = partial(plan.write, store, os.path.basename(source.path))
            review = f"Press {actions.key_of('app.inbox')} to review."
            self.services.make(write, f"{drafts.added(len(plan.drafts))}. {review}")

    def _why_no_scope(self) -> str:
        place = self.places.row
        if place is None or not place.scopes:
            return "Choose a scope first."
        return "These are instructions, no memories: copy the files." if place.scopes[0].kind == "instructions" else ""

    async def export(self) -> None:
        """Ask where to, and write the memories of the scope that the cursor of the tree is on."""
        from memtui.transfer import export_folder
        from memtui.views import drafts

        place, data = self.places.row, self.services.data
        if place is None:
            return
        export = await asyncio.to_thread(export_folder.collect, place.scopes)
        label = place.scopes[0].shown if len(place.scopes) == 1 else place.label
        home = paths.home(data.env)
        default = data.tilde(f"{home or data.cwd}/{export_folder.default_name(label)}")
        about = f"{drafts.exported(export)}. {' '.join(drafts.beside(export))}".strip()
        below = drafts.elsewhere(export, "PATH")
        title, check = f"Export {safe_text.line(label)} to", self._check_free
        typed = await self.services.ask(Line(title, default, about=about, below=below, verb="export", check=check))
        if not typed or not typed.strip():
            return
        path = self._whole(typed)
        await asyncio.to_thread(export_folder.write, export, path)
        rest = f" {len(export.skipped)} left out: {export.skipped[0].where}." if export.skipped else ""
        words = f"{many(export.memories, 'memory', 'memories')} are in {data.tilde(path)}.{rest}"
        self.services.say(safe_text.line(words))

    # paths

    def _whole(self, typed: str) -> str:
        """Return the path that a person typed: from the home directory with `~`, else from the project's."""
        data, path = self.services.data, typed.strip()
        home = paths.home(data.env)
        if home and (path == "~" or path.startswith("~/")):
            path = home + path[1:]
        return os.path.normpath(os.path.join(data.cwd, path))

    def _check_there(self, typed: str) -> None:
        if typed and not os.path.lexists(self._whole(typed)):
            raise UsageError("There is no such file or folder.")

    def _check_free(self, typed: str) -> None:
        path = self._whole(typed) if typed else ""
        if path and os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
            raise UsageError("There is a file or folder of that name.")


def _drafts_text(plan: "ImportPlan") -> Text:
    from memtui.views import drafts

    text = Text("\n".join(drafts.imported(plan, is_done=False)) + "\n" * (2 if plan.drafts else 1))
    for line in plan.drafts[:FIRST]:
        text.append(f"  + {safe_text.line(f'{line.scope}:{line.name}')}", style="bold")
        text.append(f"  {safe_text.line(line.given.description)}\n")
    if len(plan.drafts) > FIRST:
        text.append(f"  and {len(plan.drafts) - FIRST:,} more\n", style="dim")
    if left_out := drafts.skipped(plan.found.skipped):
        text.append("\nLeft out:\n", style="bold")
        text.append("".join(f"  {line}\n" for line in left_out), style="dim")
    return text
