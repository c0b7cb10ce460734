"""Hooks and workers under faults, and what must hold after life went on."""

import json
from collections import Counter

import running
from world import DAY, MEMORY, TOLD, Session, World

import tables
from memtui.deliver import log_hot

DUE = {"tok-g1", "tok-g2", "tok-g4", "tok-g7"}  # for anybody who asks
KEPT = {"tok-g3", "tok-g5", "tok-g6"}  # for somebody else, too long, expired
AFTERWARDS = {"Stop", "SessionEnd", "PreCompact"}  # which start a worker that reads the session
LISTS = {"tok-u1", "tok-u2", "tok-u3", "tok-i1", "tok-i2"}
# What the world is before, by name: the events that a session had, and what was left since.
BEFORE = tables.rows(__file__, "BEFORE")


class HookScenario:
    """One event after others."""

    def __init__(self, event: str, before: str, mode: str = TOLD, more: "dict | None" = None) -> None:
        self.event, self.before, self.mode, self.more = event, before, mode, more or {}
        self.name = "-".join([event, before, mode, *map(str, self.more.values())])

    def prepare(self, world: World) -> Session:
        one = Session(world, "s1", self.mode)
        for event in BEFORE[self.before]:
            one.hook(event)
        if self.before == "prompted":
            world.leave("guidance", "h1", "tok-h1 left since")
            world.leave("guidance", "h2", "tok-h2 left since", "global", urgent="yes")
            world.leave("updates", "w1", "Say tok-w1 too", session="old")
            world.write(world.config + "/memory/later.md", MEMORY.format(name="later", number=9, body="Body."))
        if self.before == "resumed":  # its answer had been broken off, and is there now
            world.leave("guidance", "g1", "tok-g1 plain", told=one.name, repeat="yes")
        if self.before == "branched":
            world.leave("updates", "w1", "Say tok-w1 too", session="old")
            return one.branch("b1")
        if self.before == "forbidding":
            text = "---\nname: npm\ndescription: No npm\nforbids: npm\n---\n\nBody.\n"
            world.write(world.config + "/memory/npm.md", text)
            listed = {
                "v": 1,
                "dirs": {world.config + "/memory": {"npm.md": [{"never": {"command": "npm *"}, "enforce": "refuse"}]}},
            }
            world.write(world.root + "/rules/enforced", json.dumps(listed))
        return one

    def run(self, world: World, one: Session, fault, trace: int = -1) -> "tuple[Session, running.Ended]":
        one = one.copy()
        one.ask(self.event)
        data = json.dumps(one.payload(self.event, **self.more)).encode()
        ended = running.forked(lambda: running.hook(self.event), world.env, data, "/", fault, trace)
        if self.more.get("source") == "compact":  # the model knows no more of what it was shown
            one.shown = [each for each in one.shown if each[1] == "guidance"]
        one.take(self.event, ended)
        return one, ended


def live(world: World, one: Session) -> dict:
    """What the next hooks make of it: of the same session, then of another, at last days later."""
    one = one.copy()
    other = Session(world, "s2", one.mode)
    log = {record.get("id") for record in log_hot.newest_first(world.root)}
    steps = [(5, one, "UserPromptSubmit"), (6, one, "Stop"), (100, one, "UserPromptSubmit"), (101, one, "Stop")]
    steps += [(200, other, "SessionStart"), (201, other, "UserPromptSubmit"), (202, other, "PreToolUse")]
    steps += [(203, other, "Stop"), (4000, other, "UserPromptSubmit"), (4001, other, "Stop")]
    steps += [(8000, other, "UserPromptSubmit"), (8100, other, "Stop"), (8200, other, "UserPromptSubmit")]
    steps += [(8300, other, "Stop"), (3 * DAY, other, "Stop")]
    for seconds, who, event in steps:
        running.clock(seconds)
        who.hook(event)
    return {
        "one": one.shown,
        "other": other.shown,
        "broken": one.broken + other.broken,
        "waiting": [(e.text, e.flag("repeat")) for e in world.waiting()],
        "updates": Counter(e.text.split("\n")[0] for e in world.waiting("updates")),
        "items": Counter(e.text for e in world.waiting("items")),
        "drafted": Counter(world.drafted()),
        "seen": world.seen(whole=False),
        "strays": world.strays(),
        "claimed": world.claimed(),
        "logged": log <= {record.get("id") for record in log_hot.newest_first(world.root)},
    }


def wrong(scenario: HookScenario, ended: running.Ended, found: dict, plain: dict) -> "list[str]":
    """What does not hold; `plain` is the life after a run without faults."""
    said = []
    if ended.code not in {0, 137}:
        said.append(f"exit code {ended.code}")
    if ended.err:
        said.append(f"stderr: {ended.err.decode()[-2000:]}")
    if ended.hangs:
        said.append("what it started hangs")
    said += found["broken"]
    shown = found["one"] + found["other"]
    for token in sorted({t for t, *_ in plain["one"] + plain["other"]} | DUE | KEPT | LISTS):
        if not token.startswith(("tok-g", "tok-h")):
            continue
        times = [(delivery_id, repeat) for t, _, delivery_id, repeat in shown if t == token]
        left = [repeat for text, repeat in found["waiting"] if token in text]
        if not times and not left:
            said.append(f"{token} is lost")
        if not times and token not in KEPT:
            said.append(f"{token} is held back")
        if not all(repeat for _, repeat in times[1:]) or (times and not all(left)):
            said.append(f"{token} told twice unmarked: {times}, waits {left}")
        if len(left) > 1:
            said.append(f"{token} waits twice")
    for who in ("one", "other"):
        told = Counter(token for token, *_ in found[who])
        for token in sorted(told):
            marks = [repeat for t, _, _, repeat in found[who] if t == token]
            if not token.startswith(("tok-g", "tok-h")) and not all(marks[1:]):
                said.append(f"{token} told twice to {who} unmarked")
        # A session's start, and its first prompt, come once: what they did not tell is there for the next session.
        for token in sorted({t for t, *_ in plain[who]} - told.keys()):
            late = scenario.event == "SessionStart"
            if not token.startswith(("tok-g", "tok-h")) and (who == "other" or not late):
                said.append(f"{token} not told to {who}")
    for kind in ("updates", "items", "drafted"):
        if found[kind] != plain[kind]:
            said.append(f"pending {kind}: {found[kind] - plain[kind]} more, {plain[kind] - found[kind]} less")
    said += [f"{path} changed" for path in differ(found["seen"], plain["seen"])]
    said += [f"stray {path}" for path in found["strays"]]
    said += [f"still claimed: {path}" for path in found["claimed"]]
    # Each of the sessions that had a worker after its first prompt said what is to be kept.
    if scenario.mode == TOLD and sum(plain["drafted"].values()) < 1 + (scenario.event in AFTERWARDS):
        said.append("the workers draft nothing, so nothing is tried")
    if not found["logged"]:
        said.append("lines of the delivery log are gone")
    return said


def differ(one: "dict[str, str]", other: "dict[str, str]") -> "list[str]":
    """The names under which two tables differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


SCENARIOS = [HookScenario(*row) for row in tables.rows(__file__, "SCENARIOS")]
