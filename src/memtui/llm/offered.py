"""The models that a service of one's own offers. Where nobody has chosen a model, the best of these is asked: such a
service need not have the one that memtui asks by default."""

import re
from typing import Any

from memtui.core.base import clock, fastjson, fs
from memtui.llm.choice import ModelChoice

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
WAIT, HOLDS, MOST = 5.0, clock.DAY, 1 << 20
HOST = "https://api.anthropic.com"
KEPT = "/run/llm-models.json"


def best(env: dict[str, str], root: str, choice: ModelChoice, *, ask: bool = True) -> str:
    """Return the model to ask: the default one, or, if ANTHROPIC_BASE_URL names a service that lists others only, the
    best of these. The list is kept for a day in `run/llm-models.json`; without `ask`, only that is looked at. Never
    raises for a service that does not answer: it is asked again the next time."""
    url = (env.get("ANTHROPIC_BASE_URL") or HOST).rstrip("/")
    url = "" if choice.backend != "api" or url == HOST else url
    names = _kept(root, url) if url else []
    if names is None and ask and (names := listed(env, url)) is not None:
        row = {"v": 1, "url": url, "time": clock.now(), "models": names}
        fs.write_cache(root + KEPT, fastjson.dumps(row).encode())
    return chosen(names or [], choice.model)


def _kept(root: str, url: str) -> list[str] | None:
    """Return the list of a service as it was read within a day; None if it was not."""
    try:
        found = fastjson.loads_dict(fs.read(root + KEPT, "cache"))
    except OSError:
        return None
    read, names = found.get("time"), found.get("models")
    if found.get("url") != url or not isinstance(read, float) or not 0 <= clock.now() - read < HOLDS:
        return None
    return [str(each) for each in names] if isinstance(names, list) else []


def chosen(names: list[str], default: str) -> str:
    """Return the best of some models: one that is called as the default is, which itself is taken if there is none; of
    unknown ones the largest, and of several the first."""
    able = [name for name in names if not _OTHER_USES.search(name)]
    known = (name for word in (default, *BEST) for name in able if word in name)
    return next(known, None) or max(able, key=_size, default=default)


def _size(name: str) -> float:
    """Return the billions of parameters that a name tells."""
    sizes = _SIZE.findall(name)
    return max(
        (float(times or 1) * float(number) / (1000 if unit.lower() == "m" else 1) for times, number, unit in sizes),
        default=UNKNOWN,
    )


def listed(env: dict[str, str], url: str) -> list[str] | None:
    """Return the ids of the models that a service lists; none if it lists none, None if it did not answer. It follows
    no redirect: the key would go with it, wherever that leads."""
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
            found: Any = fastjson.loads_dict(answer.read(MOST))
    except urllib.error.HTTPError as error:
        return [] if error.code in NO_LIST else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    rows = found.get("data")
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in names if isinstance(name, str) and name][:100]
