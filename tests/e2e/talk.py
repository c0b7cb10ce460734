"""A client that stays open for several prompts, as a terminal does: stream-json over pipes."""

import json
import subprocess
import uuid


class Talk:
    """A session of the client; `say` waits for the turn's end."""

    def __init__(self, world, *args):
        self.session_id = str(uuid.uuid4())
        form = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        self._process = subprocess.Popen(
            [str(world.binary), "-p", *form, "--session-id", self.session_id, *args],
            cwd=world.project, env=world.environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.stdout.close()

    def say(self, prompt):
        """Send a prompt and return what the turn ended with."""
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            event = json.loads(line)
            if event["type"] == "result":
                return event["result"]
        raise AssertionError("the client ended")
