"""A year of sessions on one home, in which everything happens that people report: kills at any point, full disks, clocks
that jump, Escape, clients that are killed before the model answers, prompts typed in mid-turn, resumes, branches, forks,
compactions, transcripts that the client cuts or deletes, workers that are late. What each note, draft and memory must
come to is kept beside it.

    python tests/faults/year.py --seed 7 --seconds 200     a year, or as much of it as there is time for
    python tests/faults/year.py --seed 7 --steps 40        so many steps, the same ones each time

Prints the seed, what was done, and what was lost or told twice; exit code 1 if anything was. Needs Linux (memfd).
"""

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import posix  # noqa: E402

import running  # noqa: E402
from faulty import Fault  # noqa: E402
from world import BLOCK, DAY, FIELD, TOKEN, World  # noqa: E402

from memtui.base import clock_hot  # noqa: E402
from memtui.client import process_hot  # noqa: E402
from memtui.hooks import runner_hot  # noqa: E402
from memtui.inbox import reconciliation_hot  # noqa: E402
from memtui.worker import extraction  # noqa: E402
from memtui.worker import main as worker  # noqa: E402

YEAR = 365 * DAY
FIRST_PID = 1 << 23  # above all that there can be
MEAN_HOURS = 3.0
FAULTS = 0.12  # of all hooks and commands
LATE = 0.15  # of all workers
RULE = "No, use pnpm. From now on always use pnpm for {}."
NOTES = "tok-n"
ASK = "how do we put the {} pipeline live again?"
BODY = "To put {0} live, run the {0} pipeline of the shop, then watch its canary. {1}"
SYLLABLES = ("ba", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu")
# A line that tells of a draft for the first time; others say what became of it.
DRAFT = re.compile(r"^(?:\+ )?- \[.*", re.MULTILINE)
real_alive, real_getppid, real_attached = process_hot.alive, posix.getppid, running._attached


def word(token: str) -> str:
    """The word that a memory is about."""
    return "zor" + "".join(SYLLABLES[int(digit)] for digit in token.removeprefix("tok-m").zfill(3))


class Talk:
    """A session of the client: its records as a tree, and which of them is the last of the conversation."""

    def __init__(self, year: "Year", name: str) -> None:
        self.year, self.name = year, name
        self.path = f"{year.world.config}/projects/{year.world.slug}/{name}.jsonl"
        self.parents: dict[str, str] = {}
        self.texts: dict[str, list[tuple[str, bool]]] = {}  # record -> the tokens told there, and whether as a repeat
        self.rows: list[dict] = []
        self.leaf = ""
        self.pid = 0  # of its client; 0 for none
        self.is_unsure = False  # whether it is a fork that could not copy what its parent was given
        self.turns = 0

    def add(self, kind: str, texts=(), **more) -> str:
        """Append a record below the last one."""
        uuid = f"{self.name}-{len(self.rows)}"
        row = {"type": kind, "uuid": uuid, "parentUuid": self.leaf or None, "sessionId": self.name}
        self.rows.append({**row, "isSidechain": False, "timestamp": clock_hot.iso(self.year.now), **more})
        self.parents[uuid], self.leaf = self.leaf, uuid
        if texts:
            self.texts[uuid] = list(texts)
        self.write(self.rows[-1:], "ab")
        return uuid

    def write(self, rows, mode="wb") -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, mode) as file:
            file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        os.utime(self.path, (self.year.now, self.year.now))

    def aside(self, kind: str, **more) -> None:
        """Append a record that is no part of the conversation."""
        self.rows.append({"type": kind, "sessionId": self.name, "timestamp": clock_hot.iso(self.year.now), **more})
        self.write(self.rows[-1:], "ab")

    def chain(self) -> "list[str]":
        """The records of the conversation, from the last one upwards."""
        found, at = [], self.leaf
        while at:
            found.append(at)
            at = self.parents[at]
        return found

    def context(self) -> "list[tuple[str, bool]]":
        """What the model's next request holds, from the first record or the last compaction on."""
        return [told for at in reversed(self.chain()) for told in self.texts.get(at, ())]


class Year:
    """`told`: the sessions in which a model answered with a token in its context."""

    def __init__(self, top: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.world = World(top)
        self.began = time.time() - YEAR - DAY
        self.now = self.began
        self.talks: list[Talk] = []
        self.dead: set[int] = set()
        self.pids = FIRST_PID
        self.parent = 0
        self.told: dict[str, set[str]] = {}
        self.notes: set[str] = set()
        self.drafts: set[str] = set()
        self.memories: dict[str, str] = {}  # token -> name
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.calm = self.faulty = False
        self.late: list = []  # workers that have not run yet

    def build(self) -> None:
        world = self.world
        for path in (world.shop + "/.git", world.top + "/tmp", world.root, world.native):
            os.makedirs(path)
        os.chmod(world.root, 0o700)
        posix.getppid = lambda: self.parent
        running._attached = self.attached
        extraction.TURN_SECONDS = extraction.QUIET_SECONDS = 0.0
        reconciliation_hot.END_SECONDS, reconciliation_hot.POLL_SECONDS = 0.1, 0.01
        process_hot.alive = lambda pid: pid not in self.dead if pid >= FIRST_PID else real_alive(pid)

    # what runs

    def fault(self) -> "Fault | None":
        if self.calm or self.chance.random() > FAULTS:
            return None
        kind = self.chance.choice(["before", "after", "torn", "once", "good", "good"])
        role = self.chance.choice(["main", "main", "worker"])
        error = self.chance.choice(["ENOSPC", "EIO"]) if kind in {"once", "good"} else ""
        return Fault(role, self.chance.randint(1, 40), kind, error)

    def run(self, body, data: bytes = b"", cwd: str = "/") -> running.Ended:
        """Run a hook or a command, now and then with a fault, at the time of the year."""
        fault, ahead = self.fault(), self.now - running._time()
        self.faulty = fault is not None

        def timely() -> int:
            running.clock(ahead)
            return body()

        if fault is None:
            return running.asked(lambda: running.here(timely, data), self.world.env, cwd)
        self.done["faults"] += 1
        return running.forked(timely, self.world.env, data, cwd, fault)

    def attached(self, hook, *tasks: str) -> None:
        """Run the worker of a hook, now or later."""

        def work() -> None:
            worker.run({**hook.env, runner_hot.INSIDE: "1"}, hook.payload, hook.event, tasks)

        if not self.calm and self.chance.random() < LATE:
            self.late.append(work)
        else:
            work()

    def catch_up(self) -> None:
        """Run the workers that are late."""
        ahead, works, self.late = self.now - running._time(), self.late, []
        self.done["late"] += len(works)
        for work in works:
            running.asked(lambda work=work: (running.clock(ahead), work()), self.world.env)

    def command(self, *words: str) -> bool:
        ended = self.run(lambda: running.command(list(words)), cwd=self.world.shop)
        if b"Traceback" in ended.err:
            self.wrong.append(f"{words[0]} printed {ended.err[-1500:].decode()}")
        return ended.code == 0

    def hook(self, talk: Talk, event: str, **more) -> "tuple[str, list[tuple[str, bool]], bool]":
        """Run a hook; return the text for the model, what it tells, and whether it failed."""
        self.parent = talk.pid
        payload = {"session_id": talk.name, "transcript_path": talk.path, "cwd": self.world.shop, **more}
        data = json.dumps({**payload, "hook_event_name": event, "prompt_id": f"{talk.name}-{talk.turns}"}).encode()
        ended = self.run(lambda: running.hook(event), data)
        self.done[event] += 1
        if ended.code not in {0, 137} or ended.err or ended.hangs:
            self.wrong.append(f"{event}: exit code {ended.code} {ended.err[-1500:].decode()}")
        try:
            text = json.loads(ended.out or b"{}").get("hookSpecificOutput", {}).get("additionalContext", "")
        except ValueError:
            return "", [], True
        found = []
        for tag, head, body in BLOCK.findall(text):
            if tag in {"guidance", "pending-updates"}:  # the lines of memories change with them
                repeat = dict(FIELD.findall(head)).get("repeat") == "yes"
                fresh = body if tag == "guidance" else "\n".join(DRAFT.findall(body))
                found += [(token, repeat) for token in dict.fromkeys(TOKEN.findall(fresh))]
            # A hook that dies may have a memory given twice: better than never.
            elif tag == "memory" and not self.faulty and not talk.is_unsure:
                name = dict(FIELD.findall(head)).get("name", "")
                found += [(f"{token} in {name}", False) for token in TOKEN.findall(body)[:1]]
        return text, found, ended.code != 0

    def give(self, talk: Talk, event: str, tool: str = "", **more) -> None:
        """Run a hook and write what it gave into the transcript, as the client does."""
        self.put(talk, event, self.hook(talk, event, **({"tool_use_id": tool} if tool else {}), **more), tool)

    @staticmethod
    def put(talk: Talk, event: str, given, tool: str = "") -> None:
        """Write into the transcript what a hook gave, as `hook` returns it."""
        text, found, failed = given
        base = {"hookEvent": event, "toolUseID": tool or f"hook-{len(talk.rows)}"}
        if text:
            talk.add("attachment", found, attachment={**base, "type": "hook_additional_context", "content": [text]})
        elif failed:
            command = "/x/memtui/hooks/launch.py " + event
            lost = {**base, "type": "hook_non_blocking_error", "command": command, "exitCode": 1, "durationMs": 9}
            talk.add("attachment", attachment=lost)

    # what a client does

    def open(self, talk: Talk, source: str) -> None:
        self.pids += 1
        talk.pid = self.pids
        if not talk.rows:
            talk.add("attachment", attachment={"type": "skill_listing"})
        keeps = {"context_tokens": 9, "seconds_since_last_response": 1e9} if source == "resume" else {}
        self.give(talk, "SessionStart", source=source, **keeps)
        self.done[source] += 1

    def close(self, talk: Talk, how: str) -> None:
        """End the client: `end` and `term` run the hook, `kill` does not."""
        if how != "kill":
            self.hook(talk, "SessionEnd", reason="other")
        self.dead.add(talk.pid)
        talk.pid = 0
        self.done[how] += 1

    def answer(self, talk: Talk, content: "list[dict] | None" = None) -> None:
        """Let the model answer: it was told all that its context holds."""
        found = talk.context()
        counts = Counter(token for token, _ in found)
        for token, count in counts.items():
            self.told.setdefault(token, set()).add(talk.name)
            marks = [repeat for each, repeat in found if each == token]
            if count > 1 and (token.startswith(NOTES) or not all(marks[1:])):
                self.wrong.append(f"{token} told {count} times in {talk.name} at {clock_hot.iso(self.now)}")
        said = content or [{"type": "text", "text": "done"}]
        usage = {"input_tokens": 1000 + self.chance.randrange(100_000), "output_tokens": 9}
        talk.add("assistant", message={"id": f"msg-{len(talk.rows)}", "content": said, "usage": usage})

    def turn(self, talk: Talk, fate: str = "", memory: str = "") -> None:
        """One prompt, maybe one that a memory answers, and what becomes of it."""
        fates = {"answered": 60, "tool": 15, "escaped": 8, "killed": 7, "term": 4, "error": 4, "tool killed": 4}
        fate = fate or self.chance.choices(list(fates), list(fates.values()))[0]
        talk.turns += 1
        before, words = talk.leaf, "go on with the work"
        if memory or (self.memories and not self.calm and self.chance.random() < 0.3):
            words = ASK.format(word(memory or self.chance.choice(list(self.memories))))
            self.done["asked"] += 1
        if fate in {"answered", "tool"} and not self.calm and self.chance.random() < 0.25:
            words = RULE.format(f"tok-d{len(self.drafts)}")
            self.drafts.add(f"tok-d{len(self.drafts)}")
        prompt = {"promptId": f"{talk.name}-{talk.turns}", "message": {"role": "user", "content": words}}
        if self.chance.random() < 0.5:
            talk.add("user", **prompt)
            self.give(talk, "UserPromptSubmit", prompt=words)
        else:  # the transcript lags behind
            given = self.hook(talk, "UserPromptSubmit", prompt=words)
            talk.add("user", **prompt)
            self.put(talk, "UserPromptSubmit", given)
        self.pass_seconds(30)
        self.done[fate] += 1
        if fate.startswith("tool"):
            tool = f"toolu_{len(talk.rows)}"
            self.answer(talk, [{"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": "true"}}])
            if self.chance.random() < 0.5:
                self.leave_note("--urgent")
            queued = self.hook(talk, "UserPromptSubmit", prompt="and be quick") if self.chance.random() < 0.3 else None
            if queued:
                talk.aside("queue-operation", operation="enqueue", content="and be quick")
                self.done["queued"] += 1
            self.give(talk, "PreToolUse", tool, tool_name="Bash", tool_input={"command": "true"})
            talk.add("user", message={"content": [{"type": "tool_result", "tool_use_id": tool, "content": "ok"}]})
            if queued and fate == "tool" and self.chance.random() < 0.2:
                talk.aside("queue-operation", operation="popAll", content="and be quick")
            elif queued and fate == "tool":  # of a client that is killed it is in the queue for ever
                talk.aside("queue-operation", operation="remove", content="and be quick")
                talk.add("attachment", attachment={"type": "queued_command", "prompt": "and be quick"})
                self.put(talk, "UserPromptSubmit", queued)
        if fate in {"killed", "tool killed"}:
            return self.close(talk, "kill")
        if fate == "term":
            return self.close(talk, "term")
        if fate == "escaped":
            talk.leaf = before
        elif fate == "error":
            talk.add("assistant", message={"id": f"e-{len(talk.rows)}", "model": "<synthetic>", "content": []})
        else:
            self.answer(talk)
            self.hook(talk, "Stop", last_assistant_message="done")
        return None

    def compact(self, talk: Talk) -> None:
        self.hook(talk, "PreCompact", trigger="manual")
        above, talk.leaf = talk.leaf, ""
        talk.add("system", subtype="compact_boundary", logicalParentUuid=above)
        talk.add("user", isCompactSummary=True, message={"content": "Summary."})
        if self.chance.random() < 0.5:
            at = len(talk.rows) - 2
            talk.rows = [{}] * at + talk.rows[at:]
            talk.write(talk.rows[at:])
            self.done["cut"] += 1
        self.give(talk, "SessionStart", source="compact")
        self.done["compact"] += 1

    def copy(self, talk: Talk, mark: str, **origin) -> Talk:
        """A session under an id of its own that begins with the conversation of another, its records marked."""
        copy, chain = Talk(self, f"{talk.name[:8]}-{mark}{len(self.talks):04}"), talk.chain()
        copy.rows = [{**row, "sessionId": copy.name, **origin} for row in talk.rows if row.get("uuid") in chain]
        copy.parents, copy.texts = {each: talk.parents[each] for each in chain}, dict(talk.texts)
        copy.leaf, copy.is_unsure = talk.leaf, talk.is_unsure
        self.talks.append(copy)
        return copy

    def branch(self, talk: Talk) -> None:
        """`/branch`: the client goes on with a copy of the conversation."""
        copy = self.copy(talk, "b", forkedFrom={"sessionId": talk.name, "messageUuid": talk.leaf})
        copy.write(copy.rows)
        self.hook(talk, "SessionEnd", reason="resume")
        copy.pid, talk.pid = talk.pid, 0
        self.give(copy, "SessionStart", source="fork")
        self.done["branch"] += 1

    def fork(self, talk: Talk) -> None:
        """`--resume ID --fork-session`: another client goes on with a copy; only the start says of which answer."""
        answers = [row for row in talk.rows if row.get("uuid") in talk.chain() and row["type"] == "assistant"]
        usage = answers[-1]["message"].get("usage") if answers else None
        if usage:
            copy = self.copy(talk, "f")
            past = self.now - (clock_hot.parse(answers[-1]["timestamp"]) or 0.0)
            self.pids += 1
            copy.pid = self.pids
            said = self.hook(
                copy,
                "SessionStart",
                source="fork",
                seconds_since_last_response=past,
                context_tokens=sum(usage.values()),
            )
            copy.is_unsure = copy.is_unsure or self.faulty  # its parent may go on before the first prompt
            copy.write(copy.rows)
            self.put(copy, "SessionStart", said)
            self.done["fork"] += 1

    # what a person does

    def leave_note(self, *words: str) -> None:
        token = f"{NOTES}{len(self.told) + len(self.notes)}{self.chance.randint(100, 999)}"
        if self.command("note", *words, f"{token} note"):
            self.notes.add(token)

    def new_memory(self) -> str:
        token = f"tok-m{len(self.memories)}"
        words = ["--description", f"About {word(token)}", "--body", BODY.format(word(token), token)]
        if self.command("new", token, *words, "--scope", "global"):
            self.memories[token] = token
        return token

    def review(self) -> None:
        """Approve what waits, or rename a memory."""
        if self.chance.random() < 0.5 and self.memories:
            token = self.chance.choice(list(self.memories))
            name = f"{token}-{self.done['mv']}"
            self.done["mv"] += 1
            if self.command("mv", f"global:{self.memories[token]}", name):
                self.memories[token] = name
        else:
            self.command("approve", "--all")

    def pass_seconds(self, mean: float) -> None:
        self.now += self.chance.expovariate(1 / mean)

    def step(self) -> None:
        self.pass_seconds(MEAN_HOURS * 3600)
        if self.chance.random() < 0.03:
            self.now += self.chance.choice([-3600, -7200, 3600, 86400])
            self.done["jumps"] += 1
        live = [talk for talk in self.talks if talk.pid]
        ended = [talk for talk in self.talks[-30:] if not talk.pid and os.path.exists(talk.path)]
        what = self.chance.choices(
            ["note", "start", "turn", "resume", "end", "compact", "branch", "fork", "memory", "review", "delete"],
            [16, 8, 36, 10, 6, 5, 4, 3, 3, 3, 1],
        )[0]
        if self.chance.random() < 0.3:
            self.catch_up()
        if what == "note":
            self.leave_note(*self.chance.choice([(), (), ("--urgent",), ("--global",)]))
        elif what == "memory":
            self.new_memory()
        elif what == "review":
            self.review()
        elif what == "resume" and ended:
            self.open(self.chance.choice(ended), "resume")
        elif what == "fork" and [*live, *ended]:
            self.fork(self.chance.choice([*live, *ended]))
        elif what == "delete" and ended:
            os.unlink(self.chance.choice(ended).path)
            self.done["deleted"] += 1
        elif what == "start" or not live:
            self.talks.append(Talk(self, f"{self.chance.getrandbits(32):08x}-s{len(self.talks):04}"))
            self.open(self.talks[-1], "startup")
        elif what == "end":
            self.close(self.chance.choice(live), "end")
        elif what == "compact":
            self.compact(self.chance.choice(live))
        elif what == "branch":
            self.branch(self.chance.choice(live))
        else:
            self.turn(self.chance.choice(live))

    # what it must have come to

    def settle(self) -> None:
        """Some quiet days, in which all that waits is told, and each session's worker has read it."""
        self.calm = True
        self.catch_up()
        self.now += 2 * DAY
        for talk in self.talks:
            if os.path.exists(talk.path):
                if not talk.pid:
                    self.open(talk, "resume")
                self.turn(talk, "answered")
                self.close(talk, "end")
            self.pass_seconds(3600)
        for number in range(4):
            self.talks.append(Talk(self, f"{number:08x}-last"))
            self.open(self.talks[-1], "startup")
            self.turn(self.talks[-1], "answered")
            self.close(self.talks[-1], "end")
            self.now += DAY
        self.recall()
        running.asked(
            lambda: reconciliation_hot.reconcile(self.world.env, self.world.root, now=self.now), self.world.env
        )

    def recall(self) -> None:
        """A session that asks for memories has each of them once, again after a compaction, and so has its branch."""
        fresh = [self.new_memory() for _ in range(3)]  # no draft has had a prompt about these as a trigger
        talk = self.talks[-1]
        self.open(talk, "resume")
        for step in (lambda: None, lambda: self.compact(talk), lambda: self.branch(talk)):
            step()
            talk = talk if talk.pid else self.talks[-1]
            for token in fresh:
                self.turn(talk, "answered", token)
                if not any(told.startswith(f"{token} in ") for told, _ in talk.context()):
                    self.wrong.append(f"the memory {token} is not recalled in {talk.name}")
        self.close(talk, "end")

    def judge(self) -> None:
        waiting = {token: each for each in self.world.waiting() for token in TOKEN.findall(each.text)}
        for token in sorted(self.notes):
            if not self.told.get(token) and token not in waiting:
                self.wrong.append(f"{token} is lost")
            elif not self.told.get(token) and waiting[token].count("attempts") < 3:
                self.wrong.append(f"{token} is held back: {waiting[token].raw!r}")
        kept = "\n".join(e.raw for kind in ("updates", "items") for e in self.world.waiting(kind))
        held = self._text(self.world.config + "/memory") + self._text(self.world.native)
        held += self._text(self.world.shop + "/.claude")
        for token in sorted(self.drafts):
            if not re.search(rf"{token}\b", kept + held):
                self.wrong.append(f"the draft of {token} is lost")
        for token in sorted(self.memories):
            if not re.search(rf"{token}\b", held):
                self.wrong.append(f"the memory {token} is lost")
        self.wrong += [f"still claimed: {path}" for path in self.world.claimed() if "replaced~" not in path]

    @staticmethod
    def _text(top: str) -> str:
        found = []
        for place, _, names in os.walk(top):
            for name in names:
                with open(f"{place}/{name}", errors="replace") as file:
                    found.append(file.read())
        return "\n".join(found)


def live(seed: int, seconds: float, steps: int) -> Year:
    """Live a year, or a part of it."""
    top = tempfile.mkdtemp(prefix="year-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    year = Year(top, seed)
    end = time.monotonic() + seconds
    try:
        year.build()
        while year.now < year.began + YEAR - 20 * DAY and time.monotonic() < end and year.done["steps"] < steps:
            year.done["steps"] += 1
            year.step()
        year.settle()
        year.judge()
    finally:
        posix.getppid, process_hot.alive, running._attached = real_getppid, real_alive, real_attached
        shutil.rmtree(top, ignore_errors=True)
    return year


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--steps", type=int, default=1 << 30)
    given = parser.parse_args()
    year = live(given.seed, given.seconds, given.steps)
    print(
        f"seed {given.seed}: {len(year.notes)} notes, {len(year.drafts)} drafts, {len(year.memories)} memories;",
        end=" ",
    )
    print(", ".join(f"{count} {what}" for what, count in year.done.most_common()))
    for each in year.wrong:
        print("  " + each)
    return 1 if year.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
