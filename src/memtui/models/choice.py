"""Which model is asked, by the settings and by what is there (of a service of one's own, the best that it offers); what
keeps models from being asked; and what a call must not believe: the address, the key and the way that a project's
settings chose, which may have come with a repository. Imports neither backend."""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from memtui.base import clock_hot, fastjson_hot, findings, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, good, note
from memtui.base.phrasing_hot import ago
from memtui.client import settings_files_hot
from memtui.models import log
from memtui.settings import config_hot

NO_MODEL = "No model may be asked: llm_backend is off."
SWITCH_ON = "Choose one: memtui config set llm_backend auto"
# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


class ModelChoice(NamedTuple):
    """The backend that is asked (api, claude), empty if none can be, with the `reason`, a code of findings; the model;
    and the limits: tokens and dollars of a day (0: none), seconds of a call. `chosen`: a person chose the model."""

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
        return self.reason == "llm.off"

    @property
    def why(self) -> str:
        """Why no model can be asked, in a sentence."""
        return NO_MODEL if self.off else findings.message(self.finding)

    @property
    def hint(self) -> str:
        """What to do about it."""
        return SWITCH_ON if self.off else findings.remedy(self.finding)

    @property
    def finding(self) -> Finding:
        """Why no model can be asked, as a finding."""
        return (good if self.off else note)(self.reason)


def choose(env: dict[str, str], settings: dict[str, object]) -> ModelChoice:
    """Choose as the settings say: `auto` takes the API if there is a key for it, else the client."""
    wanted = str(config_hot.value(settings, None, "llm_backend"))
    key = bool(env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN"))
    backend, reason = "", "llm.off"
    if wanted in {"api", "auto"}:
        reason = "llm.no_key" if not key else "" if find_spec("anthropic") is not None else "llm.no_package"
        backend = "" if reason else "api"
    if wanted == "claude" or (wanted == "auto" and not backend):
        program = shutil.which("claude", path=env.get("PATH", os.defpath))
        backend, reason = ("claude", "") if program else ("", "llm.no_client" if wanted == "claude" else "llm.nothing")
    return ModelChoice(
        backend,
        reason,
        str(config_hot.value(settings, None, "llm_model")),
        config_hot.number(settings, "llm_daily_tokens"),
        config_hot.fraction(settings, "llm_daily_dollars"),
        config_hot.fraction(settings, "llm_timeout"),
        "llm_model" in settings,
    )


def must_be_own(env: dict[str, str], cwd: str) -> None:
    """Raise MemtuiError if the project of `cwd` sets a variable of `env` that says which model is asked, or its key."""
    places = (cwd, paths_hot.project_root(cwd), env.get("CLAUDE_PROJECT_DIR", ""))
    for directory in dict.fromkeys(filter(None, places)):
        for path, name in settings_files_hot.variables(env, directory):
            if name in env and (name in MODELS or name.startswith("ANTHROPIC_")):
                raise MemtuiError(
                    f"{path} sets {name}, so no model is asked here: your memories could go where a repository says.",
                    f"Take {name} out of that file. Your own ~/.claude/settings.json may set it; or ask from a "
                    "directory outside of this project.",
                )


def check(env: dict[str, str], root: str, now: float) -> Iterator[Finding]:
    """Find what keeps models from being asked, what they used today, and what became of the last call."""
    choice = choose(env, config_hot.load(root))
    if not choice.backend:
        yield choice.finding
        return
    today, last = log.today(root, now), next(log.newest_first(root), None)
    unmade = sum(call.outcome == "budget" for call in today)
    usage = log.sum_of(today)
    tokens, cost = f"{usage.tokens:,}", f"{usage.cost or 0.0:.2f}"
    calls = len(today) - unmade
    yield good("llm.ok", backend=choice.backend, model=choice.model, calls=calls, tokens=tokens, cost=cost)
    if unmade:
        yield note("llm.budget", count=unmade)
    elif last is not None and last.outcome not in {log.ANSWERED, log.BEGUN, "cancelled"}:
        yield note("llm.last_failed", outcome=last.outcome, when=ago(last.time, now))


# The models that a service of one's own offers

# Words by which the better models are known, best first; others are ranked by the size that their names tell.
BEST = ("haiku", "sonnet", "opus")
# Models that answer no question.
_OTHER_USES = re.compile(
    r"embed|rerank|whisper|transcri|moderation|diffusion|dall-e|image|speech|audio|guard|clip"
    r"|(?:^|[^a-z])(?:tts|asr|ocr|stt|bge|gte|e5|vae|flux)(?:[^a-z]|$)",
    re.IGNORECASE,
)
# Billions of parameters, also of experts, as in 70b, 8x7b, 270m; and those of a name that tells none.
_SIZE = re.compile(r"(?<![a-z0-9.])(?:e|(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
UNKNOWN = 8.0
# Statuses by which a service says that it has no list.
NO_LIST = {404, 405, 501}
# Seconds to wait for the list, and those for which it holds; bytes of it that are read.
WAIT, HOLDS, MOST = 5.0, clock_hot.DAY, 1 << 20
HOST = "https://api.anthropic.com"
KEPT = "/run/llm-models.json"


def best(env: dict[str, str], root: str, choice: ModelChoice, *, ask: bool = True) -> str:
    """Return the model to ask: the default one, or the best that the service of ANTHROPIC_BASE_URL lists. The list
    holds for a day; without `ask` none is fetched. Never raises for a service that does not answer."""
    url = (env.get("ANTHROPIC_BASE_URL") or HOST).rstrip("/")
    url = "" if choice.backend != "api" or url == HOST else url
    names = _kept(root, url) if url else []
    if names is None and ask and (names := listed(env, url)) is not None:
        row = {"v": 1, "url": url, "time": clock_hot.now(), "models": names}
        fs_hot.write_cache(root + KEPT, fastjson_hot.dumps(row).encode())
    return chosen(names or [], choice.model)


def _kept(root: str, url: str) -> list[str] | None:
    """Return the list of a service as it was read within a day; None if it was not."""
    try:
        cached = fastjson_hot.loads_dict(fs_hot.read(root + KEPT, "cache"))
    except OSError:
        return None
    time, names = cached.get("time"), cached.get("models")
    if cached.get("url") != url or not isinstance(time, float) or not 0 <= clock_hot.now() - time < HOLDS:
        return None
    return [str(name) for name in names] if isinstance(names, list) else []


def chosen(names: list[str], default: str) -> str:
    """Return the best of some models: one like the default, which is taken if there is none; else the largest."""
    able = [name for name in names if not _OTHER_USES.search(name)]
    matches = (name for word in (default, *BEST) for name in able if word in name)
    return next(matches, None) or max(able, key=_size, default=default)


def _size(name: str) -> float:
    """Return the billions of parameters that a name tells."""
    sizes = _SIZE.findall(name)
    return max(
        (float(times or 1) * float(number) / (1000 if unit.lower() == "m" else 1) for times, number, unit in sizes),
        default=UNKNOWN,
    )


def listed(env: dict[str, str], url: str) -> list[str] | None:
    """Return the models that a service lists, or None. No redirect is followed: the key would go along."""
    import http.client
    import urllib.error
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object, **__: object) -> None:
            return None

    key, token = env.get("ANTHROPIC_API_KEY"), env.get("ANTHROPIC_AUTH_TOKEN")
    headers = {"anthropic-version": "2023-06-01"}
    headers |= {"x-api-key": key} if key else {"authorization": f"Bearer {token}"} if token else {}
    try:
        request = urllib.request.Request(url + "/v1/models", headers=headers)  # noqa: S310  the person names the address
        with urllib.request.build_opener(NoRedirect).open(request, timeout=WAIT) as answer:
            reply: Any = fastjson_hot.loads_dict(answer.read(MOST))
    except urllib.error.HTTPError as error:
        return [] if error.code in NO_LIST else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    rows = reply.get("data")
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in names if isinstance(name, str) and name][:100]
