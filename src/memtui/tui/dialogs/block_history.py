"""The versions of a block of the model: a list with what each changed, and the way back to one."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age
from memtui.present import safe_text
from memtui.present import subconscious as words
from memtui.subconscious.blocks import Blocks, BlockVersion
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import line_diff
from memtui.tui.services import Services


async def show(services: Services, name: str) -> None:
    """List the versions of a block, the newest first, and restore the chosen one."""
    data = services.data
    blocks = Blocks(data.root, data.slug, data.now)
    versions = blocks.versions(name)
    if not versions:
        services.warn(f"{name} has no versions: nobody has changed it.")
        return
    now = data.now()
    rows = [
        (str(at), f"{len(versions) - at:>3}  {age(each.time, now):>4}  {safe_text.line(writer, 80)}")
        for at, (each, writer) in enumerate(zip(versions, words.writers(versions), strict=True))
    ]
    question = f"Versions of {name}: enter restores one"
    answer = await services.ask(Choice(question, rows, about=lambda at: _changed(blocks, name, versions, int(at))))
    if answer is None:
        return
    present, number = blocks.editable(name), len(versions) - int(answer)
    text = blocks.content(name, versions[int(answer)])
    if text == present:
        services.say("That is the present text.")
        return
    drawn = line_diff.drawn(present, text, ("the present text", f"version {number}"))
    if await services.ask(
        Preview(f"{name} becomes version {number}", drawn, "" if services.read_only else "restore it")
    ):
        try:
            blocks.replace(name, text, data.journal(), present)
            services.say(f"Restored version {number} of {name}. {actions.takes_back()}")
        finally:
            services.read()


def _changed(blocks: Blocks, name: str, versions: Sequence[BlockVersion], at: int) -> Text:
    """Return what a version changed; of the first one, its text."""
    try:
        text = blocks.content(name, versions[at])
        before = blocks.content(name, versions[at + 1]) if at + 1 < len(versions) else ""
    except MemtuiError as error:
        return Text(f"! {safe_text.line(error.message)}", "yellow")
    return line_diff.drawn(before, text, ("before", "after")) if before else Text(safe_text.clean(text))
