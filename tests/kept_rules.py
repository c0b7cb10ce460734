"""A sample world in which sessions kept a rule of `prefer-pnpm` 31 of 32 times, and 6 of 20 times before."""

from memtui.rules import counts
from memtui.rules.counting import Moment
from memtui.rules.counts import Held
from memtui.rules.rule_hot import parse

FIELD = b'rules:\n  - never: {command: "npm *"}\n    instead: {command: "pnpm *"}\n'
RULE = parse({"never": {"command": "npm *"}, "instead": {"command": "pnpm *"}})
COMMAND = "npm install left-pad"
DAY = 86400


def hold(monkeypatch, world, session="monday", hours=96.0):
    """Write the rule, and let it be counted so; it was broken so many hours ago, in a session of that name."""
    path = f"{world.shop}/.claude/memory/prefer-pnpm.md"
    with open(path, "rb+") as file:
        content = file.read().replace(b"---\n", b"---\n" + FIELD, 1)
        file.seek(0)
        file.write(content)
    broken = Moment(world.now - hours * 3600, world.sessions[session], "u1", RULE.key(), False, COMMAND)
    kept = Moment(broken.time + 60, broken.session, "u2", RULE.key(), True)
    held = Held(RULE, world.now - 9.5 * DAY, 32, 31, 20, 6, 0.9, 0.99, [broken])
    monkeypatch.setattr(counts, "held_by_path", lambda _: {path: [held]})
    monkeypatch.setattr(counts, "moments_of", lambda _, name: [(path, broken), (path, kept)] * (name == broken.session))
    return path
