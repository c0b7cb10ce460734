"""The query of Activity: `words session:ID project:NAME kind:notes memory:NAME is:lost`, as a filter of deliveries."""

import re

from memtui.core.deliveries import receipts
from memtui.core.deliveries.filter import LOST, Filter
from memtui.present.deliveries import KIND_WORD, LABELS

# A word of a query; the value behind a colon may stand in quotation marks.
TERM = re.compile(r'(\w+):("[^"]*"?|\S*)|\S+')
FIELDS = {"session": "session", "project": "project", "kind": "kind", "memory": "memory", "is": "outcome"}
KINDS = {word: kind for kind, word in KIND_WORD.items()}
STATES = {LOST: LOST, **{outcome.replace(" ", "-"): outcome for outcome in receipts.GLYPHS}}
IS_LOST = f"is:{LOST}"


def parse(query: str) -> Filter:
    """Return the filter that a query means. Raises ValueError, with what can stand there, for a value of `is:` or
    `kind:` that means nothing."""
    given: dict[str, str] = {}
    words = []
    for term in TERM.finditer(query):
        name, value = term[1], (term[2] or "").strip('"')
        if name not in FIELDS:
            words.append(term[0])
        elif value:
            given[FIELDS[name]] = _known(name, value)
    return Filter(labels=LABELS).but(**given, text=" ".join(words))


def _known(name: str, value: str) -> str:
    known = {"is": STATES, "kind": KINDS}.get(name)
    if known is None:
        return value
    if value.lower() not in known:
        raise ValueError(f"{name}: takes {', '.join(known)}.")
    return known[value.lower()]


def toggled(query: str, term: str) -> str:
    """Return the query with this term instead of others of its name, or without it if it is there."""
    name = term.partition(":")[0]
    terms = [each[0] for each in TERM.finditer(query)]
    others = [each for each in terms if not each.startswith(name + ":")]
    return " ".join(others if term in terms else [*others, term])


def term(name: str, value: str) -> str:
    """Return a term of a query, with quotation marks where the value needs them."""
    return f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"
