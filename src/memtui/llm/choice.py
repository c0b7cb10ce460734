"""Which model is asked, by the settings and by what is there. Imports neither backend."""

import os
from importlib.util import find_spec
from typing import NamedTuple

from memtui.core.base.finding import Finding, good, note
from memtui.core.health import findings
from memtui.core.settings import config
from memtui.llm.errors import OffError

OFF = "llm.off"
NOTHING = "llm.nothing"
NO_MODEL = "No model may be asked: llm_backend is off."
SWITCH_ON = "Choose one: memtui config set llm_backend auto"


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

    @property
    def none_found(self) -> bool:
        """Whether the settings take whatever model is there, and there is none."""
        return self.reason == NOTHING

    def must_be(self) -> None:
        """Raise OffError if no model can be asked."""
        if not self.backend:
            raise OffError(self.why, self.hint)

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
        there = _on_path("claude", env)
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


def _on_path(name: str, env: dict[str, str]) -> bool:
    places = env.get("PATH", os.defpath).split(os.pathsep)
    found = [os.path.join(place, name) for place in places if place]
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in found)
