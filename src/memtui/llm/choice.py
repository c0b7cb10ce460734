"""Which model is asked, by the settings and by what is there; what keeps models from being asked; and what a call must
not believe: the address, the key and the way that a project's settings chose. They may have come with a repository, and
what is sent may be of other projects. Imports neither backend."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, good, note
from memtui.core.base.phrasing import ago
from memtui.core.health import findings
from memtui.core.places import settings_files
from memtui.core.settings import config
from memtui.llm import log
from memtui.llm.call import BUDGET, CANCELLED, ModelError
from memtui.llm.call import OFF as IS_OFF

OFF = "llm.off"
NOTHING = "llm.nothing"
NO_MODEL = "No model may be asked: llm_backend is off."
SWITCH_ON = "Choose one: memtui config set llm_backend auto"
# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


class ModelChoice(NamedTuple):
    """The backend that is asked (api, claude), empty if none can be, with the `reason`, a code of findings; the model,
    and the limits: tokens and dollars of a day (0: no limit), seconds of a call. `chosen`: whether a person chose the
    model, and it is not the default."""

    backend: str
    reason: str
    model: str
    daily_tokens: int
    daily_dollars: float
    seconds: float
    chosen: bool = True

    @property
    def off(self) -> bool:
        """Whether the settings say that no model may be asked."""
        return self.reason == OFF

    def must_be(self) -> None:
        """Raise ModelError if no model can be asked."""
        if not self.backend:
            raise ModelError(IS_OFF, self.why, self.hint)

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
        there = shutil.which("claude", path=env.get("PATH", os.defpath))
        backend, reason = ("claude", "") if there else ("", "llm.no_client" if wanted == "claude" else NOTHING)
    dollars = config.value(settings, None, "llm_daily_dollars")
    return ModelChoice(
        backend,
        reason,
        str(config.value(settings, None, "llm_model")),
        config.number(settings, "llm_daily_tokens"),
        float(dollars) if isinstance(dollars, (int, float)) else 0.0,
        float(config.number(settings, "llm_timeout")),
        "llm_model" in settings,
    )


def must_be_own(env: dict[str, str], cwd: str) -> None:
    """Raise MemtuiError if an environment has a variable that says which model is asked, or with which key, and that
    the settings of the project of `cwd` set: a session hands it to whatever it starts."""
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
    """Find what keeps models from being asked, what they used today, and what became of the last call, for doctor and
    Setup. Starts nothing."""
    choice = choose(env, config.load(root))
    if not choice.backend:
        yield choice.finding()
        return
    today, last = log.today(root, now), next(log.newest_first(root), None)
    unmade = sum(call.outcome == BUDGET for call in today)
    used = log.sum_of(today)
    tokens, cost = f"{used.tokens:,}", f"{used.cost or 0.0:.2f}"
    calls = len(today) - unmade
    yield good("llm.ok", backend=choice.backend, model=choice.model, calls=calls, tokens=tokens, cost=cost)
    if unmade:
        yield note("llm.budget", count=unmade)
    elif last is not None and last.outcome not in {log.ANSWERED, log.BEGUN, CANCELLED}:
        yield note("llm.last_failed", outcome=last.outcome, when=ago(last.time, now))
