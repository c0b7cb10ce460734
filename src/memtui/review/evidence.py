"""What helps a person to decide about a draft: its conversation, similar memories, and rejected drafts like it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.base import paths
from memtui.client.transcripts import excerpt, titles, transcript
from memtui.client.transcripts.excerpt import Utterance
from memtui.inbox.rejections import RefusedDraft
from memtui.review.waiting_entries import Waiting
from memtui.store.memory import Memory


class Similar(NamedTuple):
    """A memory and how similar it is to a draft, from 0 to 1."""

    memory: Memory
    score: float


class LikeRefused(NamedTuple):
    """A rejected draft and how similar it is to a draft, from 0 to 1."""

    draft: RefusedDraft
    score: float


@dataclass
class Evidence:
    """What was said around an entry's evidence, its session's title, why that is missing, and what is similar."""

    said: list[Utterance] = field(default_factory=list)
    title: str = ""
    similar: Sequence[Similar] = ()
    refused: Sequence[LikeRefused] = ()
    problem: str = ""


def evidence_of(
    env: dict[str, str], item: Waiting, similar: Sequence[Similar] = (), refused: Sequence[LikeRefused] = ()
) -> Evidence:
    """Find the evidence of a pending update or item in its session's transcript."""
    evidence = Evidence(similar=similar, refused=refused)
    fields = item.entry.fields
    path = transcript.path_of({"session_id": fields.get("session")}, paths.config_dir(env))
    if path:
        quotes = [line.partition(": ")[2] for line in item.evidence if line.startswith("> you: ")]
        try:
            evidence.title = titles.about(path).title
            if item.kind == "updates":
                evidence.said = excerpt.around(path, fields.get("evidence", ""), quotes[-1] if quotes else "")
        except OSError as error:
            evidence.problem = f"The transcript can't be read: {error.strerror}."
        if item.evidence and not evidence.said and not evidence.problem:
            evidence.problem = "The quoted words are no longer in the session's transcript."
    elif fields.get("session"):
        evidence.problem = "The session's transcript is gone."
    elif item.evidence:
        evidence.problem = "The draft does not say which session it comes from."
    return evidence
