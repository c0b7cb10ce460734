"""How recall is said and drawn: what a prompt brings, what is left out and why, what replayed prompts would get."""

from memtui.base.phrasing_hot import many, share
from memtui.views.glyphs import bar
from memtui.views.words import TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memtui.recall.prompt_replay import ReplayedPrompt
    from memtui.recall_preview import RecallCandidate, RecallRun

OUTCOMES = TABLES["recall outcomes"]
SILENT = TABLES["recall silent"]
OFF = "no prompt recalls anything here: the setting recall is off"
SHIFTS = TABLES["recall shifts"]
FIELDS = TABLES["recall fields"]
BAR = 6
# Marks and their meanings, for the legend of the help.
PINNED = "▲"
MARKS = TABLES["recall marks"].items()
# The mark of a memory and its style: it stays, comes or goes; the session had it before.
SAME, NEW, GONE = ("✓", "green"), ("+", "green"), ("-", "red")


def outcome(code: str) -> tuple[str, str, str]:
    """Return the mark, the style and the words of an outcome; of one that is not known its code."""
    mark, style, words = OUTCOMES.get(code, f"· dim {code.replace('-', ' ')}").split(" ", 2)
    return mark, style, words


def likely(candidate: "RecallCandidate", run: "RecallRun") -> str:
    """Write how likely it is that a memory helps. What is below the limit has a lower figure than the limit itself."""
    percent = round(100 * candidate.probability)
    if candidate.probability < run.threshold:
        percent = min(percent, round(100 * run.threshold) - 1)
    return share(percent / 100)


def scored(candidate: "RecallCandidate", run: "RecallRun") -> str:
    """Draw how likely it is that a memory helps: a number and a bar, none where the number is 0."""
    return f"{likely(candidate, run):>4} {bar(round(candidate.probability, 2), 1.0, BAR)}"


def because(candidate: "RecallCandidate") -> str:
    """Return why a memory was found, in a few words: the telling words that matched, or its meaning."""
    if words := [matched_term.term for matched_term in candidate.terms]:
        return ", ".join(words)
    return "by meaning" if candidate.parts.get("cosine", 0.0) > 0 else ""


def by_field(candidate: "RecallCandidate") -> "list[tuple[str, list[str]]]":
    """Return the telling words that matched by the field that has them, a word in all of its fields."""
    terms = {name: [matched.term for matched in candidate.terms if name in matched.fields] for name in FIELDS}
    return [(word, terms[name]) for name, word in FIELDS.items() if terms[name]]


def shift(code: str, by: float) -> str:
    """Return what raised or lowered the odds, and by how much: `pinned +1.0`."""
    return f"{SHIFTS.get(code, code.replace('-', ' '))} {by:+.1f}"


def silence(run: "RecallRun") -> str:
    """Return why nothing would be delivered, as the end of a sentence; empty if something is."""
    if run.delivered:
        return ""
    if not run.memories:
        return "there are no memories yet"
    if run.silent == "nothing" and not run.candidates:
        return "no memory has any of its words"
    best = next((candidate for candidate in run.candidates if candidate.outcome != "unlikely"), None)
    if run.silent == "nothing" and best is not None:
        return f"{best.name} is left out, {outcome(best.outcome)[2]}"
    return SILENT.get(run.silent, run.silent.replace("-", " "))


def headline(run: "RecallRun") -> str:
    """Return what a prompt would bring, in one sentence without its end."""
    if nearest(run):
        return "Nothing would be delivered: no memory is likely enough to help"
    if not run.delivered:
        return f"Nothing would be delivered: {silence(run)}"
    return f"{len(run.delivered)} of {many(run.memories, 'memory', 'memories')} would be delivered"


def nearest(run: "RecallRun") -> str:
    """Return how near the likeliest memory came to being delivered, in a sentence; empty if that is not why none is."""
    best = max(run.candidates, key=lambda candidate: candidate.probability, default=None)
    if run.delivered or best is None or best.probability >= run.threshold:
        return ""
    return f"The likeliest is {best.name} with {likely(best, run)}. One is delivered from {share(run.threshold)} on."


def amount(run: "RecallRun | RecallCandidate") -> str:
    """Return how much would be delivered: `644 characters, about 161 tokens`."""
    return f"{run.units:,} characters, about {run.tokens:,} tokens"


def others(run: "RecallRun") -> str:
    """Return how many memories were found and would not be delivered: `3 others found, not delivered`."""
    count = len(run.left_out)
    if not (count and run.delivered):
        return f"{count} found, none delivered" if count else "no others found"
    return many(count, "other found, not delivered", "others found, not delivered")


def took(run: "RecallRun") -> str:
    """Return how long the dry run took: `12 ms`, `0.8 ms`."""
    return f"{run.ms:.0f} ms" if run.ms >= 9.5 else f"{run.ms:.1f} ms"


def data(run: "RecallRun") -> "dict[str, object]":
    candidates = [
        {name: value for name, value in vars(candidate).items() if name not in {"units", "stamp"}}
        | {"characters": candidate.units, "tokens": candidate.tokens}
        for candidate in run.candidates
    ]
    fields = {name: value for name, value in vars(run).items() if name != "units"}
    facts = {"silent": run.silent or None, "session": run.session or None, "candidates": candidates}
    return fields | facts | {"characters": run.units, "tokens": run.tokens}


def mark_of(run: "ReplayedPrompt", paths: "Collection[str]") -> tuple[str, str] | None:
    """Return the mark of a replayed prompt and its style for a memory of these paths; None if it never gets it."""
    before, after = (any(path in each_side for path in paths) for each_side in (run.now, run.changed))
    return SAME if before and after else NEW if after else GONE if before else None


def sums_of(replayed_prompts: "Sequence[ReplayedPrompt]", paths: "Collection[str]") -> str:
    """Say how many prompts would get a memory: `12 of 50 would: 2 more, 1 no more`."""
    marks = [mark_of(replayed_prompt, paths) for replayed_prompt in replayed_prompts]
    more, less = marks.count(NEW), marks.count(GONE)
    words = [f"{more:,} that don’t now"] * bool(more) + [f"{less:,} no more"] * bool(less)
    would = sum(mark in {SAME, NEW} for mark in marks)
    return f"{would:,} of {len(replayed_prompts):,} would" + (": " + ", ".join(words) if words else "")
