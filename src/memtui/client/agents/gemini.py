"""Gemini CLI as a program on this machine."""

import os
from collections.abc import Iterator
from typing import Any

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.phrasing_hot import many
from memtui.client.agents.program import Env, Event, Program, event_table

# The tools whose calls can break a rule, or write a memory.
WRITERS = "^(run_shell_command|write_file|replace)$"
NAMES = {
    "UserPromptSubmit": "BeforeAgent",
    "Stop": "AfterAgent",
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
}
# In the program's list of hooks, and what `/hooks disable` takes.
HOOK_NAME = "memtui"
FOLDER, PARENT = "TRUST_FOLDER", "TRUST_PARENT"


class GeminiProgram(Program):
    """Gemini CLI. Its timeouts are in milliseconds. It announces a compaction before every request: no hook."""

    name = "gemini"
    title = "Gemini CLI"
    command = "gemini"
    allows_comments = True
    resumes = "gemini --resume {}"
    events = event_table(1000, without="PreCompact", names=NAMES, PreToolUse=WRITERS)

    def home(self, env: Env) -> str:
        return (env.get("GEMINI_CLI_HOME") or paths_hot.home(env)) + "/.gemini"

    def hooks_file(self, env: Env) -> str:
        return self.home(env) + "/settings.json"

    def group(self, event: Event, command: str) -> dict[str, Any]:
        group = super().group(event, command)
        group["hooks"][0] = {"name": HOOK_NAME, **group["hooks"][0]}
        return group

    def trust(self, env: Env) -> str:
        settings = fastjson_hot.loads_dict(fs_hot.read_or_empty(self.hooks_file(env)))
        folder_trust = fastjson_hot.table(fastjson_hot.table(settings, "security"), "folderTrust")
        if folder_trust.get("enabled") is False or env.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
            return ""
        path = env.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or self.home(env) + "/trustedFolders.json"
        rules = fastjson_hot.loads_dict(fs_hot.read_or_empty(path))
        tops = [(rule, str(word), os.path.dirname(rule) if word == PARENT else rule) for rule, word in rules.items()]
        here = paths_hot.real(env.get("PWD", ""))
        words = [(len(rule), word) for rule, word, top in tops if paths_hot.inside(top, here + "/here")]
        if max(words, default=(0, ""))[1] in (FOLDER, PARENT):  # the longest rule that fits counts
            return ""
        return "start gemini in this folder, and choose Trust folder: before that it runs no hooks there"

    def notes(self, env: Env) -> list[str]:
        settings = fastjson_hot.loads_dict(fs_hot.read_or_empty(self.hooks_file(env)))
        config = fastjson_hot.table(settings, "hooksConfig")
        notes = []
        if config.get("enabled") is False:
            notes.append("hooksConfig.enabled is false in its settings, so it runs no hooks.")
        if HOOK_NAME in fastjson_hot.rows(config, "disabled"):
            notes.append(f"Its hooks of memtui are disabled: /hooks enable {HOOK_NAME}")
        if old := sum(1 for _ in self._chats(env, ".json")):
            notes.append(f"Not read: {many(old, 'session')} that an older Gemini CLI wrote as one JSON document.")
        return notes

    def sessions(self, env: Env) -> Iterator[str]:
        return self._chats(env, ".jsonl")

    def _chats(self, env: Env, suffix: str) -> Iterator[str]:
        top = self.home(env) + "/" + "tmp"
        for project in paths_hot.names_in(top):
            for name in paths_hot.names_in(f"{top}/{project}/chats"):
                if name.startswith("session-") and name.endswith(suffix):
                    yield f"{top}/{project}/chats/{name}"


PROGRAM = GeminiProgram()
