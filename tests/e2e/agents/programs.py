"""The programs of the other agents, the newest that npm has, each in `.cache/agents/<name>/<version>`."""

import contextlib
import fcntl
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.client import REPO, newest_on_npm, npm

CACHE = REPO / ".cache" / "agents"
PACKAGES = {
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "qwen": "@qwen-code/qwen-code",
    "opencode": "opencode-ai",
    "copilot": "@github/copilot",
}
GET = "PYTHONPATH=tests .venv/bin/python -m e2e.agents.programs gets it"


@functools.cache
def newest_version(name: str) -> str:
    """The newest version that npm has; RuntimeError if it can't be looked up. With MEMTUI_TEST_AGENTS it was, just now."""
    if os.environ.get("MEMTUI_TEST_AGENTS") and cached(name):
        return next(reversed(cached(name)))
    return newest_on_npm(PACKAGES[name])


def cached(name: str) -> dict[str, Path]:
    """An agent's programs in the cache, by version, oldest first."""
    programs = {path.parents[2].name: path for path in (CACHE / name).glob(f"[0-9]*/node_modules/.bin/{name}")}
    return dict(sorted(programs.items(), key=lambda item: [int(part) for part in re.findall(r"\d+", item[0])]))


def ensure_program(name: str, version: str = "") -> Path:
    """An agent's program, the newest or of a version, installed if it is not there. RuntimeError if it can't be had."""
    version = version or newest_version(name)
    (CACHE / name).mkdir(parents=True, exist_ok=True)
    with (CACHE / name / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes run tests, too
        if version not in cached(name):
            package, place = f"{PACKAGES[name]}@{version}", CACHE / name / version
            done = npm("install", "--no-audit", "--no-fund", "--prefix", str(place), package)
            if version not in cached(name):
                raise RuntimeError(f"npm install of {package} gave no program: {done.stderr.strip()[-500:]}")
    return cached(name)[version]


def program_or_skip(name: str, version: str = "") -> Path:
    """An agent's program, the newest or of a version; without it the tests are skipped with the way to get it, but in CI they fail."""
    try:
        if os.environ.get("CI", "").lower() == "true":
            return ensure_program(name, version)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        pytest.fail(f"{name} is needed and could not be had: {error}")
    with contextlib.suppress(StopIteration):
        programs = [path for each, path in cached(name).items() if version in {"", each}]
        return next(reversed(programs))
    pytest.skip(f"needs {name} {version}: {GET}")


if __name__ == "__main__":
    try:
        for agent in sys.argv[1:] or PACKAGES:
            print(agent, ensure_program(agent))
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"A program is needed and could not be had: {error}")
