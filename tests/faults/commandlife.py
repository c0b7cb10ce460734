"""Commands under faults, and what must hold after life went on; the command lines are in commandlife.json.

What a command leaves is compared with what it leaves where nothing fails, and with what is there where it was not
called at all: a command that succeeded leaves the one, one that failed the other, one that was killed either.
"""

import re

import faulty
import running
from hooklife import differ
from world import DAY, World

import tables
from memtui.inbox import reconciliation_hot
from memtui.worker import main

# A command that fails may say so, where what it did is not all taken back.
OWNED = re.compile(
    r"still there|finishes it|is begun|was done|were done|left alone|is left all the same|made none the less|may be there"
)
DENIED = re.compile(r"[Nn]othing was (?!lost)")
CODES = {0, 1, 2, 3, 4, 5}


class CommandScenario:
    """One command line. `before`: those that come first; `pieces`: each file is a step of its own; `files` are written
    first; `reads`: the command only shows something."""

    def __init__(self, *words: str, before=(), pieces=False, files=None, reads=False, modes=None) -> None:
        self.words, self.before, self.pieces = words, before, pieces
        self.files, self.reads, self.modes = files or {}, reads, modes or {}
        self.name = re.sub(r"[^\w]+", "-", " ".join([*words, *(" after " + " ".join(b) for b in before)]))[:70]

    def prepare(self, world: World) -> None:
        for path, text in self.files.items():
            world.write(f"{world.top}/{path}", text.replace("TOP", world.top))
            if path.endswith("/versions.jsonl"):
                # None is so young that it is not taken in yet: a later run would make other calls.
                for place, _, names in running.os.walk(world.top):
                    for name in names:
                        if name.endswith(".md"):
                            running.os.utime(f"{place}/{name}", (1_700_000_000, 1_700_000_000))
        for path, mode in self.modes.items():
            running.os.chmod(f"{world.top}/{path}", mode)

    def prepare_outside(self, world: World) -> None:
        """What runs in processes of its own."""
        for words in self.before:
            done = running.forked(lambda w=words: running.command(self._filled(world, w)), world.env, cwd=world.shop)
            assert done.code == 0, f"{words}: {done.out!r} {done.err!r}"

    @staticmethod
    def _filled(world: World, words) -> "list[str]":
        return [re.sub(r"@(\w\d)", lambda m: world.id(m[1]), w).replace("TOP", world.top) for w in words]

    def run(self, world: World, fault, trace: int = -1) -> running.Ended:
        words = self._filled(world, self.words)
        if fault is not None and fault.kind not in faulty.KILLS:
            return running.failing(lambda: running.command(words), world.env, world.shop, fault)
        return running.forked(lambda: running.command(words), world.env, b"", world.shop, fault, trace)


def live(world: World, _) -> dict:
    """The next commands, and what is there then; after that the probe and the last change are taken back."""
    codes = []

    def command(*words: str) -> None:
        running.os.chdir(world.shop)
        done = running.here(lambda: running.command(list(words)))
        codes.append((words[0], done.code, (done.out + done.err).decode(errors="replace")[-500:]))

    running.clock(60)
    command("list", "--json")
    command("note", "--json", "--project", world.other, "tok-p1 probe")
    found = world.seen()
    command("undo", "--yes")
    command("undo", "--yes")
    undone = world.seen()
    running.clock(3 * DAY)
    reconciliation_hot.reconcile(world.env, world.root)
    main.tidy(world.root)
    strays = [*world.strays(), *world.claimed()]
    return {"codes": codes, "seen": found, "undone": undone, "strays": strays}


def wrong(scenario: CommandScenario, fault, ended: running.Ended, found: dict, plain: dict, none: dict) -> "list[str]":
    """What does not hold. `plain` is life after a run without faults (its `code` that of the command), `none` life
    after no run at all."""
    said = []
    text = (ended.out + ended.err).decode(errors="replace")
    if ended.code not in CODES | {137}:
        said.append(f"exit code {ended.code}")
    if "Traceback" in text:
        said.append(f"printed: {text[-1500:]}")
    if "Errno" in text:
        said.append(f"unfriendly: {text[-600:]}")
    if ended.hangs:
        said.append("what it started hangs")
    done, same = found["seen"] == plain["seen"], found["seen"] == none["seen"]
    if fault is not None and fault.kind == "torn" and scenario.words[0] == "note" and "--json" not in scenario.words:
        # A plain append, for monitors: of one that is killed within the write a part may stay, as of any shell's.
        return said
    if scenario.reads:
        if ended.code not in {plain["code"], 137}:
            said.append(f"exit code {ended.code} for a command that only reads: {text[-600:]}")
    elif ended.code == plain["code"] == 0 and not done:
        said.append(f"succeeded, and is not done: {differ(found['seen'], plain['seen'])}: {text[-300:]}")
    elif ended.code not in {0, 5, 137} and not same and not scenario.pieces and not OWNED.search(text):
        said.append(f"failed, and is done: {differ(found['seen'], none['seen'])}: {text[-600:]}")
    elif ended.code not in {0, 5, 137} and not same and not scenario.pieces and DENIED.search(text):
        said.append(f"denies what it did: {text[-600:]}")
    if not done and not same:
        if not scenario.pieces or not _between(found["seen"], plain["seen"], none["seen"]):
            parts = differ(found["seen"], plain["seen"]), differ(found["seen"], none["seen"])
            said.append(f"neither done nor not: not as done {parts[0]}, not as before {parts[1]}")
    for mine, right in zip(found["codes"], (plain if done else none)["codes"], strict=True):
        if mine[:2] != right[:2]:
            said.append(f"then {mine[0]} ends with {mine[1]}: {mine[2]}")
            break
    else:
        right = plain if done else none
        half = scenario.pieces and ended.code  # one step of several
        if (
            (done or same)
            and not half
            and found["undone"] != right["undone"]
            and found["undone"] != (none if done else plain)["undone"]
        ):
            said.append(f"undo leaves something else: {differ(found['undone'], right['undone'])}")
    said += [f"stray {path}" for path in found["strays"]]
    return said


def _between(found: dict, plain: dict, none: dict) -> bool:
    """Whether each file has the lines that both have, and no others than one of them has."""
    for name in found.keys() | plain.keys() | none.keys():
        mine, one, other = (set(each.get(name, "").split("\n")) for each in (found, plain, none))
        if not (one & other <= mine <= one | other):
            return False
    return True


# Words of a command line, and what else its scenario has; files by their names in the table `files`.
FILES = tables.rows(__file__, "files")
SCENARIOS = [
    CommandScenario(*words, **{**more, "files": FILES.get(named, named) if isinstance(named, str) else named})
    for words, more in tables.rows(__file__, "scenarios")
    for named in [more.get("files")]
]
