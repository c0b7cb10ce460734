"""What a person wants to know to decide about a draft: what was said around it, and which memories are alike."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from memtui.core.client import excerpt, titles
from memtui.core.client.excerpt import Said
from memtui.core.memories import similar
from memtui.core.memories.memory import Memory
from memtui.core.memories.similar import Alike
from memtui.core.review.triage import Waiting


@dataclass
class Setting:
    """`said` around an entry, the `title` of its session, `problem` if its transcript does not tell; and what is
    `alike`."""

    said: list[Said] = field(default_factory=list)
    title: str = ""
    alike: list[Alike] = field(default_factory=list)
    problem: str = ""


def setting_of(env: dict[str, str], item: Waiting, name: str, memories: Iterable[Memory]) -> Setting:
    """The setting of a pending update or item. `name`: what the memory would be called, that `memories` are compared
    with; empty compares none. Reads the transcript."""
    found = Setting()
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
    if item.kind == "updates" and name:
        first, _, rest = item.text.partition("\n")
        found.alike = similar.ranked(name, first, rest, memories)
    return found
