"""What goes on beneath an open memtui: sessions whose hooks run, and files that others make, edit, break and remove.

Every act takes a `Random` of its own, so that what is done first does not change what is drawn later.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from memtui.base import clock_hot, paths_hot
from tables import rows

from .worlds import DemoWorld

PROMPTS, CONFIGS, HOOKS = (rows(__file__, name) for name in ("PROMPTS", "CONFIGS", "HOOKS"))
TEXTS = (*rows(__file__, "TEXTS"), "word " * 400, "x" * 5000, "line\n" * 300)
AT_ONCE = 2
ACTS = (
    *("create", "edit", "remove", "rename", "replace", "note", "append"),
    *("config", "vanish", "return", "settings", "log"),
)


class Meddler:
    """Changes a world beneath memtui. `complaints` are what its hooks did that no hook may do."""

    def __init__(self, world: DemoWorld) -> None:
        self.world = world
        self.complaints: list[str] = []
        self._copy = world.base / "copy"
        shutil.copytree(world.base / "world", self._copy, symlinks=True)
        self._slug = paths_hot.slug(str(world.project))
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._prompts = 0

    def act(self, name: str, seed: int) -> None:
        """Do one of `ACTS`. What somebody else removed meanwhile is no error."""
        with suppress(OSError):
            getattr(self, f"_{name}")(Random(seed))

    # sessions

    def hook(self, event: str, seed: int) -> None:
        """Start the installed hook as the client does; it may still run when this returns."""
        rng = Random(seed)
        while len(self._running) >= AT_ONCE:
            self.look()
            time.sleep(0.002)
        session = f"{rng.randrange(3):08d}-0000-4000-8000-{rng.randrange(2):012d}"
        transcript = self.world.config / "projects" / self._slug / f"{session}.jsonl"
        payload = {
            "session_id": session,
            "transcript_path": str(transcript),
            "cwd": str(self.world.project),
            "hook_event_name": event,
            **HOOKS[event],
        }
        memory = self._some(rng)
        if event == "UserPromptSubmit":
            payload["prompt"] = rng.choice(PROMPTS)
            self._transcribe(transcript, str(payload["prompt"]))
        elif event == "PostToolUse" and memory:
            payload["tool_input"] = {"file_path": str(memory)}
        environment = self.world.environment({"CLAUDE_PROJECT_DIR": str(self.world.project), "CLAUDECODE": "1"})
        with tempfile.TemporaryFile(dir=self.world.base) as given:
            given.write(json.dumps(payload).encode())
            given.seek(0)
            process = subprocess.Popen(
                ["/bin/sh", "-c", self.world.hooks[event]],
                cwd=self.world.base,
                env=environment,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        self._running.append((event, process))

    def look(self) -> None:
        """Judge the hooks that have ended."""
        for each in list(self._running):
            if each[1].poll() is not None:
                self._running.remove(each)
                self._ended(*each)

    def end(self) -> None:
        """Wait for the hooks that run."""
        while self._running:
            self._running[0][1].wait(60)
            self.look()

    def _ended(self, event: str, process: "subprocess.Popen[bytes]") -> None:
        out, err = process.communicate()
        if process.returncode or err:
            self.complaints.append(f"hook {event} ended with {process.returncode}: {err.decode(errors='replace')}")
            return
        try:
            json.loads(out or b"{}")
        except ValueError:
            self.complaints.append(f"hook {event} printed no JSON: {out[:300]!r}")

    def _transcribe(self, transcript: Path, prompt: str) -> None:
        self._prompts += 1
        record = {
            "type": "user",
            "sessionId": transcript.stem,
            "cwd": str(self.world.project),
            "uuid": f"00000000-0000-4000-8000-{self._prompts:012d}",
            "timestamp": clock_hot.iso(clock_hot.now()),
            "message": {"role": "user", "content": prompt},
        }
        with suppress(OSError):
            transcript.parent.mkdir(parents=True, exist_ok=True)
            with transcript.open("a") as file:
                file.write(json.dumps(record) + "\n")

    # files

    def _stores(self) -> list[Path]:
        return [
            self.world.project / ".claude" / "memory",
            self.world.config / "memory",
            self.world.config / "projects" / self._slug / "memory",
            self.world.config / "agent-memory" / "reviewer",
        ]

    def _inboxes(self) -> list[Path]:
        return [
            self.world.root / "projects" / paths_hot.project_key(str(self.world.project)),
            self.world.root / "global",
        ]

    def _some(self, rng: Random) -> Path | None:
        at, store = rng.random(), rng.choice(self._stores())
        found = sorted(store.glob("*.md"))
        return found[int(at * len(found))] if found else None

    def _memory(self, rng: Random) -> bytes:
        name, about = rng.choice(("a-name", "日本", "x" * 200, "", "[bold]")), rng.choice(TEXTS)
        head = rng.choice(
            (
                "---\nname: {}\ndescription: {}\ntype: feedback\n---\n",
                "---\nname: {} {}\n",
                "{}{}",
                "---\n- {}\n- {}\n---\n",
            )
        )
        text = (head.format(name, about[:100].replace("\n", " ")) + rng.choice(TEXTS)).encode()
        return text + rng.choice((b"", b"", b"", b"\xff\xfe\x80 not UTF-8", b"\x00" * 50))

    def _create(self, rng: Random) -> None:
        store, name = (
            rng.choice(self._stores()),
            rng.choice(("new-{}", "日本{}", "🙂 {}", "[red]{}", "-x{}", "a\nb{}", "{}\x1b[31m")),
        )
        store.mkdir(parents=True, exist_ok=True)
        self._write(store / (name.format(rng.randrange(30)) + ".md"), rng)

    def _edit(self, rng: Random) -> None:
        memory = self._some(rng)
        if memory:
            self._write(memory, rng)

    def _write(self, path: Path, rng: Random) -> None:
        if path.is_fifo():  # nobody reads it, so that a write would never end
            path.unlink()
        path.write_bytes(self._memory(rng))

    def _remove(self, rng: Random) -> None:
        for _ in range(rng.choice((1, 1, 5))):
            memory = self._some(rng)
            if memory:
                memory.unlink()

    def _rename(self, rng: Random) -> None:
        memory = self._some(rng)
        if memory:
            memory.rename(memory.with_name(f"renamed-{rng.randrange(20)}.md"))

    def _replace(self, rng: Random) -> None:
        """A memory is something else than a file now: a directory, a link to nowhere, a link in a circle, a pipe."""
        memory, kind = self._some(rng), rng.randrange(4)
        if not memory:
            return
        memory.unlink()
        if kind == 0:
            memory.mkdir()
        elif kind == 3:
            os.mkfifo(memory)
        else:
            memory.symlink_to("/nonexistent" if kind == 1 else memory.name)

    def _note(self, rng: Random) -> None:
        place = rng.choice(self._inboxes())
        place.mkdir(parents=True, exist_ok=True)
        with (place / "guidance.md").open("a") as file:
            file.write(rng.choice(TEXTS) + "\n")

    def _append(self, rng: Random) -> None:
        place, name = rng.choice(self._inboxes()), rng.choice(("pending-updates.md", "pending-items.md"))
        number, text = rng.randrange(1 << 40), rng.choice(TEXTS)
        fields = f"id=01K8ZC5N8W3M1T9{number:011d} time=2026-11-21T09:00:00Z kind=correction confidence=0.9"
        place.mkdir(parents=True, exist_ok=True)
        with (place / name).open("a") as file:
            file.write(f"<!-- memtui {fields} -->\n{text}\n<!-- /memtui -->\n" if rng.random() < 0.7 else text + "\n")

    def _config(self, rng: Random) -> None:
        self.world.root.mkdir(parents=True, exist_ok=True)
        (self.world.root / "config.toml").write_bytes(rng.choice(CONFIGS).encode("latin-1"))

    def _vanish(self, rng: Random) -> None:
        """A directory is gone."""
        own = [
            self.world.root / name
            for name in ("run", "drafts", "log", "sessions", "trash", "backups", "global", "projects")
        ]
        places = [*self._stores(), *own, *self._inboxes(), self.world.root, self.world.project, self.world.config]
        shutil.rmtree(rng.choices(places, [6] * (len(places) - 3) + [2, 2, 1])[0], ignore_errors=True)

    def _return(self, rng: Random) -> None:
        """What was there in the beginning is there again."""
        shutil.copytree(self._copy, self.world.base / "world", symlinks=True, dirs_exist_ok=True)

    def _settings(self, rng: Random) -> None:
        path = self.world.config / "settings.json"
        text = rng.choice(
            ("{", "{}", "[]", '{"hooks": 3}', '{"disableAllHooks": true}', '{"autoMemoryEnabled": false}', "")
        )
        path.write_text(text) if rng.random() < 0.5 else path.unlink()

    def _log(self, rng: Random) -> None:
        """A torn line, one that is no record, or a log that was cut."""
        log = self.world.root / "log" / (f"deliveries-{clock_hot.iso(clock_hot.now())[:7]}.jsonl")
        kind = rng.randrange(4)
        if kind == 0:
            os.truncate(log, log.stat().st_size // 2)
        else:
            with log.open("ab") as file:
                file.write(
                    (b'{"v": 1, "id": "01K8', b'\n{"v": 1, "items": 3, "text": [], "id": 7}\n', b"\xff\x00\n")[kind - 1]
                )
