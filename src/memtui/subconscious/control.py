"""Whether the subconscious may run, with which model and tools, and the switch by which a person stops it."""

import os
from dataclasses import dataclass, replace

from memtui.core.base import clock, fs
from memtui.core.base.storage import storage_error
from memtui.core.settings import config
from memtui.llm import choice, offered
from memtui.subconscious import places

# The value of `subconscious_model` that stands for the model of the other features.
AS_OTHERS = "auto"


@dataclass(frozen=True)
class Powers:
    """What the subconscious may do in a project: its `mode`, its `tools` as they are set, those that are `allowed` and
    why these are `fewer`, the `model` as it is set, and `why` it can't run, empty if it can."""

    mode: str
    tools: str
    allowed: str
    backend: str
    model: str
    why: str
    hint: str = ""
    fewer: str = ""

    @property
    def missing(self) -> str:
        """Why it can't run and what to do, in a line; empty if it can."""
        return f"{self.why} {self.hint}".strip()

    def in_tree(self, env: dict[str, str], root: str, top: str) -> "Powers":
        """Return what it may do in a session of the work tree `top`."""
        if self.allowed != "read-only" or places.may_read(env, root, top):
            return self
        return replace(self, allowed="off", fewer="a directory with your home in it is not read")


def powers(env: dict[str, str], root: str, project_root: str | None) -> Powers:
    """Return what the settings say for a project."""
    settings = config.load(root)
    chosen = choose(env, settings)
    mode = str(config.value(settings, project_root, "subconscious"))
    wanted = str(config.value(settings, None, "subconscious_tools"))
    less = wanted == "full" and chosen.backend != "claude"
    why, hint = "", ""
    if mode == "off":
        why, hint = "It is switched off.", "memtui config set subconscious whisper"
        if stopped(root):
            hint += " && memtui model start"
    elif stopped(root):
        why, hint = "You have stopped it.", "memtui model start"
    elif config.value(settings, project_root, "mode") == "off":
        why, hint = "memtui is off in this project.", "memtui config set mode full"
    elif not chosen.backend:
        why, hint = chosen.why, chosen.hint
    model = chosen.model if chosen.chosen else offered.known(env, root, chosen)
    allowed, fewer = ("read-only", "all tools need llm_backend claude") if less else (wanted, "")
    found = Powers(mode, wanted, allowed, chosen.backend, model, why, hint, fewer)
    return found.in_tree(env, root, project_root) if project_root else found


def choose(env: dict[str, str], settings: dict[str, object]) -> choice.ModelChoice:
    """Choose backend and model as the settings say; `subconscious_model` comes before `llm_model`."""
    chosen = choice.choose(env, settings)
    model = str(config.value(settings, None, "subconscious_model"))
    return chosen if model == AS_OTHERS else chosen._replace(model=model, chosen=True)


def choosing(env: dict[str, str], root: str) -> list[str]:
    """Return what the choice of a model depends on, as the banner of a session compares it."""
    settings = config.load(root)
    return places.choosing(env, [config.value(settings, None, key) for key in places.CHOOSING])


def _switch(root: str) -> str:
    return places.home(root) + "/stopped"


def stopped(root: str) -> bool:
    """Tell whether a person has stopped it."""
    return stopped_at(root) is not None


def stopped_at(root: str) -> float | None:
    """Return when a person stopped it, in seconds since the epoch; None if it may run."""
    try:
        return os.lstat(_switch(root)).st_mtime
    except OSError:
        return None


def stop(root: str) -> bool:
    """Stop it, also what it is doing now; False if it was stopped already. Raises MemtuiError."""
    if stopped(root):
        return False
    try:
        fs.makedirs(places.home(root))
        fs.write_atomic(_switch(root), clock.iso_seconds(clock.now()).encode() + b"\n")
    except OSError as error:
        raise storage_error(error, _switch(root)) from error
    return True


def start(root: str) -> bool:
    """Let it run again; False if it was not stopped. Raises MemtuiError."""
    if not stopped(root):
        return False
    try:
        os.unlink(_switch(root))
    except OSError as error:
        raise storage_error(error, _switch(root)) from error
    return True
