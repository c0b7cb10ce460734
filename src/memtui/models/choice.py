"""Which model is asked, by the settings and by what is there (of a service of one's own, the best that it offers); what
keeps models from being asked; and what a call must not believe: the address, the key and the way that a project's
settings chose, which may have come with a repository. Imports neither backend."""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from memtui.base import clock_hot, deadline, fastjson_hot, findings, fs_hot, installer, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, good, note, problem
from memtui.base.phrasing_hot import ago
from memtui.client import settings_files_hot
from memtui.models import log
from memtui.models.call import shortened
from memtui.settings import config_hot

NO_MODEL = "No model may be asked: llm_backend is off."
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
# What a short name stands for.
SHORT = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}
# Variables that say, beside those of ANTHROPIC_, which model is asked, by which way, and with which key.
MODELS = ("CLAUDE_CONFIG_DIR", "PATH", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NODE_OPTIONS")


class ModelChoice(NamedTuple):
    """The backend that is asked, empty with its `reason` if none is; the model; limits of a day and of a call."""

    backend: str
    reason: str
    model: str
    daily_tokens: int
    daily_dollars: float
    seconds: float
    chosen: bool = True

    @property
    def off(self) -> bool:
        return self.reason == "llm.off"

    @property
    def why(self) -> str:
        """Why no model can be asked, in a sentence."""
        return NO_MODEL if self.off else findings.message(self.finding)

    @property
    def hint(self) -> str:
        return "Choose one: memtui config set llm_backend auto" if self.off else findings.remedy(self.finding)

    @property
    def finding(self) -> Finding:
        return (good if self.off else note)(self.reason, install=installer.adding("anthropic"))


def choose(env: dict[str, str], settings: dict[str, object]) -> ModelChoice:
    """Choose as the settings say: `auto` takes the API if there is a key for it, or none is needed, else the client."""
    wanted = str(config_hot.value(settings, None, "llm_backend"))
    keyless = config_hot.value(settings, None, "llm_key") == "none"
    env, no_key = keyed(env, settings), "llm.no_server" if keyless else "llm.no_key"
    key = bool(env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN"))
    backend, reason = "", "llm.off"
    if wanted in {"api", "auto"}:
        reason = no_key if not key else "" if find_spec("anthropic") is not None else "llm.no_package"
        backend = "" if reason else "api"
    if wanted == "claude" or (wanted == "auto" and not backend):
        program = shutil.which("claude", path=env.get("PATH", os.defpath))
        backend, reason = ("claude", "") if program else ("", "llm.no_client" if wanted == "claude" else "llm.nothing")
    model, is_chosen = str(config_hot.value(settings, None, "llm_model")), "llm_model" in settings
    dollars, seconds = (config_hot.fraction(settings, key) for key in ("llm_daily_dollars", "llm_timeout"))
    tokens = config_hot.number(settings, "llm_daily_tokens")
    return ModelChoice(backend, reason, model, tokens, dollars, seconds, is_chosen)


def keyed(env: dict[str, str], settings: dict[str, object]) -> dict[str, str]:
    """Return the environment with the key to ask with: no key of the person's own if `llm_key` is none, but a word in
    its place for a server at ANTHROPIC_BASE_URL, without which neither backend asks."""
    if config_hot.value(settings, None, "llm_key") != "none":
        return env
    others = {name: value for name, value in env.items() if name not in KEYS}
    return others | ({KEYS[0]: "none"} if env.get("ANTHROPIC_BASE_URL") else {})


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
    calls, model = len(today) - unmade, asked(env, root, choice, ask=False)
    served = known(root, address(env, choice.backend))
    yield good("llm.ok", backend=choice.backend, model=model, calls=calls, tokens=tokens, cost=cost)
    if model != choice.model and choice.model in served.refused:
        yield note("llm.instead", wanted=choice.model, model=model, models=", ".join(served.models[:10]))
    if unmade:
        yield note("llm.budget", count=unmade)
    elif last is not None and last.outcome == "absent":
        yield problem("llm.absent", model=last.model, why=why_absent(served) if served.time else "said no more")
    elif last is not None and last.purpose != "dream" and last.outcome not in {log.ANSWERED, log.BEGUN, "cancelled"}:
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
NO_LIST = {404, 405, 501}  # statuses by which a service says that it has no list
# Seconds to wait for the list, and those for which it holds; bytes of it that are read.
WAIT, HOLDS, MOST = 5.0, clock_hot.DAY, 1 << 20
HOST = "https://api.anthropic.com"
KEPT = "/run/llm-models.json"
UNSURE = 600.0  # seconds after which a service is asked again that did not say whether it has a list


class Served(NamedTuple):
    """What the service at `url` said at a `time`, which holds for some seconds: its `models`, or the `fault` why it
    lists none; the models that it `refused`; and since when which one was asked `instead`, first in which `session`."""

    url: str = ""
    models: tuple[str, ...] = ()
    fault: str = ""
    refused: tuple[str, ...] = ()
    time: float = 0.0
    holds: float = HOLDS
    instead: str = ""
    session: str = ""
    cwd: str = ""


def address(env: dict[str, str], backend: str) -> str:
    """Return the address at which models are listed; empty if only the client knows it."""
    return (env.get("ANTHROPIC_BASE_URL") or HOST * (backend == "api")).rstrip("/")


def asked(env: dict[str, str], root: str, choice: ModelChoice, *, ask: bool = True) -> str:
    """Return the model to ask: the one that a person chose, or the default one, but of a service of one's own the best
    that it lists. One that was refused is not asked while the list holds. Without `ask` no list is fetched."""
    url = address(env, choice.backend)
    served = known(root, url)
    if choice.chosen or choice.backend != "api" or url == HOST:
        if choice.model not in served.refused:
            return choice.model
    elif not served.time and ask:
        served = _noted(root, listed(env, url))
    return best(served, choice.model) or choice.model


def unlisted(env: dict[str, str], root: str, cwd: str) -> str:
    """Ask for the list anew, and say what keeps the model that a person chose from being asked; empty for nothing."""
    settings = config_hot.load(root)
    choice = choose(env, settings)
    url = address(env, choice.backend) if choice.backend else ""
    if not url or (choice.model in SHORT and (choice.backend == "claude" or url == HOST)):
        return ""
    try:
        must_be_own(env, cwd)
    except MemtuiError as error:
        return error.message
    served = _noted(root, listed(keyed(env, settings), url))
    if served.fault:
        return f"{url} {served.fault}, so {choice.model} is asked without knowing whether it is there."
    if any(f"{name}-".startswith(f"{SHORT.get(choice.model, choice.model)}-") for name in served.models):
        return ""
    other = f"; if that is refused, {model} is asked" if (model := best(served, choice.model)) else ""
    return f"{url} does not list {choice.model}{other}. It lists {', '.join(served.models[:10])}."


def instead(env: dict[str, str], root: str, choice: ModelChoice, name: str, cwd: str) -> tuple[str, str]:
    """Return the model to ask in place of `name`, which the service does not have, or none; and what to do."""
    url = address(env, choice.backend)
    served = known(root, url)
    if name not in served.refused:
        served = listed(env, url)._replace(refused=(*served.refused, name))
        model, session = best(served, choice.model), env.get("CLAUDE_CODE_SESSION_ID", "")
        _noted(root, served := served._replace(instead=model, session=session, cwd=cwd))
    absent = note("llm.absent", model=name, why=why_absent(served))
    return best(served, choice.model), f"It {why_absent(served)}. {findings.remedy(absent)}"


def why_absent(served: Served) -> str:
    return served.fault or f"lists {', '.join(served.models[:5])}, but has none of them for the Messages API"


def known(root: str, url: str | None = None) -> Served:
    """Return what a service said of its models as long as that holds; without `url`, what was noted last."""
    row = fs_hot.read_table(root + KEPT)
    time, holds = row.get("time"), row.get("holds", HOLDS)
    if not isinstance(time, float) or not isinstance(holds, float):
        return Served()
    if url is not None and (row.get("url") != url or not 0 <= clock_hot.now() - time < holds):
        return Served()
    models, refused = (tuple(map(str, fastjson_hot.rows(row, key))) for key in ("models", "refused"))
    fault, *more = (str(row.get(key) or "") for key in ("fault", "instead", "session", "cwd"))
    return Served(str(row.get("url") or ""), models, fault, refused, time, holds, *more)


def _noted(root: str, served: Served) -> Served:
    fs_hot.write_cache(root + KEPT, fastjson_hot.dumps({"v": 1, **served._asdict()}).encode())
    return served


def best(served: Served, default: str) -> str:
    """Return the best model of those that a service lists: one like the default, else the largest; empty if none."""
    able = [name for name in served.models if name not in served.refused and not _OTHER_USES.search(name)]
    matches = (name for word in (default, *BEST) for name in able if word in name)
    return next(matches, None) or max(able, key=_size, default="")


def _size(name: str) -> float:
    parts = {"m": 0.001, "b": 1.0}
    sizes = [float(times or 1) * float(count) * parts[unit.lower()] for times, count, unit in _SIZE.findall(name)]
    return max(sizes, default=UNKNOWN)


def listed(env: dict[str, str], url: str) -> Served:
    """Return the models that a service lists, or why it lists none: after WAIT at the latest, however slow it is."""
    unsure = Served(url, fault=f"gives no list of its models within {WAIT:g} s", time=clock_hot.now(), holds=UNSURE)
    if not url:
        return unsure._replace(fault="is known to the client alone, which gives no list")
    return deadline.within(WAIT, lambda: _fetched(env, unsure), unsure)


def _fetched(env: dict[str, str], unsure: Served) -> Served:
    """Fetch the list of a service. No redirect is followed: the key would go along."""
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
        request = urllib.request.Request(unsure.url + "/v1/models", headers=headers)  # noqa: S310  the person names it
        with urllib.request.build_opener(NoRedirect).open(request, timeout=WAIT) as answer:
            reply: Any = fastjson_hot.loads_dict(answer.read(MOST))
    except urllib.error.HTTPError as error:
        error.close()
        holds = HOLDS if error.code in NO_LIST else UNSURE
        return unsure._replace(fault=f"gives no list of its models ({error.code})", holds=holds)
    except TimeoutError:
        return unsure
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return unsure._replace(fault=f"gives no list of its models: {shortened(str(reason))}".rstrip("."))
    rows = reply.get("data")
    if not isinstance(rows, list):
        return unsure._replace(fault="gives its list of models in a form of its own", holds=HOLDS)
    names = [row.get("id") for row in rows if isinstance(row, dict)]
    models = tuple(name for name in names if isinstance(name, str) and name)[:100]
    return unsure._replace(models=models, fault="" if models else "lists no model", holds=HOLDS)
