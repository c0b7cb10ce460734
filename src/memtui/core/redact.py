"""Secrets are taken out before anything is written: what a person typed into a session may hold a key or a password.

Known shapes first (a key's prefix names its issuer), then values next to a word such as `password=` or `token:`. Commit
hashes, UUIDs, file paths and plain words are left alone: text full of holes is no memory.
"""

import math
import re

MIN_ENTROPY_BITS = 3.0

# (kind, pattern); where a pattern has the group `secret`, only that part is replaced.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "private key",
            (
                r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
                r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}-----|[\s\S]{0,20000})"
            ),
        ),
        ("JWT", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"),
        ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{10,}"),
        ("OpenRouter key", r"\bsk-or-(?:v\d-)?[A-Za-z0-9]{20,}"),
        ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|None-)?(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{20,}"),
        ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt|soat)-[A-Za-z0-9_-]{15,}"),
        ("AWS key id", r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}\b"),
        ("Google key", r"\bAIza[A-Za-z0-9_-]{30,}"),
        ("Google token", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}"),
        ("Slack token", r"\bxox[abeprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
        (
            "webhook",
            r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/(?P<secret>[\w/-]{20,})",
        ),
        ("Stripe key", r"\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
        ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{25,}"),
        ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("Twilio key", r"\bSK[0-9a-f]{32}\b"),
        ("DigitalOcean token", r"\bdo[oprt]_v1_[a-f0-9]{40,}"),
        ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        ("Telegram token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
        ("Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
        ("Databricks token", r"\bdapi[a-f0-9]{32}"),
        ("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}"),
        ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
        ("Sentry token", r"\bsntry[su]_[A-Za-z0-9+/=_-]{30,}"),
        (
            "password in a URL",
            r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/@:'\"<>]{0,100}:(?P<secret>[^\s/@'\"<>]{1,200})@",
        ),
        (
            "authorization header",
            r"(?i)\bauthorization\b[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)?\s*(?P<secret>[A-Za-z0-9._~+/=-]{8,})",
        ),
        ("bearer token", r"(?i)\bbearer\s+(?P<secret>(?=[A-Za-z0-9._~+/=-]*\d)[A-Za-z0-9._~+/=-]{16,})"),
        (
            "password",
            r"(?<![\w-])(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?P<secret>[^\s\"']+)",
        ),
    )
)

_WORD = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[ _-]?key|apikey|access[_-]?key(?:[_-]?id)?"
    r"|secret[_-]?(?:access[_-]?)?key|private[_-]?key|client[_-]?secret|auth(?:[_-]?token)?|credentials?|signing[_-]?key|encryption[_-]?key|master[_-]?key"
    r"|passwort|contraseña|mot de passe)"
)
_ASSIGNED = re.compile(
    r"(?i)(?P<name>(?<![a-z])(?:[a-z0-9]+[_-]){0,6}" + _WORD + r"s?)[\"'`]?(?P<op>\s*(?::=|=>|=|:)\s*|\s+is\s*:?\s+)"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,200})(?=[\"'`])|(?P<bare>[^\s\"'`,;<>]{4,200}))"
)
_NEAR = re.compile(r"(?i)\b" + _WORD + r"s?\b[^\n]{0,40}?(?<![\w/.-])(?P<secret>[A-Za-z0-9+/_=-]{20,200})(?![\w/.-])")

_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"^[A-Za-z0-9+/=]{16,}\s*$")
_HEX_ID = re.compile(
    r"^(?:[0-9a-f]{7,40}|[0-9A-F]{7,40}|[0-9a-f]{64}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$[\w{(].*|%\w+%|<.*|\{\{.*|\[.*|\*+|x{3,}|\.{2,}|none|null|nil|true|false|undefined|string|str|bool|int|bytes|"
    r"redacted.*|your[_-].*|example.*|changeme|placeholder|env[.:(].*|os\..*|process\.env.*|secrets\..*|self\..*|"
    r"[a-z_][\w.]*\(.*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?:string|required|optional|missing|invalid|expired|empty|here)[.)]*)$"
)


def _entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in (text.count(c) for c in set(text)))


def _mixed(text: str) -> bool:
    """Whether a value looks generated rather than written: digits among letters, high entropy, and no path or word."""
    return (
        any(c.isdigit() for c in text)
        and any(c.isalpha() for c in text)
        and _entropy(text) >= MIN_ENTROPY_BITS
        and not _HEX_ID.match(text)
    )


def _is_assigned_secret(match: re.Match[str]) -> bool:
    value, op = (match["quoted"] or match["bare"]).rstrip(".)]}"), match["op"]
    if len(value) < 4 or _PLACEHOLDER.match(value):
        return False
    is_word = value.replace(" ", "").isalpha()
    if "passw" in match["name"].lower() or "pwd" in match["name"].lower() or match["quote"]:
        # After "password is" or "password: " a sentence may go on: a plain word is prose there.
        return "=" in op or not is_word
    if "=" in op and not op.startswith((" =", "\t=")) and not is_word:
        return not value.isdigit()
    return _mixed(value)


def _cut_key(text: str) -> str:
    """Text without the end of a private key whose beginning was cut off: the lines of base 64 before its END mark."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _KEY_END.search(line):
            first = number
            while first and _KEY_LINE.match(lines[first - 1]):
                first -= 1
            lines[first : number + 1] = ["[redacted: private key]"] + [""] * (number - first)
    return "\n".join(lines)


def redact(text: str) -> tuple[str, list[str]]:
    """Replace secrets by `[redacted: kind]`; the text and the kinds found, in order of the rules, each once.

    Redacting twice changes nothing more.
    """
    kinds: list[str] = []

    def replace(kind: str, match: re.Match[str]) -> str:
        names = match.re.groupindex
        group: int | str = "secret" if "secret" in names else 0
        if "quoted" in names:
            group = "bare" if match["quoted"] is None else "quoted"
        value = match[group]
        if value.startswith("[redacted"):
            return match[0]
        tail = value[len(value.rstrip(".)]},")) :] if group else ""
        if kind not in kinds:
            kinds.append(kind)
        begin, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{match[0][:begin]}[redacted: {kind}]{tail}{match[0][end:]}"

    for kind, pattern in _PATTERNS:
        text = pattern.sub(lambda match, kind=kind: replace(kind, match), text)  # type: ignore[misc]
    if "-----END" in text and (cut := _cut_key(text)) != text:
        text = cut
        kinds.append("private key")
    text = _ASSIGNED.sub(lambda match: replace("secret", match) if _is_assigned_secret(match) else match[0], text)
    text = _NEAR.sub(lambda match: replace("secret", match) if _mixed(match["secret"]) else match[0], text)
    return text, kinds
