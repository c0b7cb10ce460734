"""Decide which memories a prompt gets: a probability that each will help, and why one is given or not, for hooks and
people alike: a dry run is what the hook does, without printing. Hook path."""

import posix

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot
from memtui.deliver import uses_hot
from memtui.deliver.session_memories_hot import SessionMemories
from memtui.recall import content_hot, own_words_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtui.recall.bindings_hot import Bound
    from memtui.recall.query_hot import Hit
    from memtui.store import trust_hot

    AllowedCheck = Callable[[str, str, str], bool]

# What the features of a memory count, as tests/training/fit_recall.py --write puts it here. Fitted: by a script of its
# own, the same logistic regression, ridge 1, over 40,709 hits of 3,401 prompts in 12 stores, everyday prompts as half.
INTERCEPT = -5.81
WEIGHTS = (2.76, 1.58, 3.30, 3.05, 2.43, 3.80, -3.87)
# A long memory has any word somewhere: times its length it counts whether the words of the prompt are in its name, its
# description or a trigger, or in its body alone. Fitted beside those above, over 680 prompts in 8 further stores.
LONG_NAMED, LONG_BODY = 1.03, -2.01
# Each trigger line is one more chance to share a word with an everyday prompt, whose other words count so much against
# it. Chosen over 8 stores, judged on 3 others.
CHANCE = -1.5
# Memories that a prompt gets at most, the setting `recall_most`; and the probability from which one is given, by the
# setting `recall`. Careful: the least with which at most 12% of the everyday prompts that were fitted on got one.
MOST = 5
THRESHOLDS = {"careful": 0.35, "generous": 0.2}
THRESHOLD = THRESHOLDS["careful"]
# Bytes of a memory that are given, and UTF-16 units that a session gets before a compaction.
MOST_BYTES, SESSION_UNITS = 4096, 60_000
MOST_BOUND = 3  # memories that are given before one tool, at most
FOUND = 12  # hits that are judged
MANY = 2000  # hits that are looked through where so many are not trusted that too few others are among the best
# A standing instruction is judged by its topic alone: the log-odds, what a cosine counts, and what it adds that the
# prompt names the topic. Fitted like the others, over 140 topics that 124 prompts name or are nearest to.
STANDING, NEARNESS, TOPIC = -2.57, 4.73, 5.06
# What is added to the log-odds of a memory.
OF_TYPE = {"feedback": 0.2, "user": 0.1, "reference": -0.1}
PINNED, RECENT, HALF_LIFE = 1.0, 0.4, 30 * clock_hot.DAY
LEAST_NEWER = 0.1  # a smaller difference in newness says nothing
# Corrected after it was given: it was needed, and not heeded. Given so often and never opened: it may be of no use.
CORRECTED_AGAIN, NEVER_OPENED, OFTEN = 0.6, -0.6, 5
INJECT = "inject"  # of a memory that is given; views/words.txt has the other outcomes, in the order of the checks
NOTHING = "nothing"  # why a prompt recalls nothing at all, beside the reasons of `own_words_hot.counted`


class Verdict:
    """What becomes of a memory that was found, and why. `probability`: that it helps with the prompt; `shifts`: what
    was added to its log-odds beside the search, as (code, amount); `outcome`: a code of what becomes; `data`: its bytes
    now, if they were read, with their `stamp`, [mtime in ns, size], `digest` and `seen`, what a session notes of it;
    `reason`: why it is given but for a prompt; `failure`: since when its check fails; `broken`: what broke a rule."""

    __slots__ = (
        *("broken", "data", "digest", "failure", "hit", "outcome", "probability", "reason", "seen", "shifts", "stamp"),
    )

    def __init__(self, hit: "Hit", probability: float, shifts: "list[tuple[str, float]]") -> None:
        self.hit, self.probability, self.shifts = hit, probability, shifts
        self.outcome = ""
        self.data = b""
        self.digest = self.seen = self.reason = self.failure = self.broken = ""
        self.stamp = [0, 0]


class Recalled:
    """What a text recalls: the `words` that counted; `why_silent`, a code if it is nothing; `verdicts`, best first."""

    __slots__ = ("verdicts", "why_silent", "words")

    def __init__(self, words: str, why_silent: str = "", verdicts: "list[Verdict] | None" = None) -> None:
        self.words, self.why_silent = words, why_silent
        self.verdicts = verdicts or []

    def injected(self) -> "list[Verdict]":
        return [verdict for verdict in self.verdicts if verdict.outcome == INJECT]


class RecallLimits:
    """How much a prompt gets: `most` memories of at least `threshold`; `sentences`: a warm model has its say."""

    __slots__ = ("most", "sentences", "threshold")

    def __init__(self, most: int = MOST, threshold: float = THRESHOLD, sentences: bool = False) -> None:
        self.most, self.threshold, self.sentences = most, threshold, sentences


def dry_run(
    root: str,
    text: str,
    where: "Sequence[tuple[str, str]]",
    session: "SessionMemories | None" = None,
    now: float = 0.0,
    limits: "RecallLimits | None" = None,
    everything: bool = True,
) -> Recalled:
    """Return what a text, as a person typed it, recalls from the places `where`, (scope, directory) each. `session`:
    the session that it is for, a new one by default; `now`: seconds since the epoch, by default the clock's; without
    `everything`, as for a hook, memories that are not trusted are not even looked at."""
    words, why = own_words_hot.counted(text)
    if why:
        return Recalled("", why)
    from memtui.recall import query_hot, words_hot

    if not words_hot.tells(words):
        return Recalled("", "smalltalk")
    allowed = Allowed(root)
    limits = limits or RecallLimits()
    hits = query_hot.search(root, where, words, FOUND, allowed, limits.sentences)
    if allowed.refused >= FOUND > len(hits):
        # Memories that are not trusted must not crowd others out.
        hits = query_hot.search(root, where, words, MANY, allowed, limits.sentences)[:FOUND]
    if everything and any(locate_hot.needs_trust(scope) for scope, _ in where):
        hit_paths = {hit.path for hit in hits}
        every = query_hot.search(root, where, words, FOUND, None, limits.sentences)
        hits += [hit for hit in every if hit.path not in hit_paths]
    now = now or clock_hot.now()
    verdicts = judged(root, hits, now)
    decide(root, verdicts, session or SessionMemories(), now, limits, allowed, muting(root, words))
    is_injected = any(verdict.outcome == INJECT for verdict in verdicts)
    return Recalled(words, "" if is_injected else NOTHING, verdicts)


def features(hit: "Hit") -> "tuple[float, ...]":
    """Return what a probability is made of, each between 0 and about 1."""
    return (
        hit.lexical / (hit.lexical + 10.0),
        hit.share,
        max(0.0, hit.cosine),
        hit.overlap,
        1.0 / max(1, hit.rank),
        hit.margin / (hit.score + 10.0),
        hit.everyday,
    )


def of_room(hit: "Hit") -> float:
    """Return what the room that a memory's length and triggers give to chance adds to its log-odds."""
    return CHANCE * hit.chance + hit.length * (LONG_NAMED * hit.named + LONG_BODY * max(0.0, hit.share - hit.named))


def probability(log_odds: float) -> float:
    return 1.0 / (1.0 + float(2.718281828459045 ** min(-log_odds, 700.0)))


def judged(root: str, hits: "list[Hit]", now: float) -> "list[Verdict]":
    """Return how likely each memory helps, the likeliest first, without outcomes yet."""
    uses_by_path = uses_hot.load(root, [hit.path for hit in hits])
    newness = {hit: float(0.5 ** (max(0.0, now - hit.stamp[0] / 1e9) / HALF_LIFE)) for hit in hits}
    # What counts is to be newer than the others: all are, in a repository that was cloned today.
    usual = sum(newness.values()) / len(hits) if hits else 0.0
    verdicts = []
    for hit in hits:
        points = [weight * value for weight, value in zip(WEIGHTS, features(hit), strict=True)]
        log_odds = INTERCEPT + sum(points) + of_room(hit)
        if hit.topic >= 0.0:
            log_odds = STANDING + NEARNESS * max(0.0, hit.cosine)
        shifts = _shifts(hit, uses_by_path.get(hit.path), newness[hit] - usual)
        verdicts.append(Verdict(hit, probability(log_odds + sum([amount for _, amount in shifts])), shifts))
    verdicts.sort(key=lambda verdict: -verdict.probability)
    return verdicts


def _shifts(hit: "Hit", use: "uses_hot.Use | None", newer: float) -> "list[tuple[str, float]]":
    """List what speaks for or against a memory whatever the prompt, as (code, amount); `newer`: than others found."""
    shifts = [("topic", TOPIC * hit.topic)] if hit.topic > 0.0 else []
    if hit.type in OF_TYPE:
        shifts.append(("type", OF_TYPE[hit.type]))
    if hit.pinned:
        shifts.append(("pinned", PINNED))
    if abs(newer) >= LEAST_NEWER:
        shifts.append(("recent" if newer > 0.0 else "older", RECENT * newer))
    delivered, opened, corrected, _ = use or (0, 0, 0, 0.0)
    if corrected:
        shifts.append(("corrected-again", CORRECTED_AGAIN))
    elif delivered >= OFTEN and not opened:
        shifts.append(("never-opened", NEVER_OPENED))
    return shifts


def decide(
    root: str,
    verdicts: "list[Verdict]",
    session: SessionMemories,
    now: float,
    limits: RecallLimits,
    allowed: "AllowedCheck",
    muted: "Callable[[str, str], bool]",
) -> None:
    """Give each verdict, likeliest first, its outcome; of those that are likely enough, the files are read."""
    units = SESSION_UNITS - session.units
    count = 0
    for each in verdicts:
        if each.probability < limits.threshold:
            each.outcome = "unlikely"
            continue
        is_muted = muted(each.hit.directory, each.hit.file)
        each.outcome = "muted" if is_muted else hindrance(root, each, session, now, allowed)
        if each.outcome:
            continue
        size = min(MOST_BYTES, len(each.data))
        if count >= limits.most:
            each.outcome = "enough"
        elif size > units:
            each.outcome = "no-room"
        else:
            each.outcome = INJECT
            count += 1
            units -= size


def muting(root: str, words: str) -> "Callable[[str, str], bool]":
    """Return what tells whether a person does not want a memory, by directory and file, for prompts like this one."""
    if not paths_hot.exists(root + "/mutes"):
        return lambda _directory, _file: False
    from memtui.recall import words_hot
    from memtui.store import mutes_hot

    all_mutes, terms = mutes_hot.Mutes(root, words_hot.COMMON), words_hot.terms(words)
    return lambda directory, file: all_mutes.muted(directory, file, terms)


def hindrance(root: str, verdict: Verdict, session: SessionMemories, now: float, allowed: "AllowedCheck") -> str:
    """Return the outcome of a memory that must not be given; "" for one that may, which is then read."""
    hit = verdict.hit
    sent_before = session.sent.get(hit.path)
    if hit.scope == "auto" and hit.file.startswith("team/"):
        return "untrusted"  # an index that is older than the scope of the team has it here
    try:
        if not paths_hot.inside(hit.directory, hit.path):
            return "gone"
        stat_result = posix.stat(hit.path)
        verdict.stamp = [stat_result.st_mtime_ns, stat_result.st_size]
        if sent_before is not None and sent_before[1:] == verdict.stamp:
            return "known"
        verdict.data = fs_hot.read_bytes(hit.path, content_hot.READ_BYTES)
    except OSError:
        return "gone"
    # What needs no trust is taken for what was indexed if its file has the same time and size.
    is_indexed = verdict.stamp == [*hit.stamp]
    is_same = is_indexed and not locate_hot.needs_trust(hit.scope)
    verdict.digest = hit.digest if is_same else ids_hot.digest(verdict.data)
    if not allowed(hit.scope, hit.directory, verdict.digest):
        return "untrusted"
    expires = content_hot.expiry(verdict.data)
    if expires is not None and expires <= now:
        return "expired"
    if content_hot.in_conflict(verdict.data):
        return "conflict"
    if b"verify" in verdict.data and "verify" in content_hot.head(verdict.data)[0]:
        from memtui.store import own_checks_hot
        from memtui.store.frontmatter import head_hot

        rows = own_checks_hot.load(root, hit.directory)
        verdict.failure = own_checks_hot.failure(rows, hit.file, verdict.digest)
        if verdict.failure and head_hot.summarise(verdict.data)[2] == own_checks_hot.RULE:
            return "failing"
    verdict.seen = content_hot.seen(verdict.data)
    if sent_before is not None and sent_before[0] == verdict.seen:
        return "known"
    if hit.scope == "auto" and not content_hot.body(verdict.data).strip():
        return "native-index"
    if not is_indexed:  # what stands above its text is of the file as it is now
        from memtui.store.frontmatter import head_hot

        name, hit.description, hit.type = head_hot.summarise(verdict.data)
        hit.name = name or hit.file[hit.file.rfind("/") + 1 :].removesuffix(".md")
    return ""


def bound(root: str, matches: "Sequence[Bound]", session: SessionMemories, most: int = MOST) -> "list[Verdict]":
    """Return verdicts of the bound memories that a session may be given, `most` of them, with what their files say."""
    from memtui.recall import query_hot

    allowed, now = Allowed(root), clock_hot.now()
    verdicts: list[Verdict] = []
    units = SESSION_UNITS - session.units
    for scope, directory, file, reason in matches:
        verdict = Verdict(query_hot.Hit(scope, directory, (file, 0, 0, "", file, "", "", False, 0.0, ())), 1.0, [])
        verdict.outcome = hindrance(root, verdict, session, now, allowed)
        size = min(MOST_BYTES, len(verdict.data))
        if locate_hot.is_set_aside(file) or verdict.outcome or size > units or len(verdicts) == most:
            continue
        units -= size
        verdict.outcome, verdict.reason = INJECT, reason
        verdicts.append(verdict)
    return verdicts


class Allowed:
    """Whether memories may be delivered, by (scope, directory, digest); `refused`: how often it said no."""

    __slots__ = ("_root", "_trust", "refused")

    def __init__(self, root: str) -> None:
        self._root = root
        self.refused = 0
        self._trust: dict[str, trust_hot.Trust] = {}

    def __call__(self, scope: str, directory: str, digest: str) -> bool:
        if not locate_hot.needs_trust(scope):
            return True
        trusts = self._trust.get(directory)
        if trusts is None:
            from memtui.store import trust_hot

            trusts = self._trust[directory] = trust_hot.load(self._root, directory)
        is_trusted = trusts.knows(digest)
        self.refused += not is_trusted
        return is_trusted
