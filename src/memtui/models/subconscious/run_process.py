"""One run of the subconscious, a process of its own that a worker starts after a turn: read what is new in a session,
ask, and act on the answer. A session has one run at a time; one more waits for it, and reads what came meanwhile."""

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot, session_state_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot, process_hot
from memtui.client.agents import agents_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation, cleaned, note_position, position
from memtui.deliver import error_log_hot
from memtui.deliver.record import find_note
from memtui.models import selection
from memtui.models.call import ModelError, OwnTools
from memtui.models.model import LanguageModel
from memtui.models.prompts import PROMPTS
from memtui.models.subconscious import agent, block_files_hot, blocks, control, runs, transcript_view
from memtui.models.subconscious.agent import Wishes
from memtui.models.subconscious.runs import Run
from memtui.models.subconscious.trace import Trace
from memtui.recall import places_hot
from memtui.redact.redact import redacted
from memtui.settings import config_hot

LEAST = 200  # characters that must be new before a model is asked, unless the person said something or addressed it
# What follows after a question was answered in mid-turn is read with the next turn if it has fewer characters than a
# request has besides: three of four turns. As the session ends, it is read where the agent itself said this MUCH.
LITTLE, MUCH = 8000, 2000
LOOKED_UP, MORE_SECONDS = 4000, 120  # characters by which memories are looked up; seconds beside those of the calls
# Mentions that wait, at most; runs of the session whose remarks are told again, and whose whispers are not repeated.
WAITING, EARLIER = 20, 100
ENDED = "It was ended, or took longer than a run may."
IN_VAIN = 3  # how often the same words are sent in vain
# For so long a prompt is waited for in the transcript, looked for so often; one typed in mid-turn stands there later.
PROMPT_SECONDS, POLL_SECONDS = 60.0, 0.5
FIRST_BYTES = 1 << 20  # a transcript is read for the first time from so many bytes before its end


def _pending(value: object) -> tuple[Run, list[tuple[str, str, str]]] | None:
    """Read an answer of a state: its run, and the edits of blocks that it asks for; None if it is none."""
    row = value.get("run") if isinstance(value, dict) else None
    run = runs.read({**row, "v": runs.VERSION}) if isinstance(row, dict) else None
    if run is None or not isinstance(value, dict):
        return None
    edits = value.get("edits")
    rows = [edit for edit in edits if isinstance(edit, list) and len(edit) == 3] if isinstance(edits, list) else []
    return run, [(str(name), str(old), str(new)) for name, old, new in rows]


class Along:
    """A session to read. `payload`: as a hook gets it."""

    def __init__(self, env: dict[str, str], payload: Mapping[str, object]) -> None:
        self.env, self.now = env, clock_hot.now
        self.root = paths_hot.root(env)
        self.id = transcript_hot.text_of(payload.get("session_id"))
        self.transcript = transcript_hot.text_of(payload.get("transcript_path"))
        self.cwd = paths_hot.started_in(env, transcript_hot.text_of(payload.get("cwd")))
        self.project_root = paths_hot.project_root(self.cwd)
        self.top = locate_hot.worktree_top(self.cwd)
        self.slug = paths_hot.project_key(self.project_root)
        self.event = transcript_hot.text_of(payload.get("hook_event_name"))
        self.blocks = blocks.Blocks(self.root, self.slug, self.now)
        self._looked, self._off = time.monotonic(), False

    @property
    def is_at_prompt(self) -> bool:
        """Whether it only answers what the prompt asks, which the client writes to the transcript later."""
        return self.event == "UserPromptSubmit"

    def run(self) -> Run | None:
        """Read what is new, ask and act; None if it may not run, or nothing is new. Raises MemtuiError, OSError."""
        # A first prompt has no transcript yet.
        if not self.id or not self.transcript.startswith("/") or not agents_hot.exists(self.transcript):
            return None
        powers = control.powers(self.env, self.root, self.project_root).in_tree(self.env, self.root, self.top)
        if powers.why:
            return None
        name = f"{self.root}/run/subconscious-{session_state_hot.safe(self.id)}"
        try:
            with fs_hot.Lock(name + ".next.lock", 0.0):
                lock = fs_hot.Lock(name + ".lock", 3.0 * config_hot.number(config_hot.load(self.root), "llm_timeout"))
                lock.__enter__()
        except fs_hot.LockTimeoutError:
            return None  # another one waits, and will read this too
        try:
            return self._run(powers)
        finally:
            lock.__exit__()

    def _run(self, powers: control.Powers) -> Run | None:
        state = control.load(self.root, self.id)
        if "answer" in state:  # a killed process did not come to it
            answer = _pending(state.pop("answer"))
            if answer is not None:
                self._act(*answer, again=True)
            control.save(self.root, self.id, state)
        turn, conversation, end = self._listen(state)
        if self.is_at_prompt and not turn.mentions:
            return None  # the turn's end reads it
        mentions = _waiting(state, turn, self.now())
        answer_chars = sum(len(text) for text in turn.said(transcript_view.AGENT))
        waits = answer_chars < MUCH if self.event == "SessionEnd" else turn.size < LITTLE
        is_little = answer_chars < LEAST or ("answered" in state and waits)
        if is_little and not (turn.mentions or turn.said(transcript_view.PERSON)):
            return None
        run = Run(
            ids_hot.new_id(self.now()), self.now(), self.id, self.slug, self.cwd, self.event,
            powers.backend, powers.model, powers.mode, powers.allowed, heard=len(turn.lines) + turn.left_out,
            limit=seconds(self.root), process=tuple(map(str, process_hot.own())),
        )  # fmt: skip
        runs.append(self.root, run)
        begun, wishes, failed, model = time.monotonic(), Wishes(), None, None
        workplace = self.top if powers.allowed == control.FULL else ""
        directories = (path for _, path in locate_hot.delivered_dirs(self.env, self.cwd))
        trace = Trace(self.root, run, workplace, (*directories, locate_hot.auto_dir(self.env, self.cwd)))
        own_tools = OwnTools(trace.hear, workplace) if powers.allowed in {control.FULL, control.WEB} else None
        try:
            # It ends its call as soon as the person stops the subconscious.
            model = LanguageModel(
                self.env, self.root, self.cwd, choice=control.choose(self.env, config_hot.load(self.root)),
                own_tools=own_tools, cancelled=self._switched_off,
            )  # fmt: skip
            try:
                agent.ask(model, self._situation(powers, turn, mentions), wishes, trace)
            finally:
                trace.close()
            if why := control.powers(self.env, self.root, self.project_root).why:
                raise ModelError("cancelled", f"{why} What was answered is dropped.")
        except MemtuiError as error:
            failed = error
        except BaseException as crash:
            why = ENDED if isinstance(crash, KeyboardInterrupt) else f"It failed: {agent.line(repr(crash))[:300]}"
            runs.append(self.root, replace(trace.run, outcome=runs.FAILED, why=why))
            raise
        run = replace(trace.run, looks=tuple(wishes.looks), refused=tuple(wishes.refused))
        run = replace(run, seconds=round(time.monotonic() - begun, 3))
        if model is not None:
            spent = model.spent
            run = replace(run, model=model.name, calls=model.calls, tokens=spent.tokens, cost=spent.cost)
        after = {"path": self.transcript, **note_position(self.transcript, end), "project": self.slug}
        after |= {"conversation": conversation.to_state(), "mentions": mentions}
        if failed is not None:
            return self._failed(run, failed, state, after)
        run = replace(run, outcome=runs.DONE, note=wishes.note, whispers=tuple(wishes.whispers))
        after["mentions"] = [mention for mention in mentions if mention["id"] not in wishes.replied]
        if self.is_at_prompt and not after["mentions"]:
            after["answered"] = True
        answer = cleaned({"run": run.data(), "edits": wishes.edits}, redacted)
        control.save(self.root, self.id, {**after, "answer": answer})
        self._act(*(_pending(answer) or (run, [])))
        control.save(self.root, self.id, after)
        return next((job for job in runs.newest_first(self.root, 5) if job.id == run.id), run)

    def _listen(self, state: dict[str, Any]) -> tuple[transcript_view.Heard, Conversation, int]:
        """Return what is new in the session since the state, its conversation, and the offset at which it ends."""
        begin, in_midst = position(state, self.transcript), False
        if not begin:
            begin = transcript_hot.tail_start(self.transcript, FIRST_BYTES)
            in_midst = begin > 0
        earlier = state.get("conversation") if begin and not in_midst else None
        conversation = Conversation(earlier if isinstance(earlier, dict) else None, redacted)
        reader = transcript_hot.Reader(self.transcript, begin)
        turn = transcript_view.listen(reader, conversation)
        turn.in_midst = in_midst
        return turn, conversation, reader.offset

    def _failed(self, run: Run, error: MemtuiError, state: Mapping[str, Any], after: Mapping[str, Any]) -> Run:
        """Note a run without an answer. The same words are sent again, unless they were in vain too often."""
        outcome = error.outcome if isinstance(error, ModelError) else runs.FAILED
        why = f"{error.message} {error.hint}".strip()
        if isinstance(error, ModelError) and error.futile:
            times = 1 + fastjson_hot.number(dict(state), "in_vain")  # since something was read last
            if times < IN_VAIN:
                control.save(self.root, self.id, {**state, "in_vain": times})
            else:
                control.save(self.root, self.id, after)
                why = f"{why} It was sent {times} times, and is skipped now."
        ended = replace(run, outcome=outcome, why=why)
        runs.append(self.root, ended)
        return ended

    def _switched_off(self) -> bool:
        """Tell whether the person stopped it meanwhile, or switched it off: settings are read once a second."""
        if control.stopped(self.root) is not None:
            return True
        if time.monotonic() >= self._looked + 1.0:
            self._looked = time.monotonic()
            self._off = bool(control.powers(self.env, self.root, self.project_root).why)
        return self._off

    def _situation(
        self, powers: control.Powers, turn: transcript_view.Heard, mentions: list[dict[str, Any]]
    ) -> agent.Situation:
        words = " ".join(turn.said(transcript_view.PERSON) or turn.said(transcript_view.AGENT))[-LOOKED_UP:]
        return agent.Situation(
            self.blocks.told(block_files_hot.DIRECTIVES),
            {name: self.blocks.told(name) for name in block_files_hot.BLOCKS},
            [run for run in runs.newest_first(self.root, EARLIER, self.id) if run.outcome == runs.DONE],
            turn,
            [(mention["id"], mention["who"], mention["words"]) for mention in mentions],
            selection.catalogue(self.root, places_hot.of_session(self.env, self.cwd), words, self.now()),
            undone=self.blocks.undone(agent.UNDONE),
            top=self.top if powers.allowed in {control.READ_ONLY, control.WEB} else "",
            own_tools={control.FULL: PROMPTS["all tools"], control.WEB: PROMPTS["web"]}.get(powers.allowed, ""),
        )

    def _act(self, run: Run, edits: Sequence[tuple[str, str, str]], *, again: bool = False) -> None:
        """Do what an answer asks for, but not what was done before (`again`), and log the run. Raises OSError."""
        changes, refused = [], list(run.refused)
        for name, old, new in edits:
            try:
                is_changed = self.blocks.edit(name, old, new, run=run.id, session=self.id)
                # A process that was killed then may have made it.
                if is_changed or (again and name in {block for block, _, _ in blocks.changes_of(self.root, run.id)}):
                    changes.append(agent.change(name, old, new))
                else:
                    refused.append(f"a change of {name}: it says that already")
            except blocks.RefusedEditError as error:
                refused.append(f"a change of {name}: {error.message}")
        for block in run.whispers:
            was_sent = again and (runs.waits(self.root, run, block) or find_note(self.root, block.id) is not None)
            if not was_sent:
                runs.send(self.root, run, block)
        runs.append(self.root, replace(run, changes=tuple(changes), refused=tuple(map(redacted, refused))))


def _waiting(state: Mapping[str, Any], turn: transcript_view.Heard, now: float) -> list[dict[str, Any]]:
    """Return the mentions that wait for a reply, with those just heard, each with how often it was told of."""
    waiting = [{**row, "told": row["told"] + 1} for row in control.waiting_in(state, now)]
    number = max((int(row["id"][1:]) for row in waiting if row["id"][1:].isdigit()), default=0)
    for at, mention in enumerate(turn.mentions, number + 1):
        facts = {"id": f"m{at}", "who": mention.who, "words": mention.words, "time": clock_hot.iso(now), "told": 1}
        waiting.append(facts)
    return waiting[-WAITING:]


def seconds(root: str) -> int:
    """Return the seconds that a run may take, at most."""
    return (agent.STEPS + 2) * config_hot.number(config_hot.load(root), "llm_timeout") + MORE_SECONDS


def main() -> None:
    """Run for the hook's payload on standard input; the client that it started ends with it. Never raises."""
    env = dict(os.environ)
    root = paths_hot.root(env)
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        signal.alarm(seconds(root))
        along, until = Along(env, fastjson_hot.loads_dict(sys.stdin.buffer.read())), time.monotonic() + PROMPT_SECONDS
        while along.run() is None and along.is_at_prompt and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        error_log_hot.add(root, "subconscious", TimeoutError(ENDED))
    except Exception as error:
        error_log_hot.add(root, "subconscious", error)


if __name__ == "__main__":
    main()
