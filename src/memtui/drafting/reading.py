"""Have a model read the new turns of a session for what is worth keeping. It proposes drafts; each must quote the words
of the person that it is taken from, or it is dropped.
"""

from collections.abc import Mapping, Sequence

from memtui.core.base import visible
from memtui.core.client.conversation import Turn
from memtui.extract.naming import slug
from memtui.extract.signals import MAX_AGENT, MAX_WORDS, Signal
from memtui.extract.wording import MAX_DESCRIPTION
from memtui.llm.fence import RULE, fenced
from memtui.llm.model import LanguageModel
from memtui.llm.schema import Schema
from memtui.recall.selection import CatalogueEntry

PURPOSE = "extract"
KINDS, TYPES = ("correction", "preference", "confirmation"), ("feedback", "user", "project", "reference")
# Drafts of one answer; the fewest characters of a quotation; those of a description in the catalogue.
MOST, LEAST_QUOTE, CATALOGUE_LINE = 20, 6, 200
ANSWER_TOKENS = 6000
SYSTEM = f"""\
You read new turns of a session between a person and a coding agent, and propose notes that the agent should have in \
later sessions.

{RULE}

A turn is the end of what the agent said before, if anything, and then the words of the person. Propose a note only for
what the person said, and only if it holds beyond the task at hand: a correction of how the agent works, a preference, a
confirmation of a choice that was in doubt, or a fact about the person or the project. Orders for the task at hand,
questions, thanks and praise are none. Most turns have nothing: then give an empty list. Propose nothing that a note of
the catalogue says already, and at most one note for a turn.

For each note give the turn; as `quote` the words of the person that show it, copied character for character; a short
`name`; the `rule` as one imperative line that makes sense without the session; `why` and `how`, the reason and when to
apply it, where the person gave them, else empty; whether it is for `everywhere` or for this project only; and how
confident you are that the person would keep it, from 0 to 1. Write in the language of the person."""

SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "notes": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {
                    "turn": {"type": "string", "maxLength": 20},
                    "quote": {"type": "string", "maxLength": 2000},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "type": {"type": "string", "enum": list(TYPES)},
                    "name": {"type": "string", "maxLength": 200},
                    "rule": {"type": "string", "maxLength": 600},
                    "why": {"type": "string", "maxLength": 1000},
                    "how": {"type": "string", "maxLength": 1000},
                    "everywhere": {"type": "boolean"},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["turn", "quote", "kind", "type", "name", "rule", "everywhere", "confidence"],
            },
        }
    },
    "required": ["notes"],
}


def read(model: LanguageModel, turns: Sequence[Turn], known: Sequence[CatalogueEntry]) -> list[Signal]:
    """Return the drafts that the model proposes for some turns, at most one for each, without those whose quotation the
    person did not write. `known`: the catalogue of memories. Raises ModelError, and MemtuiError if the log of calls
    can't be written."""
    if not turns:
        return []
    named = {f"t{number}": turn for number, turn in enumerate(turns, 1)}
    head = fenced("notes", "\n".join(_line(each) for each in known))
    told = "\n\n".join(_told(name, turn) for name, turn in named.items())
    answer = model.ask(PURPOSE, SYSTEM, told, SCHEMA, head=head, most=ANSWER_TOKENS)
    found: dict[str, Signal] = {}
    for note in answer["notes"]:
        name = note["turn"].strip()
        draft = _draft(named[name], note) if name in named and name not in found else None
        if draft is not None:
            found[name] = draft
    return list(found.values())


def _line(entry: CatalogueEntry) -> str:
    return f"- {_one_line(entry.name)}: {_one_line(entry.description)[:CATALOGUE_LINE]}"


def _told(name: str, turn: Turn) -> str:
    before = fenced("agent", turn.agent) + "\n" if turn.agent.strip() else ""
    return before + fenced("person", turn.text, turn=name)


def _draft(turn: Turn, note: Mapping[str, object]) -> Signal | None:
    """Make a draft of a note of the answer; None if it says nothing, or quotes what the person did not write."""
    quote, rule = _one_line(note["quote"]), _one_line(note["rule"])
    if len(quote) < LEAST_QUOTE or quote not in _one_line(turn.text) or len(rule) < LEAST_QUOTE:
        return None
    short = rule if len(rule) <= MAX_DESCRIPTION else rule[: MAX_DESCRIPTION - 1].rpartition(" ")[0].rstrip() + "…"
    parts = [rule if short != rule else ""]
    for label, key in (("Why", "why"), ("How to apply", "how")):
        text = _one_line(note.get(key, ""))[:MAX_WORDS]
        parts.append(f"**{label}:** {text}" if text else "")
    agent = " ".join(turn.agent.split())
    given = note["confidence"]
    # The model was asked for one number: how likely the person keeps it.
    confidence = round(float(given), 2) if isinstance(given, (int, float)) else 0.0
    return Signal(
        kind=str(note["kind"]),
        name=slug(_one_line(note["name"]) or rule),
        type=str(note["type"]),
        scope="global" if note["everywhere"] is True else "project",
        description=short,
        body="\n\n".join(filter(None, parts)),
        confidence=confidence,
        evidence=turn.uuid,
        session=turn.session,
        time=turn.time,
        agent=agent if len(agent) <= MAX_AGENT else "…" + agent[1 - MAX_AGENT :].partition(" ")[2],
        person=quote[:MAX_WORDS],
        request=turn.request,
        durable=confidence,
        by="model",
    )


def _one_line(value: object) -> str:
    return " ".join(visible.clean(str(value)).split())
