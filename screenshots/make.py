"""Make the pictures of the screens from the sample world, the same bytes on every machine.

python screenshots/make.py            makes all of them
python screenshots/make.py --check    exits 1 and names those that are not current
python screenshots/make.py inbox ...  only these

The bytes also follow from the versions of textual and rich: use those of constraints.txt.
"""

import os

# Before textual is imported, which reads them once.
# ruff: noqa: E402
for _name in [name for name in os.environ if name.startswith("TEXTUAL") or name in {"NO_COLOR", "COLORTERM"}]:
    del os.environ[_name]
os.environ.update(TEXTUAL_ANIMATIONS="none", TZ="UTC", LC_ALL="C.UTF-8")

import argparse
import asyncio
import re
import secrets
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "src"))

from textual.pilot import Pilot
from textual.widgets import TextArea

from memtui import demo
from memtui.core import paths
from memtui.hooks import install
from memtui.tui import safe
from memtui.tui.app import MemtuiApp

NOW = 1_795_000_000.0
# Lengths of paths count in what was delivered: the world's path has this length everywhere.
LENGTH = 40
CLIENT = "2.1.197"
NOTE = """The payment sandbox is down until Friday.
Mock it in `checkout.spec.ts`, and leave the retry limits as they are."""
PATIENCE = 30.0
Steps = Callable[[Pilot[None]], Awaitable[None]]


@dataclass(frozen=True)
class Picture:
    """A screen, its size and theme, and what is pressed before the picture is taken."""

    name: str
    screen: str
    steps: Steps
    size: tuple[int, int] = (120, 36)
    theme: str = "textual-dark"


def stand_on(fits: Callable[[Any], bool]) -> Steps:
    """Put the cursor on the first row that fits."""

    async def steps(pilot: Pilot[None]) -> None:
        table = pilot.app.screen.query_one("#list")
        assert hasattr(table, "rows") and hasattr(table, "move_to")  # noqa: PT018
        table.move_to(next(at for at, row in enumerate(table.rows) if fits(row)))

    return steps


def memory(stem: str) -> Steps:
    """Put the cursor on a memory."""
    return stand_on(lambda pair: pair[1].memory.stem == stem)


async def compose(pilot: Pilot[None]) -> None:
    """Write a note."""
    await pilot.press("g")
    await pilot.pause()
    area = pilot.app.screen.query_one("#text", TextArea)
    area.cursor_blink = False
    area.text = NOTE
    area.move_cursor(area.document.end)


PICTURES = (
    Picture("memories", "memories", memory("prefer-pnpm")),
    Picture(
        "inbox",
        "inbox",
        stand_on(lambda line: bool(line.item) and line.item.entry.fields.get("name") == "no-snapshot-tests"),
    ),
    Picture("guidance", "guidance", compose),
    Picture("deliveries", "deliveries", stand_on(lambda row: row.event == "UserPromptSubmit")),
    Picture("health", "health", stand_on(lambda row: row.kind == "finding")),
    Picture("memories-80x24", "memories", memory("prefer-pnpm"), size=(80, 24)),
    Picture("memories-light", "memories", memory("prefer-pnpm"), theme="textual-light"),
)


# the world


@contextmanager
def world() -> Iterator[demo.World]:
    """The sample world with hooks and a client, in a directory whose path has a fixed length."""
    base = os.path.realpath("/tmp") + "/memtui-"  # noqa: S108
    top = base + secrets.token_hex(LENGTH)[: LENGTH - len(base)]
    os.mkdir(top, 0o700)
    try:
        made = demo.build(top, NOW)
        bin_dir = made.env["HOME"] + "/bin"
        os.mkdir(bin_dir)
        with open(bin_dir + "/claude", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{CLIENT} (Claude Code)'\n")
        os.chmod(bin_dir + "/claude", 0o700)
        made.env["PATH"] = bin_dir
        settings = install.settings_path(made.env, made.shop, "user")
        install.apply(install.plan(settings, "install", env=made.env))
        yield made
    finally:
        shutil.rmtree(top)


@contextmanager
def shown_at_home(top: str) -> Iterator[None]:
    """Have every text that is drawn show `~` for the world's directory, before lines are broken."""
    slug = paths.slug(top)
    names = {top + "/home": "~", top: "~", slug: "-home-you"}
    line, clean = safe.line, safe.clean

    def named(text: str) -> str:
        for old, new in names.items():
            text = text.replace(old, new)
        return text

    safe.line = lambda text, limit=safe.MAX_LINE: line(named(text), limit)
    safe.clean = lambda text: clean(named(text))
    try:
        yield
    finally:
        safe.line, safe.clean = line, clean


# the pictures


async def settled(pilot: Pilot[None]) -> str:
    """The screen as SVG, when workers are done and it does not change any more."""
    last, same = "", 0
    end = time.monotonic() + PATIENCE
    while same < 4:
        if time.monotonic() > end:
            raise TimeoutError("the screen does not come to rest")
        await pilot.pause(0.1)
        now = pilot.app.export_screenshot(title="memtui")
        busy = any(worker.is_running for worker in pilot.app.workers)
        same = same + 1 if now == last and not busy else 0
        last = now
    return last


async def draw(picture: Picture) -> str:
    """One picture."""
    with world() as made, shown_at_home(made.directory):
        app = MemtuiApp(dict(made.env), made.shop, now=NOW, screen=picture.screen)
        app.theme = picture.theme
        async with app.run_test(size=picture.size) as pilot:
            await settled(pilot)
            await picture.steps(pilot)
            svg = await settled(pilot)
        for private in (made.directory, paths.slug(made.directory), os.path.basename(made.directory)):
            if private in svg:
                raise ValueError(f"{picture.name} shows where the sample world lies")
    svg = re.sub(r"terminal-\d+", "t", svg)
    # Some renderers drop blanks at the beginning of a text else.
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    # Whoever looks at a picture fetches no fonts for it.
    svg = re.sub(r"@font-face \{[^}]*\}\s*", "", svg)
    return "\n".join(each.rstrip() for each in svg.strip().split("\n")) + "\n"


def read(path: str) -> str:
    """A file's text; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def main() -> int:
    """Make them, or check them."""
    parser = argparse.ArgumentParser(description="Make the pictures of the screens from the sample world.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(each.name for each in PICTURES))
    parser.add_argument("--check", action="store_true", help="exit 1 if a picture is not current, and write nothing")
    args = parser.parse_args()
    unknown = set(args.names) - {each.name for each in PICTURES}
    if unknown:
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    time.tzset()
    os.umask(0o022)
    old = []
    for picture in PICTURES:
        if args.names and picture.name not in args.names:
            continue
        path = f"{HERE}/{picture.name}.svg"
        svg = asyncio.run(draw(picture))
        if svg == read(path):
            continue
        old.append(f"screenshots/{picture.name}.svg")
        if not args.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg)
    if args.check and old:
        print("not current, `python screenshots/make.py` makes them:", *old, sep="\n")
        return 1
    print(*([f"made {each}" for each in old] or ["all current"]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
