"""Which model is asked, by the settings and by what is there; what keeps models from being asked; and what a call must
not believe: the address, the key and the way that a project's settings chose. Imports neither backend."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from memtui.base import findings, paths
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, good, note
from memtui.base.phrasing import ago
from memtui.client import settings_files
from memtui.models import log
from memtui.models.call import BUDGET, CANCELLED
from memtui.settings import config

OFF = "llm.off"
NOTHING = "llm.nothing"
NO_MODEL = "No model may be asked: llm_backend is off."
SWITCH_ON = "Choose one: memtui config set llm_backend auto"
# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


class ModelChoice(NamedTuple):
    """The backend that is asked (api, claude), empty if none can be, with the `reason`, a code of findings; the model;
    and the limits: tokens and dollars of a day (0: none), seconds of a call."""

    backend: str
    reason: str
    model: str
    daily_tokens: int
    daily_dollars: float
    seconds: float

    @property
    def off(self) -> bool:
        """Whether the settings say that no model may be asked."""
        return self.reason == OFF

    @property
    def why(self) -> str:
        """Why no model can be asked, in a sentence."""
        return NO_MODEL if self.off else findings.message(self.finding())

    @property
    def hint(self) -> str:
        """What to do about it."""
        return SWITCH_ON if self.off else findings.remedy(self.finding())

    def finding(self) -> Finding:
        """Return why no model can be asked, as a finding."""
        return (good if self.reason == OFF else note)(self.reason)


def choose(env: dict[str, str], settings: dict[str, object]) -> ModelChoice:
    """Choose as the settings say: `auto` takes the API if there is a key for it, else the client."""
    wanted = str(config.value(settings, None, "llm_backend"))
    key = bool(env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN"))
    backend, reason = "", OFF
    if wanted in {"api", "auto"}:
        reason = "llm.no_key" if not key else "" if find_spec("anthropic") is not None else "llm.no_package"
        backend = "" if reason else "api"
    if wanted == "claude" or (wanted == "auto" and not backend):
        program = shutil.which("claude", path=env.get("PATH", os.defpath))
        backend, reason = ("claude", "") if program else ("", "llm.no_client" if wanted == "claude" else NOTHING)
    return ModelChoice(
        backend,
        reason,
        str(config.value(settings, None, "llm_model")),
        config.number(settings, "llm_daily_tokens"),
        config.fraction(settings, "llm_daily_dollars"),
        config.fraction(settings, "llm_timeout"),
    )


def must_be_own(env: dict[str, str], cwd: str) -> None:
    """Raise MemtuiError if the project of `cwd` sets a variable of `env` that says which model is asked, or its key."""
    places = (cwd, paths.project_root(cwd), env.get("CLAUDE_PROJECT_DIR", ""))
    for directory in dict.fromkeys(filter(None, places)):
        for path, name in settings_files.variables(env, directory):
            if name in env and (name in MODELS or name.startswith("ANTHROPIC_")):
                raise MemtuiError(
                    f"{path} sets {name}, so no model is asked here: your memories could go where a repository says.",
                    f"Take {name} out of that file. Your own ~/.claude/settings.json may set it; or ask from a "
                    "directory outside of this project.",
                )


def check(env: dict[str, str], root: str, now: float) -> Iterator[Finding]:
    """Find what keeps models from being asked, what they used today, and what became of the last call."""
    choice = choose(env, config.load(root))
    if not choice.backend:
        yield choice.finding()
        return
    today, last = log.today(root, now), next(log.newest_first(root), None)
    unmade = sum(call.outcome == BUDGET for call in today)
    usage = log.sum_of(today)
    tokens, cost = f"{usage.tokens:,}", f"{usage.cost or 0.0:.2f}"
    calls = len(today) - unmade
    yield good("llm.ok", backend=choice.backend, model=choice.model, calls=calls, tokens=tokens, cost=cost)
    if unmade:
        yield note("llm.budget", count=unmade)
    elif last is not None and last.outcome not in {log.ANSWERED, log.BEGUN, CANCELLED}:
        yield note("llm.last_failed", outcome=last.outcome, when=ago(last.time, now))
