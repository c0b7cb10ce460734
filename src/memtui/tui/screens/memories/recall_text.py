"""The detail of a memory in recall: whether it would be delivered, why, and the text exactly as the model gets it."""

from rich.text import Text

from memtui.base.phrasing import ago, cut, many, share
from memtui.recall_preview import RecallCandidate, RecallRun
from memtui.tui.widgets.detail import append_keys
from memtui.views import recall, safe_text

# Words that are listed of one field, the telling ones first.
TERMS = 12
WORD_SHOWN = 40
# Characters of a prompt in the detail of the rule.
PROMPT_SHOWN = 600
GUTTER = "│ "


def head(candidate: RecallCandidate, run: RecallRun, where: str, now: float) -> Text:
    """Return what a memory is, and whether it would be delivered. `where`: the name of its scope."""
    mark, style, words = recall.outcome(candidate.outcome)
    text = Text().append(f"{mark} {words}", style=style)
    line = f", delivered from {share(run.threshold)} on" if candidate.outcome == "unlikely" else ""
    text.append(f" · {recall.likely(candidate, run)} likely to help{line}\n", style="dim")
    facts = [
        f"{candidate.type or 'untyped'} in {where}",
        f"written {ago(candidate.stamp, now)}" if candidate.stamp else "",
    ]
    facts += ["pinned"] if candidate.pinned else []
    text.append(safe_text.line(" · ".join(fact for fact in facts if fact), 200) + "\n", style="dim")
    return text.append(safe_text.line(candidate.description, 400) + "\n" if candidate.description else "")


def glance(head: Text, candidate: RecallCandidate) -> Text:
    """Return the preview of a memory: its `head`, why it was found, and the beginning of its text."""
    text, why = head.copy(), recall.because(candidate)
    if why:
        words = "matched: " * bool(recall.telling(candidate))
        text.append(f"{words}{safe_text.line(cut(why, 200))}\n", style="dim")
    if candidate.text:
        # Its first lines are memtui's own tag and introduction, its last the end of the tag: the detail has them.
        text.append("\n" + safe_text.clean("\n".join(candidate.text.split("\n")[2:-1])))
    return text


def append_why(text: Text, candidate: RecallCandidate, *, is_untrusted: bool, read_only: bool) -> None:
    """Append the keys that work on a memory, why it would be delivered or not, and what the model would get."""
    muted = "deliver it again" if candidate.outcome == "muted" else "never deliver it for prompts like this"
    pinned = "no longer count it more" if candidate.pinned else "count it more, for every prompt"
    trigger = ("memories.retype", "add a trigger: find it by other words, too")
    keys = [("memories.trust", "trust it")] * is_untrusted
    keys += [trigger, ("memories.remove", muted), ("memories.pin", pinned), ("memories.edit", "edit it")]
    append_keys(text, keys, read_only=read_only)
    _append_terms(text, candidate)
    if candidate.shifts:
        text.append("\nRaised and lowered by\n", style="bold")
        text.append(safe_text.line("  " + " · ".join(recall.shift(*shift) for shift in candidate.shifts), 300) + "\n")
    exact(text, "What the model would get" + ", were it delivered" * (not candidate.delivered), candidate)


def _append_terms(text: Text, candidate: RecallCandidate) -> None:
    if not recall.telling(candidate) and not candidate.trigger:
        return
    text.append("\nWords that matched\n", style="bold")
    for field, terms in recall.by_field(candidate):
        words = ", ".join(safe_text.line(term, WORD_SHOWN) for term in terms[:TERMS])
        more = f" and {len(terms) - TERMS} more" if len(terms) > TERMS else ""
        text.append(f"  {field:<11}  ", style="dim").append(words).append(f"{more}\n", style="dim")
    if candidate.trigger:
        text.append("  its trigger  ", style="dim").append(f"“{safe_text.line(candidate.trigger, 300)}”\n")


def exact(text: Text, title: str, result: "RecallCandidate | RecallRun") -> None:
    """Append the text exactly as the model would get it, under a title with its size."""
    if not result.text:
        return
    text.append(f"\n{title}", style="bold")
    text.append(f"  {result.units:,} characters, about {result.tokens:,} tokens\n", style="dim")
    for line in safe_text.clean(result.text).rstrip("\n").split("\n"):
        text.append(GUTTER, style="dim").append(line + "\n")


def whole(run: RecallRun) -> Text:
    """Return the detail of the rule: what the prompt would bring to a new session, and by which of its words."""
    title = "All that the prompt would bring" if run.delivered else recall.nearest(run) or recall.headline(run)
    text = Text().append(f"{safe_text.line(title)}\n", style="bold")
    facts = [recall.others(run), f"{many(run.memories, 'memory', 'memories')} searched", recall.took(run)]
    text.append(safe_text.line(" · ".join(facts), 300) + "\n", style="dim")
    text.append("\nThe words that counted\n", style="bold")
    words, prompt = run.words.strip(), run.prompt.strip()
    text.append(cut(safe_text.clean(words or "none"), PROMPT_SHOWN) + "\n", style="" if words else "dim")
    if words and len(run.words) < len(prompt) * 0.9:
        rest = len(prompt) - len(run.words)
        text.append(f"{rest:,} characters did not: pasted text, but for names in its error lines.\n", style="dim")
    exact(text, "What the model would get", run)
    return text
