"""Make the pictures of the screens from the sample world, the same bytes on every machine.

python screenshots/make.py            makes all of them
python screenshots/make.py --check    exits 1 and names those that are not current
python screenshots/make.py inbox ...  only these

The bytes also follow from the versions of textual and rich: use those of constraints.txt.
"""

import argparse
import asyncio
import functools
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [f"{ROOT}/src", f"{ROOT}/tests"]
# Before textual is imported, which reads them once.
for _name in [name for name in os.environ if name.startswith("TEXTUAL")]:
    del os.environ[_name]

from tui import stage  # noqa: E402


@dataclass(frozen=True)
class Picture:
    """A screen, its size and theme, and what is done before the picture is taken."""

    name: str
    screen: str
    steps: Sequence[Any]
    size: tuple[int, int] = (120, 36)
    theme: str = "textual-dark"
    past: bool = False  # whether there is an earlier session, and a folder of notes


PREFER_PNPM = (stage.memory("prefer-pnpm"),)
SMALL = (84, 22)  # as wide as a page of a forge can show with letters of the size of its text
DRAFTS = (stage.press("/", *"kind:draft", "enter"), stage.draft(stage.APPROVED))
OF_README = tuple(
    Picture(name, screen, steps, SMALL, theme)
    for name, screen, steps in (
        ("memories", "memories", PREFER_PNPM),
        ("inbox", "inbox", DRAFTS),
        ("approved", "inbox", (stage.approve,)),
        ("told", "inbox", (stage.tell, stage.press("/", *"session:f1c3", "enter"), stage.press("j"))),
        ("merge", "inbox", (stage.press("/", *"kind:merge", "enter"), stage.merge)),
        ("recall", "memories", (stage.recalled,)),
    )
    for name, theme in ((name, "textual-dark"), (f"{name}-light", "textual-light"))
)
PICTURES = (
    *OF_README,
    Picture("note", "activity", (stage.compose,)),
    Picture("delivery", "activity", (stage.prompt,)),
    Picture("session", "activity", (stage.session,)),
    Picture("changed", "inbox", (stage.change_elsewhere,)),
    Picture("setup", "setup", (stage.setting,)),
    Picture("backfill", "inbox", (stage.past_sessions, stage.press("enter")), past=True),
    Picture("import", "memories", (stage.act("memories.import"), stage.press(*"notes", "enter")), past=True),
    Picture("memories-80x24", "memories", PREFER_PNPM, size=(80, 24)),
)
# The pictures of the animation `loop`, with the words below each, and how long one is shown.
LOOP = (
    ("inbox", "You corrected Claude: your sentence waits as a draft."),
    ("approved", "One key makes it a memory, a Markdown file."),
    ("told", "The next session got it, and here is the proof."),
    ("memories", "Is it kept? memtui counts: prefer-pnpm, kept 31 of 32."),
)
LOOP_SECONDS = 4
CAPTION = 56


async def photograph(app: Any, picture: Picture) -> str:
    """The application as SVG, after the steps."""
    app.theme = picture.theme
    async with app.run_test(size=picture.size) as pilot:
        await stage.settled(pilot)
        for step in picture.steps:
            await step(pilot)
            await stage.settled(pilot)
        return str(app.export_screenshot(title="memtui"))


def draw(picture: Picture, prefix: str = "t") -> str:
    """One picture. `prefix`: of its classes and ids."""
    with stage.environment(), stage.place() as top:
        made = stage.build(top)
        if picture.past:
            stage.past(made.env, made.shop)
        app = stage.application(made.env, made.shop, screen=picture.screen)
        svg = asyncio.run(photograph(app, picture))
        stage.assert_nothing_private(svg, top)
    svg = re.sub(r"terminal-\d+", prefix, svg)
    # Some renderers drop blanks at the beginning of a text else.
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    # Whoever looks at a picture fetches no fonts for it.
    svg = re.sub(r"@font-face \{[^}]*\}\s*", "", svg)
    return "\n".join(each.rstrip() for each in svg.strip().split("\n")) + "\n"


def animate(theme: str = "") -> str:
    """The pictures of LOOP, one after the other; without animations the first. `theme`: `-light` or the dark one."""
    known = {picture.name: picture for picture in PICTURES}
    frames, width, height = [], 0.0, 0.0
    for number, (name, words) in enumerate(LOOP):
        svg = draw(known[name + theme], f"f{number}")
        width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
        body = svg[svg.index(">") + 1 : svg.rindex("</svg>")]
        caption = f'<text class="caption" x="{width / 2}" y="{height + 36}">{number + 1}  {words}</text>'
        frames.append(f'<g class="frame" id="frame{number}">{body}{caption}</g>')
    whole = LOOP_SECONDS * len(LOOP)
    delays = "\n".join(f"#frame{n} {{ animation-delay: {n * LOOP_SECONDS}s }}" for n in range(len(LOOP)))
    style = f"""<style>
.frame {{ opacity: 0; animation: show {whole}s step-end infinite }}
#frame0 {{ opacity: 1 }}
{delays}
@keyframes show {{ 0% {{ opacity: 1 }} {100 / len(LOOP):.2f}% {{ opacity: 0 }} 100% {{ opacity: 0 }} }}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none }} }}
.caption {{ font: 26px sans-serif; text-anchor: middle; fill: #4a90d9 }}
</style>"""
    head = f'<svg xml:space="preserve" viewBox="0 0 {width} {height + CAPTION}" xmlns="http://www.w3.org/2000/svg">'
    return "\n".join([head, style, *frames, "</svg>", ""])


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
    makers = {picture.name: functools.partial(draw, picture) for picture in PICTURES} | {"loop": animate}
    makers |= {"loop-light": functools.partial(animate, "-light")}
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(makers))
    parser.add_argument("--check", action="store_true", help="exit 1 if a picture is not current, and write nothing")
    args = parser.parse_args()
    unknown = set(args.names) - makers.keys()
    if unknown:
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    old = []
    for name in args.names or makers:
        path = f"{HERE}/{name}.svg"
        svg = makers[name]()
        if svg == read(path):
            continue
        old.append(f"screenshots/{name}.svg")
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
