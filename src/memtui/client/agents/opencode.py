"""OpenCode as a program on this machine. Its hooks are a plugin, a file of memtui's own."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

from memtui.base import fs_hot, paths_hot
from memtui.client.agents import opencode_hot
from memtui.client.agents.program import Env, Program, event_table

SOURCE = __file__.removesuffix(".py") + "_plugin.js"
COMMANDS = "const COMMANDS = {}"
# What OpenCode fetches from npm for its settings; with a plugin, each start waits for it (1.18.33: 70 s offline).
PACKAGE = "@opencode-ai/plugin"
UNFETCHED = (
    f"OpenCode has not fetched its package {PACKAGE} into {{home}} yet. With any plugin each start waits for it, over "
    "a minute without a network, as long as it is not there (`npm_config_offline=true opencode` does not wait)."
)
BROKEN = "OpenCode can't load {path}: {error}. Install the hooks again."
# The program itself runs a script where this is set: a plugin that it could not load would be left out in silence.
AS_RUNTIME = {"BUN_BE_BUN": "1"}
CHECK = "const loaded = await import(process.argv[1]); for (const part of Object.values(loaded)) part.call.name"
CHECK_SECONDS = 10


class OpencodeProgram(Program):
    """OpenCode."""

    name = "opencode"
    title = "OpenCode"
    command = "opencode"
    resumes = "opencode --session {}"
    # The plugin calls them; it waits ten seconds for each.
    events = event_table(without="SessionEnd")  # the plugin says which tools, and for how long it waits

    def home(self, env: Env) -> str:
        return (env.get("XDG_CONFIG_HOME") or paths_hot.home(env) + "/.config") + "/opencode"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/plugins/memtui.js"

    def whole_file(self, command: Callable[[str], str]) -> str | None:
        commands = {event.name: command(event.name) for event in self.events}
        text = fs_hot.read_bytes(SOURCE).decode()
        return text.replace(COMMANDS, f"const COMMANDS = {json.dumps(commands, indent=2)}")

    def notes(self, env: Env) -> list[str]:
        home, path = self.home(env), self.hooks_file(env)
        is_fetched = os.path.isdir(f"{home}/node_modules/{PACKAGE}")
        notes = [] if is_fetched else [UNFETCHED.format(home=home)]
        error = self._load_error(env, path) if os.path.exists(path) else ""
        return notes + ([BROKEN.format(path=path, error=error)] if error else [])

    def _load_error(self, env: Env, path: str) -> str:
        """Return why OpenCode can't load a plugin, in its own words; empty if it can, or is not here."""
        program = shutil.which(self.command, path=env.get("PATH"))
        if not program:
            return ""
        try:
            run = subprocess.run(
                [program, "-e", CHECK, path],
                env={**env, **AS_RUNTIME},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=CHECK_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        lines = [line.strip() for line in run.stderr.splitlines() if "rror" in line]
        return (lines or ["it ends with an error"])[0] if run.returncode else ""

    def sessions(self, env: Env) -> Iterator[str]:
        path = opencode_hot.database(env)
        if os.path.exists(path):
            query = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created"
            yield from (f"{path}#{name}" for (name,) in opencode_hot.Sessions(path).rows(query))


PROGRAM = OpencodeProgram()
