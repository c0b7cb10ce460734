"""The models that a service of one's own offers. Where nobody has chosen a model, the best of these is asked: such a
service need not have the one that memtui asks by default."""

import urllib.error
import urllib.request
from typing import Any

from memtui.core.base import clock, fastjson, fs
from memtui.llm.choice import ModelChoice

# Words by which the better models are known, best first; others come as the service lists them.
BEST = ("haiku", "sonnet", "opus")
# Seconds to wait for the list, and those for which it holds; bytes of it that are read.
WAIT, HOLDS, MOST = 5.0, clock.DAY, 1 << 20
HOST = "https://api.anthropic.com"


def best(env: dict[str, str], root: str, choice: ModelChoice) -> str:
    """Return the model to ask: the default one, or, if ANTHROPIC_BASE_URL names a service that lists others only, the
    best of these. The list is kept for a day in `run/llm-models.json`. Never raises for a service that gives none."""
    url = (env.get("ANTHROPIC_BASE_URL") or HOST).rstrip("/")
    if choice.backend != "api" or url == HOST:
        return choice.model
    path, now = root + "/run/llm-models.json", clock.now()
    try:
        known = fastjson.loads_dict(fs.read(path, "cache"))
    except OSError:
        known = {}
    read = known.get("time")
    if known.get("url") != url or not isinstance(read, float) or not 0 <= now - read < HOLDS:
        known = {"v": 1, "url": url, "time": now, "models": listed(env, url)}
        fs.write_cache(path, fastjson.dumps(known).encode())
    names = known.get("models")
    return chosen([str(each) for each in names] if isinstance(names, list) else [], choice.model)


def chosen(names: list[str], default: str) -> str:
    """Return the best of some models: one that is called as the default is, which itself is taken if there is none."""
    for word in (default, *BEST):
        if found := next((name for name in names if word in name), None):
            return found
    return names[0] if names else default


def listed(env: dict[str, str], url: str) -> list[str]:
    """Return the ids of the models that a service lists; none if it lists none."""
    key, token = env.get("ANTHROPIC_API_KEY"), env.get("ANTHROPIC_AUTH_TOKEN")
    headers = {"anthropic-version": "2023-06-01"}
    headers |= {"x-api-key": key} if key else {"authorization": f"Bearer {token}"} if token else {}
    try:
        request = urllib.request.Request(url + "/v1/models", headers=headers)  # noqa: S310  the person names the address
        with urllib.request.urlopen(request, timeout=WAIT) as answer:  # noqa: S310
            found: Any = fastjson.loads_dict(answer.read(MOST))
    except (OSError, ValueError, urllib.error.URLError):
        return []
    rows = found.get("data")
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in names if isinstance(name, str) and name][:100]
