"""A year of sessions of six agents on two machines that sync, in which everything happens that people report: kills at any
point, full and read-only disks, clocks that jump, Escape, clients that are killed before the model answers, prompts typed
in mid-turn, resumes, branches, forks, compactions, transcripts that the client cuts or deletes, workers that are late, torn
lines, locks, files that others remove, settings that change, secrets in prompts. What each note, draft, memory and receipt
must come to is kept beside it.

    python tests/faults/year.py --seed 7 --seconds 200     a year, or as much of it as there is time for
    python tests/faults/year.py --seed 7 --steps 40        so many steps, the same ones each time

Prints the seed, what was done, and what was lost or told twice; exit code 1 if anything was. Needs Linux (memfd).
"""

import argparse
import fcntl
import gc
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from itertools import count as counting

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import posix  # noqa: E402

import running  # noqa: E402
from faulty import Fault  # noqa: E402
from talks import AGENTS, OtherTalk, Talk  # noqa: E402
from world import BLOCK, DAY, FIELD, TOKEN, World  # noqa: E402

from memtui.base import clock_hot  # noqa: E402
from memtui.client import process_hot  # noqa: E402
from memtui.deliver import error_log_hot, log_hot, receipts_hot  # noqa: E402
from memtui.hooks import runner_hot  # noqa: E402
from memtui.inbox import reconciliation_hot  # noqa: E402
from memtui.worker import extraction, processes  # noqa: E402
from memtui.worker import main as worker  # noqa: E402

YEAR = 365 * DAY
FIRST_PID = 1 << 23  # above all that there can be
MEAN_HOURS = 12.0
FAULTS = 0.12  # of all hooks and commands
LATE = 0.15  # of all workers
SETTINGS = '{"model": "opus",   "permissions": {"allow": []}}\n'
LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
RULE = "No, use pnpm. From now on always use pnpm for {}."
NOTES = "tok-n"
# What is so in a home where no agent is installed, and no person looked at anything.
UNASKED = {"hooks.agent", "hooks.agent_note", "client.absent"}
STEPS = {"note": 16, "start": 10, "turn": 36, "resume": 10, "end": 6, "compact": 5, "branch": 4, "fork": 3, "delete": 1}
STEPS |= {"new_memory": 5, "review": 5, "sync": 2, "trouble": 2}
# Where a disk is full, broken or read-only, no process can begin, or the machine is busy.
FORESEEN = {"OSError", "PermissionError", "BlockingIOError", "LateError"}
KEPT_DAYS = 170  # for which memtui keeps every text at the least
ASK = "how do we put the {} pipeline live again?"
BODY = "To put {0} live, run the {0} pipeline of the shop, then watch its canary. {1}"
SYLLABLES = ("ba", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu")
# A line that tells of a draft for the first time; others say what became of it.
DRAFT = re.compile(r"^(?:\+ )?- \[.*", re.MULTILINE)
real_start = processes.start
real_alive, real_getppid, real_attached = process_hot.alive, posix.getppid, running._attached


def word(token: str) -> str:
    """The word that a memory is about."""
    return "zor" + "".join(SYLLABLES[int(digit)] for digit in token.removeprefix("tok-m").zfill(3))


class Year:
    """`told`: the sessions in which a model answered with a token in its context."""

    def __init__(self, top: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.worlds = [World(f"{top}/one"), World(f"{top}/two")]
        self.world, self.remote = self.worlds[0], f"{top}/remote.git"
        self.began = time.time() - YEAR - DAY
        self.now = self.began
        self.talks: list[Talk | OtherTalk] = []
        self.dead: set[int] = set()
        self.pids = FIRST_PID
        self.parent = 0
        self.told: dict[str, set[str]] = {}
        self.notes: set[str] = set()
        self.drafts: set[str] = set()
        self.memories: dict[str, str] = {}  # token -> name
        self.edits: dict[str, float] = {}  # texts that were written once, and when
        self.removed: dict[str, float] = {}
        self.summed: set[str] = set()  # what was in a context that a model made a summary of
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.calm = self.faulty = False
        self.secrets: list[str] = []
        self.late: list = []  # workers that have not run yet, each with its environment

    def build(self) -> None:
        gc.freeze()
        self.calm = True
        subprocess.run(["git", "init", "-q", "--bare", self.remote], check=True)
        for number, self.world in enumerate(self.worlds):
            world = self.world
            for path in (world.shop + "/.git", world.top + "/tmp", world.root, world.native):
                os.makedirs(path)
            os.chmod(world.root, 0o700)
            world.write(world.shop + "/.git/config", '[remote "origin"]\n\turl = git@example.org:you/shop.git\n')
            world.write(world.config + "/settings.json", SETTINGS)
            self.must("sync", "setup", self.remote, "--name", f"desk{number}", "--yes")
            for agent in ("claude", *AGENTS):
                self.must("setup", "hooks", "--agent", agent, "--yes")
        self.calm = False
        posix.getppid = lambda: self.parent
        running._attached, processes.start = self.attached, self.started
        extraction.TURN_SECONDS = extraction.QUIET_SECONDS = 0.0
        reconciliation_hot.END_SECONDS, reconciliation_hot.POLL_SECONDS = 0.1, 0.01
        process_hot.alive = lambda pid: pid not in self.dead if pid >= FIRST_PID else real_alive(pid)

    # what runs

    def fault(self) -> "Fault | None":
        if self.calm or self.chance.random() > FAULTS:
            return None
        kind = self.chance.choice(["before", "after", "torn", "once", "good", "good"])
        role = self.chance.choice(["main", "main", "worker"])
        error = self.chance.choice(["ENOSPC", "EIO", "EROFS", "EACCES"]) if kind in {"once", "good"} else ""
        return Fault(role, self.chance.randint(1, 40), kind, error)

    def run(self, body, data: bytes = b"", cwd: str = "/", **more: str) -> running.Ended:
        """Run a hook or a command, now and then with a fault, at the time of the year."""
        fault, began, env = self.fault(), self.now, {**self.world.env, **more}
        self.faulty, self.now = fault is not None, began + 1

        def timely() -> int:
            calls = counting()
            time.time = lambda: began + next(calls) / 10_000  # a busy machine is no slower
            return body()

        if fault is None:
            return running.asked(lambda: running.here(timely, data), env, cwd)
        self.done["faults"] += 1
        return running.forked(timely, env, data, cwd, fault)

    def attached(self, hook, *tasks: str) -> None:
        """Run the worker of a hook, now or later."""

        def work() -> None:
            worker.run({**hook.env, runner_hot.INSIDE: "1"}, hook.payload, hook.event, tasks)

        if not self.calm and self.chance.random() < LATE:
            self.late.append((work, self.world.env))
        else:
            work()

    def started(self, env: "dict[str, str]", _root: str, cwd: str, module: str, *words: str, payload: bytes) -> None:
        """Run what a worker starts: a sync, at the time of the year."""
        if self.chance.random() < 0.5:  # it has no network
            return
        self.done["own syncs"] += 1
        ended = running.forked(lambda: running.command(list(words)), env)
        if b"Traceback" in ended.err or (ended.code and not self.done["faults"]):
            self.wrong.append(f"{module} {words}: {ended.code} {ended.err[-1500:].decode()}")

    def catch_up(self) -> None:
        """Run the workers that are late."""
        gc.collect()  # hooks switch it off, and end
        ahead, works, self.late = self.now - running._time(), self.late, []
        self.done["late"] += len(works)
        for work, env in works:
            running.asked(lambda work=work: (running.clock(ahead), work()), env)

    def command(self, *words: str) -> bool:
        ended = self.run(lambda: running.command(list(words)), cwd=self.world.shop)
        if b"Traceback" in ended.err:
            self.wrong.append(f"{words[0]} printed {ended.err[-1500:].decode()}")
        return ended.code == 0

    def must(self, *words: str) -> None:
        """Run a command that nothing keeps from being done."""
        if not self.command(*words):
            self.wrong.append(f"{' '.join(words)} failed")

    def hook(self, talk: "Talk | OtherTalk", event: str, **more) -> "tuple[str, list[tuple[str, bool]], bool]":
        """Run a hook; return the text for the model, what it tells, and whether it failed."""
        self.world, self.parent = talk.world, talk.pid
        if isinstance(talk, Talk):
            base = {"session_id": talk.name, "transcript_path": talk.path, "cwd": self.world.shop}
            base |= {"hook_event_name": event, "prompt_id": f"{talk.name}-{talk.turns}"}
            payload, words, env = {**base, **more}, [], {}
        else:
            payload, env = talk.payload(event, more), talk.shape.get("env", {})
            words = ["--root", self.world.root, "--config", self.world.config, "--agent", talk.agent]
        ended = self.run(lambda: running.hook(event, *words), json.dumps(payload).encode(), **env)
        self.done[talk.agent] += 1
        self.done[event] += 1
        if ended.code not in {0, 137} or ended.err or ended.hangs:
            self.wrong.append(f"{event}: exit code {ended.code} {ended.err[-1500:].decode()}")
        try:
            answer = json.loads(ended.out or b"{}")
        except ValueError:
            if ended.code != 137:
                self.wrong.append(f"{talk.agent} {event} printed {ended.out!r}")
            return "", [], True
        text = answer.get("additionalContext") or answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        found = []
        for tag, head, body in BLOCK.findall(text):
            found.append(("delivery " + dict(FIELD.findall(head)).get("delivery", ""), True))
            if tag in {"guidance", "pending-updates"}:  # the lines of memories change with them
                repeat = dict(FIELD.findall(head)).get("repeat") == "yes"
                fresh = body if tag == "guidance" else "\n".join(DRAFT.findall(body))
                found += [(token, repeat) for token in dict.fromkeys(TOKEN.findall(fresh))]
            # A hook that dies may have a memory given twice: better than never.
            elif tag == "memory" and not self.faulty and not talk.is_unsure:
                name = f"{dict(FIELD.findall(head)).get('name', '')} {zlib.crc32(body.encode())}"
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

    def open(self, talk: "Talk | OtherTalk", source: str) -> None:
        self.pids += 1
        talk.pid = self.pids
        self.done[source] += 1
        if isinstance(talk, OtherTalk):
            return talk.open(source)
        if not talk.rows:
            talk.add("attachment", attachment={"type": "skill_listing"})
        keeps = {"context_tokens": 9, "seconds_since_last_response": 1e9} if source == "resume" else {}
        return self.give(talk, "SessionStart", source=source, **keeps)

    def close(self, talk: "Talk | OtherTalk", how: str) -> None:
        """End the client: `end` and `term` run the hook, `kill` does not."""
        if how != "kill" and talk.agent != "opencode":
            self.hook(talk, "SessionEnd", reason="other")
        self.dead.add(talk.pid)
        talk.pid = 0
        self.done[how] += 1

    def hear(self, talk: "Talk | OtherTalk") -> None:
        """Let the model read: it was told all that its context holds."""
        found = talk.context()
        counts = Counter(token for token, _ in found)
        for token, count in counts.items():
            self.told.setdefault(token, set()).add(talk.name)
            marks = [repeat for each, repeat in found if each == token]
            if count > 1 and (token.startswith(NOTES) or not all(marks[1:])):
                self.wrong.append(f"{token} told {count} times in {talk.name} at {clock_hot.iso(self.now)}")

    def answer(self, talk: Talk, content: "list[dict] | None" = None) -> None:
        """Let the model read and answer."""
        self.hear(talk)
        said = content or [{"type": "text", "text": "done"}]
        usage = {"input_tokens": 1000 + self.chance.randrange(100_000), "output_tokens": 9}
        talk.add("assistant", message={"id": f"msg-{len(talk.rows)}", "content": said, "usage": usage})

    def turn(self, talk: "Talk | OtherTalk", fate: str = "", memory: str = "") -> None:
        """One prompt, maybe one that a memory answers, and what becomes of it."""
        fates = {"answered": 60, "tool": 15, "escaped": 8, "killed": 7, "term": 4, "error": 4, "tool killed": 4}
        fate = fate or self.chance.choices(list(fates), list(fates.values()))[0]
        talk.turns += 1
        words = "go on with the work"
        if memory or (self.memories and not self.calm and self.chance.random() < 0.3):
            words = ASK.format(word(memory or self.chance.choice(list(self.memories))))
            self.done["asked"] += 1
        if fate in {"answered", "tool"} and not self.calm and self.chance.random() < 0.25:
            words = RULE.format(f"tok-d{len(self.drafts)}")
            self.drafts.add(f"tok-d{len(self.drafts)}")
        elif not self.calm and self.chance.random() < 0.1:
            self.secrets.append("ghp_" + "".join(self.chance.choices(LETTERS, k=36)))
            words = f"No, always log in with {self.secrets[-1]} in this project."
        self.done[fate] += 1
        if isinstance(talk, OtherTalk):
            return talk.turn(words, fate)
        before = talk.leaf
        prompt = {"promptId": f"{talk.name}-{talk.turns}", "message": {"role": "user", "content": words}}
        if self.chance.random() < 0.5:
            talk.add("user", **prompt)
            self.give(talk, "UserPromptSubmit", prompt=words)
        else:  # the transcript lags behind
            given = self.hook(talk, "UserPromptSubmit", prompt=words)
            talk.add("user", **prompt)
            self.put(talk, "UserPromptSubmit", given)
        self.pass_seconds(30)
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

    def compact(self, talk: "Talk | OtherTalk") -> None:
        self.done["compact"] += 1
        self.summed |= {token for token, _ in talk.context()}
        if isinstance(talk, OtherTalk):
            return talk.compact()
        self.hook(talk, "PreCompact", trigger="manual")
        above, talk.leaf = talk.leaf, ""
        talk.add("system", subtype="compact_boundary", logicalParentUuid=above)
        talk.add("user", isCompactSummary=True, message={"content": "Summary."})
        if self.chance.random() < 0.5:
            at = len(talk.rows) - 2
            talk.rows = [{}] * at + talk.rows[at:]
            talk.write(talk.rows[at:])
            self.done["cut"] += 1
            talk.is_cut = True
        return self.give(talk, "SessionStart", source="compact")

    def copy(self, talk: Talk, mark: str, **origin) -> Talk:
        """A session under an id of its own that begins with the conversation of another, its records marked."""
        self.world = talk.world
        copy, chain = Talk(self, f"{talk.name[:8]}-{mark}{len(self.talks):04}"), talk.chain()
        copy.rows = [{**row, "sessionId": copy.name, **origin} for row in talk.rows if row.get("uuid") in chain]
        copy.parents, copy.texts = {each: talk.parents[each] for each in chain}, dict(talk.texts)
        copy.leaf, copy.is_unsure, copy.is_cut = talk.leaf, talk.is_unsure, talk.is_cut
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
            last = {"seconds_since_last_response": past, "context_tokens": sum(usage.values())}
            said = self.hook(copy, "SessionStart", source="fork", **last)
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
        token = f"tok-m{self.done['memories']}"
        self.done["memories"] += 1
        words = ["--description", f"About {word(token)}", "--body", BODY.format(word(token), token)]
        if self.command("new", token, *words, "--scope", "global"):
            self.memories[token] = token
        return token

    def review(self) -> None:
        """Approve what waits, or rename, edit or remove a memory; or have an agent write or remove its file."""
        what = self.chance.choice(["approve", "approve", "mv", "edit", "edit", "rm", "write", "unlink"])
        if what == "approve" or not self.memories:
            return self.command("approve", "--all")
        token = self.chance.choice(list(self.memories))
        name, edit, renamed = self.memories[token], f"tok-e{self.done['edits']}", f"{token}-{self.done['mv']}"
        path, here = f"{self.world.config}/memory/{name}.md", f"global:{name}"
        self.done.update([what, "edits"])
        if what == "mv" and self.command("mv", here, renamed):
            self.memories[token] = renamed
        elif what == "edit" and self.command("edit", here, "--body", BODY.format(word(token), f"{token} {edit}")):
            self.edits[edit] = self.now
        elif what == "rm" and self.command("rm", here):
            self.removed[self.memories.pop(token) and token] = self.now
        elif what in {"write", "unlink"} and os.path.exists(path) and self.command("history", here):  # which sees it
            if what == "unlink":
                os.unlink(path)
                self.removed[self.memories.pop(token) and token] = self.now
                return None
            with open(path, "a") as file:
                file.write(f"\nAn agent adds {edit}.\n")
            if self.command("history", here):
                self.edits[edit] = self.now
        return None

    def trouble(self) -> None:
        """What others do to the files of a machine."""
        root, what = self.world.root, self.chance.choice(["torn", "torn", "locks", "caches", "settings", "hooks"])
        self.done[what] += 1
        if what == "torn":
            logs = glob.glob(root + "/log/*.jsonl") + [talk.path for talk in self.talks if talk.exists() and talk.pid]
            for path in self.chance.sample(logs, min(2, len(logs))):
                if "#" not in path:
                    with open(path, "ab") as file:
                        file.write(b'{"v": 1, "id": "01K8\xff\n')
        elif what == "locks":
            locks = [open(path) for path in glob.glob(root + "/**/*.lock", recursive=True)]
            for lock in locks:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.leave_note()
            for lock in locks:
                lock.close()
        elif what == "caches":
            for name in ("run", "recall"):
                shutil.rmtree(f"{root}/{name}", ignore_errors=True)
        elif what == "settings":
            self.command("config", "set", "budget", self.chance.choice(["4000", "9000", "9500"]))
        else:
            agent = self.chance.choice(["claude", *AGENTS])
            for words in ((), ("--remove",), ()):
                self.command("setup", "hooks", "--agent", agent, *words, "--yes")

    def pass_seconds(self, mean: float) -> None:
        self.now += self.chance.expovariate(1 / mean)

    def step(self) -> None:
        self.pass_seconds(MEAN_HOURS * 3600)
        if self.chance.random() < 0.03:
            self.now += self.chance.choice([-3600, -7200, 3600, 86400])
            self.done["jumps"] += 1
        self.world = self.chance.choice(self.worlds)
        here = [talk for talk in self.talks if talk.world is self.world]
        live = [talk for talk in here if talk.pid]
        ended = [talk for talk in here[-15:] if not talk.pid and talk.exists()]
        own = [talk for talk in live if isinstance(talk, Talk)]
        copied = [talk for talk in [*own, *ended] if isinstance(talk, Talk)]
        what = self.chance.choices(list(STEPS), list(STEPS.values()))[0]
        if self.chance.random() < 0.3:
            self.catch_up()
        if what == "note":
            self.leave_note(*self.chance.choice([(), (), ("--urgent",), ("--global",), ("--to", "machine:desk1")]))
        elif what in {"new_memory", "review", "trouble"}:
            getattr(self, what)()
        elif what == "sync":
            self.command("sync")
        elif what == "resume" and ended:
            self.open(self.chance.choice(ended), "resume")
        elif what == "fork" and copied:
            self.fork(self.chance.choice(copied))
        elif what == "delete" and ended:
            talk = self.chance.choice(ended)
            if os.path.exists(talk.path):  # OpenCode has all of them in one file
                os.unlink(talk.path)
                talk.is_cut = True
                self.done["deleted"] += 1
        elif what == "start" or not live:
            agent = self.chance.choice(["claude", "claude", "claude", *AGENTS])
            self.begin(f"{self.chance.getrandbits(32):08x}-s{len(self.talks):04}", agent)
        elif what == "end":
            self.close(self.chance.choice(live), "end")
        elif what == "branch" and own:
            self.branch(self.chance.choice(own))
        else:
            (self.compact if what == "compact" else self.turn)(self.chance.choice(live))

    def begin(self, name: str, agent: str) -> None:
        self.talks.append(Talk(self, name) if agent == "claude" else OtherTalk(self, name, agent))
        self.open(self.talks[-1], "startup")

    # what it must have come to

    def settle(self) -> None:
        """Some quiet days, in which all that waits is told, and each session's worker has read it."""
        self.calm = True
        self.catch_up()
        self.now += 2 * DAY
        for self.world in self.worlds * 2:
            self.must("sync")
        for talk in self.talks:
            self.world = talk.world
            if talk.exists():
                if not talk.pid:
                    self.open(talk, "resume")
                self.turn(talk, "answered")
                self.close(talk, "end")
            self.pass_seconds(3600)
        for number, agent in enumerate(("codex", "claude", "opencode", "claude")):
            for self.world in self.worlds:
                self.begin(f"{number:08x}-last{self.worlds.index(self.world)}", agent)
                self.turn(self.talks[-1], "answered")
                self.close(self.talks[-1], "end")
                self.now += DAY
        self.recall()
        for self.world in self.worlds * 2:
            self.must("sync")
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
        waiting = {t: each for world in self.worlds for each in world.waiting() for t in TOKEN.findall(each.text)}
        for token in sorted(self.notes - self.told.keys() - self.summed):
            if token not in waiting:
                self.wrong.append(f"{token} is lost")
            elif waiting[token].count("attempts") < 3:
                self.wrong.append(f"{token} is held back: {waiting[token].raw!r}")
        inbox = "\n".join(e.raw for world in self.worlds for kind in ("updates", "items") for e in world.waiting(kind))
        tops = [[world.config + "/memory", world.native, world.shop + "/.claude"] for world in self.worlds]
        held = inbox + "".join(self._text(top) for top in [*tops[0], *tops[1]])
        ever = held + "".join(self._text(world.root + "/trash") for world in self.worlds)
        since = self.now - KEPT_DAYS * DAY
        past = [token for token, at in {**self.edits, **self.removed}.items() if at > since]
        for tokens, where in ((self.drafts, held), (self.memories, held), (past, ever)):
            self.wrong += [f"{token} is lost" for token in sorted(tokens) if not re.search(rf"{token}\b", where)]
        one, other = ({**self._files(top[0], "global"), **self._files(top[1], "auto")} for top in tops)
        self.wrong += [f"{name} differs between the machines" for name in sorted(set(one.items()) ^ set(other.items()))]
        for self.world in self.worlds:
            self.judge_files()
        dump = ["git", "-C", self.remote, "cat-file", "--batch", "--batch-all-objects"]
        remote = subprocess.run(dump, capture_output=True, check=True).stdout.decode(errors="replace")
        self.wrong += [f"the remote has {secret}" for secret in self.secrets if secret in remote]

    def judge_files(self) -> None:
        """What a machine has on its disk: receipts, secrets, errors, what `doctor` finds, and the way back."""
        root = self.world.root
        cut = {talk.name for talk in self.talks if talk.is_cut}
        records = list(log_hot.newest_first(root))
        outcomes = receipts_hot.outcomes(records, self.world.env, self.now)
        for record in records:
            outcome, name = outcomes[record["id"]], f"delivery {record['id']}"
            self.done[f"receipt {outcome}"] += 1
            is_false = outcome == receipts_hot.ARRIVED and not self.told.get(name) and name not in self.summed
            is_false |= outcome in receipts_hot.LOST and bool(self.told.get(name)) and record["session_id"] not in cut
            if is_false:
                self.wrong.append(f"{name} of {record['session_id']} {record.get('event')} is called {outcome}")
        text = self._text(root) + self._text(self.world.config + "/memory") + self._text(self.world.shop + "/.claude")
        self.wrong += [f"{secret} is on the disk" for secret in self.secrets if secret in text]
        foreseen = FORESEEN | ({"FileNotFoundError"} if self.done["caches"] else set())
        errors = [error for error in error_log_hot.newest_first(root) if error.get("error") not in foreseen]
        self.wrong += [f"logged: {error}" for error in errors]
        self.wrong += [f"still claimed: {path}" for path in self.world.claimed() if "replaced~" not in path]
        # Files have the time at which they were really written.
        running.asked(lambda: (running.clock(7 * DAY), worker.tidy(root)), self.world.env)
        self.wrong += [f"stray {path}" for path in self.world.strays()]
        self.command("doctor", "--fix")
        self.must("check", "--fix", "--yes", "--scope", "global")  # the line of a memory that an agent removed
        for words in (["doctor", "--json"], ["check", "--json", "--codes", "memories.index"]):
            ended = self.run(lambda words=words: running.command(words), cwd=self.world.shop)
            for row in json.loads(ended.out)["data"]["findings"]:
                if row["level"] not in {"ok", "info"} and row["code"] not in UNASKED:
                    self.wrong.append(f"{words[0]} finds {row}")
        self.must("setup", "hooks", "--agent", "all", "--remove", "--yes")
        if (text := self._files(self.world.config, "")["/settings.json"]) != SETTINGS:
            self.wrong.append(f"the settings are now {text!r}")

    @staticmethod
    def _files(top: str, kind: str) -> "dict[str, str]":
        found = {}
        names = [name for name in os.listdir(top) if os.path.isfile(f"{top}/{name}")] if os.path.isdir(top) else []
        for name in names:
            with open(f"{top}/{name}", errors="replace") as file:
                found[f"{kind}/{name}"] = file.read()
        return found

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
        year.done["seconds"] = int(time.monotonic() - end + seconds)
    finally:
        posix.getppid, process_hot.alive, running._attached = real_getppid, real_alive, real_attached
        processes.start = real_start
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
    print("\n  ".join([", ".join(f"{count} {what}" for what, count in year.done.most_common()), *year.wrong]))
    return 1 if year.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
