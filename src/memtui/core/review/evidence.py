"""What a person wants to know to decide about a draft: what was said around it, and which memories are alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memtui.core.client import excerpt, titles
from memtui.core.client.excerpt import Said
from memtui.core.memories.memory import Memory
from memtui.core.review.waiting import Waiting


@dataclass(frozen=True)
class Similar:
    """A memory and how alike it is to a draft, to 1."""

    memory: Memory
    score: float


@dataclass
class Evidence:
    """`said` around an entry, the `title` of its session, `problem` if its transcript does not tell; and the memories
    that are `alike`, the most alike first."""

    said: list[Said] = field(default_factory=list)
    title: str = ""
    similar: Sequence[Similar] = ()
    problem: str = ""


def evidence_of(env: dict[str, str], item: Waiting, similar: Sequence[Similar] = ()) -> Evidence:
    """The setting of a pending update or item, with the memories that are `alike`. Reads the transcript."""
    found = Evidence(similar=similar)
    fields = item.entry.fields
    path = excerpt.transcript_of(env, fields.get("session", ""))
    if path:
        said = [line.partition(": ")[2] for line in item.evidence if line.startswith("> you: ")]
        try:
            found.title = titles.first_words(path)
            if item.kind == "updates":
                found.said = excerpt.around(path, fields.get("evidence", ""), said[-1] if said else "")
        except OSError as error:
            found.problem = f"The transcript can't be read: {error.strerror}."
        if item.evidence and not found.said and not found.problem:
            found.problem = "The session's transcript does not hold these words any more."
    elif fields.get("session"):
        found.problem = "The session's transcript is gone."
    elif item.evidence:
        found.problem = "The draft does not name the session that this was said in."
    return found
