"""What a person corrected on one machine is known on another one: two homes, a bare remote, the real client."""

import subprocess

import pytest

from memtui.base import paths_hot
from memtui.sync import state
from waiting import eventually

from .client import World, injected
from .test_learning import CORRECTION, learn, updates

pytestmark = pytest.mark.client


def root(world):
    return paths_hot.root(world.environment())


def pass_by(world):
    """Let the last sync be longer ago than it is."""
    own = state.load(root(world))
    state.save(root(world), own._replace(time=0.0))
    (world.config / "memtui" / "sync" / "own" / "time").unlink(missing_ok=True)


def pushed(remote):
    words = ["git", "--git-dir", str(remote), "ls-tree", "-r", "--name-only", "memtui"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


@pytest.mark.client(always=True)
def test_a_correction_reaches_a_session_on_the_other_machine(tmp_path, model, binary):
    remote = tmp_path / "memories.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    laptop, desktop = (World(tmp_path / name, model, binary) for name in ("laptop", "desktop"))
    for world, name in ((laptop, "laptop"), (desktop, "desktop")):
        world.git("remote", "add", "origin", "git@example.org:you/shop.git")
        world.install()
        world.claude("hello")
        world.memtui("sync", "setup", str(remote), "--name", name, "--yes")
    run = learn(laptop, model, CORRECTION)
    (entry,) = updates(laptop)
    laptop.memtui("approve", entry["id"], "--scope", "global")
    (name,) = [memory["name"] for memory in laptop.memtui_json("list")["memories"]]
    laptop.claude("go on", resume=run.session_id)  # one turn there: it goes
    assert eventually(lambda: f"global/{name}.md" in pushed(remote))
    pass_by(desktop)
    run = desktop.claude("good morning")  # one turn here: it comes
    assert eventually(lambda: [memory["name"] for memory in desktop.memtui_json("list")["memories"]] == [name])
    run = desktop.claude("which package manager do we use?")
    assert name in run.main[0].text()
    assert any(name in block.text for block in injected(run.main[0]))
    delivered = [row for row in desktop.memtui_json("activity")["deliveries"] if run.session_id in str(row)]
    assert eventually(lambda: "arrived" in {row["outcome"] for row in delivered}), delivered
