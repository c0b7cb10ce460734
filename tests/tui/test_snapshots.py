"""Every screen as it is drawn, compared with snapshots/: what stands where, and how each look colours it.

    MEMTUI_RENEW_SNAPSHOTS=1 pytest tests/tui/test_snapshots.py

writes those that changed, never in CI; look at their diff before committing it.
"""

import asyncio
import difflib
import os
import pathlib

import pytest

from . import snapshot, stage

SNAPSHOTS = pathlib.Path(__file__).parent / "snapshots"
RENEW = "MEMTUI_RENEW_SNAPSHOTS"
# name -> theme, environment
LOOKS = {"dark": ("textual-dark", {}), "light": ("textual-light", {}), "no colour": ("textual-dark", {"NO_COLOR": "1"})}
# In a terminal's own colours, which are named.
ANSI = {"on dark": ("ansi-dark", {}), "on light": ("ansi-light", {})}
SIZES = {"80x24": (80, 24), "120x40": (120, 40)}
MORE_SIZES = SIZES | {"60x15": (60, 15), "120x36": (120, 36), "160x48": (160, 48)}


press = stage.press
prefer_pnpm, a_draft = stage.memory("prefer-pnpm"), stage.draft("no-snapshot-tests")
SCREENS = {
    "memories": (press("1"), prefer_pnpm),
    "inbox": (press("2"), a_draft),
    "activity": (press("3"), stage.prompt),
    "setup": (press("4"), stage.setting),
}


# drawing


def sample(top):
    """The sample world: its environment, and where the application starts."""
    made = stage.build(top)
    return made.env, made.shop


def without_utf8(top):
    """The sample world, at a terminal that knows ASCII only."""
    env, cwd = sample(top)
    return env | {"LANG": "C"}, cwd


def with_a_past(top):
    """The sample world, with an earlier session, and with notes to import."""
    env, cwd = sample(top)
    stage.past(env, cwd)
    return env, cwd


def fresh(top):
    """A machine where memtui has never run."""
    env, cwd = {"HOME": top + "/home"}, top + "/shop"
    os.makedirs(cwd + "/.git")
    stage.client(env)
    return env, cwd


def draw(look, size, steps, world=sample, **more):
    """What each of some series of steps leads to, by name. `more` is what the application is made with."""
    theme, environment = (LOOKS | ANSI)[look]

    async def run(env, cwd):
        app = stage.application(env, cwd, **more)
        app.theme = theme
        found = {}
        async with app.run_test(size=MORE_SIZES[size], notifications=True) as pilot:
            await stage.settled(pilot)
            for name, series in steps.items():
                for each in series:
                    await each(pilot)
                    await stage.settled(pilot)
                found[name] = snapshot.drawn(app)
        return found

    with stage.environment(**environment), stage.place() as top:
        found = asyncio.run(run(*world(top)))
        for each in found.values():
            stage.assert_nothing_private("\n".join(each.lines), top)
    return found


def compare(name, looks):
    """Compare a picture with the one that is kept; or write it, where somebody asks for that."""
    found = snapshot.written(name, looks)
    path = SNAPSHOTS / f"{name}.txt"
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if found == kept:
        return
    if renewing():
        path.write_text(found, encoding="utf-8")
        return
    diff = difflib.unified_diff(kept.split("\n"), found.split("\n"), "kept", "now", n=2, lineterm="")
    command = f"{RENEW}=1 pytest tests/tui/test_snapshots.py"
    pytest.fail("\n".join([f"{path.name} is drawn otherwise now. If that is right: {command}", *diff]), pytrace=False)


def renewing():
    """Whether snapshots may be written: only where a person asks for it."""
    return bool(os.environ.get(RENEW)) and not os.environ.get("CI")


# the screens


@pytest.mark.picture
@pytest.mark.parametrize("size", SIZES)
def test_screens_are_drawn_as_before(size):
    drawn = {look: draw(look, size, SCREENS) for look in LOOKS}
    for name in SCREENS:
        compare(f"{name}-{size}", {look: drawn[look][name] for look in LOOKS})


@pytest.mark.picture
def test_screens_are_drawn_in_the_terminal_s_own_colours_as_before():
    drawn = {look: draw(look, "80x24", SCREENS) for look in ANSI}
    for name in SCREENS:
        compare(f"ansi-{name}", {look: drawn[look][name] for look in ANSI})


MORE = {
    **{f"{name}-60x15": ("60x15", (), {"screen": name}) for name in SCREENS},
    "activity-160x48": ("160x48", (stage.prompt,), {"screen": "activity"}),
    "activity-lost": ("80x24", (press("exclamation_mark"),), {"screen": "activity"}),
    "activity-empty": ("80x24", (press("escape"),), {"screen": "activity", "world": fresh}),
    "ascii-activity": ("80x24", (stage.prompt,), {"screen": "activity", "world": without_utf8}),
    "ascii-memories": ("80x24", (prefer_pnpm,), {"world": without_utf8}),
    "ascii-recall": ("80x24", (stage.recalled, press("enter")), {"world": without_utf8}),
    "recall-80x24": ("80x24", (stage.recalled,), {}),
    "recall-120x36": ("120x36", (stage.recalled,), {}),
    "recall-160x48": ("160x48", (stage.recalled,), {}),
    "recall-nothing": ("80x24", (press("escape"), press("r")), {"world": fresh}),
    "ascii-plots": ("80x24", (press("P"),), {"screen": "activity", "world": without_utf8}),
    "backfill-asked": ("80x24", (stage.act("inbox.backfill"),), {"screen": "inbox", "world": with_a_past}),
    "backfill-running": ("80x24", (stage.reading_the_past,), {"screen": "inbox", "world": with_a_past}),
    "backfill-offered": (
        "80x24",
        (stage.act("inbox.backfill"), press("enter")),
        {"screen": "inbox", "world": with_a_past},
    ),
    "compose": ("80x24", (stage.compose,), {"screen": "activity"}),
    "delivery-opened": ("80x24", (stage.prompt, press("enter")), {"screen": "activity"}),
    "draft-opened": ("80x24", (a_draft, press("enter")), {"screen": "inbox"}),
    "filtered-to-nothing": ("80x24", (press("slash", "z", "e", "b", "r", "a", "enter"),), {}),
    "first-start": ("80x24", (), {"world": fresh}),
    "first-start-empty": ("80x24", (press("escape"),), {"world": fresh}),
    "help": ("80x24", (press("question_mark"),), {}),
    "import-offered": ("80x24", (stage.act("memories.import"), press(*"notes", "enter")), {"world": with_a_past}),
    "memories-160x48": ("160x48", (prefer_pnpm,), {}),
    "memories-queried": ("80x24", (press("slash", *"pnpm type:feedback"),), {}),
    "memories-marked": ("80x24", (press("space", "space"),), {}),
    "memory-form": ("120x40", (prefer_pnpm, press("e")), {}),
    "memory-opened": ("80x24", (prefer_pnpm, press("enter")), {}),
    "palette": ("80x24", (press("ctrl+p"),), {}),
    "plots": ("80x24", (press("P"),), {"screen": "activity"}),
    "read-only": ("80x24", (press("e"),), {"read_only": True}),
    "tour": ("80x24", (stage.act("app.tour"), press("enter")), {}),
    "session-opened": ("80x24", (stage.session, press("l"), press("l")), {"screen": "activity"}),
    "trash": ("80x24", (stage.act("memories.restore"),), {}),
}


@pytest.mark.picture
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name.endswith("-60x15") else []) for name in MORE]
)
def test_what_is_beside_the_screens_is_drawn_as_before(name):
    size, steps, more = MORE[name]
    compare(name, draw("dark", size, {"dark": steps}, **more))


def test_no_snapshot_is_left_over():
    names = {f"{name}-{size}" for name in SCREENS for size in SIZES} | set(MORE)
    names |= {f"ansi-{name}" for name in SCREENS}
    for path in SNAPSHOTS.glob("*"):
        if path.stem not in names and renewing():
            path.unlink()
    assert {path.stem for path in SNAPSHOTS.glob("*")} <= names


def test_in_ci_a_snapshot_is_never_renewed(monkeypatch):
    monkeypatch.setenv(RENEW, "1")
    monkeypatch.setenv("CI", "true")
    looks = {"dark": snapshot.Drawn(["never drawn so"], [[("white", "black")]])}
    with pytest.raises(pytest.fail.Exception, match="never drawn so"):
        compare("memories-80x24", looks)
    assert "never drawn so" not in (SNAPSHOTS / "memories-80x24.txt").read_text(encoding="utf-8")
