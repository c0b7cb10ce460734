"""Gemini CLI in a world of its own: without a terminal, and in one for sessions of several prompts."""

import json
import re
import time

from e2e.screen import MemtuiTerminal
from waiting import eventually

from .world import AgentWorld

IDLE, BUSY = r"Type your message|Type your shell", "esc to cancel"
KEY_SECONDS = 0.1  # keys that come in one burst count as a paste, Enter included


class GeminiWorld(AgentWorld):
    """A home with a `.gemini`, and a project that it trusts."""

    name = "gemini"

    @property
    def gemini(self):
        return self.home / ".gemini"

    @property
    def settings_file(self):
        return self.gemini / "settings.json"

    def configure(self):
        self.gemini.mkdir()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"name": "gemini-2.5-flash"},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        self.settings_file.write_text(json.dumps(settings))
        (self.gemini / "trustedFolders.json").write_text(json.dumps({str(self.project): "TRUST_FOLDER"}))

    def variables(self):
        return {"GEMINI_API_KEY": "loopback", "GOOGLE_GEMINI_BASE_URL": self.model.url, "GEMINI_CLI_NO_RELAUNCH": "1"}

    def command(self, prompt, resume):
        return [*(["--resume", resume] if resume else []), "--approval-mode", "yolo", "-p", prompt]

    def files(self):
        """The session files that have words, last written last."""
        files = [
            path for path in self.gemini.glob("tmp/*/chats/session-*.jsonl") if b'"type":"gemini"' in path.read_bytes()
        ]
        return sorted(files, key=lambda path: path.stat().st_mtime)

    def starts(self):
        """The session files, with those that have no words."""
        return list(self.gemini.glob("tmp/*/chats/session-*.jsonl"))

    def session_of(self, run):
        return json.loads(self.files()[-1].read_text().splitlines()[0])["sessionId"] if self.files() else run.session_id

    def session(self, resume=""):
        return GeminiSession(self, *(["--resume", resume] if resume else []), "--approval-mode", "yolo")


class GeminiSession(MemtuiTerminal):
    """A session in a terminal."""

    def __init__(self, world, *args):
        super().__init__(world, *args, size=(120, 40), program=(str(world.binary),))
        self.world = world
        self.see(IDLE)

    @property
    def id(self):
        return json.loads(self.world.files()[-1].read_text().splitlines()[0])["sessionId"]

    def begin(self, text):
        """Type a line and press Enter."""
        self.see(IDLE)
        self.press(text)
        self.see(re.escape(text[-20:]))
        time.sleep(KEY_SECONDS)
        self.press("\r")

    def say(self, text):
        """Say something, and return the requests of the turn once it has ended."""
        before = len(self.world.model.main)
        self.begin(text)
        assert eventually(lambda: len(self.world.model.main) > before)
        self.see(IDLE, gone=BUSY)
        return self.world.model.main[before:]

    def command(self, line, pattern):
        """Give a command, and wait for what it shows."""
        self.begin(line)
        self.see(pattern, gone=BUSY)

    def compact(self):
        self.command("/compress", "compressed from")

    def clear(self):
        before = len(self.world.starts())
        self.begin("/clear")
        assert eventually(lambda: len(self.world.starts()) > before)

    def rewind(self, text):
        """Take a message back, and what came after it."""
        self.begin("/rewind")
        self.see("Stay at current position|> Rewind")
        for _ in range(9):
            if re.search("Rewind conversation", self.text):
                break
            self.press("\x1b[A")
            time.sleep(3 * KEY_SECONDS)
            if re.search(rf"● *{text}", self.text):
                self.press("\r")
                self.see("Rewind conversation")
        self.press("\r")
        self.see(IDLE + rf"|\* {text}", gone="Rewind")
        self.press("\x15")
        self.see(IDLE)

    def stop(self):
        """Press Escape in a turn."""
        self.press("\x1b")
        self.see("Request cancelled", gone=BUSY)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *error):
        if self.running:
            self.begin("/quit")
            eventually(lambda: not self.running, 10)
        super().__exit__(*error)
