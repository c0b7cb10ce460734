"""Gemini CLI in a world of its own: without a terminal, and in one for sessions of several prompts."""

import json
import re
import time

from e2e.model import call, say, use
from waiting import eventually

from .generate_content import GenerateContent
from .world import KEY_SECONDS, AgentWorld, TerminalSession

IDLE, BUSY = r"Type your message|Type your shell", "esc to cancel"
LONG = " ".join(map(str, range(3000)))


class GeminiWorld(AgentWorld):
    """A home with a `.gemini`, and a project that it trusts."""

    name = "gemini"
    protocol = GenerateContent
    prompt_event = "BeforeAgent"
    timeout = 1500
    can_fork = False

    def configure(self):
        self.gemini = self.home / ".gemini"
        self.gemini.mkdir()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"name": "gemini-2.5-flash"},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        self.hooks_file.write_text(json.dumps(settings))
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

    def shell(self, command):
        return use("run_shell_command", command=command)

    def write(self, path, text):
        return use("write_file", file_path=str(path), content=text)

    def task(self, prompt):
        return use("invoke_agent", agent_name="generalist", prompt=prompt)

    def report(self, request, words):
        is_over = "complete_task" in str(request.body["tools"])
        return call(use("complete_task", response=words)) if is_over else say(words)


class GeminiSession(TerminalSession):
    """A session in a terminal."""

    idle, busy = IDLE, BUSY

    @property
    def id(self):
        return json.loads(self.world.files()[-1].read_text().splitlines()[0])["sessionId"]

    def compact(self):
        for text in ("a long one", "and one more"):
            self.world.model.will(LONG)
            self.say(text)
        self.command("/compress", "compressed from")

    def clear(self):
        before = len(self.world.starts())
        self.begin("/clear")
        assert eventually(lambda: len(self.world.starts()) > before)

    def shell(self, line):
        """Run a command of the shell, as a prompt that begins with an exclamation mark does."""
        self.see(IDLE)
        self.press("!")
        self.see("Type your shell")
        self.begin(line)
        self.see(f"Shell Command.*{re.escape(line[:20])}", gone=BUSY)
        self.press("\x1b")
        self.see("Type your message")

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

    def __exit__(self, *error):
        if self.running:
            self.begin("/quit")
            eventually(lambda: not self.running, 10)
        super().__exit__(*error)
